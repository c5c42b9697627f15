"""Dependence of two samples: HSIC, and a test of independence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from calibrant import _core
from calibrant._input.draws import checked_seed
from calibrant._input.validation import checked_choice, checked_count
from calibrant._result import Result

__all__ = ["HSIC", "HSICTest", "hsic", "hsic_test"]


def __dir__() -> list[str]:
    return __all__


Kernel = Literal["gaussian", "laplace"]
Estimator = Literal["biased", "gretton", "unbiased"]
Bandwidth = float | Sequence[float | None] | None


@dataclass(frozen=True, repr=False)
class HSIC(Result):
    """How much two samples depend on each other.

    Attributes
    ----------
    hsic : float
        0 for independent variables, up to its error; its scale depends on the bandwidths. NaN
        where there is a `reason`.
    reason : str or None
        "constant x" or "constant y": nothing can depend on what does not vary.
    bandwidths : tuple of float
        Those used, of x and of y.
    n : int
    kernel : {"gaussian", "laplace"}
    estimator : {"biased", "gretton", "unbiased"}
    """

    hsic: float
    reason: str | None = None
    bandwidths: tuple[float, float] = (math.nan, math.nan)
    n: int = 0
    kernel: str = "gaussian"
    estimator: str = "biased"

    def __float__(self) -> float:
        return self.hsic

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.array(self.hsic, dtype=dtype)


@dataclass(frozen=True, repr=False)
class HSICTest(Result):
    """What a test of independence says.

    Attributes
    ----------
    statistic : float
        The biased HSIC, trace(KHLH) / n^2.
    pvalue : float
        The probability of such a statistic, or a larger one, if x and y are independent. 1 where
        there is a `reason`.
    log_pvalue : float
        Its natural logarithm.
    method : {"gamma", "permutation"}
    reason : str or None
        "constant x" or "constant y": then there is nothing to test.
    bandwidths : tuple of float
        Those used, of x and of y.
    null_mean, null_variance : float
        Of the statistic over all orders of y, exactly. Of method "gamma" only.
    n, n_permutations : int
    kernel : {"gaussian", "laplace"}
    """

    __test__ = False  # no test of pytest's

    statistic: float
    pvalue: float
    log_pvalue: float
    method: str
    reason: str | None = None
    bandwidths: tuple[float, float] = (math.nan, math.nan)
    null_mean: float | None = None
    null_variance: float | None = None
    n: int = 0
    n_permutations: int = 0
    kernel: str = "gaussian"


def _bandwidth_pair(bandwidth: Bandwidth) -> tuple[float | None, float | None]:
    """One for both, or one each; None is the median distance."""
    if bandwidth is None:
        return None, None
    try:
        if isinstance(bandwidth, Sequence):
            x, y = (None if h is None else float(h) for h in bandwidth)
            return x, y
        return float(bandwidth), float(bandwidth)
    except (TypeError, ValueError):
        raise ValueError(
            f"bandwidth must be a number, a pair of numbers or None, got {bandwidth!r}"
        ) from None


def _answer(x: Any, y: Any, bandwidth: Bandwidth, kernel: str, depth: int, **random: int) -> Any:
    permutations, seed = random.get("permutations", 0), random.get("seed", 0)
    checked_choice(kernel, "kernel", ("gaussian", "laplace"))
    return _core.hsic(x, y, *_bandwidth_pair(bandwidth), kernel, depth, permutations, seed)


def _reason(answer: Any) -> str | None:
    return "constant x" if answer["x_constant"] else "constant y" if answer["y_constant"] else None


def hsic(
    x: ArrayLike,
    y: ArrayLike,
    *,
    bandwidth: Bandwidth = None,
    kernel: Kernel = "gaussian",
    estimator: Estimator = "biased",
) -> HSIC:
    r"""Hilbert-Schmidt independence criterion of two samples, without an n x n matrix.

    With :math:`K_{ij} = k(x_i, x_j)`, :math:`L_{ij} = l(y_i, y_j)` and the centring matrix H, it
    is :math:`\operatorname{trace}(KHLH) / n^2`. For two real variables it takes a time linear in
    n with Gaussian kernels and n log n with Laplace ones; for vectors, n^2 distances, but O(n)
    memory.

    Parameters
    ----------
    x, y : array of shape (n,) or (n, d), finite
    bandwidth : float, pair of float, or None
        h of both, or of x and of y. None, also within the pair, takes the median of the
        distances between rows: exactly for one column, else of at most 1000 evenly spaced rows.
    kernel : {"gaussian", "laplace"}
        exp(-|a - b|^2 / (2 h^2)), or exp(-|a - b| / h) with the sum of absolute differences.
    estimator : {"biased", "gretton", "unbiased"}
        trace / n^2; trace / (n - 1)^2 as in Gretton et al. (2005); or the U-statistic of Song et
        al. (2012), which can be negative and needs 4 rows.

    Returns
    -------
    HSIC

    Examples
    --------
    >>> x = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    >>> y = [0.0, 1.0, 4.0, 9.0, 16.0, 25.0]
    >>> hsic(x, y)
    HSIC(hsic=0.0850889, bandwidths=(2.0, 9.0), n=6)
    >>> hsic(x, y[::-1], bandwidth=(2.0, 9.0), estimator="unbiased")
    HSIC(hsic=0.0907148, bandwidths=(2.0, 9.0), n=6, estimator='unbiased')
    """
    checked_choice(estimator, "estimator", ("biased", "gretton", "unbiased"))
    answer = _answer(x, y, bandwidth, kernel, 1 if estimator == "unbiased" else 0)
    n = answer["n"]
    if estimator == "unbiased" and n < 4:
        raise ValueError(f"an unbiased HSIC needs at least 4 rows, got {n}")
    reason = _reason(answer)
    return HSIC(
        math.nan if reason else answer[estimator],
        reason,
        (answer["x_bandwidth"], answer["y_bandwidth"]),
        n,
        kernel,
        estimator,
    )


def hsic_test(
    x: ArrayLike,
    y: ArrayLike,
    *,
    bandwidth: Bandwidth = None,
    kernel: Kernel = "gaussian",
    method: Literal["gamma", "permutation"] = "gamma",
    n_permutations: int = 1000,
    seed: int = 0,
) -> HSICTest:
    r"""Test whether two samples are independent, by HSIC.

    The gamma law has the exact mean and variance of the statistic over all n! orders of y,
    (Kazi-Aoual et al. 1995), which cost no more than the statistic. It is an approximation, good
    for moderate p-values. Permutations give a valid test of any size:
    :math:`p = (1 + \#\{T_b \ge T\}) / (1 + B)` for B random orders.

    Parameters
    ----------
    x, y : array of shape (n,) or (n, d), finite
    bandwidth, kernel
        As for `hsic`.
    method : {"gamma", "permutation"}
    n_permutations : int
        For method "permutation": B, at least 1.
    seed : int, 0 <= seed < 2^64
        The orders are a function of the seed and n alone, on every machine and for any number of
        threads.

    Returns
    -------
    HSICTest

    Examples
    --------
    >>> x = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]
    >>> y = [0.3, 0.9, 4.1, 9.0, 16.2, 24.7, 36.0, 49.1]
    >>> result = hsic_test(x, y)
    >>> result.pvalue < 0.01
    True
    >>> hsic_test(x, y, method="permutation", n_permutations=999).pvalue < 0.01
    True
    """
    checked_choice(method, "method", ("gamma", "permutation"))
    by_gamma = method == "gamma"
    n_permutations = checked_count(n_permutations, "n_permutations", most=2**32 - 1)
    seed = checked_seed(seed)
    permutations = 0 if by_gamma else n_permutations
    answer = _answer(
        x, y, bandwidth, kernel, 2 if by_gamma else 0, permutations=permutations, seed=seed
    )
    n, reason = answer["n"], _reason(answer)
    if by_gamma and n < 6:
        raise ValueError(f"the gamma law of HSIC needs at least 6 rows, got {n}")
    bandwidths = answer["x_bandwidth"], answer["y_bandwidth"]
    mean = variance = None
    if reason:
        pvalue, log_pvalue = 1.0, 0.0
    elif by_gamma:
        mean, variance = answer["null_mean"], answer["null_variance"]
        pvalue, log_pvalue = _core.gamma_tail(mean**2 / variance, answer["trace"] * mean / variance)
        mean, variance = mean / n**2, variance / n**4
    else:
        pvalue = (1 + answer["exceedances"]) / (1 + n_permutations)
        log_pvalue = math.log(pvalue)
    statistic = math.nan if reason else answer["biased"]
    return HSICTest(
        statistic, pvalue, log_pvalue, method, reason, bandwidths, mean, variance, n,
        permutations, kernel,
    )  # fmt: skip
