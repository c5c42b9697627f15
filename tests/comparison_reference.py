"""Differences between the scores of two models by definition, in 50 digits."""

from __future__ import annotations

import mpmath
import numpy as np

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
