"""How `Evidence` is filled from a table: what is decided from its first rows, and the reading."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, Self, TypeVar

import numpy as np

from calibrant.evidence._rows import add_batch
from calibrant.io._batches import count_missing
from calibrant.io._draws import as_draws, draw_shape

if TYPE_CHECKING:
    from calibrant._input.validation import NanPolicy
    from calibrant.evidence import Evidence
    from calibrant.io import Scan
    from calibrant.io._parts import Columns

__all__ = ["Reader", "bandwidth_of", "draws_of", "edges_of", "width_quartiles"]

E = TypeVar("E", bound="Evidence")


def width_quartiles(rows: Scan) -> list[float]:
    """Quartiles of the widths of the first rows, at the first level; none if they are unknown."""
    bounds = rows.roles.intervals
    if not bounds.levels or not rows.can_be_read_again:
        return []
    for columns in rows.columns():
        low, high = (np.asarray(columns[names[0]], float) for names in (bounds.low, bounds.high))
        widths = np.abs(high - low) if rows.crossed == "swap" else high - low
        widths = widths[np.isfinite(widths) & (widths > 0)]
        cuts = np.quantile(widths, [0.25, 0.5, 0.75]) if widths.size else np.empty(0)
        return [float(f"{cut:.3g}") for cut in cuts]
    return []


def draws_of(rows: Scan) -> tuple[int, tuple[str, ...]]:
    """Return how many draws there are of each row, and the names of what they are draws of."""
    truths = rows.roles.draws.truth
    if not truths:
        return 0, ()
    if not rows.can_be_read_again:
        raise ValueError(f"{rows.name} can be read once only, and draws must be counted first")
    for columns in rows.columns():
        n_draws, n_dims = draw_shape(as_draws(columns, rows.roles.draws)[1])
        if len(truths) == 1 and n_dims > 1:
            truths = tuple(f"{truths[0]} {d}" for d in range(n_dims))
        return n_draws, truths
    raise ValueError(f"{rows.name}: there are no rows to score")


def edges_of(quartiles: list[float]) -> list[float]:
    """Return edges that cut the widths into four like parts."""
    return sorted(set(quartiles))


def bandwidth_of(quartiles: list[float]) -> float:
    """Return the distance of the quartiles, or where it is 0 the median; without either, 1."""
    if not quartiles:
        return 1.0
    low, median, high = quartiles
    spread = float(f"{high - low:.3g}")
    # The kernel takes bandwidths from 1e-150 to 1e150.
    return float(np.clip(spread if spread > 0 else median, 1e-150, 1e150))


class Reader(Generic[E]):
    """Evidence that takes columns as they were read."""

    def __init__(self, evidence: E, rows: Scan) -> None:
        self.evidence = evidence
        self._rows = rows

    def take(self, columns: Columns, place: int) -> int:
        """Add a batch, and return its rows."""
        reading = self._rows.reading
        batch = reading.batch(columns)
        if reading.skip_missing:
            missing = self.evidence.source["missing"]
            for name in self._rows.roles.columns:
                missing[name] = missing.get(name, 0) + count_missing(columns[name])
        policy: NanPolicy = "omit" if reading.skip_missing else "raise"
        add_batch(self.evidence, batch, policy, place, self._rows.crossed)
        return batch.n

    def merge(self, other: Self) -> None:
        """Add the rows of another thread."""
        self.evidence._absorb(other.evidence)
