"""What `streaming.Grouped` keeps: keys, the accumulator of each, and their bytes."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from calibrant import _core
from calibrant._accumulator.base import Accumulator
from calibrant._accumulator.states import restore
from calibrant._input.group_keys import KINDS, kind_of
from calibrant.grouped._accumulators import GroupTotals, Parts, parts_like

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = ["GroupedState"]

_ROWS = struct.Struct("<Q")
_INTEGER = struct.Struct("<q")
_KIND_AT = slice(6, 8)  # of a state: so that none is opened that would hold another
_GROUPED = struct.pack("<H", 17)


class GroupedState:
    """Keys in the order in which they came, and part i of key i.

    Threads share it: what reads or changes more than one thing does so under ``lock``, which is not
    re-entrant. There are as many keys as the totals of the parts say; those beyond are of rows that
    were given up.
    """

    def __init__(self, empty: Accumulator[Any]) -> None:
        self.parts: Parts = parts_like(empty)
        self.keys: list[Any] = []
        self._numbers: dict[Any, int] = {}  # of the first keys, maybe not yet of all
        self.lock = _core.UseLock()

    @property
    def empty(self) -> Accumulator[Any]:
        return self.parts.empty

    @property
    def n_groups(self) -> int:
        return self.parts.totals.n_groups

    @property
    def n(self) -> int:
        return self.parts.totals.n

    @property
    def n_omitted(self) -> int:
        totals = self.parts.totals
        return totals.omitted + totals.without_key

    def batch(self, rows: dict[str, Any], codes: NDArray[np.int32], keys: list[Any]) -> Parts:
        """Return the parts of the rows of a batch, one for each key, for `add`."""
        return self.parts.of_rows(rows, codes, len(keys), _SeenRows(self, keys))

    def add(
        self, keys: list[Any], batch: Parts, without_key: int, *, ascending: bool = True
    ) -> None:
        """Add parts, one for each key; those without rows are left out. The batch is given away."""
        counts, omitted = batch.counts(), batch.omitted()
        at = np.flatnonzero((counts + omitted) > 0)
        shown = keys if at.size == len(keys) else [keys[i] for i in at.tolist()]
        more = GroupTotals(
            len(shown),
            _total(counts),
            _total(omitted),
            without_key,
            kind_of(keys[:1]),
            ascending,
        )
        with self.lock:
            self._add(keys, shown, at, batch, more)

    def _add(
        self,
        keys: list[Any],
        shown: list[Any],
        at: NDArray[np.intp],
        batch: Parts,
        more: GroupTotals,
    ) -> None:
        """Add parts at some places, those of the keys shown; in one step, which is the last."""
        parts = self.parts
        before = parts.totals
        if None not in (before.kind, more.kind) and more.kind != before.kind:
            raise TypeError(
                f"keys of groups must be of one kind: {before.kind} so far, now {keys[0]!r}"
            )
        del self.keys[before.n_groups :]
        places = np.full(len(keys), -1, np.int64)
        places[at], added = self._places(shown)
        _check_can_be_saved(added)
        follow = more.ascending and (not self.keys or not added or self.keys[-1] < added[0])
        if before.without_key + more.without_key >= 2**64:
            raise OverflowError("a count is full: more than 2^64 - 1 rows without a key")
        totals = GroupTotals(
            before.n_groups + len(added),
            before.n + more.n,
            before.omitted + more.omitted,
            before.without_key + more.without_key,
            before.kind or (more.kind if shown else None),
            before.ascending and (follow or not added),
        )
        self.keys += added
        if before.n_groups:
            parts.merge(batch, places, totals)  # type: ignore[arg-type]  # alike
            return
        if shown is keys:
            batch.set_totals(totals)
        else:
            first = parts_like(self.empty)
            first.merge(batch, places, totals)  # type: ignore[arg-type]
            batch = first
        self.parts = batch

    def _places(self, keys: list[Any]) -> tuple[NDArray[np.int64], list[Any]]:
        """Return where the parts of these keys are or will be, and the keys that are new."""
        if not self.keys:
            return np.arange(len(keys)), keys
        known = self.numbers()
        places = np.empty(len(keys), np.int64)
        added: list[Any] = []
        for i, key in enumerate(keys):
            place = known.get(key)
            if place is None:
                place = len(self.keys) + len(added)
                added.append(key)
            places[i] = place
        return places, added

    def numbers(self) -> dict[Any, int]:
        """Return the number of each key; under the lock."""
        for i in range(len(self._numbers), self.n_groups):
            self._numbers[self.keys[i]] = i
        return self._numbers

    def order(self) -> Sequence[int]:
        """Return the numbers of the keys in the order of the keys; under the lock."""
        numbers = range(self.n_groups)
        ascending = self.parts.totals.ascending
        return numbers if ascending else sorted(numbers, key=self.keys.__getitem__)

    def sorted_keys(self) -> list[Any]:
        with self.lock:
            return [self.keys[i] for i in self.order()]

    def in_order(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return values of the parts in the order of the keys; both of the same moment."""
        return values if self.parts.totals.ascending else values[self.order()]

    def merge(self, other: GroupedState) -> None:
        """Add all parts of another; itself, too."""
        self.empty.copy().merge(other.empty)  # it rejects other parameters
        other = other.copy()  # so that no one changes it meanwhile, nor this changes itself
        totals = other.parts.totals
        self.add(other.keys, other.parts, totals.without_key, ascending=totals.ascending)

    def copy(self) -> GroupedState:
        made = GroupedState(self.empty)
        with self.lock:
            made.parts, made.keys = self.parts.copy(), self.keys[: self.n_groups]
        return made

    def to_bytes(self) -> bytes:
        with self.lock:
            totals = self.parts.totals
            head = [
                (totals.kind or "").encode(),
                _ROWS.pack(totals.without_key),
                self.empty.to_bytes(),
            ]
            groups = [
                saved
                for i in self.order()
                for saved in (_key_bytes(self.keys[i]), self.parts.part(i).to_bytes())
            ]
        return _core.seal_grouped(head + groups)

    @staticmethod
    def from_bytes(state: Buffer) -> GroupedState:
        saved = _core.open_grouped(state)
        if len(saved) < 3 or len(saved) % 2 != 1 or len(saved[1]) != _ROWS.size:
            raise ValueError("malformed state: the parts of a Grouped are not complete")
        kind, groups = saved[0].decode(), saved[3:]
        if kind not in ("", *KINDS) or (kind == "") != (not groups):
            raise ValueError("malformed state: keys of groups of an unknown kind")
        if saved[2][_KIND_AT] == _GROUPED:
            raise ValueError("malformed state: groups of groups")
        made = GroupedState(restore(saved[2]))
        nothing = made.empty.to_bytes()
        if made.empty.n:
            raise ValueError("malformed state: the empty accumulator of a Grouped has rows")
        made.keys = [_key(kind, key) for key in groups[::2]]
        if any(not a < b for a, b in zip(made.keys, made.keys[1:], strict=False)):
            raise ValueError("malformed state: keys of groups are not in order")
        for part in groups[1::2]:
            if part == nothing:
                raise ValueError("malformed state: a group without rows")
            made.parts.append(type(made.empty).from_bytes(part))
        (without_key,) = _ROWS.unpack(saved[1])
        n, omitted = _total(made.parts.counts()), _total(made.parts.omitted())
        made.parts.set_totals(GroupTotals(len(made.keys), n, omitted, without_key, kind or None))
        return made

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, GroupedState):
            return NotImplemented
        return self.to_bytes() == other.to_bytes()

    __hash__ = None  # type: ignore[assignment]  # it changes


