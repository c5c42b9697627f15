"""What tests of calibration return; public in `calibrant.cumulative`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

from calibrant import _core
from calibrant._input.draws import checked_seed
from calibrant._input.validation import checked_choice, checked_count
from calibrant._result import Result, holm, json_key, plain

__all__ = [
    "ClasswiseTestResult",
    "GroupwiseTestResult",
    "Method",
    "Simulation",
    "TestResult",
    "checked_method",
]

Method = Literal["asymptotic", "simulated"]


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
    method : {"asymptotic", "simulated"}
        Where the p-value comes from: the law of large samples, or outcomes drawn from the scores.
    n_simulations : int
        How often outcomes were drawn, 0 for the method "asymptotic".
    """

    __test__ = False  # no test of pytest's

    statistic: float
    pvalue: float
    log_pvalue: float
    alternative: str = "two-sided"
    n: int = 0
    n_omitted: int = 0
    sigma: float | None = None
    method: str = "asymptotic"
    n_simulations: int = 0

    @classmethod
    def _of(cls, state: _core.Spiegelhalter, alternative: str) -> TestResult:
        checked_choice(alternative, "alternative", ("two-sided", "greater", "less"))
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
    statistic, pvalue, log_pvalue, alternative, n, n_omitted, sigma, method, n_simulations
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
        overall, adjusted = _combined(classes)
        return cls(**overall, classes=tuple(classes), adjusted_pvalues=adjusted)


@dataclass(frozen=True, repr=False)
class GroupwiseTestResult(TestResult):
    """What a test of each group against all rows says.

    As `ClasswiseTestResult`, with groups for classes: the p-value is that of the hypothesis that no
    group deviates from all rows.

    Attributes
    ----------
    statistic, pvalue, log_pvalue, alternative, n, n_omitted, sigma, method, n_simulations
        As in `TestResult`, of the group with the least p-value, which is multiplied by the
        number of groups.
    groups : dict of TestResult
        By the key of the group, for those with a row of positive weight; p-values as they are.
    adjusted_pvalues : dict of float
        The p-values by Holm's method.
    """

    groups: dict[Any, TestResult] = field(default_factory=dict)
    adjusted_pvalues: dict[Any, float] = field(default_factory=dict)

    @classmethod
    def _of_groups(cls, groups: dict[Any, TestResult]) -> GroupwiseTestResult:
        overall, adjusted = _combined(list(groups.values()))
        return cls(
            **overall, groups=groups, adjusted_pvalues=dict(zip(groups, adjusted, strict=True))
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the fields by name, ready for JSON; groups are a list of dicts with a ``key``."""
        content = {f.name: plain(getattr(self, f.name)) for f in fields(TestResult)}
        content["groups"] = [
            {
                "key": json_key(key),
                **test.to_dict(),
                "adjusted_pvalue": self.adjusted_pvalues[key],
            }
            for key, test in self.groups.items()
        ]
        return content

    def __repr__(self) -> str:
        overall = TestResult(**{f.name: getattr(self, f.name) for f in fields(TestResult)})
        inside = repr(overall).removeprefix("TestResult(").removesuffix(")")
        return f"GroupwiseTestResult({inside}, {len(self.groups)} groups)"


def _combined(tests: Sequence[TestResult]) -> tuple[dict[str, Any], tuple[float, ...]]:
    """Return the test of all hypotheses by Bonferroni, and the p-values of each by Holm."""
    adjusted = holm([test.pvalue for test in tests])
    # The statistic tells tests apart where all p-values are 0.
    worst = min(tests, key=lambda test: (test.pvalue, -test.statistic))
    overall = {
        "statistic": worst.statistic,
        "pvalue": min(1.0, len(tests) * worst.pvalue),
        "log_pvalue": min(0.0, math.log(len(tests)) + worst.log_pvalue),
        "n": worst.n,
        "n_omitted": worst.n_omitted,
        "sigma": worst.sigma,
        "method": worst.method,
        "n_simulations": worst.n_simulations,
    }
    return overall, adjusted


@dataclass(frozen=True)
class Simulation:
    """How p-values are found by simulation.

    Attributes
    ----------
    n_simulations, seed : int
    """

    n_simulations: int
    seed: int

    def marked(self, result: TestResult) -> TestResult:
        """Return the result as one of this simulation."""
        return replace(result, method="simulated", n_simulations=self.n_simulations)


def checked_method(method: object, n_simulations: object, seed: object) -> Simulation | None:
    """Return how to simulate, or None for the law of large samples."""
    checked_choice(method, "method", ("asymptotic", "simulated"))
    number = checked_count(n_simulations, "n_simulations", most=2**32 - 1)
    found = Simulation(number, checked_seed(seed))
    return found if method == "simulated" else None
