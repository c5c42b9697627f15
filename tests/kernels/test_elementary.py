"""Our own log, exp and powers: errors against 200 bits, and the same bits on every machine."""

from __future__ import annotations

import hashlib
import math

import mpmath
import numpy as np
import pytest

from calibrant import _core
from calibrant._core import _testing
from elementary_points import (
    EXP_BOUND,
    EXPONENTS,
    LARGE_POWERS,
    LOG_BOUND,
    MAX,
    MIN,
    POSITIVE,
    POWERS,
    SQRT_HALF,
    SUBNORMAL,
    all_positive,
    bits_of,
    in_reach,
    near,
    power_bound,
    subnormals,
    unit,
)
from reference import exact as exact_value, ulp

pytestmark = pytest.mark.kernels


@pytest.fixture(autouse=True)
def two_hundred_bits():
    with mpmath.workprec(200):
        yield


def assert_within(found, exact, x, bound: float) -> None:
    """Each within the bound, in ulps, or beyond the doubles as it should be."""
    worst = (0.0, None)
    for each, (y, t) in enumerate(zip(found.tolist(), exact, strict=True)):
        if math.isinf(y):
            assert t > MAX, x[each].hex()
            continue
        allowed = bound + (SUBNORMAL if abs(t) < MIN else 0.0)
        worst = max(worst, (float(abs(mpmath.mpf(y) - t) / ulp(t)) / allowed, x[each].hex()))
    assert worst[0] <= 1.0, worst


@pytest.mark.parametrize("name", POSITIVE)
def test_log(name):
    x = POSITIVE[name]
    exact = [mpmath.log(v) if v != 1.0 else mpmath.mpf(0) for v in x.tolist()]
    found = _testing.log(x)
    assert np.array_equal(found == 0.0, x == 1.0)
    keep = x != 1.0
    assert_within(found[keep], [t for t in exact if t], x[keep], LOG_BOUND)


@pytest.mark.parametrize("name", EXPONENTS)
def test_exp(name):
    y = EXPONENTS[name]
    assert_within(_testing.exp(y), [mpmath.exp(v) for v in y.tolist()], y, EXP_BOUND)


@pytest.mark.parametrize("m", POWERS + LARGE_POWERS)
def test_power(m):
    x = np.concatenate([in_reach(POSITIVE[name][::8], m) for name in POSITIVE])
    exact = [mpmath.exp(exact_value(m) * mpmath.log(v)) for v in x.tolist()]
    assert_within(_testing.power(x, m), exact, x, power_bound(m))


def test_exact_powers():
    x = all_positive(1000, 15)
    assert np.array_equal(_testing.power(x, 0.0), np.ones_like(x))
    assert np.array_equal(_testing.power(np.ones(5), -17.25), np.ones(5))
    k = np.arange(-1022, 1024)
    assert np.array_equal(_testing.power(np.ldexp(1.0, k), -1.0)[:-1], np.ldexp(1.0, -k)[:-1])
    assert np.array_equal(_testing.exp(np.array([0.0, -0.0])), [1.0, 1.0])


def test_out_of_range():
    assert np.array_equal(
        _testing.exp(np.array([710.0, 1e6, -746.0, -1e300])), [np.inf, np.inf, 0, 0]
    )
    assert np.array_equal(_testing.power(np.array([1e-300, 1e300]), 1e3), [0.0, np.inf])
    assert np.array_equal(_testing.power(np.array([5e-324, MAX]), -(2.0**20)), [np.inf, 0.0])


# The terms that go into exact sums --------------------------------------------------------------


def probabilities(x: np.ndarray) -> np.ndarray:
    """The terms of powers are for these only."""
    return x[x <= 1.0]


@pytest.mark.parametrize("name", POSITIVE)
def test_log_terms(name):
    """Within 2^-57, of which 2^-59 is the rounding to multiples of 2^-58."""
    x = POSITIVE[name]
    high, low = _testing.log_term(x)
    assert np.array_equal(high, np.ldexp(np.rint(np.ldexp(high, 16)), -16))
    assert np.array_equal(low, np.ldexp(np.rint(np.ldexp(low, 58)), -58))
    assert np.all(np.abs(low) <= 2.0**-7)
    for v, first, second in zip(x.tolist(), high.tolist(), low.tolist(), strict=True):
        assert abs(mpmath.mpf(first) + second - mpmath.log(v)) <= mpmath.ldexp(1, -57), v.hex()


