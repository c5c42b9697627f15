"""The bytes of what holds several states: a head as JSON, and the states as they are.

Little-endian: the magic (``CLEV`` of `Evidence`), the version 1 as u16, u16 reserved, the length
of the head as u64, the CRC-32 of the head as u32, the head, the states. The head names the states
and gives the length of each; a state brings its own checksum (docs/reference/state-format.md).
"""

from __future__ import annotations

import json
import math
import operator
import struct
import zlib
from typing import Any

__all__ = ["MAGIC", "pack", "unpack"]

MAGIC = b"CLEV"
_VERSION = 1
_START = struct.Struct("<4sHHQI")


def pack(head: dict[str, Any], states: dict[str, bytes], magic: bytes = MAGIC) -> bytes:
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


def unpack(
    block: bytes, magic: bytes = MAGIC, what: str = "evidence"
) -> tuple[dict[str, Any], dict[str, bytes]]:
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
