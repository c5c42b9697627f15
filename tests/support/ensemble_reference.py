"""Scores of ensembles by their definitions, over all pairs of draws; no code shared."""

from __future__ import annotations

from fractions import Fraction


def share_of(estimator):
    return {"standard": 0, "fair": 1}.get(estimator, estimator)


def crps_by_definition(y, x, estimator="standard", w=None):
    """In fractions, over all pairs."""
    y, x = Fraction(float(y)), [Fraction(float(value)) for value in x]
    w = [Fraction(1)] * len(x) if w is None else [Fraction(float(value)) for value in w]
    total, squares = sum(w), sum(v * v for v in w)
    distance = sum(v * abs(a - y) for v, a in zip(w, x, strict=True)) / total
    pairs = sum(w[i] * w[j] * abs(x[i] - x[j]) for i in range(len(x)) for j in range(i))
    share = Fraction(share_of(estimator))
    spread = (1 - share) * pairs / total**2
    if share:
        spread += share * pairs / (total**2 - squares)
    return distance - spread
