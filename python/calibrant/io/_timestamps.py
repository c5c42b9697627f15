"""The time of each row: dates of any library, or numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibrant.io._parts import Source

__all__ = ["as_timestamps", "check_timestamps"]


def as_timestamps(column: Any) -> NDArray[Any]:
    """Return numbers as they are, and dates as datetime64, which has no time zone.

    Dates with a zone are moments, which Arrow and pandas keep in UTC: so they stay. Missing ones
    become NaT or NaN.
    """
    if hasattr(column, "to_pylist"):  # Arrow
        values = column.dictionary_decode() if hasattr(column, "indices") else column
        return np.asarray(values.to_numpy(zero_copy_only=False))
    return np.asarray(column.dt.tz_convert(None) if _has_zone(column.dtype) else column)


def _has_zone(dtype: Any) -> bool:
    arrow = getattr(dtype, "pyarrow_dtype", None)  # of a column of pandas that Arrow keeps
    return getattr(dtype if arrow is None else arrow, "tz", None) is not None


def check_timestamps(source: Source, name: str) -> None:
    """Reject a column that cannot hold the time of a row."""
    kind = source.kinds[name]
    if kind in ("text", "list", "boolean"):
        held = {"text": "text or objects", "list": "lists", "boolean": "booleans"}[kind]
        raise TypeError(
            f"{source.name}: column {name!r} must hold dates or numbers, it holds {held}; convert "
            "it, or name another"
        )
