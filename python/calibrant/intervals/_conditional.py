"""Coverage by size, and by given groups: do intervals and sets cover alike everywhere?"""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from calibrant import _core
from calibrant._input.groups import group_codes
from calibrant._input.validation import NanPolicy, check_nan_policy, checked_flag
from calibrant.intervals._bounds import Crossed, bounds_of, check_crossed, require_outcomes
from calibrant.intervals._confidence import CiMethod, confidence, nominal_levels
from calibrant.intervals._coverage import CoverageGap, SizeStratifiedCoverage, size_groups
from calibrant.intervals._sets import class_sets

__all__ = ["checked_groups", "coverage_gap", "size_stratified_coverage"]


def checked_groups(n_groups: Any) -> int:
    """Return it as an int, or say what is wrong with it."""
    if isinstance(n_groups, bool) or not isinstance(n_groups, numbers.Integral):
        raise TypeError(f"n_groups must be an integer, got {n_groups!r}")
    number = int(n_groups)
    if not 1 <= number <= 1_000_000:
        raise ValueError(f"n_groups must lie in [1, 1000000], got {number}")
    return number


def _require_one(intervals: Any, sets: Any, labels: Any) -> None:
    if (intervals is None) == (sets is None):
        raise TypeError("pass either intervals or sets")
    if sets is None and labels is not None:
        raise TypeError("labels are for sets; intervals have none")
    if getattr(intervals, "dtype", None) == np.bool_:
        raise TypeError("intervals must be numbers, got booleans; prediction sets go in by sets=")


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
    y_true : array of shape (n,)
        What happened: a number, or a class.
    intervals, sets
        One of the two: as for `interval_coverage`, or as for `set_coverage`.
    n_groups : int, optional
        Groups of equal count, as far as ties allow: group k ends with the smallest size for
        which at least k / n_groups of the rows are not larger, with all rows of that size. By
        default 3 for intervals, and one group a size for sets.
    ci_level, ci_method, sample_weight, labels, nan_policy, crossed
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
      size 1: 0.5 (0.0945312 to 0.905469), 2 rows, worst
      size 2 to 4: 1 (0.34238 to 1), 2 rows
    >>> float(found)
    0.5
    """
    require_outcomes(y_true)
    _require_one(intervals, sets, labels)
    ci = confidence(ci_level, ci_method)
    groups = None if n_groups is None else checked_groups(n_groups)
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
    y_true : array of shape (n,)
        What happened: a number, or a class.
    intervals, sets
        One of the two: as for `interval_coverage`, or as for `set_coverage`.
    groups : array of shape (n,)
        A key for each row, as for `calibrant.scorecard`.
    confidence_level : float, or one a level
        The nominal level c.
    weighted : bool
        Weight groups by their rows; otherwise every group that has weight counts the same.
    ci_level, ci_method, sample_weight, labels, nan_policy, crossed
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
    require_outcomes(y_true)
    _require_one(intervals, sets, labels)
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
    return CoverageGap._of(strata, keys, levels, ci, checked_flag(weighted, "weighted"))
