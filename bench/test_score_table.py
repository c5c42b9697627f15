"""ScoreTable beside NumPy's counts in cells of equal width, and beside one score."""

import numpy as np

import calibrant
from bench.case import Case, benchmarks, binary, yardstick
from calibrant.streaming import ScoreTable


def table_of(y, p):
    table = ScoreTable()
    table.update(y, p)
    return table


def bincounts(y, p, n_cells=2**15):
    """Rows, hits and sums of scores in cells of equal width: neither exact nor extremes."""
    cells = np.minimum((p * n_cells).astype(np.int64), n_cells - 1)
    return [np.bincount(cells, weights, n_cells) for weights in (None, y, p)]


def holds_the_exact_error(data, table):
    exact = calibrant.expected_calibration_error(*data, n_bins=50, strategy="quantile")
    assert exact in table.expected_calibration_error(n_bins=50)


YARDSTICKS = (
    yardstick("NumPy, three bincounts", bincounts),
    yardstick("brier_score", calibrant.brier_score),
)
test_score_table = benchmarks(
    Case("streaming.ScoreTable", binary, table_of, YARDSTICKS, check=holds_the_exact_error)
)
