"""Windows by a column of time: options, reading, and the table of ``calibrant score``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Self, TypeVar

import click
import numpy as np

from calibrant.commands._table import once

if TYPE_CHECKING:
    from calibrant.drift import WindowsDrift
    from calibrant.io import Scan
    from calibrant.io._parts import Columns
    from calibrant.streaming import Windowed

__all__ = ["read_windows", "time_options", "window_lines"]

F = TypeVar("F", bound=Callable[..., Any])

#: Each keeps a table of scores.
MOST_WINDOWS = 1_000
_UNITS: dict[str, Any] = {"s": "s", "min": "m", "h": "h", "d": "D", "w": "W"}
_SPAN = re.compile(rf"(\d+)\s*({'|'.join(_UNITS)})")
_COLUMNS = ("base_rate", "hit_rate", "brier", "ece")


def _span(_ctx: click.Context, _parameter: click.Parameter, text: str | None) -> Any:
    """Return 7d as a timedelta64, and 7 as a number."""
    if text is None:
        return None
    if match := _SPAN.fullmatch(text.strip()):
        return np.timedelta64(int(match[1]), _UNITS[match[2]])
    try:
        return int(text) if text.strip().isdecimal() else float(text)
    except ValueError:
        raise click.BadParameter(
            f"{text} is no length of time: 90s, 30min, 6h, 7d or 2w; or a number, where times are "
            "numbers"
        ) from None


def time_options(function: F) -> F:
    """Add the options of windows by time."""
    column = once(
        "--time", "timestamp", metavar="COLUMN",
        help="Compare windows of time, by this column of dates or numbers; needs --every.",
    )  # fmt: skip
    every = once(
        "--every", metavar="SPAN", callback=_span, help="How long they are, as 6h, 7d or 2w."
    )
    return column(every(function))


class _Reader:
    """Windows that take columns as they were read."""

    def __init__(self, windows: Windowed, rows: Scan, every: Any, multi_class: str) -> None:
        self.windows = windows
        self._rows, self._every, self._multi_class = rows, every, multi_class
        self._ends: list[Any] = []

    def take(self, columns: Columns, _place: int) -> int:
        """Add a batch, and return its rows."""
        batch = self._rows.reading.batch(columns)
        if batch.n:
            self._check_number(batch.timestamps)
        self.windows._take(
            y_true=batch.y_true, y_proba=batch.y_proba, sample_weight=batch.sample_weight,
            timestamps=batch.timestamps, multi_class=self._multi_class,
            nan_policy="omit" if self._rows.reading.skip_missing else "raise",
        )  # fmt: skip
        return batch.n

    def _check_number(self, stamps: Any) -> None:
        """Reject windows that are so short that memory would not hold all."""
        if stamps.dtype.kind not in "iufM" or (stamps.dtype.kind == "M") != (
            isinstance(self._every, np.timedelta64)
        ):
            return  # rejected by the windows
        self._ends = [
            np.fmin.reduce([*self._ends, stamps.min()]),
            np.fmax.reduce([*self._ends, stamps.max()]),
        ]
        number = (self._ends[1] - self._ends[0]) / self._every
        if number > MOST_WINDOWS:
            raise ValueError(
                f"timestamps must span at most {MOST_WINDOWS:,} windows, found {number:,.0f}; "
                "make them longer with --every"
            )

    def merge(self, other: Self) -> None:
        """Add the rows of another thread."""
        self.windows.merge(other.windows)


def read_windows(
    rows: Scan, every: Any, *, multi_class: str, n_bins: int, q_lim: float,
    progress: Callable[[int], None] | None,
) -> Windowed:  # fmt: skip
    """Read the rows once more, into a scorecard for each window."""
    from functools import partial

    from calibrant.streaming import Scorecard, Windowed

    def reader() -> _Reader:
        card = partial(Scorecard, n_bins=n_bins, q_lim=q_lim)
        return _Reader(Windowed(card, every=every, keep=None), rows, every, multi_class)

    return rows.reduce(reader, progress).windows


def window_lines(
    windows: Windowed, drift: WindowsDrift | None, column: str, confidence_level: float
) -> Iterator[str]:
    """Give a table with a line for each window, and what has changed since the first."""
    from calibrant._result import counted, moment_text
    from calibrant.scorecards._table import column_head, number_text

    listed = windows.windows()
    changed = () if drift is None else drift.drifted
    yield f"{counted(len(listed), 'window')} by {column}"
    names = "".join(f"{column_head(name):>12}" for name in _COLUMNS)
    starts = [moment_text(window.start) for window in listed]
    width = max(4, *map(len, starts))
    yield f"  {'from':<{width}}  {'rows':>9}{names}"
    for start, window in zip(starts, listed, strict=True):
        card = window.accumulator.result(confidence_level)
        numbers = "".join(f"{number_text(getattr(card, name).value):>12}" for name in _COLUMNS)
        mark = "  changed" if window in changed else ""
        yield f"  {start:<{width}}  {window.n:>9,}{numbers}{mark}"
    if drift is not None:
        yield drift.verdict
