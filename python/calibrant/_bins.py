"""Bins as Python gives them: a number, or the edges themselves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from calibrant import _core

__all__ = ["bin_edges", "check_strategy", "checked_number"]


def checked_number(n_bins: int | np.integer) -> int:
    """Return it if there can be as many bins."""
    if not 1 <= n_bins <= _core.most_bins:
        raise ValueError(f"n_bins must lie in [1, {_core.most_bins}], got {n_bins}")
    return int(n_bins)


def bin_edges(n_bins: int | Sequence[float] | np.ndarray) -> list[float]:
    """Return edges of bins of equal width, or the given ones."""
    if isinstance(n_bins, (int, np.integer)):
        return _core.equal_width_edges(checked_number(n_bins))
    return [float(edge) for edge in n_bins]


def check_strategy(strategy: object) -> None:
    """Refuse anything but the two strategies."""
    if strategy not in ("uniform", "quantile"):
        raise ValueError(f"strategy must be 'uniform' or 'quantile', got {strategy!r}")
