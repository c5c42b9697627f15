"""Payloads of states that no release wrote."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator

#: Exact sums as a state has them: of nothing, 1 and -1.
NONE, ONE, MINUS_ONE = (
    struct.pack("<BqQ", 0, 0, 0),
    struct.pack("<BqQI", 0, 0, 1, 1),
    struct.pack("<BqQI", 1, 0, 1, 1),
)


def every_word_forged(payload: bytes) -> Iterator[bytes]:
    """Put counts and numbers that a reader might stumble over in place of each word."""
    words = [struct.pack("<Q", n) for n in (0, 1, 2, 2**20 + 1, 2**32, 2**62, 2**64 - 1)]
    words += [struct.pack("<d", x) for x in (-0.0, 0.25, -1.0, math.inf, math.nan)]
    for place in range(len(payload) - 7):
        for word in words:
            yield payload[:place] + word + payload[place + 8 :]


def every_byte_forged(payload: bytes) -> Iterator[bytes]:
    """Put other bytes in place of each byte."""
    for place, byte in enumerate(payload):
        for other in {0, 1, 0x7F, 0x80, 0xFF, byte ^ 1, byte ^ 0x80} - {byte}:
            yield payload[:place] + bytes([other]) + payload[place + 1 :]
