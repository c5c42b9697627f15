"""The saved form of an accumulator: what is read back, and all that is refused.

``state/<version>/`` holds bytes that a released version wrote, one file per state in
``GOLDEN``. They are read for ever and never written again; at a release, with its version,

    import pathlib, calibrant, test_state
    folder = pathlib.Path(test_state.STATES, calibrant.__version__)
    folder.mkdir(parents=True)
    for name, make in test_state.GOLDEN.items():
        folder.joinpath(name).with_suffix(".clbr").write_bytes(make().to_bytes())
"""

# ruff: noqa: E501 (tables: a line for a case)

from __future__ import annotations

import copy
import dataclasses
import math
import pickle
import re
import struct
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

import strategies
from calibrant._core import _testing
from calibrant.streaming import RiskProfile
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


# The risk profile


def empty():
    return RiskProfile()


def binary():
    total = RiskProfile()
    total.update([1, 1, 0], [0.8, 0.8, 0.9])
    return total


def weighted():
    total = RiskProfile(powers=[-math.inf, 2, 0.5, math.inf], q_lim=0.01)
    total.update([1, 0, 1], [0.0, 0.25, 1.0], sample_weight=[1e300, 1e-300, 0.0])
    return total


def multiclass():
    total = RiskProfile(powers=[-3])
    total.update(
        [2.0, 0.0, math.nan], [[0.5, 0.2, 0.3], [1e-310, 1.0, 0.0], [0, 0, 1]], nan_policy="omit"
    )
    return total


def trillions():
    total = RiskProfile()
    total.update(*strategies.nasty_table(3))
    for _ in range(42):
        total.merge(total)
    return total


GOLDEN = {make.__name__: make for make in (empty, binary, weighted, multiclass, trillions)}
STATES = Path(__file__).parent
saved_files = pytest.mark.parametrize(
    "path", sorted(STATES.glob("*/*.clbr")), ids=lambda path: f"{path.parent.name}-{path.stem}"
)
each_state = pytest.mark.parametrize("make", GOLDEN.values(), ids=GOLDEN)


@saved_files
def test_states_of_released_versions(path):
    """Read, kept as they are, equal to what is computed today, and good for more."""
    saved = path.read_bytes()
    back = RiskProfile.from_bytes(saved)
    assert back.to_bytes() == saved
    made = GOLDEN[path.stem]()
    assert repr(back) == repr(made)
    for _ in range(2):
        if back.n:
            fields, expected = map(dataclasses.asdict, (back.result(), made.result()))
            # A later version may have better logarithms; an ulp is all that this can change.
            assert flat(fields) == pytest.approx(flat(expected), rel=2.0**-52)
        back.merge(RiskProfile.from_bytes(saved)).update([1, 0], [0.5, 0.25])
        made.merge(GOLDEN[path.stem]()).update([1, 0], [0.5, 0.25])


def flat(fields):
    return [
        x for value in fields.values() for x in (value if isinstance(value, tuple) else [value])
    ]


def test_there_are_saved_states_of_all_kinds():
    assert {path.stem for path in STATES.glob("0.1.0/*.clbr")} == set(GOLDEN)


@each_state
def test_risk_profile_written_and_read_again(make):
    total = make()
    saved = total.to_bytes()
    for back in (
        RiskProfile.from_bytes(saved),
        RiskProfile.from_bytes(memoryview(bytearray(saved))),
        total.copy(),
        copy.copy(total),
        copy.deepcopy({"a": [total]})["a"][0],
        *(pickle.loads(pickle.dumps(total, protocol)) for protocol in range(6)),
    ):
        assert type(back) is RiskProfile
        assert back is not total
        assert back == total
        assert back.to_bytes() == saved
        assert (back.n, len(back), back.n_omitted) == (total.n, total.n, total.n_omitted)
        assert repr(back) == repr(total)
        back.update([1], [0.5])
        assert back != total
        assert total.to_bytes() == saved


def test_risk_profile_repr():
    assert repr(binary()) == "streaming.RiskProfile(n=3, powers=(), q_lim=0.0)"
    assert (
        repr(weighted()) == "streaming.RiskProfile(n=3, powers=(-inf, 2.0, 0.5, inf), q_lim=0.01)"
    )


