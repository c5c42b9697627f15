"""Every kind of accumulator where processes, signals, threads and memory go wrong."""

from __future__ import annotations

import copy
import gc
import os
import pickle
import random
import signal
import subprocess
import sys
import textwrap
import threading
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from bad_input_rows import ACCUMULATORS, filled
from calibrant import evidence, ks_test, set_num_threads, spiegelhalter_test, streaming
from interrupts import assert_interrupted, needs_signals

HERE = Path(__file__).parent
#: Those that can be saved; what is left is made for one pass.
KINDS = [name for name in ACCUMULATORS if hasattr(filled(name), "to_bytes")]
kinds = pytest.mark.parametrize("name", KINDS)

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
needs_timer = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timer signals")


def run_script(script: str, **environment: str) -> str:
    """Run it in a fresh process, which is ended should it hang; it prints "done" at its end."""
    path = os.pathsep.join([str(HERE), *sys.path])
    finished = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", textwrap.dedent(script)],
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "PYTHONPATH": path, **environment},
    )
    assert finished.stdout.endswith("done\n"), finished.stdout + finished.stderr
    return finished.stdout


def repeated(rows, times: int):
    """The rows many times over."""
    if isinstance(rows, dict):
        return {name: repeated(column, times) for name, column in rows.items()}
    return np.concatenate([np.array(rows)] * times)


# Processes


@needs_fork
def test_a_forked_child_goes_on():
    run_script("""
        import os
        from bad_input_rows import ACCUMULATORS
        from calibrant import set_num_threads
        from test_processes import KINDS, repeated

        def states():
            found = []
            for name in KINDS:
                make, rows = ACCUMULATORS[name]
                total = make()
                total.update(**repeated(rows, 4_000))
                found.append(total.to_bytes())
            return found

        set_num_threads(4)
        expected = states()
        child = os.fork()
        if child == 0:
            os._exit(0 if states() == expected else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert states() == expected
        print("done")
        """)


@needs_fork
@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
def test_states_go_to_workers_and_back(method):
    run_script(f"""
        import multiprocessing, operator
        from bad_input_rows import ACCUMULATORS, filled
        from test_processes import KINDS

        totals = [filled(name) for name in KINDS]
        with multiprocessing.get_context("{method}").Pool(2) as pool:
            copies = pool.map(operator.methodcaller("copy"), totals)
            states = pool.map(operator.methodcaller("to_bytes"), totals)
        for total, twin, state in zip(totals, copies, states, strict=True):
            assert twin == total and state == total.to_bytes(), total
        print("done")
        """)


#: Of Python 3.13 on, and before. The former returns what the script raised.
INTERPRETERS = "_interpreters" if sys.version_info >= (3, 13) else "_xxsubinterpreters"


def test_a_subinterpreter_is_rejected_and_does_no_harm():
    pytest.importorskip(INTERPRETERS)
    run_script(f"""
        import {INTERPRETERS} as interpreters
        try_it = '''if True:
            import warnings
            warnings.simplefilter("ignore")  # NumPy's own
            try:
                import calibrant
            except ImportError as error:
                assert "main interpreter only" in str(error) or "numpy" in str(error).lower(), error
            else:
                raise AssertionError("imported")
        '''
        first = interpreters.create()
        assert interpreters.run_string(first, try_it) is None
        interpreters.destroy(first)
        print("done")
        """)


def test_the_main_interpreter_goes_on_beside_others():
    pytest.importorskip(INTERPRETERS)
    run_script(f"""
        import {INTERPRETERS} as interpreters
        import calibrant
        first = interpreters.create()
        try:
            raised = interpreters.run_string(first, "import calibrant")
        except Exception as error:
            raised = error
        assert "ImportError" in str(raised), raised
        interpreters.destroy(first)
        assert calibrant.brier_score([1, 0] * 50_000, [0.75, 0.5] * 50_000) == 0.15625
        print("done")
        """)


# Signals

HOURS = 2**38  # of rows, of which one is in memory

