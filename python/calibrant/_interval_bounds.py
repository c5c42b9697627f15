"""Intervals as users give them: one array, or a pair of lower and upper bounds."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from calibrant import _inputs

__all__ = ["Bounds", "Crossed", "bounds_of", "check_crossed"]

Crossed = Literal["raise", "swap"]

#: (lower, upper, is a pair); upper is None where lower has both, in shape (n, 2).
Bounds = tuple[Any, Any, bool]


def bounds_of(intervals: Any) -> Bounds:
    """Return lower and upper bounds as the core takes them; nothing is copied.

    A tuple of two is (lower, upper). All else is an array of shape (n, 2) or (n, 2, k).
    """
    if type(intervals) is np.ndarray:
        return _split(intervals)
    if isinstance(intervals, tuple) and len(intervals) == 2:
        return (*intervals, True)
    if isinstance(intervals, tuple):
        raise TypeError(
            f"intervals must be an array, or a tuple (lower, upper), got {len(intervals)} parts"
        )
    if isinstance(intervals, list) or len(getattr(intervals, "shape", ())) == 3:
        return _split(_inputs.resolve(intervals, "intervals"))
    return intervals, None, False


def _split(intervals: Any) -> Bounds:
    if type(intervals) is not np.ndarray or intervals.ndim < 3:
        return intervals, None, False
    if intervals.ndim > 3 or intervals.shape[1] != 2:
        raise ValueError(
            f"intervals must have shape (n, 2) or (n, 2, k), got shape {intervals.shape}"
        )
    return intervals[:, 0], intervals[:, 1], False


def check_crossed(crossed: Any) -> bool:
    """Return whether crossed bounds are to be swapped."""
    if crossed not in ("raise", "swap"):
        raise ValueError(f"crossed must be 'raise' or 'swap', got {crossed!r}")
    return crossed == "swap"
