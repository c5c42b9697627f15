"""NPY and NPZ files, read by NumPy."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from calibrant.io._parts import BATCH_ROWS, Kind, Part

__all__ = ["NpyFile", "NpzFile", "array_kind", "array_parts"]

_KINDS: dict[str, Kind] = {"b": "boolean", "i": "integer", "u": "integer", "f": "float"}


def array_kind(dtype: Any, ndim: int = 1) -> Kind:
    """Return what a NumPy array holds; a matrix is a list of numbers per row."""
    kind: Kind = "text" if dtype.kind in "UST" else _KINDS.get(dtype.kind, "other")
    if ndim == 2 and kind in ("integer", "float"):
        return "list"
    return kind if ndim == 1 else "other"


def array_parts(name: str, arrays: Mapping[str, Any], n_rows: int) -> Iterator[Part]:
    """Cut arrays in memory, or mapped to it, into parts."""
    for first in range(0, n_rows, BATCH_ROWS):
        piece = {key: array[first : first + BATCH_ROWS] for key, array in arrays.items()}
        yield Part(name, first, partial(iter, (piece,)))


class _NumpyFile:
    can_be_read_again = True

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = str(path)
        self.files = (self.name,)

    @contextmanager
    def _errors_named(self) -> Iterator[None]:
        try:
            yield
        except (OSError, MemoryError):
            raise  # of the system, not of what the file holds
        except Exception as error:  # a damaged header fails in whatever NumPy reads it with
            raise ValueError(
                f"{self.name}: cannot be read as an array of NumPy, it may be damaged, cut short "
                f"or hold Python objects; write it again ({error})"
            ) from error


class NpyFile(_NumpyFile):
    """One array, mapped: a structured one with named columns, or a matrix with columns 0, 1, …"""

    @cached_property
    def _array(self) -> np.ndarray:
        with self._errors_named():
            array = np.load(self.path, mmap_mode="r", allow_pickle=False)
        if array.dtype.names is None and array.ndim != 2:
            raise ValueError(
                f"{self.name}: need a structured array or a matrix with a row per prediction, got "
                f"shape {array.shape}; np.savez(file, y=..., p=...) keeps several columns"
            )
        return np.asarray(array)

    @property
    def n_rows(self) -> int:
        return int(self._array.shape[0])

    @cached_property
    def kinds(self) -> Mapping[str, Kind]:
        array = self._array
        if array.dtype.names is None:
            return {str(i): array_kind(array.dtype) for i in range(array.shape[1])}
        fields = {name: array.dtype[name] for name in array.dtype.names}
        return {name: array_kind(d.base, 1 + len(d.shape)) for name, d in fields.items()}

    def parts(self, columns: Sequence[str], floats: Sequence[str] = ()) -> Iterator[Part]:  # noqa: ARG002
        array = self._array
        if array.dtype.names is None:
            chosen: dict[str, Any] = {name: array[:, int(name)] for name in columns}
        else:
            chosen = {name: array[name] for name in columns}
        return array_parts(self.name, chosen, self.n_rows)


class NpzFile(_NumpyFile):
    """Several arrays of equal length; those that are needed are loaded."""

    @cached_property
    def _shapes(self) -> dict[str, tuple[tuple[int, ...], Any]]:
        """Read the heads of the arrays only."""
        heads = {}
        with self._errors_named(), zipfile.ZipFile(self.path) as archive:
            for member in archive.namelist():
                with archive.open(member) as file:
                    version = np.lib.format.read_magic(file)
                    read = getattr(
                        np.lib.format, f"read_array_header_{version[0]}_{version[1]}", None
                    )
                    if read is None:
                        raise ValueError(f"{member} has the unknown version {version}")
                    shape, _, dtype = read(file)
                heads[member.removesuffix(".npy")] = (shape, dtype)
        return heads

    @property
    def n_rows(self) -> int | None:
        return None  # known when the columns are

    @cached_property
    def kinds(self) -> Mapping[str, Kind]:
        return {
            name: array_kind(dtype, len(shape)) for name, (shape, dtype) in self._shapes.items()
        }

    def parts(self, columns: Sequence[str], floats: Sequence[str] = ()) -> Iterator[Part]:  # noqa: ARG002
        with self._errors_named(), np.load(self.path, allow_pickle=False) as archive:
            chosen = {name: archive[name] for name in columns}
        single = next((name for name, array in chosen.items() if array.ndim == 0), None)
        if single is not None:
            raise ValueError(f"{self.name}: {single} must be an array, got a single value")
        lengths = {name: len(array) for name, array in chosen.items()}
        if len(set(lengths.values())) > 1:
            found = ", ".join(f"{name} has {n}" for name, n in lengths.items())
            raise ValueError(f"{self.name}: arrays must have the same number of rows; {found}")
        return array_parts(self.name, chosen, next(iter(lengths.values()), 0))
