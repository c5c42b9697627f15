"""Prediction intervals and sets: do they cover as often as they promise, and at what width?

Every function takes one or many levels in one pass. With one level its numbers are floats,
with k > 1 levels they are arrays of shape (k,).
"""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from calibrant import _core
from calibrant._coverage_results import (
    ByLevel,
    CiMethod,
    Coverage,
    CoverageGap,
    SetSize,
    SetSummary,
    SizeGroup,
    SizeGroups,
    SizeStratifiedCoverage,
    by_level,
    confidence,
    nominal_levels,
    size_groups,
)
from calibrant._groups import group_codes
from calibrant._interval_bounds import Crossed, bounds_of, check_crossed
from calibrant._interval_summary import IntervalLevel, IntervalSummary
from calibrant._prediction_sets import class_sets, set_coverage, set_size, set_summary
from calibrant.means import NanPolicy, check_nan_policy

__all__ = [
    "Coverage",
    "CoverageGap",
    "IntervalLevel",
    "IntervalSummary",
    "SetSize",
    "SetSummary",
    "SizeGroup",
    "SizeGroups",
    "SizeStratifiedCoverage",
    "coverage_gap",
    "coverage_width_criterion",
    "interval_coverage",
    "interval_score",
    "interval_summary",
    "interval_width",
    "set_coverage",
    "set_size",
    "set_summary",
    "size_stratified_coverage",
]


def _state(
    y_true: Any,
    intervals: Any,
    levels: list[float],
    sample_weight: Any,
    nan_policy: NanPolicy,
    crossed: Crossed,
) -> _core.Intervals:
    """All sums of the rows; at least one has weight."""
    omit, swap = check_nan_policy(nan_policy), check_crossed(crossed)
    state = _core.Intervals(levels, [])
    state.update(y_true, bounds_of(intervals), sample_weight, omit, swap)
    state.require_weight()
    return state


def _require_outcomes(y_true: Any) -> None:
    if y_true is None:
        raise TypeError("y_true must be an array, got None")


def interval_coverage(
    y_true: ArrayLike,
    intervals: Any,
    *,
    ci_level: float = 0.95,
    ci_method: CiMethod = "wilson",
    sample_weight: ArrayLike | None = None,
    nan_policy: NanPolicy = "raise",
    crossed: Crossed = "raise",
) -> Coverage:
    """How often the intervals hold what happened: the mean of 1(lower <= y <= upper).

    Parameters
    ----------
    y_true : array of shape (n,)
        What happened.
    intervals : array of shape (n, 2) or (n, 2, k), or a tuple (lower, upper)
        Bounds of one or of k levels; of a tuple, two arrays of shape (n,) or (n, k). A list is
        an array.
    ci_level : float
        Level of the confidence interval of the coverage itself.
    ci_method : {"wilson", "exact"}
        Wilson's interval, or that of Clopper and Pearson, which never covers less than it says.
    sample_weight : array of shape (n,), finite and not negative, optional
        A row of weight 2 counts like two rows, for the confidence interval too.
    nan_policy : {"raise", "omit"}
        "omit" drops and counts rows in which any value, of any level, is missing.
    crossed : {"raise", "swap"}
        What to do with an upper bound below its lower one.

    Returns
    -------
    Coverage
        ``float(result)`` is the coverage; ``low`` and ``high`` are its confidence interval.

    Examples
    --------
    >>> found = interval_coverage([1.0, 2.5, 4.0], [[0.0, 1.0], [2.0, 3.0], [5.0, 6.0]])
    >>> found
    Coverage(0.666667 (0.207655 to 0.938506), n=3)
    >>> float(found)
    0.6666666666666666
    >>> lower = [[0.0, 0.5], [2.0, 2.6], [5.0, 5.5]]
    >>> upper = [[1.0, 0.9], [3.0, 2.9], [6.0, 5.6]]
    >>> interval_coverage([1.0, 2.5, 4.0], (lower, upper)).value
    array([0.66666667, 0.        ])
    """
    _require_outcomes(y_true)
    ci = confidence(ci_level, ci_method)
    state = _state(y_true, intervals, [], sample_weight, nan_policy, crossed)
    found = [state.coverage(level, *ci) for level in range(state.n_levels)]
    value, low, high = (by_level(numbers) for numbers in zip(*found, strict=True))
    return Coverage(value, low, high, state.n, state.n_omitted, float(ci_level), ci_method)


