"""Calls on 100 rows, the import, long streams, and threads on a busy machine."""

import contextlib
import statistics
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import calibrant
from bench.case import Case, benchmarks, binary, run, used, yardstick
from calibrant import streaming

Y, P = binary(100)
LABEL, CLASSES = np.arange(100) % 3, np.random.default_rng(1).dirichlet(np.ones(3), 100)
PROFILE, SCORES = streaming.RiskProfile(), streaming.Scores()
ece = calibrant.expected_calibration_error
SMALL = {
    "risk_profile": lambda: calibrant.risk_profile(Y, P),
    "brier_score": lambda: calibrant.brier_score(Y, P),
    "log_score": lambda: calibrant.log_score(Y, P),
    "spherical_score": lambda: calibrant.spherical_score(Y, P),
    "expected_calibration_error": lambda: ece(Y, P),
    "expected_calibration_error, quantile": lambda: ece(Y, P, strategy="quantile"),
    "maximum_calibration_error": lambda: calibrant.maximum_calibration_error(Y, P),
    "top_label_ece": lambda: calibrant.top_label_ece(LABEL, CLASSES),
    "classwise_ece": lambda: calibrant.classwise_ece(LABEL, CLASSES),
    "smooth_calibration_error": lambda: calibrant.smooth_calibration_error(Y, P),
    "roc_auc": lambda: calibrant.roc_auc(Y, P),
    "ks_test": lambda: calibrant.ks_test(Y, P),
    "spiegelhalter_test": lambda: calibrant.spiegelhalter_test(Y, P),
    "streaming.RiskProfile.update": lambda: PROFILE.update(Y, P),
    "streaming.Scores.update": lambda: SCORES.update(Y, P),
}


def small(name, call):
    return Case(f"100 rows: {name}", lambda n: (), call, sizes=(1,), threads=False)


def imported(modules):
    return lambda: run([sys.executable, "-c", f"import {modules}"])


test_runtime = benchmarks(
    *(small(name, call) for name, call in SMALL.items()),
    Case(
        "import calibrant",
        lambda n: (),
        imported("numpy, calibrant"),
        (yardstick("import numpy", imported("numpy")),),
        sizes=(1,),
        threads=False,
    ),
)


def updated(cls, *rows):
    made = cls()
    made.update(*rows)
    return made


def times(accumulator, n):
    """Return the accumulator of n times its rows, by doubling."""
    total, power = type(accumulator)(), accumulator.copy()
    while n:
        if n & 1:
            total.merge(power)
        power.merge(power)
        n >>= 1
    return total


def record(benchmark, case, n, **info):
    benchmark.group = f"{case}, {n:,} rows"
    benchmark.extra_info.update(case=case, who="calibrant", n=n, unit="rows", special=True, **info)


@pytest.mark.long
@pytest.mark.parametrize("cls", [streaming.Scores, streaming.Scorecard])
def test_long_stream(benchmark, cls):
    """Batches of changing sizes, in constant memory; every count and every bit must be there."""
    rows, block = 10**9, 2 * 10**6
    y, p = binary(block)
    y, cuts = y == 1, np.random.default_rng(11).integers(0, block, (rows // block, 3))
    cuts.sort(axis=1)

    def stream():
        total = cls()
        for of_block in cuts.tolist():
            for begin, end in zip([0, *of_block], [*of_block, block], strict=True):
                total.update(y[begin:end], p[begin:end])
        return total

    before = used()
    total = benchmark.pedantic(stream)
    record(benchmark, f"stream of {cls.__name__}", rows, memory=max(0, used() - before))
    assert total.n == rows
    assert total == times(updated(cls, y, p), rows // block)


@pytest.mark.long
def test_many_threads(benchmark):
    """Threads that update one accumulator with batches of any size: nothing is lost."""
    threads, updates = 8, 4000
    y, p = binary(10**6)
    sizes = (1, 100, 10**4, 10**6)
    chosen = np.random.default_rng(3).choice(4, (threads, updates), p=(0.5, 0.3, 0.17, 0.03))
    total = streaming.Scores()

    def work(mine):
        for i in mine.tolist():
            total.update(y[: sizes[i]], p[: sizes[i]])

    def all_threads():
        running = [threading.Thread(target=work, args=(mine,)) for mine in chosen]
        for thread in running:
            thread.start()
        for thread in running:
            thread.join()

    benchmark.pedantic(all_threads)
    record(benchmark, f"{threads} Python threads, one accumulator", total.n, threads=threads)
    expected = streaming.Scores()
    for i, size in enumerate(sizes):
        part = updated(streaming.Scores, y[:size], p[:size])
        expected.merge(times(part, int((chosen == i).sum())))
    assert total == expected


SPIN = "import time\nend = time.monotonic() + 600\nwhile time.monotonic() < end: pass"
BUSY = {
    "brier_score": calibrant.brier_score,
    "smooth_calibration_error": calibrant.smooth_calibration_error,
    "spiegelhalter_test": calibrant.spiegelhalter_test,
    "Scorecard.update": lambda y, p: streaming.Scorecard().update(y, p),
}


@contextlib.contextmanager
def busy_processes(n):
    """Run processes that compute without a pause; none outlives the benchmark by much."""
    processes = [subprocess.Popen([sys.executable, "-c", SPIN]) for _ in range(n)]
    try:
        time.sleep(0.5)  # until they have started
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


@pytest.mark.long
@pytest.mark.parametrize("rows", [10**5, 10**6])
@pytest.mark.parametrize("busy", [0, 8])
@pytest.mark.parametrize("name", BUSY)
def test_two_threads(benchmark, name, busy, rows, pytestconfig):
    """Calls on two threads and on one in turns, with and without busy processes beside them."""
    y, p = binary(rows)
    alone = []

    def on_one_thread():
        calibrant.set_num_threads(1)
        start = time.perf_counter()
        BUSY[name](y, p)
        alone.append(time.perf_counter() - start)
        calibrant.set_num_threads(2)

    with busy_processes(busy):
        on_one_thread()
        seconds = max(10 * pytestconfig.getoption("--budget"), 0.01)
        rounds = max(3, min(1000, int(seconds / (alone.pop() * (busy // 2 + 1)))))
        benchmark.pedantic(lambda: BUSY[name](y, p), setup=on_one_thread, rounds=rounds)
    calibrant.set_num_threads(0)
    means = benchmark.stats.stats.mean / statistics.mean(alone) if benchmark.stats else None
    medians = benchmark.stats.stats.median / statistics.median(alone) if benchmark.stats else None
    record(benchmark, f"{name} beside {busy} busy processes", rows, threads=2)
    benchmark.extra_info.update(over_one_thread={"mean": means, "median": medians})
