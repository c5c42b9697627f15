"""The accumulators of groups, by the number of the group: how rows get into them."""

from __future__ import annotations

import dataclasses
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from calibrant import _core
from calibrant._accumulator.base import Accumulator
from calibrant._input.labels import event_rows
from calibrant._input.validation import check_nan_policy
from calibrant.grouped._runs import GroupsOfRows, GroupsOfRuns, runs

__all__ = ["CoreParts", "GroupTotals", "Parts", "PlainParts", "parts_like"]


@dataclasses.dataclass(frozen=True)
class GroupTotals:
    """What is known of all groups together; with the parts it changes in one step.

    So an interrupt finds the parts and their totals as they were before some rows, or after them.
    """

    n_groups: int = 0
    n: int = 0
    omitted: int = 0  # rows with a key that were left out, since a value was missing
    without_key: int = 0  # rows whose key was missing, left out
    kind: str | None = None  # of the keys
    ascending: bool = True  # whether the keys are


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
        if core.totals is None:
            core.set_totals(GroupTotals())

    @property
    def totals(self) -> GroupTotals:
        found: GroupTotals = self._core.totals
        return found

    def set_totals(self, totals: GroupTotals) -> None:
        self._core.set_totals(totals)

    def of_rows(self, rows: dict[str, Any], codes: NDArray[np.int32], n: int, seen: Seen) -> Self:
        """Return other parts, those of the rows of a batch; of these nothing is changed."""
        batch = type(self)(self.empty, self._core.empty())
        core = batch._core
        if core.takes == "events":
            core.update(*_event_arguments(rows), codes, n, seen.in_all())
        elif core.takes == "rows":
            state: Any = GroupsOfRows(core, codes, n)
            _update(self.empty._from_state(state), rows, rows, self.empty)
        else:
            batch._add_runs(rows, codes, n, seen)
        return batch

    def _add_runs(self, rows: dict[str, Any], codes: NDArray[np.int32], n: int, seen: Seen) -> None:
        core = self._core
        core.grow_to(n)
        by_rows_seen = isinstance(self.empty._state, _core.Ranks)  # ties are broken by them
        in_each = seen.in_each() if by_rows_seen else np.zeros(n, np.uint64)
        for run in runs(rows, codes, n):
            of_run = in_each[run.first : run.first + run.starts.size - 1]
            state: Any = GroupsOfRuns(core, run.first, run.starts, of_run)
            _update(self.empty._from_state(state), run.arguments, rows, self.empty)
            del run  # so that its memory can be used again

    def merge(self, other: Self, places: NDArray[np.int64], totals: GroupTotals) -> None:
        """Add part i of another to part places[i], or to none if that is -1; all or nothing.

        In the same step the totals become others.
        """
        self._core.merge(other._core, places, totals)

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

    def __init__(
        self,
        empty: Accumulator[Any],
        parts: list[Any] | None = None,
        totals: GroupTotals | None = None,
    ) -> None:
        self.empty = empty
        self._kept = ([] if parts is None else parts, totals or GroupTotals())  # set in one step

    @property
    def _parts(self) -> list[Any]:
        return self._kept[0]

    @property
    def totals(self) -> GroupTotals:
        return self._kept[1]

    def set_totals(self, totals: GroupTotals) -> None:
        self._kept = (self._parts, totals)

    def of_rows(self, rows: dict[str, Any], codes: NDArray[np.int32], n: int, _seen: Seen) -> Self:
        return type(self)(self.empty, _updated(self.empty, rows, codes, n))

    def merge(self, other: Self, places: NDArray[np.int64], totals: GroupTotals) -> None:
        mine, merged = self._parts, {}
        for part, place in zip(other._parts, places.tolist(), strict=True):
            if place >= 0:
                known = place < len(mine)
                merged[place] = mine[place].copy().merge(part) if known else part.copy()
        size = max(merged, default=-1) + 1
        parts = mine + [self.empty.copy() for _ in range(size - len(mine))]
        for place, part in merged.items():
            parts[place] = part
        self._kept = (parts, totals)

    def append(self, part: Accumulator[Any]) -> None:
        self.empty.copy().merge(part)  # it rejects other parameters
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
        parts, totals = self._kept
        return type(self)(self.empty, [part.copy() for part in parts], totals)

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
    codes, y_proba = event_rows(
        y_true, y_proba, labels=rows.get("labels"), pos_label=rows.get("pos_label"),
        multi_class=rows.get("multi_class", "auto"),
    )  # fmt: skip
    return codes, y_proba, rows.get("sample_weight"), omit


def _updated(
    empty: Accumulator[Any], rows: dict[str, Any], codes: NDArray[np.int32], n: int
) -> list[Any]:
    """Return the accumulators of the groups, each updated with its rows."""
    parts = [empty.copy() for _ in range(n)]
    for run in runs(rows, codes, n):
        for group, of_group in run.of_each():
            _update(parts[group], of_group, rows, empty)
        del run, of_group  # so that their memory can be used again
    return parts


def _update(part: Any, some: dict[str, Any], rows: dict[str, Any], empty: Accumulator[Any]) -> None:
    """Update with some of the rows; if one is rejected, say which of all it is."""
    try:
        part.update(**some)
    except ValueError:
        empty.copy().update(**rows)  # type: ignore[attr-defined]
        raise
