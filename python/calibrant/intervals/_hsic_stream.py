"""The accumulator of `calibrant.coverage_hsic`; public in `calibrant.streaming`."""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import ArrayLike

from calibrant import _core
from calibrant._accumulator.base import Accumulator
from calibrant._input.validation import NanPolicy, check_nan_policy, checked_count
from calibrant._runtime.public_module import public_in
from calibrant.intervals._bounds import Crossed, bounds_of, check_crossed, require_outcomes
from calibrant.intervals._hsic import (
    CoverageHSIC as Value,
    CoverageHSICByLevel,
    Estimator,
    check_bandwidths,
    check_estimator,
    result_of,
)

__all__ = ["CoverageHSIC"]


@public_in("calibrant.streaming")
class CoverageHSIC(Accumulator[_core.CoverageHSIC]):
    """Accumulator of `calibrant.coverage_hsic`, in bounded memory.

    Widths are kept as moments in boxes of 1/16 of their bandwidth. The first batch decides how
    many levels there are; later ones must keep to it.

    Parameters
    ----------
    bandwidths : pair of float
        As for `calibrant.coverage_hsic`.
    max_boxes : int
        The most boxes, over all levels and for covered and uncovered intervals apart, of about
        250 bytes each. A batch that would need more is rejected with a ValueError. The default
        has room for widths over a range of 2,000 bandwidths.

    Examples
    --------
    >>> left, right = CoverageHSIC(), CoverageHSIC()
    >>> left.update([0.0, 1.0, 2.0], [[-1, 1], [0, 2], [1, 4]])
    >>> right.update([3.0, 4.0, 5.0], [[3.5, 4], [4.1, 4.2], [5.5, 6]])
    >>> left.merge(right).result()
    CoverageHSIC(hsic=0.0691734, coverage=0.5, n=6)
    """

    __slots__ = ()
    _State = _core.CoverageHSIC

    def __init__(self, *, bandwidths: Sequence[float] = (1.0, 1.0), max_boxes: int = 65536) -> None:
        most = checked_count(max_boxes, "max_boxes")
        self._state = _core.CoverageHSIC(*check_bandwidths(bandwidths), most)

    def update(
        self,
        y_true: ArrayLike,
        intervals: ArrayLike | tuple[ArrayLike, ArrayLike],
        *,
        crossed: Crossed = "raise",
        nan_policy: NanPolicy = "raise",
    ) -> None:
        """Add a batch of rows; the arguments are those of `calibrant.coverage_hsic`.

        If a row is rejected, the boxes become too many, or the call is interrupted, nothing of the
        batch is added.
        """
        require_outcomes(y_true)
        self._state.update(
            y_true, *bounds_of(intervals), check_nan_policy(nan_policy), check_crossed(crossed)
        )

    def result(self, *, estimator: Estimator = "biased") -> Value | CoverageHSICByLevel:
        """Return the HSIC of the rows so far, by level if there are several.

        Raises
        ------
        ValueError
            If there are less than 2 rows, or 4 for the unbiased estimator.
        """
        check_estimator(estimator)
        state = self._now()
        return result_of(
            state.values(estimator), n=state.n, n_omitted=state.n_omitted,
            has_levels=state.n_levels > 1, estimator=estimator, bandwidths=state.bandwidths,
        )  # fmt: skip

    @property
    def n_omitted(self) -> int:
        """The number of rows dropped because a value was missing."""
        return self._state.n_omitted

    @property
    def n_boxes(self) -> int:
        """The number of boxes in use."""
        return self._state.n_boxes

    def _parameters(self) -> dict[str, object]:
        return {"bandwidths": self._state.bandwidths, "max_boxes": self._state.max_boxes}
