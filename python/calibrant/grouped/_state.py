"""The saved form of `streaming.Grouped`: the kind of the keys, and the state of each group."""

from __future__ import annotations

import itertools
import struct
from typing import TYPE_CHECKING, Any

from calibrant import _core
from calibrant._accumulator.states import restore
from calibrant._input.group_keys import KINDS

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = ["groups_from_bytes", "groups_to_bytes"]

_ROWS = struct.Struct("<Q")
_INTEGER = struct.Struct("<q")
#: Offset of the kind field of a state. It is checked first, so that a nested `Grouped` is rejected.
_KIND_AT = slice(6, 8)
_GROUPED = struct.pack("<H", 17)


def groups_to_bytes(groups: _core.GroupedAccumulators) -> bytes:
    still = groups.copy()  # all of one moment
    empty = still.empty
    pieces = [(still.kind or "").encode(), _ROWS.pack(still.without_key), empty.to_bytes()]
    for key, number in zip(still.keys(), still.numbers(), strict=True):
        part = empty._from_state(still.merged([number]))
        pieces += (_key_bytes(key), part.to_bytes())
    return _core.seal_grouped(pieces)


def groups_from_bytes(state: Buffer) -> _core.GroupedAccumulators:
    saved = _core.open_grouped(state)
    if len(saved) < 3 or len(saved) % 2 != 1 or len(saved[1]) != _ROWS.size:
        raise ValueError("malformed state: the parts of a Grouped are not complete")
    kind, groups = saved[0].decode(), saved[3:]
    if kind not in ("", *KINDS) or (kind == "") != (not groups):
        raise ValueError("malformed state: keys of groups of an unknown kind")
    if saved[2][_KIND_AT] == _GROUPED:
        raise ValueError("malformed state: groups of groups")
    empty = restore(saved[2])
    nothing = empty.to_bytes()
    if empty.n:
        raise ValueError("malformed state: the empty accumulator of a Grouped has rows")
    keys = [_key(kind, key) for key in groups[::2]]
    if any(not a < b for a, b in itertools.pairwise(keys)):
        raise ValueError("malformed state: keys of groups are not in order")
    made = _core.GroupedAccumulators(empty)
    for part in groups[1::2]:
        if part == nothing:
            raise ValueError("malformed state: a group without rows")
        made.append(type(empty).from_bytes(part)._state)
    made.set_keys(keys, kind or None, *_ROWS.unpack(saved[1]))
    return made


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
