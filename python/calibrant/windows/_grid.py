"""Which pane of a grid of time, or of row numbers, each row falls into."""

from __future__ import annotations

import datetime as dt
import math
import numbers
import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibrant._input.labels import _is_missing
from calibrant._input.validation import checked_count

__all__ = ["Grid"]

_MICROSECONDS = np.dtype("datetime64[us]")
#: Units that are whole microseconds, whose dates may be too far away to be counted in them.
_COARSE = ("Y", "M", "W", "D", "h", "m", "s", "ms")
#: Of whole numbers: differences of two and a lateness still fit into 64 bits.
_FARTHEST = 2**61
#: Farther panes have no exact number in double precision.
_MOST_PANES = 2**53
#: Rows at a time, which fit into a cache.
_BLOCK = 2**15


@dataclass(frozen=True)
class Grid:
    """Panes [k step, (k + 1) step), counted from the origin; a window is so many of them.

    Dates are counted in whole microseconds, so that every border is exact.
    """

    step: int | float
    panes: int
    lateness: int | float
    of_dates: bool
    origin: int | float = 0

    @classmethod
    def of_rows(cls, rows: Any, length: Any) -> Grid:
        """Panes of so many rows."""
        step = checked_count(rows, "rows")
        whole = step if length is None else checked_count(length, "length")
        return cls(step, _multiple(whole, step), 0, False)

    @classmethod
    def of_time(cls, every: Any, length: Any, lateness: Any, origin: Any) -> Grid:
        """Panes of so much time."""
        of_dates = isinstance(every, (np.timedelta64, dt.timedelta))
        step = _span(every, "every", of_dates)
        if step <= 0:
            raise ValueError(f"every must be positive, got {every!r}")
        whole = step if length is None else _span(length, "length", of_dates)
        late = 0 if lateness is None else _span(lateness, "lateness", of_dates)
        if not 0 <= late < _FARTHEST:
            raise ValueError(f"lateness must not be negative, nor 2**61 or more, got {lateness!r}")
        grid = cls(step, _multiple(whole, step), late, of_dates)
        if origin is None:
            return grid
        try:
            (start,) = grid.numbers([origin]).tolist()
        except (TypeError, ValueError) as error:
            raise type(error)(str(error).replace("timestamps", "origin")) from None
        return replace(grid, origin=start)

    def check(self, *, by_rows: object) -> None:
        """Raise ValueError if there is no such grid; of one that was saved."""
        numbers = (self.step, self.lateness, self.origin)
        kinds = (int,) if self.of_dates or by_rows else (int, float)
        if (
            any(type(flag) is not bool for flag in (by_rows, self.of_dates))
            or any(type(number) not in kinds for number in numbers)
            or not (type(self.panes) is int and self.panes >= 1)
            or not (self.step > 0 and 0 <= self.lateness < _FARTHEST)
            or (by_rows and (self.of_dates or self.lateness or self.origin))
        ):
            raise ValueError(f"windows are damaged: by_rows is {by_rows!r}, the grid {self}")

    def numbers(self, timestamps: Any) -> NDArray[Any]:
        """Return timestamps as int64 or float64, or say which row is wrong."""
        dtype = getattr(timestamps, "dtype", None)
        # A column of pandas with a time zone is in UTC when it is asked for datetime64.
        has_zone = getattr(dtype, "tz", None) is not None
        unit = f"datetime64[{getattr(dtype, 'unit', 'ns')}]"  # another could be too small
        stamps = np.asarray(timestamps, unit if has_zone else None)
        if stamps.ndim != 1:
            raise ValueError(f"timestamps must have shape (n,), got shape {stamps.shape}")
        masked = np.flatnonzero(np.ma.getmask(timestamps))
        if masked.size:
            raise ValueError(f"timestamps must not be missing, found a mask at row {masked[0]}")
        if stamps.size == 0:
            return np.empty(0, np.int64)
        if self.of_dates:
            return _of_dates(stamps)
        whole_or_not = _of_numbers(stamps)
        return whole_or_not.astype(np.float64) if isinstance(self.step, float) else whole_or_not

    def pane(self, stamps: NDArray[Any]) -> NDArray[np.int64]:
        """Return the pane of each number."""
        panes = np.empty(stamps.size, np.int64)
        for first in range(0, stamps.size, _BLOCK):
            block = stamps[first : first + _BLOCK]
            with np.errstate(over="ignore", invalid="ignore"):
                found = _floor_divided(block - self.origin if self.origin else block, self.step)
            if not (found.min() > -_MOST_PANES and found.max() < _MOST_PANES):
                row = np.flatnonzero(~(np.abs(found) < _MOST_PANES))[0]
                raise ValueError(
                    f"timestamps must be less than 2**53 steps of {self.step} away from the "
                    f"origin, found {block[row]} at row {first + row}"
                )
            panes[first : first + _BLOCK] = found
        return panes

    def late_rows(
        self, stamps: NDArray[Any], panes: NDArray[np.int64], latest: Any
    ) -> NDArray[np.intp]:
        """Return the rows whose pane was closed by a row before, or by the latest one so far."""
        if latest is None:
            latest = stamps[0]
        may_be = np.flatnonzero(panes < self.horizon(max(latest, stamps.max())))
        if not may_be.size:
            return may_be
        before = np.concatenate([np.array([latest]), stamps[:-1]])
        reached = np.maximum.accumulate(before)[may_be]
        return may_be[panes[may_be] < self.horizon(reached)]

    def latest(self, stamps: NDArray[Any]) -> int | float:
        """Return the greatest; the same whether its batch had fractions, too, or not."""
        found: int | float = stamps.max().item()
        exact = not isinstance(self.step, float) and abs(found) < _MOST_PANES
        return int(found) if exact and found == int(found) else found

    def horizon(self, stamps: Any) -> NDArray[np.int64]:
        """Return the first pane that is open when these are the greatest timestamps so far."""
        with np.errstate(over="ignore"):
            shifted = np.asarray(stamps) - self.lateness - self.origin
            panes = _floor_divided(shifted, self.step)
        # It may be as far away as it likes: then all is open, as it is beyond any pane.
        open_from: NDArray[np.int64] = np.clip(panes, -_MOST_PANES, _MOST_PANES).astype(np.int64)
        return open_from

    def border(self, pane: int) -> Any:
        """Return where a pane begins, as the user counts time."""
        at = self.origin + pane * self.step
        return np.datetime64(int(at), "us") if self.of_dates else at

    def shown(self, span: float) -> Any:
        """Return a span of time as the user counts it."""
        return np.timedelta64(int(span), "us") if self.of_dates else span


