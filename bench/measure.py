"""Time the ways to do a task in turns, take the memory of each, and compare their answers.

Runs in one process; `runner` gives every task a process of its own.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import math
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import calibrant
from bench.memory import with_peak
from bench.task import Data, Peer, Task, bytes_of, compared

#: One line of the results.
Record = dict[str, Any]


@dataclass(frozen=True)
class Settings:
    """How long to try.

    `budget` is the time for each contender and size, in seconds, 0 for a single call. A contender
    stops at the size where a call would take longer than `cap` or more than `memory` bytes, and
    those of `without` do not take part.
    """

    threads: tuple[int, ...]
    budget: float = 0.3
    cap: float = 10.0
    memory: float = math.inf
    without: tuple[str, ...] = ()


@dataclass
class Contender:
    """One way to do the task, on so many threads if it is calibrant's, and what was seen of it."""

    who: str
    call: Callable[..., Any]
    peer: Peer | None = None
    threads: int | None = None
    seen: list[tuple[int, float, float]] = field(default_factory=list)

    def take_threads(self) -> None:
        """Yardsticks may be calibrant's own: they get all threads, as peers take theirs."""
        calibrant.set_num_threads(self.threads or 0)

    def ready(self, data: Data) -> Data:
        self.take_threads()
        return data if self.peer is None or self.peer.prepare is None else self.peer.prepare(*data)

    def expected(self, n: int, what: int) -> float:
        """Return the seconds (1) or bytes (2) of the next size, by the growth of the last two."""
        if not self.seen:
            return 0.0
        last = self.seen[-1]
        power = 1.0
        if len(self.seen) > 1 and self.seen[-2][what] > 0 and last[what] > 0:
            before = self.seen[-2]
            power = math.log(last[what] / before[what]) / math.log(last[0] / before[0])
        return last[what] * (n / last[0]) ** min(3.0, max(1.0, power))


def seconds_of(contender: Contender, data: Data, calls: int) -> float:
    """Return the time of a call; that of a single one is without letting go of what it returns."""
    start = time.perf_counter()
    for _ in range(calls):
        result = contender.call(*data)
    seconds = (time.perf_counter() - start) / calls
    del result
    return seconds


def best_seconds(
    first: dict[int, float], contenders: list[Contender], data: list[Data], budget: float
) -> list[tuple[float, int]]:
    """Return the least time of each and how often it was called, in turns.

    Quick calls are repeated to a tenth of a millisecond; one that took long in its first call is
    not called again.
    """
    long = 3.0 if budget else 0.0
    best = [seconds if seconds > budget else math.inf for seconds in first.values()]
    spent = [seconds if seconds > long else 0.0 for seconds in first.values()]
    calls = [max(1, int(1e-4 / max(seconds, 1e-7))) for seconds in first.values()]
    count = [int(seconds > budget) for seconds in first.values()]
    for turn in range(200):
        # Few turns of long calls, but two at least if that is cheap.
        least = 2.0 if turn < 2 and budget else 0.0
        due = [i for i in range(len(best)) if spent[i] < max(budget, least)]
        if not due:
            break
        for i in due:
            contenders[i].take_threads()
            seconds = seconds_of(contenders[i], data[i], calls[i])
            best[i] = min(best[i], seconds)
            spent[i] += seconds * calls[i]
            count[i] += calls[i]
    return list(zip(best, count, strict=True))


