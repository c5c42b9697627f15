"""HSIC between the widths of intervals and their coverage; public in `calibrant.intervals`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibrant import _core
from calibrant._input.validation import NanPolicy, check_nan_policy, checked_choice
from calibrant._result import Result
from calibrant.intervals._bounds import (
    Crossed,
    are_equally_wide,
    bounds_of,
    check_crossed,
    require_outcomes,
)

__all__ = ["CoverageHSIC", "CoverageHSICByLevel", "Estimator", "coverage_hsic", "mapie_hsic"]

Estimator = Literal["biased", "gretton", "unbiased"]


@dataclass(frozen=True, repr=False)
class CoverageHSIC(Result):
    """Do intervals of some widths cover more often than others?

    Attributes
    ----------
    hsic : float
        0 if coverage does not depend on the width. NaN where there is a `reason`.
    reason : str or None
        Why there is no number: "constant widths" (they differ by less than 2^-30 of the
        largest), "all covered" or "none covered". Nothing can depend on what does not vary.
    coverage : float
        The fraction of intervals that cover.
    n, n_omitted : int
        Rows taken in, and rows dropped because a value was missing.
    estimator : {"biased", "gretton", "unbiased"}
    bandwidths : tuple of float
        Of the widths, and of the indicator of coverage.
    """

    hsic: float
    reason: str | None = None
    coverage: float = math.nan
    n: int = 0
    n_omitted: int = 0
    estimator: str = "biased"
    bandwidths: tuple[float, float] = (1.0, 1.0)

    def __float__(self) -> float:
        return self.hsic

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.array(self.hsic, dtype=dtype)


@dataclass(frozen=True, repr=False)
class CoverageHSICByLevel(Result):
    """`CoverageHSIC` for each of several confidence levels.

    Attributes
    ----------
    levels : tuple of CoverageHSIC
        In the order of the last axis of the intervals.
    """

    levels: tuple[CoverageHSIC, ...] = field(default=())

    @property
    def hsic(self) -> NDArray[np.float64]:
        """The values as an array, one a level."""
        return np.array([level.hsic for level in self.levels])

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.array(self.hsic, dtype=dtype)

    def __repr__(self) -> str:
        rows = []
        for index, level in enumerate(self.levels):
            numbers = f"{index:>5}  {level.hsic:<12.6g}  {level.coverage:<8.4f}"
            rows.append(f"{numbers}  {level.reason or ''}".rstrip())
        first = self.levels[0]
        head = f"CoverageHSICByLevel(n={first.n}, estimator={first.estimator!r})"
        return "\n".join([head, "level  hsic          coverage", *rows])


def check_bandwidths(bandwidths: Sequence[float]) -> tuple[float, float]:
    """Return both as floats; the core checks their range."""
    try:
        width, coverage = (float(bandwidth) for bandwidth in bandwidths)
    except (TypeError, ValueError):
        raise ValueError(
            f"bandwidths must be two numbers, of the widths and of coverage, got {bandwidths!r}"
        ) from None
    return width, coverage


def result_of(
    values: list[tuple[float, int, float, float]],
    *,
    n: int,
    n_omitted: int,
    has_levels: bool,
    estimator: str,
    bandwidths: tuple[float, float],
) -> CoverageHSIC | CoverageHSICByLevel:
    """Name what keeps a value from having a meaning, level by level."""
    levels = []
    for hsic, covered, least, most in values:
        reason = (
            "constant widths"
            if are_equally_wide(least, most)
            else "all covered"
            if covered == n
            else "none covered"
            if covered == 0
            else None
        )
        value = math.nan if reason else hsic
        levels.append(CoverageHSIC(value, reason, covered / n, n, n_omitted, estimator, bandwidths))
    return CoverageHSICByLevel(tuple(levels)) if has_levels else levels[0]


def check_estimator(estimator: object) -> None:
    """Raise ValueError if it is none."""
    checked_choice(estimator, "estimator", ("biased", "gretton", "unbiased"))


def coverage_hsic(
    y_true: ArrayLike,
    intervals: ArrayLike | tuple[ArrayLike, ArrayLike],
    *,
    bandwidths: Sequence[float] = (1.0, 1.0),
    estimator: Estimator = "biased",
    crossed: Crossed = "raise",
    nan_policy: NanPolicy = "raise",
) -> CoverageHSIC | CoverageHSICByLevel:
    r"""HSIC between the width of intervals and whether they cover, in linear time.

    With :math:`K_{ij} = \exp(-(w_i - w_j)^2 / (2 h^2))` for the widths,
    :math:`L_{ij} = \exp(-(c_i - c_j)^2 / (2 g^2))` for the indicators of coverage and the
    centring matrix H, it is :math:`\operatorname{trace}(KHLH) / n^2`. It is 0 if coverage does
    not depend on the width, and grows with the dependence; its scale depends on the bandwidths.

    Parameters
    ----------
    y_true : array of shape (n,)
    intervals : array of shape (n, 2) or (n, 2, k), or a tuple (lower, upper)
        Bounds count as covered. k is the number of confidence levels.
    bandwidths : pair of float, in [1e-150, 1e150]
        h of the widths, in their own unit, and g of the indicator. Choose h about as large as
        differences between widths that matter. MAPIE's kernel size is 2 h^2.
    estimator : {"biased", "gretton", "unbiased"}
        trace / n^2; trace / (n - 1)^2 as in Gretton et al. (2005); or the U-statistic of Song et
        al. (2012), which can be negative.
    crossed : {"raise", "swap"}
        What to do with a lower bound above its upper bound.
    nan_policy : {"raise", "omit"}
        Whether a missing value is an error, or its row is left out and counted.

    Returns
    -------
    CoverageHSIC or, for several levels, CoverageHSICByLevel

    Examples
    --------
    Wide intervals cover, narrow ones do not:

    >>> y_true = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    >>> intervals = [[-1, 1], [0, 2], [1, 4], [3.5, 4], [4.1, 4.2], [5.5, 6]]
    >>> coverage_hsic(y_true, intervals)
    CoverageHSIC(hsic=0.0691734, coverage=0.5, n=6)

    Widths that are all the same tell nothing:

    >>> coverage_hsic([0.0, 3.0], [[-1, 1], [0, 2]])
    CoverageHSIC(hsic=nan, reason='constant widths', coverage=0.5, n=2)
    """
    require_outcomes(y_true)
    width, coverage = check_bandwidths(bandwidths)
    check_estimator(estimator)
    values, n, n_omitted, has_levels = _core.coverage_hsic(
        y_true, *bounds_of(intervals), check_nan_policy(nan_policy), check_crossed(crossed),
        width, coverage, estimator,
    )  # fmt: skip
    return result_of(
        values, n=n, n_omitted=n_omitted, has_levels=has_levels, estimator=estimator,
        bandwidths=(width, coverage),
    )  # fmt: skip


def mapie_hsic(y_true: Any, y_intervals: Any, kernel_sizes: Any = (1, 1)) -> NDArray[np.float64]:
    """Return what MAPIE's ``hsic`` returns, for finite arrays of shape (n, 2) or (n, 2, k).

    It is the root of the "gretton" estimator. Its kernel is exp(-d^2 / size), and its sizes are
    used in the order (width, coverage), though documented in the other. Crossed bounds have the
    absolute width and do not cover. There is a number for constant widths, too.
    """
    y = np.asarray(y_true, float)[:, None]
    bounds = np.asarray(y_intervals, float)
    bounds = bounds.reshape(len(bounds), 2, -1)
    width = np.abs(bounds[:, 1] - bounds[:, 0])
    covered = (bounds[:, 0] <= y) & (bounds[:, 1] >= y)
    # For the core, which takes intervals: [0, width] covers 0 and does not cover -1.
    sizes = [float(size) for size in kernel_sizes]
    roots = []
    for level in range(width.shape[1]):
        (value, *_), = _core.coverage_hsic(
            np.where(covered[:, level], 0.0, -1.0), np.zeros(len(width)), width[:, level], True,
            False, False, math.sqrt(sizes[0] / 2), math.sqrt(sizes[1] / 2), "gretton",
        )[0]  # fmt: skip
        roots.append(math.sqrt(value))
    return np.array(roots)
