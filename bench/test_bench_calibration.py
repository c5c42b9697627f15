"""Binned calibration errors against MAPIE's, whose bins differ slightly: compared, not equalled."""

from __future__ import annotations

import numpy as np
import pytest

import calibrant


def mapie_calibration():
    return pytest.importorskip("mapie.metrics.calibration")


@pytest.fixture
def dtype():
    return "float64"


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
@pytest.mark.usefixtures("threads")
def test_calibrant(measure, predictions, strategy):
    y, p = predictions.y_true, predictions.y_proba
    error = measure(
        lambda: calibrant.expected_calibration_error(y, p, n_bins=50, strategy=strategy),
        group=f"ECE of 50 bins, {strategy}",
        bytes_per_row=y.itemsize + p.itemsize,
    )
    # The labels were drawn with these probabilities: only the noise of the bins is left.
    assert error < 3 * np.sqrt(50 / p.size)


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
def test_mapie(measure, predictions, strategy):
    peer = mapie_calibration()
    y, p = predictions.y_true, predictions.y_proba
    error = measure(
        lambda: peer.expected_calibration_error(y, p, num_bins=50, split_strategy=strategy),
        group=f"ECE of 50 bins, {strategy}",
        bytes_per_row=y.itemsize + p.itemsize,
    )
    ours = calibrant.expected_calibration_error(y, p, n_bins=49, strategy=strategy)
    assert error == pytest.approx(ours, rel=0.3)  # MAPIE's 50 edges make 49 bins


@pytest.mark.usefixtures("threads")
def test_calibrant_top_label(measure, n):
    y, p = ten_classes(n)
    error = measure(
        lambda: calibrant.top_label_ece(y, p, n_bins=50),
        group="top-label ECE of 10 classes",
        bytes_per_row=y.itemsize + 10 * p.itemsize,
    )
    assert 0 < error < 1


def test_mapie_top_label(measure, n):
    peer = mapie_calibration()
    y, p = ten_classes(n)
    measure(
        lambda: peer.top_label_ece(y, p, num_bins=50),
        group="top-label ECE of 10 classes",
        bytes_per_row=y.itemsize + 10 * p.itemsize,
    )


def ten_classes(n):
    if n > 10**6:
        pytest.skip("a million rows of ten classes are enough")
    rng = np.random.default_rng(3)
    return rng.integers(0, 10, n), rng.dirichlet(np.ones(10), n)


@pytest.mark.usefixtures("threads")
def test_calibrant_smooth(measure, predictions):
    y, p = predictions.y_true, predictions.y_proba
    error = measure(
        lambda: calibrant.smooth_calibration_error(y, p),
        group="smooth calibration error",
        bytes_per_row=y.itemsize + p.itemsize,
    )
    assert error < 3 * np.sqrt(30 / p.size)  # the noise of kernels instead of bins


def test_relplot_smooth(measure, predictions, n):
    peer = pytest.importorskip("relplot")
    if n > 10**6:
        pytest.skip("ten passes over a million rows are enough")
    y, p = predictions.y_true, predictions.y_proba
    error = measure(
        lambda: peer.smECE(p, y),
        group="smooth calibration error",
        bytes_per_row=y.itemsize + p.itemsize,
    )
    assert error == pytest.approx(calibrant.smooth_calibration_error(y, p), abs=2**-9)