def interval_width(
    intervals: Any,
    *,
    sample_weight: ArrayLike | None = None,
    nan_policy: NanPolicy = "raise",
    crossed: Crossed = "raise",
) -> ByLevel:
    """Mean width of the intervals, upper - lower.

    Parameters
    ----------
    intervals, sample_weight, nan_policy, crossed
        As for `interval_coverage`.

    Returns
    -------
    float, or array of shape (k,) for k > 1 levels

    Examples
    --------
    >>> interval_width([[0.0, 1.0], [2.0, 5.0]])
    2.0
    """
    state = _state(None, intervals, [], sample_weight, nan_policy, crossed)
    return by_level([state.mean_width(level) for level in range(state.n_levels)])


def interval_score(
    y_true: ArrayLike,
    intervals: Any,
    *,
    confidence_level: float | ArrayLike,
    sample_weight: ArrayLike | None = None,
    nan_policy: NanPolicy = "raise",
    crossed: Crossed = "raise",
) -> ByLevel:
    r"""Mean interval score of Winkler: width, and a penalty for what lies outside.

    .. math:: \frac1n \sum_i (u_i - l_i) + \frac{2}{1 - c}
              \frac1n \sum_i \max(l_i - y_i, y_i - u_i, 0)

    Smaller is better. It is proper: nothing beats the true quantiles (1 - c) / 2 and (1 + c) / 2.

    Parameters
    ----------
    confidence_level : float, or one a level
        The nominal level c of the intervals.
    y_true, intervals, sample_weight, nan_policy, crossed
        As for `interval_coverage`.

    Returns
    -------
    float, or array of shape (k,) for k > 1 levels

    Examples
    --------
    >>> interval_score([1.0, 4.0], [[0.0, 1.0], [2.0, 3.0]], confidence_level=0.75)
    5.0
    """
    _require_outcomes(y_true)
    levels = nominal_levels(confidence_level)
    state = _state(y_true, intervals, levels, sample_weight, nan_policy, crossed)
    return by_level([state.score(i, level) for i, level in enumerate(levels)])


def coverage_width_criterion(
    y_true: ArrayLike,
    intervals: Any,
    *,
    confidence_level: float | ArrayLike,
    eta: float,
    sample_weight: ArrayLike | None = None,
    nan_policy: NanPolicy = "raise",
    crossed: Crossed = "raise",
) -> ByLevel:
    r"""Coverage width-based criterion: narrow intervals that cover as they promise come near 1.

    .. math:: \left(1 - \frac{\text{mean width}}{\max y - \min y}\right)
              \exp\left(-\eta\,(\text{coverage} - c)^2\right)

    It depends on the extremes of y, so two samples of one source can differ much.

    Parameters
    ----------
    confidence_level : float, or one a level
        The nominal level c of the intervals.
    eta : float
        How much a wrong coverage costs.
    y_true, intervals, sample_weight, nan_policy, crossed
        As for `interval_coverage`.

    Returns
    -------
    float, or array of shape (k,) for k > 1 levels

    Raises
    ------
    ValueError
        If all y_true are equal: there is nothing to compare widths with.

    Examples
    --------
    >>> y, intervals = [0.0, 4.0], [[-0.5, 0.5], [4.5, 5.5]]
    >>> coverage_width_criterion(y, intervals, confidence_level=0.5, eta=30.0)
    0.75
    """
    _require_outcomes(y_true)
    levels = nominal_levels(confidence_level)
    eta = checked_eta(eta)
    state = _state(y_true, intervals, levels, sample_weight, nan_policy, crossed)
    if state.least_y == state.largest_y:
        raise ValueError(
            f"y_true must hold two different values, found only {state.least_y}: widths are "
            f"compared with its range"
        )
    return by_level([state.criterion(i, level, eta) for i, level in enumerate(levels)])


