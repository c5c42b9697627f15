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
from pathlib import Path

import pytest

from calibrant import set_num_threads
from calibrant._core import _testing
from calibrant.config import config

pytestmark = [pytest.mark.threads, pytest.mark.build]

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
        timeout=300,
        env={**os.environ, **environment},
    )


@pytest.mark.parametrize("workers", WORKERS)
@pytest.mark.parametrize("n", [0, 1, 99, 100, 101, 12345])
def test_every_row_is_visited_once(workers, n):
    visits, chunks = _testing.visit_rows(n, 100, workers)
    assert visits == [1] * n
    assert sum(chunks) == -(-n // 100)


def test_no_more_workers_than_chunks():
    set_num_threads(4)
    assert [_testing.workers_for(n, 10) for n in (0, 1, 10, 11, 31, 1000)] == [1, 1, 1, 2, 4, 4]


@pytest.mark.parametrize("workers", WORKERS)
def test_as_many_work_at_the_same_time_as_are_asked_for(workers):
    assert _testing.meet(workers) == workers


def test_a_helper_that_is_awake_and_does_not_begin_is_not_waited_for():
    _testing.stall_helpers(True)
    try:
        while _testing.stalled_helpers() < 3:
            _testing.sleep_in_chunks(5, 0.001, 4)
        visits, chunks = _testing.visit_rows(100_000, 10, 4)
        assert visits == [1] * 100_000
        assert chunks == [10_000, 0, 0, 0]
    finally:
        _testing.stall_helpers(False)
    assert _testing.meet(4) == 4


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="counts threads as Linux has them")
def test_helpers_are_started_when_there_is_work_for_them():
    finished = run_script("""
        import os, signal
        from pathlib import Path
        from calibrant._core import _testing
        count = lambda: len(list(Path("/proc/self/task").iterdir()))
        before = count()
        _testing.visit_rows(2, 1, 1)
        assert count() == before
        assert _testing.meet(4) == 4 and count() == before + 3
        assert _testing.meet(3) == 3 and count() == before + 3
        # Signals are for the threads of Python.
        def field(task, name):
            return (task / "status").read_text().split(name + ":")[1].split()[0]
        blocks = lambda task: int(field(task, "SigBlk"), 16) >> (signal.SIGINT - 1) & 1
        helpers = [task for task in Path("/proc/self/task").iterdir() if blocks(task)]
        assert len(helpers) == 3
        # Without work they sleep. They would never, did they look for it all the time.
        while not all(field(task, "State") == "S" for task in helpers):
            pass
        print("done")
        """)
    assert finished.stdout == "done\n", finished.stderr


