"""What a report opens with: the verdict in a sentence or two."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from calibrant.calibration._verdict import angle_text, pvalue_text
from calibrant.report._view import View
from calibrant.scorecards import Scorecard

__all__ = ["Verdict", "verdict_of"]

#: By the words of a verdict; others are what "These probabilities are".
HEADLINES = {
    "calibrated": "These probabilities look calibrated.",
    "too few rows to tell": "There are too few rows to tell if these probabilities are calibrated.",
    "undefined": "There is no verdict on these probabilities.",
}
INTERVAL_HEADLINES = {
    "under-covering": "These intervals are too narrow.",
    "over-covering": "These intervals are too wide.",
    "calibrated": "These intervals keep their promise.",
    "miscalibrated": "These intervals are too narrow at some levels, too wide at others.",
    "undefined": "There are too few rows to tell whether these intervals keep their promise.",
}
#: The least that the words of a rank calibration say; the sentence says the rest.
RANK_HEADLINES = {
    "calibrated": "These draws look calibrated.",
    "over-dispersed": "These draws are spread too widely.",
    "under-dispersed": "These draws are too narrow.",
    "biased up": "These draws lie too high.",
    "biased down": "These draws lie too low.",
}


@dataclass(frozen=True)
class Verdict:
    """What the numbers amount to.

    Attributes
    ----------
    kind : str
        "over-confident", "under-confident", "calibrated", "miscalibrated", "too few rows" or
        "undefined"; of intervals "under-covering", "over-covering", "calibrated" or
        "miscalibrated"; of sets "sets", as what they promise is not known; of draws the words
        before the colon in the verdict of `calibrant.rank_calibration`; of several models
        "comparison".
    headline : str
        The verdict in a sentence.
    sentence : str
        What shows it.
    advice : str
        What to do next; may be empty.
    """

    kind: str
    headline: str
    sentence: str
    advice: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return all by name."""
        return asdict(self)


def verdict_of(view: View) -> Verdict:
    """Return the verdict on probabilities, or where there are none on intervals, sets or draws.

    That on probabilities is of Spiegelhalter's test and the KS test together, as everywhere.
    """
    if not view.has_probabilities:
        return {"intervals": _on_intervals, "sets": _on_sets, "ranks": _on_ranks}[view.subject](
            view
        )
    found = view.verdict
    headline = HEADLINES.get(found.words)
    if headline is None:
        words = "not calibrated" if found.words == "miscalibrated" else found.words
        headline = f"These probabilities are {words}: {found.size}."
        parts = []
    else:
        parts = [_sentence(found.size)]
    parts += [
        _sentence(found.tests), _mean_gap(view.card), _by_themselves(view), _angle(view)
    ]  # fmt: skip
    return Verdict(found.kind, headline, " ".join(filter(None, parts)), found.advice)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def _mean_gap(card: Scorecard) -> str:
    """The size of the error over all bins."""
    if card.ece.value is None:
        return ""
    if card.ece.value == 0.0:
        return "The probabilities equal the observed frequencies."
    gap = f"On average they differ from the observed frequencies by {card.ece.value:.3g} (ECE"
    if card.ece.low is None or card.ece.high is None:
        return f"{gap})."
    level = f"{100 * card.confidence_level:g}% interval"
    return f"{gap}; {level} {card.ece.low:.3g} to {card.ece.high:.3g})."


def _by_themselves(view: View) -> str:
    """Tests below that would reject one by one, where the verdict does not."""
    if view.verdict.kind not in ("calibrated", "too few rows"):
        return ""
    found = {
        "Spiegelhalter's test": view.card.spiegelhalter_pvalue.value,
        "the KS test": view.ks.pvalue.value,
        "Kuiper's test": view.kuiper.pvalue.value,
    }
    low = [f"{name} ({pvalue_text(p)})" for name, p in found.items() if p is not None and p <= 0.05]
    if not low:
        return ""
    return (
        f"By its law for many rows and by itself, {' and '.join(low)} would reject; the verdict "
        "allows for two tests and for few events."
    )


def _angle(view: View) -> str:
    found = view.assessment
    return (
        ""
        if found is None
        else _sentence(angle_text(found.angle, found.tolerance, len(found.bins)))
    )


def _on_intervals(view: View) -> Verdict:
    """One verdict: those of the levels are adjusted for their number."""
    assert view.intervals is not None
    levels = view.intervals.levels
    off = [level for level in levels if level.verdict.endswith("-covering")]
    kinds = {level.verdict for level in off}
    if not off:
        told = any(level.verdict == "calibrated" for level in levels)
        kinds = {"calibrated" if told else "undefined"}
    shown = ", ".join(
        f"{100 * level.coverage.value:.4g}% (promised: {100 * level.confidence_level:g}%)"
        for level in levels
        if level.coverage.value is not None
    )
    kind = kinds.pop() if len(kinds) == 1 else "miscalibrated"
    headline = INTERVAL_HEADLINES[kind]
    if kind.endswith("-covering") and len(off) < len(levels):
        which = ", ".join(f"{100 * level.confidence_level:g}%" for level in off)
        headline = f"{headline[:-1]} at the level{'s' * (len(off) > 1)} {which}."
    return Verdict(kind, headline, f"Of all rows, they hold what happened in {shown}.")


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
