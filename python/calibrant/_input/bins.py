"""Bins as Python gives them: a number, or the edges themselves."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Literal

import numpy as np

from calibrant import _core
from calibrant._input.validation import checked_choice, checked_count

__all__ = ["Strategy", "bin_edges", "check_strategy", "checked_number", "edges_or_number"]

Strategy = Literal["uniform", "quantile", "kmeans"]


def checked_number(n_bins: int | np.integer) -> int:
    """Return it if there can be as many bins."""
    number = checked_count(n_bins, "n_bins", least=-(2**63))
    if not 1 <= number <= _core.most_bins:
        raise ValueError(f"n_bins must lie in [1, {_core.most_bins}], got {n_bins}")
    return number


def bin_edges(n_bins: int | Sequence[float] | np.ndarray) -> list[float]:
    """Return edges of bins of equal width, or the given ones."""
    if isinstance(n_bins, (int, np.integer)):
        return _core.equal_width_edges(checked_number(n_bins))
    if isinstance(n_bins, (str, bytes, dict)) or not hasattr(n_bins, "__iter__"):
        raise TypeError(f"n_bins must be an integer, or the edges of bins, got {n_bins!r}")
    return [_edge(edge) for edge in n_bins]


def _edge(edge: object) -> float:
    if not isinstance(edge, numbers.Real):
        raise TypeError(f"n_bins must hold real numbers as edges, found {edge!r}")
    return float(edge)


def check_strategy(
    strategy: object, allowed: tuple[str, ...] = ("uniform", "quantile", "kmeans")
) -> None:
    """Reject anything but the strategies."""
    checked_choice(strategy, "strategy", allowed)


def edges_or_number(
    n_bins: int | Sequence[float] | np.ndarray, strategy: str
) -> tuple[list[float], int, bool]:
    """Return edges, or the number of bins that are cut from the rows, and whether by clusters."""
    check_strategy(strategy)
    if strategy != "uniform" and isinstance(n_bins, (int, np.integer)):
        return [], checked_number(n_bins), strategy == "kmeans"
    return bin_edges(n_bins), 0, False