#: Rows of these go to the core as they are, so that there can be hours of them.
ENDLESS = [
    "streaming.Assessment", "streaming.CoverageHSIC", "streaming.Intervals",
    "streaming.PairedScores", "streaming.Reliability", "streaming.RiskProfile",
    "streaming.ScoreTable", "streaming.Scorecard", "streaming.Scores", "streaming.Spiegelhalter",
]  # fmt: skip


def endless(rows):
    return {
        name: np.broadcast_to(np.array(column)[:1], (HOURS, *np.shape(column)[1:]))
        for name, column in rows.items()
    }


@needs_signals
@pytest.mark.usefixtures("runtime_restored")
@pytest.mark.parametrize("name", ENDLESS)
def test_ctrl_c_during_an_update_changes_nothing(name):
    set_num_threads(2)
    total = filled(name)
    before = total.to_bytes()
    rows = endless(ACCUMULATORS[name][1])
    assert_interrupted(lambda: total.update(**rows))
    assert total.to_bytes() == before
    total.merge(filled(name))
    assert total.n == 12


@needs_signals
@pytest.mark.usefixtures("runtime_restored")
@pytest.mark.parametrize("test", [ks_test, spiegelhalter_test])
def test_ctrl_c_during_simulations(test):
    set_num_threads(2)
    rows = np.zeros(100_000, int), np.full(100_000, 0.5)
    # They would take minutes.
    assert_interrupted(partial(test, *rows, method="simulated", n_simulations=40_000))


class AlarmError(Exception):
    """Raised by a handler, wherever the program is."""


def ring(*_):
    raise AlarmError


@needs_timer
@kinds
def test_an_exception_of_a_handler_leaves_all_rows_or_none(name):
    """Handlers run between any two steps of Python, so an update must take effect in one."""
    rows = repeated(ACCUMULATORS[name][1], 20)
    total = filled(name)
    before = total.to_bytes()
    other = total.copy()
    start = time.perf_counter()
    other.update(**rows)
    took = time.perf_counter() - start
    after = other.to_bytes()
    moments = random.Random(name)
    previous = signal.signal(signal.SIGALRM, ring)
    gc.disable()  # what is raised in its callbacks, which other packages set, is not passed on
    try:
        for _ in range(60):
            trial = type(total).from_bytes(before)
            try:
                signal.setitimer(signal.ITIMER_REAL, max(moments.random() * took, 1e-6))
                trial.update(**rows)
                signal.setitimer(signal.ITIMER_REAL, 0)
            except AlarmError:
                pass
            except TypeError as error:  # while an array was made
                if not isinstance(error.__cause__, AlarmError):
                    raise
            assert trial.to_bytes() in (before, after)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
        gc.enable()


@needs_timer
def test_handlers_of_sigterm_and_sigalrm_run_during_a_call():
    run_script("""
        import os, signal, sys
        import numpy as np
        from calibrant import streaming

        rung = []
        total = streaming.Scores()
        total.update([1, 0], [0.75, 0.5])
        before = total.to_bytes()

        def stop(*_):
            assert rung == ["alarm"]
            try:
                total.to_bytes()
            except RuntimeError:  # it is being updated
                raise SystemExit

        def alarm(*_):
            rung.append("alarm")
            os.kill(os.getpid(), signal.SIGTERM)

        signal.signal(signal.SIGTERM, stop)
        signal.signal(signal.SIGALRM, alarm)
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        hours = 2**38
        try:
            total.update(np.broadcast_to(np.int8(1), hours), np.broadcast_to(0.3, hours))
        except SystemExit:
            assert total.to_bytes() == before
            print("done")
        """)


