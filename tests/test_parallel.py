"""Threads, fork, Ctrl-C and exceptions, where they meet Python."""

from __future__ import annotations

import _thread
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest

from calibrant import set_num_threads
from calibrant._core import _testing
from calibrant.config import config

WORKERS = [1, 2, 4, 7]

needs_openmp = pytest.mark.skipif(config()["openmp"] is None, reason="built without OpenMP")
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")


@pytest.fixture(autouse=True)
def default_threads():
    yield
    set_num_threads(0)


def run_script(script: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """In a fresh process, which is ended should it hang."""
    return subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", textwrap.dedent(script)],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, **environment},
    )


@pytest.mark.parametrize("workers", WORKERS)
@pytest.mark.parametrize("n", [0, 1, 99, 100, 101, 12345])
def test_every_row_is_visited_once(workers, n):
    visits, chunks = _testing.visit_rows(n, 100, workers)
    assert visits == [1] * n
    assert sum(chunks) == -(-n // 100)


@needs_openmp
def test_no_more_workers_than_chunks():
    set_num_threads(4)
    assert [_testing.workers_for(n, 10) for n in (0, 1, 10, 11, 31, 1000)] == [1, 1, 1, 2, 4, 4]


@pytest.mark.parametrize("workers", WORKERS)
def test_the_lowest_bad_chunk_is_named(workers):
    for _ in range(5):
        assert _testing.fail_in_chunks(10_000, 10, workers, [9_999, 5_001, 5_678]) == 5_000
    assert _testing.fail_in_chunks(10_000, 10, workers, []) is None


@pytest.mark.parametrize("workers", WORKERS)
@pytest.mark.parametrize(
    ("kind", "error", "message"),
    [("bad_alloc", MemoryError, "bad_alloc"), ("overflow", OverflowError, "overflow at row 77")],
)
def test_exceptions_come_out_of_the_workers(workers, kind, error, message):
    with pytest.raises(error, match=message):
        _testing.throw_in_chunks(1000, 1, workers, 77, kind)
    assert _testing.visit_rows(100, 1, workers)[0] == [1] * 100


@pytest.mark.parametrize("workers", WORKERS)
def test_flush_to_zero_of_others_is_neither_used_nor_lost(workers):
    probed = _testing.probe_flush_to_zero(workers)
    if probed is None:
        pytest.skip("no probe for this processor")
    inside_is_standard, outside_is_restored = probed
    assert inside_is_standard
    assert outside_is_restored


@pytest.mark.parametrize("workers", WORKERS)
def test_ctrl_c_stops_the_loop(workers):
    pressed = []

    def press() -> None:
        pressed.append(time.perf_counter())
        _thread.interrupt_main()

    timer = threading.Timer(0.2, press)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        _testing.sleep_in_chunks(100_000, 0.001, workers)
    waited = time.perf_counter() - pressed[0]
    timer.join()
    # 20 ms and a chunk is what the loop promises; the rest is for a busy machine.
    assert waited < 2
    assert _testing.sleep_in_chunks(5, 0.0, workers) == 5


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timer signals on this system")
def test_other_handlers_run_meanwhile():
    rung = []
    before = signal.signal(signal.SIGALRM, lambda *_: rung.append(time.perf_counter()))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        assert _testing.sleep_in_chunks(800, 0.001, 2) == 800
        # After the call Python would run it in any case.
        assert rung[0] < time.perf_counter() - 0.1
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_python_threads_run_meanwhile():
    ticks = []
    finished = threading.Event()

    def tick() -> None:
        while not finished.wait(0.01):
            ticks.append(True)

    ticker = threading.Thread(target=tick)
    ticker.start()
    _testing.sleep_in_chunks(300, 0.001, 1)
    finished.set()
    ticker.join()
    assert len(ticks) > 3


def test_exit_during_a_call_of_a_daemon_thread():
    finished = run_script("""
        import threading, time
        from calibrant._core import _testing

        def work(chunks):
            while True:
                _testing.sleep_in_chunks(chunks, 0.001, 2)

        for chunks in (5, 100, 100_000):
            threading.Thread(target=work, args=(chunks,), daemon=True).start()

        class SlowToDie:
            def __del__(self, sleep=time.sleep):
                sleep(0.3)

        time.slow_to_die = SlowToDie()
        time.sleep(0.2)
        """)
    assert (finished.returncode, finished.stderr) == (0, "")


FORK = """
    import os, sys
    from calibrant import get_num_threads, set_num_threads
    from calibrant._core import _testing
    set_num_threads(4)
    from_parent = get_num_threads()
    before = {before}
    child = os.fork()
    if child == 0:
        good = _testing.visit_rows(1000, 1, 4)[0] == [1] * 1000 and get_num_threads() == 1
        set_num_threads(4)
        good = good and get_num_threads() == 1
        os._exit(0 if good else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert get_num_threads() == from_parent
    _testing.visit_rows(1000, 1, 4)
    print("done")
"""


@needs_fork
@pytest.mark.parametrize("before", ["None", "_testing.visit_rows(1000, 1, 4)"])
def test_a_forked_child_works_on_one_thread(before):
    finished = run_script(FORK.format(before=before))
    assert finished.stdout == "done\n", finished.stderr


@needs_fork
@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
def test_multiprocessing(method):
    finished = run_script(f"""
        import multiprocessing
        from calibrant._core import _testing
        _testing.visit_rows(1000, 1, 4)
        with multiprocessing.get_context("{method}").Pool(2) as pool:
            results = pool.starmap(_testing.visit_rows, [(100, 1, 4)] * 8)
        assert all(visits == [1] * 100 for visits, _ in results)
        print("done")
        """)
    assert finished.stdout == "done\n", finished.stderr


TWO_RUNTIMES = """
    import os, threading
    import {first}, {second}
    import numpy as np
    from pathlib import Path
    from sklearn.metrics import pairwise_distances_argmin
    from calibrant import set_num_threads
    from calibrant.streaming import Scorecard

    maps = Path("/proc/self/maps").read_text().splitlines()
    loaded = {{line.split()[-1] for line in maps if "libgomp" in line}}

    rng = np.random.default_rng(0)
    y, p, points = rng.integers(0, 2, 50_000), rng.random(50_000), rng.random((4_000, 3))

    def ours(threads=4):
        set_num_threads(threads)
        card = Scorecard()
        card.update(y, p)
        return card.to_bytes()

    def theirs():
        return pairwise_distances_argmin(points, points[::7])

    alone = ours(1)
    {before}
    child = os.fork()
    if child == 0:
        os._exit(0 if ours() == alone else 1)
    assert os.waitpid(child, 0)[1] == 0
    nearest = theirs()
    other = threading.Thread(target=lambda: [theirs() for _ in range(5)])
    other.start()
    assert all(ours() == alone for _ in range(5))
    other.join()
    assert (theirs() == nearest).all() and ours() == alone
    print(len(loaded), "done")
"""


@needs_openmp
@needs_fork
@pytest.mark.skipif(sys.platform != "linux", reason="looks at the libraries as Linux names them")
@pytest.mark.parametrize(
    ("first", "second", "before"),
    [("sklearn", "calibrant", "theirs(); ours(); theirs()"), ("calibrant", "sklearn", "ours()")],
)
def test_the_openmp_runtime_of_scikit_learn_beside_ours(first, second, before):
    pytest.importorskip("sklearn")
    finished = run_script(TWO_RUNTIMES.format(first=first, second=second, before=before))
    loaded, *done = finished.stdout.split() or [""]
    assert done == ["done"], finished.stderr
    if loaded != "2":
        pytest.skip("this scikit-learn brings no OpenMP runtime of its own")


@needs_openmp
def test_threads_come_from_the_environment():
    ask = """
        from calibrant.config import config
        print(config()["num_threads"], config()["num_threads_source"])
        """
    assert run_script(ask, CALIBRANT_NUM_THREADS="3").stdout == "3 CALIBRANT_NUM_THREADS\n"
    own = {"CALIBRANT_NUM_THREADS": "", "OMP_NUM_THREADS": "5"}
    assert run_script(ask, **own).stdout == "5 OpenMP\n"


@pytest.mark.parametrize("value", ["0", "-1", "two", "2.0", "1025", "3 ", "99999999999999"])
def test_a_wrong_number_in_the_environment_stops_the_import(value):
    finished = run_script("import calibrant", CALIBRANT_NUM_THREADS=value)
    assert finished.returncode == 1
    found = finished.stderr.splitlines()[-1]
    assert found.startswith("ImportError: environment variable CALIBRANT_NUM_THREADS must be")
    assert found.endswith(f"a whole number from 1 to 1024, got '{value}'")
