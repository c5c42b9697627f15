"""A window of a stream, and what it may be filled with."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from calibrant._accumulator.base import Accumulator
from calibrant._result import json_key

__all__ = ["Window", "empty_of", "public_class"]


@dataclass(frozen=True)
class Window:
    """A window of a stream.

    Attributes
    ----------
    start, end
        It has the rows with start <= timestamp < end, or the row numbers.
    n : int
        Rows in it.
    is_closed : bool
        Whether no row can join it any more.
    accumulator : Accumulator
        Of its rows; a copy.
    """

    start: Any
    end: Any
    n: int
    is_closed: bool
    accumulator: Any = field(repr=False)

    @property
    def result(self) -> Any:
        """What its rows amount to; computed at each call."""
        return self.accumulator.result()

    def to_dict(self) -> dict[str, Any]:
        """Return it ready for JSON."""
        view = self.accumulator.to_dict()
        return {
            "start": json_key(self.start), "end": json_key(self.end), "n": self.n,
            "is_closed": self.is_closed, "result": view["result"],
        }  # fmt: skip


def empty_of(factory: Any) -> Accumulator[Any]:
    """Return what a factory makes, if it can be saved and is empty."""
    if not callable(factory):
        raise TypeError(f"factory must make an accumulator, got {factory!r}")
    empty = factory()
    if not isinstance(empty, Accumulator):
        raise TypeError(f"factory must make an accumulator, it made {type(empty).__name__}")
    public_class(type(empty).__name__)
    if empty.n:
        raise ValueError(f"factory must make an empty accumulator, it has {empty.n} rows")
    return empty


def public_class(name: Any) -> type[Accumulator[Any]]:
    from calibrant import streaming

    found = getattr(streaming, name, None) if name in streaming.__all__ else None
    if not (isinstance(found, type) and issubclass(found, Accumulator)):
        raise ValueError(f"windows need an accumulator of calibrant.streaming, not {name!r}")
    return found
