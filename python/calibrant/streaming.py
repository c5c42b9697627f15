"""Accumulators: results for data that come in batches, or lie on many machines.

Each has the same verbs: ``update`` with a batch, ``merge`` with another, ``result`` at any
time, ``to_bytes`` and ``from_bytes`` to store or send it. The result is the same to the last
bit however the rows were split.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from calibrant import _calibration_errors, _core, assessment, cumulative, means
from calibrant._assessment_bounds import AssessmentBounds, MeanBounds
from calibrant._bins import bin_edges
from calibrant._bounds import Bounds, ReliabilityBounds, ScoreTableSummary, TestBounds
from calibrant._coverage_hsic_stream import CoverageHSIC
from calibrant._event_accumulator import EventAccumulator
from calibrant._grouped import Grouped
from calibrant._interval_stream import Intervals, PredictionSets
from calibrant._mean_sums import core_profile
from calibrant._paired_stream import PairedScores
from calibrant._rank_stream import Ranks
from calibrant._refinement import Refinement
from calibrant._sample_stream import Moments, Vendi
from calibrant._score_table_stream import ScoreTable
from calibrant._scorecard_stream import Scorecard
from calibrant._settings import checked_number, checked_subset
from calibrant._state import load, restore
from calibrant._window import Window
from calibrant._windowed import Windowed
from calibrant.scores import SCORES, ScoreSummary, core_sums

__all__ = [
    "Assessment",
    "AssessmentBounds",
    "Bounds",
    "CoverageHSIC",
    "Grouped",
    "Intervals",
    "MeanBounds",
    "Moments",
    "PairedScores",
    "PredictionSets",
    "Ranks",
    "Refinement",
    "Reliability",
    "ReliabilityBounds",
    "RiskProfile",
    "ScoreTable",
    "ScoreTableSummary",
    "Scorecard",
    "Scores",
    "Spiegelhalter",
    "TestBounds",
    "Vendi",
    "Window",
    "Windowed",
    "load",
    "restore",
]


def __dir__() -> list[str]:
    return __all__


class RiskProfile(EventAccumulator[_core.RiskProfile]):
    """Accumulator of `calibrant.risk_profile`, in constant memory.

    Parameters
    ----------
    powers : sequence of float, optional
        Further powers to take the mean with, besides 1, 0 and -2/3.
    q_lim : float, 0 <= q_lim < 0.5
        Clip the probabilities of what happened to [q_lim, 1 - q_lim].

    Examples
    --------
    >>> left, right = RiskProfile(), RiskProfile()
    >>> left.update([1, 1], [0.8, 0.8])
    >>> right.update([0], [0.9])
    >>> left.merge(right).result()
    RiskProfile(decisiveness=0.566667, accuracy=0.4, robustness=0.282843, n=3)
    >>> RiskProfile.from_bytes(left.to_bytes()) == left
    True
    """

    __slots__ = ()
    _State = _core.RiskProfile

    def __init__(self, *, powers: Sequence[float] = (), q_lim: float = 0.0) -> None:
        self._state = core_profile(powers, q_lim, first=means.NAMED_POWERS)

    def result(self) -> means.RiskProfile:
        """Return the means of the rows so far.

        Raises
        ------
        ValueError
            If there is no row, or none with a positive weight.
        """
        return means.RiskProfile._of(self._now())

    @classmethod
    def _check(cls, state: _core.RiskProfile) -> None:
        if tuple(state.powers[:3]) != means.NAMED_POWERS:
            raise ValueError(
                f"state of a RiskProfile must begin with the powers {means.NAMED_POWERS}, "
                f"found {tuple(state.powers[:3])}"
            )

    def _parameters(self) -> dict[str, object]:
        return {"powers": tuple(self._state.powers[3:]), "q_lim": self._state.q_lim}


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


class Reliability(EventAccumulator[_core.Reliability]):
    """Accumulator of `calibrant.reliability_bins` with edges fixed beforehand.

    Parameters
    ----------
    n_bins : int, or the edges themselves
        Bins of equal width, or as given; edges must not fall and must cover [0, 1].

    Examples
    --------
    >>> table = Reliability(n_bins=2)
    >>> table.update([0, 0, 1], [0.125, 0.375, 0.25])
    >>> table.update([1], [0.75])
    >>> table.expected_calibration_error()
    0.125
    """

    __slots__ = ()
    _State = _core.Reliability

    def __init__(self, n_bins: int | Sequence[float] = 15) -> None:
        self._state = _core.Reliability(bin_edges(n_bins))

    def _add(self, y_true: Any, y_proba: Any, sample_weight: Any, omit: bool) -> None:
        self._state.update(y_true, y_proba, sample_weight, omit, _core.EITHER)

    def result(self) -> _calibration_errors.ReliabilityBins:
        """Return the table of the rows so far."""
        return _calibration_errors.ReliabilityBins._of(self._now())

    def expected_calibration_error(
        self, *, norm: _calibration_errors.Norm = 1, debias: bool = False
    ) -> float:
        """Return the calibration error of the rows so far, as `calibrant` defines it."""
        return _calibration_errors.calibration_error(self._state, norm, debias)

    def _parameters(self) -> dict[str, object]:
        return {"n_bins": len(self._state.edges) - 1}


class Assessment(EventAccumulator[_core.Assessment]):
    """Accumulator of `calibrant.assess` with edges fixed beforehand, all classes pooled.

    Parameters
    ----------
    n_bins : int, or the edges themselves
        Bins of equal width, or as given; edges must not fall and must cover [0, 1].
    q_lim : float, 0 <= q_lim < 0.5
        Clip all probabilities to [q_lim, 1 - q_lim].

    Examples
    --------
    >>> left, right = Assessment(n_bins=2), Assessment(n_bins=2)
    >>> left.update([0, 0, 0], [0.1, 0.1, 0.1])
    >>> right.update([1, 1], [0.9, 0.1])
    >>> round(left.merge(right).result().angle, 4)
    66.0422
    """

    __slots__ = ()
    _State = _core.Assessment

    def __init__(self, n_bins: int | Sequence[float] = 100, *, q_lim: float = 0.0) -> None:
        self._state = _core.Assessment(
            bin_edges(n_bins), checked_number(q_lim, "q_lim"), with_table=True
        )

    def _add(self, y_true: Any, y_proba: Any, sample_weight: Any, omit: bool) -> None:
        self._state.update(y_true, y_proba, sample_weight, omit, _core.ALL_PAIRS)

    def result(self, source: Literal["bins", "bayes"] = "bins") -> assessment.Assessment:
        """Return the assessment of the rows so far.

        Parameters
        ----------
        source : {"bins", "bayes"}
            As for `calibrant.assess`; the others need all rows at once.
        """
        assessment.check_source(source, ("bins", "bayes"))
        state = self._now()
        model, classes = state.model(), state.scores_per_event
        of_bins = assessment.source_of_table(state, model, source, classes)
        return assessment.conclude(
            [state], model, [of_bins], [_core.ALL_PAIRS], classes, source, state.rows
        )

    def _parameters(self) -> dict[str, object]:
        return {"n_bins": len(self._state.edges) - 1, "q_lim": self._state.q_lim}


class Spiegelhalter(EventAccumulator[_core.Spiegelhalter]):
    """Accumulator of `calibrant.spiegelhalter_test`, in constant memory.

    Examples
    --------
    >>> left, right = Spiegelhalter(), Spiegelhalter()
    >>> left.update([0, 1], [0.25, 0.75])
    >>> right.update([1, 0], [0.5, 0.125])
    >>> left.merge(right).result()
    TestResult(statistic=-0.872357, pvalue=0.383014, log_pvalue=-0.959684, n=4)
    """

    __slots__ = ()
    _State = _core.Spiegelhalter

    def __init__(self) -> None:
        self._state = _core.Spiegelhalter()

    def result(self, *, alternative: cumulative.Alternative = "two-sided") -> cumulative.TestResult:
        """Return the test of the rows so far.

        Raises
        ------
        ValueError
            If there is no row, or none with a positive weight.
        """
        return cumulative.TestResult._of(self._now(), alternative)