def load(module: str) -> str:
    """Import what a peer needs; return why that cannot be, or nothing."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            importlib.import_module(module)
    except ImportError as error:
        top = module.split(".")[0]
        missing = isinstance(error, ModuleNotFoundError) and error.name == top
        return "not installed" if missing else f"does not load: {error}"
    return ""


def contenders_of(task: Task, settings: Settings) -> tuple[list[Contender], list[Record]]:
    """Return who takes part, calibrant first, and records of the peers that cannot."""
    found = [Contender("calibrant", task.ours, threads=t) for t in settings.threads]
    absent = []
    for peer in task.peers:
        why = "stopped: it took too long" if peer.name in settings.without else load(peer.needs)
        if why:
            absent.append({"task": task.name, "who": peer.name, "status": why})
        else:
            found.append(Contender(peer.name, peer.call, peer))
    return found, absent


class Round:
    """One task at one size: everybody's first call, with memory and answer, then turns."""

    def __init__(self, task: Task, n: int, settings: Settings) -> None:
        self.task, self.n, self.settings = task, n, settings
        self.data = task.make(n)
        self.bytes = bytes_of(self.data)
        self.answer: Any = None

    def record(self, contender: Contender, **more: Any) -> Record:
        return {
            "task": self.task.name, "n": self.n, "who": contender.who,
            "threads": contender.threads, "bytes": self.bytes, **more,
        }  # fmt: skip

    def too_much(self, contender: Contender) -> str:
        if contender.expected(self.n, 1) > self.settings.cap:
            return f"over {self.settings.cap:g} s"
        if contender.expected(self.n, 2) + self.bytes > self.settings.memory:
            return "over the memory"
        return ""

    def first_call(self, contender: Contender) -> tuple[Record, Data, float]:
        data = contender.ready(self.data)
        start = time.perf_counter()
        result, peak = with_peak(lambda: contender.call(*data))
        seconds = time.perf_counter() - start
        answer = "itself"
        try:
            if contender.peer is not None:
                answer = compared(self.task, contender.peer, self.data, self.answer, result)
            elif self.answer is None:
                self.answer = result
                if self.task.check is not None:
                    self.task.check(self.data, self.task.answer(result))
        except AssertionError as error:
            lines = [line.strip() for line in str(error).splitlines() if line.strip()]
            answer = "WRONG: " + " ".join(lines[:6])
        made = self.record(contender, status="ok", memory=peak, answer=answer)
        return made, data, seconds

    def run(self, contenders: list[Contender], begin: Callable[[int, str], None]) -> list[Record]:
        records, ran, arguments, first = [], [], [], {}
        for contender in contenders:
            why = self.too_much(contender)
            if why:
                records.append(self.record(contender, status=why))
                continue
            begin(self.n, contender.who)
            try:
                made, data, seconds = self.first_call(contender)
            except Exception as error:  # a peer's own: recorded, and the rest goes on
                why = f"failed: {type(error).__name__}: {error}"[:200]
                records.append(self.record(contender, status=why))
                continue
            first[len(ran)] = seconds
            ran.append((contender, made))
            arguments.append(data)
        them = [contender for contender, _ in ran]
        large = self.bytes >= 2**23  # smaller data are in the cache, and calls are many anyway
        budget = self.settings.budget * (1.0 if large else 0.4)
        timed = best_seconds(first, them, arguments, budget)
        for (contender, made), (seconds, calls) in zip(ran, timed, strict=True):
            contender.seen.append((self.n, seconds, made["memory"]))
            records.append({**made, "seconds": seconds, "calls": calls})
        return records


def warm_up(
    task: Task, n: int, contenders: list[Contender], begin: Callable[[int, str], None]
) -> None:
    """Imports, compilers and threads start before the clock does."""
    few = task.make(min(100, n) if task.sizes[0] > 100 else task.sizes[0])
    for contender in contenders:
        begin(0, contender.who)
        with contextlib.suppress(Exception):  # it fails again, and is recorded, with the first size
            contender.call(*contender.ready(few))


def measure(
    task: Task,
    sizes: tuple[int, ...],
    settings: Settings,
    begin: Callable[[int, str], None] = lambda *_: None,
) -> Iterator[Record]:
    """Yield the records of a task, size by size; `begin` is told who is about to run."""
    contenders, absent = contenders_of(task, settings)
    yield from absent
    if settings.budget:
        warm_up(task, sizes[0], contenders, begin)
    gc.freeze()  # modules are there to stay: collecting garbage need not look at them again
    for n in sizes:
        yield from Round(task, n, settings).run(contenders, begin)
    calibrant.set_num_threads(0)
