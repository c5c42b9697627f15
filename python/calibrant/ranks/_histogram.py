"""How many ranks each bin holds, and three tests of that; public in `calibrant.ranks`."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calibrant import _core
from calibrant._result import ArraysResult
from calibrant.cumulative._test_result import TestResult

__all__ = ["RankHistogram", "default_bins", "rank_histogram"]

#: Of bins, by default.
MOST_BINS = 20
#: A bin must lead one to expect this many ranks for the chi-square law to be good.
LEAST_EXPECTED = 5


@dataclass(frozen=True, repr=False, eq=False)
class RankHistogram(ArraysResult):
    """Ranks, counted in bins.

    Bins hold whole ranks. Where they cannot all hold equally many, as 20 bins of the ranks 0 to
    100, what is expected of a bin is in proportion.

    Attributes
    ----------
    edges : int array of shape (B + 1,)
        Bin b holds the ranks edges[b], ..., edges[b + 1] - 1.
    counts : int array of shape (B,)
        Ranks found in each bin.
    expected : array of shape (B,)
        N (ranks in the bin) / (M + 1).
    low, high : int array of shape (B,)
        The band: calibrated ranks keep all counts within it with probability `prob` at least. It
        holds the binomial quantiles of (1 - prob) / (2 B) on either side (Bonferroni).
    chi_square : TestResult
        Pearson's test: the sum of (counts - expected)^2 / expected.
    df : int
        Its degrees of freedom, B - 1.
    bias : TestResult
        z of the mean of u = (rank + 1/2) / (M + 1), which is 1/2 for calibrated ranks, with the
        exact variance of u. Positive: too many high ranks.
    dispersion : TestResult
        z of the mean of (u - 1/2)^2, with its exact variance. Positive: too many extreme ranks.
    note : str
        What to mind; else empty.
    """

    edges: NDArray[np.int64]
    counts: NDArray[np.int64]
    expected: NDArray[np.float64]
    low: NDArray[np.int64]
    high: NDArray[np.int64]
    chi_square: TestResult
    df: int
    bias: TestResult
    dispersion: TestResult
    note: str = ""

    @property
    def heights(self) -> NDArray[np.float64]:
        """Counts over what is expected: 1 everywhere for perfectly even ranks."""
        return np.asarray(self.counts / self.expected)

    def __repr__(self) -> str:
        return (
            f"RankHistogram({len(self.counts)} bins, chi_square={self.chi_square.statistic:.6g}, "
            f"df={self.df}, pvalue={self.chi_square.pvalue:.6g}, "
            f"bias z={self.bias.statistic:.6g}, dispersion z={self.dispersion.statistic:.6g})"
        )


def default_bins(n: int, n_ranks: int) -> int:
    """Return how many bins to use: at most 20, with 5 ranks or more expected of each, at least 2.

    Bins of equal size are preferred, as long as that costs less than half of them.

    Examples
    --------
    >>> default_bins(1000, 100), default_bins(1000, 101), default_bins(40, 100)
    (20, 20, 5)
    """
    most = min(MOST_BINS, n_ranks)
    while most > 2 and n * (n_ranks // most) < LEAST_EXPECTED * n_ranks:
        most -= 1
    for bins in range(most, most // 2, -1):
        if n_ranks % bins == 0 and bins > 1:
            return bins
    return most


def rank_histogram(counts: NDArray[np.int64], n_bins: int, prob: float) -> RankHistogram:
    """Put the counts of single ranks into bins, and test them."""
    n_ranks = len(counts)
    n = int(counts.sum())
    edges = np.arange(n_bins + 1, dtype=np.int64) * n_ranks // n_bins
    found = np.add.reduceat(counts, edges[:-1])
    sizes = np.diff(edges)
    tail = 0.5 * (1.0 - prob) / n_bins
    bands = {int(size): _core.binomial_interval(n, int(size), n_ranks, tail) for size in set(sizes)}
    low, high = np.array([bands[int(size)] for size in sizes], dtype=np.int64).T
    expected = n * sizes / n_ranks
    rough = expected.min() < LEAST_EXPECTED
    return RankHistogram(
        edges, found, expected, low, high,
        _chi_square(found, sizes, n, n_ranks), n_bins - 1,
        *_components(counts, n, n_ranks),
        f"a bin with fewer than {LEAST_EXPECTED} expected ranks: the chi-square test is rough"
        if rough else "",
    )  # fmt: skip


def _chi_square(
    found: NDArray[np.int64], sizes: NDArray[np.int64], n: int, n_ranks: int
) -> TestResult:
    # (c - e)^2 / e with e = n s / K, in whole numbers: each term is rounded once.
    statistic = math.fsum(
        (n_ranks * c - n * s) ** 2 / (n * n_ranks * s)
        for c, s in zip(found.tolist(), sizes.tolist(), strict=True)
    )
    df = len(found) - 1
    return TestResult(
        statistic, _core.chi_square_sf(statistic, df), _core.chi_square_log_sf(statistic, df),
        "greater", n,
    )  # fmt: skip


def _components(counts: NDArray[np.int64], n: int, n_ranks: int) -> tuple[TestResult, TestResult]:
    # With c = 2 rank - M and K = M + 1, u - 1/2 = c / (2 K). For calibrated ranks c has variance
    # (K^2 - 1) / 3, and c^2 has mean (K^2 - 1) / 3 and variance 4 (K^2 - 1) (K^2 - 4) / 45. The
    # sums are of whole numbers, and exact.
    used = np.flatnonzero(counts).tolist()
    weights = counts[used].tolist()
    centred = [2 * rank - (n_ranks - 1) for rank in used]
    total = sum(w * c for w, c in zip(weights, centred, strict=True))
    squares = sum(w * c * c for w, c in zip(weights, centred, strict=True))
    k2 = n_ranks * n_ranks
    bias = total / math.sqrt(n * (k2 - 1) / 3)
    spread = 4 * (k2 - 1) * (k2 - 4) / 45
    excess = (3 * squares - n * (k2 - 1)) / 3
    dispersion = excess / math.sqrt(n * spread) if spread > 0 else 0.0
    return _normal(bias, n), _normal(dispersion, n)


def _normal(z: float, n: int) -> TestResult:
    return TestResult(
        z, float(_core.normal_two_sided([z])[0]), float(_core.normal_log_two_sided([z])[0]), n=n
    )
