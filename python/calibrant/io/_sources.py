"""From what the user names, a file, a folder, a pattern or a table in memory, to a source."""

from __future__ import annotations

import glob
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from calibrant._accumulator.states import is_state
from calibrant.io._arrow_files import (
    CsvFile,
    IpcFile,
    JsonLinesFile,
    ParquetFile,
    json_file,
)
from calibrant.io._frames import source_in_memory
from calibrant.io._numpy_files import NpyFile, NpzFile
from calibrant.io._parts import Kind, Part, Source
from calibrant.io._roles import known_column

__all__ = ["FORMATS", "SomeColumns", "check_distinct", "files_of", "open_source"]

_READERS: dict[str, Callable[[Path], Any]] = {
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
    ".json": json_file,
    ".npy": NpyFile,
    ".npz": NpzFile,
}
#: The formats by name.
FORMATS = tuple(suffix[1:] for suffix in _READERS)
STANDARD_INPUT = Path("-")
_COMPRESSED = (".gz", ".bz2", ".zst", ".lz4")


def open_source(
    table: Any, *, file_format: str | None = None, header: bool | None = None
) -> Source:
    """Return where the rows are read from."""
    if isinstance(table, SomeColumns):
        return table
    if isinstance(table, (str, os.PathLike)):
        table = [table]
    elif not (isinstance(table, (list, tuple)) and table):
        for name, value in (("format", file_format), ("header", header)):
            if value is not None:
                raise ValueError(f"{name} is that of files, and there is a table in memory")
        return source_in_memory(table)
    if not all(isinstance(item, (str, os.PathLike)) for item in table):
        raise TypeError("a list of sources must hold names of files")
    paths = [path for item in table for path in files_of(os.fspath(item))]
    check_distinct(paths)
    return _join([_open_file(path, file_format, header) for path in paths])


def check_distinct(paths: Iterable[Path]) -> None:
    """Reject a file that is there twice, under whatever names: its rows would count twice."""
    known: dict[Any, Path] = {}
    for path in paths:
        try:
            status = path.stat()
        except OSError:  # said where it is read
            continue
        key = (status.st_dev, status.st_ino) if status.st_ino else path.resolve()
        first = known.setdefault(key, path)
        if first is not path:
            also = "" if first == path else f" (also as {first})"
            raise ValueError(f"{path}: is named twice{also}, so its rows would count twice")


def _join(files: Sequence[Source]) -> Source:
    return files[0] if len(files) == 1 else _Files(files)


def _suffix(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in _COMPRESSED:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def _open_file(path: Path, file_format: str | None, header: bool | None) -> Source:
    try:
        str(path).encode()
    except UnicodeEncodeError:
        raise ValueError(f"{os.fsencode(path)!r}: the name is not UTF-8; rename the file") from None
    suffix = _suffix(path) if file_format is None else f".{file_format}"
    reader = _READERS.get(suffix)
    is_stream = path == STANDARD_INPUT or path.is_fifo()
    if reader is None:
        if path.is_file() and is_state(path):
            raise ValueError(
                f"{path}: a saved state, where a table is needed; calibrant score and report take "
                "those that --save-state wrote, calibrant state inspect takes any"
            )
        known = ", ".join(_READERS)
        raise ValueError(
            f"{path}: cannot tell its format; known are {known}: rename it, or name its format "
            "(--format csv)"
        )
    if reader is CsvFile:
        reader = partial(CsvFile, header=header)
    elif header is not None:
        raise ValueError(f"{path}: header (--header, --no-header) is said of CSV files only")
    return _stored(path, suffix, reader) if is_stream else reader(path)


def _stored(path: Path, suffix: str, reader: Any) -> Source:
    """What can be read once only, as a file of its own: tables are read more than once."""
    folder = TemporaryDirectory(prefix="calibrant-")
    copy = Path(folder.name) / f"input{suffix}"
    with copy.open("wb") as file:
        if path == STANDARD_INPUT:
            if sys.stdin is None:
                raise ValueError("-: there is no standard input")
            shutil.copyfileobj(getattr(sys.stdin, "buffer", sys.stdin), file)
        else:
            with path.open("rb") as pipe:
                shutil.copyfileobj(pipe, file)
    source: Any = reader(copy)
    source.name = "standard input" if path == STANDARD_INPUT else str(path)
    source.files = (str(path),)
    source.folder = folder  # which goes when it does
    return source  # type: ignore[no-any-return]


def files_of(name: str) -> Iterator[Path]:
    """Give the files that a name stands for: itself, those in a folder, or that fit a pattern."""
    if not name:
        raise ValueError("the name of a file is empty; name a file, or . for this folder")
    path = Path(name)
    if path == STANDARD_INPUT:
        return iter([path])
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
