"""A case is a row of a benchmark table: data, calibrant's call, its peers, and the tolerance."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import os
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

#: Arguments of a call. They are made before the clock starts, and are the same for all contenders.
Data = tuple[Any, ...]


@dataclass(frozen=True)
class Peer:
    """Another way to compute the same, or a yardstick whose answer is not compared.

    `needs` is the module that has to be installed, `answer` turns the result into numbers, and
    `expected` computes what the peer should give where its definition differs, as `differs` says.
    `prepare` makes the peer's own input, such as a data frame, before the clock starts. `most` is
    the largest size that is worth its time, or fits into memory.
    """

    name: str
    call: Callable[..., Any]
    needs: str = "numpy"
    rtol: float = 1e-9
    atol: float = 0.0
    answer: Callable[[Any], Any] = lambda result: result
    expected: Callable[..., Any] | None = None
    differs: str = ""
    prepare: Callable[..., Data] | None = None
    most: int = 10**8
    yardstick: bool = False

    def agreement(self) -> str:
        """Return how the answers compare, in words."""
        if self.yardstick:
            return ""
        tolerance = f"{self.rtol:.0e}" if self.rtol else f"{self.atol:.0e} absolute"
        return f"to {tolerance}" + (f"; {self.differs}" if self.differs else "")


def peer(name: str, path: str, options: dict[str, Any] | None = None, **fields: Any) -> Peer:
    """Return the peer that is a library's function, imported when it is first called.

    `keyword` is the name of the last argument, if the function takes it by keyword only.
    """
    keyword = fields.pop("keyword", "")
    module, _, function = path.rpartition(".")

    def call(*data: Any) -> Any:
        last = {keyword: data[-1]} if keyword else {}
        first = data[:-1] if keyword else data
        return getattr(importlib.import_module(module), function)(*first, **last, **(options or {}))

    return Peer(name, call, needs=module, **fields)


def yardstick(name: str, call: Callable[..., Any], **options: Any) -> Peer:
    """Return a peer that does something else, by which the cost of a case is measured."""
    return Peer(name, call, yardstick=True, **options)


@dataclass(frozen=True)
class Case:
    """One computation by calibrant and its peers, on `data(n)`.

    `check` is given the data and calibrant's result, where no peer has an answer to compare.
    `most` is the largest size. `sizes` are those of a case that does not follow `--sizes`, whose
    largest still bounds them; `large` are those that `--long` adds. `why` explains a loss.
    """

    name: str
    data: Callable[[int], Data]
    ours: Callable[..., Any]
    peers: tuple[Peer, ...] = ()
    answer: Callable[[Any], Any] = lambda result: result
    check: Callable[[Data, Any], None] | None = None
    most: int = 10**8
    sizes: tuple[int, ...] = ()
    large: tuple[int, ...] = ()
    why: str = ""
    threads: bool = True

    def sizes_of(self, asked: tuple[int, ...], *, long: bool) -> list[int]:
        found = {min(n, max(asked)) for n in self.sizes} or {min(n, self.most) for n in asked}
        return sorted(found | set(self.large if long else ()))


def benchmarks(*cases: Case) -> Callable[..., None]:
    """Return the test function that runs a table of cases, with every contender of each."""

    def test(measure: Callable[[], None]) -> None:
        measure()

    test.cases = cases
    return test


@dataclass(frozen=True, repr=False)
class Contender:
    """Who takes part in one group of the benchmarks: calibrant, on some threads, or a peer."""

    case: Case
    n: int
    peer: Peer | None = None
    threads: int = 0

    @property
    def who(self) -> str:
        return "calibrant" if self.peer is None else self.peer.name

    def __repr__(self) -> str:
        threads = f"-{self.threads} threads" if self.threads else ""
        return f"{self.case.name}-{short(self.n)}-{self.who}{threads}"

    def call(self, *data: Any) -> Any:
        return (self.case.ours if self.peer is None else self.peer.call)(*data)

    def ready(self, data: Data) -> Data:
        return self.peer.prepare(*data) if self.peer and self.peer.prepare else data


def short(n: int) -> str:
    """Return 1e6 for a million."""
    text = f"{n:.0e}".replace("e+0", "e")
    return text if n >= 1000 and int(float(text)) == n else str(n)


def binary(n: int, dtype: str = "float64") -> tuple[np.ndarray, np.ndarray]:
    """Return outcomes and the probabilities that they were drawn with."""
    rng = np.random.default_rng(20170619)
    y_proba = rng.random(n).astype(dtype)
    return (rng.random(n) < y_proba).astype(np.int64), y_proba


def weighted(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return (*binary(n), np.random.default_rng(7).random(n))


def in_groups(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return (*binary(n), np.random.default_rng(8).integers(0, 100, n))


def ten_classes(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    y_proba = rng.dirichlet(np.ones(10), n)
    chosen = (rng.random((n, 1)) > np.cumsum(y_proba, axis=1)).sum(axis=1)
    return np.minimum(chosen, 9), y_proba


def bytes_of(data: Any) -> int:
    """Return the bytes of all arrays, also in tuples and dicts."""
    if isinstance(data, (tuple, list, dict)):
        return sum(map(bytes_of, data.values() if isinstance(data, dict) else data))
    return getattr(data, "nbytes", 0)


def numbers(answer: Any) -> np.ndarray:
    """Return all numbers of an answer, nested as it may be, in one row."""
    if isinstance(answer, (tuple, list)):
        return np.concatenate([numbers(part) for part in answer])
    return np.asarray(answer, dtype=np.float64).ravel()


def compare(contender: Contender, data: Data, ours: Any, result: Any) -> None:
    """Raise AssertionError if an answer is wrong; `ours` is calibrant's result."""
    case, peer = contender.case, contender.peer
    if peer is None:
        if case.check is not None:
            case.check(data, result)
        return
    if peer.yardstick:
        return
    wanted = case.answer(ours) if peer.expected is None else peer.expected(*data)
    np.testing.assert_allclose(
        numbers(peer.answer(result)),
        numbers(wanted),
        rtol=peer.rtol,
        atol=peer.atol,
        err_msg=str(contender),
    )


STATUS, RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def resident(key: str) -> int:
    line = next(line for line in STATUS.read_text().splitlines() if line.startswith(key))
    return int(line.split()[1]) * 1024


def with_peak(call: Callable[[], Any]) -> tuple[Any, float, int | None]:
    """Return the result of a call, its seconds, and its memory beyond what was in use.

    The memory includes the result. It is None where the system does not tell.
    """
    gc.collect()
    gc.freeze()  # what is there now need not be looked at again, by any later collection
    with contextlib.suppress(AttributeError, OSError):  # not the GNU library
        ctypes.CDLL(None).malloc_trim(0)  # so that the call has to ask for memory of its own
    try:
        RESET.write_text("5")  # sets the high-water mark to what is in use
        before = resident("VmRSS")
    except (OSError, StopIteration):
        before = None
    start = time.perf_counter()
    result = call()
    seconds = time.perf_counter() - start
    return result, seconds, None if before is None else max(0, resident("VmHWM") - before)


@dataclass(frozen=True)
class Finished:
    """What a process printed, and its memory: the largest resident size in bytes."""

    out: str
    memory: int


def run(command: list[str], **options: Any) -> Finished:
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **options) as process:
        out = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{command} ended with {process.returncode}")
    return Finished(out, used.ru_maxrss * 1024)