@pytest.mark.parametrize("m", [*POWERS, *LARGE_POWERS, 1e5, -(2.0**26), 1e-250])
def test_power_terms(m):
    """Within (1 + |m|) 2^-57 of their size; m = -2/3 within 2^-55 and half its grid."""
    x = probabilities(np.concatenate([POSITIVE[name][::9] for name in POSITIVE]))
    high, low, exponent = _testing.power_term(x, m)
    assert np.array_equal(exponent, np.rint(exponent))
    with mpmath.workprec(260):
        for i, v in enumerate(x.tolist()):
            found = mpmath.ldexp(mpmath.mpf(float(high[i])) + float(low[i]), int(exponent[i]))
            exact = mpmath.exp(exact_value(m) * mpmath.log(v))
            allowed = (1 + abs(m) if m != -2 / 3 else 4) * mpmath.ldexp(1, -57) * exact
            if m == -2 / 3 and v >= 2.0**-28:
                allowed += mpmath.ldexp(1, -59)
            assert abs(found - exact) <= allowed, v.hex()


# The same bits everywhere -----------------------------------------------------------------------

N = 200_000


def arguments() -> np.ndarray:
    quarter, eighth = N // 4, N // 8
    edges = near(bits_of(1.0), quarter, 23), subnormals(eighth, 24), near(SQRT_HALF, eighth, 25)
    x = np.concatenate([all_positive(quarter, 21), unit(quarter, 22), *edges])
    assert len(x) == N
    return x


def sha256(*arrays: np.ndarray) -> str:
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(array.astype("<f8", copy=False).tobytes())
    return digest.hexdigest()


def hash_log() -> str:
    return sha256(_testing.log(arguments()))


def hash_exp() -> str:
    return sha256(_testing.exp((unit(N, 26) - 0.5) * 1490.0))


def hash_power() -> str:
    x = arguments()
    return sha256(*(_testing.power(x[i::7], m) for i, m in enumerate(GOLDEN_POWERS)))


def hash_log_term() -> str:
    return sha256(*_testing.log_term(arguments()))


def hash_power_term() -> str:
    x = probabilities(arguments())
    parts = (_testing.power_term(x[i::7], m) for i, m in enumerate(GOLDEN_POWERS))
    return sha256(*(part for each in parts for part in each))


def hash_risk_profile() -> str:
    """The fused kernel, the term-by-term one, products with weights, and the sums of all."""
    state = hashlib.sha256()
    tiny = unit(N // 4, 29)
    for _ in range(4):
        tiny = tiny * tiny
    q = np.concatenate([unit(N // 2, 27), 2.0**-20 * unit(N // 4, 28), tiny])
    weight = np.concatenate([unit(N // 2, 30), all_positive(N // 2, 31)])
    for sample_weight in (None, weight):
        profile = _core.RiskProfile([1.0, 0.0, -2 / 3, 0.5, -3.0, 200.0], 0.0)
        profile.update_probabilities(q, sample_weight, False, "q")
        state.update(profile.to_bytes())
        state.update(np.array(profile.means(), dtype="<f8").tobytes())
    return state.hexdigest()


GOLDEN_POWERS = [-2 / 3, 0.5, -1.0, 2.0, 17.3, -31.3, 1e-3]

GOLDEN = {
    "log": "182d15e3fe94def5b588156b4da6cf4097064c232d6058745fe0d420eabcbfab",
    "exp": "e90fcfea2978065029128aca18f5da3927f882b7509abcde8a4c4ed4d0a7490e",
    "power": "a3835f00c687ac7b69aa50782b7d52988825a37f9678f1d69b185ba83df201f5",
    "log_term": "027ece19d4d67b5180dc2d9fbd74293dfef4f20353634616d23f009b5e0dd3a5",
    "power_term": "0c7e5a4fe932f2a6743b6803001249d2322f0e8eb4d1eaf8c076ea34e780b3c1",
    "risk_profile": "87f68498f78e9264595c702697cb6a23418815396665cbc678ca6daa0e0670d5",
}


@pytest.mark.parametrize("function", GOLDEN)
def test_the_same_bits_on_every_machine(isa, function):
    """Should a constant change, so do results: that is a line in the changelog."""
    assert globals()[f"hash_{function}"]() == GOLDEN[function], isa
