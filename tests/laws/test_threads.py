"""One accumulator of every kind, used from many Python threads at once, with a GIL or without."""

from __future__ import annotations

import operator
import os
import subprocess
import sys
import sysconfig
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import calibrant
from bad_input_rows import ACCUMULATORS, EVENTS, filled
from calibrant import streaming
from calibrant.compat.torchmetrics import Metric

pytestmark = pytest.mark.build

kinds = pytest.mark.parametrize("name", ACCUMULATORS)
mergeable = pytest.mark.parametrize(
    "name", [name for name in ACCUMULATORS if hasattr(filled(name), "merge")]
)

N_THREADS = 4
ROUNDS = 12
SECONDS = 0.2
#: A hang is what a mistake would look like.
PATIENCE = 60.0


@pytest.fixture(autouse=True)
def frequent_switches():
    """With a GIL, hand it around as often as can be."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def run_at_once(*tasks: Callable[[], None]) -> None:
    """Run each task in a thread of its own, all starting together; raise what they raise."""
    barrier, raised = threading.Barrier(len(tasks)), []

    def run(task: Callable[[], None]) -> None:
        try:
            barrier.wait()
            task()
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=run, args=(task,), daemon=True) for task in tasks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
        assert not thread.is_alive(), "threads wait for each other"
    if raised:
        raise raised[0]


def empty(name: str, updates: int = 0) -> Any:
    """An accumulator without rows, that has room for so many updates."""
    if name != "streaming.Refinement":
        return ACCUMULATORS[name][0]()
    table = streaming.ScoreTable()  # it takes no more rows than the table has
    for _ in range(updates):
        table.update(**EVENTS)
    return table.refine()


def rows_of(name: str) -> dict[str, Any]:
    return ACCUMULATORS[name][1]


def view(total: Any) -> Any:
    """All that an accumulator says at one moment, to be compared."""
    if isinstance(total, streaming.Refinement):
        return total.n
    if isinstance(total, streaming.Windowed):
        return [(window.start, window.n, window.result) for window in total.windows()]
    result = total.result()
    if isinstance(result, dict):
        return {key: part.to_dict() for key, part in result.items()}
    return result.to_dict() if hasattr(result, "to_dict") else repr(result)


def read_all(total: Any) -> None:
    """Read off whatever there is; a method that has nothing to say yet may reject."""
    for name in dir(type(total)):
        if name.startswith("_") or name in WRITES:
            continue
        try:
            member = getattr(total, name)
            if callable(member):
                member()
        except (TypeError, ValueError):  # it has arguments, or needs more rows
            continue
    repr(total)
    operator.eq(total, total)


WRITES = {"from_bytes", "load", "merge", "save", "update", "of"}


# Nothing is lost


@kinds
def test_updates_and_merges_lose_nothing_while_others_read(name):
    rows, n_writers = rows_of(name), N_THREADS - 1
    updates = 2 * n_writers * ROUNDS
    shared, expected = empty(name, updates), empty(name, updates)
    can_merge = hasattr(shared, "merge")

    def write() -> None:
        for _ in range(ROUNDS):
            shared.update(**rows)
            if can_merge:
                shared.merge(filled(name))
            else:
                shared.update(**rows)

    def read() -> None:
        for _ in range(ROUNDS):
            read_all(shared)

    run_at_once(*[write] * n_writers, read)
    for _ in range(updates):
        expected.update(**rows)
    assert shared.n == expected.n
    assert view(shared) == view(expected)
    if hasattr(shared, "to_bytes"):
        assert shared.to_bytes() == expected.to_bytes()


@mergeable
def test_as_many_merges_as_there_is_time_for_lose_nothing(name):
    """Without a lock it takes thousands of them until two meet."""
    shared, one = empty(name), filled(name)
    merged: list[int] = []

    def merge() -> None:
        end, n = time.monotonic() + SECONDS, 0
        while time.monotonic() < end:
            for _ in range(20):
                shared.merge(one)
            n += 20
        merged.append(n)

    run_at_once(*[merge] * N_THREADS)
    assert shared.n == sum(merged) * one.n


@mergeable
def test_copies_of_a_moving_accumulator_are_whole(name):
    """Those that threads update meanwhile are merged from and copied, too."""
    rows = rows_of(name)
    shared, total = empty(name), empty(name)
    n = filled(name).n
    found: list[int] = []

    def write() -> None:
        for _ in range(ROUNDS):
            shared.update(**rows)

    def collect() -> None:
        for _ in range(ROUNDS):
            part = empty(name).merge(shared)
            found.append(part.n)
            total.merge(part)

    run_at_once(write, write, collect, collect)
    assert all(count % n == 0 for count in found)
    assert total.n == sum(found)
    assert shared.n == 2 * ROUNDS * n


@mergeable
def test_two_may_be_merged_into_each_other(name):
    n = filled(name).n
    for _ in range(ROUNDS):
        one, other = filled(name), filled(name)
        run_at_once(lambda a=one, b=other: a.merge(b), lambda a=one, b=other: b.merge(a))
        # Whichever is first, or both take the other as it was.
        assert sorted((one.n, other.n)) in ([2 * n, 2 * n], [2 * n, 3 * n])


@mergeable
def test_merging_with_itself_is_safe(name):
    n = filled(name).n
    total = filled(name)
    run_at_once(*[lambda: total.merge(total)] * N_THREADS)
    assert total.n % n == 0
    assert (N_THREADS + 1) * n <= total.n <= 2**N_THREADS * n


def test_large_batches_are_summed_side_by_side_and_lose_nothing():
    """Of more rows than are summed under the GIL."""
    rng = np.random.default_rng(1)
    p = rng.random(30_000)
    y = (rng.random(p.size) < p).astype(np.int32)
    shared, whole = streaming.Scorecard(), streaming.Scorecard()
    batches = np.array_split(rng.permutation(p.size), 2 * N_THREADS)

    def add(mine: list[Any]) -> None:
        for batch in mine:
            shared.update(y[batch], p[batch])
            shared.update(y, p)

    run_at_once(*[lambda mine=batches[i::N_THREADS]: add(mine) for i in range(N_THREADS)])
    for _ in range(2 * N_THREADS + 1):
        whole.update(y, p)
    assert shared.to_bytes() == whole.to_bytes()


def test_new_keys_from_many_threads_are_all_there():
    shared = streaming.Grouped(streaming.Scores)

    def add(first: int) -> None:
        for i in range(50):
            shared.update([1, 0], [0.75, 0.5], groups=[first * 1000 + i, i])
            assert shared.metric("brier").size <= shared.n_groups
            keys = shared.keys()
            assert keys == sorted(keys)
            assert shared[i].n >= 1

    run_at_once(*[lambda first=first: add(first) for first in range(1, N_THREADS + 1)])
    assert shared.n == N_THREADS * 100
    own = [1000 * first + i for first in range(1, N_THREADS + 1) for i in range(50)]
    assert shared.keys() == [*range(50), *own]
    assert shared[7].n == N_THREADS
    assert type(shared).from_bytes(shared.to_bytes()) == shared


def test_a_metric_of_torchmetrics_keeps_rows_that_come_during_a_merge():
    metric, other = Metric(streaming.Scores), Metric(streaming.Scores)
    other.update([0.75, 0.5], [1, 0])

    def update() -> None:
        for _ in range(200):
            metric.update([0.75, 0.5], [1, 0])

    def merge() -> None:
        for _ in range(200):
            metric.merge_state([other])

    run_at_once(update, merge, update, merge)
    assert metric.accumulator.n == 1600


# Results are of one moment


@kinds
def test_results_are_of_one_moment(name):
    """Each is that of so many batches, whatever another thread does while it is read."""
    rows = rows_of(name)
    shared = empty(name, 2 * ROUNDS)
    shared.update(**rows)
    expected = empty(name, 2 * ROUNDS)
    moments = []
    for _ in range(2 * ROUNDS):
        expected.update(**rows)
        moments.append(view(expected))

    def write() -> None:
        for _ in range(2 * ROUNDS - 1):
            shared.update(**rows)

    def read() -> None:
        for _ in range(2 * ROUNDS):
            assert view(shared) in moments

    run_at_once(write, read, read)
    assert view(shared) == moments[-1]


@pytest.mark.parametrize("read", ["assess", "reliability_bins", "ks", "kuiper", "roc_auc"])
def test_what_is_read_off_a_table_is_of_one_moment(read):
    shared, expected, moments = streaming.ScoreTable(), streaming.ScoreTable(), []
    shared.update(**EVENTS)
    for _ in range(ROUNDS):
        expected.update(**EVENTS)
        moments.append(repr(getattr(expected, read)()))

    def write() -> None:
        for _ in range(ROUNDS - 1):
            shared.update(**EVENTS)

    def look() -> None:
        for _ in range(ROUNDS):
            assert repr(getattr(shared, read)()) in moments

    run_at_once(write, look, look)


# Settings and first calls


def test_settings_change_while_others_work():
    p = np.linspace(0.0, 1.0, 40_000)
    y = (p > 0.5).astype(np.int32)
    expected = calibrant.brier_score(y, p)

    def score() -> None:
        for _ in range(20):
            assert calibrant.brier_score(y, p) == expected

    def change() -> None:
        for i in range(60):
            calibrant.set_num_threads(1 + i % 4)

    try:
        run_at_once(score, change, score, change)
    finally:
        calibrant.set_num_threads(0)


# Without a GIL

free_threaded = pytest.mark.skipif(
    not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="this Python is built with a GIL"
)


@free_threaded
def test_the_core_does_not_bring_the_gil_back():
    script = "import sys, calibrant; assert not sys._is_gil_enabled(); print('done')"
    environment = {name: os.environ[name] for name in os.environ if name != "PYTHON_GIL"}
    found = subprocess.run(
        [sys.executable, "-W", "error", "-c", script],
        check=True,
        capture_output=True,
        text=True,
        env=environment,
    )
    assert found.stdout == "done\n"
