"""Draws and truths as users give them, on their way to the core."""

from __future__ import annotations

from typing import Any

import numpy as np

from calibrant import _inputs
from calibrant._settings import checked_count

__all__ = ["arranged", "checked_index", "checked_seed"]


def arranged(draws: Any, axis: int, name: str = "draws") -> Any:
    """Return draws with the pairs first and the draws second; a view, if it is an array."""
    axis = checked_count(axis, "axis", least=-(2**63))
    resolved = draws if type(draws) is np.ndarray else _inputs.resolve(draws, name)
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
