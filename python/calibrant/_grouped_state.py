"""What `streaming.Grouped` keeps: keys, the accumulator of each, and their bytes."""

from __future__ import annotations

import struct
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from calibrant import _core
from calibrant._accumulator import Accumulator
from calibrant._group_keys import KINDS, kind_of
from calibrant._grouped_parts import Parts, parts_like
from calibrant._state import restore

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = ["GroupedState"]

_ROWS = struct.Struct("<Q")
_INTEGER = struct.Struct("<q")
_KIND_AT = slice(6, 8)  # of a state: so that none is opened that would hold another
_GROUPED = struct.pack("<H", 17)


class GroupedState:
    """Keys in the order in which they came, and part i of key i.

    Threads share it: what reads or changes more than one thing does so under ``lock``.
    """

    def __init__(self, empty: Accumulator[Any]) -> None:
        self.parts: Parts = parts_like(empty)
        self.keys: list[Any] = []
        self.kind: str | None = None
        self.n = 0
        self.without_key = 0  # rows whose key was missing, left out
        self._ascending = True  # whether the keys are
        self._numbers: dict[Any, int] = {}  # of the first keys, maybe not yet of all
        self.lock = threading.RLock()

    @property
    def empty(self) -> Accumulator[Any]:
        return self.parts.empty

    @property
    def n_omitted(self) -> int:
        with self.lock:
            return _total(self.parts.omitted()) + self.without_key

    def batch(self, rows: dict[str, Any], codes: NDArray[np.int32], keys: list[Any]) -> Parts:
        """Return the parts of the rows of a batch, one for each key, for `add`."""
        return self.parts.of_rows(rows, codes, len(keys), _SeenRows(self, keys))

    def add(
        self, keys: list[Any], batch: Parts, without_key: int, *, ascending: bool = True
    ) -> None:
        """Add parts, one for each key; those without rows are left out. The batch is given away."""
        counts = batch.counts()
        present = (counts + batch.omitted()) > 0
        kind = kind_of(keys[:1])
        with self.lock:
            if self.kind is not None and kind is not None and kind != self.kind:
                raise TypeError(
                    f"keys of groups must be of one kind: {self.kind} so far, now {keys[0]!r}"
                )
            at = np.flatnonzero(present)
            shown = keys if at.size == len(keys) else [keys[i] for i in at.tolist()]
            if not self.keys and shown is keys:
                _check_can_be_saved(keys)
                self.parts, added = batch, list(keys)
            else:
                places = np.full(len(keys), -1, np.int64)
                places[at], added = self._places(shown)
                _check_can_be_saved(added)
                self.parts.merge(batch, places)  # type: ignore[arg-type]  # alike, as factories are
            if added:
                after = not self.keys or self.keys[-1] < added[0]
                self._ascending = self._ascending and ascending and after
            self.keys += added
            self.kind = self.kind or (kind if shown else None)
            self.n += _total(counts)
            self.without_key += without_key

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
        """Return the number of each key."""
        with self.lock:
            for i in range(len(self._numbers), len(self.keys)):
                self._numbers[self.keys[i]] = i
            return self._numbers

    def order(self) -> Sequence[int]:
        """Return the numbers of the keys in the order of the keys."""
        with self.lock:
            numbers = range(len(self.keys))
            return numbers if self._ascending else sorted(numbers, key=self.keys.__getitem__)

    def sorted_keys(self) -> list[Any]:
        with self.lock:
            return [self.keys[i] for i in self.order()]

    def in_order(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return values of the parts in the order of the keys; both of the same moment."""
        return values if self._ascending else values[self.order()]

    def merge(self, other: GroupedState) -> None:
        """Add all parts of another; itself, too."""
        self.empty.copy().merge(other.empty)  # it refuses other parameters
        other = other.copy()  # so that no one changes it meanwhile, nor this changes itself
        self.add(other.keys, other.parts, other.without_key, ascending=other._ascending)

    def copy(self) -> GroupedState:
        made = GroupedState(self.empty)
        with self.lock:
            made.parts, made.keys = self.parts.copy(), list(self.keys)
            made.kind, made.n, made.without_key = self.kind, self.n, self.without_key
            made._ascending = self._ascending
        return made

    def to_bytes(self) -> bytes:
        with self.lock:
            head = [(self.kind or "").encode(), _ROWS.pack(self.without_key), self.empty.to_bytes()]
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
        made.kind = kind or None
        made.n = _total(made.parts.counts())
        (made.without_key,) = _ROWS.unpack(saved[1])
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
        return self._state.n + self._state.n_omitted

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
