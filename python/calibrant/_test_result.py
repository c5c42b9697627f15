"""What tests of calibration return; public in `calibrant.cumulative`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from calibrant import _core
from calibrant._result import Result

__all__ = ["ClasswiseTestResult", "TestResult"]


@dataclass(frozen=True, repr=False)
class TestResult(Result):
    """What a test of calibration says.

    Attributes
    ----------
    statistic : float
    pvalue : float
        The probability of such a statistic, or one further out, if the scores are right.
    log_pvalue : float
        Its natural logarithm, which is finite where the p-value is too small for a float.
    alternative : {"two-sided", "greater", "less"}
        Which statistics count as further out.
    n, n_omitted : int
        Rows taken in, and rows dropped because a value was missing.
    sigma : float or None
        Of `ks_test` and `kuiper_test`, the scale of the cumulative differences.
    """

    __test__ = False  # no test of pytest's

    statistic: float
    pvalue: float
    log_pvalue: float
    alternative: str = "two-sided"
    n: int = 0
    n_omitted: int = 0
    sigma: float | None = None

    @classmethod
    def _of(cls, state: _core.Spiegelhalter, alternative: str) -> TestResult:
        return cls(
            state.statistic(), state.pvalue(alternative), state.log_pvalue(alternative),
            alternative, state.n, state.n_omitted,
        )  # fmt: skip


@dataclass(frozen=True, repr=False)
class ClasswiseTestResult(TestResult):
    """What a test of each class against the rest says.

    The statistic is that of the class with the least p-value, and the p-value that of the
    hypothesis that all classes are calibrated: the least one times the number of classes
    (Bonferroni), at most 1. It holds however the classes depend on each other.

    Attributes
    ----------
    statistic, pvalue, log_pvalue, alternative, n, n_omitted, sigma
        As in `TestResult`; sigma is that of the same class.
    classes : tuple of TestResult
        The classes one by one, with p-values as they are.
    adjusted_pvalues : tuple of float
        The p-values by Holm's method: the classes whose value is at most alpha can all be called
        miscalibrated, with a probability of at most alpha that one of them is not.
    """

    classes: tuple[TestResult, ...] = ()
    adjusted_pvalues: tuple[float, ...] = ()

    @classmethod
    def _of_classes(cls, classes: Sequence[TestResult]) -> ClasswiseTestResult:
        # By the statistic: it tells classes apart where all p-values are 0.
        order = sorted(range(len(classes)), key=lambda j: -classes[j].statistic)
        adjusted = [0.0] * len(classes)
        largest = 0.0
        for rank, j in enumerate(order):
            largest = max(largest, min(1.0, (len(classes) - rank) * classes[j].pvalue))
            adjusted[j] = largest
        worst = classes[order[0]]
        return cls(
            worst.statistic,
            min(1.0, len(classes) * worst.pvalue),
            min(0.0, math.log(len(classes)) + worst.log_pvalue),
            n=worst.n,
            n_omitted=worst.n_omitted,
            sigma=worst.sigma,
            classes=tuple(classes),
            adjusted_pvalues=tuple(adjusted),
        )
