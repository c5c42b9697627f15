"""``mapie.metrics.uncertainty``: does confidence tell right predictions from wrong ones?"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibrant import _core
from calibrant.compat._arrays import array, column, finite, same_length
from calibrant.compat._auc import area

__all__ = ["auarc", "auroc"]


def _read(correctness: Any, confidence: Any) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    correct = column(np.asarray(array(correctness, "correctness"), dtype=float), "correctness")
    confident = column(np.asarray(array(confidence, "confidence"), dtype=float), "confidence")
    same_length(correctness=correct, confidence=confident)
    if len(correct) == 0:
        raise ValueError("correctness must have at least one row, got none")
    finite(confident, "confidence")
    right = correct == 1.0
    if np.count_nonzero(right) + np.count_nonzero(correct == 0.0) != correct.size:
        row = int(np.flatnonzero(~(right | (correct == 0.0)))[0])
        raise ValueError(f"correctness must be 0 or 1, found {correct[row]} at row {row}")
    return right, confident


def auroc(correctness: ArrayLike, confidence: ArrayLike) -> float:
    """Area under the ROC curve of confidence for being right.

    Parameters
    ----------
    correctness : array of shape (n,), 0 or 1, with both
    confidence : array of shape (n,)
        Any real numbers; larger is surer.

    Examples
    --------
    >>> auroc([1, 1, 0, 0], [0.9, 0.8, 0.2, 0.1])
    1.0
    """
    right, confident = _read(correctness, confidence)
    if right.all() or not right.any():
        raise ValueError("correctness must hold both 0 and 1: the area is not defined otherwise")
    return area(right, confident)


def auarc(correctness: ArrayLike, confidence: ArrayLike) -> float:
    """Mean accuracy of the k most confident rows, over k = 1..n; ties in the order of rows.

    Parameters
    ----------
    correctness, confidence
        As for `auroc`.

    Examples
    --------
    >>> auarc([0, 0, 1, 1], [0.1, 0.2, 0.8, 0.9])
    0.7916666666666666
    """
    right, confident = _read(correctness, confidence)
    return _core.mean_accuracy(_ascending(right, confident))


def _ascending(right: NDArray[np.bool_], confident: NDArray[np.float64]) -> NDArray[np.uint8]:
    """Return the correctness of the least confident rows first; of equal ones, the last first."""
    if confident.min() >= 0.0:
        labels, _, mixed = _core.sort_labelled(
            right.view(np.uint8), np.ascontiguousarray(confident)
        )
        if not mixed:
            return labels
    return right[np.argsort(-confident, kind="stable")[::-1]].view(np.uint8)
