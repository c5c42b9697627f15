"""Windows of a stream: every one is, to the bit, the accumulator of its rows alone."""

from __future__ import annotations

import copy
import datetime as dt
import functools
import itertools
import json
import math
import pickle
import threading
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from calibrant import distributed, streaming
from calibrant.streaming import Grouped, Intervals, Scorecard, Scores, ScoreTable, Windowed
from calibrant.windows._grid import Grid

HOUR = np.timedelta64(1, "h")
WEST = dt.timezone(-dt.timedelta(hours=3))


def rows_of(n, seed=0):
    rng = np.random.default_rng(seed)
    p = rng.random(n)
    return (rng.random(n) < p).astype(int), p


def scores_of(y, p):
    made = Scores()
    made.update(y, p)
    return made


def batches_of(n, cuts):
    edges = [0, *sorted(cut % (n + 1) for cut in cuts), n]
    return [slice(a, b) for a, b in itertools.pairwise(edges)]


def fed(windows, y, p, stamps=None, batches=(slice(None),)):
    for rows in batches:
        times = {} if stamps is None else {"timestamps": stamps[rows]}
        windows.update(y[rows], p[rows], **times)
    return windows


class Slow:
    """The rows of all windows, one row after the other, in lists."""

    def __init__(self, every, panes, lateness, keep):
        self.every, self.panes, self.lateness, self.keep = every, panes, lateness, keep
        self.rows, self.late, self.greatest = [], 0, -math.inf

    def add(self, row, t):
        end = (t // self.every + 1) * self.every
        if self.greatest - self.lateness >= end:
            self.late += 1
        else:
            self.rows.append((row, t))
        self.greatest = max(self.greatest, t)

    def windows(self):
        """(start, end, is_closed, rows), for those that are kept."""
        reached = (self.greatest - self.lateness) // self.every
        newest = max(t // self.every for _, t in self.rows)
        oldest = min(t // self.every for _, t in self.rows)
        found = []
        for last in range(oldest, newest + 1):
            start, end = (last - self.panes + 1) * self.every, (last + 1) * self.every
            inside = [row for row, t in self.rows if start <= t < end]
            kept = self.keep is None or last >= reached - self.keep
            if inside and kept:
                found.append((start, end, last < reached, inside))
        return found


@settings(max_examples=60, deadline=None)
@given(
    stamps=st.lists(st.integers(-60, 60), min_size=1, max_size=40),
    every=st.integers(1, 25),
    origin=st.integers(-30, 30),
    panes=st.integers(1, 4),
    lateness=st.integers(0, 30),
    keep=st.one_of(st.none(), st.integers(0, 4)),
    cuts=st.lists(st.integers(0, 100), max_size=4),
)
def test_windows_by_time_are_those_of_the_definition(
    stamps, every, origin, panes, lateness, keep, cuts
):
    y, p = rows_of(len(stamps))
    stamps = np.array(stamps)
    slow = Slow(every, panes, lateness, keep)
    for row, t in enumerate(stamps.tolist()):
        slow.add(row, t)
    windows = Windowed(
        Scores, every=every, length=panes * every, lateness=lateness, keep=keep, origin=origin
    )
    fed(windows, y, p, stamps + origin, batches_of(len(stamps), cuts))
    assert windows.n_late == slow.late
    assert windows.n == len(slow.rows)
    found = windows.windows()
    assert [(w.start - origin, w.end - origin, w.is_closed) for w in found] == [
        w[:3] for w in slow.windows()
    ]
    for window, (_, _, _, inside) in zip(found, slow.windows(), strict=True):
        assert window.accumulator == scores_of(y[inside], p[inside])
        assert window.n == len(inside)
        assert window.result == window.accumulator.result()
    kept = [row for row, _ in slow.rows]
    assert windows.total() == scores_of(y[kept], p[kept])
    if found:
        assert windows.current().accumulator == found[-1].accumulator


@settings(max_examples=40, deadline=None)
@given(
    n=st.integers(1, 60),
    step=st.integers(1, 9),
    panes=st.integers(1, 4),
    cuts=st.lists(st.integers(0, 100), max_size=5),
)
def test_windows_by_row_count(n, step, panes, cuts):
    y, p = rows_of(n)
    windows = Windowed(Scores, rows=step, length=panes * step, keep=None)
    fed(windows, y, p, batches=batches_of(n, cuts))
    length = panes * step
    expected = [
        (start, start + length, start + length <= n, slice(start, start + length))
        for start in range(0, n, step)
        if start + length - step < n
    ]
    found = windows.windows()
    assert [(w.start, w.end, w.is_closed) for w in found] == [w[:3] for w in expected]
    for window, (_, _, _, rows) in zip(found, expected, strict=True):
        assert window.accumulator == scores_of(y[rows], p[rows])
    assert (
        windows.to_bytes()
        == fed(Windowed(Scores, rows=step, length=length, keep=None), y, p).to_bytes()
    )


@settings(max_examples=30, deadline=None)
@given(
    stamps=st.lists(st.integers(0, 100), min_size=2, max_size=30),
    of_worker=st.lists(st.integers(0, 2), min_size=30, max_size=30),
    keep=st.one_of(st.none(), st.integers(0, 3)),
)
def test_workers_merge_to_the_bits_of_one_stream(stamps, of_worker, keep):
    y, p = rows_of(len(stamps))
    stamps, of_worker = np.array(stamps), np.array(of_worker[: len(stamps)])
    make = functools.partial(Windowed, Scores, every=10, length=30, lateness=1000, keep=keep)
    whole = fed(make(), y, p, stamps)
    parts = [fed(make(), y[w], p[w], stamps[w]) for w in (of_worker == k for k in range(3))]
    assert whole.n_late == 0
    forth = make().merge(parts[0]).merge(parts[1]).merge(parts[2])
    back = parts[2].copy().merge(parts[1].merge(parts[0]))
    assert forth.to_bytes() == back.to_bytes() == whole.to_bytes()


def test_merge_moves_what_the_other_stream_has_left_behind():
    y, p = rows_of(4)
    slow, fast = (Windowed(Scores, every=10, keep=1) for _ in range(2))
    slow.update(y[:2], p[:2], timestamps=[5, 12])
    fast.update(y[2:], p[2:], timestamps=[55, 61])
    slow.merge(fast)
    assert [w.start for w in slow.windows()] == [50, 60]
    assert slow.total() == scores_of(y, p)


def test_merge_with_itself_counts_twice():
    y, p = rows_of(5)
    windows = fed(Windowed(Scores, every=2.0), y, p, np.arange(5.0))
    twice = windows.merge(windows)
    assert twice.n == 10
    assert [w.n for w in twice.windows()] == [4, 4, 2]


def test_merge_rejects():
    by_rows = Windowed(Scores, rows=3)
    with pytest.raises(ValueError, match="windows by row count cannot be merged"):
        by_rows.merge(by_rows)
    hourly = Windowed(Scores, every=3600)
    with pytest.raises(TypeError, match="cannot merge Scores into Windowed"):
        hourly.merge(Scores())
    for other in (
        Windowed(Scores, every=60),
        Windowed(ScoreTable, every=3600),
        Windowed(functools.partial(Scores, q_lim=0.1), every=3600),
        Windowed(Scores, every=3600, keep=7),
    ):
        with pytest.raises(ValueError, match="parameters differ"):
            hourly.merge(other)


def test_merge_of_another_shape_changes_nothing():
    left, right = Windowed(Scores, every=10), Windowed(Scores, every=10)
    left.update([1], [0.5], timestamps=[5])
    right.update([1], [[0.5, 0.5, 0.0]], timestamps=[35])
    before = left.to_bytes()
    with pytest.raises(ValueError, match="y_proba"):
        left.merge(right)
    assert left.to_bytes() == before


# Time


@pytest.mark.parametrize(
    "stamps",
    [
        np.array(["2026-03-01T10:59:59.999999", "2026-03-01T11:00"], "datetime64[us]"),
        np.array(["2026-03-01T10:59:59.999999999", "2026-03-01T11:00"], "datetime64[ns]"),
        [dt.datetime(2026, 3, 1, 10, 59, 59), dt.datetime(2026, 3, 1, 11)],
    ],
)
@pytest.mark.parametrize("every", [HOUR, dt.timedelta(hours=1)])
def test_dates(stamps, every):
    windows = Windowed(Scores, every=every)
    windows.update([1, 0], [0.5, 0.5], timestamps=stamps)
    assert [(w.start, w.n) for w in windows.windows()] == [
        (np.datetime64("2026-03-01T10:00"), 1),
        (np.datetime64("2026-03-01T11:00"), 1),
    ]


def test_dates_before_1970():
    windows = Windowed(Scores, every=np.timedelta64(1, "D"))
    windows.update([1, 0], [0.5, 0.5], timestamps=np.array(["1969-12-31", "1970"], "datetime64[s]"))
    assert [w.start for w in windows.windows()] == [
        np.datetime64("1969-12-31"),
        np.datetime64("1970-01-01"),
    ]


def test_pandas_and_arrow_columns():
    pd, pa = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    y, p = rows_of(6)
    stamps = np.datetime64("2026-01-01T00") + np.array([0, 3, 0, 1, 3, 1]) * HOUR
    plain = fed(Windowed(Scores, every=HOUR, lateness=5 * HOUR), y, p, stamps)
    frame = pd.DataFrame({"y": y, "p": p, "t": stamps}, index=list("abcdef"))
    for column in (frame.get, lambda name: pa.array(frame[name]), lambda name: list(frame[name])):
        other = Windowed(Scores, every=HOUR, lateness=5 * HOUR)
        other.update(column("y"), column("p"), timestamps=frame["t"])
        assert other == plain


def test_columns_of_pandas_keep_their_unit():
    """Seconds reach farther than nanoseconds, and a timedelta may be finer than it looks."""
    pd = pytest.importorskip("pandas")
    far = pd.DatetimeIndex(np.array(["3500-01-01T00:30"], "datetime64[s]")).tz_localize("UTC")
    windows = Windowed(Scores, every=pd.Timedelta("1h"))
    windows.update([1], [0.5], timestamps=far)
    assert windows.current().start == np.datetime64("3500-01-01T00:00")
    with pytest.raises(ValueError, match="every must be whole microseconds"):
        Windowed(Scores, every=pd.Timedelta(1500, "ns"))


def test_whole_times_are_the_same_beside_fractions_and_alone():
    apart = Windowed(Scores, every=10)
    apart.update([1], [0.5], timestamps=[1.5])
    apart.update([0], [0.5], timestamps=[2])
    together = Windowed(Scores, every=10)
    together.update([1, 0], [0.5, 0.5], timestamps=[1.5, 2])
    assert apart.to_bytes() == together.to_bytes()


def test_weeks_from_monday():
    monday = np.datetime64("2026-01-05")
    week = Windowed(Scores, every=np.timedelta64(7, "D"), origin=monday)
    stamps = [dt.datetime(2026, 1, 4, 23), dt.datetime(2026, 1, 5), dt.datetime(2026, 1, 11, 23)]
    week.update([1, 0, 1], [0.5] * 3, timestamps=stamps)
    assert [(w.start, w.n) for w in week.windows()] == [(monday - 7, 1), (monday, 2)]
    assert Windowed.from_bytes(week.to_bytes()) == week
    with pytest.raises(ValueError, match="parameters differ"):
        week.merge(Windowed(Scores, every=np.timedelta64(7, "D")))


def test_float_borders_are_exact():
    # 0.3 is below three times 0.1 as doubles have them, 0.30000000000000004 is not.
    windows = Windowed(Scores, every=0.1)
    windows.update([1, 1], [0.5, 0.5], timestamps=[0.3, 0.30000000000000004])
    assert [w.n for w in windows.windows()] == [1, 1]


@settings(max_examples=200, deadline=None)
@given(
    step=st.floats(1e-3, 1e6),
    k=st.integers(-(10**6), 10**6),
    ulps=st.integers(-2, 2),
    other=st.floats(-1e9, 1e9),
)
def test_the_pane_is_the_exact_quotient(step, k, ulps, other):
    near = k * step
    for _ in range(abs(ulps)):
        near = math.nextafter(near, math.copysign(math.inf, ulps))
    found = Grid.of_time(step, None, None, None).pane(np.array([near, other, near]))
    exact = [math.floor(Fraction(t) / Fraction(step)) for t in (near, other, near)]
    assert found.tolist() == exact


def test_a_lateness_beyond_all_time():
    windows = Windowed(Scores, every=1e-3, lateness=1e18)
    windows.update([1, 0], [0.5, 0.5], timestamps=[5.0, 1.0])
    assert [w.is_closed for w in windows.windows()] == [False, False]


@pytest.mark.parametrize(
    ("every", "stamps", "message"),
    [
        (60, [1.0, math.nan], "timestamps must be finite, found nan at row 1"),
        (60, [math.inf, 1.0], "timestamps must be finite, found inf at row 0"),
        (60, [1], "timestamps must be one for each of 2 rows, got 1"),
        (60, [[1], [2]], r"timestamps must have shape \(n,\), got shape \(2, 1\)"),
        (1e-9, [1.0, 1e30], "less than 2\\*\\*53 steps"),
        (
            60,
            np.array([1, 2**63], np.uint64),
            "timestamps must be finite, found 9223372036854775808",
        ),
        (60, np.array([1, -(2**62)]), "timestamps are too far away, found -4611686018427387904"),
        (HOUR, np.array(["2026", "NaT"], "datetime64[s]"), "found NaT at row 1"),
        (
            HOUR,
            np.array(["2026", "999999"], "datetime64[Y]"),
            "too far away, found 999999 at row 1",
        ),
        (60, np.ma.array([1, 2], mask=[False, True]), "must not be missing, found a mask at row 1"),
        (HOUR, [dt.datetime(2026, 1, 1, tzinfo=dt.UTC), None], "missing, found None at row 1"),
        (HOUR, [dt.datetime(2026, 1, 1), None], "missing, found None at row 1"),
        (
            HOUR,
            [dt.datetime(2026, 1, 1, tzinfo=dt.UTC), dt.datetime.max.replace(tzinfo=WEST)],
            "too far away, found 9999-12-31 23:59:59.999999-03:00 at row 1",
        ),
    ],
)
def test_bad_timestamps(every, stamps, message):
    windows = Windowed(Scores, every=every)
    with pytest.raises(ValueError, match=message):
        windows.update([1, 0], [0.5, 0.5], timestamps=stamps)
    assert windows == Windowed(Scores, every=every)


@pytest.mark.parametrize(
    ("every", "stamps", "message"),
    [
        (60, ["a", "b"], "timestamps must be numbers"),
        (60, np.array(["2026", "2027"], "datetime64[s]"), "timestamps must be numbers"),
        (HOUR, [1.0, 2.0], "timestamps must be dates"),
        (HOUR, [dt.datetime.now(dt.UTC), dt.datetime(2026, 1, 1)], "time zone or none.*row 1"),
        (60, None, "timestamps are missing"),
        (HOUR, np.array([1, 2], object), "timestamps must be dates, found 1 at row 0"),
        (HOUR, np.array(["2026", "2027"], object), "timestamps must be dates, found '2026' at"),
    ],
)
def test_timestamps_of_another_kind(every, stamps, message):
    with pytest.raises(TypeError, match=message):
        Windowed(Scores, every=every).update([1, 0], [0.5, 0.5], timestamps=stamps)


@pytest.mark.parametrize("library", ["datetime", "pandas", "pandas index", "polars", "pyarrow"])
def test_moments_are_counted_in_utc(library):
    zone = dt.timezone(dt.timedelta(hours=5, minutes=30))
    moments = [dt.datetime(2026, 1, 1, 0, 15, tzinfo=zone), dt.datetime(2026, 1, 1, tzinfo=dt.UTC)]
    naive = [dt.datetime(2025, 12, 31, 18, 45), dt.datetime(2026, 1, 1)]
    if library.startswith("pandas"):
        pandas = pytest.importorskip("pandas")
        moments = pandas.to_datetime(moments, utc=True).tz_convert("Asia/Kolkata")
        moments = pandas.Series(moments) if library == "pandas" else moments
    elif library == "polars":
        polars = pytest.importorskip("polars")
        moments = polars.Series(moments, dtype=polars.Datetime("us", "Asia/Kolkata"))
    elif library == "pyarrow":
        pyarrow = pytest.importorskip("pyarrow")
        moments = pyarrow.array(moments, pyarrow.timestamp("ms", "Asia/Kolkata"))
    found, expected = Windowed(Scores, every=HOUR), Windowed(Scores, every=HOUR)
    found.update([1, 0], [0.5, 0.25], timestamps=moments)
    expected.update([1, 0], [0.5, 0.25], timestamps=naive)
    assert found == expected
    assert Windowed(Scores, every=HOUR, origin=dt.datetime(2026, 1, 5, tzinfo=dt.UTC)) == Windowed(
        Scores, every=HOUR, origin=dt.datetime(2026, 1, 5)
    )


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({}, TypeError, "pass rows or every"),
        ({"rows": 1, "every": 1}, TypeError, "pass rows or every"),
        ({"rows": 0}, ValueError, "rows must be at least 1"),
        ({"rows": 1.5}, TypeError, "rows must be an integer, got 1.5"),
        ({"rows": 4, "length": 6}, ValueError, "length must be a multiple of the step 4, got 6"),
        ({"rows": 4, "lateness": 1}, TypeError, "rows are never late"),
        ({"rows": 4, "origin": 1}, TypeError, "lateness and origin are for windows by time"),
        ({"every": 4, "origin": "x"}, TypeError, "origin must be numbers"),
        ({"every": HOUR, "origin": np.datetime64("NaT")}, ValueError, "origin must not be missing"),
        ({"every": -1}, ValueError, "every must be positive"),
        ({"every": math.nan}, ValueError, "every must be finite"),
        ({"every": "1h"}, TypeError, "every must be a number or a timedelta"),
        ({"every": np.timedelta64(1, "M")}, ValueError, "fixed length"),
        ({"every": np.timedelta64(1500, "ns")}, ValueError, "whole microseconds"),
        ({"every": HOUR, "lateness": 3}, TypeError, "lateness must be a timedelta"),
        ({"every": 1, "lateness": -3}, ValueError, "lateness must not be negative"),
        ({"every": 1, "late": "drop"}, ValueError, "late must be 'count' or 'raise'"),
        ({"every": 1, "keep": -1}, ValueError, "keep must be at least 0"),
        ({"every": 1, "keep": 1.5}, TypeError, "keep must be an integer"),
    ],
)
def test_bad_parameters(arguments, error, message):
    with pytest.raises(error, match=message):
        Windowed(Scores, **arguments)


def full():
    return scores_of([1], [0.5])


@pytest.mark.parametrize(
    ("factory", "error", "message"),
    [
        (3, TypeError, "factory must make an accumulator, got 3"),
        (dict, TypeError, "it made dict"),
        (full, ValueError, "it has 1 rows"),
    ],
)
def test_bad_factories(factory, error, message):
    with pytest.raises(error, match=message):
        Windowed(factory, rows=3)


# Rows that are rejected


def test_a_failed_update_leaves_all_as_it_was():
    windows = Windowed(Scores, every=10, late="raise")
    windows.update([1, 0, 1], [0.5, 0.25, 0.5], timestamps=[1, 15, 17])
    before = windows.to_bytes()
    bad = [0.5, 0.5, 1.5, 0.5]
    # Several panes, new and old; the message has the row of the batch.
    with pytest.raises(ValueError, match=r"found 1.5 at row 2"):
        windows.update([1, 0, 1, 1], bad, timestamps=[16, 25, 36, 47])
    with pytest.raises(ValueError, match=r"found 1.5 at row 2$"):
        windows.update([1, 0, 1, 1], bad, timestamps=[16, 17, 18, 19])
    with pytest.raises(ValueError, match=r"late row: 5 at row 1, and its window is closed"):
        windows.update([1, 0, 1], [0.5] * 3, timestamps=[16, 5, 25])
    with pytest.raises(ValueError, match="y_proba"):
        windows.update([1], [[0.5, 0.5, 0.0]], timestamps=[40])  # a new pane, of another shape
    with pytest.raises(ValueError, match="y_true"):
        windows.update([1, 0], [0.5] * 3, timestamps=[16, 25])
    with pytest.raises(TypeError, match="y_proba"):
        windows.update([1], y_prob=[0.5], timestamps=[40])
    assert windows.to_bytes() == before


def test_arguments_are_cut_by_name():
    y, p = rows_of(8)
    weight = np.arange(1.0, 9.0)
    names = np.where(y == 1, "yes", "no")
    windows = Windowed(Scores, rows=3)
    windows.update(names, p, sample_weight=weight, labels=["no", "yes"])
    for k, window in enumerate(windows.windows()):
        rows = slice(3 * k, 3 * k + 3)
        alone = Scores()
        alone.update(y[rows], p[rows], sample_weight=weight[rows])
        assert window.accumulator == alone


def test_omitted_rows_count_for_windows_by_rows():
    windows = Windowed(Scores, rows=2)
    windows.update([1, 0, 1, 0], [0.5, math.nan, 0.25, 0.5], nan_policy="omit")
    assert [w.n for w in windows.windows()] == [1, 2]
    assert (windows.n, windows.n_omitted) == (3, 1)


def test_a_window_whose_rows_were_all_omitted_has_none():
    windows = Windowed(Scores, every=10)
    windows.update([1, 0], [0.5, math.nan], timestamps=[1, 11], nan_policy="omit")
    assert [window.start for window in windows.windows()] == [0]
    assert windows.current().start == 0
    assert (windows.n, windows.n_omitted, len(windows.to_dict()["result"])) == (1, 1, 1)


def test_intervals_as_a_pair_of_ends():
    y = np.arange(6.0)
    low, high = y - 1, y + np.array([1, -0.5] * 3)
    windows = Windowed(functools.partial(Intervals, (0.9,)), every=10, lateness=100)
    windows.update(y, (low, high), timestamps=[1, 11, 2, 12, 3, 13])
    coverages = [float(w.result.levels[0].coverage.value) for w in windows.windows()]
    assert coverages == [1.0, 0.0]


@pytest.mark.parametrize("every", [10, 2.5, HOUR])
def test_empty_batches(every):
    windows = Windowed(Scores, every=every)
    windows.update([], [], timestamps=[])
    assert windows == Windowed(Scores, every=every)
    assert windows.windows() == []
    with pytest.raises(ValueError, match="there is no window yet"):
        windows.current()


def test_one_row_updates_one_pane_of_a_sliding_window():
    windows = Windowed(Scorecard, every=1, length=50)
    y, p = rows_of(200)
    windows.update(y, p, timestamps=np.repeat(np.arange(50), 4))
    assert windows.current().n == 200
    assert len(windows._panes) == 50
    assert windows._panes.counts().sum() == 200


def test_memory_is_bounded():
    windows = Windowed(Scores, every=10, length=30, keep=2, lateness=20)
    for t in range(0, 5000, 5):
        windows.update([1], [0.5], timestamps=[t])
        assert len(windows._panes) <= 2 + 2 + 3
    assert windows.total().n == windows.n == 1000
    assert sum(w.is_closed for w in windows.windows()) == 2


def test_a_long_silence_and_long_windows_cost_nothing():
    """A year by seconds, in windows of a day: nothing is done for each second without rows."""
    second = np.timedelta64(1, "s")
    windows = Windowed(Scores, every=second, length=86400 * second)
    start = np.datetime64("2025-01-01")
    for day in (0, 365, 730):
        windows.update([1, 0], [0.5, 0.25], timestamps=start + day + np.arange(2) * second)
    assert len(windows._panes) == 2
    assert [w.n for w in windows.windows()] == [1, 2]
    # Each pane is in 86,400 windows, of which all but a few are not kept.
    n = 3000
    windows.update([1] * n, [0.5] * n, timestamps=start + 800 + np.arange(n) * second)
    lasts = [last for run in windows._ends() for last in run]
    newest = windows._panes.keys()[-1]
    assert lasts == list(range(newest - 100, newest + 1))


def test_windows_of_groups():
    y, p = rows_of(60)
    keys, stamps = np.arange(60) % 3, np.arange(60)
    windows = Windowed(functools.partial(Grouped, Scores), every=20)
    for rows in (slice(0, 25), slice(25, 26), slice(26, 60)):
        windows.update(y[rows], p[rows], groups=keys[rows], timestamps=stamps[rows])
    for window in windows.windows():
        rows = slice(window.start, window.end)
        alone = Grouped(Scores)
        alone.update(y[rows], p[rows], groups=keys[rows])
        assert window.accumulator == alone
    table = [{"y": y, "p": p, "key": keys, "t": stamps}]
    names = {"label": "y", "prob": "p", "group": "key", "timestamp": "t"}
    factory = functools.partial(Windowed, functools.partial(Grouped, Scores), every=20)
    assert distributed.local(table, factory, **names) == windows
    assert Windowed.from_bytes(windows.to_bytes()) == windows
    before = windows.to_bytes()
    with pytest.raises(TypeError, match="keys of groups must be of one kind"):
        windows.update([1], [0.5], groups=["a"], timestamps=[99])
    assert windows.to_bytes() == before


def test_threads_lose_no_row():
    windows = Windowed(Scores, every=1, lateness=100)
    y, p = rows_of(50)

    def work(seed):
        stamps = np.random.default_rng(seed).integers(0, 20, 50)
        for _ in range(20):
            windows.update(y, p, timestamps=stamps)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert windows.n == 6 * 20 * 50


@pytest.mark.parametrize("name", ["n", "n_omitted", "n_late"])
def test_numbers_are_not_read_while_rows_are_added(name):
    windows = Windowed(Scores, every=1)
    reader = threading.Thread(target=getattr, args=(windows, name))
    with windows._lock:
        reader.start()
        reader.join(0.05)
        assert reader.is_alive()
    reader.join()


# The state


@pytest.fixture(
    params=[
        {"every": HOUR, "length": 3 * HOUR, "lateness": HOUR, "keep": 2},
        {"every": 3600.5, "late": "raise", "lateness": 1e9, "origin": 0.25},
        {"every": 7200, "keep": None},
        {"rows": 4, "length": 8, "keep": 1},
    ],
    ids=["dates", "floats", "ints", "rows"],
)
def windows(request):
    made = Windowed(functools.partial(Scorecard, n_bins=5), **request.param)
    feed(made, 0)
    return made


def feed(windows, first):
    y, p = rows_of(20, seed=first)
    stamps = np.datetime64("2026-01-01T00") + (np.arange(20) + first) * np.timedelta64(30, "m")
    if windows._by_rows:
        windows.update(y, p)
    elif windows._grid.of_dates:
        windows.update(y, p, timestamps=stamps)
    else:
        windows.update(y, p, timestamps=stamps.astype("datetime64[s]").astype(np.int64))


def test_states_go_on(windows, tmp_path):
    windows.save(tmp_path / "windows.state")
    copies = [
        Windowed.from_bytes(windows.to_bytes()), streaming.restore(windows.to_bytes()),
        streaming.load(tmp_path / "windows.state"), Windowed.load(tmp_path / "windows.state"),
        pickle.loads(pickle.dumps(windows)), copy.deepcopy(windows), windows.copy(),
    ]  # fmt: skip
    before = windows.to_bytes()
    assert all(other == windows for other in copies)
    for other in copies:
        feed(other, 20)
    assert windows.to_bytes() == before  # they are independent
    feed(windows, 20)
    assert all(other == windows for other in copies)
    assert repr(copies[0]) == repr(windows)


def test_to_dict(windows):
    view = json.loads(json.dumps(windows.to_dict()))
    assert view["kind"] == "Windowed"
    assert view["n"] == 20 == len(windows)
    assert [w["n"] for w in view["result"]] == [w.n for w in windows.windows()]
    assert view["result"][-1]["result"]["brier"]["value"] == windows.current().result.brier.value


def test_repr():
    windows = Windowed(Scores, every=HOUR, length=24 * HOUR)
    assert repr(windows) == (
        "Windowed(Scores, every=3600000000 microseconds, length=86400000000 microseconds, "
        "n=0, n_late=0)"
    )
    assert repr(Windowed(Scores, rows=10)) == "Windowed(Scores, rows=10, n=0, n_late=0)"