class _SeenRows:
    """The rows of a state before a batch of these keys."""

    def __init__(self, state: GroupedState, keys: list[Any]) -> None:
        self._state, self._keys = state, keys

    def in_all(self) -> int:
        totals = self._state.parts.totals
        return totals.n + totals.omitted + totals.without_key

    def in_each(self) -> NDArray[np.uint64]:
        state = self._state
        with state.lock:
            numbers, rows = state.numbers(), state.parts.counts() + state.parts.omitted()
            found = [rows[numbers[key]] if key in numbers else 0 for key in self._keys]
        return np.array(found, np.uint64)


def _check_can_be_saved(keys: list[Any]) -> None:
    if not keys or not isinstance(keys[0], str):
        return
    try:
        "".join(keys).encode()
    except UnicodeEncodeError as error:  # half of a surrogate pair, as in the name of a file
        half = error.object[error.start]
        key = next(key for key in keys if half in key)
        raise ValueError(f"keys must be text that UTF-8 can hold, found {key!r}") from None


def _key_bytes(key: Any) -> bytes:
    if isinstance(key, str):
        return key.encode()
    return bytes([key]) if isinstance(key, bool) else _INTEGER.pack(key)


def _key(kind: str, saved: bytes) -> Any:
    if kind == "str":
        return saved.decode()
    if kind == "bool":
        if saved not in (b"\0", b"\1"):
            raise ValueError("malformed state: a key is no boolean")
        return saved == b"\1"
    if len(saved) != _INTEGER.size:
        raise ValueError("malformed state: a key is no integer")
    return _INTEGER.unpack(saved)[0]


def _total(counts: NDArray[np.uint64]) -> int:
    """Return the sum of counts, which may be beyond 64 bits."""
    low, high = counts & np.uint64(2**32 - 1), counts >> np.uint64(32)
    return int(low.sum()) + (int(high.sum()) << 32)
