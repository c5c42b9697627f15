"""Columns of numbers as NumPy has them, alone or side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from calibrant.io._parts import Columns

__all__ = ["numbers", "side_by_side"]


def side_by_side(columns: Columns, names: Sequence[str]) -> Any:
    """One column as it is, several as a matrix, none as None."""
    if len(names) < 2:
        return columns[names[0]] if names else None
    return np.stack([numbers(columns[name]) for name in names], axis=1)


def numbers(column: Any) -> np.ndarray:
    """A column of numbers as NumPy has it, missing ones as NaN."""
    if hasattr(column, "null_count"):
        column = column.to_numpy(zero_copy_only=False)
    elif hasattr(column, "to_numpy"):
        column = column.to_numpy(dtype=np.float64, na_value=np.nan)
    return np.asarray(column)
