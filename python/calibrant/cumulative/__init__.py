"""Tests of calibration, and the laws of their statistics.

A test says how surprising the rows are if the scores are the true probabilities. Its p-value is
computed in the tail itself, never as 1 - cdf, and comes with its logarithm, which goes on where
the p-value is 0.

The Brownian laws are those of the cumulative differences between scores and hits, which under the
null hypothesis move like a Brownian motion B on [0, 1]: max \\|B\\| is the law of the KS statistic,
max B - min B that of Kuiper's. Neither is the law of the tests of the same names for samples
from a distribution, where B is a bridge.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibrant import _core
from calibrant._input.columns import resolve
from calibrant._input.labels import event_rows
from calibrant._input.validation import MultiClass, NanPolicy, check_nan_policy
from calibrant.cumulative._curve import CumulativeDifferences, cumulative_differences
from calibrant.cumulative._test_result import (
    ClasswiseTestResult,
    GroupwiseTestResult,
    Method,
    TestResult,
    checked_method,
)
from calibrant.cumulative._tests import CumulativeTests, cumulative_tests, ks_test, kuiper_test

if TYPE_CHECKING:
    from calibrant.roc import (
        RocCurve as RocCurve,
        accuracy_rejection_auc as accuracy_rejection_auc,
        roc_auc as roc_auc,
        roc_curve as roc_curve,
    )

__all__ = [
    "ClasswiseTestResult",
    "CumulativeDifferences",
    "CumulativeTests",
    "GroupwiseTestResult",
    "RocCurve",
    "TestResult",
    "accuracy_rejection_auc",
    "brownian_range_cdf",
    "brownian_range_log_sf",
    "brownian_range_sf",
    "brownian_sup_cdf",
    "brownian_sup_log_sf",
    "brownian_sup_sf",
    "cumulative_differences",
    "cumulative_tests",
    "ks_test",
    "kuiper_test",
    "roc_auc",
    "roc_curve",
    "spiegelhalter_test",
]


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    if name not in ("RocCurve", "accuracy_rejection_auc", "roc_auc", "roc_curve"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from calibrant import roc

    return getattr(roc, name)


Alternative = Literal["two-sided", "greater", "less"]


def spiegelhalter_test(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    *,
    alternative: Alternative = "two-sided",
    method: Method = "asymptotic",
    n_simulations: int = 9999,
    seed: int = 0,
    sample_weight: ArrayLike | None = None,
    pos_label: object | None = None,
    labels: ArrayLike | None = None,
    multi_class: MultiClass = "auto",
    nan_policy: NanPolicy = "raise",
) -> TestResult:
    """Spiegelhalter's test: is the Brier score what the scores lead one to expect?

    With y = 1 for a hit, else 0, and p the score,

        z = sum w (y - p) (1 - 2p) / sqrt(sum w (1 - 2p)^2 p (1 - p)),

    the Brier score less its expectation, over its standard deviation if the scores are the true
    probabilities [1]_. z > 0 means that the Brier score is worse than expected, as for scores too
    near 0 and 1 (overconfident); z < 0 that it is better (underconfident).

    Parameters
    ----------
    y_true : array of shape (n,)
        Class codes, 0 to k - 1.
    y_proba : array of shape (n,) or (n, k), values in [0, 1]
        The score is the probability of class 1, a hit is label 1; with k columns the score is
        the largest probability of the row, and a hit that its class (the first of equals) is
        the label.
    alternative : {"two-sided", "greater", "less"}
        Whether far, large or small z speak against the scores.
    method : {"asymptotic", "simulated"}
        "asymptotic" takes the p-value from the normal law, which holds in large samples; where few
        events are expected, one-sided tests reject too often. "simulated" draws the outcomes of
        all rows from their scores, as for `ks_test`, and holds for any number of rows.
    n_simulations, seed : int
        For "simulated", as for `ks_test`.
    sample_weight : array of shape (n,), finite and not negative, optional
        A row of weight 2 counts like two rows: weights enter the variance as they are, not
        squared. They are numbers of rows, so scaling them scales z.
    pos_label, labels, multi_class, nan_policy
        As for `calibrant.risk_profile`.

    Returns
    -------
    TestResult

    See Also
    --------
    calibrant.streaming.Spiegelhalter : the same for batches and many machines

    Notes
    -----
    If all scores are 0, 1/2 or 1, the variance is 0. Then z is 0 and p is 1, unless a certain
    forecast was wrong: then z is infinite and p is 0 (1 for the alternative "less").

    MAPIE's ``spiegelhalter_p_value`` is that of the alternative "greater", as 1 - cdf: it finds
    no fault with underconfident scores and is 0 from z = 8.3 on.

    References
    ----------
    .. [1] D. J. Spiegelhalter, "Probabilistic prediction in patient management and clinical
       trials", Statistics in Medicine 5, 1986.

    Examples
    --------
    >>> spiegelhalter_test([0, 1, 1, 0], [0.25, 0.75, 0.5, 0.125])
    TestResult(statistic=-0.872357, pvalue=0.383014, log_pvalue=-0.959684, n=4)
    >>> spiegelhalter_test([0, 1] * 5000, [0.9, 0.1] * 5000)
    TestResult(statistic=300, pvalue=0, log_pvalue=-45005.9, n=10000)
    """
    simulation = checked_method(method, n_simulations, seed)
    codes, y_proba = event_rows(
        y_true, y_proba, labels=labels, pos_label=pos_label, multi_class=multi_class
    )
    rows = (codes, y_proba, sample_weight, check_nan_policy(nan_policy))
    state = _core.Spiegelhalter()
    state.update(*rows)
    result = TestResult._of(state, alternative)
    if simulation is None:
        return result
    pvalue = _core.simulated_spiegelhalter(
        *rows, alternative, simulation.n_simulations, simulation.seed
    )
    return simulation.marked(replace(result, pvalue=pvalue, log_pvalue=math.log(pvalue)))


def _each(function: Callable[[Any], NDArray[np.float64]], x: Any) -> Any:
    if isinstance(x, numbers.Real):
        return float(function([float(x)])[0])
    values = x if type(x) is np.ndarray else resolve(x, "x")
    if isinstance(values, np.ndarray):
        return function(values.reshape(-1)).reshape(values.shape)
    return function(x)


@overload
def brownian_sup_cdf(x: float) -> float: ...
@overload
def brownian_sup_cdf(x: ArrayLike) -> NDArray[np.float64]: ...
def brownian_sup_cdf(x: ArrayLike) -> float | NDArray[np.float64]:
    """Probability that max \\|B\\| <= x, for a Brownian motion B on [0, 1].

    The limit law of the KS statistic of calibration. The relative error is below 1e-15.

    Parameters
    ----------
    x : float or array of any shape
        0 and below give 0. NaN is rejected.

    Examples
    --------
    >>> brownian_sup_cdf(1.0)
    0.3707774297995239
    """
    return _each(_core.brownian_sup_cdf, x)  # type: ignore[no-any-return]


@overload
def brownian_sup_sf(x: float) -> float: ...
@overload
def brownian_sup_sf(x: ArrayLike) -> NDArray[np.float64]: ...
def brownian_sup_sf(x: ArrayLike) -> float | NDArray[np.float64]:
    """Probability that max \\|B\\| > x: the p-value of the KS test of calibration.

    The relative error is below 1e-15 down to the least normal double, at x = 37.5.

    Parameters
    ----------
    x : float or array of any shape
        0 and below give 1. NaN is rejected.

    Examples
    --------
    >>> brownian_sup_sf(10)
    3.04794120966421e-23
    """
    return _each(_core.brownian_sup_sf, x)  # type: ignore[no-any-return]


@overload
def brownian_sup_log_sf(x: float) -> float: ...
@overload
def brownian_sup_log_sf(x: ArrayLike) -> NDArray[np.float64]: ...
def brownian_sup_log_sf(x: ArrayLike) -> float | NDArray[np.float64]:
    """Logarithm of `brownian_sup_sf`, finite where that is 0.

    Parameters
    ----------
    x : float or array of any shape
        0 and below give 0. NaN is rejected.

    Examples
    --------
    >>> brownian_sup_log_sf([1, 1000])
    array([-4.63270237e-01, -5.00006440e+05])
    """
    return _each(_core.brownian_sup_log_sf, x)  # type: ignore[no-any-return]


@overload
def brownian_range_cdf(x: float) -> float: ...
@overload
def brownian_range_cdf(x: ArrayLike) -> NDArray[np.float64]: ...
def brownian_range_cdf(x: ArrayLike) -> float | NDArray[np.float64]:
    """Probability that max B - min B <= x, for a Brownian motion B on [0, 1] from B(0) = 0.

    The limit law of Kuiper's statistic of calibration. The relative error is below 1e-15.

    Parameters
    ----------
    x : float or array of any shape
        0 and below give 0. NaN is rejected.

    Examples
    --------
    >>> brownian_range_cdf(1.5)
    0.48705924576975174
    """
    return _each(_core.brownian_range_cdf, x)  # type: ignore[no-any-return]


@overload
def brownian_range_sf(x: float) -> float: ...
@overload
def brownian_range_sf(x: ArrayLike) -> NDArray[np.float64]: ...
def brownian_range_sf(x: ArrayLike) -> float | NDArray[np.float64]:
    """Probability that max B - min B > x: the p-value of Kuiper's test of calibration.

    The relative error is below 1e-15 down to the least normal double, at x = 37.5.

    Parameters
    ----------
    x : float or array of any shape
        0 and below give 1. NaN is rejected.

    Examples
    --------
    >>> brownian_range_sf(10)
    6.09588241932842e-23
    """
    return _each(_core.brownian_range_sf, x)  # type: ignore[no-any-return]


@overload
def brownian_range_log_sf(x: float) -> float: ...
@overload
def brownian_range_log_sf(x: ArrayLike) -> NDArray[np.float64]: ...
def brownian_range_log_sf(x: ArrayLike) -> float | NDArray[np.float64]:
    """Logarithm of `brownian_range_sf`, finite where that is 0.

    Parameters
    ----------
    x : float or array of any shape
        0 and below give 0. NaN is rejected.

    Examples
    --------
    >>> brownian_range_log_sf(1000.0)
    -500005.7472532705
    """
    return _each(_core.brownian_range_log_sf, x)  # type: ignore[no-any-return]
