"""Laws of rank counts by definition: binomial laws, and the recursion over cuts, in fractions."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction


def binomial(n, r, p):
    return math.comb(n, r) * p**r * (1 - p) ** (n - r)


def lower_tails(n, n_ranks):
    """P(R(k) <= r), by k and r."""
    laws = ([binomial(n, r, Fraction(k, n_ranks)) for r in range(n + 1)] for k in range(1, n_ranks))
    return [list(itertools.accumulate(law)) for law in laws]


def inside(n, n_ranks, low, high):
    """P(low <= R(k) <= high for all k), from cut to cut."""
    paths = {0: Fraction(1)}
    for k, (least, most) in enumerate(zip(low, high, strict=True), start=1):
        p = Fraction(1, n_ranks - k + 1)
        following = dict.fromkeys(range(least, most + 1), Fraction(0))
        for a, weight in paths.items():
            for b in range(max(a, least), most + 1):
                following[b] += weight * binomial(n - a, b - a, p)
        paths = following
    return sum(paths.values())


def gamma_of(below, tails):
    upper = [1 - (tail[r - 1] if r else 0) for tail, r in zip(tails, below, strict=True)]
    lower = [tail[r] for tail, r in zip(tails, below, strict=True)]
    return 2 * min(*lower, *upper)


def band_of(n, tails, contains):
    """The least and the largest r of each cut whose gamma is in the band."""
    found = []
    for tail in tails:
        gammas = [2 * min(tail[r], 1 - (tail[r - 1] if r else 0)) for r in range(n + 1)]
        kept = [r for r in range(n + 1) if contains(gammas[r])]
        found.append((kept[0], kept[-1]) if kept else (1, 0))
    return zip(*found, strict=True)


def gamma_pvalue(below, n, n_ranks):
    tails = lower_tails(n, n_ranks)
    observed = gamma_of(below, tails)
    return 1 - inside(n, n_ranks, *band_of(n, tails, lambda gamma: gamma > observed))


def ks_pvalue(below, n, n_ranks):
    def distance(k, r):
        return abs(Fraction(r, n) - Fraction(k, n_ranks))

    observed = max(distance(k, r) for k, r in enumerate(below, start=1))
    found = []
    for k in range(1, n_ranks):
        kept = [r for r in range(n + 1) if distance(k, r) < observed]
        found.append((kept[0], kept[-1]) if kept else (1, 0))
    return observed, 1 - inside(n, n_ranks, *zip(*found, strict=True))
