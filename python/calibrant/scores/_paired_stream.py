"""The accumulator of paired differences; public as `calibrant.streaming.PairedScores`."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from calibrant import _core
from calibrant._accumulator.base import Accumulator
from calibrant._input.labels import event_rows, scored_columns
from calibrant._input.validation import MultiClass, NanPolicy, check_nan_policy
from calibrant._runtime.public_module import public_in
from calibrant.scores._differences import ScoreDifferences, core_pair, differences_of

__all__ = ["PairedScores"]


@public_in("calibrant.streaming")
class PairedScores(Accumulator[_core.PairedScores]):
    """Accumulator of the differences between two models' scores on the same rows.

    Parameters
    ----------
    q_lim : float, 0 <= q_lim < 0.5
        Clip the probabilities of what happened to [q_lim, 1 - q_lim], for the log score only.

    Examples
    --------
    >>> left, right = PairedScores(), PairedScores()
    >>> left.update([1, 0], [0.75, 0.5], [0.5, 0.5])
    >>> right.update([1], [0.5], [0.75])
    >>> left.merge(right).result().brier.value
    0.0
    """

    __slots__ = ()
    _State = _core.PairedScores

    def __init__(self, *, q_lim: float = 0.0) -> None:
        self._state = core_pair(q_lim)

    def update(
        self,
        y_true: ArrayLike,
        first: ArrayLike,
        second: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        pos_label: object | None = None,
        labels: ArrayLike | None = None,
        multi_class: MultiClass = "auto",
        nan_policy: NanPolicy = "raise",
    ) -> None:
        """Add a batch of rows: what happened, and the probabilities of either model.

        Parameters
        ----------
        y_true : array of shape (n,)
            Class codes, 0 to k - 1; or what pos_label or labels say.
        first, second : arrays of the same shape, (n,) or (n, k), values in [0, 1]
        sample_weight, pos_label, labels, multi_class, nan_policy
            As for `calibrant.risk_profile`. With "omit", a row is left out if a value of either
            model is missing.
        """
        omit = check_nan_policy(nan_policy)
        codes, first = event_rows(
            y_true, first, labels=labels, pos_label=pos_label, multi_class=multi_class, name="first"
        )
        second = scored_columns(second, multi_class, "second")
        self._add(codes, first, second, sample_weight, omit, ("first", "second"))

    def _add(
        self, y_true: Any, first: Any, second: Any, weight: Any, omit: bool, names: tuple[str, str]
    ) -> None:
        self._state.update(y_true, first, second, weight, omit, *names)

    def result(self, confidence_level: float = 0.95) -> ScoreDifferences:
        """Return the difference of each score, first minus second.

        Raises
        ------
        ValueError
            If there is no row, or none with a positive weight.
        """
        return differences_of(self._now(), confidence_level)

    @property
    def n_omitted(self) -> int:
        """The number of rows dropped because a value was missing."""
        return self._state.n_omitted

    def _parameters(self) -> dict[str, object]:
        return {"q_lim": self._state.q_lim}
