"""The protocol of accumulators, and their saved form, on the least of them."""

from __future__ import annotations

import _thread
import copy
import gc
import pickle
import struct
import threading
import weakref

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibrant import set_num_threads
from calibrant._accumulator import Accumulator
from calibrant._core import _testing

ROW_COUNTER, RISK_PROFILE = 65535, 3


class Rows(Accumulator):
    __slots__ = ()
    _State = _testing.RowCounter

    def __init__(self, label: str = "", *, count: int = 0) -> None:
        self._state = self._State(label, count)

    def update(self, rows: int, **options: object) -> None:
        self._state.update(rows, **options)

    def result(self) -> int:
        return self.n

    def _parameters(self) -> dict[str, object]:
        return {"label": self._state.label}


class Other(Rows):
    """Another class around the same state."""

    __slots__ = ()


class Foreign(Rows):
    """With a state of its own class."""

    __slots__ = ()

    def __init__(self) -> None:
        self._state = object()


@pytest.fixture
def saved() -> bytes:
    return Rows("weekly", count=123456789).to_bytes()


# The protocol


def test_merge_adds_and_returns_self():
    left, right = Rows(count=3), Rows(count=4)
    assert left.merge(right) is left
    assert (left.n, right.n, len(left)) == (7, 4, 7)


def test_merge_with_itself_counts_twice():
    rows = Rows(count=3)
    assert rows.merge(rows).n == 6


def test_counts_beyond_32_bits():
    rows = Rows(count=1)
    for _ in range(40):
        rows.merge(rows)
    assert rows.n == len(rows) == 2**40


def test_merge_refuses_other_parameters():
    rows = Rows("a", count=1)
    with pytest.raises(ValueError, match=r"cannot merge RowCounter with label 'b' into one with 'a'"):
        rows.merge(Rows("b", count=1))
    assert rows.n == 1


@pytest.mark.parametrize("other", [None, 3, b"CLBR", _testing.RowCounter()])
def test_merge_refuses_other_things(other):
    with pytest.raises(TypeError, match=rf"cannot merge {type(other).__name__} into Rows"):
        Rows().merge(other)


def test_merge_refuses_other_kinds():
    with pytest.raises(TypeError, match="cannot merge Foreign into Rows"):
        Rows().merge(Foreign())


def test_a_merge_that_overflows_changes_nothing():
    rows = Rows(count=2**64 - 1)
    with pytest.raises(OverflowError, match="too many rows"):
        rows.merge(Rows(count=1))
    assert rows.n == 2**64 - 1


def test_equality_is_of_states():
    assert Rows("a", count=1) == Rows("a", count=1)
    assert Rows("a", count=1) != Rows("a", count=2)
    assert Rows("a") != Rows("b")
    assert Rows() == Other()
    assert Rows() != Foreign()
    assert Rows() != 0


def test_not_hashable():
    with pytest.raises(TypeError, match="unhashable"):
        hash(Rows())


@pytest.mark.parametrize("duplicate", [Rows.copy, copy.copy, copy.deepcopy], ids=lambda f: f.__name__)
def test_copies_are_independent(duplicate):
    rows = Rows("a", count=5)
    twin = duplicate(rows)
    assert type(twin) is Rows
    assert twin == rows
    twin.update(1)
    assert (rows.n, twin.n) == (5, 6)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickle(protocol):
    rows = Other("a", count=5)
    back = pickle.loads(pickle.dumps(rows, protocol))
    assert type(back) is Other
    assert back == rows


def test_repr():
    assert repr(Rows("weekly", count=1000)) == "Rows(n=1000, label='weekly')"


def test_no_attributes_that_copies_would_lose():
    with pytest.raises(AttributeError):
        Rows().note = "lost"


def test_weak_references():
    rows = Rows()
    reference = weakref.ref(rows)
    del rows
    gc.collect()
    assert reference() is None


def test_result_is_required():
    with pytest.raises(TypeError, match="abstract"):
        Accumulator()


# Updates


