"""Differences between two models' scores on the same rows; public in `calibrant.comparison`."""

from __future__ import annotations

import numbers
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from calibrant import _core, scorecards
from calibrant._result import Result

__all__ = ["SCORES", "Difference", "ScoreDifferences", "core_pair", "differences_of"]

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
        Ends of its confidence interval.
    standard_error : float or None
    pvalue : float or None
        Two-sided, of the hypothesis that both are equally good.
    better : {"first", "second", ""}
        Which one is, if the interval leaves no doubt.
    reason : str
        Why it is undefined; else empty.
    """

    value: float | None
    low: float | None
    high: float | None
    standard_error: float | None
    pvalue: float | None
    better: Literal["first", "second", ""]
    reason: str = ""


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


def differences_of(state: _core.PairedScores, confidence_level: float) -> ScoreDifferences:
    """Read the differences off an accumulator of the core."""
    quantile = scorecards.normal_quantile(scorecards.check_level(confidence_level))
    found = {}
    for name, (value, error) in state.differences().items():
        if name == "log" and state.zeros:
            reason = "a model gave probability 0 to what happened"
            found[name] = Difference(None, None, None, None, None, "", reason)
            continue
        low, high = value - quantile * error, value + quantile * error
        found[name] = Difference(
            value, low, high, error, _pvalue(value, error), _better(name, low, high)
        )
    return ScoreDifferences(**found, n=state.n, n_omitted=state.n_omitted)


def _pvalue(value: float, error: float) -> float:
    if error == 0.0:
        return 1.0 if value == 0.0 else 0.0
    return float(_core.normal_two_sided([value / error])[0])


def _better(name: str, low: float, high: float) -> Literal["first", "second", ""]:
    if low <= 0.0 <= high:
        return ""
    return "first" if (low > 0.0) == SCORES[name][1] else "second"
