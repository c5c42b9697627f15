"""The accumulators of groups, by the number of the group: how rows get into them."""

from __future__ import annotations

from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from calibrant import _core
from calibrant._accumulator import Accumulator
from calibrant._draws import arranged
from calibrant._labels import class_codes
from calibrant.means import check_nan_policy

__all__ = ["CoreParts", "Parts", "PlainParts", "parts_like"]

#: Arguments of ``update`` that are the same for all rows; the others have one value for each.
_SETTINGS = frozenset({"classes", "crossed", "labels", "nan_policy", "pos_label"})


class Seen(Protocol):
    """How many rows there were before a batch, omitted ones included."""

    def in_all(self) -> int: ...
    def in_each(self) -> NDArray[np.uint64]:
        """Of each group of the batch."""


class CoreParts:
    """All in one object of the core."""

    def __init__(self, empty: Accumulator[Any], core: _core.GroupedParts) -> None:
        self.empty = empty
        self._core = core

    def of_rows(self, rows: dict[str, Any], codes: NDArray[np.int32], n: int, seen: Seen) -> Self:
        """Return other parts, those of the rows of a batch; of these nothing is changed."""
        batch = type(self)(self.empty, self._core.empty())
        if batch._core.takes_events:
            batch._core.update(*_event_arguments(rows), codes, n, seen.in_all())
        else:
            batch._add_runs(rows, codes, n, seen)
        return batch

    def _add_runs(self, rows: dict[str, Any], codes: NDArray[np.int32], n: int, seen: Seen) -> None:
        runs = _Runs(rows, codes, n)
        self._core.grow_to(n)
        in_each = (
            seen.in_each() if isinstance(self.empty._state, _core.Ranks) else np.zeros(n, "u8")
        )
        state = _GroupsOfRuns(self._core, runs.starts, in_each)
        try:
            if runs.starts[-1]:
                self.empty._from_state(state).update(**runs.rows)  # type: ignore[attr-defined]
        except ValueError:
            self.empty.copy().update(**rows)  # type: ignore[attr-defined]  # raises with the row's number
            raise

    def merge(self, other: Self, places: NDArray[np.int64]) -> None:
        """Add part i of another to part places[i], or to none if that is -1; all or nothing."""
        self._core.merge(other._core, places)

    def append(self, part: Accumulator[Any]) -> None:
        self._core.append(part._state)

    def part(self, index: int) -> Any:
        return self.empty._from_state(self._core.group(index))

    def counts(self) -> NDArray[np.uint64]:
        return self._core.counts()

    def omitted(self) -> NDArray[np.uint64]:
        return self._core.omitted()

    def values(self, metric: str) -> NDArray[np.float64] | None:
        """Return a number of all parts at once, if the core has it."""
        return self._core.means(metric)

    def copy(self) -> Self:
        return type(self)(self.empty, self._core.copy())

    def __len__(self) -> int:
        return len(self._core)


class PlainParts:
    """Of any accumulator: a list of them. Rows are brought together by group, then added."""

    def __init__(self, empty: Accumulator[Any], parts: list[Any] | None = None) -> None:
        self.empty = empty
        self._parts: list[Any] = [] if parts is None else parts

    def of_rows(self, rows: dict[str, Any], codes: NDArray[np.int32], n: int, _seen: Seen) -> Self:
        return type(self)(self.empty, _updated(self.empty, rows, codes, n))

    def merge(self, other: Self, places: NDArray[np.int64]) -> None:
        merged = {}
        for part, place in zip(other._parts, places.tolist(), strict=True):
            if place >= 0:
                known = place < len(self._parts)
                merged[place] = self._parts[place].copy().merge(part) if known else part.copy()
        size = max(merged, default=-1) + 1
        parts = self._parts + [self.empty.copy() for _ in range(size - len(self._parts))]
        for place, part in merged.items():
            parts[place] = part
        self._parts = parts

    def append(self, part: Accumulator[Any]) -> None:
        self.empty.copy().merge(part)  # it refuses other parameters
        self._parts.append(part)

    def part(self, index: int) -> Any:
        return self._parts[index].copy()

    def counts(self) -> NDArray[np.uint64]:
        return np.array([part.n for part in self._parts], np.uint64)

    def omitted(self) -> NDArray[np.uint64]:
        return np.array([getattr(part, "n_omitted", 0) for part in self._parts], np.uint64)

    def values(self, _metric: str) -> NDArray[np.float64] | None:
        return None

    def copy(self) -> Self:
        return type(self)(self.empty, [part.copy() for part in self._parts])

    def __len__(self) -> int:
        return len(self._parts)


