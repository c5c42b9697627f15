"""Differences between two models' scores on the same rows; public in `calibrant.comparison`."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

from calibrant import _core
from calibrant._input.validation import check_level
from calibrant._result import Result, holm

__all__ = ["SCORES", "Difference", "ScoreDifferences", "adjusted", "core_pair", "differences_of"]

#: Per score: what it is called, and whether more is better.
SCORES = {
    "brier": ("Brier score", False),
    "log": ("log score", False),
    "spherical": ("spherical score", True),
    "hit_rate": ("hit rate", True),
}


@dataclass(frozen=True, repr=False)
class Difference(Result):
    """How much a score of the first model exceeds that of the second.

    Attributes
    ----------
    value : float or None
        The mean difference, first minus second; None where it is undefined.
    low, high : float or None
        Ends of its confidence interval; None where no valid one is known.
    standard_error : float or None
    pvalue : float or None
        Two-sided, of the hypothesis that both are equally good.
    better : {"first", "second", ""}
        Which one is, if the adjusted p-value leaves no doubt.
    reason : str
        Why value or interval is undefined, or why no difference could have been found; else empty.
    adjusted_pvalue : float or None
        Raised for all scores, and all pairs of models, that were compared with it (Holm).
    """

    value: float | None
    low: float | None
    high: float | None
    standard_error: float | None
    pvalue: float | None
    better: Literal["first", "second", ""]
    reason: str = ""
    adjusted_pvalue: float | None = None


@dataclass(frozen=True, repr=False)
class ScoreDifferences(Result):
    """The differences between two models' scores on the same rows, first minus second.

    Iterating gives (name, difference).

    Attributes
    ----------
    brier, log, spherical, hit_rate : Difference
    n, n_omitted : int
        Rows taken in, and rows dropped because a value was missing.
    """

    brier: Difference
    log: Difference
    spherical: Difference
    hit_rate: Difference
    n: int
    n_omitted: int = 0

    def __iter__(self) -> Iterator[tuple[str, Difference]]:
        return ((name, getattr(self, name)) for name in SCORES)


def core_pair(q_lim: Any) -> _core.PairedScores:
    """Make an empty accumulator of the core."""
    if not isinstance(q_lim, numbers.Real):
        raise TypeError(f"q_lim must be a real number, got {q_lim!r}")
    return _core.PairedScores(float(q_lim))


ZERO = "a model gave probability 0 to what happened"
UNBOUNDED = (
    "no interval: a model gave probability 0 to what could have happened, where the other did not"
)
TOO_FEW_ROWS = "too few rows: their weights sum to less than 2"
TOO_FEW_EVENTS = "too few events: a sample without one would not have been significant"


def differences_of(state: _core.PairedScores, confidence_level: float) -> ScoreDifferences:
    """Read the differences off an accumulator of the core."""
    level = check_level(confidence_level)
    values = state.differences()
    judgements = state.judgements(level) if state.has_two_rows else {}
    found = {}
    for name, (value, error) in values.items():
        if name == "log" and state.zeros:
            found[name] = Difference(None, None, None, None, None, "", ZERO)
        elif not judgements:
            found[name] = Difference(value, None, None, error, None, "", TOO_FEW_ROWS)
        else:
            pvalue, low, high, few_events = judgements[name]
            found[name] = Difference(
                value, low, high, error, pvalue, "", TOO_FEW_EVENTS if few_events else ""
            )
            if name == "log" and state.unbounded:
                found[name] = replace(found[name], low=None, high=None, reason=UNBOUNDED)
    result = ScoreDifferences(**found, n=state.n, n_omitted=state.n_omitted)
    return adjusted([result], level)[0]


def adjusted(pairs: Iterable[ScoreDifferences], level: float) -> list[ScoreDifferences]:
    """Return them with p-values adjusted for all that can differ, and who is better."""
    pairs = list(pairs)
    tests = [
        (i, name, d.pvalue)
        for i, scores in enumerate(pairs)
        for name, d in scores
        if d.pvalue is not None and not (d.low == d.high == 0.0)
    ]
    pvalues = holm([pvalue for _, _, pvalue in tests])
    found: list[dict[str, Any]] = [
        {name: replace(d, adjusted_pvalue=d.pvalue, better="") for name, d in scores}
        for scores in pairs
    ]
    for (i, name, _), pvalue in zip(tests, pvalues, strict=True):
        d = found[i][name]
        better = _better(name, d.value) if pvalue <= 1.0 - level else ""
        found[i][name] = replace(d, adjusted_pvalue=pvalue, better=better)
    return [replace(scores, **each) for scores, each in zip(pairs, found, strict=True)]


def _better(name: str, value: float | None) -> Literal["first", "second", ""]:
    if not value:
        return ""
    return "first" if (value > 0.0) == SCORES[name][1] else "second"
