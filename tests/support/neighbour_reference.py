"""Density, coverage, precision and recall as their papers define them, in exact fractions."""

from __future__ import annotations

from fractions import Fraction


def square(a, b):
    return sum((Fraction(s) - Fraction(t)) ** 2 for s, t in zip(a, b, strict=True))


def density_coverage_precision_recall(real, generated, k):
    """Return density, coverage, precision and recall as their papers define them."""

    def radii(points):
        return [
            sorted(square(p, q) for j, q in enumerate(points) if j != i)[k - 1]
            for i, p in enumerate(points)
        ]

    inside = [
        [square(r, g) < radius for g in generated]
        for r, radius in zip(real, radii(real), strict=True)
    ]
    around = [
        [square(r, g) < radius for r in real]
        for g, radius in zip(generated, radii(generated), strict=True)
    ]
    n, m = len(real), len(generated)
    return (
        float(Fraction(sum(map(sum, inside)), k * m)),
        sum(map(any, inside)) / n,
        sum(map(any, zip(*inside, strict=True))) / m,
        sum(map(any, zip(*around, strict=True))) / n,
    )
