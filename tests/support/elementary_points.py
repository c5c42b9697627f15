"""Where log, exp and powers are tried: all exponents, and where they are hardest."""

from __future__ import annotations

import math

import numpy as np

MIN, MAX = 2.0**-1022, math.nextafter(math.inf, 0)  # the normal doubles
SQRT_HALF = 0x3FE6A09E667F3BCD  # the bits of the nearest double
LN2 = math.log(2.0)

# Bounds in ulps, as elementary.hpp states them; worst seen in 10^7 points: 0.565 and 0.529.
LOG_BOUND, EXP_BOUND = 0.57, 0.53
SUBNORMAL = 0.25  # more, where the result is subnormal and so rounded twice


def power_bound(m: float) -> float:
    return 0.53 + 0.03 * abs(m)


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


def in_reach(x: np.ndarray, m: float) -> np.ndarray:
    """Arguments scaled so that few of their powers leave the doubles."""
    mantissas, exponents = np.frexp(x)
    reach = max(1, int(1070 / max(abs(m), 1.0)))
    return np.ldexp(mantissas, np.sign(exponents) * (np.abs(exponents) % reach))
