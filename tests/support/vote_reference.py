"""Confidence of an ensemble by definition, in 60 digits."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath

from reference import as_mpf


def confidence(votes, weights, n_classes, temperature=1.0, combine="softmax"):
    """One row, from the definition, in 60 digits; infinite weights as one that is very large."""
    with mpmath.workdps(60):
        huge = sum(abs(Fraction(w)) for w in weights if math.isfinite(w)) * 10**40 + 10**40
        exact = [Fraction(w) if math.isfinite(w) else (huge if w > 0 else -huge) for w in weights]
        sums = [Fraction(0)] * n_classes
        for vote, weight in zip(votes, exact, strict=True):
            if vote >= 0:
                sums[vote] += weight
        if combine == "share":
            total = sum(sums)
            return [as_mpf(f / total if total else Fraction(1, n_classes)) for f in sums]
        most = max(sums)
        gaps = [(most - f) / Fraction(temperature) for f in sums]
        terms = [mpmath.exp(-mpmath.mpf(g.numerator) / g.denominator) for g in gaps]
        return [term / mpmath.fsum(terms) for term in terms]
