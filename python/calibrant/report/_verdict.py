"""What a report opens with: the verdict in a sentence or two."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from calibrant._assessment_bounds import AssessmentBounds
from calibrant._bounds import TestBounds
from calibrant.assessment import Assessment
from calibrant.plotting._display import pvalue_text
from calibrant.scorecards import Scorecard

__all__ = ["Verdict", "verdict_of"]

HEADLINES = {
    "over-confident": "These probabilities are over-confident.",
    "under-confident": "These probabilities are under-confident.",
    "calibrated": "These probabilities look calibrated.",
    "miscalibrated": "These probabilities are off, though neither over- nor under-confident.",
    "undefined": "There is no verdict on these probabilities.",
}
#: Below it, a p-value speaks against the scores.
SIGNIFICANT = 0.05


@dataclass(frozen=True)
class Verdict:
    """What the numbers amount to.

    Attributes
    ----------
    kind : {"over-confident", "under-confident", "calibrated", "miscalibrated", "undefined"}
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


def verdict_of(
    card: Scorecard, assessment: Assessment | AssessmentBounds | None, ks: TestBounds
) -> Verdict:
    """Return the verdict.

    Parameters
    ----------
    card : Scorecard
    assessment : Assessment, AssessmentBounds or None
        None where there is none: then Spiegelhalter's and the KS test decide.
    ks : TestBounds
    """
    if assessment is None:
        kind, why = _by_tests(card, ks)
    else:
        kind, why = _by_angle(assessment, card, ks)
    parts = (why[:1].upper() + why[1:], _by_how_much(card, ks))
    sentence = ". ".join(part for part in parts if part) + "."
    return Verdict(kind, HEADLINES[kind], sentence)


def _by_angle(
    assessment: Assessment | AssessmentBounds, card: Scorecard, ks: TestBounds
) -> tuple[str, str]:
    kind, _, why = assessment.verdict.partition(": ")
    if kind == "undefined":  # one probability throughout
        if ks.pvalue.value < SIGNIFICANT:
            return "miscalibrated", why
        return ("calibrated" if card.ece.value == 0.0 else kind), why
    if assessment.tolerance >= 45.0:
        return "undefined", why
    if kind == "calibrated" and "off in another way" in why:
        return "miscalibrated", why
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


def _by_how_much(card: Scorecard, ks: TestBounds) -> str:
    """The size of the error, and whether chance explains it."""
    if card.ece.value is None:
        return ""
    if card.ece.value == 0.0:
        return "They equal the observed frequencies"
    chance = (
        "more than chance explains"
        if ks.pvalue.value < SIGNIFICANT
        else "which chance would explain"
    )
    test = pvalue_text(ks.pvalue.value, ks.log_pvalue.value)
    return (
        f"They differ from the observed frequencies by {card.ece.value:.3g} on average (ECE), "
        f"{chance} (KS test, {test})"
    )
