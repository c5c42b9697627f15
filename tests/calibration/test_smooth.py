"""The smooth calibration error, against its definition evaluated row by row."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

import calibrant
import strategies
from calibrant import set_num_threads, smooth_calibration_error

pytestmark = [pytest.mark.kernels, pytest.mark.usefixtures("runtime_restored")]

SCALES = ("unit", "logit")


def place(p, scale):
    if scale == "unit":
        return p
    inside = np.clip(p, 1 / (1 + math.exp(8)), 1 / (1 + math.exp(-8)))
    return (np.log(inside / (1 - inside)) + 8) / 16


def definition(y, p, bandwidth, scale="unit", weights=None):
    """Sum over rows and reflections; Simpson's rule on a fine grid."""
    width = bandwidth if scale == "unit" else bandwidth / 4
    t = np.linspace(0, 1, 2 * math.ceil(50 / min(width, 0.1)) + 1)  # kinks cost up to 1e-5
    x = place(p, scale)
    weights = np.ones(len(p)) if weights is None else weights
    smoothed = np.zeros(t.size)
    far = math.ceil(5 * width) + 1
    for turn in range(-far, far + 1):
        for image in (2 * turn + x, 2 * turn - x):
            z = (t[:, None] - image) / width
            smoothed += np.exp(-z * z / 2) @ (weights * (y - p))
    magnitude = np.abs(smoothed) / (width * math.sqrt(2 * math.pi) * weights.sum())
    simpson = np.full(t.size, 2.0)
    simpson[1::2] = 4.0
    simpson[[0, -1]] = 1.0
    return simpson @ magnitude * (t[1] / 3)


