"""Keys of groups that are kept: integers, strings or booleans, of one kind in all batches."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from calibrant import _core
from calibrant._input.groups import group_codes
from calibrant._input.labels import _is_missing

__all__ = ["KINDS", "coded_keys", "kind_of"]

#: By the name that is saved.
KINDS: dict[str, type] = {"int": int, "str": str, "bool": bool}
_LARGEST = 2**63


def coded_keys(groups: Any, *, omit: bool) -> tuple[np.ndarray, list[Any]]:
    """Return the codes of the rows, int32, and the keys they stand for, sorted, of one kind.

    Integers are coded by the core. Some keys may have no row; a missing key has code -1.
    """
    if hasattr(type(groups), "to_arrow"):  # polars: text would become Python objects
        groups = groups.to_arrow()
    numbers = _integers(groups)
    if numbers is not None:
        codes, distinct = _core.integer_codes(numbers)
        return codes, distinct.tolist()
    if isinstance(groups, (list, tuple)) or getattr(groups, "dtype", None) == np.dtype(object):
        kind_of(groups)  # a dict would take True for 1
    codes, keys = group_codes(groups, omit=omit)
    kind_of(keys)
    return codes, keys


def _integers(groups: Any) -> np.ndarray | None:
    """NumPy integers, as the core reads them, also those of a pandas column."""
    dtype = getattr(groups, "dtype", None)
    if not (isinstance(dtype, np.dtype) and dtype.kind in "iu") or np.ma.isMaskedArray(groups):
        return None
    values = np.asarray(groups)
    if values.ndim != 1:
        raise ValueError(f"groups must have shape (n,), got shape {values.shape}")
    if dtype == np.dtype(np.uint64) and values.size and int(values.max()) >= _LARGEST:
        raise ValueError(f"keys must be below 2**63, found {int(values.max())}")
    return np.ascontiguousarray(values, dtype=np.int64)


def kind_of(keys: Iterable[Any]) -> str | None:
    """Return which of `KINDS` all keys are, None if there is none; reject others, and mixtures."""
    found: str | None = None
    for key in keys:
        if _is_missing(key):
            continue
        kind = _kind(key)
        if found is not None and kind != found:
            raise TypeError(f"keys of groups must be of one kind: {found} so far, now {key!r}")
        found = kind
    return found


def _kind(key: Any) -> str:
    if isinstance(key, (bool, np.bool_)):
        return "bool"
    if isinstance(key, (int, np.integer)):
        if not -_LARGEST <= key < _LARGEST:
            raise ValueError(f"keys must lie in [-2**63, 2**63), found {key}")
        return "int"
    if isinstance(key, str):
        return "str"
    raise TypeError(
        f"keys of groups must be integers, strings or booleans, found {key!r}; "
        f"make a string of each"
    )
