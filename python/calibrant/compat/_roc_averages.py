"""Areas under ROC curves with scikit-learn's ways to average over classes."""

from __future__ import annotations

import itertools
import math
import numbers
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibrant.compat._arrays import array, column, finite
from calibrant.compat._auc import area, partial_area
from calibrant.compat._targets import (
    InvalidParameterError,
    array_like,
    classes_of,
    codes_of,
    equals,
    label_column,
    probabilities,
    require_labels,
    warn_undefined,
)

__all__ = ["roc_auc_score"]

_AVERAGES = ("micro", "macro", "samples", "weighted", None)


def _binary(
    positive: NDArray[np.bool_], score: NDArray[Any], weight: Any, max_fpr: float | None = None
) -> float:
    if positive.all() or not positive.any():
        warn_undefined("the area under the ROC curve is not defined: y_true has one class only")
        return math.nan
    score = column(score, "y_score")
    if len(score) != len(positive):
        raise ValueError(f"y_true has {len(positive)} rows, y_score {len(score)}")
    weight = _weights(weight, positive)
    of_positive, of_negative = _weighted(weight, positive), _weighted(weight, ~positive)
    if not (of_positive and of_negative):
        if max_fpr not in (None, 1) and of_positive:
            raise ValueError("max_fpr needs a negative row with weight: there are no rates without")
        warn_undefined("the area under the ROC curve is not defined: one class has no weight")
        return math.nan
    if max_fpr is None or max_fpr == 1:
        return area(positive, score, weight)
    return partial_area(positive, score, weight, max_fpr)


def _weighted(weight: NDArray[Any] | None, rows: NDArray[np.bool_]) -> bool:
    """Whether some of these rows have weight; there are such rows."""
    return weight is None or bool(np.logical_and(weight, rows).any())


def _weights(weight: Any, positive: NDArray[np.bool_]) -> NDArray[Any] | None:
    if weight is None:
        return None
    values = finite(column(weight, "sample_weight"), "sample_weight")
    if len(values) != len(positive):
        raise ValueError(f"sample_weight has {len(values)} rows, y_true {len(positive)}")
    if values.min() < 0:
        raise ValueError(f"sample_weight must not be negative, found {values.min()}")
    if not values.any():
        raise ValueError("sample_weight must hold a number that is not zero")
    return values


def roc_auc_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    average: str | None = "macro",
    sample_weight: ArrayLike | None = None,
    max_fpr: Any = None,
    multi_class: str = "raise",
    labels: ArrayLike | None = None,
) -> Any:
    """Area under the ROC curve of binary, multiclass and multilabel problems.

    Parameters
    ----------
    y_true : array of shape (n,), or (n, k) with 0 and 1 for several labels a row
    y_score : array of shape (n,) or (n, k)
        Any real numbers; for more than two classes, rows that sum to one.
    average : {"macro", "weighted", "micro", "samples", None}
    sample_weight : array of shape (n,), optional
    max_fpr : float in (0, 1], optional
        Only up to this false positive rate, scaled so that chance gets 0.5.
    multi_class : {"raise", "ovr", "ovo"}
    labels : array of shape (k,), optional
        The classes of the columns, sorted.

    Examples
    --------
    >>> roc_auc_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.75
    """
    if average not in _AVERAGES:
        raise InvalidParameterError(f"average must be one of {_AVERAGES}, got {average!r}")
    if multi_class not in ("raise", "ovr", "ovo"):
        raise InvalidParameterError(
            f"multi_class must be 'raise', 'ovr' or 'ovo', got {multi_class!r}"
        )
    if max_fpr is not None:
        is_real = isinstance(max_fpr, numbers.Real)
        max_fpr = float(max_fpr) if is_real else math.nan
        if not 0 < max_fpr <= 1:
            raise InvalidParameterError(f"max_fpr must be a number in (0, 1], got {max_fpr}")
    for name, value in (("y_true", y_true), ("y_score", y_score), ("labels", labels)):
        if name != "labels" or value is not None:
            array_like(value, name)
    y = array(y_true, "y_true")
    score = finite(probabilities(y_score, "y_score"), "y_score")
    if len(y) == 0:
        raise ValueError("y_true must have at least one row, got none")
    if y.ndim == 2 and y.shape[1] > 1:
        return _multilabel(_indicators(y), score, average, sample_weight, max_fpr)
    y = label_column(y)
    classes = classes_of(y)
    require_labels(classes)
    if len(classes) > 2 or (score.ndim == 2 and score.shape[1] > 2):
        if max_fpr is not None and max_fpr != 1:
            raise ValueError(f"max_fpr must be None for more than two classes, got {max_fpr}")
        if multi_class == "raise":
            raise ValueError("multi_class must be 'ovr' or 'ovo' for more than two classes")
        return _multiclass(y, classes, score, labels, multi_class, average, sample_weight)
    return _binary(_positive(y, classes), score, sample_weight, max_fpr)


def _positive(y: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.bool_]:
    if len(classes) < 2:
        return np.zeros(len(y), bool)
    return y if y.dtype.kind == "b" else equals(y, classes[1])


def _indicators(y: NDArray[Any]) -> NDArray[np.bool_]:
    positive = y == 1
    if not (positive | (y == 0)).all():
        raise ValueError("y_true of shape (n, k) must hold 0 and 1")
    return np.asarray(positive)


