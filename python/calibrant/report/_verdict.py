"""What a report opens with: the verdict in a sentence or two."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from calibrant._bounds import TestBounds
from calibrant.plotting._display import pvalue_text
from calibrant.scorecards import Scorecard

__all__ = ["Verdict", "verdict_of"]

#: Below it, a p-value speaks against the scores.
SIGNIFICANT = 0.05


@dataclass(frozen=True)
class Verdict:
    """What the numbers amount to.

    Attributes
    ----------
    kind : {"over-confident", "under-confident", "calibrated", "miscalibrated", "undefined"}
    sentence : str
        What is the case, and what shows it.
    """

    kind: str
    sentence: str

    def to_dict(self) -> dict[str, Any]:
        """Return both by name."""
        return asdict(self)


def verdict_of(card: Scorecard, assessment: Any, ks: TestBounds) -> Verdict:
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
        kind, _, why = assessment.verdict.partition(": ")
        if kind == "calibrated" and "off in another way" in why:
            kind = "miscalibrated"
    parts = [_said(kind) + ": " + why if why else _said(kind), _by_how_much(card, ks)]
    return Verdict(kind, ". ".join(part for part in parts if part) + ".")


def _said(kind: str) -> str:
    return {
        "over-confident": "The probabilities are over-confident",
        "under-confident": "The probabilities are under-confident",
        "calibrated": "The probabilities show no sign of over- or under-confidence",
        "miscalibrated": "The probabilities are off, though neither over- nor under-confident",
    }.get(kind, "There is no verdict")


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
