"""The risk profile against NumPy's three lines, and against merely reading the array.

NumPy gets the probabilities of what happened ready-made; calibrant also picks them by label
and checks every value. Each contender's answer is compared with the others'.
"""

from __future__ import annotations

import numpy as np
import pytest

import calibrant
from calibrant import streaming


def numpy_three_lines(q):
    return q.mean(), np.exp(np.log(q).mean()), (q ** (-2 / 3)).mean() ** -1.5


def expected(predictions):
    return numpy_three_lines(predictions.of_truth.astype(np.float64))


def agrees(profile, predictions):
    found = (profile.decisiveness, profile.accuracy, profile.robustness)
    # NumPy's sums of n rounded terms are the less accurate side.
    np.testing.assert_allclose(found, expected(predictions), rtol=1e-9)


@pytest.mark.usefixtures("threads")
def test_calibrant(measure, predictions):
    y, p = predictions.y_true, predictions.y_proba
    profile = measure(
        lambda: calibrant.risk_profile(y, p),
        group="risk_profile",
        bytes_per_row=y.itemsize + p.itemsize,
    )
    agrees(profile, predictions)


def test_numpy_three_lines(measure, predictions):
    q = predictions.of_truth
    means = measure(
        lambda: numpy_three_lines(q), group="risk_profile", bytes_per_row=3 * q.itemsize
    )
    np.testing.assert_allclose(means, expected(predictions), rtol=1e-3)  # float32 sums drift


def test_numpy_sum_only(measure, predictions):
    p = predictions.y_proba
    total = measure(lambda: np.sum(p), group="risk_profile", bytes_per_row=p.itemsize)
    assert 0 < total < p.size


@pytest.mark.parametrize("power", [2.0, -1.0, 0.5])
def test_generalized_mean(measure, predictions, power):
    q = predictions.of_truth
    mean = measure(
        lambda: calibrant.generalized_mean(q, power),
        group=f"generalized_mean({power:g})",
        bytes_per_row=q.itemsize,
    )
    exact = q.astype(np.float64)
    np.testing.assert_allclose(mean, (exact**power).mean() ** (1 / power), rtol=1e-9)


@pytest.mark.parametrize("power", [2.0, -1.0, 0.5])
def test_numpy_generalized_mean(measure, predictions, power):
    q = predictions.of_truth
    measure(
        lambda: (q**power).mean() ** (1 / power),
        group=f"generalized_mean({power:g})",
        bytes_per_row=q.itemsize,
    )


def test_weighted(measure, predictions):
    y, p = predictions.y_true, predictions.y_proba
    weight = np.random.default_rng(7).random(p.size)
    profile = measure(
        lambda: calibrant.risk_profile(y, p, sample_weight=weight),
        group="risk_profile-weighted",
        bytes_per_row=y.itemsize + p.itemsize + 8,
    )
    q = predictions.of_truth.astype(np.float64)
    np.testing.assert_allclose(profile.decisiveness, np.average(q, weights=weight), rtol=1e-9)


def test_numpy_weighted(measure, predictions):
    q = predictions.of_truth
    weight = np.random.default_rng(7).random(q.size)
    measure(
        lambda: (
            np.average(q, weights=weight),
            np.exp(np.average(np.log(q), weights=weight)),
            np.average(q ** (-2 / 3), weights=weight) ** -1.5,
        ),
        group="risk_profile-weighted",
        bytes_per_row=3 * q.itemsize + 8,
    )


def test_small_call(benchmark):
    benchmark.group = "100 rows"
    rng = np.random.default_rng(1)
    y, p = rng.integers(0, 2, 100), rng.random(100)
    assert benchmark(lambda: calibrant.risk_profile(y, p)).n == 100


def test_small_update(benchmark):
    benchmark.group = "100 rows"
    rng = np.random.default_rng(1)
    y, p = rng.integers(0, 2, 100), rng.random(100)
    accumulator = streaming.RiskProfile()
    benchmark(lambda: accumulator.update(y, p))
    assert accumulator.n % 100 == 0
