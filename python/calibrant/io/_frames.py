"""Tables in memory: pandas, polars, DuckDB, Arrow, or a dict of arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import Any

from calibrant._input.columns import read_labels
from calibrant.io._arrow_files import batches_of, kinds_of
from calibrant.io._numpy_files import array_kind, array_parts
from calibrant.io._parts import Kind, Part, needs_pyarrow

__all__ = ["Arrays", "PandasFrame", "Stream", "source_in_memory"]


def source_in_memory(table: Any) -> Arrays | PandasFrame | Stream:
    """Return the table as a source, by what it offers and not by what library it is of."""
    if isinstance(table, Mapping):
        return Arrays(table)
    if hasattr(table, "iloc") and hasattr(table, "columns"):
        return PandasFrame(table)  # NumPy's columns, since its Arrow stream needs pyarrow
    if hasattr(type(table), "__arrow_c_stream__") and not _is_one_column(table):
        return Stream(table)
    if hasattr(table, "collect"):
        raise TypeError(f"{_type_name(table)} has not been computed yet; pass table.collect()")
    raise TypeError(
        "a table must be a file, a data frame, a dict of arrays or have __arrow_c_stream__, got "
        f"{_type_name(table)}"
    )


def _is_one_column(table: Any) -> bool:
    """A Series of pandas or polars, or a column of Arrow."""
    is_table = hasattr(table, "columns") or hasattr(table, "schema")
    return not is_table and (hasattr(table, "dtype") or hasattr(table, "type"))


def _type_name(value: Any) -> str:
    return f"{type(value).__module__}.{type(value).__name__}"


class Arrays:
    """Columns by name."""

    name = "the table"
    files: Sequence[str] = ()
    can_be_read_again = True

    def __init__(self, columns: Mapping[str, Any]) -> None:
        self._columns = {
            str(name): read_labels(values, f"column {str(name)!r}")
            for name, values in columns.items()
        }
        lengths = {len(values) if values.ndim else -1 for values in self._columns.values()}
        if len(lengths) != 1 or -1 in lengths:
            raise ValueError("a dict of columns must hold arrays of the same length")
        self.n_rows = lengths.pop()

    @cached_property
    def kinds(self) -> Mapping[str, Kind]:
        return {name: array_kind(a.dtype, a.ndim) for name, a in self._columns.items()}

    def parts(self, columns: Sequence[str], floats: Sequence[str] = ()) -> Iterator[Part]:  # noqa: ARG002
        return array_parts(self.name, {name: self._columns[name] for name in columns}, self.n_rows)


class PandasFrame:
    """A DataFrame with pandas' interface."""

    name = "the data frame"
    files: Sequence[str] = ()
    can_be_read_again = True

    def __init__(self, frame: Any) -> None:
        self._frame = frame
        self.n_rows = len(frame)

    @cached_property
    def kinds(self) -> Mapping[str, Kind]:
        kinds: dict[str, Kind] = {}
        for place, name in enumerate(self._frame.columns):
            if str(name) in kinds:
                raise ValueError(
                    f"{self.name}: there are two columns {str(name)!r}; rename or drop one of them"
                )
            dtype = self._frame.dtypes.iloc[place]
            kind = array_kind(dtype)
            kinds[str(name)] = "text" if kind == "other" and _is_text(dtype) else kind
        return kinds

    def parts(self, columns: Sequence[str], floats: Sequence[str] = ()) -> Iterator[Part]:  # noqa: ARG002
        places = {str(name): place for place, name in enumerate(self._frame.columns)}
        series = {name: _Series(self._frame.iloc[:, places[name]]) for name in columns}
        return array_parts(self.name, series, self.n_rows)


def _is_text(dtype: Any) -> bool:
    return str(dtype) in ("object", "str", "category") or str(dtype).startswith("string")


class _Series:
    """Rows of a Series by number, whatever its index."""

    def __init__(self, series: Any) -> None:
        self._series = series

    def __getitem__(self, rows: slice) -> Any:
        return self._series.iloc[rows]


class Stream:
    """Whatever has ``__arrow_c_stream__``: polars, DuckDB, Arrow tables and readers."""

    files: Sequence[str] = ()

    def __init__(self, table: Any) -> None:
        self._arrow = needs_pyarrow(f"a table of type {_type_name(table)}")
        self._table = table
        self._reader = self._arrow.RecordBatchReader.from_stream(table)
        self.name = "the table"
        self.n_rows: int | None = getattr(table, "num_rows", None) or getattr(table, "height", None)
        self.kinds = kinds_of(self._reader.schema, self.name)
        # Of a reader, what has been read is gone.
        self.can_be_read_again = not hasattr(table, "read_next_batch")

    def parts(self, columns: Sequence[str], floats: Sequence[str] = ()) -> Iterator[Part]:  # noqa: ARG002
        reader = self._reader
        if reader is None:
            reader = self._arrow.RecordBatchReader.from_stream(self._table)
        self._reader = None
        first_row = 0
        for batch in reader:
            for piece in batches_of(batch.select(list(columns))):
                yield Part(self.name, first_row, partial(iter, (piece,)))
                first_row += len(next(iter(piece.values())))
