"""What all sources of rows have in common: named columns, read part by part."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

__all__ = ["BATCH_ROWS", "Columns", "Kind", "Part", "Source", "needs_pyarrow"]

#: Rows that are scored at a time: some megabytes, which a processor's cache may hold.
BATCH_ROWS = 2**18

#: Columns by name: arrays of NumPy or Arrow, or Series of pandas.
Columns = Mapping[str, Any]

Kind = Literal["boolean", "integer", "float", "text", "list", "other"]


@dataclass(frozen=True)
class Part:
    """Rows that can be read on their own, in any thread.

    Attributes
    ----------
    name : str
        Of the file they are in, for messages.
    first_row : int
        The place of the first of them in that file.
    read : callable
        Gives their batches, in order.
    """

    name: str
    first_row: int
    read: Callable[[], Iterable[Columns]]


class Source(Protocol):
    """A table, wherever it is."""

    @property
    def name(self) -> str:
        """What messages call it."""

    @property
    def files(self) -> Sequence[str]:
        """The files it is in, if it is in files."""

    @property
    def kinds(self) -> Mapping[str, Kind]:
        """What the columns hold, by name."""

    @property
    def n_rows(self) -> int | None:
        """How many rows there are, where that is known beforehand."""

    @property
    def can_be_read_again(self) -> bool:
        """Whether `parts` may be asked for more than once."""

    def parts(self, columns: Sequence[str], floats: Sequence[str]) -> Iterator[Part]:
        """Give the rows in order, with these columns only.

        ``floats`` are those that must be numbers, if the source can choose, as CSV can.
        """


def needs_pyarrow(what: str) -> Any:
    """Return pyarrow, or say how to get it."""
    try:
        import pyarrow as pa
    except ImportError as error:
        raise ImportError(f'{what} needs pyarrow: pip install ".[arrow]"') from error
    return pa
