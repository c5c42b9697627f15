"""scikit-learn's scores of probabilities, by their own names and with their own numbers.

``from calibrant.compat.sklearn import brier_score_loss`` in place of ``from sklearn.metrics import
brier_score_loss``. scikit-learn is needed for `scorers` and `CalibrationDisplay` only.
"""

from __future__ import annotations

import math
import numbers
import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibrant import _core
from calibrant.compat._arrays import column, renamed
from calibrant.compat._bins import percentiles, right_closed
from calibrant.compat._roc_averages import roc_auc_score
from calibrant.compat._targets import (
    InvalidParameterError,
    Target,
    array_like,
    binary_target,
    classes_of,
    equals,
    label_column,
    multiclass_target,
    positive_label,
    probabilities,
    warn_undefined,
)

__all__ = [
    "InvalidParameterError",
    "brier_score_loss",
    "calibration_curve",
    "d2_brier_score",
    "d2_log_loss_score",
    "log_loss",
    "roc_auc_score",
]  # and, where scikit-learn is installed: CalibrationDisplay, scorers


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    if name == "scorers":
        from calibrant.compat._scorers import scorers

        return scorers
    if name == "CalibrationDisplay":
        from calibrant.compat._display import CalibrationDisplay

        return CalibrationDisplay
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _check(y_true: Any, y_proba: Any, *, optional: dict[str, Any], pos_label: Any = None) -> None:
    array_like(y_true, "y_true")
    if y_proba is not None:
        array_like(y_proba, "y_proba")
    for name, value in optional.items():
        if value is not None:
            array_like(value, name)
    if pos_label is not None and not isinstance(pos_label, (numbers.Real, str, np.bool_)):
        raise InvalidParameterError(f"pos_label must be a number or a string, got {pos_label!r}")


def _sums(target: Target, weights: Any, *, log: bool, eps: float = 0.0) -> _core.ScoreSums:
    sums = _core.ScoreSums(not log, log, False, eps)
    with renamed():
        sums.update(target.codes, target.y_proba, weights, False)
    return sums


def _brier_target(
    y_true: Any, y_proba: Any, sample_weight: Any, pos_label: Any, labels: Any
) -> tuple[Target, Any]:
    proba = probabilities(y_proba)
    if proba.ndim == 1 or proba.shape[1] == 1:
        return binary_target(y_true, proba, sample_weight, pos_label)
    return multiclass_target(y_true, proba, sample_weight, labels)


def brier_score_loss(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
    labels: ArrayLike | None = None,
    scale_by_half: bool | str = "auto",
) -> float:
    """Brier score; by default halved for two classes and whole for more.

    Parameters
    ----------
    y_true : array of shape (n,)
    y_proba : array of shape (n,), of the positive class, or (n, k)
    sample_weight : array of shape (n,), optional
    pos_label : label, optional
        The positive class, for probabilities of shape (n,).
    labels : array of shape (k,), optional
        The classes of the columns, sorted.
    scale_by_half : bool or "auto"

    Examples
    --------
    >>> brier_score_loss([0, 1, 1, 0], [0.25, 0.75, 0.75, 0.5])
    0.109375
    >>> brier_score_loss(["spam", "ham"], [0.25, 0.5], pos_label="ham")
    0.15625
    """
    optional = {"sample_weight": sample_weight, "labels": labels}
    _check(y_true, y_proba, optional=optional, pos_label=pos_label)
    if scale_by_half != "auto" and not isinstance(scale_by_half, (bool, np.bool_)):
        raise InvalidParameterError(f"scale_by_half must be a bool or 'auto', got {scale_by_half}")
    target, weights = _brier_target(y_true, y_proba, sample_weight, pos_label, labels)
    score = _sums(target, weights, log=False).brier()
    halved = target.n_classes < 3 if scale_by_half == "auto" else bool(scale_by_half)
    if target.y_proba.ndim == 1:  # the core's score of one column is that of one class
        return score if halved else 2.0 * score
    return 0.5 * score if halved else score


def _renamed(y_proba: Any, y_pred: Any) -> Any:
    """Take the old name of y_proba, which scikit-learn still knows."""
    if isinstance(y_pred, str) and y_pred == "deprecated":
        return y_proba
    if y_proba is not None:
        raise ValueError("pass y_proba, not both y_proba and y_pred: that is its old name")
    warnings.warn("y_pred is the old name of y_proba", FutureWarning, stacklevel=3)
    return y_pred


def _total_weight(weights: NDArray[Any] | None, n: int) -> float:
    return float(n) if weights is None else math.fsum(weights.tolist())


def log_loss(
    y_true: ArrayLike,
    y_proba: ArrayLike | None = None,
    *,
    normalize: bool = True,
    sample_weight: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    y_pred: Any = "deprecated",
) -> float:
    """Mean of -ln p of what happened, p at least the distance from 1 to the next number.

    Parameters
    ----------
    y_true : array of shape (n,), or (n, k) with one 1 in each row
    y_proba : array of shape (n,), of the larger label, or (n, k)
    normalize : bool
        The mean, or the sum.
    sample_weight : array of shape (n,), optional
    labels : array of shape (k,), optional
        The classes of the columns, sorted.

    Examples
    --------
    >>> log_loss(["spam", "ham", "ham", "spam"], [[0.1, 0.9], [0.9, 0.1], [0.8, 0.2], [0.35, 0.65]])
    0.21616187468057912
    """
    y_proba = _renamed(y_proba, y_pred)
    _check(y_true, y_proba, optional={"sample_weight": sample_weight, "labels": labels})
    if not isinstance(normalize, (bool, np.bool_)):
        raise InvalidParameterError(f"normalize must be True or False, got {normalize!r}")
    proba = probabilities(y_proba)
    target, weights = multiclass_target(y_true, proba, sample_weight, labels)
    mean = _sums(target, weights, log=True, eps=float(np.finfo(proba.dtype).eps)).log()
    return mean if normalize else mean * _total_weight(weights, len(proba))


