"""Windows beside the accumulator they are made of: a sliding one should cost one update a row."""

from __future__ import annotations

import numpy as np
import pytest

from calibrant.sequential import SequentialCalibrationTest
from calibrant.streaming import Scores, Windowed

#: Windows to a batch of all rows; a sliding one spans ten of their steps.
WINDOWS = 50


@pytest.fixture
def dtype():
    return "float64"


def bytes_per_row(predictions):
    return predictions.y_true.itemsize + predictions.y_proba.itemsize


@pytest.mark.usefixtures("threads")
def test_one_accumulator(measure, predictions):
    def update():
        scores = Scores()
        scores.update(predictions.y_true, predictions.y_proba)
        return scores

    group = "Scores of a stream"
    assert measure(update, group=group, bytes_per_row=bytes_per_row(predictions)).n


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("panes", [1, 10], ids=["tumbling", "sliding"])
@pytest.mark.parametrize("order", ["in order", "shuffled"])
def test_windows(measure, predictions, panes, order):
    y, p = predictions.y_true, predictions.y_proba
    stamps = np.arange(y.size, dtype=np.float64)
    if order == "shuffled":
        stamps = np.random.default_rng(0).permutation(stamps)
    step = y.size / WINDOWS

    def update():
        windows = Windowed(Scores, every=step, length=panes * step, lateness=y.size)
        windows.update(y, p, timestamps=stamps)
        return windows

    windows = measure(
        update, group="Scores of a stream", bytes_per_row=bytes_per_row(predictions) + 8
    )
    whole = Scores()
    whole.update(y, p)
    assert windows.total() == whole
    assert len(windows.windows()) == WINDOWS


@pytest.mark.usefixtures("threads")
def test_sequential(measure, predictions):
    def update():
        test = SequentialCalibrationTest()
        test.update(predictions.y_true, predictions.y_proba)
        return test.result()

    found = measure(update, group="sequential test", bytes_per_row=bytes_per_row(predictions))
    assert not found.alarm
