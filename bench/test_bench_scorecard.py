"""The scorecard beside what it is measured by: one score plus one equal-count binning.

scikit-learn has three of its numbers, without intervals, in as many passes.
"""

from __future__ import annotations

import time

import numpy as np
import pytest

import calibrant


@pytest.fixture
def dtype():
    return "float64"


def bytes_per_row(predictions):
    return predictions.y_true.itemsize + predictions.y_proba.itemsize


@pytest.mark.usefixtures("threads")
def test_calibrant(measure, predictions):
    y, p = predictions.y_true, predictions.y_proba
    card = measure(
        lambda: calibrant.scorecard(y, p),
        group="scorecard",
        bytes_per_row=bytes_per_row(predictions),
    )
    assert card.brier.value == calibrant.brier_score(y, p)


@pytest.mark.usefixtures("threads")
def test_yardstick(measure, predictions):
    """The scorecard should cost at most three times as much as these two."""
    y, p = predictions.y_true, predictions.y_proba

    def both():
        error = calibrant.expected_calibration_error(y, p, strategy="quantile", n_bins=50)
        return calibrant.brier_score(y, p), error

    brier, error = measure(
        both,
        group="Brier score and equal-count bins",
        bytes_per_row=bytes_per_row(predictions),
    )
    assert brier == pytest.approx(1 / 6, abs=3 / np.sqrt(p.size))
    assert error < 3 * np.sqrt(50 / p.size)


@pytest.mark.usefixtures("threads")
def test_at_most_three_times_the_yardstick(predictions, capsys):
    """In turn, the best of each: a ratio that holds on a busy machine, too."""
    y, p = predictions.y_true, predictions.y_proba
    calls = {
        "scorecard": lambda: calibrant.scorecard(y, p),
        "Brier": lambda: calibrant.brier_score(y, p),
        "bins": lambda: calibrant.expected_calibration_error(y, p, strategy="quantile", n_bins=50),
    }
    wall, cpu = dict.fromkeys(calls, np.inf), dict.fromkeys(calls, np.inf)
    for _ in range(7):
        for name, call in calls.items():
            starts = time.perf_counter(), time.process_time()
            call()
            wall[name] = min(wall[name], time.perf_counter() - starts[0])
            cpu[name] = min(cpu[name], time.process_time() - starts[1])
    with capsys.disabled():
        for clock, best in (("wall", wall), ("processor", cpu)):
            ratio = best["scorecard"] / (best["Brier"] + best["bins"])
            parts = ", ".join(f"{name} {1e3 * best[name]:.1f} ms" for name in calls)
            print(f"\n{p.size} rows, {clock} time: {parts}: ratio {ratio:.2f}")
    assert calibrant.scorecard(y, p).brier.value == calibrant.brier_score(y, p)


@pytest.mark.usefixtures("threads")
def test_calibrant_by_groups(measure, predictions):
    y, p = predictions.y_true, predictions.y_proba
    keys = np.random.default_rng(8).integers(0, 100, p.size)
    card = measure(
        lambda: calibrant.scorecard(y, p, groups=keys),
        group="scorecard of 100 groups",
        bytes_per_row=bytes_per_row(predictions) + keys.itemsize,
    )
    assert len(card.groups) == 100
    assert card.brier == calibrant.scorecard(y, p).brier


def test_scikit_learn(measure, predictions):
    peer = pytest.importorskip("sklearn.metrics")
    y, p = predictions.y_true, predictions.y_proba

    def three():
        return (
            peer.brier_score_loss(y, p),
            peer.log_loss(y, p),
            peer.accuracy_score(y, p >= 0.5),
        )

    found = measure(three, group="scorecard", bytes_per_row=bytes_per_row(predictions))
    card = calibrant.scorecard(y, p)
    assert found == pytest.approx((card.brier.value, card.log.value, card.hit_rate.value), rel=1e-9)
