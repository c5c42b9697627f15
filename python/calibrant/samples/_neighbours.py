"""Density, coverage, precision and recall of generated samples; public in `calibrant.samples`."""

from __future__ import annotations

import math
from dataclasses import dataclass

from numpy.typing import ArrayLike

from calibrant import _core
from calibrant._input.validation import checked_count
from calibrant._result import Result

__all__ = ["DensityCoverage", "PrecisionRecall", "density_coverage", "precision_recall"]


@dataclass(frozen=True, repr=False)
class DensityCoverage(Result):
    """How much generated samples look like real ones, and how many of the real ones they reach.

    Attributes
    ----------
    density : float
        The mean over generated rows of the number of real balls around it, over k. Above 1 if
        they keep to where real rows are dense.
    coverage : float
        The share of real rows whose ball holds a generated one.
    expected_coverage : float
        Its mean if both samples came from one continuous law.
    k, n_real, n_generated : int
    expected_density : float
        The same of the density: 1.
    n_degenerate : int
        Real rows with k or more duplicates. Their balls have radius 0 and hold nothing.
    """

    density: float
    coverage: float
    expected_coverage: float
    k: int
    n_real: int
    n_generated: int
    expected_density: float = 1.0
    n_degenerate: int = 0


@dataclass(frozen=True, repr=False)
class PrecisionRecall(Result):
    """How many generated samples look real, and how many real ones could have been generated.

    Attributes
    ----------
    precision : float
        The share of generated rows inside at least one real ball.
    recall : float
        The share of real rows inside at least one generated ball.
    k, n_real, n_generated : int
    n_degenerate_real, n_degenerate_generated : int
        Rows with k or more duplicates in their own sample. Their balls have radius 0 and hold
        nothing.
    """

    precision: float
    recall: float
    k: int
    n_real: int
    n_generated: int
    n_degenerate_real: int = 0
    n_degenerate_generated: int = 0


def density_coverage(real: ArrayLike, generated: ArrayLike, *, k: int = 5) -> DensityCoverage:
    r"""Density and coverage of generated samples (Naeem et al. 2020).

    The ball of a real row reaches to its k-th nearest *other* real row, and does not hold its
    border: a generated row lies inside if its distance is less. With n real and m generated rows
    from one continuous law the density is 1 and the coverage
    :math:`1 - \prod_{i=1}^{k} (n - i) / (n + m - i)` on average.

    Parameters
    ----------
    real, generated : array of shape (n, d) and (m, d), or (n,) and (m,)
        Finite. Distances are Euclidean: scale the columns as their differences matter.
    k : int, 1 <= k < n

    Returns
    -------
    DensityCoverage

    Examples
    --------
    >>> result = density_coverage([0, 1, 2, 10], [0.5, 5, 5.2, 20], k=2)
    >>> result.density, result.coverage, round(result.expected_coverage, 4)
    (0.625, 1.0, 0.8571)
    """
    counts = _core.count_balls(real, generated, _check_k(k), False)
    n, m = counts["n_real"], counts["n_generated"]
    return DensityCoverage(
        counts["pairs"] / (k * m), counts["covered"] / n, _expected_coverage(n, m, k), k, n, m,
        n_degenerate=counts["real_zeros"],
    )  # fmt: skip


def precision_recall(real: ArrayLike, generated: ArrayLike, *, k: int = 5) -> PrecisionRecall:
    """Precision and recall of generated samples (Kynkäänniemi et al. 2019).

    A row lies in the ball of a row of the other sample if its distance is less than that of the
    other row to its k-th nearest neighbour in its own sample.

    Parameters
    ----------
    real, generated : array of shape (n, d) and (m, d), or (n,) and (m,)
        Finite. Distances are Euclidean: scale the columns as their differences matter.
    k : int, 1 <= k < n and m

    Returns
    -------
    PrecisionRecall

    Examples
    --------
    >>> precision_recall([0, 1, 2, 10], [0.5, 5, 5.2, 20], k=1)
    PrecisionRecall(precision=0.75, recall=1, k=1, n_real=4, n_generated=4)
    """
    counts = _core.count_balls(real, generated, _check_k(k), True)
    n, m = counts["n_real"], counts["n_generated"]
    return PrecisionRecall(
        counts["precise"] / m, counts["recalled"] / n, k, n, m,
        counts["real_zeros"], counts["generated_zeros"],
    )  # fmt: skip


def _check_k(k: int) -> int:
    return checked_count(k, "k")


def _expected_coverage(n: int, m: int, k: int) -> float:
    """1 less the probability that the k nearest of the n - 1 + m others are all real."""
    logs = (math.log1p(-m / (n + m - i)) for i in range(1, k + 1))
    return -math.expm1(math.fsum(logs))