def _floor_divided(stamps: NDArray[Any], step: int | float) -> NDArray[Any]:
    """Return the exact floor of stamps / step.

    A quotient that is rounded cannot pass a whole number, only land on it. So only those that
    are whole need the exact division, which is slow.
    """
    if stamps.dtype.kind != "f" and not isinstance(step, float):
        return np.asarray(np.floor_divide(stamps, step))
    quotients = np.atleast_1d(stamps / step)
    panes = np.floor(quotients)
    whole = np.flatnonzero(panes == quotients)
    panes[whole] = np.floor_divide(np.atleast_1d(stamps)[whole], step)
    return panes.reshape(stamps.shape)


def _of_dates(stamps: NDArray[Any]) -> NDArray[np.int64]:
    if stamps.dtype == object:
        stamps = _dates_of_objects(stamps)
    if stamps.dtype.kind != "M":
        raise TypeError(f"timestamps must be dates, as every is a span of them, got {stamps.dtype}")
    missing = np.flatnonzero(np.isnat(stamps))
    if missing.size:
        raise ValueError(f"timestamps must not be missing, found NaT at row {missing[0]}")
    fine = stamps.astype(_MICROSECONDS)  # finer ones are rounded down, as the panes are
    if np.datetime_data(stamps.dtype)[0] in _COARSE:
        wrong = np.flatnonzero(fine.astype(stamps.dtype) != stamps)
        if wrong.size:
            row = wrong[0]
            raise ValueError(f"timestamps are too far away, found {stamps[row]} at row {row}")
    return _near(fine.astype(np.int64), stamps)


