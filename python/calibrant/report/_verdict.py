"""What a report opens with: the verdict in a sentence or two."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from calibrant._assessment_bounds import AssessmentBounds
from calibrant._bounds import TestBounds
from calibrant.assessment import Assessment
from calibrant.plotting._display import pvalue_text
from calibrant.report._view import View
from calibrant.scorecards import Scorecard

__all__ = ["Verdict", "verdict_of"]

HEADLINES = {
    "over-confident": "These probabilities are over-confident.",
    "under-confident": "These probabilities are under-confident.",
    "calibrated": "These probabilities look calibrated.",
    "miscalibrated": "These probabilities are not calibrated.",
    "undefined": "There is no verdict on these probabilities.",
}
INTERVAL_HEADLINES = {
    "under-covering": "These intervals are too narrow.",
    "over-covering": "These intervals are too wide.",
    "calibrated": "These intervals keep their promise.",
    "miscalibrated": "These intervals are too narrow at some levels, too wide at others.",
}
#: The least that the words of a rank calibration say; the sentence says the rest.
RANK_HEADLINES = {
    "calibrated": "These draws look calibrated.",
    "over-dispersed": "These draws are spread too widely.",
    "under-dispersed": "These draws are too narrow.",
    "biased up": "These draws lie too high.",
    "biased down": "These draws lie too low.",
}
#: Below it, a p-value speaks against the scores.
SIGNIFICANT = 0.05
#: Errors are of one sign if the mean gap is this much of the mean of the gaps' sizes (ECE).
ONE_SIDED = 0.9


@dataclass(frozen=True)
class Verdict:
    """What the numbers amount to.

    Attributes
    ----------
    kind : str
        "over-confident", "under-confident", "calibrated", "miscalibrated" or "undefined"; of
        intervals "under-covering", "over-covering", "calibrated" or "miscalibrated"; of
        sets "sets", as what they promise is not known; of draws the words before the colon in
        the verdict of `calibrant.rank_calibration`; of several models "comparison".
    headline : str
        The verdict in a sentence.
    sentence : str
        What shows it.
    """

    kind: str
    headline: str
    sentence: str

    def to_dict(self) -> dict[str, Any]:
        """Return all by name."""
        return asdict(self)


def verdict_of(view: View) -> Verdict:
    """Return the verdict on probabilities, or where there are none on intervals, sets or draws.

    Without an assessment Spiegelhalter's and the KS test decide.
    """
    if not view.has_probabilities:
        return {"intervals": _on_intervals, "sets": _on_sets, "ranks": _on_ranks}[view.subject](
            view
        )
    card, ks, assessment = view.card, view.ks, view.assessment
    kind, why = _by_tests(card, ks) if assessment is None else _by_angle(assessment, card, ks)
    side = _side(view)
    parts = (why[:1].upper() + why[1:], _by_how_much(card, ks, side))
    sentence = ". ".join(part for part in parts if part) + "."
    headline = HEADLINES[kind]
    if side and kind != "undefined":
        words = side if kind == "miscalibrated" else f"{kind} and {side}"
        headline = f"These probabilities are {words}."
    return Verdict(kind, headline, sentence)


def _on_intervals(view: View) -> Verdict:
    assert view.intervals is not None
    levels = view.intervals.levels
    kinds = {level.verdict for level in levels if level.verdict != "calibrated"} or {"calibrated"}
    shown = ", ".join(
        f"{100 * level.coverage.value:.4g}% (promised: {100 * level.confidence_level:g}%)"
        for level in levels
        if level.coverage.value is not None
    )
    kind = kinds.pop() if len(kinds) == 1 else "miscalibrated"
    return Verdict(
        kind, INTERVAL_HEADLINES[kind], f"Of all rows, they hold what happened in {shown}."
    )


def _on_sets(view: View) -> Verdict:
    """What they cover; what they promised is not known."""
    assert view.sets is not None
    coverage, size = view.sets.coverage, view.sets.size
    levels = zip(*map(np.atleast_1d, (coverage.value, size.value, size.empty)), strict=True)
    shown = [
        (f"{100 * value:.4g}%", f"{mean:.3g}", f"{100 * empty:.3g}%")
        for value, mean, empty in levels
    ]
    covered, means, empty = (", ".join(numbers) for numbers in zip(*shown, strict=True))
    return Verdict(
        "sets",
        f"These sets hold what happened in {covered} of all rows.",
        f"They name {means} classes on average; {empty} of them are empty.",
    )


def _on_ranks(view: View) -> Verdict:
    assert view.ranks is not None
    kind, _, why = view.ranks.verdict.partition(": ")
    headline = RANK_HEADLINES.get(kind, "These draws are off.")
    return Verdict(kind, headline, f"{why[:1].upper()}{why[1:]}.")


def _by_angle(
    assessment: Assessment | AssessmentBounds, card: Scorecard, ks: TestBounds
) -> tuple[str, str]:
    kind, _, why = assessment.verdict.partition(": ")
    why = why.replace("the angle", "model against source, the angle", 1)
    if kind == "undefined":  # one probability throughout
        if ks.pvalue.value < SIGNIFICANT:
            return "miscalibrated", why
        return ("calibrated" if card.ece.value == 0.0 else kind), why
    if assessment.tolerance >= 45.0:  # any angle would do
        return ("miscalibrated" if ks.pvalue.value < SIGNIFICANT else "undefined"), why
    if kind == "calibrated" and ("off in another way" in why or ks.pvalue.value < SIGNIFICANT):
        return "miscalibrated", why  # the angle sees too much or too little confidence only
    return kind, why


def _by_tests(card: Scorecard, ks: TestBounds) -> tuple[str, str]:
    z, pvalue = card.spiegelhalter_z.value, card.spiegelhalter_pvalue.value
    if z is None or pvalue is None:
        return "undefined", card.spiegelhalter_z.reason
    shown = f"Spiegelhalter's z of the top label is {z:.2f} ({pvalue_text(pvalue)})"
    if pvalue < SIGNIFICANT:
        return ("over-confident" if z > 0 else "under-confident"), shown
    if ks.pvalue.value < SIGNIFICANT:
        return "miscalibrated", shown
    return "calibrated", shown


def _side(view: View) -> str:
    """Whether probabilities are too high, or too low, nearly everywhere; else nothing."""
    card = view.card
    if not view.is_binary or card.ece.value is None or view.ks.pvalue.value >= SIGNIFICANT:
        return ""
    mean_gap = view.evidence.table.cumulative_differences().differences[-1]
    if abs(mean_gap) < ONE_SIDED * card.ece.value:
        return ""
    return "too high" if mean_gap < 0 else "too low"


def _by_how_much(card: Scorecard, ks: TestBounds, side: str) -> str:
    """The size of the error, and whether chance explains it."""
    if card.ece.value is None:
        return ""
    if card.ece.value == 0.0:
        return "The probabilities equal the observed frequencies"
    chance = (
        "more than chance explains"
        if ks.pvalue.value < SIGNIFICANT
        else "which chance would explain"
    )
    test = pvalue_text(ks.pvalue.value, ks.log_pvalue.value)
    everywhere = f"nearly everywhere {side}, " if side else ""
    return (
        f"The probabilities differ from the observed frequencies by {card.ece.value:.3g} on "
        f"average (ECE), {everywhere}{chance} (KS test, {test})"
    )
