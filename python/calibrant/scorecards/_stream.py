"""The accumulator of `calibrant.scorecard`; public as ``calibrant.streaming.Scorecard``."""

from __future__ import annotations

from calibrant import _core, scorecards
from calibrant._accumulator.events import EventAccumulator
from calibrant._input.validation import check_level
from calibrant._runtime.public_module import public_in
from calibrant.score_table._stream import ScoreTable

__all__ = ["Scorecard"]


@public_in("calibrant.streaming")
class Scorecard(EventAccumulator[_core.Scorecard]):
    """Accumulator of `calibrant.scorecard`, in constant memory, of a few megabytes.

    The first batch decides whether y_proba has shape (n,) or (n, k); later batches must keep
    to it. Intervals, too, are the same however the rows were split. KS, Kuiper and AUC need the
    order of scores: they are read off a `ScoreTable`, exact up to 4,096 rows and beyond within
    certain bounds.

    Parameters
    ----------
    n_bins : int
        Bins of equal width, for ECE and the parts of the Brier score.
    q_lim : float, 0 <= q_lim < 0.5
        Clip the probabilities of what happened to [q_lim, 1 - q_lim].

    Examples
    --------
    >>> left, right = Scorecard(), Scorecard()
    >>> left.update([1], [0.75])
    >>> right.update([0], [0.5])
    >>> card = left.merge(right).result(confidence_level=0.9)
    >>> card.brier.value, card.n
    (0.15625, 2)
    """

    __slots__ = ()
    _State = _core.Scorecard

    def __init__(self, *, n_bins: int = 15, q_lim: float = 0.0) -> None:
        self._state = _core.Scorecard(**scorecards.card_parameters(n_bins, q_lim))

    def result(self, confidence_level: float = 0.95) -> scorecards.Scorecard:
        """Return the scorecard of the rows so far.

        Raises
        ------
        ValueError
            If there is no row, or none with a positive weight.
        """
        self._state.require_weight()  # it can only grow
        return self._card(confidence_level)

    def _card(self, confidence_level: float = 0.95) -> scorecards.Scorecard:
        """Return `result`; of no rows a scorecard in which all is undefined."""
        level = check_level(confidence_level)
        return scorecards.Scorecard._of(
            self._state.result(level), **self._parameters(), confidence_level=level
        )

    @property
    def table(self) -> ScoreTable:
        """A copy of the table of the same rows: for bins, the assessment, and `refine`.

        ValueError if it keeps none, as those of groups of saved evidence before version 0.2.
        """
        if not self._state.has_table:
            raise ValueError("this Scorecard keeps no table of scores")
        return ScoreTable._from_state(self._state.table())

    def _parameters(self) -> dict[str, object]:
        return {"n_bins": self._state.n_bins, "q_lim": self._state.q_lim}
