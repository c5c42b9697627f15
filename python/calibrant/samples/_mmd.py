"""Maximum mean discrepancy of two samples."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibrant import _core
from calibrant._input.validation import checked_choice

__all__ = ["Bandwidth", "Estimator", "Kernel", "median_bandwidth", "mmd"]

Kernel = Literal["gaussian", "laplace", "polynomial"]
Estimator = Literal["biased", "unbiased", "linear", "block"]
Bandwidth = Literal["median"] | float | Sequence[float]

KERNELS = "gaussian", "laplace", "polynomial"
ESTIMATORS = "biased", "unbiased", "linear", "block"


def median_bandwidth(
    x: ArrayLike, y: ArrayLike, *, kernel: Literal["gaussian", "laplace"] = "gaussian"
) -> float:
    """Median of the distances between all pairs of different rows of two samples, pooled.

    It is what ``bandwidth="median"`` takes in `mmd` and `mmd_test`. The mean of the middle two if
    the number of pairs is even. Of numbers it is exact for any n, in a time of n log n; of more
    than 2000 vectors, 2000 are drawn at random, always the same.

    Parameters
    ----------
    x, y : array of shape (n,) or (n, d), and (m,) or (m, d), finite
    kernel : {"gaussian", "laplace"}
        Euclidean distances, or sums of absolute differences.

    Returns
    -------
    float

    Examples
    --------
    >>> median_bandwidth([0.0, 1.0, 2.0], [1.0, 3.0, 4.0])
    2.0
    """
    checked_choice(kernel, "kernel", ("gaussian", "laplace"))
    rows = n_rows(x) + n_rows(y)
    if rows < 2:
        raise ValueError(f"a median distance needs at least 2 rows, got {rows}")
    return float(_core.pooled_median_distance(x, y, kernel))


def n_rows(sample: Any) -> int:
    """Return how many rows there are; what has no length is left for the core to reject."""
    try:
        return len(sample)
    except TypeError:
        return len(np.atleast_1d(sample))


def bandwidths_of(x: Any, y: Any, bandwidth: Bandwidth, kernel: str) -> list[float]:
    """Return the bandwidths meant; of the polynomial kernel a 1 that is not used."""
    checked_choice(kernel, "kernel", KERNELS)
    is_median = isinstance(bandwidth, str) and bandwidth == "median"
    if kernel == "polynomial":
        if not is_median:
            raise ValueError(f"the polynomial kernel has no bandwidth, got {bandwidth!r}")
        return [1.0]
    if is_median:
        median = median_bandwidth(x, y, kernel=kernel)  # type: ignore[arg-type]
        if not 1e-150 <= median <= 1e150:
            raise ValueError(
                f"bandwidth cannot be the median of the distances, which is {median}; pass one"
            )
        return [median]
    try:
        if isinstance(bandwidth, str):
            raise TypeError
        values = [float(h) for h in np.atleast_1d(np.asarray(bandwidth, dtype=np.float64))]
    except (TypeError, ValueError):
        raise ValueError(
            f"bandwidth must be 'median', a number or a sequence of numbers, got {bandwidth!r}"
        ) from None
    if not values:
        raise ValueError("bandwidth must hold at least one number, got none")
    return values


def checked_estimator(estimator: str, block_size: int | None) -> None:
    """Reject what is no estimator, and a size of blocks where there are none."""
    checked_choice(estimator, "estimator", ESTIMATORS)
    if block_size is not None and estimator != "block":
        raise ValueError(f"block_size is for estimator 'block', not for {estimator!r}")


def rows_of_blocks(x: Any, y: Any, estimator: str, block_size: int | None) -> int:
    """Return the rows of a block, 0 for the linear estimator, whose terms take two."""
    n, m = n_rows(x), n_rows(y)
    if n != m:
        raise ValueError(
            f"estimator {estimator!r} needs as many rows of x as of y, got {n} and {m}"
        )
    if estimator == "linear":
        if n < 2:
            raise ValueError(f"estimator 'linear' needs at least 2 rows of each, got {n}")
        return 0
    size = max(2, math.isqrt(n)) if block_size is None else operator.index(block_size)
    if not 2 <= size <= n:
        raise ValueError(f"block_size must lie in [2, {n}], got {size}")
    return size


def require_pairs(x: Any, y: Any) -> None:
    """Reject samples that are too short for the unbiased estimator."""
    n, m = n_rows(x), n_rows(y)
    if n < 2 or m < 2:
        raise ValueError(f"an unbiased MMD needs at least 2 rows of each, got {n} and {m}")


@overload
def mmd(
    x: ArrayLike,
    y: ArrayLike,
    *,
    bandwidth: Literal["median"] | float = "median",
    kernel: Kernel = "gaussian",
    estimator: Estimator = "biased",
    block_size: int | None = None,
) -> float: ...
@overload
def mmd(
    x: ArrayLike,
    y: ArrayLike,
    *,
    bandwidth: Sequence[float],
    kernel: Kernel = "gaussian",
    estimator: Estimator = "biased",
    block_size: int | None = None,
) -> NDArray[np.float64]: ...
def mmd(
    x: ArrayLike,
    y: ArrayLike,
    *,
    bandwidth: Bandwidth = "median",
    kernel: Kernel = "gaussian",
    estimator: Estimator = "biased",
    block_size: int | None = None,
) -> float | NDArray[np.float64]:
    r"""Squared maximum mean discrepancy of two samples, without an n x n matrix.

    :math:`E\,k(x, x') + E\,k(y, y') - 2 E\,k(x, y)`, which is 0 for two samples of one law, up to
    its error. With the Gaussian and the Laplace kernel it is 0 for equal laws only.

    Parameters
    ----------
    x, y : array of shape (n,) or (n, d), and (m,) or (m, d), finite
    bandwidth : "median", float or sequence of float
        h of the kernel. "median" is `median_bandwidth` of both. With a sequence there is one
        value for each; distances are computed once.
    kernel : {"gaussian", "laplace", "polynomial"}
        exp(-|a - b|^2 / (2 h^2)); exp(-|a - b| / h) with the sum of absolute differences; or
        (a.b / d + 1)^3, which has no bandwidth: unbiased, it is the kernel inception distance
        (KID) of features.
    estimator : {"biased", "unbiased", "linear", "block"}
        The means over all pairs, never negative. Without the pairs of a row with itself: right on
        average, and so sometimes negative. The mean over pairs of consecutive rows, in linear
        time. The mean of the unbiased estimates of blocks of consecutive rows. The last two need
        n = m and rows in no particular order; rows that do not fill a pair or a block are left
        out.
    block_size : int, optional
        Rows of a block; by default the root of n.

    Returns
    -------
    float, or an array with one value for each bandwidth
        The *square* of the discrepancy.

    Examples
    --------
    >>> x, y = [0.0, 1.0, 2.0], [1.0, 3.0, 4.0]
    >>> round(mmd(x, y, bandwidth=1.0), 6)
    0.441901
    >>> round(mmd(x, y, bandwidth=1.0, estimator="unbiased"), 6)
    0.00872
    >>> mmd(x, y, bandwidth=[1.0, 2.0]).round(6)
    array([0.441901, 0.342225])
    """
    checked_estimator(estimator, block_size)
    if estimator in ("linear", "block"):
        size = rows_of_blocks(x, y, estimator, block_size)
        bandwidths = bandwidths_of(x, y, bandwidth, kernel)
        values = [_core.mmd_of_blocks(x, y, [h], kernel, size)[0] for h in bandwidths]
    else:
        if estimator == "unbiased":
            require_pairs(x, y)
        bandwidths = bandwidths_of(x, y, bandwidth, kernel)
        both = _core.mmd(x, y, bandwidths, kernel)
        values = [pair[estimator == "unbiased"] for pair in both]
    if np.ndim(bandwidth) == 0:
        return values[0]
    return np.array(values)
