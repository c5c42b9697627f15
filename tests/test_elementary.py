"""Our own log, exp and powers: errors against 200 bits, and the same bits on every machine."""

from __future__ import annotations

import hashlib
import math

import mpmath
import numpy as np
import pytest

from calibrant import _core
from calibrant._core import _testing

MIN, MAX = 2.0**-1022, math.nextafter(math.inf, 0)  # the normal doubles
SQRT_HALF = 0x3FE6A09E667F3BCD  # the bits of the nearest double
LN2 = math.log(2.0)

# Bounds in ulps, as elementary.hpp states them; worst seen in 10^7 points: 0.565 and 0.529.
LOG_BOUND, EXP_BOUND = 0.57, 0.53
SUBNORMAL = 0.25  # more, where the result is subnormal and so rounded twice


def power_bound(m: float) -> float:
    return 0.53 + 0.03 * abs(m)


@pytest.fixture(autouse=True)
def two_hundred_bits():
    with mpmath.workprec(200):
        yield


def words(n: int, seed: int) -> np.ndarray:
    """64-bit words (splitmix64), from integers alone: the same for ever."""
    z = np.arange(seed << 32, (seed << 32) + n, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def unit(n: int, seed: int) -> np.ndarray:
    """Multiples of 2^-53 in (0, 1]."""
    return ((words(n, seed) >> np.uint64(11)).astype(np.float64) + 1.0) * 2.0**-53


def from_bits(bits: np.ndarray) -> np.ndarray:
    return bits.astype(np.uint64).view(np.float64)


def all_positive(n: int, seed: int) -> np.ndarray:
    """Every exponent alike, subnormals too."""
    return from_bits(words(n, seed) % np.uint64(0x7FEFFFFFFFFFFFFF) + np.uint64(1))


def subnormals(n: int, seed: int) -> np.ndarray:
    h = words(n, seed)
    return from_bits(np.uint64(1) + (h >> (np.uint64(12) + h % np.uint64(52))))


def near(bits: int, n: int, seed: int) -> np.ndarray:
    """Doubles on both sides of the one with these bits, at all distances."""
    h = words(n, seed)
    distance = (h >> (np.uint64(16) + h % np.uint64(48))).astype(np.int64)
    sign = np.where(h & np.uint64(64), 1, -1)
    return from_bits(np.int64(bits) + sign * distance)


def bits_of(x: float) -> int:
    return int(np.float64(x).view(np.uint64))


POSITIVE = {
    "all": all_positive(2000, 1),
    "unit interval": unit(2000, 2),
    "near 1": near(bits_of(1.0), 2000, 3),
    "where the series takes over": np.concatenate(
        [near(bits_of(1 + 2.0**-12), 200, 4), near(bits_of(1 - 2.0**-12), 200, 5)]
    ),
    "near sqrt(1/2)": near(SQRT_HALF, 1500, 6),
    "near sqrt(2)": near(SQRT_HALF + (1 << 52), 1500, 7),
    "sqrt(1/2) at every scale": np.ldexp(near(SQRT_HALF, 2040, 8), np.arange(-1020, 1020)),
    "powers of two": np.ldexp(1.0, np.arange(-1074, 1024)),
    "beside powers of two": np.nextafter(np.ldexp(1.0, np.arange(-1022, 1024)), 0.0),
    "subnormals": subnormals(1000, 9),
    "extremes": np.array([5e-324, 1e-323, np.nextafter(MIN, 0), MIN, 1.0, MAX]),
    "worst seen": np.array(
        [
            float.fromhex(x)
            for x in (
                "0x1.6a06dfde29e67p+0",  # log, 0.5649 ulp
                "0x1.6a0a0bb5d88e7p-1",
                "0x1.6a09f12fc792fp-1",  # its parts, 1.134 * 2^-58
                "0x1.6ac1030b7a783p-1",  # log_term, 1.428 * 2^-58
                "0x1.307dfa199a85ep-10",  # the term of m = -2/3, 3.63 * 2^-57
            )
        ]
    ),
}

EXPONENTS = {
    "all": (unit(3000, 11) - 0.5) * 1490.0,
    "near 0": (unit(2000, 12) - 0.5) * np.ldexp(1.0, -np.arange(2000) % 64),
    "halfway between multiples of ln 2": (np.arange(-1000, 1000) + 0.5)
    * LN2
    * (1.0 + (unit(2000, 13) - 0.5) * 2.0**-12),
    "multiples of ln 2": np.arange(-1070, 1020) * LN2,
    "subnormal results": -708.4 - 37.0 * unit(1500, 14),
    "extremes": np.array([-745.1332191019412, -745.14, -2e5, 709.782712893384, 709.7828, 2e5, 0.0]),
    "worst seen": np.array(
        [float.fromhex(x) for x in ("0x1.561407873d4e7p+8", "-0x1.62616e5899776p+9")]
    ),
}

# Powers and the arguments where they were worst.
POWERS = [1.0, -1.0, 2.0, -2.0, 0.5, -0.5, -2 / 3, 1 / 3, 3.0, -4.0, 7.3, 8.0, -8.0, 1e-3, -1e-9]
LARGE_POWERS = [16.0, -16.0, 31.9, 32.0, -32.0, 100.0, -1000.0]


def exact_power(m: float):
    """The double nearest to -2/3 stands for -2/3."""
    return mpmath.mpf(-2) / 3 if m == -2 / 3 else mpmath.mpf(m)


def ulp(x) -> mpmath.mpf:
    """Of the double in whose binade x lies."""
    exponent = mpmath.frexp(x)[1]
    return mpmath.ldexp(1, int(max(exponent - 53, -1074)))


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


def in_reach(x: np.ndarray, m: float) -> np.ndarray:
    """Arguments scaled so that few of their powers leave the doubles."""
    mantissas, exponents = np.frexp(x)
    reach = max(1, int(1070 / max(abs(m), 1.0)))
    return np.ldexp(mantissas, np.sign(exponents) * (np.abs(exponents) % reach))


@pytest.mark.parametrize("m", POWERS + LARGE_POWERS)
def test_power(m):
    x = np.concatenate([in_reach(POSITIVE[name][::8], m) for name in POSITIVE])
    exact = [mpmath.exp(exact_power(m) * mpmath.log(v)) for v in x.tolist()]
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
            exact = mpmath.exp(exact_power(m) * mpmath.log(v))
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
