"""Options of the benchmarks, and how a contender is measured."""

from __future__ import annotations

import contextlib
import importlib.metadata
import math
import os
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import calibrant
from bench.case import Case, Contender, Peer, bytes_of, compare, short, with_peak

CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
#: Calls that take longer are made once; shorter ones at least three times.
ONCE = 3.0
REQUIREMENTS = Path(__file__).with_name("requirements.txt")


def counts(text: str) -> tuple[int, ...]:
    """Return the numbers of "1e4,1e6"."""
    return tuple(int(float(part)) for part in text.split(","))


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("calibrant's benchmarks")
    group.addoption("--sizes", type=counts, default=(10**4, 10**6), help="rows, as 1e4,1e6")
    group.addoption("--peers", help="only these, as scikit-learn,mapie; none for calibrant alone")
    group.addoption(
        "--threads", default="all", help="calibrant's threads, as 1,all; peers choose their own"
    )
    group.addoption(
        "--budget", type=float, default=0.3, help="seconds of calls for each benchmark; 0 is one"
    )
    group.addoption(
        "--time-limit", type=float, default=10.0, help="leave out calls that take more seconds"
    )
    group.addoption(
        "--long", action="store_true", help="files of 1e8 rows, streams of 1e9, busy machines"
    )


def pytest_configure(config: pytest.Config) -> None:
    if not config.pluginmanager.hasplugin("benchmark"):
        raise pytest.UsageError('the benchmarks need pytest-benchmark: pip install ".[bench]"')
    config.addinivalue_line("markers", "long: takes a minute or more; runs with --long")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:  # peers warn; their answers are compared all the same
        item.add_marker(pytest.mark.filterwarnings("ignore"))
    if not config.getoption("--long"):
        long = [item for item in items if item.get_closest_marker("long")]
        config.hook.pytest_deselected(items=long)
        items[:] = [item for item in items if item not in long]


def wanted(peer: Peer, peers: str | None) -> bool:
    name, parts = peer.name.lower(), tuple((peers or "").lower().split(","))
    return peers is None or (not peer.yardstick and name.startswith(parts))


def contenders(case: Case, config: pytest.Config) -> Iterator[Contender]:
    threads = [0 if t == "all" else int(t) for t in config.getoption("--threads").split(",")]
    for n in case.sizes_of(config.getoption("--sizes"), long=config.getoption("--long")):
        for count in threads if case.threads else [0]:
            yield Contender(case, n, threads=count)
        for peer in case.peers:
            if n <= peer.most and wanted(peer, config.getoption("--peers")):
                yield Contender(case, n, peer)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "measure" in metafunc.fixturenames:
        found = [c for case in metafunc.function.cases for c in contenders(case, metafunc.config)]
        metafunc.parametrize("contender", found, ids=str)


class Shared:
    """Data and calibrant's result of the last case and size; what calls took so far."""

    key: Any = None
    seen: dict[tuple[str, str, int], tuple[int, float]] = {}  # noqa: RUF012  (who: rows, seconds)

    @classmethod
    def of(cls, case: Case, n: int) -> type[Shared]:
        if cls.key != (case.name, n):
            cls.data = cls.result = None  # the old ones go before the new ones come
            cls.key, cls.data = (case.name, n), case.data(n)
        return cls


@contextlib.contextmanager
def time_limit(seconds: float, who: str) -> Iterator[None]:
    """Skip a benchmark that takes much longer than expected."""

    def skip(*_: Any) -> None:
        pytest.skip(f"{who}: stopped after {seconds:g} s")

    before = signal.signal(signal.SIGALRM, skip)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def rounds_of(seconds: float, budget: float) -> tuple[int, int]:
    """Return how many rounds, and how many calls in each, for calls of so many seconds."""
    if budget == 0 or seconds > ONCE:
        return 1, 1
    calls = min(math.ceil(5e-5 / seconds), 1000)
    return max(3, min(math.ceil(budget / (calls * seconds)), 1000)), calls


def measured(contender: Contender, benchmark: Any, config: pytest.Config) -> None:
    case, n, who = contender.case, contender.n, contender.who
    limit, budget = config.getoption("--time-limit"), config.getoption("--budget")
    key = (case.name, who, contender.threads)
    if contender.peer is not None:
        pytest.importorskip(contender.peer.needs, reason=f"{who}: not installed")
    earlier = Shared.seen.get(key)
    # What takes less than 1 s may be the start of a process, which does not grow with the rows.
    if contender.peer and earlier and earlier[1] > max(1, limit * earlier[0] / n):
        pytest.skip(f"{who}: over {limit:g} s")
    calibrant.set_num_threads(contender.threads)
    with time_limit(10 * limit, who):
        shared = Shared.of(case, n)
        data = contender.ready(shared.data)
        if earlier is None and n > 100 and budget:  # to import and compile before the clock starts
            contender.call(*contender.ready(case.data(100)))
        result, seconds, memory = with_peak(lambda: contender.call(*data))
        if contender.peer is None:
            shared.result = result
        elif shared.result is None:  # calibrant was not selected
            shared.result = case.ours(*shared.data)
        compare(contender, shared.data, shared.result, result)
        if seconds < 0.1:  # without the pages of memory that a first call asks for
            start = time.perf_counter()
            contender.call(*data)
            seconds = min(seconds, time.perf_counter() - start)
        rounds, calls = rounds_of(max(seconds, 1e-7), budget)
        memory = getattr(result, "memory", memory)
        del result
        benchmark.group = f"{case.name}, {short(n)}"
        benchmark.pedantic(contender.call, data, rounds=rounds, iterations=calls)
    Shared.seen[key] = (n, seconds)
    benchmark.extra_info.update(
        case=case.name,
        who=who,
        n=n,
        threads=contender.threads or calibrant.get_num_threads(),
        bytes=bytes_of(shared.data),
        memory=memory,
        why=case.why,
        answer=contender.peer.agreement() if contender.peer else "",
        yardstick=contender.peer is not None and contender.peer.yardstick,
    )


@pytest.fixture
def measure(contender: Contender, benchmark: Any, pytestconfig: pytest.Config) -> Any:
    """Return the function that measures the contender and compares its answer."""
    yield lambda: measured(contender, benchmark, pytestconfig)
    calibrant.set_num_threads(0)


def pytest_benchmark_update_machine_info(config: pytest.Config, machine_info: Any) -> None:
    """Add what figures depend on: the instruction set, the compiler, versions of the peers."""
    machine_info["versions"] = {}
    for name in re.findall(r"^[\w-]+", REQUIREMENTS.read_text(encoding="utf-8"), re.MULTILINE):
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            machine_info["versions"][name] = importlib.metadata.version(name)
    machine_info["calibrant"] = {
        "version": calibrant.__version__,
        "isa": calibrant.config.config()["isa"],
        "compiler": calibrant.config.config()["compiler"],
        "threads": CORES,
    }
