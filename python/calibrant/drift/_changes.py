"""What has changed between the rows of two accumulators, number by number."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from calibrant import _core, streaming
from calibrant._result import Result, for_json
from calibrant.scorecards import WIDENED, Estimate

__all__ = ["Change", "Side", "changes_of", "side_of"]

#: Of a scorecard, the numbers that mean the same for any number of rows.
_CARD = (
    "base_rate", "hit_rate", "decisiveness", "accuracy", "robustness", "brier", "reliability",
    "resolution", "brier_skill", "log", "spherical", "ece", "auc",
)  # fmt: skip
#: The extremes of the cumulative differences, and the law of those of a Brownian motion.
_WALKS = {"ks": _core.brownian_sup_sf, "kuiper": _core.brownian_range_sf}
#: Intervals that are as far to either side, unless they are cut where the number ends.
_SYMMETRIC = frozenset({"CLT", "DeLong", WIDENED})
#: Raised by chance, and more so in fewer rows.
_BIASED = frozenset({"reliability", "resolution"})
#: Of equal width, in which tables are compared.
_TABLE_BINS = 15
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
        Current - reference; of reliability and resolution less what chance alone makes of it, since
        these numbers are biased, and more so in fewer rows.
    low, high : float or None
        The interval of the change.
    se : float or None
        Its standard error, of the interval.
    statistic : float or None
        What the p-value is of: by "moments" the change over the standard deviation that it has if
        all rows are of one law; by "permutation" the change itself, of the rows in groups of
        neighbouring scores; of the curve a sum of squares.
    pvalue : float or None
        Of the hypothesis that nothing has changed. None where there is none.
    adjusted_pvalue : float or None
        By Holm's method, over all numbers of the drift.
    method : str
        How the p-value is found: "moments", "permutation", or "none"; "certified" where only the
        bounds of a stream tell the change.
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


@dataclass(frozen=True)
class Side:
    """What is compared, of the rows of one accumulator."""

    accumulator: Any
    estimates: dict[str, Estimate]
    #: Standard deviation of the end of the cumulative differences; of their extremes, if any.
    noise: float | None
    bins: Any
    level: float


def side_of(accumulator: Any, level: float) -> Side:
    """Return what can be compared of an accumulator."""
    if isinstance(accumulator, streaming.Scorecard):
        card = accumulator.result(level)
        estimates = {name: getattr(card, name) for name in _CARD}
        if not accumulator._state.has_table:
            return Side(accumulator, estimates, None, None, level)
        table = accumulator.table
        sigma = table.cumulative_differences().sigma
        estimates |= {name: _scaled(getattr(card, name), sigma) for name in _WALKS}
        bins = table.reliability_bins(n_bins=card.n_bins, strategy="uniform").value
        return Side(accumulator, estimates, _noise(table, sigma), bins, level)
    if isinstance(accumulator, streaming.ScoreTable):
        sigma = accumulator.cumulative_differences().sigma
        error = accumulator.expected_calibration_error(n_bins=_TABLE_BINS, strategy="uniform")
        estimates = {"ece": _certified(error)}
        estimates["auc"] = _area(accumulator)
        estimates["ks"] = _scaled(accumulator.ks().statistic, sigma)
        estimates["kuiper"] = _scaled(accumulator.kuiper().statistic, sigma)
        bins = accumulator.reliability_bins(n_bins=_TABLE_BINS, strategy="uniform").value
        return Side(accumulator, estimates, _noise(accumulator, sigma), bins, level)
    return _plain_side(accumulator, level)


def _plain_side(accumulator: Any, level: float) -> Side:
    """Of those that keep no second moments."""
    reason = f"{type(accumulator).__name__} keeps no second moments: use a Scorecard"
    result = accumulator.result()
    if isinstance(accumulator, streaming.Reliability):
        found = {"ece": accumulator.expected_calibration_error()}
    elif isinstance(accumulator, streaming.Scores):
        found = {name: getattr(result, name) for name in accumulator.scores}
    else:
        found = {name: getattr(result, name) for name in ("decisiveness", "accuracy", "robustness")}
    estimates = {name: Estimate(x, None, None, "none", reason) for name, x in found.items()}
    bins = result if hasattr(result, "edges") else None
    return Side(accumulator, estimates, None, bins, level)


def changes_of(a: Side, b: Side) -> tuple[tuple[Change, ...], float]:
    """Return the changes from one side to the other, and the least p-value that there could be."""
    first, second = a.accumulator, b.accumulator
    if isinstance(first, (streaming.Scores, streaming.RiskProfile)):
        first.copy().merge(second)  # rejects other parameters and shapes, in the words of the core
        return tuple(_change(name, a, b) for name in a.estimates), 0.0
    states = first._now(), second._now()
    if isinstance(first, streaming.ScoreTable):
        tests, least = _core.drift_tests(*states, _TABLE_BINS, a.level)
    else:
        tests, least = _core.drift_tests(*states, a.level)
    found = {test[0]: _tested(a, b, *test) for test in tests}
    order = (*a.estimates, "curve")  # an area has no test without a table
    return tuple(found[name] if name in found else _change(name, a, b) for name in order), least


def _tested(
    a: Side, b: Side, name: str, method: str, statistic: float, pvalue: float, expected: float,
    reach: float, reason: str, no_interval: str,
) -> Change:  # fmt: skip
    """Return a change with the p-value of the core, and an interval unless it says why not."""
    if name == "curve":
        nothing = _nothing("a curve is no single number")
        change = Change(name, nothing, nothing, None)
    else:
        change = _change(name, a, b, *(0.0 if math.isnan(x) else x for x in (expected, reach)))
    if no_interval and change.method != "certified":
        change = replace(change, low=None, high=None, se=None, reason=change.reason or no_interval)
    if math.isnan(pvalue):
        return replace(change, method="none", reason=reason)
    return replace(change, statistic=statistic, pvalue=pvalue, method=method)


def _change(name: str, a: Side, b: Side, expected: float = 0.0, reach: float = 0.0) -> Change:
    first, second = a.estimates[name], b.estimates[name]
    if name in _WALKS and a.noise is not None and b.noise is not None:
        return _of_walks(name, first, second, a.noise + b.noise, a.level)
    if name == "ece" and a.bins is not None and b.bins is not None:
        return _of_errors(first, second, a.bins, b.bins, a.level)
    if "certified" in (first.method, second.method):
        reason = first.reason or second.reason or "an interval of the change needs a Scorecard"
        return Change(name, first, second, _difference(first, second), reason=reason)
    return _between(name, first, second, _quantile(a.level), expected, reach)


def _quantile(level: float) -> float:
    return _core.normal_quantile(0.5 * (1.0 - level))


def _nothing(reason: str) -> Estimate:
    return Estimate(None, None, None, "none", reason)


def _certified(bounds: Any) -> Estimate:
    return Estimate(bounds.value, bounds.low, bounds.high, "certified")


def _area(table: streaming.ScoreTable) -> Estimate:
    try:
        return _certified(table.roc_auc())
    except ValueError as error:  # of one class
        return _nothing(str(error))


def _between(
    name: str, a: Estimate, b: Estimate, z: float, expected: float, reach: float
) -> Change:
    """Compare two estimates of independent rows by their intervals.

    The interval of the difference adds, in squares, the distances of the four ends from their
    values: sqrt(se_a^2 + se_b^2) where intervals are symmetric, and right also where they are not
    (Newcombe 1998; Zou and Donner 2008). Of a number that is biased, what its bias alone makes of
    the change is taken off. It reaches at least
    as far as the change would if the rows of both sides were of one law.
    """
    change = _difference(a, b)
    if change is not None and name in _BIASED:
        change -= expected
    if change is None or a.low is None or b.low is None:
        return Change(name, a, b, change, reason=a.reason or b.reason or "there is no interval")
    (down_a, up_a), (down_b, up_b) = _arms(name, a), _arms(name, b)
    down = max(math.hypot(down_b, up_a), reach)
    up = max(math.hypot(up_b, down_a), reach)
    if down == up == 0.0:
        return Change(name, a, b, change, reason="all rows are alike: there is no standard error")
    return Change(name, a, b, change, change - down, change + up, (down + up) / (2.0 * z))


def _arms(name: str, x: Any) -> tuple[float, float]:
    """Return how far the interval reaches down and up."""
    down, up = x.value - x.low, x.high - x.value
    if name in _BIASED:  # about its centre, unless it is cut
        down = up = max(0.5 * (x.high - x.low), 0.5 * abs(down - up) if x.low == 0.0 else 0.0)
    elif x.method in _SYMMETRIC:
        down = up = max(down, up)
    return max(down, 0.0), max(up, 0.0)


def _difference(a: Estimate, b: Estimate) -> float | None:
    if a.value is None or b.value is None:
        return None
    change = b.value - a.value
    return None if math.isnan(change) else change


def _of_errors(a: Any, b: Any, a_bins: Any, b_bins: Any, level: float) -> Change:
    """Compare two calibration errors over the same bins.

    Noise moves an error by at most the weighted mean of its absolute values in the bins. These
    are nearly normal, so their mean and variance are known.
    """
    low = high = change = b.value - a.value
    if a.method == b.method == "certified":
        low, high = b.low - a.high, b.high - a.low
    mean = variance = 0.0
    for bins in (a_bins, b_bins):
        used = bins.weights > 0
        share, noise = bins.weights[used] / bins.weights.sum(), _variances(bins, used)
        mean += float((share * np.sqrt(2.0 / math.pi * noise)).sum())
        variance += float((share**2 * noise).sum()) * (1.0 - 2.0 / math.pi)
    deviation = math.sqrt(variance)
    reach = mean + deviation * _quantile(2.0 * level - 1.0) if level > 0.5 else mean
    return Change("ece", a, b, change, low - reach, high + reach)


def _of_walks(name: str, a: Any, b: Any, noise: float, level: float) -> Change:
    """Compare the extremes of the cumulative differences, not divided by sigma.

    An extreme of a sum of two functions is at most the sum of the extremes. So two extremes of
    the same expected walk differ at most by those of the two walks' own noise, each a Brownian
    motion or less. Half of the tail is left to each.
    """
    low, high = b.low - a.high, b.high - a.low
    if noise == 0.0:
        reason = "scores of 0 and 1 that are right leave nothing to chance"
        return Change(name, a, b, _difference(a, b), low, high, method="certified", reason=reason)
    tail = _WALKS[name]
    reach = noise * _upper_quantile(tail, 0.5 * (1.0 - level))
    return Change(name, a, b, _difference(a, b), low - reach, high + reach)


def _scaled(bounds: Any, sigma: float) -> Estimate:
    if bounds.value is None or sigma == 0.0:
        return Estimate(0.0, 0.0, 0.0, "certified")
    low, high = (bounds.value if x is None else x for x in (bounds.low, bounds.high))
    return Estimate(bounds.value * sigma, low * sigma, high * sigma, "certified")


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


def _variances(bins: Any, used: Any) -> Any:
    """Of the frequencies; half a hit and half a miss more keep them from 0."""
    weight = bins.weights[used]
    frequency = (bins.frequencies[used] * weight + 0.5) / (weight + 1.0)
    return frequency * (1.0 - frequency) / weight
