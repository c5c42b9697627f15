"""Accumulators beside what they are made of: tables, windows, and the sequential test."""

from __future__ import annotations

import numpy as np

import calibrant
from bench.task import LINEAR, Peer, Task
from bench.tasks.predictions import binary
from calibrant.sequential import SequentialCalibrationTest
from calibrant.streaming import Scores, ScoreTable, Windowed

#: Windows to a batch of all rows; a sliding one spans ten of their steps.
WINDOWS = 50
SIZES = LINEAR[1:]


def of(made, *data):
    made.update(*data)
    return made


def one_accumulator(y, p, *_):
    return of(Scores(), y, p)


def stamped(n):
    return (*binary(n), np.random.default_rng(0).permutation(np.arange(n, dtype=np.float64)))


def sliding(y, p, stamps):
    step = y.size / WINDOWS
    windows = Windowed(Scores, every=step, length=10 * step, lateness=y.size)
    windows.update(y, p, timestamps=stamps)
    return windows


def all_windows(data, windows):
    assert windows.total() == one_accumulator(*data)
    assert len(windows.windows()) == WINDOWS


def bincounts(y, p, n_cells=2**15):
    """Rows, hits and sums of scores in cells of equal width: neither exact nor extremes."""
    cells = np.minimum((p * n_cells).astype(np.int64), n_cells - 1)
    return [np.bincount(cells, weights, n_cells) for weights in (None, y, p)]


def holds_the_exact_error(data, table):
    exact = calibrant.expected_calibration_error(*data, n_bins=50, strategy="quantile")
    assert exact in table.expected_calibration_error(n_bins=50)


def no_alarm(data, found):
    assert not found.alarm
    assert found.n == len(data[0])


def sequential(y, p):
    return of(SequentialCalibrationTest(), y, p).result()


TASKS = (
    Task(
        "streaming.ScoreTable",
        binary,
        lambda y, p: of(ScoreTable(), y, p),
        (
            Peer("NumPy, three bincounts", bincounts, yardstick=True),
            Peer("brier_score", calibrant.brier_score, yardstick=True),
        ),
        check=holds_the_exact_error,
    ),
    Task(
        "Windowed(Scores), sliding, shuffled",
        stamped,
        sliding,
        (Peer("Scores without windows", one_accumulator, yardstick=True),),
        check=all_windows,
        sizes=SIZES,
    ),
    Task(
        "SequentialCalibrationTest",
        binary,
        sequential,
        (Peer("streaming.Scores", one_accumulator, yardstick=True),),
        check=no_alarm,
        sizes=SIZES,
    ),
)
