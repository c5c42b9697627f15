"""The saved form of an accumulator: what is read back, and all that is refused."""

from __future__ import annotations

import re
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibrant._core import _testing
from row_counter import Rows

ROW_COUNTER, RISK_PROFILE = 65535, 3


@pytest.fixture
def saved() -> bytes:
    return Rows("weekly", count=123456789).to_bytes()


@given(label=st.text(st.characters(codec="utf-8"), max_size=300), count=st.integers(0, 2**64 - 1))
def test_written_and_read_again(label, count):
    rows = Rows(label, count=count)
    saved = rows.to_bytes()
    back = Rows.from_bytes(saved)
    assert back == rows
    assert back.to_bytes() == saved
    assert (back.n, back._state.label) == (count, label)


def test_the_layout_is_the_documented_one():
    saved = Rows("ab", count=5).to_bytes()
    payload = struct.pack("<Q2sQ", 2, b"ab", 5)
    header = struct.pack("<4sHHHHQ", b"CLBR", 1, ROW_COUNTER, 1, 0, 20 + len(payload) + 4)
    assert saved[:-4] == header + payload


@pytest.mark.parametrize("convert", [bytes, bytearray, memoryview])
def test_any_bytes_like_object(saved, convert):
    assert Rows.from_bytes(convert(saved)).to_bytes() == saved


@pytest.mark.parametrize("wrong", [None, 3, "CLBR", [67, 76]])
def test_other_objects_are_refused(wrong):
    with pytest.raises(
        TypeError, match=f"state must be a bytes-like object, got {type(wrong).__name__}"
    ):
        Rows.from_bytes(wrong)


def test_strided_memory_is_refused(saved):
    with pytest.raises(BufferError):
        Rows.from_bytes(memoryview(saved)[::2])


def test_truncated_at_every_byte(saved):
    for size in range(len(saved)):
        with pytest.raises(
            ValueError, match=r"state is truncated|not a calibrant state: it is empty"
        ):
            Rows.from_bytes(saved[:size])


def test_every_bit_flipped(saved):
    for bit in range(8 * len(saved)):
        damaged = bytearray(saved)
        damaged[bit // 8] ^= 1 << (bit % 8)
        with pytest.raises(
            ValueError, match=r"not a calibrant state|format|truncated|trailing|checksum mismatch"
        ):
            Rows.from_bytes(damaged)


@given(junk=st.binary(max_size=200))
def test_junk(junk):
    for bytes_ in (junk, b"CLBR" + junk, b"CLBR\x01\x00\xff\xff\x01\x00\x00\x00" + junk):
        with pytest.raises(ValueError, match="state"):
            Rows.from_bytes(bytes_)


@given(payload=st.binary(max_size=100))
def test_a_sound_seal_around_any_payload(payload):
    try:
        rows = Rows.from_bytes(_testing.seal(ROW_COUNTER, 1, payload))
    except ValueError:
        return
    assert rows.to_bytes() == _testing.seal(ROW_COUNTER, 1, payload)


@pytest.mark.parametrize("length", [3, 2**16, 2**32, 2**63, 2**64 - 1, 2**64 - 8])
def test_a_count_that_the_bytes_cannot_hold(length):
    payload = struct.pack("<QH", length, 0)
    with pytest.raises(
        ValueError, match=f"state ends early: {length} elements of 1 byte expected, 2 bytes left"
    ):
        Rows.from_bytes(_testing.seal(ROW_COUNTER, 1, payload))


def refusals(saved: bytes) -> dict[str, bytes]:
    payload = saved[20:-4]
    return {
        "not a calibrant state: it is empty": b"",
        "not a calibrant state: it starts with 'PK..', not 'CLBR'": b"PK\x03\x04" + saved,
        f"state is truncated: 40 bytes, header says {len(saved)}": saved[:40],
        f"state has trailing bytes: {len(saved) + 1} bytes, header says {len(saved)}": saved
        + b"\0",
        f"state has trailing bytes: {2 * len(saved)} bytes, header says {len(saved)}": saved
        + saved,
        "checksum mismatch": saved[:-1] + bytes([saved[-1] ^ 1]),
        "state format 2 is not 1, the only one this calibrant reads": saved[:4]
        + b"\x02"
        + saved[5:],
        "state of a RowCounter expected, found RiskProfile": _testing.seal(
            RISK_PROFILE, 1, payload
        ),
        "state of a RowCounter expected, found kind 4321": _testing.seal(4321, 1, payload),
        "state version 3 is newer than 1, the newest this calibrant reads": _testing.seal(
            ROW_COUNTER, 3, payload
        ),
        "state has version 0": _testing.seal(ROW_COUNTER, 0, payload),
        "state has 1 byte after its last field": _testing.seal(ROW_COUNTER, 1, payload + b"\0"),
        "state ends early: 8 bytes expected, 7 bytes left": _testing.seal(
            ROW_COUNTER, 1, payload[:-1]
        ),
    }


@pytest.mark.parametrize("message", refusals(Rows("weekly", count=1).to_bytes()))
def test_the_message_says_what_is_wrong(message):
    wrong = refusals(Rows("weekly", count=1).to_bytes())[message]
    with pytest.raises(ValueError, match=re.escape(message)):
        Rows.from_bytes(wrong)
