"""assess against one sort of the scores, which no peer that bins by rank can do without."""

from __future__ import annotations

import numpy as np
import pytest

import calibrant


@pytest.fixture
def dtype():
    return "float64"


@pytest.mark.usefixtures("threads")
def test_calibrant(measure, predictions):
    y, p = predictions.y_true, predictions.y_proba
    found = measure(
        lambda: calibrant.assess(y, p, n_bins=100),
        group="assess, 100 bins",
        bytes_per_row=y.itemsize + p.itemsize,
    )
    # The labels were drawn with these probabilities.
    assert found.angle == pytest.approx(45.0, abs=3 * found.tolerance)


def test_numpy_sort(measure, predictions):
    p = predictions.y_proba
    ordered = measure(lambda: np.sort(p), group="assess, 100 bins", bytes_per_row=p.itemsize)
    assert ordered[0] <= ordered[-1]


@pytest.mark.parametrize("source", ["isotonic", "knn", "kernel"])
@pytest.mark.usefixtures("threads")
def test_calibrant_sources(measure, predictions, source):
    y, p = predictions.y_true, predictions.y_proba
    found = measure(
        lambda: calibrant.assess(y, p, n_bins=100, source=source),
        group=f"assess, {source}",
        bytes_per_row=y.itemsize + p.itemsize,
    )
    assert found.angle == pytest.approx(45.0, abs=3 * found.tolerance)
