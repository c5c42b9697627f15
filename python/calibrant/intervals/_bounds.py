"""Intervals as users give them: one array, or a pair of lower and upper bounds."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from calibrant._input.columns import resolve
from calibrant._input.validation import checked_choice

__all__ = [
    "SAME_WIDTH",
    "Bounds",
    "Crossed",
    "are_equally_wide",
    "bounds_of",
    "check_crossed",
    "require_outcomes",
]

Crossed = Literal["raise", "swap"]

#: Widths that differ by less, relative to the largest, differ by rounding alone.
SAME_WIDTH = 2.0**-30

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
        return _split(resolve(intervals, "intervals"))
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
    return bool(checked_choice(crossed, "crossed", ("raise", "swap")) == "swap")


def require_outcomes(y_true: Any) -> None:
    """Reject None, which the core takes for widths alone."""
    if y_true is None:
        raise TypeError("y_true must be an array, got None")


def are_equally_wide(least: float, largest: float) -> bool:
    """Whether widths that reach from least to largest differ by rounding at most."""
    return largest - least <= SAME_WIDTH * largest
