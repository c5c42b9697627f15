"""Accumulators of intervals and sets; public in ``calibrant.streaming``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import ArrayLike

from calibrant import _core
from calibrant._accumulator.base import Accumulator
from calibrant._input.validation import NanPolicy, check_nan_policy, checked_numbers
from calibrant._runtime.public_module import public_in
from calibrant.intervals._bounds import Crossed, bounds_of, check_crossed
from calibrant.intervals._confidence import CiMethod, checked_eta, confidence, nominal_levels
from calibrant.intervals._coverage import size_groups
from calibrant.intervals._set_results import SetSummary
from calibrant.intervals._sets import summary_of, update_sets
from calibrant.intervals._summary import IntervalSummary

__all__ = ["Intervals", "PredictionSets"]


def _shown(levels: Sequence[float]) -> float | tuple[float, ...]:
    return levels[0] if len(levels) == 1 else tuple(levels)


@public_in("calibrant.streaming")
class Intervals(Accumulator[_core.Intervals]):
    """Accumulator of `calibrant.interval_summary`, in constant memory.

    Parameters
    ----------
    confidence_level : float, or one a level
        The nominal levels of the intervals; every batch has as many.
    width_edges : sequence of float, rising and positive
        For coverage by width: m edges make m + 1 groups, of the widths below the first, from
        each edge to before the next, and from the last on. Groups of equal count would need all
        rows at once. Without edges there is no coverage by width.

    Examples
    --------
    >>> left, right = Intervals(0.75, width_edges=[1.5]), Intervals(0.75, width_edges=[1.5])
    >>> left.update([0.0, 1.0], [[0, 1], [0, 2]])
    >>> right.update([2.0, 3.0], [[1, 2], [4, 5]])
    >>> print(left.merge(right).result())
    Prediction intervals of 4 rows, 95% intervals by Wilson
      level  coverage                      mean width  score  criterion  worst by width
      0.75   0.75      0.30064 to 0.95441  1.25        3.25   0.58333    0.66667         calibrated
    """

    __slots__ = ()
    _State = _core.Intervals

    def __init__(
        self, confidence_level: float | ArrayLike, *, width_edges: Sequence[float] = ()
    ) -> None:
        edges = checked_numbers(width_edges, "width_edges")
        self._state = _core.Intervals(nominal_levels(confidence_level), edges)

    def update(
        self,
        y_true: ArrayLike,
        intervals: Any,
        *,
        sample_weight: ArrayLike | None = None,
        nan_policy: NanPolicy = "raise",
        crossed: Crossed = "raise",
    ) -> None:
        """Add a batch of rows.

        The arguments are those of `calibrant.interval_coverage`. If a row is rejected, or the
        call is interrupted, nothing of the batch is added.
        """
        if y_true is None:
            raise TypeError("y_true must be an array, got None")
        omit, swap = check_nan_policy(nan_policy), check_crossed(crossed)
        self._state.update(y_true, bounds_of(intervals), sample_weight, omit, swap)

    def result(
        self, *, eta: float = 30.0, ci_level: float = 0.95, ci_method: CiMethod = "wilson"
    ) -> IntervalSummary:
        """Return all numbers of the rows so far.

        Raises
        ------
        ValueError
            If there is no row, or none with a positive weight.
        """
        state, ci = self._now(), confidence(ci_level, ci_method)
        eta = checked_eta(eta)
        state.require_weight()
        by_width = [
            size_groups(state.by_width(i), ci, "widths") if state.width_edges else None
            for i in range(state.n_levels)
        ]
        return IntervalSummary._of(state, by_width, ci, eta, float(ci_level), ci_method)

    @property
    def n_omitted(self) -> int:
        """The number of rows dropped because a value was missing."""
        return self._state.n_omitted

    @classmethod
    def _check(cls, state: _core.Intervals) -> None:
        if not state.confidence_levels:
            raise ValueError("state of Intervals must name its confidence levels, found none")

    def _parameters(self) -> dict[str, object]:
        shown: dict[str, object] = {"confidence_level": _shown(self._state.confidence_levels)}
        if self._state.width_edges:
            shown["width_edges"] = tuple(self._state.width_edges)
        return shown


@public_in("calibrant.streaming")
class PredictionSets(Accumulator[_core.PredictionSets]):
    """Accumulator of the coverage and the size of prediction sets, in constant memory.

    It keeps, for each size of a set, how many rows there are and how many are covered; so
    coverage by size is exact, too.

    Examples
    --------
    >>> left, right = PredictionSets(), PredictionSets()
    >>> left.update([0, 1], [[0, 1], [1]])
    >>> right.update([2, 1], [[0], []])
    >>> left.merge(right).result().coverage
    Coverage(0.5 (0.150039 to 0.849961), n=4)
    >>> left.result().size
    SetSize(value=1, empty=0.25, largest=2, n=4)
    """

    __slots__ = ()
    _State = _core.PredictionSets

    def __init__(self) -> None:
        self._state = _core.PredictionSets()

    def update(
        self,
        y_true: ArrayLike,
        sets: Any,
        *,
        sample_weight: ArrayLike | None = None,
        labels: ArrayLike | None = None,
        nan_policy: NanPolicy = "raise",
    ) -> None:
        """Add a batch of rows.

        The arguments are those of `calibrant.set_coverage`. Batches must have the same number
        of levels. If a row is rejected, nothing of the batch is added.
        """
        if y_true is None:
            raise TypeError("y_true must be an array of labels, got None")
        update_sets(self._state, y_true, sets, sample_weight, labels, nan_policy)

    def result(self, *, ci_level: float = 0.95, ci_method: CiMethod = "wilson") -> SetSummary:
        """Return coverage, size and coverage by size of the rows so far.

        Raises
        ------
        ValueError
            If there is no row, or none with a positive weight.
        """
        return summary_of(self._now(), ci_level, ci_method)

    @property
    def n_omitted(self) -> int:
        """The number of rows dropped because a value was missing."""
        return self._state.n_omitted
