"""Areas under ROC curves of any real scores; the core has them for scores in [0, 1]."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calibrant import _core

__all__ = ["area", "partial_area"]

Weights = NDArray[Any] | None


def area(positive: NDArray[np.bool_], score: NDArray[Any], weight: Weights = None) -> float:
    """Return the area under the curve; both classes have weight, scores are finite."""
    low, high = float(score.min()), float(score.max())
    if low >= 0.0 and high <= 1.0:
        return _core.roc_auc(positive, score, weight, False, _core.BINARY)[0]
    if low < 0.0 <= high:
        return _area_across_zero(positive, score, weight)
    scaled = _in_unit(score if low >= 0.0 else -score)
    found = _core.roc_auc(positive, scaled, weight, False, _core.BINARY)[0]
    return found if low >= 0.0 else 1.0 - found


def _in_unit(score: NDArray[Any]) -> NDArray[np.float64]:
    """Map scores that are not negative to [0, 1], in the same order, ties alone with ties."""
    score = score.astype(np.float64, copy=False)
    top = score.max()
    if top <= 1.0:
        return score
    exponent = int(np.frexp(top)[1])
    scaled = np.ldexp(score, -exponent)
    if (np.ldexp(scaled, exponent) == score).all():
        return np.asarray(scaled)
    return _ranks(score)  # some fell below the least double


def _ranks(score: NDArray[Any]) -> NDArray[np.float64]:
    distinct, rank = np.unique(score, return_inverse=True)
    return rank / float(len(distinct))


def _mass(rows: NDArray[np.bool_], weight: Weights) -> float:
    return float(np.count_nonzero(rows) if weight is None else weight[rows].sum())


def _area_across_zero(positive: NDArray[np.bool_], score: NDArray[Any], weight: Weights) -> float:
    """Sum over the pairs below zero, those above, and those across."""
    is_above = score >= 0.0
    # By indices: a mask over rows in no order is read much slower.
    above, below = (_part(np.flatnonzero(rows), positive, weight) for rows in (is_above, ~is_above))
    pairs = above.hits * below.misses
    for part, sign in ((above, 1.0), (below, -1.0)):
        if part.hits * part.misses > 0.0:
            scaled = _in_unit(sign * score[part.rows])
            found = _core.roc_auc(part.positive, scaled, part.weight, False, _core.BINARY)[0]
            pairs += part.hits * part.misses * (found if sign > 0.0 else 1.0 - found)
    return pairs / ((above.hits + below.hits) * (above.misses + below.misses))


class _Part(NamedTuple):
    rows: NDArray[np.intp]
    positive: NDArray[np.bool_]
    weight: Weights
    hits: float
    misses: float


def _part(rows: NDArray[np.intp], positive: NDArray[np.bool_], weight: Weights) -> _Part:
    hit = positive[rows]
    of_rows = None if weight is None else weight[rows]
    return _Part(rows, hit, of_rows, _mass(hit, of_rows), _mass(~hit, of_rows))


def _weighted_curve(
    positive: NDArray[np.bool_], score: NDArray[np.float64], weight: Weights
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return false and true positive rates, after each distinct score from the largest on."""
    order = np.argsort(score, kind="stable")[::-1]
    hits, values = positive[order], score[order]
    masses = np.ones(len(order)) if weight is None else weight[order]
    last = np.append(np.flatnonzero(values[1:] != values[:-1]), len(values) - 1)
    true = np.cumsum(hits * masses)[last]
    false = np.cumsum((hits == 0) * masses)[last]
    return np.append(0.0, false) / false[-1], np.append(0.0, true) / true[-1]


def partial_area(
    positive: NDArray[np.bool_], score: NDArray[Any], weight: Weights, max_fpr: float
) -> float:
    """Return the area up to a false positive rate, scaled so that chance gets 0.5 (McClish)."""
    score = score.astype(np.float64, copy=False)
    if weight is None and score.min() >= 0.0:
        found = _counted_area(positive, score, max_fpr)
    else:
        false, true = _weighted_curve(positive, score, weight)
        stop = int(np.searchsorted(false, max_fpr, side="right"))
        last = np.interp(max_fpr, false[stop - 1 : stop + 1], true[stop - 1 : stop + 1])
        x, y = np.append(false[:stop], max_fpr), np.append(true[:stop], last)
        found = float((np.diff(x) * (y[1:] + y[:-1])).sum() / 2)
    chance = 0.5 * max_fpr**2
    return float(0.5 * (1 + (found - chance) / (max_fpr - chance)))


def _counted_area(positive: NDArray[np.bool_], score: NDArray[np.float64], max_fpr: float) -> float:
    """Return the area up to a false positive rate, of rows that count the same."""
    labels, values, _ = _core.sort_labelled(
        np.ascontiguousarray(positive).view(np.uint8), np.ascontiguousarray(score)
    )
    hits = np.count_nonzero(positive)
    misses = positive.size - hits
    false, true, next_false, next_true, twice_area = _core.curve_up_to(
        labels, values, max_fpr * misses
    )
    step = max_fpr * misses - false
    if step <= 0.0 or next_false == false:  # on a point
        return twice_area / (2.0 * hits * misses)
    last = true + step * (next_true - true) / (next_false - false)
    return (twice_area + step * (true + last)) / (2.0 * hits * misses)
