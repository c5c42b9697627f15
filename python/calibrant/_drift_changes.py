"""What has changed between the rows of two accumulators, number by number."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant import _core, streaming
from calibrant._result import Result, for_json
from calibrant.scorecards import Estimate, normal_quantile

__all__ = ["Change", "Side", "changes_of", "side_of"]

#: Of a scorecard, the numbers that mean the same for any number of rows.
_CARD = (
    "base_rate", "hit_rate", "decisiveness", "accuracy", "robustness", "brier", "reliability",
    "resolution", "brier_skill", "log", "spherical", "ece", "auc",
)  # fmt: skip
#: The extremes of the cumulative differences, and the law of those of a Brownian motion.
_WALKS = {"ks": _core.brownian_sup_sf, "kuiper": _core.brownian_range_sf}
#: Intervals that are as far to either side, unless they are cut where the number ends.
_SYMMETRIC = frozenset({"CLT", "DeLong"})
#: Intervals from the variance of the rows themselves; those of frequencies are score tests already.
_OF_MEANS = frozenset({"CLT", "delta", "DeLong"})
#: Of the hits of a bin: it must have this much on both sides to be compared.
LEAST_VARIANCE = 2.0
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
        Current - reference; of reliability and resolution between the centres of the intervals,
        since these numbers are biased, and more so in fewer rows.
    low, high : float or None
        The interval of the change.
    se : float or None
        Its standard error, of the interval.
    statistic : float or None
        What the p-value is of; of "normal" ones, change over the larger of two standard errors:
        that of the interval, and that of one variance for the rows of both sides.
    pvalue : float or None
        Of the hypothesis that nothing has changed. None where there is none.
    adjusted_pvalue : float or None
        By Holm's method, over all numbers of the drift.
    method : str
        "normal", "bound" (the p-value is at most this large), "chi-square", "certified", or
        "none".
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

    estimates: dict[str, Estimate]
    #: Standard deviation of the end of the cumulative differences; of their extremes, if any.
    noise: float | None
    bins: Any
    level: float


def side_of(accumulator: Any, level: float) -> Side:
    """Return what can be compared of an accumulator."""
    if isinstance(accumulator, streaming.Scorecard):
        card = accumulator.result(level)
        if not accumulator._state.has_table:
            return Side({name: getattr(card, name) for name in _CARD}, None, None, level)
        table = accumulator.table
        sigma = table.cumulative_differences().sigma
        estimates = {name: getattr(card, name) for name in _CARD}
        estimates |= {name: _scaled(getattr(card, name), sigma) for name in _WALKS}
        bins = table.reliability_bins(n_bins=card.n_bins, strategy="uniform").value
        return Side(estimates, _noise(table, sigma), bins, level)
    if isinstance(accumulator, streaming.ScoreTable):
        sigma = accumulator.cumulative_differences().sigma
        error = accumulator.expected_calibration_error(strategy="uniform")
        estimates = {"ece": _certified(error)}
        estimates["auc"] = _area(accumulator)
        estimates["ks"] = _scaled(accumulator.ks().statistic, sigma)
        estimates["kuiper"] = _scaled(accumulator.kuiper().statistic, sigma)
        bins = accumulator.reliability_bins(strategy="uniform").value
        return Side(estimates, _noise(accumulator, sigma), bins, level)
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
    return Side(estimates, None, result if hasattr(result, "edges") else None, level)


def changes_of(a: Side, b: Side) -> tuple[Change, ...]:
    """Return the changes from one side to the other."""
    changes = [_change(name, a, b) for name in a.estimates if name in b.estimates]
    if a.bins is not None and b.bins is not None:
        changes.append(_of_curves(a.bins, b.bins))
    return tuple(changes)


def _change(name: str, a: Side, b: Side) -> Change:
    first, second = a.estimates[name], b.estimates[name]
    if name in _WALKS:
        assert a.noise is not None
        assert b.noise is not None
        return _of_walks(name, first, second, a.noise + b.noise, a.level)
    if name == "ece" and a.bins is not None and b.bins is not None:
        return _of_errors(first, second, a.bins, b.bins, a.level)
    if "certified" in (first.method, second.method):
        return _within(name, first, second)
    return _between(name, first, second, normal_quantile(a.level), _sizes(name, a, b))


def _nothing(reason: str) -> Estimate:
    return Estimate(None, None, None, "none", reason)


def _certified(bounds: Any) -> Estimate:
    return Estimate(bounds.value, bounds.low, bounds.high, "certified")


def _area(table: streaming.ScoreTable) -> Estimate:
    try:
        return _certified(table.roc_auc())
    except ValueError as error:  # of one class
        return _nothing(str(error))


def _sizes(name: str, a: Side, b: Side) -> tuple[float, float] | None:
    """Return how many rows of either side the variance of a number falls with."""
    if a.bins is None or b.bins is None:
        return None
    rows = [float(side.bins.weights.sum()) for side in (a, b)]
    if name != "auc":
        return rows[0], rows[1]
    hits = [float(np.nansum(side.bins.weights * side.bins.frequencies)) for side in (a, b)]
    if 2.0 * sum(hits) <= sum(rows):  # the fewer of the two kinds decide
        return hits[0], hits[1]
    return rows[0] - hits[0], rows[1] - hits[1]


def _between(
    name: str, a: Estimate, b: Estimate, z: float, sizes: tuple[float, float] | None
) -> Change:
    """Compare two estimates of independent rows by their intervals.

    The interval of the difference adds, in squares, the distances of the four ends from their
    values: sqrt(se_a^2 + se_b^2) where intervals are symmetric, and right also where they are not
    (Newcombe 1998; Zou and Donner 2008). For the p-value they are no shorter than with one
    variance for the rows of both sides.
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
    reach = toward_zero
    if sizes is not None and a.method == b.method and a.method in _OF_MEANS:
        reach = max(reach, _together(0.5 * (down_a + up_a), 0.5 * (down_b + up_b), *sizes))
    statistic = z * change / reach
    pvalue = float(_core.normal_two_sided([statistic])[0])
    return Change(
        name, a, b, change, change - down, change + up, (down + up) / (2.0 * z),
        statistic, pvalue, method="normal",
    )  # fmt: skip