def sample(n, seed=0, power=1.3):
    rng = np.random.default_rng(seed)
    p = rng.random(n)
    p[: n // 3] = np.round(p[: n // 3], 1)  # ties, 0 and 1
    return (rng.random(n) < p**power).astype(int), p


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("bandwidth", [1.0, 0.5, 0.2, 0.05, 0.0125])
@pytest.mark.parametrize("n", [1, 2, 10, 100])
def test_definition(n, bandwidth, scale):
    y, p = sample(n, seed=n)
    found = smooth_calibration_error(y, p, bandwidth=bandwidth, scale=scale)
    expected = definition(y, p, bandwidth, scale)
    # The error stated in smooth.hpp for the narrowest kernel here is 2e-5.
    assert found == pytest.approx(expected, rel=5e-5)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("n", [1, 3, 300])
def test_default_bandwidth_is_the_error_itself(n, scale):
    y, p = sample(n, seed=n + 1)
    found = smooth_calibration_error(y, p, scale=scale)
    assert found == pytest.approx(definition(y, p, found, scale), rel=5e-5)


def test_least_bandwidth():
    y, p = [0, 1, 1, 0], [0.0, 1.0, 1.0, 0.0]
    assert smooth_calibration_error(y, p) == 0.0
    # A residual of 2^-12 where all else is right: smaller than any bandwidth.
    nearly = smooth_calibration_error([0, 0], [2.0**-11, 0.0])
    assert nearly == pytest.approx(2.0**-12, rel=1e-9)
    for scale, least in (("unit", 2.0**-10), ("logit", 2.0**-8)):
        smooth_calibration_error(y, p, bandwidth=least, scale=scale)
        with pytest.raises(ValueError, match=f"bandwidth must lie in .{least}, 1., got"):
            smooth_calibration_error(y, p, bandwidth=0.99 * least, scale=scale)


def test_worst_and_constant():
    assert smooth_calibration_error([0, 1], [1.0, 0.0], bandwidth=0.01) == pytest.approx(1)
    # One score: no smoothing can mix anything, and all that counts is the mean residual.
    for bandwidth in (None, 0.01, 0.3, 1.0):
        found = smooth_calibration_error([0, 0, 0, 1], [0.75] * 4, bandwidth=bandwidth)
        assert found == pytest.approx(0.5, rel=1e-9)


@pytest.mark.parametrize("scale", SCALES)
def test_never_rises_with_the_bandwidth(scale):
    y, p = sample(400, seed=5)
    widths = np.geomspace(0.004, 1, 60)
    errors = [smooth_calibration_error(y, p, bandwidth=w, scale=scale) for w in widths]
    assert all(b <= a * (1 + 5e-5) for a, b in itertools.pairwise(errors))
    assert errors[-1] == pytest.approx(abs(np.mean(y - p)), rel=0.01)


@given(strategies.tables(min_rows=1, weighted=False), st.sampled_from(SCALES), st.randoms())
def test_same_bits_for_any_order_and_integer_weights(table, scale, random):
    y, p, _ = table
    once = smooth_calibration_error(y, p, scale=scale)
    order = list(range(len(y)))
    random.shuffle(order)
    assert smooth_calibration_error(y[order], p[order], scale=scale) == once
    repeats = np.array([random.randint(0, 3) for _ in order])
    repeats[0] = 2
    weighted = smooth_calibration_error(y, p, scale=scale, sample_weight=repeats)
    repeated = smooth_calibration_error(np.repeat(y, repeats), np.repeat(p, repeats), scale=scale)
    assert weighted == repeated
    huge = smooth_calibration_error(y, p, scale=scale, sample_weight=repeats * 2.0**1000)
    assert huge == weighted


@pytest.mark.parametrize("scale", SCALES)
def test_same_bits_for_any_number_of_threads(scale):
    y, p = sample(200_000)
    weight = np.random.default_rng(1).random(p.size)
    results = set()
    for threads in (1, 2, 5):
        set_num_threads(threads)
        results.add(
            (
                smooth_calibration_error(y, p, scale=scale),
                smooth_calibration_error(y, p, scale=scale, sample_weight=weight),
            )
        )
    assert len(results) == 1


def test_weights_in_the_definition():
    y, p = sample(300)
    weights = np.random.default_rng(3).random(300)
    found = smooth_calibration_error(y, p, bandwidth=0.1, sample_weight=weights)
    assert found == pytest.approx(definition(y, p, 0.1, weights=weights), rel=5e-5)


def test_classes_are_scored_by_the_top_label():
    rng = np.random.default_rng(9)
    p = rng.dirichlet(np.ones(4), 500)
    y = rng.integers(0, 4, 500)
    top = p.argmax(axis=1)
    expected = smooth_calibration_error(y == top, p.max(axis=1))
    assert smooth_calibration_error(y, p) == expected
    assert calibrant.calibration.smooth_calibration_error is smooth_calibration_error


def test_names_and_missing_values():
    y, p = ["no", "yes", "yes"], [0.2, 0.7, np.nan]
    found = smooth_calibration_error(y, p, pos_label="yes", nan_policy="omit")
    assert found == smooth_calibration_error([0, 1], [0.2, 0.7])
    with pytest.raises(ValueError, match="scale must be 'unit' or 'logit', got 'log'"):
        smooth_calibration_error([0, 1], [0.2, 0.7], scale="log")
    with pytest.raises(ValueError, match="at least one row"):
        smooth_calibration_error([], [])
    with pytest.raises(ValueError, match="positive weight"):
        smooth_calibration_error([0, 1], [0.2, 0.7], sample_weight=[0, 0])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("n", [100, 3000])
def test_relplot_agrees_to_its_discretisation(n):
    relplot = pytest.importorskip("relplot")
    y, p = sample(n, seed=2)
    p = 0.01 + 0.98 * p  # it counts rows at 0 and at 1 by half
    # It bisects ten times, to 2^-10, and takes the mean over 200 points.
    assert smooth_calibration_error(y, p) == pytest.approx(relplot.smECE(p, y), abs=2**-9)
    ours = smooth_calibration_error(y, p, bandwidth=0.1)
    assert ours == pytest.approx(relplot.smECE_sigma(p, y, 0.1), rel=1 / 200)