Parts = CoreParts | PlainParts


def parts_like(empty: Accumulator[Any]) -> Parts:
    """Return no parts yet, of the kind that suits the accumulator."""
    core = _core.grouped_parts(empty._state)
    return PlainParts(empty) if core is None else CoreParts(empty, core)


def _event_arguments(rows: dict[str, Any]) -> tuple[Any, Any, Any, bool]:
    """Return what an accumulator of events gives to the core."""
    y_true, y_proba = rows["y_true"], rows["y_proba"]
    omit = check_nan_policy(rows.get("nan_policy", "raise"))
    codes = class_codes(y_true, y_proba, labels=rows.get("labels"), pos_label=rows.get("pos_label"))
    return codes, y_proba, rows.get("sample_weight"), omit


class _GroupsOfRuns:
    """In the place of an accumulator's state: rows it is given go to the groups they are of."""

    n = 0

    def __init__(
        self, core: _core.GroupedParts, starts: NDArray[np.uint64], seen: NDArray[np.uint64]
    ) -> None:
        self._core, self._starts, self._seen = core, starts, seen

    def update(self, *arguments: Any) -> None:
        self._core.update_runs(self._starts, self._seen, arguments)


class _Runs:
    """Arguments of ``update``, with the rows of group i from starts[i] to starts[i + 1]."""

    def __init__(self, rows: dict[str, Any], codes: NDArray[np.int32], n: int) -> None:
        if "draws" in rows:
            rows = {**rows, "draws": arranged(rows["draws"], rows.get("axis", 1)), "axis": 1}
        order, self.starts = _core.rows_in_order(codes, n)
        settings = {name: value for name, value in rows.items() if _is_setting(name, value)}
        self.rows = settings | {
            name: _gathered(value, order, codes.size, name)
            for name, value in rows.items()
            if name not in settings
        }
        self._settings = frozenset(settings)

    def of_group(self, index: int) -> dict[str, Any] | None:
        """Return the arguments for one group, None if it has no row."""
        begin, end = int(self.starts[index]), int(self.starts[index + 1])
        if begin == end:
            return None
        return {
            name: value if name in self._settings else _cut(value, begin, end)
            for name, value in self.rows.items()
        }


def _updated(
    empty: Accumulator[Any], rows: dict[str, Any], codes: NDArray[np.int32], n: int
) -> list[Any]:
    """Return the accumulators of the groups, each updated with its rows."""
    runs, parts = _Runs(rows, codes, n), []
    for index in range(n):
        part: Any = empty.copy()
        parts.append(part)
        of_group = runs.of_group(index)
        if of_group is None:
            continue
        try:
            part.update(**of_group)
        except ValueError:
            empty.copy().update(**rows)  # type: ignore[attr-defined]  # raises with the row's number
            raise
    return parts


def _is_setting(name: str, value: Any) -> bool:
    return name in _SETTINGS or value is None or isinstance(value, (str, bool, int, float))


def _gathered(value: Any, order: NDArray[np.int64], n: int, name: str) -> Any:
    if isinstance(value, tuple):  # low and high
        return tuple(_gathered(side, order, n, name) for side in value)
    if hasattr(value, "take") and hasattr(type(value), "__arrow_c_array__"):
        rows = len(value)
        found = value.take(order) if rows == n else value
    elif isinstance(value, list) and name == "sets":  # of labels, not all of one length
        rows = len(value)
        found = [value[i] for i in order] if rows == n else value
    else:
        array = np.asarray(value)
        rows = array.shape[0] if array.ndim else 0
        found = array.take(order, axis=0) if rows == n else array
    if rows != n:
        raise ValueError(f"groups and {name} must have the same length, got {n} and {rows}")
    return found


def _cut(value: Any, begin: int, end: int) -> Any:
    if isinstance(value, tuple):
        return tuple(_cut(side, begin, end) for side in value)
    return value[begin:end]