@pytest.mark.parametrize("threads", [1, 2, 4, 7])
@pytest.mark.parametrize("rows", [0, 1, 9_999, 10_000, 10_001, 1_000_000])
def test_update_counts_all_rows(threads, rows):
    set_num_threads(threads)
    try:
        counter = Rows("a", count=7)
        counter.update(rows)
        assert counter.to_bytes() == Rows("a", count=7 + rows).to_bytes()
    finally:
        set_num_threads(0)


@pytest.mark.parametrize("rows", [100, 1_000_000])
def test_a_failed_update_changes_nothing(rows):
    counter = Rows("a", count=7)
    before = counter.to_bytes()
    with pytest.raises(ValueError, match="bad row in the chunk at row 0"):
        counter.update(rows, bad_row=99)
    assert counter.to_bytes() == before


def test_an_interrupted_update_changes_nothing():
    counter = Rows("a", count=7)
    before = counter.to_bytes()
    timer = threading.Timer(0.1, _thread.interrupt_main)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        counter.update(10**8, seconds_per_chunk=0.001)
    timer.join()
    assert counter.to_bytes() == before
    counter.update(20_000)
    assert counter.n == 20_007


def test_updates_from_many_threads_lose_nothing():
    counter = Rows()
    sizes = [1, 5_000, 20_000]

    def update_often() -> None:
        for i in range(100):
            counter.update(sizes[i % 3])
            counter.to_bytes()

    threads = [threading.Thread(target=update_often) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counter.n == 8 * sum(sizes[i % 3] for i in range(100))


# The bytes


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
    with pytest.raises(TypeError, match=f"state must be a bytes-like object, got {type(wrong).__name__}"):
        Rows.from_bytes(wrong)


def test_strided_memory_is_refused(saved):
    with pytest.raises(BufferError):
        Rows.from_bytes(memoryview(saved)[::2])


def test_truncated_at_every_byte(saved):
    for size in range(len(saved)):
        with pytest.raises(ValueError, match="state is truncated|not a calibrant state: it is empty"):
            Rows.from_bytes(saved[:size])


def test_every_bit_flipped(saved):
    for bit in range(8 * len(saved)):
        damaged = bytearray(saved)
        damaged[bit // 8] ^= 1 << (bit % 8)
        with pytest.raises(ValueError, match="not a calibrant state|format|truncated|trailing|checksum mismatch"):
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
    with pytest.raises(ValueError, match=f"state ends early: {length} elements of 1 byte expected, 2 bytes left"):
        Rows.from_bytes(_testing.seal(ROW_COUNTER, 1, payload))


def refusals(saved: bytes) -> dict[str, bytes]:
    payload = saved[20:-4]
    return {
        "not a calibrant state: it is empty": b"",
        "not a calibrant state: it starts with 'PK..', not 'CLBR'": b"PK\x03\x04" + saved,
        f"state is truncated: 40 bytes, header says {len(saved)}": saved[:40],
        f"state has trailing bytes: {len(saved) + 1} bytes, header says {len(saved)}": saved + b"\0",
        f"state has trailing bytes: {2 * len(saved)} bytes, header says {len(saved)}": saved + saved,
        "checksum mismatch": saved[:-1] + bytes([saved[-1] ^ 1]),
        "state format 2 is not 1, the only one this calibrant reads": saved[:4] + b"\x02" + saved[5:],
        "state of a RowCounter expected, found RiskProfile": _testing.seal(RISK_PROFILE, 1, payload),
        "state of a RowCounter expected, found kind 4321": _testing.seal(4321, 1, payload),
        "state version 3 is newer than 1, the newest this calibrant reads": _testing.seal(ROW_COUNTER, 3, payload),
        "state has version 0": _testing.seal(ROW_COUNTER, 0, payload),
        "state has 1 byte after its last field": _testing.seal(ROW_COUNTER, 1, payload + b"\0"),
        "state ends early: 8 bytes expected, 7 bytes left": _testing.seal(ROW_COUNTER, 1, payload[:-1]),
    }


@pytest.mark.parametrize("message", refusals(Rows("weekly", count=1).to_bytes()))
def test_the_message_says_what_is_wrong(message):
    wrong = refusals(Rows("weekly", count=1).to_bytes())[message]
    with pytest.raises(ValueError) as raised:
        Rows.from_bytes(wrong)
    assert message in str(raised.value)
