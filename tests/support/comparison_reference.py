"""Differences between the scores of two models by definition, in 50 digits."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import scipy.special
import scipy.stats

SCORES = ("brier", "log", "spherical", "hit_rate")


def terms(label, p):
    """The terms of one row, by definition; 1 - p is rounded where its logarithm is taken."""
    q = [1.0 - float(p), float(p)][label] if np.ndim(p) == 0 else float(p[label])
    p = [1 - mpmath.mpf(p), mpmath.mpf(p)] if np.ndim(p) == 0 else list(map(mpmath.mpf, p))
    binary = len(p) == 2
    squares = [(x - (j == label)) ** 2 for j, x in enumerate(p)]
    top = int(p[1] >= 0.5) if binary else p.index(max(p))
    return {
        "brier": squares[1] if binary else sum(squares),
        "log": -mpmath.log(q),
        "spherical": p[label] / mpmath.sqrt(sum(x * x for x in p)),
        "hit_rate": mpmath.mpf(int(top == label)),
    }


def by_definition(y, p, q, weights):
    """Mean difference and standard error of each score, to 50 digits."""
    with mpmath.workdps(50):
        rows = [(terms(label, a), terms(label, b)) for label, a, b in zip(y, p, q, strict=True)]
        w = [mpmath.mpf(float(x)) for x in weights]
        total = mpmath.fsum(w)
        found = {}
        for name in SCORES:
            d = [a[name] - b[name] for a, b in rows]
            mean = mpmath.fsum(x * y for x, y in zip(w, d, strict=True)) / total
            spread = mpmath.fsum(x * (y - mean) ** 2 for x, y in zip(w, d, strict=True))
            found[name] = mean, mpmath.sqrt(spread) / total
        return found


def even_moments(a, b, name):
    """Variance and third moment of a row's difference under the mixture where its mean is 0."""
    labels = range(2) if np.ndim(a) == 0 else range(len(a))
    d = [terms(j, a)[name] - terms(j, b)[name] for j in labels]
    a = [1 - mpmath.mpf(a), mpmath.mpf(a)] if np.ndim(a) == 0 else list(map(mpmath.mpf, a))
    b = [1 - mpmath.mpf(b), mpmath.mpf(b)] if np.ndim(b) == 0 else list(map(mpmath.mpf, b))
    of_a, of_b = mpmath.fdot(a, d), mpmath.fdot(b, d)
    share = of_a / (of_a - of_b) if of_a != of_b else mpmath.mpf(0)
    law = [(1 - share) * x + share * y for x, y in zip(a, b, strict=True)]
    return [mpmath.fsum(x * y**m for x, y in zip(law, d, strict=True)) for m in (2, 3)]


def judged(y, p, q, weights, level):
    """The p-value and the interval of each score, as docs/guide/comparison.md has them."""
    found = {}
    for name, (mean, error) in by_definition(y, p, q, weights).items():
        total = math.fsum(map(float, weights))
        mean, spread = float(mean), float(error) * total
        if name == "hit_rate":
            d = [terms(k, a)[name] - terms(k, b)[name] for k, a, b in zip(y, p, q, strict=True)]
            apart = math.fsum(float(w) * abs(float(x)) for w, x in zip(weights, d, strict=True))
            less = math.ceil((apart - abs(mean * total)) / 2 - 1e-6)
            even = min(1.0, 2 * scipy.stats.binom.cdf(less, math.floor(apart + 1e-6), 0.5))
            below = above = 2.0
        else:
            moments = [even_moments(a, b, name) for a, b in zip(p, q, strict=True)]
            variance, third = (
                float(mpmath.fsum(float(w) * m[j] for w, m in zip(weights, moments, strict=True)))
                for j in range(2)
            )
            jump = abs(third) / variance
            events = variance / jump**2
            count = max(events + math.copysign(1.0, third) * mean * total / jump, 0.0)
            tails = scipy.special.gammaincc(count + 1, events), 1.0
            if count > 0:
                tails = tails[0], scipy.special.gammainc(count, events)
            even = min(1.0, 2 * min(tails))
            below = above = 4 * variance / total
            if third < 0:
                below = max(below, 4 * jump**2)
            else:
                above = max(above, 4 * jump**2)
        below, above = (
            math.sqrt((spread**2 + jumps) * total / (total - 1)) / total for jumps in (below, above)
        )
        towards_0 = below if mean > 0 else above
        pvalue = max(even, 2 * scipy.stats.t.sf(abs(mean) / towards_0, total - 1))
        quantile = scipy.stats.t.isf((1 - level) / 2, total - 1)
        low, high = mean - quantile * below, mean + quantile * above
        if even > 1 - level:
            low, high = min(low, 0.0), max(high, 0.0)
        if name != "log":
            most = 2.0 if name == "brier" and np.ndim(p[0]) else 1.0
            low, high = max(low, -most), min(high, most)
        found[name] = pvalue, low, high
    return found
