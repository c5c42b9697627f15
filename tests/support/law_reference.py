"""The laws of test statistics by definition: each by the series that does not cancel at x.

As pairs (cdf, sf), to the digits that mpmath works with.
"""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np

BORDERS = (0.5, 1.25, 1.75)  # where one series takes over from the other


def erfc(x):
    return mp.erfc(x / mp.sqrt(2))


def odd_numbers(step):
    """Until exp(-step (j^2 - 1)) is below all digits."""
    return range(1, 5 + int(math.sqrt(150 / step)), 2)


def sup(x):
    if x < 1.5:
        a = mp.pi**2 / (8 * x**2)
        cdf = 4 / mp.pi * mp.fsum((-1) ** (j // 2) * mp.exp(-a * j**2) / j for j in odd_numbers(a))
        return cdf, 1 - cdf
    sf = 2 * mp.fsum((-1) ** (j // 2) * erfc(j * x) for j in odd_numbers(x**2 / 2))
    return 1 - sf, sf


def span(x):
    if x < 1.5:
        b = mp.pi**2 / (2 * x**2)
        terms = [(1 / x**2 + 1 / (j * mp.pi) ** 2) * mp.exp(-b * j**2) for j in odd_numbers(b)]
        cdf = 8 * mp.fsum(terms)
        return cdf, 1 - cdf
    last = odd_numbers(x**2 / 2)[-1]
    sf = 4 * mp.fsum((-1) ** (k - 1) * k * erfc(k * x) for k in range(1, last + 1))
    return 1 - sf, sf


def folded_normal(x):
    return mp.erf(x / mp.sqrt(2)), erfc(x)


def normal(x):
    return erfc(-x) / 2, erfc(x) / 2


def log_of(sf, cdf):
    return mp.log(sf) if sf < 0.5 else mp.log1p(-cdf)


def points(law):
    near = [b * (1 + s * 2.0**-k) for b in BORDERS for k in range(2, 53) for s in (-1, 1)]
    ordinary = [*np.geomspace(0.03, 40, 1500), *np.linspace(0.4, 3, 500), *near]
    far = [*np.geomspace(1e-3, 0.03, 20), *np.geomspace(40, 1500, 200)]  # log_sf to -1e6
    values = np.array([*ordinary, *far, *BORDERS, 1e-300, 1e-10, 2.0**-1074])
    if law == "normal":
        values = np.concatenate([values, -values])
    return np.sort(values)
