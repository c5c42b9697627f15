"""Areas under curves by their definitions, over all pairs, in fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np


def pairs_of(y, p, weights=None):
    weights = np.ones(len(y)) if weights is None else weights
    rows = [
        (Fraction(float(s)), Fraction(float(w)), t) for t, s, w in zip(y, p, weights, strict=True)
    ]
    hits = [(s, w) for s, w, t in rows if t == 1 and w > 0]
    misses = [(s, w) for s, w, t in rows if t == 0 and w > 0]
    return hits, misses


def won(hit, miss):
    return Fraction(int(miss < hit) + int(miss <= hit), 2)


def area_by_definition(y, p, weights=None):
    hits, misses = pairs_of(y, p, weights)
    total = sum(a * b * won(s, t) for s, a in hits for t, b in misses)
    pairs = sum(a for _, a in hits) * sum(b for _, b in misses)
    return total / pairs if pairs else None


def variance_by_definition(y, p, weights=None):
    """DeLong's, a row of weight k being k rows."""
    hits, misses = pairs_of(y, p, weights)
    area = area_by_definition(y, p, weights)
    n_hits, n_misses = sum(a for _, a in hits), sum(b for _, b in misses)
    of_hits = [(a, sum(b * won(s, t) for t, b in misses) / n_misses) for s, a in hits]
    of_misses = [(b, sum(a * won(s, t) for s, a in hits) / n_hits) for t, b in misses]
    return sum(
        sum(w * (v - area) ** 2 for w, v in part) / (total * (total - 1))
        for part, total in ((of_hits, n_hits), (of_misses, n_misses))
    )


def rejection_by_definition(right, confidence, weights=None):
    weights = np.ones(len(right)) if weights is None else weights
    rows = [
        (Fraction(c), Fraction(float(w)), int(r))
        for r, c, w in zip(right, confidence, weights, strict=True)
    ]
    area = Fraction(0)
    for c, w, _ in rows:
        kept = [(v, r) for d, v, r in rows if d >= c]
        area += w * sum(v * r for v, r in kept) / sum(v for v, _ in kept) if w else 0
    return area / sum(w for _, w, _ in rows)