def checked_eta(eta: Any) -> float:
    """Return it as a float, or say what is wrong with it."""
    if not isinstance(eta, numbers.Real):
        raise TypeError(f"eta must be a real number, got {eta!r}")
    if not np.isfinite(float(eta)):
        raise ValueError(f"eta must be finite, got {float(eta)}")
    return float(eta)


def _checked_groups(n_groups: Any) -> int:
    if isinstance(n_groups, bool) or not isinstance(n_groups, numbers.Integral):
        raise TypeError(f"n_groups must be an integer, got {n_groups!r}")
    if not 1 <= n_groups <= 1_000_000:
        raise ValueError(f"n_groups must lie in [1, 1000000], got {n_groups}")
    return int(n_groups)


def _require_one(intervals: Any, sets: Any) -> None:
    if (intervals is None) == (sets is None):
        raise TypeError("pass either intervals or sets")


def size_stratified_coverage(
    y_true: ArrayLike,
    intervals: Any = None,
    *,
    sets: Any = None,
    n_groups: int | None = None,
    ci_level: float = 0.95,
    ci_method: CiMethod = "wilson",
    sample_weight: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    nan_policy: NanPolicy = "raise",
    crossed: Crossed = "raise",
) -> SizeStratifiedCoverage:
    """Coverage by the width of intervals, or by the size of sets, and the worst of it.

    Good intervals cover alike whether they are narrow or wide.

    Parameters
    ----------
    intervals, sets
        One of the two: as for `interval_coverage`, or as for `set_coverage`.
    n_groups : int, optional
        Groups of equal count, as far as ties allow: group k ends with the smallest size for
        which at least k / n_groups of the rows are not larger, with all rows of that size. By
        default 3 for intervals, and one group a size for sets.
    y_true, ci_level, ci_method, sample_weight, labels, nan_policy, crossed
        As for the coverages.

    Returns
    -------
    SizeStratifiedCoverage
        Its value is the coverage of the worst group; NaN, with a note, where sizes do not differ.

    Examples
    --------
    >>> y = [0.0, 0.0, 0.0, 0.0]
    >>> found = size_stratified_coverage(y, ([0, 1, -1, -2], [1, 2, 1, 2]), n_groups=2)
    >>> found
    SizeStratifiedCoverage
      size 1 to 1: 0.5 (0.0945312 to 0.905469), 2 rows, worst
      size 2 to 4: 1 (0.34238 to 1), 2 rows
    >>> float(found)
    0.5
    """
    _require_outcomes(y_true)
    _require_one(intervals, sets)
    ci = confidence(ci_level, ci_method)
    groups = None if n_groups is None else _checked_groups(n_groups)
    omit, swap = check_nan_policy(nan_policy), check_crossed(crossed)
    if sets is None:
        groups = 3 if groups is None else groups
        strata = _core.coverage_by_width(
            y_true, bounds_of(intervals), sample_weight, omit, swap, groups
        )
        found = [size_groups(of_level, ci, "widths") for of_level in strata]
    else:
        state = class_sets(y_true, sets, sample_weight, labels, nan_policy)
        found = [
            size_groups(
                state.by_size(i) if groups is None else state.equal_count_groups(i, groups),
                ci,
                "sizes",
            )
            for i in range(state.n_levels)
        ]
    if not any(level.groups for level in found):
        raise ValueError("coverage by size needs a row with positive weight")
    return SizeStratifiedCoverage._of(found, groups)


