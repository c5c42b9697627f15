"""From what the user names, a file, a folder, a pattern or a table in memory, to a source."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from calibrant._state import is_state
from calibrant.io._arrow_files import CsvFile, IpcFile, JsonLinesFile, ParquetFile
from calibrant.io._frames import source_in_memory
from calibrant.io._numpy_files import NpyFile, NpzFile
from calibrant.io._parts import Kind, Part, Source
from calibrant.io._roles import known_column

__all__ = ["SomeColumns", "open_source"]

_READERS: dict[str, type[Any]] = {
    ".parquet": ParquetFile,
    ".pq": ParquetFile,
    ".arrow": IpcFile,
    ".arrows": IpcFile,
    ".feather": IpcFile,
    ".ipc": IpcFile,
    ".csv": CsvFile,
    ".tsv": CsvFile,
    ".jsonl": JsonLinesFile,
    ".ndjson": JsonLinesFile,
    ".npy": NpyFile,
    ".npz": NpzFile,
}
_COMPRESSED = (".gz", ".bz2", ".zst", ".lz4")


def open_source(table: Any) -> Source:
    """Return where the rows are read from."""
    if isinstance(table, SomeColumns):
        return table
    if isinstance(table, (str, os.PathLike)):
        return _join([_open_file(path) for path in _expand(os.fspath(table))])
    if isinstance(table, (list, tuple)) and table:
        if not all(isinstance(item, (str, os.PathLike)) for item in table):
            raise TypeError("a list of sources must hold names of files")
        paths = [path for item in table for path in _expand(os.fspath(item))]
        return _join([_open_file(path) for path in paths])
    return source_in_memory(table)


def _join(files: Sequence[Source]) -> Source:
    return files[0] if len(files) == 1 else _Files(files)


def _suffix(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in _COMPRESSED:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def _open_file(path: Path) -> Source:
    reader = _READERS.get(_suffix(path))
    if reader is None:
        if path.is_file() and is_state(path):
            raise ValueError(
                f"{path}: a saved state, where a table is needed; calibrant score and report take "
                "those that --save-state wrote, calibrant state inspect takes any"
            )
        raise ValueError(f"{path}: cannot tell its format; known are {', '.join(_READERS)}")
    source: Source = reader(path)
    return source


def _expand(name: str) -> Iterator[Path]:
    path = Path(name)
    if path.is_dir():
        found = [
            each
            for each in sorted(path.rglob("*"))
            if each.is_file()
            and _suffix(each) in _READERS
            and not any(part.startswith(("_", ".")) for part in each.relative_to(path).parts)
        ]
        if not found:
            raise ValueError(f"{name}: no file in this folder can be read")
        return iter(found)
    if path.exists() or not glob.has_magic(name):
        if not path.exists():
            raise FileNotFoundError(2, "No such file or directory", name)
        return iter([path])
    matches = sorted(glob.glob(name, recursive=True))  # noqa: PTH207  # absolute or not
    if not matches:
        raise FileNotFoundError(2, "No file fits this pattern", name)
    return iter([Path(each) for each in matches])


class _Files:
    """Several files as one table, in the order in which they were named."""

    can_be_read_again = True

    def __init__(self, files: Iterable[Source]) -> None:
        self._files = tuple(files)
        self.files = tuple(name for file in self._files for name in file.files)
        self.name = f"{len(self._files)} files, the first {self.files[0]}"

    @cached_property
    def kinds(self) -> Mapping[str, Kind]:
        return self._files[0].kinds

    @cached_property
    def n_rows(self) -> int | None:
        rows = [file.n_rows for file in self._files]
        return None if None in rows else sum(n for n in rows if n is not None)

    def parts(self, columns: Sequence[str], floats: Sequence[str]) -> Iterator[Part]:
        for file in self._files:
            for name in columns:
                if name not in file.kinds:
                    raise ValueError(
                        f"{file.name}: no column {name!r}, which {self.files[0]} has; "
                        "name only files of one table"
                    )
            yield from file.parts(columns, floats)


class SomeColumns:
    """A table of which only some columns are there, so that no other is taken for something."""

    def __init__(self, table: Any, columns: Iterable[str]) -> None:
        self._source = open_source(table)
        kinds = self._source.kinds
        self.kinds = {name: kinds[known_column(self._source, name)] for name in columns}
        self.name, self.files = self._source.name, self._source.files
        self.can_be_read_again = self._source.can_be_read_again

    @property
    def n_rows(self) -> int | None:
        return self._source.n_rows

    def parts(self, columns: Sequence[str], floats: Sequence[str]) -> Iterator[Part]:
        return self._source.parts(columns, floats)
