"""The curves of ranks: ECDF difference with bands, and coverage; public in `calibrant.ranks`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from calibrant import _core
from calibrant._result import ArraysResult

__all__ = ["CoverageCurve", "RankEcdf", "coverage_curves", "rank_cuts", "rank_ecdf"]

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, repr=False, eq=False)
class RankEcdf(ArraysResult):
    """How far the distribution function of the ranks is from that of uniform ones.

    With K = M + 1 ranks and R(k) the number of ranks below k, the curve is

        sqrt(N) v(t),  v(t) = R(k) / N - t,  at t = k / K, 0 < k < K,

    where R(k) is binomial, exactly, if the ranks are uniform. All cuts k are taken if there are
    at most 1,000, and else 1,000 that are evenly spread. The factor sqrt(N) makes curves and bands
    of different N comparable.

    Attributes
    ----------
    cuts, below : int array of shape (K - 1,)
        k and R(k).
    t, differences : array of shape (K - 1,)
        The curve.
    low, high : array of shape (K - 1,)
        The simultaneous band: the whole curve of calibrated ranks stays inside with probability
        `coverage`, which is `prob` or a little more.
    pointwise_low, pointwise_high : array of shape (K - 1,)
        The band that holds the curve at each single t with probability `prob` or a little more.
    inside : bool
        Whether the curve is inside the simultaneous band, bounds included.
    gamma : float
        The level of the simultaneous band: it leaves out at most gamma / 2 on either side, at
        each t.
    coverage : float
        How probable it is that the curve of calibrated ranks is inside. Exact for N up to 10^6.
    pointwise_coverage : float
        The same for the pointwise band: much less.
    """

    cuts: Counts
    below: Counts
    t: Floats
    differences: Floats
    low: Floats
    high: Floats
    pointwise_low: Floats
    pointwise_high: Floats
    inside: bool
    gamma: float
    coverage: float
    pointwise_coverage: float

    def __repr__(self) -> str:
        where = "inside" if self.inside else "outside"
        return (
            f"RankEcdf({len(self.t)} points, {where} the band, gamma={self.gamma:.6g}, "
            f"coverage={self.coverage:.6g})"
        )


@dataclass(frozen=True, repr=False, eq=False)
class CoverageCurve(ArraysResult):
    """How often nested sets of ranks hold the truth, against how often they should.

    Attributes
    ----------
    levels, coverage : array of shape (c,)
        The share of ranks that the set holds, and of truths whose rank is in it.
    low, high : array of shape (c,)
        Clopper-Pearson intervals of the coverage, each by itself.
    area : float
        Between the curve and the diagonal, positive above it: more truths are covered than the
        level promises.
    """

    levels: Floats
    coverage: Floats
    low: Floats
    high: Floats
    area: float

    def __repr__(self) -> str:
        return f"CoverageCurve({len(self.levels)} levels, area={self.area:.6g})"


class _Bands(NamedTuple):
    gamma: float
    coverage: float
    pointwise_coverage: float
    low: Counts
    high: Counts
    pointwise_low: Counts
    pointwise_high: Counts


@lru_cache(maxsize=256)
def _bands(n: int, n_ranks: int, prob: float) -> _Bands:
    gamma, coverage, low, high = _core.simultaneous_rank_band(n, n_ranks, prob)
    _, pointwise_coverage, point_low, point_high = _core.rank_band(n, n_ranks, 1.0 - prob)
    return _Bands(gamma, coverage, pointwise_coverage, low, high, point_low, point_high)


def rank_cuts(counts: Counts) -> tuple[Counts, Counts]:
    """Return the cuts k, and how many ranks are below each."""
    cuts = _core.rank_cuts(len(counts))
    return cuts, np.cumsum(counts)[cuts - 1]


def rank_ecdf(cuts: Counts, below: Counts, n: int, n_ranks: int, prob: float) -> RankEcdf:
    """Return the curve with its bands."""
    bands = _bands(n, n_ranks, prob)

    def scaled(found: Counts) -> Floats:
        # sqrt(N) (R / N - k / K), from a difference of whole numbers
        return np.asarray((found * n_ranks - cuts * n) / (n_ranks * math.sqrt(n)))

    return RankEcdf(
        cuts, below, cuts / n_ranks, scaled(below),
        scaled(bands.low), scaled(bands.high),
        scaled(bands.pointwise_low), scaled(bands.pointwise_high),
        bool(np.all((bands.low <= below) & (below <= bands.high))),
        bands.gamma, bands.coverage, bands.pointwise_coverage,
    )  # fmt: skip


def coverage_curves(
    cuts: Counts, below: Counts, n: int, n_ranks: int, prob: float
) -> tuple[CoverageCurve, CoverageCurve]:
    """Return the curves of central and of one-sided sets of ranks.

    The central set between the cuts k and K - k holds the ranks k, ..., K - k - 1; the
    one-sided set below k the ranks 0, ..., k - 1.
    """
    inner = cuts[: len(cuts) // 2][::-1]  # cuts are symmetric, and 2 k = K is no set
    held = (below[::-1] - below)[: len(cuts) // 2][::-1]
    return (
        _coverage_curve(n_ranks - 2 * inner, held, n, n_ranks, prob),
        _coverage_curve(cuts, below, n, n_ranks, prob),
    )


def _coverage_curve(
    ranks: Counts, held: Counts, n: int, n_ranks: int, prob: float
) -> CoverageCurve:
    tail = 0.5 * (1.0 - prob)
    low, high = _core.clopper_pearson(
        np.ascontiguousarray(held), n, tail, -NormalDist().inv_cdf(tail)
    )
    gaps = np.concatenate([[0], held * n_ranks - ranks * n, [0]])  # N K (coverage - level)
    steps = np.diff(np.concatenate([[0], ranks, [n_ranks]]))
    doubled = math.fsum((gaps[1:].astype(float) + gaps[:-1]) * steps)
    return CoverageCurve(
        ranks / n_ranks, held / n, low, high, doubled / (2.0 * n * n_ranks * n_ranks)
    )
