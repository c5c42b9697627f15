"""Generalized means against 300 bits: the bounds that means.hpp states, and the corners."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from calibrant._core import RiskProfile
from reference import exact as exact_value

LARGE = [1 / 8, 1 / 3, 0.5, 0.9, 1.0, 1.1, 2.0, 5.0, 32.0, 1e3, 1e5]
SMALL = [0.0, 0.1, 1 / 64, 1e-2, 1e-3, 1e-4, 1e-6, 1e-9, 1e-15, 1e-100, 1e-250]
POWERS = [sign * m for m in LARGE + SMALL for sign in (1.0, -1.0)] + [-2 / 3]


def unit(n: int, seed: int) -> np.ndarray:
    """In (0, 1], from integers."""
    k = np.arange(1, n + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15) * np.uint64(seed)
    return ((k >> np.uint64(11)).astype(np.float64) + 1.0) * 2.0**-53


DATA = {
    "uniform": unit(30, 1),
    "one row": np.array([0.3]),
    "all alike": np.full(3, 0.7),
    "close to 1": 1.0 - np.arange(1, 30) * 2.0**-53,
    "near 1": 1.0 - 2.0**-30 * unit(30, 3),
    "ones and one less": np.array([1.0, 1.0, 1.0, 1.0 - 2.0**-53]),
    "near 0": np.ldexp(unit(30, 5), -35 * np.arange(30)),
    "subnormal": np.array([1, 2, 3, 1000, 12345]) * 5e-324,
    "everything": np.array([5e-324, 2.0**-1022, 2.0**-28, math.nextafter(2.0**-28, 0), 0.5, 1.0]),
    "where grids end": np.array([2.0**-28, math.nextafter(2.0**-28, 1), 2.0**-27.3]),
    "one bad row": np.append(np.full(60, 0.999), 1e-8),
}


@pytest.fixture(autouse=True)
def many_bits():
    with mpmath.workprec(300):
        yield


def profile(q, powers, weight=None, q_lim=0.0):
    result = RiskProfile(powers, q_lim)
    result.update_probabilities(np.asarray(q, dtype=np.float64), weight, False, "q")
    return result


def mean_power_minus_one(q, m: float, weight):
    rows = zip(q.tolist(), weight.tolist(), strict=True)
    total = sum(w * mpmath.expm1(exact_value(m) * mpmath.log(x)) for x, w in rows)
    return total / mpmath.fsum(weight.tolist())


def log_of_mean(q, m: float, weight):
    if m == 0.0:
        rows = zip(q.tolist(), weight.tolist(), strict=True)
        return mpmath.fsum(w * mpmath.log(x) for x, w in rows) / mpmath.fsum(weight.tolist())
    if abs(m) < 1 / 64:
        return mpmath.log1p(mean_power_minus_one(q, m, weight)) / exact_value(m)
    rows = zip(q.tolist(), weight.tolist(), strict=True)
    total = mpmath.fsum(w * mpmath.exp(exact_value(m) * mpmath.log(x)) for x, w in rows)
    return mpmath.log(total / mpmath.fsum(weight.tolist())) / exact_value(m)


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("weighted", [False, True])
def test_means(name, weighted):
    q = DATA[name]
    weight = 10.0 * unit(len(q), 7) if weighted else np.ones(len(q))
    for m in POWERS:
        if abs(m) * (math.log2(q.max()) - math.log2(q.min())) > 6e7:
            with pytest.raises(ValueError, match="too many powers of two apart"):
                profile(q, [m])
            continue
        found = profile(q, [m], weight if weighted else None)
        log_mean = log_of_mean(q, m, weight)
        mean = mpmath.exp(log_mean)
        mean_bound = mpmath.mpf(math.ulp(float(mean)))
        log_bound = mpmath.mpf(math.ulp(float(log_mean)))
        if abs(m) < 2.0**-80:  # stands for 0
            log_bound += mpmath.ldexp(1, -57)
        elif abs(m) >= 1 / 8:
            log_bound += mpmath.ldexp(1 + 1 / abs(m), -57)
        else:
            terms = min(2.0**-57 / abs(m), -mpmath.ldexp(mpmath.log(q.min()), -52))
            mean_bound += terms * mean
            log_bound += terms
        assert abs(found.means()[0] - mean) <= mean_bound, m
        assert abs(found.log_mean(0) - log_mean) <= log_bound, m


@pytest.mark.parametrize("name", DATA)
def test_mean_power_minus_one(name):
    """Half an ulp, and what the terms are off by."""
    q = DATA[name]
    for m in POWERS:
        if abs(m) < 2.0**-80 or abs(m) > 100:
            continue
        exact = mean_power_minus_one(q, m, np.ones(len(q)))
        if abs(exact) > 1e300:
            continue
        found = profile(q, [m]).mean_power_minus_one(0)
        terms = mpmath.ldexp(min((1 + abs(m)), 2) * (exact + 1), -57) if abs(m) >= 1 / 64 else 0
        terms += mpmath.ldexp(abs(m) * (exact + 1), -56) - mpmath.ldexp(
            abs(m) * mpmath.log(q.min()) * max(1, exact + 1), -53
        )
        assert abs(found - exact) <= mpmath.mpf(math.ulp(float(exact))) + terms, m


@pytest.mark.parametrize(("m", "expected"), [(1e6, -1.0), (-1e6, math.inf), (2.0**26, -1.0)])
def test_mean_power_minus_one_far_from_one(m, expected):
    assert profile([1e-300], [m]).mean_power_minus_one(0) == expected


@pytest.mark.parametrize("scale", [5e-324, 1e-310, 2.0**-1022, 1e300])
def test_the_scale_of_weights_does_not_matter(scale):
    """Subnormal weights too: a mean of ones must not be NaN."""
    powers = [1.0, 0.0, -2 / 3, 0.5, -3.0, 1e-9, math.inf, -math.inf]
    assert profile([1.0, 1.0], powers, np.full(2, scale)).means() == [1.0] * len(powers)
    q = np.array([0.25, 0.7, 0.1])
    assert profile(q, powers, np.full(3, scale)).means() == profile(q, powers).means()


def test_the_sign_of_zero_leaves_no_trace():
    powers = [1.0, -1.0, math.inf, -math.inf]
    states = set()
    for first, second in [(0.0, -0.0), (-0.0, 0.0), (0.0, 0.0), (-0.0, -0.0)]:
        both = profile([first], powers, q_lim=second)
        both.merge(profile([second], powers, q_lim=first))
        states.add(both.to_bytes())
    assert len(states) == 1


@pytest.mark.usefixtures("isa")
@pytest.mark.parametrize("name", DATA)
def test_integer_weights_are_repetitions(name):
    q = DATA[name]
    times = np.arange(len(q)) * 7 % 5
    powers = [1.0, 0.0, -2 / 3, 0.3, -2.0, 40.0, -500.0, math.inf, -math.inf]
    weighted = profile(q, powers, times.astype(np.float64))
    if times.sum() == 0:
        with pytest.raises(ValueError, match="positive weight"):
            weighted.means()
        return
    repeated = profile(np.repeat(q, times), powers)
    assert weighted.means() == repeated.means()
    assert weighted.weight_sum == repeated.weight_sum
