"""The parts of the Brier score: CORP against scikit-learn's isotonic regression and Brier score,
Murphy against the NumPy that people write for it.

Each contender's answer is compared with calibrant's.
"""

from __future__ import annotations

import numpy as np
import pytest

import calibrant


def numpy_murphy(y, p, n_bins=15):
    """REL, RES, UNC; the within-bin terms cost two passes more and are left out."""
    bins = np.minimum((p * n_bins).astype(np.int64), n_bins - 1)
    count = np.bincount(bins, minlength=n_bins)
    hits = np.bincount(bins, y, minlength=n_bins)
    scores = np.bincount(bins, p, minlength=n_bins)
    base_rate = y.mean()
    filled = count > 0
    count, hits, scores = count[filled], hits[filled], scores[filled]
    reliability = np.sum((scores - hits) ** 2 / count) / len(y)
    resolution = np.sum(count * (hits / count - base_rate) ** 2) / len(y)
    return reliability, resolution, base_rate * (1 - base_rate)


def scikit_learn_corp(y, p):
    isotonic = pytest.importorskip("sklearn.isotonic")
    brier = pytest.importorskip("sklearn.metrics").brier_score_loss
    fit = isotonic.IsotonicRegression(y_min=0, y_max=1).fit(p, y).predict(p)
    score, fitted, base = brier(y, p), brier(y, fit), np.mean(y) * (1 - np.mean(y))
    return score - fitted, base - fitted, base


def bytes_per_row(predictions):
    return predictions.y_true.itemsize + predictions.y_proba.itemsize


def corp(y, p):
    parts = calibrant.brier_decomposition(y, p, method="corp")
    return parts.miscalibration, parts.discrimination, parts.uncertainty


def murphy(y, p):
    parts = calibrant.brier_decomposition(y, p)
    return parts.reliability, parts.resolution, parts.uncertainty


# By group: calibrant, the rival.
DECOMPOSITIONS = {
    "brier_decomposition CORP": (corp, scikit_learn_corp),
    "brier_decomposition Murphy": (murphy, numpy_murphy),
}
each = pytest.mark.parametrize("group", DECOMPOSITIONS)


def agrees(parts, group, predictions):
    # float32 sums drift, and so do float32 bin edges.
    atol = 1e-9 if predictions.y_proba.dtype == np.float64 else 1e-4
    expected = DECOMPOSITIONS[group][0](predictions.y_true, predictions.y_proba)
    np.testing.assert_allclose(parts, expected, rtol=0, atol=atol)


@each
@pytest.mark.usefixtures("threads")
def test_calibrant(measure, predictions, group):
    y, p = predictions.y_true, predictions.y_proba
    call = DECOMPOSITIONS[group][0]
    parts = measure(lambda: call(y, p), group=group, bytes_per_row=bytes_per_row(predictions))
    agrees(parts, group, predictions)


@each
def test_rival(measure, predictions, group):
    y, p = predictions.y_true, predictions.y_proba
    call = DECOMPOSITIONS[group][1]
    parts = measure(lambda: call(y, p), group=group, bytes_per_row=bytes_per_row(predictions))
    agrees(parts, group, predictions)


@pytest.mark.parametrize("method", ["murphy", "corp"])
def test_small_call(benchmark, method):
    benchmark.group = "100 rows"
    rng = np.random.default_rng(1)
    y, p = rng.integers(0, 2, 100), rng.random(100)
    assert benchmark(lambda: calibrant.brier_decomposition(y, p, method=method)).score > 0
