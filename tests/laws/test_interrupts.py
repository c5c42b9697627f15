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
import threading
from pathlib import Path

import numpy as np
import pytest

import calibrant
from bad_input_rows import ACCUMULATORS, EVENTS, KEYS, REGRESSION
from calibrant._core import UseLock, _testing
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


# Handlers that return: an accumulator is not re-entrant


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


def use(call):
    """Return whether an accumulator could be used; if not, it was being changed."""
    try:
        call()
    except RuntimeError as rejected:
        assert "is being updated or merged" in str(rejected)  # noqa: PT017
        return False
    return True


@each_kind
def test_a_handler_that_returns(kind):
    """It sees and adds rows before the batch or after it, or is rejected."""
    rows = KINDS[kind][1]
    total = filled(kind)
    views = [view(total)]  # after one batch, two, three
    places = interrupted(lambda: total.update(**rows), at=-1)
    views.append(view(total))
    total.update(**rows)
    views.append(view(total))
    rejected = 0
    for at in range(1, places + 1):
        total, seen, added = filled(kind), [], []

        def handler():
            use(lambda: seen.append(view(total)))  # noqa: B023
            added.append(use(lambda: total.update(**rows)))  # noqa: B023

        interrupted(lambda: total.update(**rows), at, handler)  # noqa: B023
        assert all(found in views[:2] for found in seen)
        assert view(total) == views[1 + sum(added)]
        rejected += not added[0]
    assert rejected or not kind.startswith("Windowed")


@contextlib.contextmanager
def rows_while_updated(verb):
    """A handler for a core accumulator of which the update takes long enough to be found in it."""
    total, other, found = _testing.RowCounter("a", 3), _testing.RowCounter("a", 4), []
    handler = {
        "update": lambda: total.update(5),
        "merge": lambda: total.merge(other),
        "be merged": lambda: other.merge(total),
        "to_bytes": total.to_bytes,
        "copy": total.copy,
        "n": lambda: total.n,
        "==": lambda: total == other,
    }[verb]
    with alarm(lambda: found.append(use(handler)), 0.02):
        yield total
    assert found == [False]
    assert other.n == 4


@pytest.mark.parametrize("verb", ["update", "merge", "be merged", "to_bytes", "copy", "n", "=="])
def test_a_core_accumulator_that_is_updated_cannot_be_used(verb):
    with rows_while_updated(verb) as total:
        total.update(200_000, seconds_per_chunk=0.002)
    assert total.n == 200_003
    assert total.copy() == total


def test_others_can_be_used_meanwhile():
    total, other = _testing.RowCounter("a"), _testing.RowCounter("a")
    with alarm(lambda: other.update(5), 0.02):
        total.update(200_000, seconds_per_chunk=0.002)
    assert (total.n, other.n) == (200_000, 5)


def test_a_lock_that_is_left_by_an_exception_is_free():
    lock = UseLock()
    for _ in range(2):
        with pytest.raises(Signal), lock:
            raise Signal
    with lock, pytest.raises(RuntimeError, match="is being updated or merged"), lock:
        pass
    with lock:
        pass


def test_another_thread_waits_for_its_turn():
    lock, turns = UseLock(), []

    def take_turn():
        with lock:
            turns.append("second")

    with lock:
        thread = threading.Thread(target=take_turn)
        thread.start()
        thread.join(0.05)
        turns.append("first")
    thread.join()
    assert turns == ["first", "second"]


# Groups: merging is long where many of them are taken in


class Adding:
    """A handler that adds rows, and counts how often it was let."""

    def __init__(self, total, **rows):
        self.total, self.rows, self.added = total, rows, 0

    def __call__(self):
        if use(lambda: self.total.update(**self.rows)):
            self.added += 1


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
