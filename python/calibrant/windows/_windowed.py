"""Accumulators of windows of a stream; public as `calibrant.streaming.Windowed`."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibrant import _core
from calibrant._accumulator.composite import Composite
from calibrant._input.batch_rows import n_rows, named_arguments, signature_of
from calibrant._input.group_keys import coded_keys
from calibrant._input.validation import checked_choice, checked_count
from calibrant._result import json_ready
from calibrant._runtime.public_module import public_in
from calibrant.grouped._fill import batch_of
from calibrant.windows._grid import Grid
from calibrant.windows._window import Window, empty_of, public_class

__all__ = ["Windowed"]

#: Windows that overlap may be many, although their panes are few.
_MOST_WINDOWS = 2**20


class Past(NamedTuple):
    """What is known besides the panes; it changes in one step with them."""

    #: The accumulator of the rows whose panes are not kept; replaced, never changed.
    older: Any
    #: The greatest timestamp so far; by rows, the number of rows so far.
    latest: int | float | None = None
    n_late: int = 0


@public_in("calibrant.streaming")
class Windowed(Composite):
    """An accumulator for each window of a stream, by time or by row count.

    Windows are made of *panes*, `rows` rows or `every` long. Panes are groups, as those of
    `Grouped`, whose keys are their numbers. A row updates one pane; a sliding window is the exact
    merge of its panes when it is asked for.

    Parameters
    ----------
    factory : callable
        Makes an empty accumulator: a class of `calibrant.streaming`, or a ``functools.partial``.
    rows : int, optional
        A window ends after so many rows.
    every : number, numpy.timedelta64 or datetime.timedelta, optional
        A window ends after so much time, counted from the origin. With a number, timestamps
        are numbers: seconds, or whatever it counts. Pass this or `rows`.
    length : as `rows` or `every`, optional
        How long windows are: a multiple, whence they overlap. By default they do not.
    lateness : as `every`, optional
        A pane stays open until a timestamp is so much beyond its end. 0 by default.
    origin : timestamp, optional
        Where a window begins; 0 or the start of 1970 by default, which was a Thursday.
    late : {"count", "raise"}
        What to do with rows of closed panes: count them in `n_late` and leave them out, or reject
        the batch.
    keep : int or None
        How many closed windows can still be asked for, with rows or not; None for all. The rows
        of older ones are in `total` only.

    Examples
    --------
    >>> from calibrant.streaming import Scores
    >>> hourly = Windowed(Scores, every=3600)
    >>> hourly.update([1, 0, 1], [0.75, 0.5, 0.5], timestamps=[0, 1800, 3600])
    >>> for window in hourly.windows():
    ...     print(window.start, window.end, window.is_closed, window.result.brier)
    0 3600 True 0.15625
    3600 7200 False 0.25
    >>> hourly.total().n
    3
    """

    __slots__ = (
        "__weakref__", "_by_rows", "_grid", "_keep", "_late", "_lock", "_panes",
    )  # fmt: skip

    MAGIC = b"CLWN"
    _WHAT = "windows"

    def __init__(
        self,
        factory: Callable[[], Any],
        *,
        rows: int | None = None,
        every: Any = None,
        length: Any = None,
        lateness: Any = None,
        origin: Any = None,
        late: Literal["count", "raise"] = "count",
        keep: int | None = 100,
    ) -> None:
        if (rows is None) == (every is None):
            raise TypeError("pass rows or every, one of them: how long a pane is")
        if rows is not None and (lateness is not None or origin is not None):
            raise TypeError("lateness and origin are for windows by time: rows are never late")
        checked_choice(late, "late", ("count", "raise"))
        if keep is not None:
            keep = checked_count(keep, "keep", least=0)
        by_rows = rows is not None
        grid = (
            Grid.of_rows(rows, length) if by_rows else Grid.of_time(every, length, lateness, origin)
        )
        self._begin(empty_of(factory), grid, by_rows=by_rows, late=late, keep=keep)

    def _begin(self, empty: Any, grid: Grid, *, by_rows: bool, late: str, keep: int | None) -> None:
        self._grid, self._by_rows, self._late, self._keep = grid, by_rows, late, keep
        self._panes = _core.GroupedAccumulators(empty)
        self._panes.set_note(Past(empty.copy()))
        self._lock = _core.UseLock()

    @property
    def _empty(self) -> Any:
        return self._panes.empty

    @property
    def _past(self) -> Past:
        found: Past = self._panes.note
        return found

    # Rows

    def update(self, *rows: Any, timestamps: ArrayLike | None = None, **named: Any) -> None:
        """Add a batch of rows.

        If one is rejected, nothing of the batch is added.

        Parameters
        ----------
        *rows, **named
            As for ``update`` of the accumulator.
        timestamps : array of shape (n,)
            Of each row, in any order; not for windows by row count. A row is late if rows before
            it have closed its pane, so the sizes of batches do not matter. None may be missing,
            whatever nan_policy says: a row without a time has no window.
        """
        arguments, n = self._checked(rows, named)
        if self._by_rows and timestamps is not None:
            raise TypeError("timestamps are for windows by time; these count rows")
        with self._lock:
            if self._by_rows:
                self._add_by_rows(arguments, n)
            else:
                self._add_by_time(arguments, n, timestamps)

    def _asked(self) -> dict[str, inspect.Parameter]:
        """Return the parameters of `_take`, by name: the times, and what the accumulators ask."""
        if self._by_rows:
            raise ValueError("windows by row count depend on the order of all rows; pass every")
        times = inspect.Parameter("timestamps", inspect.Parameter.KEYWORD_ONLY)
        return {**signature_of(self._empty).parameters, "timestamps": times}

    def _take(self, *, timestamps: Any, **named: Any) -> None:
        """Add rows of a table by time; they are in no order of arrival, so that none is late."""
        arguments, n = self._checked((), named)
        with self._lock:
            self._add_by_time(arguments, n, timestamps, may_be_late=False)

    def _checked(self, rows: tuple[Any, ...], named: dict[str, Any]) -> tuple[dict[str, Any], int]:
        """Return the arguments of the accumulators by name, and how many rows they have."""
        arguments = named_arguments(self._empty, rows, named)
        n = n_rows(arguments)
        if n is None:
            self._empty.copy().update(**arguments)  # says which is too short
            raise ValueError("all columns must have a value for each row")
        return arguments, n

    def _add_by_rows(self, arguments: dict[str, Any], n: int) -> None:
        first = int(self._past.latest or 0)
        panes = self._grid.pane(np.arange(first, first + n))
        self._add(arguments, panes, np.arange(0), first + n)

    def _add_by_time(
        self, arguments: dict[str, Any], n: int, timestamps: Any, *, may_be_late: bool = True
    ) -> None:
        if timestamps is None:
            raise TypeError("timestamps are missing: windows by time need one for each row")
        stamps = self._grid.numbers(timestamps)
        if len(stamps) != n:
            raise ValueError(f"timestamps must be one for each of {n} rows, got {len(stamps)}")
        if n == 0:
            self._empty.copy().update(**arguments)
            return
        panes = self._grid.pane(stamps)
        latest = self._past.latest
        late = self._grid.late_rows(stamps, panes, latest) if may_be_late else np.arange(0)
        if late.size and self._late == "raise":
            raise ValueError(
                f"timestamps has a late row: {np.asarray(timestamps)[late[0]]} at row {late[0]}, "
                f"and its window is closed"
            )
        known = [] if latest is None else [latest]
        self._add(arguments, panes, late, max([*known, self._grid.latest(stamps)]))

    def _add(
        self, arguments: dict[str, Any], panes: NDArray[np.int64], late: NDArray[Any], latest: Any
    ) -> None:
        """Add rows to their panes, all or none."""
        codes, keys = coded_keys(panes, omit=False)
        codes[late] = -1
        batch = batch_of(self._panes, arguments, codes, keys)
        self._check_shape(batch, keys)
        past = self._past
        if panes.size:
            past = past._replace(latest=latest, n_late=past.n_late + int(late.size))
        self._panes.add(batch, note=past)
        self._evict()

    def _check_shape(self, batch: _core.GroupedAccumulators, keys: list[int]) -> None:
        """Raise ValueError if new panes could not be merged with those that there are."""
        known = self._panes
        new = [key for key in keys if known.number(key) is None]
        with_rows = [key for key, n in zip(new, batch.rows_of(new), strict=True) if n]
        if not with_rows:
            return
        filled = np.flatnonzero(known.counts())
        older: Any = self._past.older._state
        one = known.merged([known.numbers()[filled[-1]]]) if filled.size else older
        first: Any = batch.number(with_rows[0])
        batch.merged([first]).merge(one)

    def _evict(self) -> None:
        """Move the rows of panes that no window needs any more to the older ones."""
        past = self._past
        if self._keep is None or past.latest is None:
            return
        first = self._horizon() - self._keep - self._grid.panes + 1
        gone = self._between(-(2**63), first - 1)
        if gone:
            older = past.older.copy()
            older._state.merge(self._panes.merged(gone))
            self._panes.drop(gone, past._replace(older=older))

    def _between(self, first: int, last: int) -> list[int]:
        """Return the places of the panes from the first to the last, in order."""
        if last - first < len(self._panes):
            places = map(self._panes.number, range(first, last + 1))
            return [place for place in places if place is not None]
        panes = zip(self._panes.keys(), self._panes.numbers(), strict=True)
        return [place for key, place in panes if first <= key <= last]

    def _horizon(self) -> int:
        return int(self._grid.horizon(np.asarray(self._past.latest)))

    def merge(self, other: Self) -> Self:
        """Add the windows of another stream, pane by pane; for windows by time only.

        Each keeps the rows that were not late for itself. If no row was late, the result is that
        of one stream of all rows.

        Raises
        ------
        TypeError
            If it is something else.
        ValueError
            If its parameters differ, or windows are by row count: which row is in which window
            then depends on the order of all rows, which the parts do not know.
        """
        if type(other) is not type(self):
            raise TypeError(f"cannot merge {type(other).__name__} into {type(self).__name__}")
        if self._by_rows:
            raise ValueError(
                "windows by row count cannot be merged: they depend on the order of all rows"
            )
        theirs = other.copy()  # also where it is this one, or another thread is at it
        if theirs._settings() != self._settings() or theirs._empty != self._empty:
            raise ValueError(f"cannot merge {theirs!r} into {self!r}: parameters differ")
        with self._lock:
            self._add_panes(theirs)
        return self

    def _add_panes(self, theirs: Self) -> None:
        mine, other = self._past, theirs._past
        self._check_shape(theirs._panes, theirs._panes.keys())
        times = [at for at in (mine.latest, other.latest) if at is not None]
        older = mine.older.copy().merge(other.older)
        past = Past(older, max(times, default=None), mine.n_late + other.n_late)
        self._panes.add(theirs._panes, note=past)
        self._evict()

    # What the rows amount to

    def windows(self) -> list[Window]:
        """Return the windows that have rows, the oldest first; open ones, too.

        A window whose rows were all left out, as values were missing, has none.
        """
        with self._lock:
            ends = self._ends()
            n, most = sum(map(len, ends)), max(_MOST_WINDOWS, 100 * len(self._panes))
            if n > most:
                raise ValueError(
                    f"there are {n} windows, most of them of the same rows; list at most {most}, "
                    "by a longer step or a smaller keep"
                )
            lasts = itertools.chain.from_iterable(ends)
            return [window for last in lasts if (window := self._window(last)).n]

    def current(self) -> Window:
        """Return the newest window that has rows.

        Raises
        ------
        ValueError
            If there is none.
        """
        with self._lock:
            for last in itertools.chain.from_iterable(map(reversed, reversed(self._ends()))):
                if (window := self._window(last)).n:
                    return window
            raise ValueError("there is no window yet")

    def result(self) -> list[Window]:
        """Return `windows`."""
        return self.windows()

    def total(self) -> Any:
        """Return an accumulator of all rows, also those of windows that are not kept."""
        with self._lock:
            total = self._past.older.copy()
            total._state.merge(self._panes.merged(self._panes.numbers()))
            return total

    def _ends(self) -> list[range]:
        """The last panes of all windows that are kept and have rows, as runs."""
        if not len(self._panes):
            return []
        panes = self._panes.keys()
        newest = panes[-1]
        first = self._grid.panes - 1 if self._by_rows else None  # no rows before the first one
        if self._keep is not None:
            oldest = self._horizon() - self._keep
            first = oldest if first is None else max(first, oldest)
        ends: list[range] = []
        for key, n in zip(panes, self._panes.counts().tolist(), strict=True):
            if n == 0:
                continue
            beyond = min(key + self._grid.panes, newest + 1)
            lasts = range(key if first is None else max(key, first), beyond)
            ends += [lasts] if lasts else []
            first = beyond if first is None else max(first, beyond)  # those before are there
        return ends

    def _window(self, last: int) -> Window:
        first = last - self._grid.panes + 1
        merged = self._empty._from_state(self._panes.merged(self._between(first, last)))
        start, end = self._grid.border(first), self._grid.border(last + 1)
        return Window(start, end, merged.n, last < self._horizon(), merged)

    @property
    def n(self) -> int:
        """The number of rows so far, without late ones."""
        with self._lock:
            return int(self._past.older.n) + self._panes.n

    @property
    def n_omitted(self) -> int:
        """The number of rows dropped because a value was missing."""
        with self._lock:
            return getattr(self._past.older, "n_omitted", 0) + self._panes.n_omitted

    @property
    def n_late(self) -> int:
        """The number of rows left out because their window was closed."""
        with self._lock:
            return self._past.n_late

    def __len__(self) -> int:
        return self.n

    # The state

    def to_dict(self) -> dict[str, Any]:
        """Return what it holds, ready for JSON."""
        still = self.copy()  # all of one moment
        return {
            "kind": type(self).__name__, "n": still.n, "n_omitted": still.n_omitted,
            "n_late": still.n_late,
            "parameters": json_ready(self._shown()),
            "result": [window.to_dict() for window in still.windows()],
        }  # fmt: skip

    def _settings(self) -> dict[str, Any]:
        grid = self._grid
        return {
            "class": type(self._empty).__name__, "by_rows": self._by_rows, "step": grid.step,
            "panes": grid.panes, "lateness": grid.lateness, "of_dates": grid.of_dates,
            "origin": grid.origin, "late": self._late, "keep": self._keep,
        }  # fmt: skip

    def _parts(self) -> tuple[dict[str, Any], dict[str, bytes]]:
        with self._lock:
            self._evict()  # an interrupt may have come before it
            past, panes = self._past, self._panes
            head = {**self._settings(), "latest": past.latest, "n_late": past.n_late}
            states = {"empty": self._empty.to_bytes(), "older": past.older.to_bytes()}
            for key, place in zip(panes.keys(), panes.numbers(), strict=True):
                pane = self._empty._from_state(panes.merged([place]))
                states[str(key)] = pane.to_bytes()
            return head, states

    @classmethod
    def _of_parts(cls, head: dict[str, Any], states: dict[str, bytes]) -> Self:
        kind = public_class(head["class"])
        grid = Grid(head["step"], head["panes"], head["lateness"], head["of_dates"], head["origin"])
        grid.check(by_rows=head["by_rows"])
        keep, latest, n_late = head["keep"], head["latest"], head["n_late"]
        checked_choice(head["late"], "late", ("count", "raise"))
        is_time = type(latest) is int or (type(latest) is float and not head["by_rows"])
        counts = [n_late] if keep is None else [keep, n_late]
        if not all(map(_is_count, counts)) or not (is_time or latest is None):
            raise ValueError(f"windows are damaged: {keep=}, {latest=}, {n_late=}")
        made = cls.__new__(cls)
        made._begin(
            kind.from_bytes(states.pop("empty")), grid,
            by_rows=head["by_rows"], late=head["late"], keep=keep,
        )  # fmt: skip
        made._panes.set_note(Past(kind.from_bytes(states.pop("older")), latest, n_late))
        keys = sorted(map(int, states))
        for key in keys:
            made._panes.append(kind.from_bytes(states[str(key)])._state)
        made._panes.set_keys(keys, "int" if keys else None, 0)
        if keys:
            made._horizon()
        return made

    def copy(self) -> Self:
        """Return independent windows with the same rows."""
        with self._lock:
            made = type(self).__new__(type(self))
            made._begin(
                self._empty, self._grid, by_rows=self._by_rows, late=self._late, keep=self._keep
            )
            made._panes = self._panes.copy()
            return made

    def _shown(self) -> dict[str, Any]:
        grid = self._grid
        shown: dict[str, Any] = {"rows" if self._by_rows else "every": grid.shown(grid.step)}
        if grid.panes > 1:
            shown["length"] = grid.shown(grid.panes * grid.step)
        if grid.lateness:
            shown["lateness"] = grid.shown(grid.lateness)
        if grid.origin:
            shown["origin"] = grid.border(0)
        return {"factory": repr(self._empty), **shown, "late": self._late, "keep": self._keep}

    def __repr__(self) -> str:
        shown = self._shown()
        name = type(self._empty).__name__
        span = ", ".join(f"{key}={shown[key]!s}" for key in list(shown)[1:-2])
        return f"Windowed({name}, {span}, n={self.n}, n_late={self.n_late})"


def _is_count(value: object) -> bool:
    return type(value) is int and value >= 0
