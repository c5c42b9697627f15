"""Read arguments as the peers do: columns, finite numbers, probabilities."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibrant._input.columns import read_labels

__all__ = ["array", "as_double", "column", "finite", "numbers", "renamed", "same_length"]


def array(value: Any, name: str) -> NDArray[Any]:
    """Return any array-like as an ndarray; what a mask hides is rejected, not used."""
    if type(value) is np.ndarray:
        return value
    values = read_labels(value, name)
    if values.dtype == object and any(isinstance(x, (np.ndarray, list)) for x in values.flat):
        raise TypeError(f"{name} must be an array of single values, found lists in it")
    return values


def column(value: Any, name: str) -> NDArray[Any]:
    """Return a vector; a matrix with one column is one."""
    values = array(value, name)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values.reshape(-1)
    if values.ndim != 1:
        raise ValueError(f"{name} must be a 1d array of shape (n,), got shape {values.shape}")
    if values.dtype.kind == "c":
        raise ValueError(f"{name} must be real, got complex numbers")
    return values


def numbers(value: Any, name: str) -> NDArray[Any]:
    """Return real numbers of any shape, none missing and none infinite."""
    values = array(value, name)
    if values.dtype.kind not in "biuf":
        kind = ValueError if values.dtype.kind == "c" else TypeError
        raise kind(f"{name} must hold real numbers, got {values.dtype}")
    return finite(values, name)


def finite(values: NDArray[Any], name: str) -> NDArray[Any]:
    """Reject NaN and infinity; a sum tells, in one pass, unless it is too large itself."""
    if values.dtype.kind == "f":
        with np.errstate(all="ignore"):
            total = values.sum(dtype=np.float64)
        if not np.isfinite(total):
            bad = np.flatnonzero(~np.isfinite(values.reshape(len(values), -1)).all(axis=1))
            if bad.size:
                raise ValueError(
                    f"{name} must be finite, found {_first_bad(values[bad[0]])} at row {bad[0]}"
                )
    return values


def _first_bad(row: Any) -> float:
    values = np.atleast_1d(row).reshape(-1)
    return float(values[~np.isfinite(values)][0])


def as_double(values: NDArray[Any]) -> NDArray[np.float64]:
    """Return them as float64; as they are if they are that."""
    return values.astype(np.float64, copy=False)


def same_length(**arrays: NDArray[Any]) -> None:
    """Reject arrays with different numbers of rows."""
    lengths = {name: len(values) for name, values in arrays.items()}
    if len(set(lengths.values())) > 1:
        found = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise ValueError(f"arrays must have the same number of rows, got {found}")


@contextmanager
def renamed(**names: str) -> Iterator[None]:
    """Let errors of the core name the peer's arguments instead of ours."""
    try:
        yield
    except (TypeError, ValueError) as error:
        text = str(error).split("; pass nan_policy")[0]
        for ours, theirs in names.items():
            text = text.replace(ours, theirs)
        raise type(error)(text) from None
