"""A signal that raises, as Ctrl-C does, finds a batch whole or not there at all.

Python runs signal handlers where a function begins, after a call and at a jump back. Each test
raises at one such place after the other, in all Python code of the library that an update or a
merge runs through. The core asks for signals by itself: test_processes.py.
"""

from __future__ import annotations

import contextlib
import dis
import functools
import signal
import sys
from pathlib import Path

import numpy as np
import pytest

import calibrant
from bad_input_rows import ACCUMULATORS, EVENTS, KEYS, REGRESSION
from calibrant.streaming import (
    Assessment,
    CoverageHSIC,
    Grouped,
    Scorecard,
    Scores,
    Windowed,
)

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers")

FOLDER = str(Path(calibrant.__file__).parent)
ROWS = {name: column for name, column in REGRESSION.items() if name != "sample_weight"}
KINDS = {
    **ACCUMULATORS,
    "Windowed, rows": (lambda: Windowed(Scores, rows=4), EVENTS),
    "Windowed, rows, few are kept": (lambda: Windowed(Scores, rows=2, keep=1), EVENTS),
    "Windowed, sliding": (lambda: Windowed(Scores, rows=1, length=3, keep=1), EVENTS),
    "Grouped, from Python": (lambda: Grouped(CoverageHSIC), {**ROWS, "groups": KEYS}),
    "Grouped, rows that wait": (
        lambda: Grouped(Scorecard),
        {"y_true": EVENTS["y_true"], "y_proba": EVENTS["y_proba"], "groups": KEYS},
    ),
}
del KINDS["streaming.Refinement"]  # it takes the rows of its table, once
each_kind = pytest.mark.parametrize("kind", KINDS)


class Signal(BaseException):
    """As raised by a handler."""


def raise_signal():
    raise Signal


def interrupted(call, at, handler=raise_signal):
    """Call a handler at the at-th place where a signal is seen; return how many there were."""
    places = 0
    last = {}  # by frame, the name of the instruction before

    def in_frame(frame, event, _arg):
        nonlocal places
        if event != "opcode":
            return in_frame
        before = last.get(frame, "RESUME")
        last[frame] = dis.opname[frame.f_code.co_code[frame.f_lasti]]
        if before.startswith("CALL") or before in ("RESUME", "JUMP_BACKWARD"):
            places += 1
            if places == at:
                handler()
        return in_frame

    def into_frame(frame, _event, _arg):
        if not frame.f_code.co_filename.startswith(FOLDER):
            return None
        frame.f_trace_opcodes = True
        return in_frame

    sys.settrace(into_frame)
    try:
        call()
    finally:
        sys.settrace(None)
    return places


def filled(kind):
    make, rows = KINDS[kind]
    total = make()
    total.update(**rows)
    return total


def view(total):
    return total.n, total.to_bytes() if hasattr(total, "to_bytes") else total.result()


@each_kind
def test_update(kind):
    rows = KINDS[kind][1]
    total = filled(kind)
    views = [view(total)]  # after one batch, two, three
    places = interrupted(lambda: total.update(**rows), at=-1)
    views.append(view(total))
    total.update(**rows)
    views.append(view(total))
    for at in range(1, places + 1):
        total = filled(kind)
        with pytest.raises(Signal):
            interrupted(lambda: total.update(**rows), at)  # noqa: B023
        batches = views.index(view(total))  # as before, or as after
        total.update(**rows)
        assert view(total) == views[batches + 1]


BY_ROWS = {kind for kind in KINDS if kind.startswith("Windowed, ")}  # they cannot be merged


@pytest.mark.parametrize("kind", sorted(KINDS.keys() - BY_ROWS))
def test_merge(kind):
    total, other = filled(kind), filled(kind)
    before = view(other)
    places = interrupted(lambda: total.merge(other), at=-1)
    after = view(total)
    for at in range(1, places + 1):
        total = filled(kind)
        with pytest.raises(Signal):
            interrupted(lambda: total.merge(other), at)  # noqa: B023
        assert view(total) in (before, after)
        assert view(other) == before


# Groups: merging is long where many of them are taken in


@contextlib.contextmanager
def alarm(handler, seconds, interval=0.0):
    """Call a handler after some seconds, then again and again if there is an interval."""
    old = signal.signal(signal.SIGALRM, lambda *_: handler())
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds, interval)
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)