# Memory


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads /proc/self/statm")
@pytest.mark.parametrize("room", [0, 2, 8, 32], ids="{} megabytes".format)
def test_without_memory_nothing_changes_and_nobody_dies(room):
    """Also without room for another thread."""
    out = run_script(
        f"""
        import resource
        from bad_input_rows import ACCUMULATORS, filled
        from calibrant import set_num_threads
        from test_processes import KINDS, repeated

        set_num_threads(3)
        totals = {{name: filled(name) for name in KINDS}}
        rows = {{name: repeated(ACCUMULATORS[name][1], 50_000) for name in KINDS}}
        states = {{name: total.to_bytes() for name, total in totals.items()}}
        pages = int(open("/proc/self/statm").read().split()[0])
        limit = pages * resource.getpagesize() + {room} * 2**20
        for name, total in totals.items():
            resource.setrlimit(resource.RLIMIT_AS, (limit, -1))
            try:
                total.update(**rows[name])
            except MemoryError:
                resource.setrlimit(resource.RLIMIT_AS, (-1, -1))
                assert total.to_bytes() == states[name], name
                print("rejected", name)
            finally:
                resource.setrlimit(resource.RLIMIT_AS, (-1, -1))
            total.update(**ACCUMULATORS[name][1])
        print("done")
        """
    )
    assert room > 0 or "rejected" in out


LARGE_RESULTS = {
    "roc_curve": "calibrant.roc_curve(y, p)",
    "cumulative_differences": "calibrant.cumulative_differences(y, p)",
    "mmd_test": "calibrant.mmd_test(p[:50], p[:50], n_permutations=2**31)",
    "compare_samples": "calibrant.compare_samples(p[:50], p[:50], n_permutations=2**31)",
}


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads /proc/self/statm")
@pytest.mark.parametrize("call", LARGE_RESULTS.values(), ids=LARGE_RESULTS)
def test_a_lack_of_memory_is_called_so(call):
    """At whatever place: the texts of C++ and of pybind11 say nothing to a user."""
    run_script(
        f"""
        import resource
        import numpy as np
        import calibrant

        rng = np.random.default_rng(1)
        p = rng.random(10**6)
        y = rng.random(10**6) < p
        {call.partition("(")[0]}  # imports what it needs
        pages = int(open("/proc/self/statm").read().split()[0])
        texts = set()
        for room in range(0, 120, 6):
            limit = pages * resource.getpagesize() + room * 2**20
            resource.setrlimit(resource.RLIMIT_AS, (limit, -1))
            try:
                {call}
            except MemoryError as error:
                texts.add(str(error))
            finally:
                resource.setrlimit(resource.RLIMIT_AS, (-1, -1))
        ours = "there is not enough memory for what this call has to allocate"
        others = {{text for text in texts if "Unable to allocate" not in text}} - {{""}}
        assert others == {{ours}}, texts
        print("done")
        """,
        CALIBRANT_NUM_THREADS="1",
    )


NEEDING_MEMORY = {
    "roc_auc": "calibrant.roc_auc(y, p)",
    "ks_test": "calibrant.ks_test(y, p, groups=g)",
    "corp": "calibrant.brier_decomposition(y, p, method='corp')",
    "density_coverage": "calibrant.density_coverage(x, z)",
    "smooth_calibration_error": "calibrant.smooth_calibration_error(y, p)",
}


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads /proc/self/statm")
@pytest.mark.parametrize("call", NEEDING_MEMORY.values(), ids=NEEDING_MEMORY)
def test_threads_without_memory_are_a_memory_error(call):
    """The C library ends a process that has no room for a thread's local variables. The helpers
    start where there is room for that and no more."""
    out = run_script(
        f"""
        import resource
        import numpy as np
        import calibrant

        rng = np.random.default_rng(0)
        y, p, g = rng.integers(0, 2, 200_000), rng.random(200_000), rng.integers(0, 3, 200_000)
        x, z = rng.normal(size=(2, 3_000, 16))
        calibrant.set_num_threads(1)
        expected = repr({call})  # imports what it needs
        calibrant.set_num_threads(2)
        for room in [*range(0, 4_000, 250), *range(4_000, 28_000, 1_000), 10**6]:
            pages = int(open("/proc/self/statm").read().split()[0])
            limit = pages * resource.getpagesize() + room * 1024
            resource.setrlimit(resource.RLIMIT_AS, (limit, -1))
            try:
                found = repr({call})
            except MemoryError:
                found = "rejected"
            finally:
                resource.setrlimit(resource.RLIMIT_AS, (-1, -1))
            assert found in ("rejected", expected), found
            print(found == "rejected")
        assert found == expected
        print("done")
        """
    )
    assert "True" in out


