"""``mapie.metrics.conditional``: coverage by group.

Of its three functions, the worst slab and the excess risk are left out: they fit directions and
classifiers to the features, by the package covmetrics.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibrant.compat._arrays import array, column, numbers, same_length
from calibrant.compat.mapie._checks import check_levels, outcome_column

__all__ = ["coverage_gap"]


def _covered_by_intervals(y: Any, y_intervals: Any) -> NDArray[np.bool_]:
    outcome = outcome_column(y, "y")
    bounds = numbers(y_intervals, "y_intervals")
    if bounds.ndim == 3 and bounds.shape[2] != 1:
        raise ValueError("y_intervals must have only one confidence level")
    if bounds.ndim not in (2, 3) or bounds.shape[1] != 2:
        raise ValueError(f"y_intervals must have shape (n, 2) or (n, 2, 1), got {bounds.shape}")
    same_length(y=outcome, y_intervals=bounds)
    bounds = bounds.reshape(len(bounds), 2)
    return np.asarray((outcome >= bounds[:, 0]) & (outcome <= bounds[:, 1]))


def _covered_by_sets(y: Any, y_sets: Any) -> NDArray[np.bool_]:
    classes = column(y, "y")
    sets = np.asarray(array(y_sets, "y_sets"), dtype=bool)
    if sets.ndim == 3 and sets.shape[2] != 1:
        raise ValueError("y_sets must have only one confidence level")
    if sets.ndim not in (2, 3):
        raise ValueError(f"y_sets must have shape (n, k) or (n, k, 1), got {sets.shape}")
    same_length(y=classes, y_sets=sets)
    if classes.dtype.kind not in "iu":
        raise ValueError(f"y must hold integer class labels, got {classes.dtype}")
    if classes.size and not (classes.min() >= 0 and classes.max() < sets.shape[1]):
        raise ValueError(f"y must lie in 0 to {sets.shape[1] - 1}, the classes of y_sets")
    places = np.arange(len(sets)) * sets.shape[1] + classes
    return np.asarray(np.ascontiguousarray(sets).reshape(-1)[places])


def coverage_gap(
    y: ArrayLike,
    groups: ArrayLike,
    confidence_level: float,
    *,
    y_intervals: ArrayLike | None = None,
    y_sets: ArrayLike | None = None,
    weighted: bool = False,
) -> float:
    """Mean distance between the coverages of groups and the nominal level.

    Parameters
    ----------
    y : array of shape (n,)
    groups : integer array of shape (n,)
    confidence_level : float
    y_intervals, y_sets
        One of the two: bounds of shape (n, 2) or (n, 2, 1), or sets of shape (n, k) or (n, k, 1).
    weighted : bool
        Weight groups by their rows.

    Examples
    --------
    >>> y_intervals = [[0.0, 1.0], [0.0, 2.0], [1.0, 2.0], [4.0, 5.0]]
    >>> coverage_gap([0.0, 1.0, 2.0, 3.0], [0, 0, 1, 1], 0.75, y_intervals=y_intervals)
    0.25
    """
    check_levels(confidence_level)
    keys = column(groups, "groups")
    if keys.dtype.kind not in "iu":
        raise ValueError(f"groups must hold integers, got {keys.dtype}")
    if (y_intervals is None) == (y_sets is None):
        raise ValueError("pass either y_intervals or y_sets")
    covered = (
        _covered_by_sets(y, y_sets)
        if y_intervals is None
        else _covered_by_intervals(y, y_intervals)
    )
    same_length(y=covered, groups=keys)
    if covered.size == 0:
        raise ValueError("y must have at least one row, got none")
    if not isinstance(weighted, bool):
        raise ValueError(f"weighted must be True or False, got {weighted!r}")
    # In decimals, as MAPIE has it: 1 - 0.9 is 0.1.
    alpha = float(Decimal(1) - Decimal(str(confidence_level)))
    rows, hits = _counts(keys, covered)
    gaps = np.abs(hits / rows - (1 - alpha))
    return float(np.sum(rows / len(keys) * gaps) if weighted else np.mean(gaps))


def _counts(
    keys: NDArray[Any], covered: NDArray[np.bool_]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the rows of each group, and how many of them are covered."""
    least = int(keys.min())
    if int(keys.max()) - least < max(len(keys), 1 << 16):
        codes = (keys - least).astype(np.intp)
    else:
        codes = np.unique(keys, return_inverse=True)[1]
    rows = np.bincount(codes)
    hits = np.bincount(codes[covered], minlength=len(rows))
    return rows[rows > 0], hits[rows > 0]