class Adding:
    """A handler that adds rows, and counts how often it was let."""

    def __init__(self, total, **rows):
        self.total, self.rows, self.added = total, rows, 0

    def __call__(self):
        try:
            self.total.update(**self.rows)
            self.added += 1
        except RuntimeError as rejected:
            assert "while rows are being added" in str(rejected)  # noqa: PT017


def many_groups(factory, n_groups=300, rows=500):
    rng = np.random.default_rng(1)
    p = rng.random(n_groups * rows)
    total = Grouped(factory)
    keys = np.arange(p.size) % n_groups
    total.update(rng.integers(0, 2, p.size), p, groups=keys)
    return total


of_ten_bins = functools.partial(Assessment, 10)


@pytest.mark.parametrize("factory", [of_ten_bins, Scores])
@pytest.mark.parametrize("seconds", [1e-4, 1e-3, 1e-2])
def test_a_signal_while_groups_are_merged(factory, seconds):
    total, other = many_groups(factory), many_groups(factory)
    before, after = total.to_bytes(), many_groups(factory).merge(other).to_bytes()
    with contextlib.suppress(Signal), alarm(raise_signal, seconds):
        total.merge(other)
    assert total.to_bytes() in (before, after)
    assert total.n in (300 * 500, 2 * 300 * 500)
    assert other.to_bytes() == before


INTERVALS = {"y_true": [1.0, 0.0], "intervals": [[0.0, 1.0], [0.5, 1.5]]}
PAIR = {"y_true": [1, 0], "y_proba": [0.75, 0.5]}


@pytest.mark.parametrize(
    ("total", "rows"),
    [
        (many_groups(of_ten_bins), PAIR),
        (many_groups(Scores), PAIR),
        (Grouped(CoverageHSIC), INTERVALS),
    ],
)
def test_a_handler_that_adds_rows_to_groups(total, rows):
    """Its rows and those of the call that it interrupts are all there, or are rejected."""
    before, handler = total.n, Adding(total, **rows, groups=[5, -5])
    with alarm(handler, 1e-3, 1e-3):
        for i in range(20):
            total.update(**rows, groups=[handler.added, -i])
    assert total.n == before + 2 * (handler.added + 20)
    assert total.n == sum(total[key].n for key in total)
    assert Grouped.from_bytes(total.to_bytes()) == total


@pytest.mark.parametrize(("factory", "rows"), [(Scores, PAIR), (CoverageHSIC, INTERVALS)])
@pytest.mark.parametrize("known", [None, "of the call", "of another"])
def test_a_handler_that_adds_rows_at_any_place(factory, rows, known):
    """Also before there is any row, and where a key of the call has none."""
    pa = pytest.importorskip("pyarrow")
    keys = pa.DictionaryArray.from_arrays(np.zeros(2, np.int32), ["of the call", "of none"])

    def begun():
        total = Grouped(factory)
        if known is not None:
            total.update(**rows, groups=[known] * 2)
        return total

    def handler_of(total):
        return lambda: total.update(**rows, groups=["of the handler"] * 2)

    expected = begun()
    places = interrupted(lambda: expected.update(**rows, groups=keys), at=-1)
    handler_of(expected)()
    for at in range(1, places + 1):
        total = begun()
        interrupted(lambda: total.update(**rows, groups=keys), at, handler_of(total))  # noqa: B023
        assert total.keys() == expected.keys()
        assert total == expected


def test_a_handler_in_the_midst_of_a_merge_of_groups():
    total = many_groups(of_ten_bins, 2000)
    other, handler = total.copy(), Adding(total, y_true=[1], y_proba=[0.5], groups=[1])
    with alarm(handler, 1e-2, 1e-2):
        total.merge(other)
    assert total.n == 2 * other.n + handler.added
    assert total[1].n == 2 * other[1].n + handler.added


def test_a_handler_that_adds_rows_to_windows():
    total = Windowed(Scores, rows=3, keep=2)
    handler = Adding(total, y_true=[1], y_proba=[0.5])
    with alarm(handler, 1e-4, 1e-4):
        for _ in range(50):
            total.update(**PAIR)
    assert total.n == 100 + handler.added
    assert all(window.n == 3 for window in total.windows()[:-1])
