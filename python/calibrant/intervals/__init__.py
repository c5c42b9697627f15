"""Prediction intervals and sets: do they cover as often as they promise, and at what width?

Every function takes one or many levels in one pass. With one level its numbers are floats,
with k > 1 levels they are arrays of shape (k,).
"""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from calibrant import _core
from calibrant._input.validation import NanPolicy, check_nan_policy
from calibrant.intervals._bounds import Crossed, bounds_of, check_crossed, require_outcomes
from calibrant.intervals._conditional import (
    checked_groups,
    coverage_gap,
    size_stratified_coverage,
)
from calibrant.intervals._confidence import (
    ByLevel,
    CiMethod,
    by_level,
    checked_eta,
    confidence,
    nominal_levels,
)
from calibrant.intervals._coverage import (
    Coverage,
    CoverageGap,
    SizeGroup,
    SizeGroups,
    SizeStratifiedCoverage,
    size_groups,
)
from calibrant.intervals._hsic import CoverageHSIC, CoverageHSICByLevel, coverage_hsic
from calibrant.intervals._set_results import SetSize, SetSummary
from calibrant.intervals._sets import set_coverage, set_size, set_summary
from calibrant.intervals._summary import IntervalLevel, IntervalSummary

__all__ = [
    "Coverage",
    "CoverageGap",
    "CoverageHSIC",
    "CoverageHSICByLevel",
    "IntervalLevel",
    "IntervalSummary",
    "SetSize",
    "SetSummary",
    "SizeGroup",
    "SizeGroups",
    "SizeStratifiedCoverage",
    "coverage_gap",
    "coverage_hsic",
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


def __dir__() -> list[str]:
    return __all__


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
    Coverage(0.666667 (0.20766 to 0.938508), n=3)
    >>> float(found)
    0.6666666666666666
    >>> lower = [[0.0, 0.5], [2.0, 2.6], [5.0, 5.5]]
    >>> upper = [[1.0, 0.9], [3.0, 2.9], [6.0, 5.6]]
    >>> interval_coverage([1.0, 2.5, 4.0], (lower, upper)).value
    array([0.66666667, 0.        ])
    """
    require_outcomes(y_true)
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
    y_true : array of shape (n,)
        What happened.
    intervals : array of shape (n, 2) or (n, 2, k), or a pair of arrays
        The lower and the upper bounds, as for `interval_coverage`.
    confidence_level : float, or one a level
        The nominal level c of the intervals.
    sample_weight, nan_policy, crossed
        As for `interval_coverage`.

    Returns
    -------
    float, or array of shape (k,) for k > 1 levels

    Examples
    --------
    >>> interval_score([1.0, 4.0], [[0.0, 1.0], [2.0, 3.0]], confidence_level=0.75)
    5.0
    """
    require_outcomes(y_true)
    levels = nominal_levels(confidence_level)
    state = _state(y_true, intervals, levels, sample_weight, nan_policy, crossed)
    return by_level([state.score(i, level) for i, level in enumerate(levels)])


def coverage_width_criterion(
    y_true: ArrayLike,
    intervals: Any,
    *,
    confidence_level: float | ArrayLike,
    eta: float = 30.0,
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
    y_true : array of shape (n,)
        What happened.
    intervals : array of shape (n, 2) or (n, 2, k), or a pair of arrays
        The lower and the upper bounds, as for `interval_coverage`.
    confidence_level : float, or one a level
        The nominal level c of the intervals.
    eta : float
        How much a wrong coverage costs. With 30, a coverage that is off by 0.1 costs a quarter.
    sample_weight, nan_policy, crossed
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
    >>> coverage_width_criterion(y, intervals, confidence_level=0.5)
    0.75
    """
    require_outcomes(y_true)
    levels = nominal_levels(confidence_level)
    eta = checked_eta(eta)
    state = _state(y_true, intervals, levels, sample_weight, nan_policy, crossed)
    if state.least_y == state.largest_y:
        raise ValueError(
            f"y_true must hold two different values, found only {state.least_y}: widths are "
            f"compared with its range"
        )
    return by_level([state.criterion(i, level, eta) for i, level in enumerate(levels)])


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
    y_true : array of shape (n,)
        What happened.
    intervals : array of shape (n, 2) or (n, 2, k), or a pair of arrays
        The lower and the upper bounds, as for `interval_coverage`.
    confidence_level : float, or one a level
        The nominal levels of the intervals.
    n_groups : int
        Groups of the coverage by width.
    eta : float
        Of `coverage_width_criterion`.
    ci_level, ci_method, sample_weight, nan_policy, crossed
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
    require_outcomes(y_true)
    groups = checked_groups(n_groups)
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
