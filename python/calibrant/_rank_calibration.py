"""Are ranks uniform, as those of calibrated posteriors are? Public in `calibrant.ranks`."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibrant._inputs import read_labels
from calibrant._rank_histogram import RankHistogram, default_bins, rank_histogram
from calibrant._result import Result

__all__ = ["RankCalibration", "RankDimension", "RankKind", "from_counts", "rank_calibration"]

RankKind = Literal["marginal", "energy", "tarp"]


@dataclass(frozen=True, repr=False, eq=False)
class RankDimension(Result):
    """One dimension."""

    name: str
    histogram: RankHistogram


@dataclass(frozen=True, repr=False, eq=False)
class RankCalibration(Result):
    """All dimensions."""

    dimensions: tuple[RankDimension, ...]
    n: int
    n_draws: int
    prob: float
    kind: RankKind

    @property
    def histogram(self) -> RankHistogram:
        """The histogram, where there is one dimension."""
        return self._only().histogram

    def _only(self) -> RankDimension:
        if len(self.dimensions) != 1:
            raise ValueError(f"there are {len(self.dimensions)} dimensions: use .dimensions[i]")
        return self.dimensions[0]


def rank_calibration(
    ranks: ArrayLike,
    n_draws: int,
    *,
    prob: float = 0.95,
    n_bins: int | None = None,
    kind: RankKind = "marginal",
    names: Sequence[str] | None = None,
) -> RankCalibration:
    """Are the ranks of truths among draws uniform, as those of calibrated posteriors are?"""
    counts = count_ranks(ranks, n_draws)
    return from_counts(counts, prob=prob, n_bins=n_bins, kind=kind, names=names)


def count_ranks(ranks: ArrayLike, n_draws: int) -> NDArray[np.int64]:
    """Count each rank from 0 to n_draws, for every dimension: an array of shape (D, M + 1)."""
    if isinstance(n_draws, bool) or not isinstance(n_draws, numbers.Integral):
        raise TypeError(f"n_draws must be a whole number, got {n_draws!r}")
    if n_draws < 1:
        raise ValueError(f"n_draws must be at least 1, got {n_draws}")
    found = read_labels(ranks, "ranks")
    if found.ndim not in (1, 2):
        raise ValueError(f"ranks must have shape (n,) or (n, d), got {found.shape}")
    if found.size == 0:
        raise ValueError(f"ranks must hold at least one rank, got shape {found.shape}")
    if found.dtype.kind not in "iuf":
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
    counts = np.asarray(counts, dtype=np.int64)
    n_dimensions, n_ranks = counts.shape
    n = int(counts[0].sum())
    bins = default_bins(n, n_ranks) if n_bins is None else n_bins
    titles = _checked_names(names, n_dimensions)
    return RankCalibration(
        tuple(
            RankDimension(title, rank_histogram(row, bins))
            for title, row in zip(titles, counts, strict=True)
        ),
        n,
        n_ranks - 1,
        prob,
        kind,
    )


def _checked_names(names: Any, n_dimensions: int) -> list[str]:
    if names is None:
        return [f"dimension {i}" for i in range(n_dimensions)]
    titles = [str(name) for name in names]
    if len(titles) != n_dimensions:
        raise ValueError(f"names must name {n_dimensions} dimensions, got {len(titles)}")
    return titles
