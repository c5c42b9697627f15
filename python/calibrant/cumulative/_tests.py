"""Tests by cumulative differences; public in `calibrant.cumulative`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from calibrant import _core
from calibrant._input.columns import shape_of
from calibrant._input.groups import group_codes
from calibrant._input.labels import event_rows
from calibrant._input.subsets import LEFT_OUT, subset_codes
from calibrant._input.validation import MultiClass, NanPolicy, check_nan_policy, checked_choice
from calibrant._result import Result
from calibrant.cumulative._test_result import (
    ClasswiseTestResult,
    GroupwiseTestResult,
    Method,
    Simulation,
    TestResult,
    checked_method,
)

__all__ = ["CumulativeTests", "cumulative_tests", "ks_test", "kuiper_test"]

Classes = Literal["top-label", "per-class"]


class WalkTests(NamedTuple):
    """What the core gives: both tests from one computation."""

    ks: tuple[float, float, float]
    kuiper: tuple[float, float, float]
    sigma: float
    n: int
    n_omitted: int

    def results(self, simulation: Simulation | None = None) -> CumulativeTests:
        """Return both tests; with what was simulated, if the p-values come from that."""

        def result(numbers: tuple[float, float, float]) -> TestResult:
            found = TestResult(*numbers, n=self.n, n_omitted=self.n_omitted, sigma=self.sigma)
            return found if simulation is None else simulation.marked(found)

        return CumulativeTests(result(self.ks), result(self.kuiper))


@dataclass(frozen=True)
class CumulativeTests(Result):
    """Both tests of the cumulative differences.

    Attributes
    ----------
    ks, kuiper : TestResult
        As `ks_test` and `kuiper_test` return them.
    """

    ks: TestResult
    kuiper: TestResult


def cumulative_tests(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    *,
    classes: Classes | None = None,
    subset: Any = None,
    groups: Any = None,
    method: Method = "asymptotic",
    n_simulations: int = 9999,
    seed: int = 0,
    sample_weight: ArrayLike | None = None,
    pos_label: object | None = None,
    labels: ArrayLike | None = None,
    nan_policy: NanPolicy = "raise",
) -> CumulativeTests:
    """KS and Kuiper's tests of calibration together, at the cost of one.

    Parameters
    ----------
    y_true : array of shape (n,)
        Class codes, 0 to k - 1; or what pos_label or labels say.
    y_proba : array of shape (n,) or (n, k), values in [0, 1]
        The score is the probability of class 1, a hit is label 1.
    classes, subset, groups, method, n_simulations, seed
        As for `ks_test`.
    sample_weight, pos_label, labels, nan_policy
        As for `calibrant.risk_profile`.

    Returns
    -------
    CumulativeTests
        ``ks`` and ``kuiper``, the same bits as those of `ks_test` and `kuiper_test`.

    Examples
    --------
    >>> tests = cumulative_tests([0, 1, 1, 0], [0.25, 0.75, 0.5, 0.125])
    >>> tests.ks.statistic, tests.kuiper.statistic
    (0.437594..., 0.875189...)
    """
    if classes is not None:
        checked_choice(classes, "classes", ("top-label", "per-class"))
    if subset is not None and groups is not None:
        raise ValueError("subset and groups cannot both be given")
    if groups is not None and classes == "per-class":
        raise ValueError("groups cannot be tested per class; pass classes='top-label'")
    simulation = checked_method(method, n_simulations, seed)
    if simulation is not None and (subset is not None or groups is not None):
        name = "subset" if groups is None else "groups"
        raise ValueError(
            f"{name} cannot be tested with method='simulated': the hits of a group are compared "
            "with those of all rows, not with the scores"
        )
    omit = check_nan_policy(nan_policy)
    multi_class: MultiClass = "auto" if classes is None else "top_label"
    codes, y_proba = event_rows(
        y_true, y_proba, labels=labels, pos_label=pos_label, multi_class=multi_class
    )
    rows = (codes, y_proba, sample_weight, omit)
    if groups is not None:
        return _of_groups(rows, groups, omit)
    members = None if subset is None else subset_codes(subset)

    def tests(scoring: int) -> CumulativeTests:
        if simulation is not None:
            drawn = (simulation.n_simulations, simulation.seed)
            found_here = _core.simulated_walk_tests(*rows, scoring, *drawn)
            return WalkTests(*found_here).results(simulation)
        if members is None:
            return WalkTests(*_core.walk_tests(*rows, scoring)).results()
        found = _core.subpopulation_tests(*rows, scoring, members, 1, "subset")[0]
        if found is None:
            raise ValueError("subset needs a row with positive weight, got none")
        return WalkTests(*found).results()

    return _of_classes(tests, y_proba) if classes == "per-class" else tests(_core.EITHER)


def _of_classes(tests: Callable[[int], CumulativeTests], y_proba: ArrayLike) -> CumulativeTests:
    shape = shape_of(y_proba) or (0,)
    if len(shape) == 1:
        tests(_core.EITHER)  # which rejects what is no column of probabilities
        raise ValueError("classes='per-class' needs y_proba of shape (n, k), got shape (n,)")
    found = [tests(0)]  # which rejects all other shapes
    found += [tests(j) for j in range(1, shape[1])]
    return CumulativeTests(
        ClasswiseTestResult._of_classes([both.ks for both in found]),
        ClasswiseTestResult._of_classes([both.kuiper for both in found]),
    )


def _of_groups(rows: tuple[Any, Any, Any, bool], groups: Any, omit: bool) -> CumulativeTests:
    members, keys = group_codes(groups, omit=omit)
    members = np.where(members < 0, np.int32(LEFT_OUT), members)
    found = _core.subpopulation_tests(*rows, _core.EITHER, members, len(keys), "groups")
    by_key = {
        key: WalkTests(*numbers).results()
        for key, numbers in zip(keys, found, strict=True)
        if numbers is not None
    }
    if not by_key:
        raise ValueError("the test needs a group with a row of positive weight, got none")
    return CumulativeTests(
        GroupwiseTestResult._of_groups({key: both.ks for key, both in by_key.items()}),
        GroupwiseTestResult._of_groups({key: both.kuiper for key, both in by_key.items()}),
    )


def ks_test(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    *,
    classes: Classes | None = None,
    subset: Any = None,
    groups: Any = None,
    method: Method = "asymptotic",
    n_simulations: int = 9999,
    seed: int = 0,
    sample_weight: ArrayLike | None = None,
    pos_label: object | None = None,
    labels: ArrayLike | None = None,
    nan_policy: NanPolicy = "raise",
) -> TestResult:
    """KS test of calibration: how far the cumulative differences get from 0.

    With the rows in order of their scores s, and y = 1 for a hit, else 0,

        C_k = sum of w (y - s) over the first k rows / sum of w,    C_0 = 0
        statistic = max abs(C_k) / sigma,    sigma = sqrt(sum w s (1 - s)) / sum of w

    over those k after which the score changes: equal scores move together [1]_. If the scores
    are the true probabilities, the statistic has the law of max abs(B) of a Brownian motion,
    `brownian_sup_sf`, in large samples.

    Parameters
    ----------
    y_true : array of shape (n,)
        Class codes, 0 to k - 1.
    y_proba : array of shape (n,) or (n, k), values in [0, 1]
        The score is the probability of class 1, a hit is label 1.
    classes : {"top-label", "per-class"}, optional
        With y_proba of shape (n, k): whether the score is the largest probability of the row,
        and a hit that its class (the first of equals) is the label; or whether each class is
        tested against the rest, with a p-value for all of them (`ClasswiseTestResult`). By
        default the top label; but two columns are a binary problem, whose second column is the
        score, and their rows must sum to 1, up to 0.001.
    subset : array of shape (n,) of booleans, optional
        Test not whether scores are calibrated, but whether these rows have as many hits as all
        rows have at like scores [2]_; see the notes.
    groups : array of shape (n,), optional
        A key for each row, as for `calibrant.scorecard`. Each group is tested as a subset, with
        a p-value for all of them (`GroupwiseTestResult`).
    method : {"asymptotic", "simulated"}
        "asymptotic" takes the p-value from the law of large samples, which holds where the sum of
        s (1 - s) is 20 or more, and rejects too often where it is small. "simulated" draws the
        outcomes of all rows from their scores, `n_simulations` times, and counts those with a
        statistic at least as large: p = (1 + count) / (1 + n_simulations). It holds for any number
        of rows, up to 200,000; weights must then be whole numbers, each the number of rows that it
        stands for. Not with `subset` or `groups`.
    n_simulations, seed : int
        For "simulated". The same seed gives the same p-value, in any order of rows and with any
        number of threads.
    sample_weight : array of shape (n,), finite and not negative, optional
        A row of weight 2 counts like two rows: weights enter the variance as they are, not
        squared. They are numbers of rows, so scaling them scales the statistic.
    pos_label, labels, nan_policy
        As for `calibrant.risk_profile`.

    Returns
    -------
    TestResult

    See Also
    --------
    cumulative_tests : both at the cost of one
    kuiper_test : sees more where errors of both signs follow each other
    cumulative_differences : the curve C
    calibrant.streaming.ScoreTable : bounds for batches and many machines, and a second pass

    Notes
    -----
    If all scores are 0 or 1, sigma is 0. Then the statistic is 0 and p is 1, unless one was wrong:
    then the statistic is infinite and p is 0.

    The walk is computed in exact arithmetic and the statistic rounded once: it does not depend
    on the order of rows. Without weights rows are not sorted, except those near the extremes.

    With ``subset``, each distinct score of the subset has a window, the rows of all whose nearest
    score in the subset it is (the lower of two). With w rows of the subset and h hits, V rows
    of all and H hits in it, the walk moves by h - w r, where r = H / V, and

        sigma = sqrt(sum w r (1 - r) (V - w) / (V - 1)) / sum of w

    which is the spread of h if membership has nothing to do with hits. If the subset is all
    there is, the statistic is 0 and p is 1.

    References
    ----------
    .. [1] I. Arrieta-Ibarra, P. Gujral, J. Tannen, M. Tygert, C. Xu, "Metrics of calibration for
       probabilistic predictions", JMLR 23, 2022.
    .. [2] M. Tygert, "Cumulative deviation of a subpopulation from the full population", Journal
       of Big Data 8, 2021.

    Examples
    --------
    >>> ks_test([0, 1, 1, 0], [0.25, 0.75, 0.5, 0.125])
    TestResult(statistic=0.437595, pvalue=0.997973, log_pvalue=-0.00202927, n=4, sigma=0.214239)
    """
    return cumulative_tests(
        y_true, y_proba, classes=classes, subset=subset, groups=groups,
        method=method, n_simulations=n_simulations, seed=seed, sample_weight=sample_weight,
        pos_label=pos_label, labels=labels, nan_policy=nan_policy,
    ).ks  # fmt: skip


def kuiper_test(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    *,
    classes: Classes | None = None,
    subset: Any = None,
    groups: Any = None,
    method: Method = "asymptotic",
    n_simulations: int = 9999,
    seed: int = 0,
    sample_weight: ArrayLike | None = None,
    pos_label: object | None = None,
    labels: ArrayLike | None = None,
    nan_policy: NanPolicy = "raise",
) -> TestResult:
    """Kuiper's test of calibration: the range of the cumulative differences.

    With C_k and sigma as for `ks_test`,

        statistic = (max C_k - min C_k) / sigma,    C_0 = 0 included

    If the scores are the true probabilities, it has the law of max B - min B of a Brownian
    motion, `brownian_range_sf`, in large samples. The range is what the largest deviation over
    any interval of scores adds up to, wherever it lies.

    Parameters
    ----------
    y_true : array of shape (n,)
        Class codes, 0 to k - 1.
    y_proba : array of shape (n,) or (n, k), values in [0, 1]
    classes, subset, groups, method, n_simulations, seed
        As for `ks_test`.
    sample_weight, pos_label, labels, nan_policy
        As for `ks_test`.

    Returns
    -------
    TestResult

    Notes
    -----
    Some texts print the range of abs(C_k), or leave C_0 out: neither has that law.

    Examples
    --------
    >>> kuiper_test([0, 1, 1, 0], [0.25, 0.75, 0.5, 0.125])
    TestResult(statistic=0.87519, pvalue=0.98208, log_pvalue=-0.0180824, n=4, sigma=0.214239)
    """
    return cumulative_tests(
        y_true, y_proba, classes=classes, subset=subset, groups=groups,
        method=method, n_simulations=n_simulations, seed=seed, sample_weight=sample_weight,
        pos_label=pos_label, labels=labels, nan_policy=nan_policy,
    ).kuiper  # fmt: skip
