"""Windowed beside one accumulator without windows."""

import numpy as np

from bench.case import Case, benchmarks, binary, yardstick
from calibrant.streaming import Scores, Windowed

#: Number of windows that the rows of a batch fall into; a sliding window spans ten steps.
WINDOWS = 50


def one_accumulator(y, p, *_):
    scores = Scores()
    scores.update(y, p)
    return scores


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


test_windows = benchmarks(
    Case("Windowed(Scores), sliding, shuffled", stamped, sliding,
         (yardstick("Scores without windows", one_accumulator),), check=all_windows),
)  # fmt: skip