def coverage_gap(
    y_true: ArrayLike,
    intervals: Any = None,
    *,
    groups: Any,
    confidence_level: float | ArrayLike,
    sets: Any = None,
    weighted: bool = False,
    ci_level: float = 0.95,
    ci_method: CiMethod = "wilson",
    sample_weight: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    nan_policy: NanPolicy = "raise",
    crossed: Crossed = "raise",
) -> CoverageGap:
    r"""Mean distance between the coverage of groups and the nominal level.

    .. math:: \frac{1}{G} \sum_g \left|\text{coverage}_g - c\right|

    Parameters
    ----------
    groups : array of shape (n,)
        A key for each row, as for `calibrant.scorecard`.
    confidence_level : float, or one a level
        The nominal level c.
    weighted : bool
        Weight groups by their rows; otherwise every group that has weight counts the same.
    intervals, sets
        One of the two: as for `interval_coverage`, or as for `set_coverage`.
    y_true, ci_level, ci_method, sample_weight, labels, nan_policy, crossed
        As for the coverages. With "omit", rows without a key are left out, too.

    Returns
    -------
    CoverageGap
        With the coverage of each group. Chance alone makes small groups differ from c: see their
        confidence intervals.

    Examples
    --------
    >>> y, intervals = [0.0, 1.0, 2.0, 3.0], [[0, 1], [0, 2], [1, 2], [4, 5]]
    >>> coverage_gap(y, intervals, groups=["a", "a", "b", "b"], confidence_level=0.75)
    CoverageGap over 2 groups
      level 0.75: gap 0.25
        a: 1 (0.34238 to 1), 2 rows
        b: 0.5 (0.0945312 to 0.905469), 2 rows
    """
    _require_outcomes(y_true)
    _require_one(intervals, sets)
    ci, levels = confidence(ci_level, ci_method), nominal_levels(confidence_level)
    omit, swap = check_nan_policy(nan_policy), check_crossed(crossed)
    codes, keys = group_codes(groups, omit=omit)
    codes = np.ascontiguousarray(codes, dtype=np.int32)
    if sets is None:
        strata = _core.coverage_by_group(
            y_true, bounds_of(intervals), sample_weight, omit, swap, codes, len(keys)
        )
    else:
        strata = class_sets(
            y_true, sets, sample_weight, labels, nan_policy, groups=(codes, len(keys))
        )
    return CoverageGap._of(strata, keys, levels, ci, weighted)


def interval_summary(
    y_true: ArrayLike,
    intervals: Any,
    *,
    confidence_level: float | ArrayLike,
    n_groups: int = 3,
    eta: float = 30.0,
    ci_level: float = 0.95,
    ci_method: CiMethod = "wilson",
    sample_weight: ArrayLike | None = None,
    nan_policy: NanPolicy = "raise",
    crossed: Crossed = "raise",
) -> IntervalSummary:
    """All numbers of prediction intervals at once, level by level.

    Parameters
    ----------
    confidence_level : float, or one a level
        The nominal levels of the intervals.
    n_groups : int
        Groups of the coverage by width.
    eta : float
        Of `coverage_width_criterion`.
    y_true, intervals, ci_level, ci_method, sample_weight, nan_policy, crossed
        As for `interval_coverage`.

    Returns
    -------
    IntervalSummary
        One `IntervalLevel` for each level. Shown as a table.

    See Also
    --------
    calibrant.streaming.Intervals : the same for batches and many machines

    Examples
    --------
    >>> y = [0.0, 1.0, 2.0, 3.0]
    >>> summary = interval_summary(y, [[0, 1], [0, 2], [1, 2], [4, 5]], confidence_level=0.75)
    >>> summary[0].coverage.value, summary[0].mean_width, summary[0].score
    (0.75, 1.25, 3.25)
    """
    _require_outcomes(y_true)
    groups = _checked_groups(n_groups)
    ci, eta = confidence(ci_level, ci_method), checked_eta(eta)
    state = _state(
        y_true, intervals, nominal_levels(confidence_level), sample_weight, nan_policy, crossed
    )
    strata = _core.coverage_by_width(
        y_true,
        bounds_of(intervals),
        sample_weight,
        check_nan_policy(nan_policy),
        check_crossed(crossed),
        groups,
    )
    by_width = [size_groups(of_level, ci, "widths") for of_level in strata]
    return IntervalSummary._of(state, by_width, ci, eta, float(ci_level), ci_method)
