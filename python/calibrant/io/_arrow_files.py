"""Parquet, Arrow IPC, CSV and JSON lines, read by pyarrow in batches."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from calibrant.io._parts import BATCH_ROWS, Columns, Kind, Part, needs_pyarrow
from calibrant.io._text_stream import TextStream, check_depth, check_quotes

__all__ = [
    "CsvFile",
    "IpcFile",
    "JsonLinesFile",
    "ParquetFile",
    "batches_of",
    "json_file",
    "kinds_of",
]

#: Column chunks beyond this size, in bytes, are read as they are decoded, not in one piece.
_LARGE_CHUNK = 2**26
#: Row groups beyond this number of rows are scored by several threads while they are read.
_LARGE_GROUP = 2**23

_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")

_ARROW_TYPES: dict[Kind, tuple[str, ...]] = {
    "boolean": ("boolean",),
    "integer": ("integer",),
    "float": ("floating", "null"),  # a column without values may be anything
    "text": ("string", "large_string", "string_view"),
    "list": ("list", "large_list", "fixed_size_list"),
}


def kinds_of(schema: Any, name: str) -> dict[str, Kind]:
    """Return what the columns of an Arrow schema hold."""
    kinds: dict[str, Kind] = {}
    for field in schema:
        if field.name in kinds:
            raise ValueError(
                f"{name}: there are two columns {field.name!r}; rename or drop one of them"
            )
        kinds[field.name] = _kind(field.type)
    return kinds


def _kind(arrow_type: Any) -> Kind:
    types = needs_pyarrow("a table").types
    if types.is_dictionary(arrow_type):
        arrow_type = arrow_type.value_type
    elif _is_vector(arrow_type):
        arrow_type = arrow_type.storage_type
    for kind, names in _ARROW_TYPES.items():
        if any(getattr(types, f"is_{name}")(arrow_type) for name in names):
            return kind
    return "other"


def _is_vector(arrow_type: Any) -> bool:
    """Whether its values are tensors of one axis, as Arrow and Ray have them: lists inside."""
    return hasattr(arrow_type, "storage_type") and len(getattr(arrow_type, "shape", ())) == 1


def batches_of(batch: Any) -> Iterator[Columns]:
    """Cut a batch into pieces of the usual size; nothing is copied."""
    for start in range(0, batch.num_rows, BATCH_ROWS):
        piece = batch.slice(start, BATCH_ROWS)
        columns = zip(piece.schema.names, piece.columns, strict=True)
        yield {name: c.storage if _is_vector(c.type) else c for name, c in columns}


class _File:
    """One file, and how errors of pyarrow become errors that name it."""

    can_be_read_again = True
    _what: str

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = str(path)
        self.files = (self.name,)
        self.arrow = needs_pyarrow(f"{self.name}: {self._what}")

    @contextmanager
    def _errors_named(self) -> Iterator[None]:
        try:
            yield
        except (self.arrow.ArrowException, OSError, UnicodeDecodeError) as error:
            text = " ".join(str(error).split()).rstrip(".")
            if "UTF8" in text or "utf-8" in text:
                raise ValueError(
                    f"{self.name}: not in UTF-8; save it again in that encoding ({text})"
                ) from error
            if isinstance(error, OSError) and error.errno is not None:
                raise OSError(error.errno, error.strerror or text, self.name) from error
            raise ValueError(
                f"{self.name}: cannot be read as {self._what}, it may be damaged or cut short; "
                f"write it again ({text})"
            ) from error

    def _one_by_one(self, batches: Iterable[Any], first_row: int = 0) -> Iterator[Part]:
        """Parts of batches that come in order; whoever asks for the next one reads it."""
        with self._errors_named():
            for batch in batches:
                for piece in batches_of(batch):
                    yield Part(self.name, first_row, partial(iter, (piece,)))
                    first_row += len(next(iter(piece.values())))


class ParquetFile(_File):
    """A Parquet file; its row groups are read in parallel."""

    _what = "Parquet"

    @cached_property
    def _head(self) -> tuple[Any, dict[str, Kind]]:
        from pyarrow import parquet

        with self._errors_named(), parquet.ParquetFile(self.path) as file:
            return file.metadata, kinds_of(file.schema_arrow, self.name)

    @property
    def n_rows(self) -> int:
        return int(self._head[0].num_rows)

    @property
    def kinds(self) -> Mapping[str, Kind]:
        return self._head[1]

    def parts(self, columns: Sequence[str], floats: Sequence[str] = ()) -> Iterator[Part]:  # noqa: ARG002
        metadata, _ = self._head
        first_row = 0
        for group in range(metadata.num_row_groups):
            rows = metadata.row_group(group).num_rows
            if rows > _LARGE_GROUP:
                batches = self._batches(group, columns, use_threads=True)
                yield from self._one_by_one(batches, first_row)
            else:
                yield Part(self.name, first_row, partial(self._read, group, columns))
            first_row += rows

    def _read(self, group: int, columns: Sequence[str]) -> Iterator[Columns]:
        with self._errors_named():
            for batch in self._batches(group, columns, use_threads=False):
                yield from batches_of(batch)

    def _batches(self, group: int, columns: Sequence[str], use_threads: bool) -> Iterator[Any]:
        from pyarrow import parquet

        metadata, _ = self._head
        about = metadata.row_group(group)
        largest = max(about.column(i).total_compressed_size for i in range(about.num_columns))
        # A file of its own: readers are not to be shared between threads.
        with parquet.ParquetFile(
            self.path, metadata=metadata, buffer_size=2**22 if largest > _LARGE_CHUNK else 0
        ) as file:
            yield from file.iter_batches(
                BATCH_ROWS, row_groups=[group], columns=list(columns), use_threads=use_threads
            )


class IpcFile(_File):
    """An Arrow IPC file or stream, also known as Feather."""

    _what = "Arrow IPC"
    n_rows: int | None = None  # it does not say

    @cached_property
    def _is_stream(self) -> bool:
        with self.path.open("rb") as file:
            return file.read(6) != b"ARROW1"

    def _open(self, columns: Sequence[str] | None = None) -> Any:
        ipc = self.arrow.ipc
        options = None
        if columns is not None:
            places = [i for i, name in enumerate(self.kinds) if name in columns]
            options = ipc.IpcReadOptions(included_fields=places)
        opened = ipc.open_stream if self._is_stream else ipc.open_file
        return opened(self.arrow.memory_map(str(self.path)), options=options)

    @cached_property
    def kinds(self) -> Mapping[str, Kind]:
        with self._errors_named(), self._open() as reader:
            return kinds_of(reader.schema, self.name)

    def parts(self, columns: Sequence[str], floats: Sequence[str] = ()) -> Iterator[Part]:  # noqa: ARG002
        yield from self._one_by_one(self._batches(columns))

    def _batches(self, columns: Sequence[str]) -> Iterator[Any]:
        with self._open(columns) as reader:
            if self._is_stream:
                yield from reader
                return
            for i in range(reader.num_record_batches):
                yield reader.get_batch(i)


class CsvFile(_File):
    """Text with separators, compressed or not.

    The first line names the columns; without a header they are 0, 1, ..., as those of a matrix.
    Where nothing is said, a first line of numbers is rejected: it may be a row.
    """

    _what = "CSV"
    n_rows: int | None = None

    def __init__(self, path: Path, header: bool | None = None) -> None:
        super().__init__(path)
        self._header = header

    def _open(
        self,
        columns: Sequence[str] | None = None,
        types: Mapping[str, Any] | None = None,
        look: Callable[[bytes], None] | None = None,
    ) -> Any:
        from pyarrow import csv

        source = self.arrow.input_stream(str(self.path))  # which also undoes compression
        return csv.open_csv(
            source if look is None else TextStream(source, look),
            read_options=csv.ReadOptions(block_size=2**22, column_names=self._names),
            parse_options=csv.ParseOptions(delimiter=self._separator),
            convert_options=csv.ConvertOptions(
                include_columns=None if columns is None else list(columns),
                column_types=types,
                strings_can_be_null=True,
            ),
        )

    @cached_property
    def _separator(self) -> str:
        """A comma; where the first line has none, the semicolon or tab that it has instead."""
        if ".tsv" in [suffix.lower() for suffix in self.path.suffixes]:
            return "\t"
        with self.arrow.input_stream(str(self.path)) as file:
            line = file.read(2**16).split(b"\n")[0].decode(errors="replace")
        return next((each for each in ",;\t" if each in line), ",")

    @cached_property
    def _names(self) -> list[str] | None:
        """Those of the columns, where the file has none."""
        from pyarrow import csv

        if self._header is not False:
            return None
        with csv.open_csv(
            self.arrow.input_stream(str(self.path)),
            read_options=csv.ReadOptions(block_size=2**22, autogenerate_column_names=True),
            parse_options=csv.ParseOptions(delimiter=self._separator),
        ) as reader:
            return [str(i) for i in range(len(reader.schema))]

    @cached_property
    def kinds(self) -> Mapping[str, Kind]:
        with self._errors_named():
            if self.path.stat().st_size == 0:
                raise ValueError(f"{self.name}: the file is empty; its first line names columns")
            with self._open() as reader:
                if self._header is None:
                    self._check_header(reader.schema.names)
                return kinds_of(reader.schema, self.name)

    def _check_header(self, names: Sequence[str]) -> None:
        """Reject a row in the place of names: fractions, or numbers alone."""
        numbers = [name for name in names if _NUMBER.fullmatch(name.strip())]
        is_matrix = list(names) == [str(i) for i in range(len(names))] and len(names) > 2
        fractions = any(not name.strip().lstrip("+-").isdigit() for name in numbers)
        if (fractions or len(numbers) == len(names)) and not is_matrix:
            raise ValueError(
                f"{self.name}: the first line holds values, such as {numbers[0]!r}, where names of "
                "columns are needed: say header=False (--no-header) if it is a row, and columns "
                "are to be named 0, 1, ...; or header=True (--header) if these are names"
            )

    def parts(self, columns: Sequence[str], floats: Sequence[str] = ()) -> Iterator[Part]:
        yield from self._one_by_one(self._batches(columns, floats))

    def _batches(self, columns: Sequence[str], floats: Sequence[str]) -> Iterator[Any]:
        lines = rows = 0

        def count(block: bytes) -> None:
            nonlocal lines
            lines += block.count(b"\n")

        try:
            types = dict.fromkeys(floats, self.arrow.float64())
            with self._open(columns, types, count) as reader:
                for batch in reader:
                    rows += batch.num_rows
                    yield batch
            header = self._header is not False
            if rows + header < lines:
                opened = self.arrow.input_stream(str(self.path))
                check_quotes(self.name, opened, self._separator, rows + header)
        except self.arrow.ArrowInvalid as error:
            if "conversion error" in str(error):
                self._reject_text(floats)
            raise

    def _reject_text(self, columns: Sequence[str]) -> None:
        """Look for the first value that is no number, and say where it is."""
        row = 0
        with self._open(columns, dict.fromkeys(columns, self.arrow.string())) as reader:
            for batch in reader:
                for i, values in enumerate(zip(*batch.to_pydict().values(), strict=True)):
                    for name, text in zip(batch.schema.names, values, strict=True):
                        if text is not None and not _is_number(text):
                            raise ValueError(
                                f"{self.name}: column {name!r} must hold numbers, found {text!r} "
                                f"at row {row + i}"
                            )
                row += batch.num_rows


class JsonLinesFile(_File):
    """An object in each line, whose keys name the columns; what a line lacks is missing."""

    _what = "JSON lines"
    n_rows: int | None = None

    def _open(self, schema: Any = None) -> Any:
        """Open it, to be read in blocks; with a schema, for these columns alone."""
        from pyarrow import json

        source = TextStream(self.arrow.input_stream(str(self.path)), check_depth(self.name))
        read_options = json.ReadOptions(block_size=2**22)
        parse_options = None
        if schema is not None:
            parse_options = json.ParseOptions(
                explicit_schema=schema, unexpected_field_behavior="ignore"
            )
        if hasattr(json, "open_json"):
            return json.open_json(source, read_options, parse_options)
        return json.read_json(source, read_options, parse_options).to_reader()

    @cached_property
    def _schema(self) -> Any:
        """That of the first block."""
        with self._errors_named():
            if self.path.stat().st_size == 0:
                raise ValueError(f"{self.name}: the file is empty; each line is an object")
            with self._open() as reader:
                return reader.schema

    @cached_property
    def kinds(self) -> Mapping[str, Kind]:
        return kinds_of(self._schema, self.name)

    def parts(self, columns: Sequence[str], floats: Sequence[str] = ()) -> Iterator[Part]:
        types = {name: self._schema.field(name).type for name in columns}
        # What is whole in the first block may not be so in the next.
        number = self.arrow.float64()
        types |= {name: number for name in floats if self.kinds[name] != "list"}
        yield from self._one_by_one(self._batches(self.arrow.schema(list(types.items()))))

    def _batches(self, schema: Any) -> Iterator[Any]:
        with self._open(schema) as reader:
            yield from reader


class JsonFile(_File):
    """One array of objects, whose keys name the columns; read as a whole."""

    _what = "JSON"

    @cached_property
    def _table(self) -> Any:
        try:
            with self.arrow.input_stream(str(self.path)) as file:
                rows = json.loads(file.read())
        except (ValueError, RecursionError) as error:  # of which wrong bytes are one
            raise ValueError(
                f"{self.name}: cannot be read as JSON, it may be damaged or cut short; write it "
                f"again ({error})"
            ) from error
        if not all(isinstance(row, dict) for row in rows):
            raise ValueError(f"{self.name}: must hold an array of objects, one for each row")
        names = dict.fromkeys(name for row in rows for name in row)
        with self._errors_named():
            columns = {name: [row.get(name) for row in rows] for name in names}
            return self.arrow.table(columns)

    @property
    def n_rows(self) -> int:
        return int(self._table.num_rows)

    @cached_property
    def kinds(self) -> Mapping[str, Kind]:
        return kinds_of(self._table.schema, self.name)

    def parts(self, columns: Sequence[str], floats: Sequence[str] = ()) -> Iterator[Part]:  # noqa: ARG002
        yield from self._one_by_one(self._table.select(list(columns)).to_batches())


def json_file(path: Path) -> JsonFile | JsonLinesFile:
    """Return a file of JSON, be it one array or an object in each line."""
    lines = JsonLinesFile(path)
    with lines._errors_named(), lines.arrow.input_stream(str(path)) as file:
        is_array = file.read(2**10).lstrip().startswith(b"[")
    return JsonFile(path) if is_array else lines


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
