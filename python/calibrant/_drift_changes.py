"""What has changed between the rows of two accumulators, number by number."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant import _core, streaming
from calibrant._result import Result, for_json
from calibrant.scorecards import Estimate, normal_quantile

__all__ = ["Change", "changes_of"]

#: Of a scorecard, the numbers that mean the same for any number of rows.
_CARD = (
    "base_rate", "hit_rate", "decisiveness", "accuracy", "robustness", "brier", "reliability",
    "resolution", "brier_skill", "log", "spherical", "ece", "auc",
)  # fmt: skip
#: Intervals that are as far to either side, unless they are cut where the number ends.
_SYMMETRIC = frozenset({"CLT", "DeLong"})
#: Rows that a bin must have on both sides to be compared.
LEAST_ROWS = 10
#: Bins for the variance of the cumulative differences.
_FINE_BINS = 200


@dataclass(frozen=True)
class Change(Result):
    """How one number has changed.

    Attributes
    ----------
    name : str
    reference, current : Estimate
        The number of either, with its own interval.
    change : float or None
        Current - reference; of numbers with a bootstrapped interval, between the centres of the
        intervals, since these numbers are biased, and more so in fewer rows.
    low, high : float or None
        The interval of the change.
    se : float or None
        Its standard error.
    statistic : float or None
        What the p-value is of.
    pvalue : float or None
        Of the hypothesis that nothing has changed. None where there is none.
    adjusted_pvalue : float or None
        By Holm's method, over all numbers of the drift.
    method : str
        "normal", "supremum" (at most this large), "chi-square", "certified", or "none".
    reason : str
        Why something is None; else empty.
    """

    name: str
    reference: Estimate
    current: Estimate
    change: float | None
    low: float | None = None
    high: float | None = None
    se: float | None = None
    statistic: float | None = None
    pvalue: float | None = None
    adjusted_pvalue: float | None = None
    method: str = "none"
    reason: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the fields by name, ready for JSON; an infinite value is the text "inf"."""
        plain = {name: for_json(value) for name, value in vars(self).items()}
        return {
            **plain, "reference": self.reference.to_dict(), "current": self.current.to_dict()
        }  # fmt: skip


def changes_of(reference: Any, current: Any, level: float) -> list[Change]:
    """Return the changes between two accumulators of one class."""
    if isinstance(reference, streaming.Scorecard):
        return [*_of_cards(reference, current, level)]
    if isinstance(reference, streaming.ScoreTable):
        return [*_of_tables(reference, current, level)]
    if isinstance(reference, streaming.Reliability):
        return [*_of_bins(reference, current)]
    return [*_of_means(reference, current)]


def _of_cards(first: Any, second: Any, level: float) -> Iterator[Change]:
    a, b = first.result(level), second.result(level)
    z = normal_quantile(level)
    for name in _CARD:
        yield _between(name, getattr(a, name), getattr(b, name), z)
    tables = first.table, second.table
    yield from _of_walks(*tables, level)
    yield _of_curves(*(t.reliability_bins(n_bins=a.n_bins, strategy="uniform").value for t in tables))


def _of_tables(first: Any, second: Any, level: float) -> Iterator[Change]:
    yield _within("ece", *(_certified(t.expected_calibration_error()) for t in (first, second)))
    try:
        areas = [_certified(table.roc_auc()) for table in (first, second)]
    except ValueError as error:  # of one class
        areas = [_nothing(str(error))] * 2
    yield _within("auc", *areas)
    yield from _of_walks(first, second, level)
    yield _of_curves(*(t.reliability_bins(strategy="uniform").value for t in (first, second)))


def _of_bins(first: Any, second: Any) -> Iterator[Change]:
    reason = "a Reliability keeps no second moments: use a Scorecard"
    errors = [_plain(table.expected_calibration_error(), reason) for table in (first, second)]
    yield _within("ece", *errors)
    yield _of_curves(first.result(), second.result())


def _of_means(first: Any, second: Any) -> Iterator[Change]:
    a, b = first.result(), second.result()
    names = (
        ("brier", "log", "spherical")
        if isinstance(first, streaming.Scores)
        else ("decisiveness", "accuracy", "robustness")
    )
    reason = f"{type(first).__name__} keeps no second moments: use a Scorecard"
    for name in names:
        yield _within(name, _plain(getattr(a, name), reason), _plain(getattr(b, name), reason))


def _nothing(reason: str) -> Estimate:
    return Estimate(None, None, None, "none", reason)


def _plain(value: float, reason: str) -> Estimate:
    return Estimate(value, None, None, "none", reason)


def _certified(bounds: Any) -> Estimate:
    return Estimate(bounds.value, bounds.low, bounds.high, "certified")


def _between(name: str, a: Estimate, b: Estimate, z: float) -> Change:
    """Compare two estimates of independent rows by their intervals.

    The interval of the difference adds, in squares, the distances of the four ends from their
    values: sqrt(se_a^2 + se_b^2) where intervals are symmetric, and right also where they are not
    (Newcombe 1998; Zou and Donner 2008).
    """
    if a.low is None or b.low is None or a.value is None or b.value is None:
        reason = a.reason or b.reason or "there is no interval"
        return Change(name, a, b, _difference(a, b), reason=reason)
    (at_a, down_a, up_a), (at_b, down_b, up_b) = _arms(a), _arms(b)
    change = at_b - at_a
    down, up = math.hypot(down_b, up_a), math.hypot(up_b, down_a)
    toward_zero = down if change > 0.0 else up
    if toward_zero == 0.0:
        return Change(name, a, b, change, reason="all rows are alike: there is no standard error")
    statistic = z * change / toward_zero
    pvalue = float(_core.normal_two_sided([statistic])[0])
    return Change(
        name, a, b, change, change - down, change + up, (down + up) / (2.0 * z),
        statistic, pvalue, method="normal",
    )  # fmt: skip