# Beside others that have threads and processes


@pytest.mark.parametrize("backend", ["threading", "loky", "multiprocessing"])
def test_in_workers_of_joblib(backend):
    pytest.importorskip("joblib")
    run_script(f"""
        import joblib
        import numpy as np
        import calibrant

        rng = np.random.default_rng(0)
        y, p = rng.integers(0, 2, 300_000), rng.random(300_000)
        calibrant.set_num_threads(1)
        alone = calibrant.scorecard(y, p).to_dict()
        calibrant.set_num_threads(3)
        assert calibrant.scorecard(y, p).to_dict() == alone
        with joblib.parallel_config("{backend}", n_jobs=2):
            run = joblib.Parallel()
            found = run(joblib.delayed(calibrant.scorecard)(y, p) for _ in range(6))
        assert all(card.to_dict() == alone for card in found)
        print("done")
        """)


# More rows than anybody has


def doubled(total, times: int):
    for _ in range(times):
        total.merge(total)
    return total


@kinds
def test_more_rows_than_53_bits_count(name):
    """test_invariants.py compares the results of those that take weights."""
    total = filled(name)
    n = total.n
    doubled(total, 52)
    assert total.n == n * 2**52  # above 2^53, exactly
    one = filled(name)
    total.merge(one)
    assert total.n == n * 2**52 + n
    assert type(total).from_bytes(total.to_bytes()) == total


@kinds
def test_counts_reject_to_overflow(name):
    total = filled(name)
    with pytest.raises((OverflowError, ValueError), match=r"2\^|too many|more than"):
        doubled(total, 70)
    before = total.to_bytes()
    assert total.n >= 2**32
    with pytest.raises((OverflowError, ValueError), match=r"2\^|too many|more than"):
        total.merge(total)
    assert total.to_bytes() == before


# Many threads on one


@kinds
def test_updates_from_many_threads_lose_nothing(name):
    make, rows = ACCUMULATORS[name]
    shared, expected = make(), make()
    barrier = threading.Barrier(4)

    def work() -> None:
        barrier.wait()
        for _ in range(15):
            shared.update(**rows)
            shared.to_bytes()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for _ in range(60):
        expected.update(**rows)
    assert shared.n == expected.n
    assert shared.to_bytes() == expected.to_bytes()


# Copies


@kinds
def test_copies_and_pickles_are_whole_and_apart(name):
    total = filled(name)
    before = total.to_bytes()
    twins = [copy.copy(total), copy.deepcopy(total)]
    twins += [pickle.loads(pickle.dumps(total, p)) for p in range(pickle.HIGHEST_PROTOCOL + 1)]
    for twin in twins:
        assert type(twin) is type(total)
        assert twin == total
        twin.update(**ACCUMULATORS[name][1])
        assert twin.n == 2 * total.n
        assert total.to_bytes() == before


@kinds
def test_one_that_is_held_twice_is_copied_once(name):
    total = filled(name)
    first, second = copy.deepcopy([total, total])
    assert first is second
    first, second = pickle.loads(pickle.dumps([total, total]))
    assert first is second


def test_deep_structures_of_accumulators():
    deep = filled("streaming.Scores")
    for _ in range(100):
        deep = {"next": deep, "evidence": evidence.Evidence()}
    twin = pickle.loads(pickle.dumps(deep))
    assert twin == deep
    nested = streaming.Windowed(lambda: streaming.Grouped(streaming.Scores), every=10)
    nested.update([1, 0], [0.75, 0.5], groups=["a", "b"], timestamps=[0, 10])
    assert pickle.loads(pickle.dumps(nested)) == nested
    assert copy.deepcopy(nested) == nested
