"""Columns of prediction sets: lists of classes, or whole numbers whose bits are the classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from calibrant.io._parts import Source

__all__ = ["as_sets", "check_sets"]


def check_sets(source: Source, name: str) -> None:
    """Reject a column that cannot hold sets."""
    kind = source.kinds[name]
    # Lists in a data frame of pandas are objects, as text is.
    if kind in ("float", "boolean") or (kind == "text" and source.files):
        raise TypeError(
            f"{source.name}: column {name!r} must hold prediction sets: lists of classes, or whole "
            f"numbers in which bit c stands for class c; it holds {kind} values"
        )


def as_sets(column: Any) -> Any:
    """Return a column as `streaming.PredictionSets` takes it."""
    if hasattr(column, "null_count"):
        return _from_arrow(column)
    if hasattr(column, "to_numpy"):
        if column.dtype.kind not in "iu":
            return column.tolist()
        gone = column.isna().to_numpy()
        return _masks(column.fillna(0).to_numpy(), gone)
    values = np.asarray(column)
    if values.dtype.kind in "iu" and values.ndim == 1:
        return _masks(values, np.zeros(len(values), bool))
    return values


def _from_arrow(column: Any) -> Any:
    import pyarrow as pa

    if pa.types.is_integer(column.type):
        gone = column.is_null().to_numpy(zero_copy_only=False)
        return _masks(column.fill_null(0).to_numpy(zero_copy_only=False), gone)
    if pa.types.is_fixed_size_list(column.type):
        return column.cast(pa.list_(column.type.value_type))
    return column


def _masks(bits: np.ndarray, gone: np.ndarray) -> Any:
    """Bits as the core takes them; with gaps as lists, since a number cannot say it is missing."""
    negative = np.flatnonzero(bits < 0)
    if negative.size:
        row = int(negative[0])
        raise ValueError(
            f"sets must be whole numbers of at least 0, one bit a class, found {bits[row]} "
            f"at row {row}"
        )
    if not gone.any():
        return bits.astype(np.uint64)
    return [None if no else _classes(int(mask)) for mask, no in zip(bits, gone, strict=True)]


def _classes(mask: int) -> list[int]:
    return [c for c in range(mask.bit_length()) if mask >> c & 1]