def _arms(x: Estimate) -> tuple[float, float, float]:
    """Return the point that is compared, and how far the interval reaches down and up from it."""
    assert x.value is not None and x.low is not None and x.high is not None
    if x.method == "bootstrap":
        centre, arm = 0.5 * (x.low + x.high), 0.5 * (x.high - x.low)
        if x.low == 0.0:  # cut there, which makes it narrower than it is
            arm = max(arm, abs(x.value - centre))
        return centre, arm, arm
    down, up = x.value - x.low, x.high - x.value
    if x.method in _SYMMETRIC:
        down = up = max(down, up)
    return x.value, max(down, 0.0), max(up, 0.0)


def _difference(a: Estimate, b: Estimate) -> float | None:
    if a.value is None or b.value is None:
        return None
    change = b.value - a.value
    return None if math.isnan(change) else change


def _within(name: str, a: Estimate, b: Estimate) -> Change:
    """Compare two numbers that are known, or known within certain bounds."""
    if a.low is None or b.low is None or a.high is None or b.high is None:
        return Change(name, a, b, _difference(a, b), reason=a.reason or b.reason)
    return Change(
        name, a, b, _difference(a, b), b.low - a.high, b.high - a.low,
        method="certified", reason="the bounds are certain, chance is not in them: use a Scorecard",
    )  # fmt: skip


def _of_walks(first: Any, second: Any, level: float) -> Iterator[Change]:
    """Compare the extremes of the cumulative differences, not divided by sigma.

    An extreme of a sum of two functions is at most the sum of the extremes. So two extremes of
    the same expected walk differ at most by those of the two walks' own noise, each a Brownian
    motion or less. Half of the tail is left to each.
    """
    walks = [table.cumulative_differences() for table in (first, second)]
    noise = sum(_noise(t, walk.sigma) for t, walk in zip((first, second), walks, strict=True))
    for name, tail in (("ks", _core.brownian_sup_sf), ("kuiper", _core.brownian_range_sf)):
        a, b = (
            _scaled(getattr(table, name)().statistic, walk.sigma)
            for table, walk in zip((first, second), walks, strict=True)
        )
        assert a.low is not None and a.high is not None and b.low is not None and b.high is not None
        low, high = b.low - a.high, b.high - a.low
        least = max(low, -high, 0.0)  # the least change that the bounds leave possible
        statistic = least / noise if noise > 0.0 else math.nan
        if math.isnan(statistic):
            yield Change(name, a, b, _difference(a, b), low, high, reason="scores leave no chance")
            continue
        pvalue = min(1.0, 2.0 * float(tail([statistic])[0]))
        reach = noise * _upper_quantile(tail, 0.5 * (1.0 - level))
        yield Change(
            name, a, b, _difference(a, b), low - reach, high + reach, None, statistic, pvalue,
            method="supremum",
        )  # fmt: skip


def _scaled(bounds: Any, sigma: float) -> Estimate:
    return Estimate(bounds.value * sigma, bounds.low * sigma, bounds.high * sigma, "certified")


def _noise(table: Any, sigma: float) -> float:
    """Return the standard deviation of the walk's end, whether or not the scores are right.

    The variance of a step is at most the mean of (hit - score)^2, here from fine bins.
    """
    bins = table.reliability_bins(n_bins=_FINE_BINS, strategy="uniform").value
    used = bins.weights > 0
    w, o, s = bins.weights[used], bins.frequencies[used], bins.mean_scores[used]
    step = float((w * (o * (1.0 - s) ** 2 + (1.0 - o) * s**2)).sum() / w.sum())
    return max(float(sigma), math.sqrt(step / float(w.sum())))


def _upper_quantile(tail: Any, probability: float) -> float:
    """Return where a tail that falls from 1 to 0 has this probability, by bisection."""
    low, high = 0.0, 64.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if float(tail([middle])[0]) > probability else (low, middle)
    return high


def _of_curves(a: Any, b: Any) -> Change:
    """Compare frequency minus score, bin by bin, by the sum of squared standardized changes."""
    if len(a) != len(b) or not np.array_equal(a.edges, b.edges):
        raise ValueError("cannot compare bins with other edges")
    nothing = _nothing("a curve is no single number")
    used = (a.weights >= LEAST_ROWS) & (b.weights >= LEAST_ROWS)
    if not used.any():
        reason = f"no bin has {LEAST_ROWS} rows on both sides"
        return Change("curve", nothing, nothing, None, reason=reason)
    gaps = [(x.frequencies - x.mean_scores)[used] for x in (a, b)]
    statistic = float(((gaps[1] - gaps[0]) ** 2 / sum(_variances(x, used) for x in (a, b))).sum())
    pvalue = _core.chi_square_sf(statistic, int(used.sum()))
    return Change(
        "curve", nothing, nothing, None, statistic=statistic, pvalue=pvalue, method="chi-square"
    )


def _variances(bins: Any, used: Any) -> Any:
    """Of the frequencies; half a hit and half a miss more keep them from 0."""
    weight = bins.weights[used]
    frequency = (bins.frequencies[used] * weight + 0.5) / (weight + 1.0)
    return frequency * (1.0 - frequency) / weight
