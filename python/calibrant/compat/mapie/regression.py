"""``mapie.metrics.regression``: coverage and width of prediction intervals.

Intervals have shape (n, 2, k) for k levels. Crossed bounds have the absolute width and cover
nothing; the Winkler score alone uncrosses them.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibrant import _core
from calibrant.compat._arrays import array, as_double, column, finite, numbers, same_length
from calibrant.compat._bins import order_statistics
from calibrant.compat.mapie._checks import check_levels, check_number_of_bins, outcome_column
from calibrant.intervals._hsic import mapie_hsic

__all__ = [
    "coverage_width_based",
    "hsic",
    "regression_coverage_score",
    "regression_mean_width_score",
    "regression_mwi_score",
    "regression_ssc",
    "regression_ssc_score",
]


class _Totals(NamedTuple):
    covered: int
    width: float
    excess: float
    least_y: float
    largest_y: float


def _check_kinds(*arrays: NDArray[Any]) -> None:
    for values in arrays:
        if values.dtype.kind not in "biuf":
            raise TypeError(f"outcomes and intervals must be real numbers, got {values.dtype}")
    if len(arrays[0]) == 0:
        raise ValueError("intervals must have at least one row, got none")


def _reject_infinite(y: NDArray[Any], lower: NDArray[Any], upper: NDArray[Any]) -> None:
    """Name what is not finite, if there is anything."""
    finite(y, "y_true")
    finite(lower, "lower bounds")
    finite(upper, "upper bounds")


def _totals(y: NDArray[Any], lower: NDArray[Any], upper: NDArray[Any]) -> _Totals:
    """Return the sums of one level; rejects what is not finite."""
    _check_kinds(y, lower, upper)
    found = _core.interval_totals(as_double(y), as_double(lower), as_double(upper))
    if not found[-1]:
        _reject_infinite(y, lower, upper)
    return _Totals(*found[:-1])


def _covered(y: NDArray[Any], lower: NDArray[Any], upper: NDArray[Any]) -> int:
    """Return how many rows of one level are covered; rejects what is not finite."""
    _check_kinds(y, lower, upper)
    covered, clean = _core.interval_hits(as_double(y), as_double(lower), as_double(upper))
    if not clean:
        _reject_infinite(y, lower, upper)
    return covered


def _intervals(y_true: NDArray[Any], y_intervals: Any) -> NDArray[Any]:
    """Return bounds of shape (n, 2, k), as many as there are outcomes."""
    bounds = array(y_intervals, "y_intervals")
    if bounds.ndim == 2:
        bounds = bounds[:, :, None]
    if bounds.ndim != 3 or bounds.shape[1] != 2:
        raise ValueError(
            f"y_intervals must have shape (n, 2) or (n, 2, k), got {np.shape(y_intervals)}"
        )
    same_length(y_true=y_true, y_intervals=bounds)
    return bounds


def regression_mean_width_score(y_intervals: NDArray[Any]) -> NDArray[np.float64]:
    """Mean width of intervals of shape (n, 2, k), level by level.

    Examples
    --------
    >>> regression_mean_width_score([[[4, 6], [6, 9]], [[9, 10], [10, 12]]])
    array([1.5, 2.5])
    """
    bounds = np.asarray(array(y_intervals, "y_intervals"), dtype=float)
    if bounds.ndim != 3:
        raise IndexError(f"y_intervals must have shape (n, 2, k), got {bounds.shape}")
    if bounds.shape[1] != 2:
        raise IndexError(f"y_intervals must have a lower and an upper bound, got {bounds.shape}")
    if len(bounds) == 0:
        raise ValueError("y_intervals must have at least one row, got none")
    levels = range(bounds.shape[2])
    totals = [_core.interval_widths(bounds[:, 0, level], bounds[:, 1, level]) for level in levels]
    if not all(map(math.isfinite, totals)):
        finite(bounds, "y_intervals")
    return np.array(totals) / len(bounds)


def regression_coverage_score(
    y_true: NDArray[Any], y_intervals: NDArray[Any]
) -> NDArray[np.float64]:
    """How often lower <= y <= upper, level by level.

    Parameters
    ----------
    y_true : array of shape (n,), or (n, k) with other outcomes for each level
    y_intervals : array of shape (n, 2) or (n, 2, k)

    Examples
    --------
    >>> regression_coverage_score([1.0, 2.5, 4.0], [[0.0, 1.0], [2.0, 3.0], [5.0, 6.0]])
    array([0.66666667])
    """
    outcomes = array(y_true, "y_true")
    if outcomes.ndim != 2:
        outcomes = column(outcomes, "y_true")[:, None]
    bounds = _intervals(outcomes, y_intervals)
    of_y, of_bounds = outcomes.shape[1], bounds.shape[2]
    if of_y != of_bounds and 1 not in (of_y, of_bounds):
        raise ValueError(f"y_true has {of_y} columns, y_intervals {of_bounds} levels")
    coverages = []
    for level in range(max(of_y, of_bounds) if 0 not in (of_y, of_bounds) else 0):
        y, at = outcomes[:, min(level, of_y - 1)], min(level, of_bounds - 1)
        coverages.append(_covered(y, bounds[:, 0, at], bounds[:, 1, at]) / len(y))
    return np.array(coverages)


def regression_ssc(
    y_true: NDArray[Any], y_intervals: NDArray[Any], num_bins: int = 3
) -> NDArray[np.float64]:
    """Coverage by width: rows sorted by width and cut into parts of equal count.

    Ties at a cut are parted as NumPy's sort leaves them.

    Parameters
    ----------
    y_true : array of shape (n,)
    y_intervals : array of shape (n, 2) or (n, 2, k)
    num_bins : int
        Less than the number of different widths, rounded to five decimals.

    Returns
    -------
    array of shape (k, num_bins)

    Examples
    --------
    >>> regression_ssc([5, 7.5, 9.5], [[4, 6], [6, 9], [9, 10]], num_bins=2)
    array([[1., 1.]])
    """
    y = column(y_true, "y_true")
    bounds = _intervals(y, y_intervals)
    num_bins = check_number_of_bins(num_bins)
    y, bounds = numbers(y, "y_true"), numbers(bounds, "y_intervals")
    found = []
    for level in range(bounds.shape[2]):
        lower, upper = bounds[:, 0, level], bounds[:, 1, level]
        widths = as_double(np.abs(upper - lower))
        _require_different(widths, num_bins)
        found.append(_covered_by_width((lower <= y) & (upper >= y), widths, num_bins))
    return np.array(found).reshape(bounds.shape[2], num_bins)


def _require_different(widths: NDArray[np.float64], num_bins: int) -> None:
    for some in (widths[: 64 * (num_bins + 1)], widths):  # a few rows are mostly enough
        if len(np.unique(some.round(5))) > num_bins:
            return
    raise ValueError(
        f"num_bins must be less than the number of different interval widths, got {num_bins}"
    )


def _covered_by_width(
    covered: NDArray[np.bool_], widths: NDArray[np.float64], num_bins: int
) -> NDArray[np.float64]:
    rows = np.full(num_bins, len(widths) // num_bins)
    rows[: len(widths) % num_bins] += 1
    cuts = np.cumsum(rows)[:-1]
    if not cuts.size:
        return np.array([np.count_nonzero(covered) / len(covered)])
    around = order_statistics(widths, np.concatenate([cuts - 1, cuts]))
    last, first = around[: cuts.size], around[cuts.size :]
    if (last == first).any():
        parts = np.split(covered[np.argsort(widths)], cuts)
        return np.asarray([np.count_nonzero(part) for part in parts] / rows)
    if num_bins <= 8:
        up_to = [np.count_nonzero(covered & (widths <= cut)) for cut in last]
        hits = np.diff([0, *up_to, np.count_nonzero(covered)])
    else:
        hits = np.bincount(np.searchsorted(last, widths[covered]), minlength=num_bins)
    return np.asarray(hits / rows)


def regression_ssc_score(
    y_true: NDArray[Any], y_intervals: NDArray[Any], num_bins: int = 3
) -> NDArray[np.float64]:
    """Return the least coverage of `regression_ssc`, level by level.

    Examples
    --------
    >>> regression_ssc_score([5, 7.5, 9.5], [[4, 6], [6, 9], [9.9, 10.8]], num_bins=2)
    array([0.5])
    """
    return np.asarray(np.min(regression_ssc(y_true, y_intervals, num_bins), axis=1))


def hsic(
    y_true: NDArray[Any], y_intervals: NDArray[Any], kernel_sizes: ArrayLike = (1, 1)
) -> NDArray[np.float64]:
    """Root of the HSIC between width and coverage, in linear time.

    Parameters
    ----------
    y_true : array of shape (n,)
    y_intervals : array of shape (n, 2) or (n, 2, k)
    kernel_sizes : pair of float
        Of the kernels exp(-d^2 / size) of the widths, and of coverage: this is how MAPIE uses
        them, though its documentation has the other order.

    Examples
    --------
    >>> hsic([9.5, 10.5, 12.5], [[9, 10], [8.5, 12.5], [10.5, 12]])
    array([0.31787614])
    """
    y = outcome_column(y_true, "y_true")
    bounds = numbers(_intervals(y, y_intervals), "y_intervals")
    sizes = column(kernel_sizes, "kernel_sizes")
    if len(sizes) != 2:
        raise ValueError(f"kernel_sizes must be two numbers, got {len(sizes)}")
    if (sizes <= 0).any():
        raise ValueError(f"kernel_sizes must be positive, got {sizes.tolist()}")
    if len(y) < 2:
        raise ValueError(f"hsic needs at least two rows, got {len(y)}")
    return mapie_hsic(y, bounds, sizes)


def coverage_width_based(
    y_true: ArrayLike,
    y_pred_low: ArrayLike,
    y_pred_up: ArrayLike,
    eta: float,
    confidence_level: float,
) -> float:
    """(1 - mean width / range of y) exp(-eta (coverage - confidence_level)^2).

    Examples
    --------
    >>> y, low, up = [5, 7.5, 9.5], [4, 6, 9], [6, 9, 10]
    >>> print(round(coverage_width_based(y, low, up, 0.01, 0.9), 3))
    0.556
    """
    y = column(y_true, "y_true")
    low, up = column(y_pred_low, "y_pred_low"), column(y_pred_up, "y_pred_up")
    check_levels(confidence_level)
    same_length(y_true=y, y_pred_low=low, y_pred_up=up)
    totals = _totals(y, low, up)
    length = np.float64(totals.width / len(y)) / (totals.largest_y - totals.least_y)
    coverage = totals.covered / len(y)
    return float((1 - length) * np.exp(-eta * (coverage - confidence_level) ** 2))


def regression_mwi_score(
    y_true: NDArray[Any], y_pis: NDArray[Any], confidence_level: float
) -> float:
    """Mean interval score of Winkler, of the first level; crossed bounds are swapped.

    Examples
    --------
    >>> regression_mwi_score([1.0, 4.0], [[[0.0], [1.0]], [[2.0], [3.0]]], 0.75)
    5.0
    """
    bounds = array(y_pis, "y_pis")
    if bounds.ndim != 3 or bounds.shape[1] < 2 or bounds.shape[2] < 1:
        raise IndexError(f"y_pis must have shape (n, 2, 1), got {bounds.shape}")
    y = column(y_true, "y_true")
    same_length(y_true=y, y_pis=bounds)
    totals = _totals(y, bounds[:, 0, 0], bounds[:, 1, 0])
    penalty = np.float64(totals.excess) * 2 / (1 - confidence_level)
    return float((totals.width + penalty) / len(y))
