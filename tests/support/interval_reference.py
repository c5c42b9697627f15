"""Intervals and sets by their definitions, slow and obvious. No code shared with the library."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np


def rows_of(y_true, lower, upper, weights=None):
    """(covered, width, excess, weight) of each row, as the documentation defines them."""
    weights = [1.0] * len(y_true) if weights is None else weights
    rows = []
    for y, low, high, w in zip(y_true, lower, upper, weights, strict=True):
        y, low, high = float(y), float(low), float(high)
        excess = max(low - y, y - high, 0.0)
        rows.append((low <= y <= high, high - low, excess, Fraction(float(w))))
    return rows


def total(rows):
    return sum(w for *_, w in rows)


def coverage(rows):
    return float(sum((w for covered, _, _, w in rows if covered), Fraction(0)) / total(rows))


def mean_width(rows):
    return float(sum(Fraction(width) * w for _, width, _, w in rows) / total(rows))


def score(rows, level):
    excess = float(sum(Fraction(excess) * w for _, _, excess, w in rows) / total(rows))
    return mean_width(rows) + 2.0 / (1.0 - level) * excess


def criterion(y_true, rows, level, eta):
    used = [float(y) for y, row in zip(y_true, rows, strict=True) if row[3] > 0]
    spread = max(used) - min(used)
    return (1.0 - mean_width(rows) / spread) * math.exp(-eta * (coverage(rows) - level) ** 2)


def equal_count_groups(rows, n_groups):
    """[(least, largest, weight, coverage)]: group k ends at the least width that holds k / m."""
    rows = sorted((row for row in rows if row[3] > 0), key=lambda row: row[1])
    whole, groups, group, below, k = total(rows), [], [], Fraction(0), 1
    for i, row in enumerate(rows):
        group.append(row)
        below += row[3]
        tie_goes_on = i + 1 < len(rows) and rows[i + 1][1] == row[1]
        if tie_goes_on or below < Fraction(k, n_groups) * whole:
            continue
        while k <= n_groups and below >= Fraction(k, n_groups) * whole:
            k += 1
        groups.append((group[0][1], group[-1][1], float(total(group)), coverage(group)))
        group = []
    assert not group
    return groups


def random_intervals(n, levels=1, seed=0, *, ties=False):
    """(y, array of shape (n, 2, levels)): some covered at the very bound, some of width 0."""
    rng = np.random.default_rng([seed, n, levels])
    y = rng.normal(size=n)
    centre = y + rng.normal(size=(levels, n))
    half = rng.gamma(2.0, 0.6, size=(levels, n))
    if ties:
        centre, half = np.round(centre * 2) / 2, np.round(half * 2) / 2
        y = np.round(y * 4) / 4
    lower, upper = centre - half, centre + half
    at_bound = rng.random((levels, n)) < 0.05
    lower = np.where(at_bound & (y < upper), y, lower)
    upper = np.where(rng.random((levels, n)) < 0.02, lower, upper)
    return y, np.stack([lower.T, upper.T], axis=1)