def _dates_of_objects(stamps: NDArray[Any]) -> NDArray[Any]:
    zoned: bool | None = None
    dates = []
    for row, stamp in enumerate(stamps.tolist()):
        if _is_missing(stamp):
            raise ValueError(f"timestamps must not be missing, found {stamp!r} at row {row}")
        if not isinstance(stamp, (dt.date, np.datetime64)):  # a number would be microseconds
            raise TypeError(f"timestamps must be dates, found {stamp!r} at row {row}")
        has_zone = isinstance(stamp, dt.datetime) and stamp.tzinfo is not None
        if zoned is not None and zoned != has_zone:
            raise TypeError(
                f"timestamps must all have a time zone or none, found {stamps[0]!r} at row 0 and "
                f"{stamp!r} at row {row}"
            )
        zoned = has_zone
        if isinstance(stamp, dt.datetime) and zoned:  # moments are counted in UTC
            try:
                stamp = stamp.astimezone(dt.UTC).replace(tzinfo=None)
            except OverflowError:
                message = f"timestamps are too far away, found {stamp} at row {row}"
                raise ValueError(message) from None
        dates.append(stamp)
    return np.array(dates, _MICROSECONDS)


def _of_numbers(stamps: NDArray[Any]) -> NDArray[Any]:
    if stamps.dtype.kind == "f":
        as_numbers = stamps.astype(np.float64, copy=False)
        wrong = np.flatnonzero(~np.isfinite(as_numbers))
    elif stamps.dtype.kind in "iu":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            as_numbers = stamps.astype(np.int64)
        wrong = np.flatnonzero((as_numbers < 0) & (stamps > 0))
        if not wrong.size:
            return _near(stamps.astype(np.int64), stamps)
    else:
        raise TypeError(f"timestamps must be numbers, as every is one, got {stamps.dtype}")
    if wrong.size:
        row = wrong[0]
        raise ValueError(f"timestamps must be finite, found {stamps[row]} at row {row}")
    return as_numbers


def _near(whole: NDArray[np.int64], stamps: NDArray[Any]) -> NDArray[np.int64]:
    """Reject numbers that cannot be subtracted from each other."""
    far = np.flatnonzero((whole <= -_FARTHEST) | (whole >= _FARTHEST))
    if far.size:
        raise ValueError(f"timestamps are too far away, found {stamps[far[0]]} at row {far[0]}")
    return whole


def _span(value: Any, name: str, of_dates: bool) -> int | float:
    """A span of time as a number; of dates, in microseconds."""
    if not of_dates:
        if isinstance(value, bool) or not isinstance(value, numbers.Real):
            raise TypeError(f"{name} must be a number or a timedelta, as every, got {value!r}")
        if not math.isfinite(value):
            raise ValueError(f"{name} must be finite, got {value!r}")
        return int(value) if isinstance(value, numbers.Integral) else float(value)
    if not isinstance(value, (np.timedelta64, dt.timedelta)):
        raise TypeError(f"{name} must be a timedelta, as every is one, got {value!r}")
    # That of pandas may have nanoseconds, which NumPy does not see.
    span = value.to_timedelta64() if hasattr(value, "to_timedelta64") else np.timedelta64(value)
    if np.datetime_data(span.dtype)[0] in ("Y", "M", "generic"):
        raise ValueError(f"{name} must have a fixed length, which months have not, got {value!r}")
    fine = span.astype("timedelta64[us]")
    if np.isnat(fine) or fine != span:
        raise ValueError(f"{name} must be whole microseconds, got {value!r}")
    return int(fine.astype(np.int64))


def _multiple(length: int | float, step: int | float) -> int:
    panes = round(length / step)
    if panes < 1 or panes * step != length:
        raise ValueError(f"length must be a multiple of the step {step}, got {length}")
    return panes
