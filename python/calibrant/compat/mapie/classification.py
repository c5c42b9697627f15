"""``mapie.metrics.classification``: coverage and size of prediction sets.

Sets have shape (n, classes) or (n, classes, k) for k levels, and say which classes are in.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibrant import _core
from calibrant.compat._arrays import array, column, same_length
from calibrant.compat.mapie._checks import check_number_of_bins
from calibrant.intervals._sets import class_sets

__all__ = [
    "classification_coverage_score",
    "classification_mean_width_score",
    "classification_ssc",
    "classification_ssc_score",
]


def _sets(y_pred_set: Any) -> NDArray[np.bool_]:
    """Return sets as booleans; numbers other than 0 and 1 are rejected."""
    sets = array(y_pred_set, "y_pred_set")
    if sets.dtype.kind == "b":
        return sets
    if sets.dtype.kind not in "iuf":
        raise TypeError(f"y_pred_set must hold truth values, got {sets.dtype}")
    is_in = sets == 1
    if not (is_in | (sets == 0)).all():
        raise ValueError("y_pred_set must hold truth values, or 0 and 1")
    return np.asarray(is_in)


def _of_outcomes(n: int, y_pred_set: Any) -> NDArray[np.bool_]:
    """Return sets of shape (n, classes, levels)."""
    sets = _sets(y_pred_set)
    if sets.ndim not in (2, 3):
        raise ValueError(
            f"y_pred_set must have shape (n, classes) or (n, classes, k), got {sets.shape}"
        )
    if len(sets) != n:
        raise ValueError(f"y_true and y_pred_set must have the same rows, got {n} and {len(sets)}")
    return sets[:, :, None] if sets.ndim == 2 else sets


def _codes(y: NDArray[Any]) -> NDArray[np.int64]:
    if y.dtype.kind not in "iu":
        raise IndexError(f"y_true must hold integer class labels, got {y.dtype}")
    return y.astype(np.int64, copy=False)


def _unknown_class(n_classes: int) -> IndexError:
    return IndexError(f"y_true must lie in 0 to {n_classes - 1}, the classes of y_pred_set")


def classification_mean_width_score(y_pred_set: ArrayLike) -> Any:
    """Mean size of the sets: an array of shape (k,) for three dimensions, a number for two.

    Examples
    --------
    >>> classification_mean_width_score([[[True], [False]], [[True], [True]]])
    array([1.5])
    """
    sets = np.asarray(array(y_pred_set, "y_pred_set"), dtype=bool)
    if sets.ndim < 2:
        raise np.exceptions.AxisError(1, sets.ndim, "y_pred_set")
    if sets.ndim > 3:
        raise ValueError(f"y_pred_set must have two or three dimensions, got {sets.ndim}")
    if len(sets) == 0:
        raise ValueError("y_pred_set must have at least one row, got none")
    if sets.ndim == 2:
        return np.float64(np.count_nonzero(sets) / len(sets))
    if sets.shape[2] == 1:
        return np.array([np.count_nonzero(sets) / len(sets)])
    return sets.sum(axis=(0, 1)) / len(sets)


def classification_coverage_score(
    y_true: NDArray[Any], y_pred_set: NDArray[Any]
) -> NDArray[np.float64]:
    """How often the set holds the class, level by level.

    Parameters
    ----------
    y_true : integer array of shape (n,), or (n, k) with other classes for each level
    y_pred_set : array of shape (n, classes) or (n, classes, k)

    Examples
    --------
    >>> classification_coverage_score([0, 1], [[True, False], [True, False]])
    array([0.5])
    """
    y = array(y_true, "y_true")
    if y.ndim != 2:
        y = column(y, "y_true")[:, None]
    sets, codes = _of_outcomes(len(y), y_pred_set), _codes(y)
    if len(y) == 0:
        raise ValueError("y_true must have at least one row, got none")
    of_y, of_sets = y.shape[1], sets.shape[2]
    if of_y != of_sets and 1 not in (of_y, of_sets):
        raise IndexError(f"y_true has {of_y} columns, y_pred_set {of_sets} levels")
    hits = [
        _core.set_hits(codes[:, min(level, of_y - 1)], sets[:, :, min(level, of_sets - 1)])
        for level in range(max(of_y, of_sets))
    ]
    if None in hits:
        raise _unknown_class(sets.shape[1])
    return np.array(hits) / len(y)


def classification_ssc(
    y_true: NDArray[Any], y_pred_set: NDArray[Any], num_bins: int | None = None
) -> NDArray[np.float64]:
    """Coverage by the size of the sets; NaN, with a warning, where no set has such a size.

    Parameters
    ----------
    y_true : integer array of shape (n,)
    y_pred_set : array of shape (n, classes) or (n, classes, k)
    num_bins : int, optional
        Cut the possible sizes, 0 to classes, into so many parts; by default, one a size. Less
        than the number of different sizes.

    Returns
    -------
    array of shape (k, num_bins)

    Examples
    --------
    >>> y_pred_set = np.array([[True, True], [False, True], [False, False]])
    >>> classification_ssc(np.array([0, 0, 1]), y_pred_set)
    array([[0., 0., 1.]])
    """
    y = column(y_true, "y_true")
    sets = _of_outcomes(len(y), y_pred_set)
    same_length(y_true=y, y_pred_set=sets)
    codes = _codes(y)
    if y.size and not (codes.min() >= 0 and codes.max() < sets.shape[1]):
        raise _unknown_class(sets.shape[1])
    by_size = [_counts(y, sets[:, :, level]) for level in range(sets.shape[2])]
    starts = _starts(sets.shape[1], num_bins, by_size)
    rows, hits = (
        np.array([np.add.reduceat(level[part], starts) for level in by_size]) for part in (0, 1)
    )
    if (rows == 0).any():
        warnings.warn("no prediction set has such a size", RuntimeWarning, stacklevel=2)
    with np.errstate(invalid="ignore"):
        return np.asarray(hits / rows)


_Counts = tuple[NDArray[np.float64], NDArray[np.float64]]


def _counts(y: NDArray[Any], sets: NDArray[np.bool_]) -> _Counts:
    """Return how many sets of each size there are, and how many of these hold the class."""
    state = class_sets(y, sets, None, None, "raise")
    rows, hits = np.zeros(sets.shape[1] + 1), np.zeros(sets.shape[1] + 1)
    for size, stratum in enumerate(state.by_size(0)):
        if stratum.weight:
            rows[size] = stratum.weight
            hits[size] = np.rint(stratum.coverage(False, 0.025, 1.96)[0] * stratum.weight)
    return rows, hits


def _starts(n_classes: int, num_bins: Any, by_size: list[_Counts]) -> list[int]:
    """Return the least size of each part."""
    if num_bins is None:
        return list(range(n_classes + 1))
    if any(np.count_nonzero(rows) <= num_bins for rows, _ in by_size):
        raise ValueError(
            f"num_bins must be less than the number of different set sizes, got {num_bins}"
        )
    parts = np.array_split(np.arange(n_classes + 1), check_number_of_bins(num_bins))
    return [int(part[0]) for part in parts]


def classification_ssc_score(
    y_true: NDArray[Any], y_pred_set: NDArray[Any], num_bins: int | None = None
) -> NDArray[np.float64]:
    """Return the least coverage of `classification_ssc`, level by level; NaN apart.

    Examples
    --------
    >>> y_pred_set = np.array([[True, True], [False, True], [False, False]])
    >>> classification_ssc_score(np.array([0, 0, 1]), y_pred_set)
    array([0.])
    """
    return np.asarray(np.nanmin(classification_ssc(y_true, y_pred_set, num_bins), axis=1))