def _multiclass(
    y: NDArray[Any],
    present: NDArray[Any],
    score: NDArray[Any],
    labels: Any,
    multi_class: str,
    average: str | None,
    sample_weight: Any,
) -> Any:
    if score.ndim != 2:
        raise ValueError(f"y_score must have shape (n, k) for k > 2 classes, got {score.shape}")
    sums = score @ np.ones(score.shape[1])
    if max(float(sums.max()) - 1.0, 1.0 - float(sums.min())) > 1e-8 + 1e-5 * max(sums.max(), 1.0):
        raise ValueError("the rows of y_score must sum to one for more than two classes")
    allowed = ("macro", "weighted", None) + (("micro",) if multi_class == "ovr" else ())
    if average not in allowed:
        raise ValueError(f"average must be one of {allowed} for {multi_class!r}, got {average!r}")
    if multi_class == "ovo" and average is None:
        raise NotImplementedError("average=None is not implemented for multi_class='ovo'")
    classes = _classes(present, score.shape[1], labels)
    if len(y) != len(score):
        raise ValueError(f"y_true has {len(y)} rows, y_score {len(score)}")
    codes = codes_of(y, classes)
    if multi_class == "ovo":
        if sample_weight is not None:
            raise ValueError("sample_weight must be None for multi_class='ovo'")
        return _one_vs_one(codes, score, average)
    if len(classes) == 2:  # one column of labels for two of scores: scikit-learn knows no way
        return _binary(np.asarray(codes == 1), score, sample_weight)
    if average == "micro":
        indicators = np.asarray(codes[:, None] == np.arange(len(classes)))
        return _multilabel(indicators, score, average, sample_weight, None)
    weights = _one_each(sample_weight, len(score))
    columns = [(np.asarray(codes == c), score[:, c]) for c in range(len(classes))]
    return _averaged(columns, average, weights)


def _classes(present: NDArray[Any], n_columns: int, labels: Any) -> NDArray[Any]:
    if labels is None:
        if len(present) != n_columns:
            raise ValueError(f"y_true has {len(present)} classes, y_score {n_columns} columns")
        return present
    classes = column(labels, "labels")
    if not np.array_equal(np.unique(classes), classes):
        raise ValueError("labels must be sorted, each of them once")
    if len(classes) != n_columns:
        raise ValueError(f"labels has {len(classes)} classes, y_score {n_columns} columns")
    unknown = present[~np.isin(present, classes)]
    if unknown.size:
        raise ValueError(f"y_true holds {unknown.tolist()}, which labels does not list")
    return classes


def _one_vs_one(codes: NDArray[Any], score: NDArray[Any], average: str | None) -> Any:
    """Average over pairs of classes (Hand and Till, 2001)."""
    rows = [np.flatnonzero(codes == c) for c in range(score.shape[1])]
    present = [c for c in range(score.shape[1]) if rows[c].size]
    parts = [score[of_class] for of_class in rows]
    found, prevalence = [], []
    for a, b in itertools.combinations(present, 2):
        is_a = np.arange(rows[a].size + rows[b].size) < rows[a].size
        of_a, of_b = (np.concatenate([parts[a][:, c], parts[b][:, c]]) for c in (a, b))
        found.append((area(is_a, of_a) + area(~is_a, of_b)) / 2)
        prevalence.append(len(is_a) / len(codes))
    return np.average(found, weights=prevalence if average == "weighted" else None)


def _one_each(sample_weight: Any, n: int) -> NDArray[Any] | None:
    if sample_weight is None:
        return None
    weights = column(sample_weight, "sample_weight")
    if len(weights) != n:
        raise ValueError(f"y_score has {n} rows, sample_weight {len(weights)}")
    return weights


def _averaged(
    columns: list[tuple[NDArray[np.bool_], NDArray[Any]]],
    average: str | None,
    weights: NDArray[Any] | None,
    max_fpr: float | None = None,
) -> Any:
    """Average the areas of columns of labels and scores."""
    mass = None
    if average == "weighted":
        mass = np.array(
            [np.count_nonzero(y) if weights is None else weights[y].sum() for y, _ in columns]
        )
        if np.isclose(mass.sum(), 0):
            return 0
    found = np.array([_binary(y, score, weights, max_fpr) for y, score in columns])
    if average is None:
        return found
    if mass is not None:
        found[mass == 0] = 0
    return float(np.average(found, weights=mass))


def _multilabel(
    positive: NDArray[np.bool_],
    score: NDArray[Any],
    average: str | None,
    sample_weight: Any,
    max_fpr: float | None,
) -> Any:
    if positive.shape != score.shape:
        raise ValueError(f"y_true has shape {positive.shape}, y_score {score.shape}")
    weights = _one_each(sample_weight, len(score))
    if average == "micro":
        repeated = None if weights is None else np.repeat(weights, positive.shape[1])
        return float(_binary(positive.reshape(-1), score.reshape(-1), repeated, max_fpr))
    if average == "samples":
        of_rows = [_binary(p, s, None, max_fpr) for p, s in zip(positive, score, strict=True)]
        found = np.array(of_rows)
        if weights is not None:
            found[weights == 0] = 0
        return float(np.average(found, weights=weights))
    columns = [(positive[:, c], score[:, c]) for c in range(positive.shape[1])]
    return _averaged(columns, average, weights, max_fpr)
