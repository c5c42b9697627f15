"""States that hold states (evidence, windows, sequential tests), damaged in every way.

Those of the core are damaged a hundred thousand times by cpp/tests/test_mutated_states.cpp.
"""

from __future__ import annotations

import json
import random
import re
import struct
import zlib
from pathlib import Path

import pytest

from calibrant.streaming import restore

START = struct.Struct("<4sHHQI")
KINDS = ("Evidence", "SequentialCalibrationTest", "Windowed")
PATHS = [path for kind in KINDS for path in sorted(Path(__file__).parent.glob(f"*/{kind}/*.clbr"))]
saved_files = pytest.mark.parametrize(
    "path", PATHS, ids=lambda path: "-".join([*path.parts[-3:-1], path.stem])
)
TOKEN = re.compile(rb'-?\d+(\.\d+)?|"[^"]*"|true|false|null|\[\]|\{\}')
WORDS = (b"0", b"-1", b"1e400", b"NaN", b"null", b"[]", b"{}", b'"x"', b'""', b"true", b"1.5")


def damaged(state: bytes, numbers: random.Random) -> bytes:
    block = bytearray(state)
    for _ in range(numbers.randrange(1, 4)):
        place = numbers.randrange(len(block) + 1)
        match numbers.randrange(4):
            case 0:
                block[place : place + 1] = bytes([numbers.randrange(256)])
            case 1:
                del block[place:]
            case 2:
                del block[place : place + numbers.randrange(1, 9)]
            case _:
                block[place:place] = numbers.randbytes(numbers.randrange(1, 5))
    return bytes(block)


def resealed(state: bytes, head: bytes) -> bytes:
    """Another head, with a checksum that fits."""
    magic, version, reserved, length, _ = START.unpack_from(state)
    start = START.pack(magic, version, reserved, len(head), zlib.crc32(head))
    return start + head + state[START.size + length :]


def head_of(state: bytes) -> bytes:
    length = START.unpack_from(state)[3]
    return state[START.size : START.size + length]


@saved_files
def test_damaged_ones_are_refused_or_equal(path):
    numbers, state = random.Random(path.stem), path.read_bytes()
    refused = 0
    for _ in range(1_000):
        block = damaged(state, numbers)
        try:
            assert restore(block).to_bytes() == state == block
        except ValueError:
            refused += 1
    assert refused > 900


@saved_files
def test_every_byte_before_the_states_counts(path):
    state = path.read_bytes()
    for place in range(START.size + START.unpack_from(state)[3]):
        block = bytearray(state)
        block[place] ^= 0x40
        with pytest.raises(ValueError, match=r"."):
            restore(block)


@saved_files
def test_heads_that_nobody_wrote_raise_nothing_but_value_errors(path):
    state = path.read_bytes()
    head = head_of(state)
    for token in TOKEN.finditer(head):
        for word in WORDS:
            block = resealed(state, head[: token.start()] + word + head[token.end() :])
            try:
                found = restore(block)
            except ValueError:
                continue
            assert restore(found.to_bytes()) == found
            assert found.to_dict()["n"] == found.n


@saved_files
@pytest.mark.parametrize(
    "head", [b"", b"{", b"[]", b"3", b"{}", b'{"states":3}', b'{"states":{"a":"b"}}', b"[" * 10**5]
)
def test_heads_of_another_shape(path, head):
    with pytest.raises(ValueError, match=r"."):
        restore(resealed(path.read_bytes(), head))


@saved_files
def test_of_a_newer_version(path):
    state = bytearray(path.read_bytes())
    state[4] = 2
    with pytest.raises(ValueError, match="of version 2, this calibrant reads 1"):
        restore(state)


@saved_files
def test_a_view_for_json(path):
    total = restore(path.read_bytes())
    view = json.loads(json.dumps(total.to_dict(), allow_nan=False))
    assert (view["kind"], view["n"]) == (type(total).__name__, total.n)
    assert len(view) > 3
