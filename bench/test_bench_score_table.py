"""Filling the score table, beside a table of fixed bins, a plain score and NumPy's bincount."""

from __future__ import annotations

import numpy as np
import pytest

import calibrant
from calibrant import streaming

GROUP = "score table"


@pytest.fixture
def dtype():
    return "float64"


def filled(make, y, p):
    table = make()
    table.update(y, p)
    return table


@pytest.mark.usefixtures("threads")
def test_calibrant(measure, predictions):
    y, p = predictions.y_true, predictions.y_proba
    table = measure(
        lambda: filled(streaming.ScoreTable, y, p),
        group=GROUP,
        bytes_per_row=y.itemsize + p.itemsize,
    )
    exact = calibrant.expected_calibration_error(y, p, n_bins=50, strategy="quantile")
    assert exact in table.expected_calibration_error(n_bins=50)


@pytest.mark.usefixtures("threads")
def test_calibrant_fixed_bins(measure, predictions):
    y, p = predictions.y_true, predictions.y_proba
    table = measure(
        lambda: filled(lambda: streaming.Reliability(50), y, p),
        group=GROUP,
        bytes_per_row=y.itemsize + p.itemsize,
    )
    assert table.n == p.size


@pytest.mark.usefixtures("threads")
def test_calibrant_brier_score(measure, predictions):
    y, p = predictions.y_true, predictions.y_proba
    score = measure(
        lambda: calibrant.brier_score(y, p), group=GROUP, bytes_per_row=y.itemsize + p.itemsize
    )
    assert score == pytest.approx(np.mean((p - y) ** 2))


def bincounts(y, p, n_cells=2**15):
    """Rows, hits and sums of scores in cells of equal width: neither exact nor extremes."""
    cells = np.minimum((p * n_cells).astype(np.int64), n_cells - 1)
    return [np.bincount(cells, weights, n_cells) for weights in (None, y, p)]


def test_numpy(measure, predictions):
    y, p = predictions.y_true, predictions.y_proba
    rows, hits, scores = measure(
        lambda: bincounts(y, p), group=GROUP, bytes_per_row=y.itemsize + p.itemsize
    )
    assert (rows.sum(), hits.sum()) == (p.size, y.sum())
    assert scores.sum() == pytest.approx(p.sum())


@pytest.mark.parametrize("make", [streaming.ScoreTable, streaming.Reliability])
def test_small_updates(benchmark, make):
    """100 rows into a table that has seen a million."""
    rng = np.random.default_rng(0)
    p = rng.random(10**6)
    y = (rng.random(p.size) < p).astype(np.int64)
    table = filled(make, y, p)
    few = y[:100].copy(), p[:100].copy()
    benchmark.group = "update of 100 rows"
    benchmark(lambda: table.update(*few))
    assert (table.n - p.size) % 100 == 0