def _together(arm_a: float, arm_b: float, n_a: float, n_b: float) -> float:
    """Return the arm of the difference if the rows of both sides have one variance.

    They have if they are of one law, as the hypothesis says. The few rows of a small window may
    miss what is rare, and with it most of their own variance.
    """
    if not (n_a > 0.0 and n_b > 0.0):
        return 0.0
    of_a_row = ((n_a * arm_a) ** 2 + (n_b * arm_b) ** 2) / (n_a + n_b)
    return math.sqrt(of_a_row * (1.0 / n_a + 1.0 / n_b))


def _arms(x: Any) -> tuple[float, float, float]:
    """Return the point that is compared, and how far the interval reaches down and up from it."""
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
    statistic = (max(low, -high, 0.0) - mean) / deviation
    reach = mean + deviation * normal_quantile(2.0 * level - 1.0) if level > 0.5 else mean
    return Change(
        "ece", a, b, change, low - reach, high + reach, None, statistic,
        float(_core.normal_sf([statistic])[0]), method="bound",
    )  # fmt: skip


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
    statistic = max(low, -high, 0.0) / noise  # of the least change that the bounds leave possible
    reach = noise * _upper_quantile(tail, 0.5 * (1.0 - level))
    return Change(
        name, a, b, _difference(a, b), low - reach, high + reach, None, statistic,
        min(1.0, 2.0 * float(tail([statistic])[0])), method="bound",
    )  # fmt: skip


def _scaled(bounds: Any, sigma: float) -> Estimate:
    if bounds.value is None or bounds.low is None or sigma == 0.0:
        return Estimate(0.0, 0.0, 0.0, "certified")
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
    """Compare frequency minus score, bin by bin, by the sum of squared standardized changes.

    Variances are those of the gap of both sides together: the few hits of a small window say too
    little of their own.
    """
    nothing = _nothing("a curve is no single number")
    together = np.maximum(a.weights + b.weights, 1.0)
    gaps = [np.nan_to_num(x.frequencies - x.mean_scores) for x in (a, b)]
    gap = (a.weights * gaps[0] + b.weights * gaps[1]) / together
    rates = [np.clip(np.nan_to_num(x.mean_scores) + gap, 0.0, 1.0) for x in (a, b)]
    spreads = [rate * (1.0 - rate) for rate in rates]
    used = np.minimum(a.weights * spreads[0], b.weights * spreads[1]) >= LEAST_VARIANCE
    if not used.any():
        reason = "no bin has enough hits and misses on both sides"
        return Change("curve", nothing, nothing, None, reason=reason)
    variance = spreads[0][used] / a.weights[used] + spreads[1][used] / b.weights[used]
    statistic = float(((gaps[1] - gaps[0])[used] ** 2 / variance).sum())
    pvalue = _core.chi_square_sf(statistic, int(used.sum()))
    return Change(
        "curve", nothing, nothing, None, statistic=statistic, pvalue=pvalue, method="chi-square"
    )


def _variances(bins: Any, used: Any) -> Any:
    """Of the frequencies; half a hit and half a miss more keep them from 0."""
    weight = bins.weights[used]
    frequency = (bins.frequencies[used] * weight + 0.5) / (weight + 1.0)
    return frequency * (1.0 - frequency) / weight
