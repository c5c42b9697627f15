"""Rows brought together by group, for accumulators with any arguments of ``update``."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibrant import _core
from calibrant._input.columns import read_labels
from calibrant._input.draws import arranged

__all__ = ["GroupsOfRows", "GroupsOfRuns", "Run", "runs"]

#: Arguments of ``update`` that are the same for all rows; the others have one value for each.
_SETTINGS = frozenset({"classes", "crossed", "labels", "multi_class", "nan_policy", "pos_label"})


@dataclasses.dataclass(frozen=True)
class Run:
    """Arguments of ``update`` with the rows of some groups: group first + i has starts[i] on."""

    first: int
    starts: NDArray[np.int64]
    settings: dict[str, Any]
    columns: dict[str, Any]

    @property
    def arguments(self) -> dict[str, Any]:
        return self.settings | self.columns


def runs(rows: dict[str, Any], codes: NDArray[np.int32], n: int) -> Iterator[Run]:
    """Yield the arguments of ``update`` by group, for some groups at a time."""
    if "draws" in rows:
        draws = arranged(rows["draws"], rows.get("axis", 1), truth=rows.get("truth"))
        rows = {**rows, "draws": draws, "axis": 1}
    settings = {name: value for name, value in rows.items() if _is_setting(name, value)}
    columns = {
        name: _column(value, codes.size, name)
        for name, value in rows.items()
        if name not in settings
    }
    plain = {name: x for name, x in columns.items() if _is_plain(x)}
    together = _core.ArraysTogether(codes, n, _arrays(plain), len(plain) < len(columns))
    while found := together.next():
        first, starts, order, copies = found
        copied = _with_arrays(plain, iter(copies))
        taken = {
            name: copied[name] if name in copied else _taken(x, order)
            for name, x in columns.items()
        }
        yield Run(first, starts, settings, taken)
        del found, order, copies, copied, taken  # so that their memory can be used again


class GroupsOfRows:
    """In the place of an accumulator's state: rows it is given go to the groups they are of."""

    n = 0

    def __init__(self, groups: _core.GroupedAccumulators, codes: NDArray[np.int32]) -> None:
        self._groups, self._codes = groups, codes

    def update(self, *arguments: Any) -> None:
        self._groups.update_rows(self._codes, arguments)


class GroupsOfRuns:
    """The same for rows that lie side by side by group, of some groups."""

    n = 0

    def __init__(
        self,
        core: _core.GroupedAccumulators,
        first: int,
        starts: NDArray[np.int64],
        seen: NDArray[np.uint64],
    ) -> None:
        self._core, self._first, self._starts, self._seen = core, first, starts, seen

    def update(self, *arguments: Any) -> None:
        self._core.update_runs(self._first, self._starts, self._seen, arguments)


def _is_setting(name: str, value: Any) -> bool:
    return name in _SETTINGS or value is None or isinstance(value, (str, bool, int, float))


def _column(value: Any, n: int, name: str) -> Any:
    """Return what rows can be taken of: a tuple, an Arrow array, a list of sets, or an array."""
    if isinstance(value, tuple):  # low and high
        return tuple(_column(side, n, name) for side in value)
    is_arrow = hasattr(value, "take") and hasattr(type(value), "__arrow_c_array__")
    is_list_of_sets = isinstance(value, list) and name == "sets"  # not all of one length
    column = value if is_arrow or is_list_of_sets else read_labels(value, name)
    rows = 0 if isinstance(column, np.ndarray) and not column.ndim else len(column)
    if rows != n:
        raise ValueError(f"groups and {name} must have the same length, got {n} and {rows}")
    return column


def _is_plain(column: Any) -> bool:
    """Whether the core can copy its rows."""
    if isinstance(column, tuple):
        return all(_is_plain(side) for side in column)
    is_array = isinstance(column, np.ndarray)
    return is_array and column.flags.c_contiguous and not column.dtype.hasobject


def _arrays(columns: dict[str, Any]) -> list[NDArray[Any]]:
    """Return all arrays of columns, those of tuples one by one."""
    found: list[NDArray[Any]] = []
    for column in columns.values():
        found += column if isinstance(column, tuple) else (column,)
    return found


def _with_arrays(columns: dict[str, Any], arrays: Iterator[NDArray[Any]]) -> dict[str, Any]:
    """Return the same columns with others in the place of their arrays."""
    return {
        name: tuple(next(arrays) for _ in column) if isinstance(column, tuple) else next(arrays)
        for name, column in columns.items()
    }


def _taken(column: Any, order: NDArray[np.int64]) -> Any:
    if isinstance(column, tuple):
        return tuple(_taken(side, order) for side in column)
    if isinstance(column, list):
        return [column[i] for i in order]
    if not isinstance(column, np.ndarray):
        return column.take(order)
    return column.take(order, axis=0)
