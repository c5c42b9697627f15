"""Are ranks uniform, as those of calibrated posteriors are? Public in `calibrant.ranks`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibrant import _core
from calibrant._input.columns import read_numbers
from calibrant._input.validation import checked_choice, checked_count
from calibrant._result import holm
from calibrant.cumulative._test_result import TestResult
from calibrant.intervals._confidence import checked_level
from calibrant.ranks._curves import coverage_curves, rank_cuts, rank_ecdf
from calibrant.ranks._histogram import default_bins, rank_histogram
from calibrant.ranks._results import RankCalibration, RankDimension
from calibrant.ranks._verdict import RankKind, overall_verdict, rank_verdict

__all__ = ["RankCalibration", "RankDimension", "RankKind", "from_counts", "rank_calibration"]

#: N (M + 1) must be below this, for whole numbers to be exact.
LARGEST_PRODUCT = 2**62


def rank_calibration(
    ranks: ArrayLike,
    n_draws: int,
    *,
    prob: float = 0.95,
    n_bins: int | None = None,
    kind: RankKind = "marginal",
    names: Sequence[str] | None = None,
) -> RankCalibration:
    """Are the ranks of truths among draws uniform, as those of calibrated posteriors are?

    For each of N pairs of data and truth, the rank is the number of the posterior's M draws that
    are below the truth. If the posterior is right, the truth is one more draw, and its rank is
    uniform on the M + 1 values 0, ..., M, for any M. This is tested four ways, all from the
    number of times each rank was found: by the chi-square test of a histogram, by two z for a
    tilt and for a hump or a U, by the Kolmogorov-Smirnov distance, and by the gamma test of
    Sailynoja, Buerkner and Vehtari [1]_, which belongs to the simultaneous band of the ECDF
    difference. p-values of the latter two are exact for discrete ranks and finite N.

    Parameters
    ----------
    ranks : array of shape (N,) or (N, D), whole numbers from 0 to n_draws
        For D quantities, such as the parameters of the model.
    n_draws : int
        M, the draws that each rank was counted among.
    prob : float
        Of bands and intervals; the verdict is at the level 1 - prob.
    n_bins : int, optional
        Of the histogram, from 2 to M + 1. By default at most 20, with 5 ranks or more expected of
        each, of equal size where M + 1 allows.
    kind : {"marginal", "energy", "tarp"}
        What was ranked, which decides the words of the verdict and which sets of ranks are
        regions: "marginal" for values (a high rank: a large truth), "energy" for minus log
        densities (a high rank: an improbable truth), "tarp" for distances from references.
    names : sequence of D str, optional
        What the dimensions are called.

    Returns
    -------
    RankCalibration

    Notes
    -----
    The gamma test decides about each dimension, and Holm's method corrects for D of them. The
    verdict starts with "calibrated", "over-dispersed" (the posterior is too wide),
    "under-dispersed" (too narrow), "biased up" (too high), "biased down" (too low), or
    "miscalibrated".

    Draws must be independent. Those of a Markov chain are not: thin them to about the effective
    sample size, or a correct posterior will look under-dispersed.

    Calibration is not sharpness: a posterior that ignores the data and returns the prior has
    uniform ranks, too.

    References
    ----------
    .. [1] T. Sailynoja, P.-C. Buerkner, A. Vehtari, "Graphical test for discrete uniformity and
       its applications in goodness-of-fit evaluation and multiple sample comparison", Statistics
       and Computing 32, 2022.

    Examples
    --------
    >>> found = rank_calibration([0, 1, 0, 0, 1, 0, 0, 2, 0, 1, 0, 0], 4)
    >>> found.verdict
    'biased up: too many low ranks, truths below the draws: the posterior is too high'
    >>> found.gamma_test.pvalue, found.ecdf.inside
    (0.000739721..., False)
    """
    counts = count_ranks(ranks, n_draws)
    return from_counts(counts, prob=prob, n_bins=n_bins, kind=kind, names=names)


def _whole(value: Any, name: str) -> int:
    return checked_count(value, name, least=-(2**63))


def count_ranks(ranks: ArrayLike, n_draws: int) -> NDArray[np.int64]:
    """Count each rank from 0 to n_draws, for every dimension: an array of shape (D, M + 1)."""
    n_draws = _whole(n_draws, "n_draws")
    if n_draws < 1:
        raise ValueError(f"n_draws must be at least 1, got {n_draws}")
    found = read_numbers(ranks, "ranks", "whole numbers")
    if found.ndim not in (1, 2):
        raise ValueError(f"ranks must have shape (n,) or (n, d), got {found.shape}")
    if found.size == 0:
        raise ValueError(f"ranks must hold at least one rank, got shape {found.shape}")
    if found.dtype.kind not in "iuf" or found.dtype.itemsize > 8:
        raise TypeError(f"ranks must hold whole numbers, got dtype {found.dtype}")
    table = found.reshape(len(found), -1)
    bad = ~((table >= 0) & (table <= n_draws))
    if table.dtype.kind == "f":
        bad |= table != np.floor(table)
    if bad.any():
        row, column = (int(i[0]) for i in np.nonzero(bad))
        where = f"row {row}" + (f", dimension {column}" if found.ndim == 2 else "")
        raise ValueError(
            f"ranks must be whole numbers from 0 to n_draws = {n_draws}, "
            f"found {table[row, column]} at {where}"
        )
    columns = table.astype(np.int64, copy=False).T
    return np.stack([np.bincount(column, minlength=n_draws + 1) for column in columns])


def from_counts(
    counts: NDArray[np.int64],
    *,
    prob: float = 0.95,
    n_bins: int | None = None,
    kind: RankKind = "marginal",
    names: Sequence[str] | None = None,
) -> RankCalibration:
    """Do the same for ranks that are counted: counts[d, r] times rank r, in dimension d."""
    counts, n = _checked_counts(counts)
    prob = checked_level(prob, "prob")
    checked_choice(kind, "kind", ("marginal", "energy", "tarp"))
    n_dimensions, n_ranks = counts.shape
    bins = default_bins(n, n_ranks) if n_bins is None else _whole(n_bins, "n_bins")
    if not 2 <= bins <= n_ranks:
        raise ValueError(f"n_bins must be from 2 to n_draws + 1 = {n_ranks}, got {bins}")
    titles = _checked_names(names, n_dimensions)
    tests = [_gamma_test(row, n) for row in counts]
    adjusted = holm([test.pvalue for test in tests])
    dimensions = tuple(
        _dimension(title, row, test, pvalue, bins, prob, kind)
        for title, row, test, pvalue in zip(titles, counts, tests, adjusted, strict=True)
    )
    verdict = overall_verdict(titles, [d.verdict for d in dimensions], adjusted, prob)
    return RankCalibration(dimensions, min(adjusted), verdict, n, n_ranks - 1, prob, kind)


def _gamma_test(row: NDArray[np.int64], n: int) -> TestResult:
    return TestResult(*_core.rank_gamma_test(n, len(row), rank_cuts(row)[1]), "less", n)


def _dimension(
    name: str,
    row: NDArray[np.int64],
    gamma_test: TestResult,
    adjusted_pvalue: float,
    n_bins: int,
    prob: float,
    kind: RankKind,
) -> RankDimension:
    n, n_ranks = gamma_test.n, len(row)
    cuts, below = rank_cuts(row)
    histogram = rank_histogram(row, n_bins, prob)
    central, one_sided = coverage_curves(cuts, below, n, n_ranks, prob)
    return RankDimension(
        name,
        rank_verdict(histogram, adjusted_pvalue, n_ranks, prob, kind),
        adjusted_pvalue,
        gamma_test,
        TestResult(*_core.rank_ks_test(n, n_ranks, below), "greater", n),
        histogram,
        rank_ecdf(cuts, below, n, n_ranks, prob),
        central,
        one_sided,
    )


def _checked_counts(counts: Any) -> tuple[NDArray[np.int64], int]:
    counts = np.ascontiguousarray(counts, dtype=np.int64)
    if counts.ndim != 2 or counts.shape[0] < 1 or counts.shape[1] < 2:
        raise ValueError(f"counts must have shape (d, n_draws + 1), got {counts.shape}")
    if (counts < 0).any():
        raise ValueError(f"counts must not be negative, found {counts.min()}")
    totals = counts.sum(axis=1)
    n = int(totals[0])
    if n < 1:
        raise ValueError("rank calibration needs at least one rank, got none")
    if (totals != n).any():
        raise ValueError(f"all dimensions must have as many ranks, got {totals.tolist()}")
    if n * counts.shape[1] >= LARGEST_PRODUCT:
        raise ValueError(f"{n} ranks among {counts.shape[1] - 1} draws are too many")
    return counts, n


def _checked_names(names: Any, n_dimensions: int) -> list[str]:
    if names is None:
        return [f"dimension {i}" for i in range(n_dimensions)]
    titles = [str(name) for name in names]
    if len(titles) != n_dimensions:
        raise ValueError(f"names must name {n_dimensions} dimensions, got {len(titles)}")
    return titles