def test_risk_profile_equality():
    assert RiskProfile() == RiskProfile(q_lim=-0.0)
    assert RiskProfile(powers=[0.0]) == RiskProfile(powers=[-0.0]) == RiskProfile(powers=[5e-324])
    assert RiskProfile(q_lim=0.1) != RiskProfile()
    assert RiskProfile(powers=[2]) != RiskProfile()
    assert RiskProfile(powers=[2, 3]) != RiskProfile(powers=[3, 2])
    assert RiskProfile() != 0
    assert RiskProfile() != Rows()


@pytest.mark.parametrize(
    ("other", "error", "message"),
    [
        (RiskProfile(q_lim=0.01), ValueError, r"risk profile with q_lim 0.01 into one with q_lim 0$"),
        (RiskProfile(powers=[2]), ValueError, r"with powers \(1, 0, -0.66\d*, 2\) into one with powers \(1, 0, -0.66\d*\)$"),
        (Rows(count=1), TypeError, r"cannot merge Rows into streaming.RiskProfile"),
        (binary()._state, TypeError, r"cannot merge RiskProfile into streaming.RiskProfile"),
        (binary().result(), TypeError, r"cannot merge RiskProfile into streaming.RiskProfile"),
        (b"CLBR", TypeError, r"cannot merge bytes into streaming.RiskProfile"),
        (None, TypeError, r"cannot merge NoneType into streaming.RiskProfile"),
    ],
)  # fmt: skip
def test_risk_profiles_that_cannot_be_merged(other, error, message):
    total = binary()
    with pytest.raises(error, match=message):
        total.merge(other)
    assert total == binary()


def read_or_refuse(payload: bytes) -> None:
    """Bytes that no release wrote, under a sound seal: refused, or read as they stand."""
    sealed = _testing.seal(RISK_PROFILE, 1, payload)
    try:
        total = RiskProfile.from_bytes(sealed)
    except ValueError:
        return
    assert total.to_bytes() == sealed
    try:
        total.result()
        total.merge(total)
        total.update([1, 0], [0.0, 0.25], sample_weight=[1, 1e300])
        total.result()
    except (ValueError, OverflowError):
        return


@given(payload=st.binary(max_size=200))
def test_a_risk_profile_of_junk(payload):
    read_or_refuse(payload)
    read_or_refuse(empty().to_bytes()[20:60] + payload)


ONE, MINUS_ONE = (struct.pack("<BqQI", sign, 0, 1, 1) for sign in (0, 1))


NAMED = (1.0, 0.0, -2 / 3)


def payload_of(q_lim=0.0, powers=NAMED, counts=(1, 0, 0), extremes=(0.5, 0.5), sums=None):
    """The documented fields of a risk profile, as bytes."""
    sums = [ONE] * (1 + len(powers)) if sums is None else sums
    head = struct.pack(f"<dQ{len(powers)}d3Q2d", q_lim, len(powers), *powers, *counts, *extremes)
    return head + b"".join(sums)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"q_lim": 0.5}, r"q_lim must satisfy"),
        ({"q_lim": -0.0}, r"canonical"),
        ({"q_lim": math.nan}, r"q_lim must satisfy"),
        ({"powers": (*NAMED, math.nan)}, r"a power must be"),
        ({"powers": (1.0, -0.0, -2 / 3)}, r"canonical"),
        ({"powers": (*NAMED, 1e-310)}, r"canonical"),
        ({"powers": (1.0,)}, r"must begin with the powers \(1.0, 0.0, -0.66\d*\), found \(1.0,\)"),
        ({"counts": (1, 0, 2)}, r"counts and sums .* disagree"),
        ({"counts": (0, 0, 0)}, r"counts and sums .* disagree"),
        ({"extremes": (-0.0, 0.5)}, r"counts and sums .* disagree"),
        ({"extremes": (0.5, 1.5)}, r"counts and sums .* disagree"),
        ({"extremes": (math.nan, 0.5)}, r"counts and sums .* disagree"),
        ({"sums": [MINUS_ONE, ONE, ONE, ONE]}, r"counts and sums .* disagree"),
    ],
)
def test_states_that_cannot_be(fields, message):
    RiskProfile.from_bytes(_testing.seal(RISK_PROFILE, 1, payload_of()))  # this one can
    with pytest.raises(ValueError, match=message):
        RiskProfile.from_bytes(_testing.seal(RISK_PROFILE, 1, payload_of(**fields)))
