"""Some rows of a batch, whatever its columns are."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["SETTINGS", "cut_rows", "n_rows", "named_arguments", "runs", "signature_of"]

#: Arguments of an ``update`` that are not one value for each row.
SETTINGS = frozenset(
    {"axis", "crossed", "first_pair", "labels", "multi_class", "nan_policy", "pos_label"}
)

Rows = slice | NDArray[np.intp]


def named_arguments(
    accumulator: Any, rows: tuple[Any, ...], named: dict[str, Any]
) -> dict[str, Any]:
    """Return the arguments of ``update`` by name, or raise what a wrong call raises."""
    return dict(signature_of(accumulator).bind(*rows, **named).arguments)


def signature_of(accumulator: Any) -> inspect.Signature:
    """Return what ``update`` takes, by name."""
    if hasattr(accumulator, "_asked"):  # Grouped hands it on to its accumulators
        return inspect.Signature(list(accumulator._asked().values()))
    return inspect.signature(accumulator.update)


def n_rows(arguments: dict[str, Any]) -> int | None:
    """Return how many rows the arguments of an ``update`` have; None if they differ."""
    if arguments.get("axis", 1) != 1 or arguments.get("first_pair") is not None:
        raise ValueError("windows take draws with axis=1, and count pairs by themselves")
    lengths = {
        length
        for name, value in arguments.items()
        if name not in SETTINGS and value is not None
        for length in _lengths(name, value)
    }
    return lengths.pop() if len(lengths) == 1 and -1 not in lengths else None


def _lengths(name: str, value: Any) -> list[int]:
    if name == "intervals" and isinstance(value, tuple):
        return [length for end in value for length in _lengths("", end)]
    try:
        return [len(value)]
    except TypeError:  # a single value, which ``update`` rejects
        return [-1]


def runs(keys: NDArray[np.int64]) -> list[tuple[int, Rows]]:
    """Return each key with its rows, in their order; as slices where keys never fall."""
    if keys.size == 0:
        return []
    order: NDArray[np.intp] | None = None
    if (keys[1:] < keys[:-1]).any():
        places = keys - keys.min()
        if places.max() < 2**16:  # NumPy sorts short integers by radix, in linear time
            places = places.astype(np.uint16)
        order = np.argsort(places, kind="stable")
        keys = keys[order]
    starts = [0, *(np.flatnonzero(keys[1:] != keys[:-1]) + 1).tolist()]
    ends = [*starts[1:], keys.size]
    return [
        (int(keys[start]), slice(start, end) if order is None else order[start:end])
        for start, end in zip(starts, ends, strict=True)
    ]


def cut_rows(arguments: dict[str, Any], rows: Rows) -> dict[str, Any]:
    """Return the arguments of an ``update`` with these rows only."""
    return {
        name: value if name in SETTINGS or value is None else _cut(name, value, rows)
        for name, value in arguments.items()
    }


def _cut(name: str, value: Any, rows: Rows) -> Any:
    if name == "intervals" and isinstance(value, tuple):  # the lower and the upper ends
        return tuple(_cut("", end, rows) for end in value)
    if isinstance(value, (list, tuple)):
        kept = range(len(value))[rows] if isinstance(rows, slice) else rows
        return [value[row] for row in kept]
    if hasattr(value, "iloc"):
        return value.iloc[rows]
    if hasattr(value, "__getitem__") and hasattr(value, "dtype"):
        return value[rows]
    if hasattr(value, "slice") and hasattr(value, "take"):  # Arrow
        if isinstance(rows, slice):
            return value.slice(rows.start, rows.stop - rows.start)
        return value.take(rows)
    return np.asarray(value)[rows]