def test_calls_of_many_threads_at_once():
    """More than can have help at a time."""
    wrong = []

    def work() -> None:
        found = [_testing.visit_rows(1000, 10, 4)[0] for _ in range(20)]
        wrong.extend(visits for visits in found if visits != [1] * 1000)

    threads = [threading.Thread(target=work) for _ in range(24)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.parametrize("workers", WORKERS)
def test_the_lowest_bad_chunk_is_named(workers):
    for _ in range(5):
        assert _testing.fail_in_chunks(10_000, 10, workers, [9_999, 5_001, 5_678]) == 5_000
    assert _testing.fail_in_chunks(10_000, 10, workers, []) is None


@pytest.mark.parametrize("workers", WORKERS)
@pytest.mark.parametrize(
    ("kind", "error", "message"),
    [
        ("bad_alloc", MemoryError, "not enough memory"),
        ("overflow", OverflowError, "overflow at row 77"),
    ],
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
        _testing.sleep_in_chunks(500_000, 0.001, workers)
    waited = time.perf_counter() - pressed[0]
    timer.join()
    # 20 ms and a chunk is what the loop promises; the rest is for a busy machine. It would sleep
    # for more than a minute.
    assert waited < 30
    assert _testing.sleep_in_chunks(5, 0.0, workers) == 5


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timer signals on this system")
def test_other_handlers_run_meanwhile():
    rung = []
    before = signal.signal(signal.SIGALRM, lambda *_: rung.append(time.perf_counter()))
    try:
        for chunks in (800, 8_000, 40_000):  # longer, if the machine is busy
            rung.clear()
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            assert _testing.sleep_in_chunks(chunks, 0.001, 2) == chunks
            # After the call Python would run it in any case.
            if rung[0] < time.perf_counter() - 0.1:
                break
        else:
            pytest.fail("no handler ran during the loop")
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


def threads_in_force(before: str = "pass", after: str = "pass", **environment: str) -> str:
    """The number of threads and what decided, in a fresh process without variables for them."""
    variables = {"CALIBRANT_NUM_THREADS": "", "OMP_NUM_THREADS": "", **environment}
    finished = run_script(
        f"import os; {before}; from calibrant.config import config; {after}; found = config();"
        "print(found['num_threads'], found['num_threads_source'])",
        **variables,
    )
    assert finished.returncode == 0, finished.stderr
    return finished.stdout.strip()


def test_threads_come_from_the_environment():
    assert threads_in_force(CALIBRANT_NUM_THREADS="3") == "3 CALIBRANT_NUM_THREADS"
    assert threads_in_force(OMP_NUM_THREADS="5") == "5 OMP_NUM_THREADS"
    assert threads_in_force(OMP_NUM_THREADS="5,2") == "5 OMP_NUM_THREADS"
    both = {"CALIBRANT_NUM_THREADS": "3", "OMP_NUM_THREADS": "5"}
    assert threads_in_force(**both) == "3 CALIBRANT_NUM_THREADS"
    asked = "import calibrant; calibrant.set_num_threads(7)"
    assert threads_in_force(after=asked, **both) == "7 set_num_threads"


needs_affinity = pytest.mark.skipif(
    not hasattr(os, "sched_setaffinity") or os.cpu_count() == 1, reason="no affinity to set"
)
ONE_PROCESSOR = "os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})"


@needs_affinity
def test_no_more_threads_than_the_affinity_mask_has_processors():
    assert threads_in_force(before=ONE_PROCESSOR) == "1 affinity"
    assert threads_in_force(after=ONE_PROCESSOR) == "1 affinity"
    asked = {"OMP_NUM_THREADS": "2"}  # by somebody who knows why
    assert threads_in_force(before=ONE_PROCESSOR, **asked) == "2 OMP_NUM_THREADS"


@needs_openmp
def test_threadpoolctl_counts():
    pytest.importorskip("threadpoolctl")
    limit = "import threadpoolctl; limit = threadpoolctl.threadpool_limits(1)"
    if threads_in_force().startswith("1 "):
        pytest.skip("one processor")
    assert threads_in_force(after=limit) == "1 OpenMP"
    assert threads_in_force(after=limit, OMP_NUM_THREADS="2") == "1 OpenMP"


V1 = "25 30 0:22 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct"
V2 = "25 30 0:22 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate"
JOB = "0::/jobs/one\n"

QUOTAS = {
    # Version 2: the group itself, groups above it, and a mount that is not at the usual place.
    "v2": (V2, JOB, {"sys/fs/cgroup/jobs/one/cpu.max": "300000 100000\n"}, 3),
    "v2, half a processor": (V2, JOB, {"sys/fs/cgroup/jobs/one/cpu.max": "50000 100000"}, 1),
    "v2, rounded down": (V2, JOB, {"sys/fs/cgroup/jobs/one/cpu.max": "290000 100000"}, 2),
    "v2, none": (V2, JOB, {"sys/fs/cgroup/jobs/one/cpu.max": "max 100000\n"}, 0),
    "v2, above": (
        V2,
        JOB,
        {
            "sys/fs/cgroup/jobs/one/cpu.max": "max 100000",
            "sys/fs/cgroup/jobs/cpu.max": "200000 100000",
        },
        2,
    ),
    "v2, the least": (
        V2,
        JOB,
        {
            "sys/fs/cgroup/jobs/one/cpu.max": "400000 100000",
            "sys/fs/cgroup/jobs/cpu.max": "500000 100000",
        },
        4,
    ),
    "v2, a namespace": (V2, "0::/\n", {"sys/fs/cgroup/cpu.max": "100000 100000"}, 1),
    "v2, outside": (V2, "0::/../other\n", {"sys/fs/cgroup/cpu.max": "100000 100000"}, 1),
    "v2, a mount of a part": (
        V2.replace("/ /sys", "/jobs /sys"),
        JOB,
        {"sys/fs/cgroup/one/cpu.max": "200000 100000"},
        2,
    ),
    "v2, elsewhere": (
        V2.replace("/sys/fs/cgroup", "/groups"),
        JOB,
        {"groups/jobs/cpu.max": "200000 100000"},
        2,
    ),
    "v2, nonsense": (V2, JOB, {"sys/fs/cgroup/jobs/one/cpu.max": "two\n"}, 0),
    # Version 1.
    "v1": (
        V1,
        "4:memory:/other\n3:cpu,cpuacct:/docker/abc\n",
        {
            "sys/fs/cgroup/cpu/docker/abc/cpu.cfs_quota_us": "250000\n",
            "sys/fs/cgroup/cpu/docker/abc/cpu.cfs_period_us": "100000\n",
        },
        2,
    ),
    "v1, none": (
        V1,
        "3:cpu,cpuacct:/docker/abc\n",
        {
            "sys/fs/cgroup/cpu/docker/abc/cpu.cfs_quota_us": "-1\n",
            "sys/fs/cgroup/cpu/docker/abc/cpu.cfs_period_us": "100000\n",
        },
        0,
    ),
    "v1, seen from inside": (
        V1.replace("/ /sys", "/docker/abc /sys"),
        "3:cpu,cpuacct:/docker/abc\n",
        {
            "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "100000\n",
            "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
        },
        1,
    ),
    "v1, a controller of a like name": (
        V1.replace("rw,cpu,cpuacct", "rw,cpuset"),
        "3:cpuset:/\n",
        {
            "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "100000\n",
            "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
        },
        0,
    ),
    "both, the quota in version 1": (
        V1 + "\n" + V2.replace("/sys/fs/cgroup", "/sys/fs/cgroup/unified"),
        "3:cpu,cpuacct:/a\n0::/a\n",
        {
            "sys/fs/cgroup/cpu/a/cpu.cfs_quota_us": "100000",
            "sys/fs/cgroup/cpu/a/cpu.cfs_period_us": "50000",
        },
        2,
    ),
    "no groups": ("25 30 0:22 / /proc rw - proc proc rw", "", {}, 0),
}


@pytest.mark.parametrize("name", QUOTAS)
def test_the_quota_of_a_container(name, tmp_path):
    mounts, groups, files, processors = QUOTAS[name]
    files = {"proc/self/mountinfo": mounts + "\n", "proc/self/cgroup": groups, **files}
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    assert _testing.processors_of_quota(str(tmp_path)) == processors


def test_no_files_of_control_groups_are_no_quota(tmp_path):
    assert _testing.processors_of_quota(str(tmp_path)) == 0


@pytest.fixture
def group_of_one_processor():
    """A control group of this system that gives as much time as one processor has."""
    for top, limits in (
        ("/sys/fs/cgroup", {"cpu.max": "100000 100000"}),
        ("/sys/fs/cgroup/cpu", {"cpu.cfs_period_us": "100000", "cpu.cfs_quota_us": "100000"}),
    ):
        group = Path(top, f"calibrant-test-{os.getpid()}")
        try:
            group.mkdir()
        except OSError:
            continue
        try:
            if all((group / name).exists() for name in limits):
                for name, limit in limits.items():
                    (group / name).write_text(limit)
                yield group
                return
        except OSError:
            continue
        finally:
            group.rmdir()
    pytest.skip("no control group can be made here")


def test_a_quota_of_one_processor_is_one_thread(group_of_one_processor):
    join = f"open({str(group_of_one_processor / 'cgroup.procs')!r}, 'w').write(str(os.getpid()))"
    one = {"1 cgroup quota"} if os.cpu_count() != 1 else {"1 cgroup quota", "1 processors"}
    assert threads_in_force(before=join) in one
    assert threads_in_force(before=join, OMP_NUM_THREADS="2") == "2 OMP_NUM_THREADS"


@pytest.mark.parametrize("value", ["0", "-1", "two", "2.0", "1025", "3 ", "99999999999999"])
def test_a_wrong_number_in_the_environment_stops_the_import(value):
    finished = run_script("import calibrant", CALIBRANT_NUM_THREADS=value)
    assert finished.returncode == 1
    found = finished.stderr.splitlines()[-1]
    assert found.startswith("ImportError: environment variable CALIBRANT_NUM_THREADS must be")
    assert found.endswith(f"a whole number from 1 to 1024, got '{value}'")
