"""Draws and truths as users give them, on their way to the core."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from calibrant._input.columns import resolve, shape_of
from calibrant._input.validation import checked_count

__all__ = ["arranged", "checked_index", "checked_seed", "renamed"]


def arranged(
    draws: Any, axis: int, name: str = "draws", truth: Any = None, truth_name: str = "truth"
) -> Any:
    """Return draws with the pairs first and the draws second; a view, if it is an array.

    With the truths: these in their place are rejected by name.
    """
    axis = checked_count(axis, "axis", least=-(2**63))
    resolved = draws if type(draws) is np.ndarray else resolve(draws, name)
    _reject_swapped(resolved, truth, name, truth_name)
    if not isinstance(resolved, np.ndarray):  # Arrow: a column of lists, one a pair
        if axis not in (1, -1):
            raise ValueError(f"axis must be 1 for a column of lists, got {axis}")
        return draws
    if resolved.ndim not in (2, 3):
        raise ValueError(
            f"{name} must have 2 or 3 axes, for pairs, draws and dimensions, "
            f"got shape {resolved.shape}"
        )
    if not -resolved.ndim <= axis < resolved.ndim:
        raise ValueError(f"axis must be one of the {resolved.ndim} axes of {name}, got {axis}")
    return np.moveaxis(resolved, axis, 1)


def _reject_swapped(draws: Any, truth: Any, name: str, truth_name: str) -> None:
    """Truths have one axis less than draws: reject what has one more."""
    first, second = shape_of(draws), shape_of(truth)
    if first is not None and second is not None and len(second) == len(first) + 1:
        raise ValueError(
            f"{name} and {truth_name} look swapped: {name} come first, got {name} of shape "
            f"{first} and {truth_name} of shape {second}"
        )


def renamed(error: Exception, **names: str) -> Exception:
    """Return the error in the words of a caller that calls the arguments otherwise."""
    text = str(error)
    for name, other in names.items():
        text = re.sub(rf"\b{name}\b", other, text)
    return type(error)(text)


def checked_seed(seed: Any) -> int:
    """Return a seed, which is an integer of 64 bits."""
    return _in_64_bits(seed, "seed")


def checked_index(index: Any, name: str = "first_pair") -> int:
    """Return the place of a pair in the whole of the data."""
    return _in_64_bits(index, name, 63)


def _in_64_bits(value: Any, name: str, bits: int = 64) -> int:
    number = checked_count(value, name, least=-(2**127), most=2**127)
    if not 0 <= number < 2**bits:
        raise ValueError(f"{name} must lie in [0, 2^{bits}), got {number}")
    return number
