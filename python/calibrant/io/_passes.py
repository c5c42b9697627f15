"""One pass over a source: threads that read parts, each with an accumulator of its own.

A thread reads a part and scores it while its rows are still in the cache; results are merged at
the end, and do not depend on who read what. Reading and scoring release the GIL.
"""

from __future__ import annotations

import sys
import threading
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol, Self, TypeVar

from calibrant import _core
from calibrant.io._parts import Columns, Part

__all__ = ["Mergeable", "reduce_parts"]


class Mergeable(Protocol):
    """What a pass fills: it takes columns, and merges with its like."""

    def take(self, columns: Columns, place: int, /) -> int:
        """Add rows, and return how many there were.

        ``place`` tells the first of them from all other rows, whoever reads it and when.
        """

    def merge(self, other: Self, /) -> Any: ...


T = TypeVar("T", bound=Mergeable)


class _Pass:
    """What the threads share."""

    def __init__(self, parts: Iterator[Part], name_error: Callable[..., Exception]) -> None:
        self._parts = enumerate(parts)
        self._name_error = name_error
        self._reading = threading.Lock()
        self._counting = threading.Lock()
        self._stopped = False
        self.interrupted = False
        self.rows = 0
        self.failures: dict[int, BaseException] = {}  # by the number of the part

    def run(self, into: Mergeable) -> None:
        """Take parts until there are none.

        A part once begun is finished, unless all is interrupted: so the failure in the lowest
        part is the first of all.
        """
        _core.work_alone()
        while (taken := self._next()) is not None:
            index, part = taken
            try:
                self._score(part, into)
            except BaseException as error:
                self._fail(index, error)

    def stop(self) -> None:
        self._stopped = True

    def _fail(self, index: int, error: BaseException) -> None:
        self.failures[index] = error
        self.stop()

    def _next(self) -> tuple[int, Part] | None:
        with self._reading:
            try:
                return None if self._stopped else next(self._parts, None)
            except BaseException as error:
                self._fail(sys.maxsize, error)  # all parts before it have been taken
                return None

    def _score(self, part: Part, into: Mergeable) -> None:
        row, start = part.first_row, _start_of(part.name)
        for columns in part.read():
            if self.interrupted:
                return
            try:
                n = into.take(columns, start + row)
            except (TypeError, ValueError) as error:
                raise self._name_error(error, part.name, row) from error
            row += n
            with self._counting:
                self.rows += n


def _start_of(name: str) -> int:
    """Return where the places of a file begin.

    They follow from its name, so that files that were read by several jobs have those that one
    pass over all would give them.
    """
    return (zlib.crc32(Path(name).name.encode()) % 2**31) << 32


def reduce_parts(
    parts: Iterator[Part],
    make: Callable[[], T],
    *,
    name_error: Callable[..., Exception],
    progress: Callable[[int], None] | None = None,
) -> T:
    """Fill accumulators from all parts, by as many threads as are set, and merge them.

    ``progress`` is called now and then with the number of rows so far, in this thread. Of bad
    rows the first is reported, whichever thread met it.
    """
    shared = _Pass(parts, name_error)
    made = [make() for _ in range(_core.num_threads())]
    ended = threading.Semaphore(0)

    def work(into: T) -> None:
        try:
            shared.run(into)
        finally:
            ended.release()

    threads = [threading.Thread(target=work, args=(each,), daemon=True) for each in made]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            while thread.is_alive():
                thread.join(0.1)
                if progress is not None:
                    progress(shared.rows)
    except BaseException:  # Ctrl-C: the batches under way take milliseconds
        shared.interrupted = True
        shared.stop()
        # All that run: a thread in the core when Python ends would abort the process. A join
        # that was interrupted takes its thread for ended, so another one would not wait.
        for thread in threads:
            if thread.ident is not None:
                ended.acquire()
        raise
    if shared.failures:
        raise shared.failures[min(shared.failures)]
    total, *others = made
    for other in others:
        total.merge(other)
    return total
