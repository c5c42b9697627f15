"""States of every accumulator, damaged or forged: rejected, or as good as honest ones."""

from __future__ import annotations

import contextlib
import struct
import time

import pytest

from bad_input_rows import ACCUMULATORS, filled
from calibrant import _core
from calibrant._accumulator.composite import pack, unpack
from calibrant.evidence import Evidence
from calibrant.streaming import Scores, Windowed
from forged_states import every_byte_forged, every_word_forged

SAVED = [name for name in ACCUMULATORS if hasattr(filled(name), "to_bytes")]
#: States of the core: magic, version, kind, length, payload, checksum.
OF_THE_CORE = [name for name in SAVED if filled(name).to_bytes().startswith(b"CLBR")]
#: Of others the payload holds sealed states.
PLAIN = [name for name in OF_THE_CORE if name != "streaming.Grouped"]
#: Sums whose limbs begin far from those of all others, and counts.
WORDS = [struct.pack("<q", n) for n in (2**20, -(2**20), 2**39, -(2**39), 2**12, -(2**12), 3)]


def forged(state: bytes):
    """Put a word in place of each word of the payload, under a good seal."""
    kind, version = struct.unpack_from("<HH", state, 6)
    payload = state[20:-4]
    for place in range(len(payload) - 7):
        for word in WORDS:
            yield _core._testing.seal(kind, version, payload[:place] + word + payload[place + 8 :])


@pytest.mark.parametrize("name", SAVED)
def test_damaged_bytes_are_rejected(name):
    """A bit that is flipped, bytes that are missing or too many, the state of another class."""
    honest = filled(name)
    state, read = honest.to_bytes(), type(honest).from_bytes
    assert read(state) == honest
    other = "streaming.Moments" if name != "streaming.Moments" else "streaming.Vendi"
    damaged = [b"", state + b"\0", filled(other).to_bytes()]
    for place in range(0, len(state), max(1, len(state) // 1000)):
        flipped = bytearray(state)
        flipped[place] ^= 1 << place % 8
        damaged += [flipped, state[:place]]
    for block in damaged:
        with pytest.raises(ValueError, match=r"."):
            read(block)


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("rows", [True, False], ids=["filled", "empty"])
def test_forged_payloads(name, rows):
    """Under a good seal: rejected, or read as they stand, and of use."""
    honest = filled(name) if rows else ACCUMULATORS[name][0]()
    state = honest.to_bytes()
    kind, version = struct.unpack_from("<HH", state, 6)
    payloads = [*every_word_forged(state[20:-4]), *every_byte_forged(state[20:-4])]
    for payload in payloads[:: max(1, len(payloads) // 2000)]:
        sealed = _core._testing.seal(kind, version, payload)
        try:
            total = type(honest).from_bytes(sealed)
        except ValueError:
            continue
        assert total.to_bytes() == sealed
        repr(total)
        for use in (
            total.result,
            lambda: total.merge(total),  # noqa: B023
            lambda: total.update(**ACCUMULATORS[name][1]),  # noqa: B023
            total.result,
        ):
            with contextlib.suppress(ValueError, OverflowError):
                use()


@pytest.mark.parametrize("name", PLAIN)
def test_sums_far_apart_cost_little(name):
    """What is read is merged and asked for; a sum of 2^20 limbs, times another, takes minutes."""
    honest = filled(name)
    state = honest.to_bytes()
    stride = max(1, len(state) // 300)
    start = time.process_time()
    for i, block in enumerate(forged(state)):
        if i // len(WORDS) % stride:
            continue
        try:
            found = type(honest).from_bytes(block)
        except ValueError:
            continue
        began = time.process_time()
        with contextlib.suppress(ValueError, OverflowError):
            found.copy().merge(honest)
        with contextlib.suppress(ValueError, OverflowError):
            found.result()
        assert time.process_time() - began < 2.0, (name, i)
    assert time.process_time() - start < 100.0


@pytest.mark.parametrize("kind", [14, 20])
def test_a_sum_beyond_all_products_is_rejected(kind):
    """205 bytes of these once made merge and result quadratic."""
    name = {14: "streaming.Moments", 20: "streaming.PairedScores"}[kind]
    honest = filled(name)
    state = honest.to_bytes()
    rejected = 0
    for block in forged(state):
        try:
            type(honest).from_bytes(block)
        except ValueError as error:
            rejected += "exact sum" in str(error)
    assert rejected > 100


def test_products_larger_than_their_squares():
    """LAPACK does not converge on these."""
    honest = filled("streaming.Vendi")
    accepted = 0
    for block in forged(honest.to_bytes()):
        try:
            found = type(honest).from_bytes(block)
        except ValueError:
            continue
        accepted += 1
        if found.n > 0:
            found.result()  # LAPACK and NumPy have no objection
    assert accepted > 0
    for name in ("streaming.Vendi", "streaming.Moments"):
        for block in forged(filled(name).to_bytes()):
            try:
                found = type(filled(name)).from_bytes(block)
            except ValueError:
                continue
            found.merge(filled(name))


# Heads


def head_forgeries(head: dict):
    """Put something else in place of each value of a head, at every depth; and leave each out."""
    for key, value in head.items():
        for other in (None, 3, -1, 2.5, "x", [], ["x"], [[]], {}, {"x": []}, True, 2**70, [1, 1]):
            yield {**head, key: other}
        yield {name: each for name, each in head.items() if name != key}
        if isinstance(value, dict):
            for inner in head_forgeries(value):
                yield {**head, key: inner}


def test_forged_heads_of_evidence():
    """Rejected when they are read, or by a method with ValueError: no KeyError, no TypeError."""
    honest = filled("evidence.Evidence")
    head, states = unpack(honest.to_bytes(), Evidence.MAGIC, "evidence")
    lengths = head.pop("states", None)
    assert lengths is None
    read = 0
    for damaged in head_forgeries(head):
        try:
            found = Evidence.from_bytes(pack(damaged, states, Evidence.MAGIC))
        except ValueError:
            continue
        read += 1
        repr(found)
        assert found.to_bytes()
        found.copy()
        with contextlib.suppress(ValueError):
            found.result()
        with contextlib.suppress(ValueError):
            found.merge(honest)
        with contextlib.suppress(ValueError):
            filled("evidence.Evidence").merge(found)
        found.to_dict()
    assert read > 10


def test_forged_heads_of_windows():
    """Of many windows that overlap nothing is made."""
    windows = Windowed(Scores, every=1, length=4, keep=None, lateness=10)
    windows.update([1, 0, 1], [0.5, 0.25, 0.5], timestamps=[0, 1, 2**40])
    head, states = unpack(windows.to_bytes(), Windowed.MAGIC, "windows")
    wide = Windowed.from_bytes(pack({**head, "panes": 2**50}, states, Windowed.MAGIC))
    with pytest.raises(ValueError, match=r"there are 10995\d+ windows, most of them of the same"):
        wide.windows()
    assert wide.current().n == 3
    assert wide.total().n == 3
    for damaged in head_forgeries(head):
        try:
            found = Windowed.from_bytes(pack(damaged, states, Windowed.MAGIC))
        except ValueError:
            continue
        repr(found)
        for ask in (found.windows, found.current, found.total, found.to_dict, found.to_bytes):
            with contextlib.suppress(ValueError):
                ask()


def test_the_seals_of_these_tests_are_good():
    for name in OF_THE_CORE:
        state = filled(name).to_bytes()
        kind, version = struct.unpack_from("<HH", state, 6)
        assert _core._testing.seal(kind, version, state[20:-4]) == state
