"""Accumulators that hold several states of the core, saved as one block of bytes.

Little-endian: the magic of the class, such as ``CLEV`` of `Evidence`, the version 1 as u16, u16
reserved, the length of the head as u64, the CRC-32 of the head as u32, the head as JSON, the states
as they are. The head names the states and gives the length of each; a state brings its own checksum
(docs/reference/state-format.md).
"""

from __future__ import annotations

import json
import math
import operator
import struct
import zlib
from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Self

from calibrant._accumulator.serializable import Serializable, state_bytes

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = ["Composite", "pack", "unpack"]

_VERSION = 1
_START = struct.Struct("<4sHHQI")


def pack(head: dict[str, Any], states: dict[str, bytes], magic: bytes) -> bytes:
    """Return one block of bytes."""
    lengths = {name: len(state) for name, state in states.items()}
    text = json.dumps({**head, "states": lengths}, separators=(",", ":")).encode()
    start = _START.pack(magic, _VERSION, 0, len(text), zlib.crc32(text))
    return b"".join((start, text, *states.values()))


def _finite(text: str) -> float:
    """Return the number; what is none, or beyond all, no calibrant has written."""
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"the head is damaged: it has the number {text}")
    return value


def unpack(block: bytes, magic: bytes, what: str) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return head and states, or say what is wrong with the bytes."""
    if len(block) < _START.size or not block.startswith(magic):
        raise ValueError(f"not the saved {what} of calibrant")
    _, version, reserved, length, checksum = _START.unpack_from(block)
    if version != _VERSION:
        raise ValueError(f"{what} of version {version}, this calibrant reads {_VERSION}")
    if reserved != 0:
        raise ValueError(f"{what} is damaged: its reserved bytes are not 0")
    text = block[_START.size : _START.size + length]
    if len(text) != length or zlib.crc32(text) != checksum:
        raise ValueError(f"{what} is damaged or cut short: its head does not fit its checksum")
    try:
        head = json.loads(text, parse_constant=_finite, parse_float=_finite)
        sizes = {name: operator.index(size) for name, size in head.pop("states").items()}
    except (AttributeError, KeyError, RecursionError, TypeError) as error:
        raise ValueError(f"{what} is damaged: its head is not that of any") from error
    states, at = {}, _START.size + length
    for name, size in sizes.items():
        states[name] = block[at : at + max(size, 0)]
        at += size
    if at != len(block):
        raise ValueError(f"{what} is cut short or too long: {len(block)} bytes instead of {at}")
    return head, states


class Composite(Serializable):
    """Base of a Python object around several accumulators, with the verbs of one.

    A subclass has a magic of four bytes, a word for messages, and says what it is made of by
    ``_parts``: a head, ready for JSON, and states by name, from which ``_of_parts`` makes it
    again. All else follows from the bytes.
    """

    __slots__ = ()

    MAGIC: ClassVar[bytes]
    _WHAT: ClassVar[str]

    @abstractmethod
    def _parts(self) -> tuple[dict[str, Any], dict[str, bytes]]:
        """Return the head and the states."""

    @classmethod
    @abstractmethod
    def _of_parts(cls, head: dict[str, Any], states: dict[str, bytes]) -> Self:
        """Return what has these parts; raise ValueError if nothing could."""

    def to_bytes(self) -> bytes:
        """Return the state as bytes, for a file or another machine; equal ones give equal bytes."""
        return pack(*self._parts(), self.MAGIC)

    @classmethod
    def from_bytes(cls, state: Buffer) -> Self:
        """Return what `to_bytes` gave these bytes of, ready to go on.

        Raises
        ------
        ValueError
            If they are damaged, of another class, or of a newer version.
        """
        head, states = unpack(state_bytes(state), cls.MAGIC, cls._WHAT)
        try:
            return cls._of_parts(head, states)
        except (
            ArithmeticError, AssertionError, AttributeError, LookupError, TypeError,
        ) as error:  # fmt: skip
            raise ValueError(f"{cls._WHAT} is damaged: {error!r}") from error

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self.to_bytes() == other.to_bytes()

    __hash__ = None  # type: ignore[assignment]  # it changes with every update
