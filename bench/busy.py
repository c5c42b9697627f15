"""What a second thread costs or saves, on the machine as it is and with all its cores busy.

    python -m bench.busy                     # about 5 minutes
    python -m bench.busy --seconds 2 --only brier --rows 1e5

Calls on one thread and on several take turns, so that both see the same machine. The ratio is the
time with several threads over that with one, of the means and of the medians: above 1 is a loss.
The mean is what a long job sees, and counts the rare call that waits for a time slice. The busy
processes are started here, four a core unless --busy says otherwise. They end with the measurement,
or by themselves at the time limit.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import calibrant
from calibrant.streaming import Scorecard

CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
#: Mean and median may be at most this, idle and busy; and idle, where there is enough to do.
IDLE, BUSY, MANY_ROWS = 1.1, 1.5, 0.65

SPIN = """
import sys, time
end = time.monotonic() + float(sys.argv[1])
while time.monotonic() < end:
    for _ in range(100_000):
        pass
"""


def tasks(all_rows: list[int]) -> Iterator[tuple[str, int, Callable[[], Any]]]:
    rng = np.random.default_rng(22)
    few = rng.random(1_000)
    yield "brownian_sup_cdf", few.size, lambda: calibrant.brownian_sup_cdf(few)
    for rows in all_rows:
        p = rng.random(rows)
        y = (rng.random(rows) < p).astype(np.int64)
        for score in (
            calibrant.brier_score,
            calibrant.smooth_calibration_error,
            calibrant.spiegelhalter_test,
            Scorecard().update,
        ):
            name = "Scorecard.update" if score.__name__ == "update" else score.__name__
            yield name, rows, functools.partial(score, y, p)


def take_turns(call: Callable[[], Any], threads: int, seconds: float) -> tuple[Any, Any]:
    """Nanoseconds of the calls on one thread, and on several."""
    times: dict[int, list[int]] = {1: [], threads: []}
    for n in times:
        calibrant.set_num_threads(n)
        call()
    end = time.monotonic() + seconds
    while time.monotonic() < end or len(times[1]) < 3:
        for n, taken in times.items():
            calibrant.set_num_threads(n)
            start = time.perf_counter_ns()
            call()
            taken.append(time.perf_counter_ns() - start)
    calibrant.set_num_threads(0)
    return np.array(times[1]), np.array(times[threads])


@contextlib.contextmanager
def busy_processes(n: int, limit: float) -> Iterator[None]:
    """Run processes that compute without a pause; none outlives its limit in seconds."""
    processes = [subprocess.Popen([sys.executable, "-c", SPIN, str(limit)]) for _ in range(n)]
    try:
        time.sleep(0.5)  # until they have started
        yield
    finally:
        for process in processes:
            process.kill()
        for process in processes:
            process.wait()


def measure(options: argparse.Namespace, busy: bool) -> int:
    """Print a line for each task and number of rows; return how many miss their bar."""
    missed = 0
    for name, rows, call in tasks(options.rows):
        if not any(word in name for word in options.only):
            continue
        one, several = take_turns(call, options.threads, options.seconds)
        mean, median = several.mean() / one.mean(), np.median(several) / np.median(one)
        bar = BUSY if busy else MANY_ROWS if rows >= 1_000_000 else IDLE
        met = max(mean, median) <= bar
        missed += not met
        print(
            f"{'busy' if busy else 'idle'}  {name:24}  {rows:>9,}  {np.median(one) / 1e3:10.1f}"
            f"  {one.mean() / 1e3:10.1f}  {mean:6.2f}  {median:6.2f}  {bar:4.2f}"
            f"  {'met' if met else 'missed'}",
            flush=True,
        )
    return missed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", default="5e4,1e5,1e6", help="numbers of rows, with commas")
    parser.add_argument("--seconds", type=float, default=10.0, help="for each line")
    parser.add_argument("--threads", type=int, default=max(CORES, 2))
    parser.add_argument("--busy", type=int, default=4 * CORES, help="processes; 0 for idle alone")
    parser.add_argument("--no-idle", action="store_true")
    parser.add_argument("--only", nargs="*", default=[""], help="words of tasks")
    options = parser.parse_args()
    options.rows = [int(float(rows)) for rows in options.rows.split(",")]

    if hasattr(os, "getloadavg"):
        print(f"{CORES} cores, load {os.getloadavg()[0]:.2f}, {options.threads} threads over one")
    print(
        "         task                           rows   median µs     mean µs    mean  median   bar"
    )
    missed = 0 if options.no_idle else measure(options, busy=False)
    if options.busy:
        limit = (1 + 4 * len(options.rows)) * (2.0 * options.seconds + 5.0)
        with busy_processes(options.busy, limit):
            missed += measure(options, busy=True)
    print("all bars are met" if missed == 0 else f"{missed} bars are missed")


if __name__ == "__main__":
    main()
