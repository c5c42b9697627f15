"""Keys of groups turned into codes, whatever array they come in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from calibrant._input.columns import read_labels
from calibrant._input.labels import _is_missing
from calibrant._runtime.interruptible import answering_signals

__all__ = ["group_codes"]

#: Integers that span at most this many values are codes already, but for their offset.
_LARGEST_SPAN = 2**16
_MOST_GROUPS = 2**31 - 1


def group_codes(groups: Any, *, omit: bool) -> tuple[np.ndarray, list[Any]]:
    """Return the codes of the rows, int32, and the keys they stand for, in sorted order.

    A missing key (None, NaN, NaT, NA) has code -1, if ``omit``, else it is rejected. Some keys
    may have no row.
    """
    codes, keys = _factorized(groups)
    if codes.ndim != 1:
        raise ValueError(f"groups must have shape (n,), got shape {codes.shape}")
    if not omit:
        missing = np.flatnonzero(codes < 0)
        if missing.size:
            raise ValueError(
                f"groups has a missing value at row {int(missing[0])}; "
                f'pass nan_policy="omit" to leave such rows out'
            )
    return codes, keys


def _factorized(groups: Any) -> tuple[np.ndarray, list[Any]]:
    if groups is None:
        raise TypeError("groups must be an array of keys, got None")
    if hasattr(type(groups), "dictionary_encode"):  # Arrow
        if hasattr(groups, "combine_chunks"):
            groups = groups.combine_chunks()
        encoded = groups if hasattr(groups, "indices") else _encoded(groups)
        indices = encoded.indices
        if indices.null_count:  # signed, since polars has none that are
            indices = indices.cast("int64").fill_null(-1)
        codes = indices.to_numpy(zero_copy_only=False)
        return _in_order(*_distinct(codes, encoded.dictionary.to_pylist()))
    if hasattr(type(groups), "factorize"):  # pandas
        codes, keys = groups.factorize()
        return _in_order(np.asarray(codes), [_plain(key) for key in keys])
    if isinstance(groups, (list, tuple)):  # NumPy would make text of numbers, rows of tuples
        return _from_objects(groups)
    values = read_labels(groups, "groups")
    if values.ndim != 1:
        raise ValueError(f"groups must have shape (n,), got shape {values.shape}")
    if values.dtype.kind in "biu" and values.size:
        least, largest = int(values.min()), int(values.max())
        if largest - least < _LARGEST_SPAN:
            return _from_integers(values, least, largest)
    if values.dtype.kind == "O":
        return _from_objects(values.tolist())
    keys, codes = answering_signals(_sorted_keys, values, work=100 * values.size)
    missing = np.asarray(keys != keys)
    return _in_order(np.where(missing[codes], -1, codes), keys.tolist())


def _sorted_keys(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.unique(values, return_inverse=True, equal_nan=True)


def _encoded(groups: Any) -> Any:
    """Return a column of Arrow as a dictionary and indices."""
    try:
        return groups.dictionary_encode()
    except NotImplementedError as error:  # of lists, structs, maps
        raise TypeError(
            f"groups must hold numbers, texts or dates, got an Arrow column of {groups.type}"
        ) from error


def _distinct(codes: np.ndarray, keys: list[Any]) -> tuple[np.ndarray, list[Any]]:
    """Return them with each key once: a dictionary of Arrow may repeat one, or hold a null."""
    if len({key for key in keys if key == key} - {None}) == len(keys):
        return codes, keys
    known: dict[Any, int] = {}
    places = [-1 if _is_missing(key) else known.setdefault(key, len(known)) for key in keys]
    return np.array([*places, -1])[codes], list(known)  # a missing key's code is -1


def _from_integers(values: np.ndarray, least: int, largest: int) -> tuple[np.ndarray, list[Any]]:
    if values.dtype.kind == "b":
        return values.astype(np.int32), [False, True]
    if values.dtype.itemsize < 4:
        values = values.astype(np.int32)  # so that the difference fits
    values = values.astype(values.dtype.newbyteorder("="), copy=False)
    codes = np.empty(values.shape, np.int32)
    offset = values.dtype.type(least)
    np.subtract(values, offset, out=codes, dtype=values.dtype, casting="unsafe")
    return codes, list(range(least, largest + 1))


def _from_objects(values: Sequence[Any]) -> tuple[np.ndarray, list[Any]]:
    known: dict[Any, int] = {}
    codes = np.empty(len(values), np.int32)
    for row, key in enumerate(map(_plain, values)):
        try:
            codes[row] = -1 if _is_missing(key) else known.setdefault(key, len(known))
        except TypeError as error:
            raise TypeError(
                f"groups must hold keys that can be hashed, found {key!r} at row {row}"
            ) from error
    return _in_order(codes, list(known))


def _in_order(codes: np.ndarray, keys: list[Any]) -> tuple[np.ndarray, list[Any]]:
    """Sort the keys; those that cannot be compared stay in the order of their first rows."""
    if len(keys) > _MOST_GROUPS:
        raise ValueError(f"at most {_MOST_GROUPS} groups, got {len(keys)}")
    codes = np.asarray(codes)
    try:
        order = sorted(range(len(keys)), key=keys.__getitem__)
    except TypeError:
        order = list(range(len(keys)))
    rank = np.empty(len(keys) + 1, np.int32)
    rank[order] = np.arange(len(keys), dtype=np.int32)
    rank[-1] = -1  # a missing key's code is -1, too
    return rank[codes], [keys[i] for i in order]


def _plain(key: Any) -> Any:
    return key.item() if isinstance(key, np.generic) else key
