"""Areas under ROC curves of any real scores; the core has them for scores in [0, 1]."""

from __future__ import annotations

from typing import Any

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
    above = score >= 0.0
    pairs = _mass(positive & above, weight) * _mass(~positive & ~above, weight)
    for part, values in ((above, score), (~above, -score)):
        of_part = None if weight is None else weight[part]
        hit = positive[part]
        both = _mass(hit, of_part) * _mass(~hit, of_part)
        if both > 0.0:
            found = _core.roc_auc(hit, _in_unit(values[part]), of_part, False, _core.BINARY)[0]
            pairs += both * (found if values is score else 1.0 - found)
    return pairs / (_mass(positive, weight) * _mass(~positive, weight))


def _curve(
    positive: NDArray[np.bool_], score: NDArray[np.float64], weight: Weights
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return false and true positive rates, after each distinct score from the largest on."""
    hits: NDArray[Any]
    if weight is None and score.min() >= 0.0:
        labels, values, _ = _core.sort_labelled(
            np.ascontiguousarray(positive).view(np.uint8), np.ascontiguousarray(score)
        )
        hits, values, masses = labels[::-1], values[::-1], None
    else:
        order = np.argsort(score, kind="stable")[::-1]
        hits, values = positive[order], score[order]
        masses = None if weight is None else weight[order]
    last = np.append(np.flatnonzero(values[1:] != values[:-1]), len(values) - 1)
    counts = np.cumsum(hits, dtype=np.float64) if masses is None else np.cumsum(hits * masses)
    true = counts[last]
    false = last + 1.0 - true if masses is None else np.cumsum((hits == 0) * masses)[last]
    return np.append(0.0, false) / false[-1], np.append(0.0, true) / true[-1]


def partial_area(
    positive: NDArray[np.bool_], score: NDArray[Any], weight: Weights, max_fpr: float
) -> float:
    """Return the area up to a false positive rate, scaled so that chance gets 0.5 (McClish)."""
    false_rates, true_rates = _curve(positive, score.astype(np.float64, copy=False), weight)
    stop = int(np.searchsorted(false_rates, max_fpr, side="right"))
    last = np.interp(max_fpr, false_rates[stop - 1 : stop + 1], true_rates[stop - 1 : stop + 1])
    x, y = np.append(false_rates[:stop], max_fpr), np.append(true_rates[:stop], last)
    found = float((np.diff(x) * (y[1:] + y[:-1])).sum() / 2)
    chance = 0.5 * max_fpr**2
    return 0.5 * (1 + (found - chance) / (max_fpr - chance))
