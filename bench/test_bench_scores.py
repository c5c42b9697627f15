"""Proper scores against scikit-learn, and against NumPy with the least that could be written.

scikit-learn also finds out which labels there are; NumPy checks nothing. Each contender's answer
is compared with the others'.
"""

from __future__ import annotations

import functools

import numpy as np
import pytest

import calibrant
from calibrant import streaming


def numpy_brier(y, p):
    return np.mean((p - y) ** 2)


def numpy_log(y, p):
    return -np.mean(np.log(np.where(y == 1, p, 1 - p)))


def scikit_learn(name):
    return getattr(pytest.importorskip("sklearn.metrics"), name)


# By group: calibrant's function, scikit-learn's, NumPy's.
SCORES = {
    "brier_score": (calibrant.brier_score, "brier_score_loss", numpy_brier),
    "log_score": (calibrant.log_score, "log_loss", numpy_log),
}
each_score = pytest.mark.parametrize("score", SCORES)


def agrees(value, score, predictions):
    y, p = predictions.y_true, predictions.y_proba.astype(np.float64)
    # float32 sums drift, and scikit-learn clips at the epsilon of float32.
    rtol = 1e-9 if predictions.y_proba.dtype == np.float64 else 1e-3
    np.testing.assert_allclose(value, SCORES[score][2](y, p), rtol=rtol)


def bytes_per_row(predictions):
    return predictions.y_true.itemsize + predictions.y_proba.itemsize


@each_score
@pytest.mark.usefixtures("threads")
def test_calibrant(measure, predictions, score):
    y, p = predictions.y_true, predictions.y_proba
    value = measure(
        lambda: SCORES[score][0](y, p), group=score, bytes_per_row=bytes_per_row(predictions)
    )
    agrees(value, score, predictions)


@each_score
def test_scikit_learn(measure, predictions, score):
    y, p = predictions.y_true, predictions.y_proba
    function = scikit_learn(SCORES[score][1])
    value = measure(lambda: function(y, p), group=score, bytes_per_row=bytes_per_row(predictions))
    agrees(value, score, predictions)


@each_score
def test_numpy(measure, predictions, score):
    y, p = predictions.y_true, predictions.y_proba
    value = measure(
        lambda: SCORES[score][2](y, p), group=score, bytes_per_row=bytes_per_row(predictions)
    )
    agrees(value, score, predictions)


@pytest.mark.usefixtures("threads")
def test_all_three(measure, predictions):
    y, p = predictions.y_true, predictions.y_proba

    def all_three():
        total = streaming.Scores()
        total.update(y, p)
        return total.result()

    summary = measure(all_three, group="all scores", bytes_per_row=bytes_per_row(predictions))
    agrees(summary.brier, "brier_score", predictions)
    agrees(summary.log, "log_score", predictions)


@functools.cache
def classes(k):
    rng = np.random.default_rng(k)
    y_proba = rng.dirichlet(np.ones(k), 10**6)
    return rng.integers(0, k, 10**6), y_proba


@pytest.mark.parametrize("k", [3, 10])
@each_score
@pytest.mark.parametrize("contender", ["calibrant", "scikit-learn"])
def test_classes(benchmark, k, score, contender):
    benchmark.group = f"{score}-1e+06 rows of {k} classes"
    y, p = classes(k)
    function, name, _ = SCORES[score]
    rival = scikit_learn(name)
    call = function if contender == "calibrant" else rival
    value = benchmark.pedantic(lambda: call(y, p), rounds=3, warmup_rounds=1)
    np.testing.assert_allclose(value, function(y, p), rtol=1e-9)


@pytest.mark.parametrize("name", ["brier_score", "log_score", "spherical_score"])
def test_small_call(benchmark, name):
    benchmark.group = "100 rows"
    rng = np.random.default_rng(1)
    y, p = rng.integers(0, 2, 100), rng.random(100)
    assert benchmark(lambda: getattr(calibrant, name)(y, p)) > 0


def test_small_update(benchmark):
    benchmark.group = "100 rows"
    rng = np.random.default_rng(1)
    y, p = rng.integers(0, 2, 100), rng.random(100)
    accumulator = streaming.Scores()
    benchmark(lambda: accumulator.update(y, p))
    assert accumulator.n % 100 == 0
