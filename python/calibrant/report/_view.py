"""The results that several sections read off the same evidence, each computed once."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import Any

from calibrant.calibration._verdict import CalibrationVerdict, calibration_verdict
from calibrant.evidence import sorted_keys
from calibrant.intervals._set_results import SetSummary
from calibrant.intervals._summary import IntervalSummary
from calibrant.ranks._results import RankCalibration
from calibrant.score_table._assessment_bounds import AssessmentBounds
from calibrant.score_table._bounds import SpectrumBounds, TestBounds
from calibrant.score_table._stream import ScoreTable
from calibrant.scorecards import Scorecard
from calibrant.streaming import Windowed

__all__ = ["MOST_GROUPS", "View"]

#: That are compared: each costs a bootstrap. Of more, those with the most rows, which say most.
MOST_GROUPS = 2_000


class View:
    """Evidence, and what is read off it.

    Parameters
    ----------
    evidence
        Has ``scorecard``, ``table`` and ``groups``, accumulators of the same rows, and perhaps
        ``assessment``, ``intervals``, ``coverage_hsic``, ``sets``, ``ranks``
        with ``truths``, ``classes`` and ``source``.
    confidence_level : float
    windows : streaming.Windowed, optional
    """

    def __init__(
        self, evidence: Any, confidence_level: float, windows: Windowed | None = None
    ) -> None:
        self.evidence = evidence
        self.confidence_level = confidence_level
        self.windows = () if windows is None else tuple(windows.windows())

    @property
    def source(self) -> dict[str, Any]:
        """Where the rows came from, and how they were read."""
        return dict(getattr(self.evidence, "source", None) or {})

    @property
    def has_probabilities(self) -> bool:
        """Whether there are rows with probabilities; else intervals, sets or draws only."""
        scorecard = getattr(self.evidence, "scorecard", None)
        if self.intervals is None and self.sets is None and self.ranks is None:
            return True
        return scorecard is not None and scorecard.n > 0

    @cached_property
    def intervals(self) -> IntervalSummary | None:
        """The summary of prediction intervals, where there are some."""
        accumulator = getattr(self.evidence, "intervals", None)
        if accumulator is None or accumulator.n == 0:
            return None
        summary: IntervalSummary = accumulator.result(ci_level=self.confidence_level)
        return summary

    @cached_property
    def sets(self) -> SetSummary | None:
        """The summary of prediction sets, where there are some."""
        accumulator = getattr(self.evidence, "sets", None)
        if accumulator is None or accumulator.n == 0:
            return None
        summary: SetSummary = accumulator.result(ci_level=self.confidence_level)
        return summary

    @cached_property
    def ranks(self) -> RankCalibration | None:
        """What the ranks of truths among draws say, where there are some."""
        accumulator = getattr(self.evidence, "ranks", None)
        if accumulator is None or accumulator.n == 0:
            return None
        names = getattr(self.evidence, "truths", None)
        found: RankCalibration = accumulator.result(prob=self.confidence_level, names=names)
        return found

    @property
    def subject(self) -> str:
        """What the report is about in the first place."""
        if self.has_probabilities:
            return "probabilities"
        if self.intervals is not None:
            return "intervals"
        return "ranks" if self.sets is None else "sets"

    @property
    def _groups(self) -> dict[Any, Any]:
        return getattr(self.evidence, "groups", None) or {}

    @property
    def _largest(self) -> list[tuple[Any, Any]]:
        """Those that are compared, in order of their keys; of as many rows the first."""
        groups = self._groups
        keys = sorted(sorted_keys(groups), key=lambda key: -groups[key].n)[:MOST_GROUPS]
        return [(key, groups[key]) for key in sorted_keys(keys)]

    @property
    def groups_left_out(self) -> tuple[int, int]:
        """How many groups are not compared, and how many rows each of them has at most."""
        left_out = sorted((group.n for group in self._groups.values()), reverse=True)[MOST_GROUPS:]
        return len(left_out), left_out[0] if left_out else 0

    @cached_property
    def card(self) -> Scorecard:
        """The scorecard, with those of the groups that are compared."""
        card: Scorecard = self.evidence.scorecard.result(self.confidence_level)
        card = replace(card, note=self.source.get("y_proba", ""))
        for key, group in self._largest:
            with suppress(ValueError):  # none of its rows has weight
                card.groups[key] = group.result(self.confidence_level)
        return card

    @property
    def is_binary(self) -> bool:
        """Whether there was one probability per row; else the score is that of the top label."""
        return bool(self.evidence.scorecard._state.columns < 2)

    @cached_property
    def table(self) -> ScoreTable:
        """The table of the rows, of which the evidence gives copies."""
        table: ScoreTable = self.evidence.table
        return table

    @property
    def pairs(self) -> ScoreTable | None:
        """The table that the pairs of all classes can be read off; None if there is none."""
        if self.is_binary:
            return self.table
        pairs: ScoreTable | None = getattr(self.evidence, "assessment", None)
        return pairs if pairs is not None and pairs.n else None

    @property
    def score(self) -> str:
        """What the score is."""
        return "predicted probability" if self.is_binary else "probability of the top label"

    @cached_property
    def assessment(self) -> AssessmentBounds | None:
        """The model against the source; None where the pairs of all classes are not known."""
        if self.pairs is None:
            return None
        return self.pairs.assess(rows=None if self.is_binary else self.table)

    @cached_property
    def spectrum(self) -> SpectrumBounds | None:
        """The generalized means of what happened, likewise."""
        return (
            None
            if self.pairs is None
            else self.pairs._spectrum(self.evidence.scorecard._state.q_lim)
        )

    @cached_property
    def verdict(self) -> CalibrationVerdict:
        """The verdict on the probabilities."""
        q_lim = self.card.q_lim  # rejects evidence without rows
        return calibration_verdict(self.table._rows, q_lim=q_lim)

    @cached_property
    def ks(self) -> TestBounds:
        """The KS test."""
        bounds: TestBounds = self.table.ks()
        return bounds

    @cached_property
    def kuiper(self) -> TestBounds:
        """Kuiper's test."""
        bounds: TestBounds = self.table.kuiper()
        return bounds
