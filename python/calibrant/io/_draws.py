"""Columns of truths and draws, as `streaming.Ranks` takes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from calibrant.io._draw_roles import DrawRoles
from calibrant.io._matrices import numbers, side_by_side
from calibrant.io._parts import Columns

__all__ = ["as_draws", "draw_shape"]


def as_draws(columns: Columns, roles: DrawRoles) -> tuple[Any, Any]:
    """Return truths and draws: of one truth as they are, if they can stay in place."""
    if len(roles.truth) == 1:
        (truth,), (names,) = roles.truth, roles.draws
        draws = side_by_side(columns, names)
        gaps = getattr(draws, "null_count", 0) > 0  # lists that are missing, of no length
        return columns[truth], _matrix(draws, names[0]) if gaps else draws
    matrices = [_matrix(side_by_side(columns, names), names[0]) for names in roles.draws]
    widths = {name: matrix.shape[1] for name, matrix in zip(roles.truth, matrices, strict=True)}
    if len(set(widths.values())) > 1:
        found = ", ".join(f"{name} has {n}" for name, n in widths.items())
        raise ValueError(f"all truths must have as many draws; {found}")
    return side_by_side(columns, roles.truth), np.stack(matrices, axis=2)


def draw_shape(draws: Any) -> tuple[int, int]:
    """Return how many draws there are of each row, and of what dimension."""
    if hasattr(draws, "null_count"):
        return _width(draws), 1
    shape = np.shape(draws)
    if len(shape) not in (2, 3):
        raise TypeError(f"draws must be lists, one for each row, got shape {shape}")
    return shape[1], shape[2] if len(shape) == 3 else 1


def _width(column: Any) -> int:
    """The length of the lists of an Arrow column."""
    size = getattr(column.type, "list_size", None)
    if size is not None:
        return int(size)
    if not hasattr(column, "value_lengths"):
        raise TypeError(f"draws must be lists, one for each row, got {column.type}")
    lengths = column.value_lengths().drop_null().to_numpy(zero_copy_only=False)
    return int(lengths[0]) if len(lengths) else 0


def _matrix(column: Any, name: str) -> np.ndarray:
    """Lists of equal length as rows; a list that is missing becomes a row of NaN."""
    if not hasattr(column, "null_count"):
        draw_shape(column)
        return np.asarray(column)
    width = _width(column)
    values = numbers(column.flatten())
    present = column.is_valid().to_numpy(zero_copy_only=False)
    if len(values) != width * np.count_nonzero(present):
        raise ValueError(f"column {name!r} must hold lists of one length")
    rows = np.full((len(column), width), np.nan)
    rows[present] = values.reshape(-1, width)
    return rows
