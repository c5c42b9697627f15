"""Calls on 100 rows, the import, long streams, and threads on a busy machine."""

import contextlib
import statistics
import subprocess
import sys
import time

import numpy as np
import pytest

import calibrant
from bench.case import Case, benchmarks, binary, run, with_peak, yardstick
from calibrant import streaming

Y, P = binary(100)
LABEL, CLASSES = np.arange(100) % 3, np.random.default_rng(1).dirichlet(np.ones(3), 100)
PROFILE, SCORES = streaming.RiskProfile(), streaming.Scores()
#: Functions of labels and probabilities; of labels and those of classes.
BINARY = (
    calibrant.risk_profile, calibrant.brier_score, calibrant.log_score, calibrant.spherical_score,
    calibrant.expected_calibration_error, calibrant.maximum_calibration_error,
    calibrant.smooth_calibration_error, calibrant.roc_auc, calibrant.ks_test,
    calibrant.spiegelhalter_test,
)  # fmt: skip
MULTICLASS = (calibrant.top_label_ece, calibrant.classwise_ece)


def small(call, *data):
    name = f"100 rows: {call.__qualname__}"
    return Case(name, lambda n: data, call, sizes=(1,), threads=False)


def imported(modules):
    return lambda: run([sys.executable, "-c", f"import {modules}"])


test_runtime = benchmarks(
    *(small(call, Y, P) for call in BINARY),
    *(small(call, LABEL, CLASSES) for call in MULTICLASS),
    small(PROFILE.update, Y, P), small(SCORES.update, Y, P),
    Case("import calibrant", lambda n: (), imported("numpy, calibrant"),
         (yardstick("import numpy", imported("numpy")),), sizes=(1,), threads=False),
)  # fmt: skip


def record(benchmark, case, n, **info):
    benchmark.group = f"{case}, {n:,} rows"
    info = {"threads": 1, "bytes": 0, "why": "", "answer": "", "yardstick": False, **info}
    benchmark.extra_info.update(case=case, who="calibrant", n=n, **info)


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

    total, _, memory = with_peak(lambda: benchmark.pedantic(stream))
    record(benchmark, f"stream of {cls.__name__}", rows, memory=memory)
    part, expected = cls(), cls()
    part.update(y, p)
    for _ in range(rows // block):
        expected.merge(part)
    assert total.n == rows
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
    text = ""
    if benchmark.stats:
        two = benchmark.stats.stats
        mean, median = two.mean / statistics.mean(alone), two.median / statistics.median(alone)
        text = f"two threads over one, in turns: mean {mean:.2f}, median {median:.2f}"
    record(benchmark, f"{name} beside {busy} busy processes", rows, threads=2, answer=text)
