"""The intervals of a scorecard, by their definitions and by how often they cover."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest

import calibrant
from calibrant import scorecard
from cards import binary, classes

Z = NormalDist().inv_cdf(0.975)


def wilson(p, total):
    centre = (p + Z**2 / (2 * total)) / (1 + Z**2 / total)
    half = Z / (1 + Z**2 / total) * math.sqrt(p * (1 - p) / total + Z**2 / (4 * total**2))
    return centre - half, centre + half


def terms(y, p):
    """Per row: q, log q, q^-2/3, and the terms of the Brier and the spherical score."""
    columns = np.stack([1 - p, p], axis=1) if p.ndim == 1 else p
    rows = np.arange(len(y))
    q = columns[rows, y]
    brier = ((columns - np.eye(columns.shape[1])[y]) ** 2).sum(axis=1)
    spherical = q / np.sqrt((columns**2).sum(axis=1))
    return q, np.log(q), q ** (-2 / 3), brier / 2 if p.ndim == 1 else brier, spherical


@pytest.mark.parametrize("n_classes", [None, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_intervals_by_definition(n_classes, weighted):
    y, p = binary(4000) if n_classes is None else classes(4000, n_classes)
    w = np.random.default_rng(6).integers(0, 5, 4000) / 2 if weighted else np.ones(4000)
    total = w.sum()
    card = scorecard(y, p, sample_weight=w if weighted else None)

    def mean_and_error(t):
        mean = np.average(t, weights=w)
        return mean, math.sqrt((w * (t - mean) ** 2).sum()) / total

    q, logs, powers, brier, spherical = terms(y, p)
    for estimate, t in (
        (card.decisiveness, q),
        (card.brier, brier),
        (card.log, -logs),
        (card.spherical, spherical),
    ):
        mean, error = mean_and_error(t)
        found = estimate.value, estimate.low, estimate.high
        assert found == pytest.approx((mean, mean - Z * error, mean + Z * error), rel=1e-9)
        assert estimate.method == "CLT"
    mean, error = mean_and_error(logs)
    assert (card.accuracy.low, card.accuracy.high) == pytest.approx(
        (math.exp(mean - Z * error), math.exp(mean + Z * error)), rel=1e-9
    )
    mean, error = mean_and_error(powers)
    width = 1.5 * Z * error / mean
    assert (card.robustness.low, card.robustness.high) == pytest.approx(
        (mean**-1.5 * math.exp(-width), mean**-1.5 * math.exp(width)), rel=1e-9
    )
    right = (p >= 0.5) == y if n_classes is None else p.argmax(axis=1) == y
    rate = np.average(right, weights=w)
    assert (card.hit_rate.low, card.hit_rate.high) == pytest.approx(wilson(rate, total), rel=1e-9)
    for j, estimate in enumerate(card.class_frequencies):
        expected = wilson(np.average(y == j, weights=w), total)
        assert (estimate.low, estimate.high) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("n_classes", [None, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_interval_of_skill_is_that_of_its_influences(n_classes, weighted):
    """By the jackknife: what leaving out a little of each row changes."""
    y, p = binary(200) if n_classes is None else classes(200, n_classes)
    w = np.random.default_rng(6).integers(1, 5, 200) / 2 if weighted else np.ones(200)
    brier = terms(y, p)[3]
    indicator = np.eye(n_classes or 2)[y]

    def skill(weights):
        pi = np.average(indicator, axis=0, weights=weights)
        reference = (1 - (pi**2).sum()) * (0.5 if n_classes is None else 1)
        return 1 - np.average(brier, weights=weights) / reference

    step = 1e-5
    slopes = [(skill(w + step * row) - skill(w - step * row)) / (2 * step) for row in np.eye(200)]
    margin = Z * math.sqrt((w * np.square(slopes)).sum())
    card = scorecard(y, p, sample_weight=w if weighted else None)
    assert card.brier_skill.high - card.brier_skill.value == pytest.approx(margin, rel=1e-6)


def test_uncertainty_is_the_image_of_the_base_rate():
    card = scorecard(*binary(300, bend=4))
    ends = [x * (1 - x) for x in (card.base_rate.low, card.base_rate.high)]
    assert card.base_rate.high < 0.5
    assert [card.uncertainty.low, card.uncertainty.high] == sorted(ends)
    near_half = scorecard([0, 1, 0, 1], [0.3, 0.4, 0.5, 0.6]).uncertainty
    assert near_half.high == near_half.value == 0.25
    assert near_half.low < 0.25


def test_level_widens_intervals():
    y, p = binary(2000)
    narrow, wide = scorecard(y, p, confidence_level=0.5), scorecard(y, p, confidence_level=0.99)
    for (name, a), (_, b) in zip(narrow, wide, strict=True):
        assert a.value == b.value
        if a.low is not None and name != "mce":
            assert b.low < a.low <= a.high < b.high


# The bootstrap


def binned(table):
    """ECE, maximum, reliability, resolution, from arrays of weight, hits and scores per bin."""
    weight, hits, scores = (column[table[0] > 0] for column in table)
    gap = np.abs(hits - scores) / weight
    share = weight / weight.sum()
    distance = hits / weight - hits.sum() / weight.sum()
    return share @ gap, gap.max(), share @ gap**2, share @ distance**2


def test_bootstrap_is_that_of_poisson_weights_on_rows():
    y, p = binary(3000, bend=1.8)
    rng = np.random.default_rng(7)
    bins = np.minimum((p * 5).astype(int), 4)
    replicates = []
    for _ in range(3000):
        w = rng.poisson(1.0, p.size)
        table = [np.bincount(bins, x, 5) for x in (w, w * y, w * p)]
        replicates.append(binned(np.array(table)))
    low, high = np.quantile(replicates, [0.025, 0.975], axis=0)
    card = scorecard(y, p, n_bins=5)
    for i, name in enumerate(("ece", "mce", "reliability", "resolution")):
        estimate = getattr(card, name)
        expected = 2 * estimate.value - high[i], 2 * estimate.value - low[i]
        # An end is a quantile of 399 replicates: its standard deviation is 3.4% of the width.
        slack = 0.15 * (high[i] - low[i])
        assert (estimate.low, estimate.high) == pytest.approx(expected, abs=slack)
        assert estimate.method == "bootstrap"


def test_few_rows_per_bin_are_resampled_as_poisson_numbers():
    """Poisson numbers of mean below 16 are drawn by inversion, others from a normal."""
    for n in (20, 31, 33, 200, 10_000):
        y, p = np.ones(n, int), np.full(n, 0.5)
        spread = scorecard(y, p, n_bins=2, confidence_level=0.6827)
        assert spread.ece.low == spread.ece.high == 0.5  # all hits, of one score: nothing varies
        half = np.arange(n) % 2
        card = scorecard(half, p, n_bins=2, confidence_level=0.6827)
        # |hits - misses| / 2 rows is |N(0, 1)| / (2 sqrt(n)): its quantiles at 0.159 and 0.841.
        scale = 1 / (2 * math.sqrt(n))
        assert card.ece.value == (n % 2) / (2 * n)
        assert card.ece.low == 0.0
        assert card.mce.high <= 0.2 * scale


def test_coverage_of_a_miscalibrated_model():
    """Of 300 data sets, each 95% interval should hold the truth 285 times; 270 is 4 sigma less."""
    grid = (np.arange(400_000) + 0.5) / 400_000
    eta = grid**1.5
    truth = {
        "brier": np.mean((grid - eta) ** 2 + eta * (1 - eta)),
        "log": -np.mean(eta * np.log(grid) + (1 - eta) * np.log(1 - grid)),
        "ece": np.abs(np.mean((eta - grid).reshape(10, -1), axis=1)).mean(),
        "accuracy": math.exp(np.mean(eta * np.log(grid) + (1 - eta) * np.log(1 - grid))),
        "base_rate": np.mean(eta),
        "reliability": np.mean(np.mean((eta - grid).reshape(10, -1), axis=1) ** 2),
    }
    held = dict.fromkeys(truth, 0)
    for seed in range(300):
        card = scorecard(*binary(2000, seed), n_bins=10)
        for name, value in truth.items():
            estimate = getattr(card, name)
            held[name] += estimate.low <= value <= estimate.high
    assert min(held.values()) >= 270, held


@pytest.mark.parametrize("n", [40, 400, 4000])
def test_intervals_of_errors_hold_0_for_a_calibrated_model(n):
    """95% of 200 are 190; 178 is 4 sigma less. A bootstrap alone holds it some 70 times."""
    rng = np.random.default_rng(n)
    held = dict.fromkeys(("ece", "mce", "reliability"), 0)
    for _ in range(200):
        p = rng.beta(0.7, 0.5, n)
        card = scorecard(rng.random(n) < p, p)
        for name in held:
            held[name] += getattr(card, name).low == 0.0
    assert min(held.values()) >= 178, held


def test_an_error_beyond_chance_is_bounded_away_from_0():
    """All hits with p = 1/2: by chance 2^-n; the interval of an error that may be chance is not."""
    assert scorecard(np.ones(9), np.full(9, 0.5)).ece.low > 0.4
    assert scorecard(np.ones(3), np.full(3, 0.5)).ece.low == 0.0
    sure_and_wrong = scorecard([1, 0], [0.0, 1.0])  # impossible if the scores are right
    assert sure_and_wrong.ece.low == sure_and_wrong.mce.low == 1.0


def test_many_rows_in_each_of_many_cells():
    """The walk may turn in most cells, which are cut into parts; no row is sorted for more."""
    rng = np.random.default_rng(11)
    p = rng.uniform(0.4, 0.55, 1_500_000)
    y = rng.random(p.size) < p
    card = scorecard(y, p)
    tests = calibrant.cumulative_tests(y, p)
    assert (card.ks.value, card.kuiper.value) == (tests.ks.statistic, tests.kuiper.statistic)
    in_order = np.sort(p), y[np.argsort(p)]
    walk = np.cumsum(in_order[1] - in_order[0])
    sigma = math.sqrt((p * (1 - p)).sum())
    assert card.ks.value == pytest.approx(np.abs(walk).max() / sigma, rel=1e-9)
    assert card.auc.value == calibrant.roc_auc(y, p)
    curve = calibrant.roc_curve(y, p)
    margin = (card.auc.high - card.auc.low) / 2
    assert margin == pytest.approx(1.959964 * curve.auc_standard_error, rel=1e-3)