def _is_too_short(y_true: Any, y_proba: Any, sample_weight: Any) -> bool:
    lengths = {len(a) for a in (y_true, y_proba, sample_weight) if a is not None}
    if len(lengths) > 1:
        raise ValueError(f"arguments must have the same number of rows, got {sorted(lengths)}")
    if lengths.pop() >= 2:
        return False
    warn_undefined("D^2 is not defined for fewer than two rows")
    return True


def d2_brier_score(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
    labels: ArrayLike | None = None,
) -> float:
    """One minus the Brier score over that of the class frequencies.

    Examples
    --------
    >>> d2_brier_score([0, 0, 1, 1], [0.25, 0.25, 0.75, 0.75])
    0.75
    """
    optional = {"sample_weight": sample_weight, "labels": labels}
    _check(y_true, y_proba, optional=optional, pos_label=pos_label)
    if _is_too_short(y_true, y_proba, sample_weight):
        return math.nan
    target, weights = _brier_target(y_true, y_proba, sample_weight, pos_label, labels)
    sums = _sums(target, weights, log=False)
    score = 2.0 * sums.brier() if target.y_proba.ndim == 1 else sums.brier()
    frequency = sums.class_frequencies()
    return float(1 - np.float64(score) / np.float64((frequency * (1 - frequency)).sum()))


def d2_log_loss_score(
    y_true: ArrayLike,
    y_proba: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    y_pred: Any = "deprecated",
) -> float:
    """One minus the log loss over that of the class frequencies.

    Examples
    --------
    >>> print(round(d2_log_loss_score([0, 0, 1, 1], [0.25, 0.25, 0.75, 0.75]), 6))
    0.584963
    """
    y_proba = _renamed(y_proba, y_pred)
    _check(y_true, y_proba, optional={"sample_weight": sample_weight, "labels": labels})
    if y_proba is None:
        raise TypeError("y_proba must be an array, got None")
    if _is_too_short(y_true, y_proba, sample_weight):
        return math.nan
    proba = probabilities(y_proba)
    target, weights = multiclass_target(y_true, proba, sample_weight, labels)
    sums = _sums(target, weights, log=True, eps=float(np.finfo(proba.dtype).eps))
    frequency = sums.class_frequencies()
    eps = np.finfo(np.float64).eps
    null = -(frequency * np.log(np.clip(frequency, eps, 1 - eps))).sum()
    return float(1 - sums.log() / null)


def calibration_curve(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    pos_label: Any = None,
    n_bins: Any = 5,
    strategy: str = "uniform",
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Fraction of positives and mean probability, of the bins that have rows.

    Bins are (a, b], the first with 0.

    Parameters
    ----------
    y_true : array of shape (n,)
    y_prob : array of shape (n,), values in [0, 1]
    pos_label : label, optional
    n_bins : int
    strategy : {"uniform", "quantile"}

    Returns
    -------
    prob_true, prob_pred : arrays of shape (n_bins,) or less

    Examples
    --------
    >>> prob_true, prob_pred = calibration_curve([0, 0, 1, 1], [0.2, 0.4, 0.6, 0.8], n_bins=2)
    >>> prob_true
    array([0., 1.])
    >>> prob_pred
    array([0.3, 0.7])
    """
    _check(y_true, y_prob, optional={}, pos_label=pos_label)
    if isinstance(n_bins, bool) or not isinstance(n_bins, numbers.Integral) or n_bins < 1:
        raise InvalidParameterError(f"n_bins must be an integer of at least 1, got {n_bins!r}")
    if strategy not in ("uniform", "quantile"):
        raise InvalidParameterError(f"strategy must be 'uniform' or 'quantile', got {strategy!r}")
    y, proba = label_column(y_true), column(y_prob, "y_prob")
    if proba.dtype.kind not in "biuf":
        raise TypeError(f"y_prob must hold real numbers, got {proba.dtype}")
    if len(y) != len(proba):
        raise ValueError(f"y_true has {len(y)} rows, y_prob {len(proba)}")
    if not len(y):
        raise ValueError("y_prob must have at least one row, got none")
    classes = classes_of(y)
    positive = positive_label(classes, pos_label, larger=False)
    if len(classes) > 2:
        raise ValueError(f"y_true must hold two labels, found {len(classes)}")
    quantiles = np.linspace(0.0, 1.0, int(n_bins) + 1)
    hits = equals(y, positive)
    with renamed(y_proba="y_prob"):
        if not (proba.min() >= 0.0 and proba.max() <= 1.0):  # names what is wrong, and where
            _core.Reliability([0.0, 1.0]).update(hits, proba, None, False, _core.BINARY)
        edges = quantiles if strategy == "uniform" else percentiles(proba, quantiles)
        table = right_closed(edges[1:-1])
        table.update(hits, proba, None, False, _core.BINARY)
    _, counts, _, _, mean_scores, frequencies, *_ = table.bins()
    return frequencies[counts > 0], mean_scores[counts > 0]
