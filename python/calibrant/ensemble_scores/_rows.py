"""Outcomes and ensembles of any leading shape, brought to rows, without a copy where possible."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from calibrant._input.columns import read_numbers
from calibrant._input.validation import checked_count

__all__ = ["Array", "outcomes_and_draws", "outcomes_and_points", "rows_of"]

Array = npt.NDArray[np.float64]


def rows_of(array: npt.NDArray[Any], last: int = 0) -> npt.NDArray[Any]:
    """Collapse all but the `last` axes into one."""
    kept = array.shape[array.ndim - last :]
    return array.reshape((math.prod(array.shape[: array.ndim - last]), *kept))


def _spread(array: npt.NDArray[Any], shape: tuple[int, ...]) -> npt.NDArray[Any]:
    return array if array.shape == shape else np.broadcast_to(array, shape)


def _last(array: npt.NDArray[Any], axis: int) -> npt.NDArray[Any]:
    return array if axis in (-1, array.ndim - 1) else np.moveaxis(array, axis, -1)


def _broadcast(y: Any, draws: Any, last: int, name: str) -> tuple[int, ...]:
    leading: tuple[int, ...] = draws.shape[: draws.ndim - last]
    if y.shape == leading:
        return leading
    try:
        return np.broadcast_shapes(y.shape, leading)
    except ValueError:
        raise ValueError(
            f"y_true must have the shape of {name} without "
            f"{'its last axis' if last == 1 else 'the axis of draws'}, or one that broadcasts "
            f"against it, got shapes {y.shape} and {leading}"
        ) from None


def _reject_swapped(y: Any, x: Any, name: str) -> None:
    """Reject draws in the place of outcomes, which would broadcast to a value for each draw."""
    one_less = [y.shape[:axis] + y.shape[axis + 1 :] for axis in range(y.ndim)]
    if y.size > 1 and x.shape in one_less:
        raise ValueError(
            f"y_true and {name} look swapped: y_true comes first, got y_true of shape {y.shape} "
            f"and {name} of shape {x.shape}; if {name} are the same for all outcomes, give them an "
            f"axis of length 1 in front"
        )


def outcomes_and_draws(
    y_true: Any, draws: Any, draw_weight: Any, axis: int, *, name: str = "draws"
) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any] | None, tuple[int, ...]]:
    """Return outcomes (n,), draws (n, m), weights (n, m) or None, and the shape of the result."""
    y, x = read_numbers(y_true, "y_true"), read_numbers(draws, name)
    _reject_swapped(y, x, name)
    if x.ndim == 0:
        raise ValueError(f"{name} must have shape (..., m), got a number")
    weight = None if draw_weight is None else read_numbers(draw_weight, "draw_weight")
    axis = checked_count(axis, "axis", least=-(2**63))
    if not -x.ndim <= axis < x.ndim:
        raise ValueError(f"axis must lie in [-{x.ndim}, {x.ndim}), got {axis!r}")
    if weight is not None and weight.ndim != 1:
        if weight.shape != x.shape:
            raise ValueError(
                f"draw_weight must have shape ({x.shape[axis]},) or that of draws, {x.shape}, "
                f"got shape {weight.shape}"
            )
        weight = _last(weight, axis)
    x = _last(x, axis)
    m = x.shape[-1]
    if weight is not None and weight.shape[-1] != m:
        raise ValueError(f"draw_weight must have shape ({m},), got shape {weight.shape}")
    shape = _broadcast(y, x, 1, name)
    rows = rows_of(_spread(x, (*shape, m)), 1)
    if weight is not None:
        weight = rows_of(_spread(weight, (*shape, m)), 1)
    return rows_of(_spread(y, shape)), rows, weight, shape


def outcomes_and_points(
    y_true: Any, draws: Any
) -> tuple[npt.NDArray[Any], npt.NDArray[Any], int, tuple[int, ...]]:
    """Return outcomes (n, d), draws (n, m d), d, and the shape of the result."""
    y, x = read_numbers(y_true, "y_true"), read_numbers(draws, "draws")
    _reject_swapped(y, x, "draws")
    if x.ndim < 2:
        raise ValueError(f"draws must have shape (..., m, d), got shape {x.shape}")
    if y.ndim < 1:
        raise ValueError("y_true must have shape (..., d), got a number")
    m, d = x.shape[-2:]
    if y.shape[-1] != d or d == 0:
        raise ValueError(
            "y_true and draws must have as many coordinates, at least 1, in their last axis, "
            f"got shapes {y.shape} and {x.shape}"
        )
    shape = _broadcast(y[..., 0], x[..., 0], 1, "draws")
    rows = rows_of(_spread(x, (*shape, m, d)), 2)
    outcomes = rows_of(_spread(y, (*shape, d)), 1)
    return outcomes, rows.reshape(len(rows), m * d), d, shape
