"""Test whether two samples are of one law, by their maximum mean discrepancy."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibrant import _core
from calibrant._input.draws import checked_seed
from calibrant._input.validation import checked_callable, checked_count
from calibrant._result import Result
from calibrant.samples._mmd import (
    Bandwidth,
    Estimator,
    Kernel,
    bandwidths_of,
    checked_estimator,
    n_rows,
    require_pairs,
    rows_of_blocks,
)

if TYPE_CHECKING:
    from calibrant.plotting import MMDTestDisplay

__all__ = ["MMDTest", "mmd_test"]


@dataclass(frozen=True, repr=False, eq=False)
class MMDTest(Result):
    """What a test of two samples says.

    Attributes
    ----------
    statistic : float
        The squared MMD; with several bandwidths, the mean of theirs.
    pvalue : float
        The probability of such a statistic, or a larger one, if both samples are of one law.
    log_pvalue : float
        Its natural logarithm.
    method : {"permutation", "exact", "normal"}
        Random splits of the pooled rows; all splits; or the normal law of a mean of terms.
    bandwidths : tuple of float
        Those used; none for the polynomial kernel.
    standard_error : float or None
        Of the statistic; of method "normal" only.
    n, m : int
        Rows of x and of y.
    n_permutations : int
        Splits, 0 for method "normal".
    n_terms : int
        Of which the statistic is the mean, 0 for the other methods.
    kernel, estimator : str
    null : array or None
        The statistics of the splits. Its quantiles are the critical values of the test.
    """

    __test__ = False  # no test of pytest's

    statistic: float
    pvalue: float
    log_pvalue: float
    method: str
    bandwidths: tuple[float, ...] = ()
    standard_error: float | None = None
    n: int = 0
    m: int = 0
    n_permutations: int = 0
    n_terms: int = 0
    kernel: str = "gaussian"
    estimator: str = "biased"
    null: NDArray[np.float64] | None = field(default=None, repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields by name, ready for JSON; the null statistics as a list."""
        content = super().to_dict()
        content["null"] = None if self.null is None else self.null.tolist()
        return content

    def plot(self, ax: Any = None, *, name: str | None = None, **options: Any) -> MMDTestDisplay:
        """Draw the null distribution with the statistic in it; needs matplotlib.

        Parameters
        ----------
        ax : matplotlib axes, optional
        name : str, optional
            What the legend calls the statistic.
        **options
            Those of `calibrant.plotting.MMDTestDisplay`.
        """
        from calibrant.plotting import MMDTestDisplay

        return MMDTestDisplay(self).plot(ax, name=name, **options)


def mmd_test(
    x: ArrayLike,
    y: ArrayLike,
    *,
    bandwidth: Bandwidth = "median",
    kernel: Kernel = "gaussian",
    estimator: Estimator = "biased",
    block_size: int | None = None,
    n_permutations: int = 1000,
    seed: int = 0,
    progress: Callable[[float], None] | None = None,
) -> MMDTest:
    r"""Test whether two samples are of one law, by their squared MMD.

    For the biased and the unbiased estimator, by permutation: rows of both samples are pooled and
    split anew, B times, and :math:`p = (1 + \#\{T_b \ge T\}) / (1 + B)`. It is a valid test for
    any n and m, if the rows are independent. Where there are no more than B splits in all, each is
    taken once, and p is the share with :math:`T_b \ge T`, the split at hand included. All splits
    are done in one pass over the pairs of rows.

    For the linear and the block estimator, a mean of independent terms, the p-value is that of the
    normal law, upper tail. It needs many terms.

    Parameters
    ----------
    x, y, kernel, estimator, block_size
        As for `mmd`.
    bandwidth
        As for `mmd`; with several, the statistic is the mean of theirs, which is the squared MMD
        of the mean kernel. "median" does not look at which row is of which sample.
    n_permutations : int
        B, at least 1.
    seed : int, 0 <= seed < 2^64
        The splits are a function of the seed, n and m alone, on every machine and for any number
        of threads.
    progress : callable, optional
        Called now and then, in this thread, with the share of the splits' work done, up to 1.

    Returns
    -------
    MMDTest

    Examples
    --------
    >>> x, y = [0.0, 1.0, 2.0], [1.0, 3.0, 4.0]
    >>> mmd_test(x, y, bandwidth=1.0).pvalue  # of 20 splits
    0.4
    >>> rng = np.random.default_rng(0)
    >>> result = mmd_test(rng.normal(size=(50, 2)), rng.normal(1.0, size=(60, 2)))
    >>> result.method, result.pvalue < 0.01
    ('permutation', True)
    """
    checked_estimator(estimator, block_size)
    if estimator in ("linear", "block"):
        return _normal_test(x, y, bandwidth, kernel, estimator, block_size)
    n_permutations = checked_count(n_permutations, "n_permutations", most=2**32 - 1)
    seed = checked_seed(seed)
    checked_callable(progress, "progress")
    if estimator == "unbiased":
        require_pairs(x, y)
    bandwidths = bandwidths_of(x, y, bandwidth, kernel)
    n, m = n_rows(x), n_rows(y)
    is_exact = _has_few_splits(n, m, n_permutations)
    count = math.comb(n + m, n) if is_exact else n_permutations
    run = _core.MmdNull(x, y, bandwidths, kernel, count, seed, is_exact)
    share = 0.0
    while share < 1.0:
        share = run.advance()
        if progress is not None:
            progress(share)
    statistic, slack, null = run.statistics(estimator == "unbiased")
    null.flags.writeable = False
    beyond = int(np.count_nonzero(null >= statistic - slack))
    pvalue = beyond / count if is_exact else (1 + beyond) / (1 + count)
    return MMDTest(
        statistic, pvalue, math.log(pvalue), "exact" if is_exact else "permutation",
        () if kernel == "polynomial" else tuple(bandwidths), None, n, m, count, 0, kernel,
        estimator, null,
    )  # fmt: skip


def _has_few_splits(n: int, m: int, most: int) -> bool:
    """Whether there are at most so many; their number can be astronomic."""
    return min(n, m) <= 32 and math.comb(n + m, n) <= most  # at least 2^min(n, m)


def _normal_test(
    x: Any, y: Any, bandwidth: Bandwidth, kernel: str, estimator: str, block_size: int | None
) -> MMDTest:
    size = rows_of_blocks(x, y, estimator, block_size)
    n = n_rows(x)
    n_terms = n // (size or 2)
    if n_terms < 2:
        raise ValueError(f"a test by terms needs at least 2 of them, got {n_terms}")
    bandwidths = bandwidths_of(x, y, bandwidth, kernel)
    mean, error, n_terms = _core.mmd_of_blocks(x, y, bandwidths, kernel, size)
    # Terms that are all the same are 0 if both samples are constant and equal.
    z = mean / error if error > 0 else math.copysign(math.inf, mean) if mean else 0.0
    pvalue, log_pvalue = float(_core.normal_sf([z])[0]), float(_core.normal_log_sf([z])[0])
    return MMDTest(
        mean, pvalue, log_pvalue, "normal", () if kernel == "polynomial" else tuple(bandwidths),
        error, n, n, 0, n_terms, kernel, estimator,
    )  # fmt: skip
