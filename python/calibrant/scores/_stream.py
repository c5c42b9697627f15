"""The accumulator of the proper scores; public in `calibrant.streaming`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from calibrant import _core
from calibrant._accumulator import EventAccumulator
from calibrant._input.validation import checked_subset
from calibrant._runtime.public_module import public_in
from calibrant.scores import SCORES, ScoreSummary, core_sums

__all__ = ["Scores"]


@public_in("calibrant.streaming")
class Scores(EventAccumulator[_core.ScoreSums]):
    """Accumulator of the Brier, log and spherical scores, in constant memory.

    The first batch decides whether y_proba has shape (n,) or (n, k), since the Brier score of
    two columns is twice that of one; later batches must keep to it. Batches without rows fit
    with all.

    Parameters
    ----------
    q_lim : float, 0 <= q_lim < 0.5
        Clip the probabilities of what happened to [q_lim, 1 - q_lim], for the log score only.
    scores : sequence of {"brier", "log", "spherical"}
        Which to keep, in any order; no row pays for the others, and results have None for them.

    Examples
    --------
    >>> left, right = Scores(), Scores()
    >>> left.update([1, 0], [0.75, 0.5])
    >>> right.update([1], [0.5])
    >>> left.merge(right).result()
    ScoreSummary(brier=0.1875, log=0.557992, spherical=0.787632, n=3)
    >>> left.optimal_constant()
    array([0.33333333, 0.66666667])
    >>> quick = Scores(scores=["brier"])
    >>> quick.update([1, 0], [0.75, 0.5])
    >>> quick.result()
    ScoreSummary(brier=0.15625, n=2)
    """

    __slots__ = ()
    _State = _core.ScoreSums

    def __init__(
        self, *, q_lim: float = 0.0, scores: Sequence[str] = ("brier", "log", "spherical")
    ) -> None:
        kept = checked_subset(scores, "scores", SCORES)
        self._state = core_sums(**dict.fromkeys(kept, True), q_lim=q_lim)

    @property
    def scores(self) -> tuple[str, ...]:
        """The names of the scores that are kept."""
        return tuple(self._state.scores)

    def result(self) -> ScoreSummary:
        """Return the scores of the rows so far.

        Raises
        ------
        ValueError
            If there is no row, or none with a positive weight.
        """
        return ScoreSummary._of(self._now())

    def optimal_constant(self) -> NDArray[np.float64]:
        """Return the class frequencies, as `calibrant.optimal_constant` of the rows so far."""
        return self._state.class_frequencies()

    def brier_skill_score(self) -> float:
        """Return the skill beyond the class frequencies, as `calibrant.brier_skill_score`.

        Raises
        ------
        ValueError
            If the Brier score is not kept, or the skill is undefined.
        """
        self._check_metric("brier_skill_score")
        return self._state.brier_skill(None)

    @classmethod
    def _check(cls, state: _core.ScoreSums) -> None:
        if not state.scores:
            raise ValueError("state of Scores must hold one score at least, found none")

    def _check_metric(self, name: str) -> None:
        score = "brier" if name == "brier_skill_score" else name
        if score in SCORES and score not in self.scores:
            raise ValueError(
                f"there is no {name!r}: Scores(scores={self.scores!r}) keeps no {score!r}"
            )

    def _parameters(self) -> dict[str, object]:
        kept = self.scores
        some = {} if kept == SCORES else {"scores": kept}
        return {"q_lim": self._state.q_lim, **some}
