"""The scorecard: the numbers of the single functions, and intervals by their definitions."""

# ruff: noqa: E501 (tables: a line for a case)

from __future__ import annotations

import dataclasses
import json
import math
import struct
from fractions import Fraction
from statistics import NormalDist

import mpmath
import numpy as np
import pytest
from hypothesis import given

import calibrant
import reference
import strategies
from calibrant import Estimate, scorecard, streaming
from calibrant._core import _testing
from calibrant._scorecard_table import ROWS

Z = NormalDist().inv_cdf(0.975)


def binary(n, seed=0, bend=1.5):
    """Labels whose frequency is p^bend, and p."""
    rng = np.random.default_rng(seed)
    p = rng.random(n)
    return (rng.random(n) < p**bend).astype(int), p


def classes(n, k, seed=0):
    rng = np.random.default_rng(seed)
    return rng.integers(0, k, n), rng.dirichlet(np.ones(k), n)


# The same bits as the functions for one number


@pytest.mark.parametrize("n_classes", [None, 2, 3, 40])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("q_lim", [0.0, 0.01])
def test_same_bits_as_the_single_functions(n_classes, weighted, q_lim):
    y, p = strategies.nasty_table(3000, n_classes=n_classes)
    w = np.random.default_rng(1).choice([0.0, 0.5, 1.0, 3.0, 1e-30], len(y)) if weighted else None
    card = scorecard(y, p, q_lim=q_lim, n_bins=7, sample_weight=w)
    profile = calibrant.risk_profile(y, p, q_lim=q_lim, sample_weight=w)
    for name in ("decisiveness", "accuracy", "robustness"):
        assert getattr(card, name).value == getattr(profile, name)
    assert card.brier.value == calibrant.brier_score(y, p, sample_weight=w)
    assert card.log.value == calibrant.log_score(y, p, q_lim=q_lim, sample_weight=w)
    assert card.spherical.value == calibrant.spherical_score(y, p, sample_weight=w)
    assert card.brier_skill.value == calibrant.brier_skill_score(y, p, sample_weight=w)
    ece = calibrant.expected_calibration_error if n_classes is None else calibrant.top_label_ece
    assert card.ece.value == ece(y, p, n_bins=7, sample_weight=w)
    if n_classes is None:
        assert card.mce.value == calibrant.maximum_calibration_error(
            y, p, n_bins=7, sample_weight=w
        )
    frequencies = calibrant.optimal_constant(y, n_classes=n_classes, sample_weight=w)
    assert [f.value for f in card.class_frequencies] == frequencies.tolist()
    assert card.base_rate.value == (frequencies[1] if n_classes is None else frequencies.max())


@given(strategies.tables(min_rows=1))
def test_brier_log_and_risk_of_nasty_rows(table):
    y, p, w = table
    if w is not None and not w.any():
        return
    card = scorecard(y, p, sample_weight=w)
    assert card.brier.value == calibrant.brier_score(y, p, sample_weight=w)
    assert card.log.value == calibrant.log_score(y, p, sample_weight=w)
    assert card.robustness.value == calibrant.risk_profile(y, p, sample_weight=w).robustness
    for _, estimate in card:
        assert (estimate.value is None) <= bool(estimate.reason)
        if estimate.low is not None:
            assert estimate.low <= estimate.high


def powers_of_two_from(ends, rng, n):
    """Scores at all distances from some ends, to far below what the kernels' grids resolve."""
    distances = 2.0 ** -rng.integers(1, 120, n) * rng.random(n)
    at = rng.choice(ends, n)
    return np.where(at > 0.5, at - distances, at + distances).clip(0, 1)


@pytest.mark.parametrize("n_bins", [1, 15])
@pytest.mark.parametrize("name", ["uniform", "near 0 and 1", "near 1/2", "ties", "0 and 1"])
def test_rows_without_weights_are_rows_of_weight_one(name, n_bins):
    """The former have kernels of their own, which leave what is too small to the general way."""
    rng, n = np.random.default_rng(5), 9001
    p = {
        "uniform": rng.random(n),
        "near 0 and 1": powers_of_two_from([0.0, 1.0], rng, n),
        "near 1/2": powers_of_two_from([0.5], rng, n),
        "ties": rng.integers(0, 5, n) / 4,
        "0 and 1": rng.integers(0, 2, n).astype(float),
    }[name]
    y = rng.integers(0, 2, n)
    without, ones = (streaming.Scorecard(n_bins=n_bins) for _ in range(2))
    without.update(y, p)
    ones.update(y, p, sample_weight=np.ones(n))
    assert without.to_bytes() == ones.to_bytes()


def test_no_interval_ends_before_it_begins():
    """The basic bootstrap may push both ends beyond 1."""
    card = scorecard([0, 0], [0.7071067811865476, 0.0], sample_weight=[0.03125, 2.0])
    assert card.mce.low <= card.mce.high


# Worked examples, in exact fractions


def murphy(card):
    return card.brier, card.reliability, card.resolution, card.uncertainty, card.brier_skill


@pytest.mark.parametrize("weighted", [False, True])
def test_parts_are_those_of_the_decomposition(weighted):
    y, p = binary(2000)
    w = np.random.default_rng(2).integers(0, 4, len(y)) if weighted else None
    card = scorecard(y, p, n_bins=11, sample_weight=w)
    parts = calibrant.brier_decomposition(y, p, n_bins=11, sample_weight=w)
    for found, part in [
        (card.brier, parts.score),
        (card.reliability, parts.reliability),
        (card.resolution, parts.resolution),
        (card.uncertainty, parts.uncertainty),
    ]:
        assert found.value == pytest.approx(part, rel=1e-14)
    test = calibrant.spiegelhalter_test(y, p, sample_weight=w)
    assert card.spiegelhalter_z.value == pytest.approx(test.statistic, rel=1e-13)


def test_worked_example_of_three_values():
    p = [0.1] * 4 + [0.5] * 4 + [0.9] * 2
    card = scorecard([0, 0, 0, 1, 1, 0, 0, 1, 1, 1], p, n_bins=3)
    expected = (
        Fraction(93, 500),
        Fraction(11, 1000),
        Fraction(3, 40),
        Fraction(1, 4),
        Fraction(32, 125),
    )
    assert [x.value for x in murphy(card)] == pytest.approx([float(x) for x in expected], rel=1e-14)
    brier, rel, res, unc, _ = (x.value for x in murphy(card))
    assert rel - res + unc == pytest.approx(brier, rel=1e-14)  # one forecast per bin


def test_worked_example_of_two_bins():
    card = scorecard([0, 0, 1, 0, 1, 1], [0.1, 0.3, 0.4, 0.6, 0.8, 0.9], n_bins=2)
    expected = (
        Fraction(29, 200),
        Fraction(13, 1800),
        Fraction(1, 36),
        Fraction(1, 4),
        Fraction(21, 50),
    )
    assert [x.value for x in murphy(card)] == pytest.approx([float(x) for x in expected], rel=1e-14)
    assert card.hit_rate.value == 4 / 6


def test_worked_example_of_three_classes():
    p = [[0.7, 0.2, 0.1], [0.2, 0.5, 0.3], [0.1, 0.3, 0.6], [0.4, 0.4, 0.2]]
    card = scorecard([0, 1, 2, 1], p)
    assert card.brier.value == pytest.approx(67 / 200, rel=1e-14)
    assert card.brier_skill.value == pytest.approx(58 / 125, rel=1e-14)
    assert card.hit_rate.value == 0.75  # of equals, the first class is the top label
    assert card.base_rate.value == 0.5
    assert [f.value for f in card.class_frequencies] == [0.25, 0.5, 0.25]


def test_one_half_is_taken_for_class_1():
    assert scorecard([1, 1, 0], [0.5, 0.4, 0.5]).hit_rate.value == 1 / 3
    assert scorecard([1, 1, 0], [[0.5, 0.5], [0.6, 0.4], [0.5, 0.5]]).hit_rate.value == 1 / 3


def spiegelhalter(scores, hits, weights):
    rows = [
        (Fraction(s), int(h), Fraction(w)) for s, h, w in zip(scores, hits, weights, strict=True)
    ]
    top = sum(w * (h - s) * (1 - 2 * s) for s, h, w in rows)
    square = sum(w * (1 - 2 * s) ** 2 * s * (1 - s) for s, _, w in rows)
    return float(mpmath.mpf(top.numerator) / top.denominator / mpmath.sqrt(float(square)))


@pytest.mark.parametrize("n_classes", [None, 4])
@pytest.mark.parametrize("weighted", [False, True])
def test_spiegelhalter_by_definition(n_classes, weighted):
    y, p = binary(500) if n_classes is None else classes(500, n_classes)
    w = np.random.default_rng(5).integers(0, 4, 500) / 8 if weighted else np.ones(500)
    scores = p if n_classes is None else p.max(axis=1)
    hits = y if n_classes is None else p.argmax(axis=1) == y
    card = scorecard(y, p, sample_weight=w if weighted else None)
    z = spiegelhalter(scores.tolist(), hits.tolist(), w.tolist())
    assert card.spiegelhalter_z.value == pytest.approx(z, rel=1e-13)
    assert card.spiegelhalter_pvalue.value == pytest.approx(2 * NormalDist().cdf(-abs(z)), rel=1e-9)


# Intervals, by definition


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
    """The walk may turn in most cells, so that rows are sorted for it, and for nothing else."""
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


# What is undefined


def test_undefined_numbers_say_why():
    card = scorecard([0, 0, 0], [0.0, 1.0, 0.5])
    assert card.brier_skill == Estimate(
        None, None, None, "none",
        "all rows are of one class, so no forecast can do better than the best constant",
    )  # fmt: skip
    assert card.spiegelhalter_z.value is None
    assert card.spiegelhalter_pvalue.reason == card.spiegelhalter_z.reason != ""
    assert (card.log.value, card.accuracy.value) == (math.inf, 0.0)
    assert card.log.low is None
    assert "q_lim" in card.log.reason
    text = repr(card)
    assert "undefined" in text
    assert "Brier skill: all rows are of one class" in text
    assert "nan" not in (text + card._repr_html_()).lower()


def test_certain_bounds_are_told_from_confidence_intervals():
    total = streaming.Scorecard()
    total.update(*binary(1000))
    lines = {line.split("  ")[1]: line for line in repr(total.result()).splitlines()[1:]}
    assert total.result().ks.method == "certified"
    assert " to " not in lines["KS"]  # its ends look alike
    wide = dataclasses.replace(total.result(), ks=Estimate(1.5, 1.5, 1.75, "certified"))
    assert "1.50000  surely 1.50000 to 1.75000  0 is" in repr(wide)
    hints = [row[2] for row in ROWS.values()]
    starts = {
        line.index(hint) for hint, line in zip(hints, repr(wide).splitlines()[1:], strict=True)
    }
    assert len(starts) == 1


def test_p_values_too_small_for_a_double_are_not_shown_as_zero():
    card = scorecard([0] * 4000, [0.9] * 4000)
    assert card.ks_pvalue.value == 0.0
    assert repr(card).count("p-value         < 1e-300                      small") == 3
    assert "&lt; 1e-300" in card._repr_html_()


def test_one_row_has_no_interval():
    card = scorecard([1], [0.75])
    assert card.brier == Estimate(
        0.0625, None, None, "none",
        "an interval needs the weight of two rows; weights count as repetitions",
    )  # fmt: skip
    assert card.hit_rate.low > 0
    assert scorecard([1], [0.75], sample_weight=[2]).brier.low == 0.0625


@pytest.mark.parametrize("scale", [2.0**-1074, 1e-300, 1e300, 1.7e308])
def test_weights_of_any_size(scale):
    y, p = binary(50)
    card = scorecard(y, p, sample_weight=np.full(50, scale))
    assert card.brier.value == scorecard(y, p).brier.value
    assert 0 <= card.hit_rate.low <= card.hit_rate.value <= card.hit_rate.high <= 1
    json.dumps(card.to_dict(), allow_nan=False)


def test_no_rows():
    with pytest.raises(ValueError, match="a scorecard needs at least one row, got none"):
        scorecard([], [])
    with pytest.raises(ValueError, match="all 2 have weight 0"):
        scorecard([0, 1], [0.5, 0.5], sample_weight=[0, 0])
    with pytest.raises(ValueError, match="at least one row"):
        streaming.Scorecard().result()


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"confidence_level": 1.0}, ValueError, "confidence_level must lie strictly between 0 and 1"),
        ({"confidence_level": math.nan}, ValueError, "strictly between 0 and 1, got nan"),
        ({"confidence_level": "95%"}, TypeError, "confidence_level must be a real number, got '95%'"),
        ({"n_bins": 0}, ValueError, r"n_bins must lie in \[1, 1000000\], got 0"),
        ({"n_bins": 2.5}, TypeError, "n_bins must be an integer, got 2.5"),
        ({"q_lim": 0.5}, ValueError, "q_lim must satisfy 0 <= q_lim < 0.5, got 0.5"),
        ({"q_lim": None}, TypeError, "q_lim must be a real number, got None"),
        ({"groups": ["a"]}, ValueError, "groups and y_proba must have the same length, got 1 and 2"),
        ({"groups": np.eye(2)}, ValueError, r"groups must have shape \(n,\), got shape \(2, 2\)"),
        ({"groups": ["a", {}]}, TypeError, "keys that can be hashed, found {} at row 1"),
        ({"nan_policy": "drop"}, ValueError, "nan_policy"),
    ],
)  # fmt: skip
def test_wrong_arguments(arguments, error, message):
    with pytest.raises(error, match=message):
        scorecard([0, 1], [0.25, 0.5], **arguments)


# How it looks


def test_table_and_iteration():
    card = scorecard(*binary(1000))
    lines = repr(card).splitlines()
    assert lines[0] == "Scorecard of 1000 rows, 95% intervals"
    assert len(lines) == 1 + len(dict(card)) == 22
    assert dict(card)["brier"] is card.brier
    assert len({line.index(" to ") for line in lines if " to " in line}) == 1
    page = card._repr_html_()
    assert page.count("<tr") == page.count("</tr>") == 22
    assert "http" not in page


def test_to_dict_is_json():
    card = scorecard(
        [0, 0, 0, 1], [0.0, 1.0, 0.5, 0.25], groups=["x", "y", ("z", 1), None], nan_policy="omit"
    )
    back = json.loads(json.dumps(card.to_dict(), allow_nan=False))
    assert back["log"]["value"] == "inf"
    assert float(back["log"]["value"]) == math.inf
    assert back["brier"]["value"] == card.brier.value
    assert [group["key"] for group in back["groups"]] == ["x", "y", "('z', 1)"]
    assert back["n_omitted"] == 1


def test_html_escapes_keys():
    page = scorecard([0, 1], [0.5, 0.5], groups=["<b>", "&"])._repr_html_()
    assert "<b>" not in page
    assert "&lt;b&gt;" in page


# Groups


def same(card, other):
    return {**card.to_dict(), "groups": []} == {**other.to_dict(), "groups": []}


@pytest.mark.parametrize("n_classes", [None, 3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_groups", [1, 7, 600])
def test_groups_are_cards_of_their_own(n_classes, weighted, n_groups):
    y, p = strategies.nasty_table(20_000, n_classes=n_classes)
    rng = np.random.default_rng(3)
    keys = rng.integers(0, n_groups, y.size)
    w = rng.choice([0.25, 1.0, 3.0], y.size) if weighted else None
    card = scorecard(y, p, groups=keys, sample_weight=w)
    assert same(card, scorecard(y, p, sample_weight=w))
    assert list(card.groups) == sorted(set(keys.tolist()))
    for key in list(card.groups)[:: max(1, n_groups // 7)]:
        rows = keys == key
        alone = scorecard(y[rows], p[rows], sample_weight=None if w is None else w[rows])
        assert card.groups[key] == alone


def key_arrays():
    keys = ["b", "a", "c", "a", "b", "a"]
    yield "list", keys, str
    yield "NumPy text", np.array(keys), str
    yield "objects", np.array(keys, object), str
    yield "integers", np.array([2, 1, 3, 1, 2, 1]), int
    yield "small integers", np.array([127, -128, 3, -128, 127, -128], np.int8), int
    yield "far integers", np.array([2**62, -(2**62), 3, -(2**62), 2**62, -(2**62)]), int
    yield "unsigned", np.array([2**64 - 1, 0, 3, 0, 2**64 - 1, 0], np.uint64), int
    yield "floats", np.array([0.5, -1.5, 3, -1.5, 0.5, -1.5]), float
    yield "booleans", np.array([True, False, True, False, True, False]), bool
    yield (
        "dates",
        np.array(["2020-02", "2020-01", "2020-03", "2020-01", "2020-02", "2020-01"], "M8[M]"),
        object,
    )
    yield "tuples", [(1, "b"), (1, "a"), (2, "c"), (1, "a"), (1, "b"), (1, "a")], tuple


@pytest.mark.parametrize(
    ("groups", "kind"), [x[1:] for x in key_arrays()], ids=[x[0] for x in key_arrays()]
)
def test_keys_of_many_kinds(groups, kind):
    y, p = [1, 0, 0, 1, 1, 0], [0.9, 0.1, 0.3, 0.6, 0.8, 0.4]
    card = scorecard(y, p, groups=groups)
    keys = list(card.groups)
    assert all(isinstance(key, kind) for key in keys)
    assert keys == sorted(keys)
    first = keys[0]
    assert card.groups[first] == scorecard([0, 1, 0], [0.1, 0.6, 0.4])
    assert sum(group.n for group in card.groups.values()) == 6


def test_keys_that_cannot_be_sorted_come_in_the_order_of_their_rows():
    card = scorecard([1, 0, 1], [0.5, 0.5, 0.5], groups=["b", 1, (2,)])
    assert list(card.groups) == ["b", 1, (2,)]


@pytest.mark.parametrize(
    "library", ["pandas", "pandas categories", "polars", "arrow", "arrow chunks"]
)
def test_keys_of_other_libraries(library):
    values = ["b", "a", None, "a", "b", "a"]
    if library.startswith("pandas"):
        pd = pytest.importorskip("pandas")
        groups = pd.Series(values, dtype="category" if "cat" in library else object)
    elif library == "polars":
        groups = pytest.importorskip("polars").Series(values)
    else:
        pa = pytest.importorskip("pyarrow")
        groups = (
            pa.chunked_array([values[:2], values[2:]]) if "chunks" in library else pa.array(values)
        )
    y, p = [1, 0, 0, 1, 1, 0], [0.9, 0.1, 0.3, 0.6, 0.8, 0.4]
    with pytest.raises(ValueError, match="groups has a missing value at row 2"):
        scorecard(y, p, groups=groups)
    card = scorecard(y, p, groups=groups, nan_policy="omit")
    assert list(card.groups) == ["a", "b"]
    assert (card.n, card.n_omitted) == (5, 1)
    assert card.groups["a"] == scorecard([0, 1, 0], [0.1, 0.6, 0.4])


@pytest.mark.parametrize(
    "groups", [[1.0, math.nan], np.array([1, None], object), np.array(["2020", "NaT"], "M8[Y]")]
)
def test_a_missing_key_is_refused_with_its_row(groups):
    with pytest.raises(ValueError, match="groups has a missing value at row 1"):
        scorecard([0, 1], [0.5, 0.5], groups=groups)


def test_omitted_rows_are_counted_where_they_belong():
    y = [1, 0, 1, math.nan, 1, 0]
    p = [0.5, math.nan, 0.25, 0.5, 0.75, math.nan]
    card = scorecard(y, p, groups=["a", "a", "b", "b", None, "c"], nan_policy="omit")
    assert (card.n, card.n_omitted) == (2, 4)
    assert {key: (c.n, c.n_omitted) for key, c in card.groups.items()} == {
        "a": (1, 1), "b": (1, 1), "c": (0, 1)
    }  # fmt: skip
    assert card.groups["c"].brier == Estimate(
        None, None, None, "none", "no row of this group has weight"
    )
    assert "undefined" in repr(card)


def test_a_bad_row_is_found_in_groups_too():
    y, p = binary(100_000)
    p[70_000] = 1.5
    with pytest.raises(ValueError, match=r"y_proba must lie in \[0, 1\], found 1.5 at row 70000"):
        scorecard(y, p, groups=np.arange(100_000) % 10)


# What needs the order of scores

ORDERED = ("ks", "ks_pvalue", "kuiper", "kuiper_pvalue", "auc")


def check_stream(streamed, whole):
    """All the same, but what needs order, which lies within the bounds."""
    for name, estimate in whole:
        found = getattr(streamed, name)
        if name not in ORDERED or found.value is None or found.method == "none":
            assert found == estimate, name
            continue
        assert found.low <= estimate.value <= found.high, name
        assert found.low <= found.value <= found.high, name
    without = dict.fromkeys(ORDERED, None)
    assert dataclasses.replace(streamed, **without) == dataclasses.replace(whole, **without)


NASTY = {
    "smooth": lambda u: u,
    "ties": lambda u: u.round(2),
    "one cell": lambda u: 0.25 + u * 2.0**-20,
    "near 0": lambda u: 10 ** (-330 * u),
    "certain": lambda u: (u > 0.5) * 1.0,
}


@pytest.mark.parametrize("n", [40, 3000, 70_000])
@pytest.mark.parametrize("kind", NASTY)
@pytest.mark.parametrize("weighted", [False, True])
def test_ordered_rows_are_those_of_the_tests(n, kind, weighted):
    rng = np.random.default_rng(n)
    p = NASTY[kind](rng.random(n))
    y = (rng.random(n) < p**1.2).astype(int)
    y[:4] = 0, 1, 0, 1
    w = rng.integers(0, 3, n) if weighted else None
    if weighted:
        w[:4] = 1
    card = scorecard(y, p, sample_weight=w)
    tests = calibrant.cumulative_tests(y, p, sample_weight=w)
    for test, name in ((tests.ks, "ks"), (tests.kuiper, "kuiper")):
        assert getattr(card, name).value == test.statistic
        assert getattr(card, f"{name}_pvalue").value == test.pvalue
    curve = calibrant.roc_curve(y, p, sample_weight=w)
    assert card.auc.value == calibrant.roc_auc(y, p, sample_weight=w) == curve.auc
    z = 1.959963984540054
    assert card.auc.low == pytest.approx(max(0, curve.auc - z * curve.auc_standard_error), rel=1e-6)
    assert card.auc.high == pytest.approx(
        min(1, curve.auc + z * curve.auc_standard_error), rel=1e-6
    )
    total = streaming.Scorecard()
    half = {} if w is None else {"sample_weight": w[: n // 2]}
    total.update(y[: n // 2], p[: n // 2], **half)
    half = {} if w is None else {"sample_weight": w[n // 2 :]}
    total.update(y[n // 2 :], p[n // 2 :], **half)
    check_stream(total.result(), card)
    if kind in ("ties", "certain"):
        assert total.result() == card  # nothing is uncertain


def test_ordered_rows_of_classes():
    rng = np.random.default_rng(3)
    p = rng.dirichlet(np.ones(3), 500)
    y = rng.integers(0, 3, 500)
    card = scorecard(y, p)
    hits = (p.argmax(axis=1) == y).astype(int)
    assert card.ks.value == calibrant.ks_test(y, p).statistic
    assert card.auc.value == calibrant.roc_auc(hits, p.max(axis=1))


def test_ordered_rows_of_groups():
    y, p = binary(3000)
    keys = np.random.default_rng(4).integers(0, 7, 3000)
    w = np.random.default_rng(5).integers(0, 3, 3000)
    card = scorecard(y, p, groups=keys, sample_weight=w)
    for key in range(7):
        rows = keys == key
        alone = scorecard(y[rows], p[rows], sample_weight=w[rows])
        for name in ORDERED:
            assert getattr(card.groups[key], name) == getattr(alone, name)
    some = np.where(keys == 3, None, keys.astype(object))
    card = scorecard(y, p, groups=some, nan_policy="omit")
    rest = scorecard(y[keys != 3], p[keys != 3])
    for name in ORDERED:
        assert getattr(card, name) == getattr(rest, name)


def test_auc_without_pairs_or_interval():
    card = scorecard([1, 1], [0.25, 0.5])
    assert card.auc.value is None
    assert "no pairs" in card.auc.reason
    total = streaming.Scorecard()
    total.update([1, 1], [0.25, 0.5])
    assert total.result() == card
    card = scorecard([1, 0, 0], [0.5, 0.25, 0.75])
    assert (card.auc.value, card.auc.low, card.auc.method) == (0.5, None, "none")
    assert "two hits" in card.auc.reason


def test_the_interval_of_the_area_covers():
    rng = np.random.default_rng(6)
    held = 0
    for _ in range(200):
        p = rng.random(300)
        y = (rng.random(300) < p).astype(int)
        card = scorecard(y, p, n_bins=2)
        held += card.auc.low <= 5 / 6 <= card.auc.high  # the area of scores that are right
    assert 180 <= held <= 199


def test_the_table_of_a_stream():
    y, p = binary(2000)
    total, table = streaming.Scorecard(), streaming.ScoreTable()
    total.update(y, p)
    table.update(y, p)
    assert total.table == table


# In a stream


def test_stream_in_pieces_is_the_whole():
    y, p = binary(5000)
    total = streaming.Scorecard(n_bins=9, q_lim=1e-6)
    for begin in range(0, 5000, 700):
        total.update(y[begin : begin + 700], p[begin : begin + 700])
    whole = scorecard(y, p, n_bins=9, q_lim=1e-6, confidence_level=0.8)
    check_stream(total.result(confidence_level=0.8), whole)
    assert repr(total) == "Scorecard(n=5000, n_bins=9, q_lim=1e-06)"


def test_shapes_and_parameters_must_agree():
    total = streaming.Scorecard()
    total.update([0], [0.5])
    before = total.to_bytes()
    with pytest.raises(
        ValueError, match=r"y_proba must keep its shape: \(n,\) so far, now \(n, 3\)"
    ):
        total.update([0], [[0.5, 0.25, 0.25]])
    with pytest.raises(ValueError, match="with 3 bins into one with 15"):
        total.merge(streaming.Scorecard(n_bins=3))
    with pytest.raises(ValueError, match=r"q_lim 0.1 into one with q_lim 0$"):
        total.merge(streaming.Scorecard(q_lim=0.1))
    assert total.to_bytes() == before


@pytest.mark.parametrize("n_classes", [None, 3])
def test_damaged_states_are_refused_or_harmless(n_classes):
    y, p = strategies.nasty_table(12, n_classes=n_classes)
    total = streaming.Scorecard(n_bins=2)
    total.update(y, p)
    state = total.to_bytes()
    assert struct.unpack_from("<4sHHHH", state) == (b"CLBR", 1, 7, 1, 0)
    refused = 0
    payload = state[20:-4]
    for place in range(len(payload)):
        for change in (0x01, 0x80, 0xFF):
            damaged = bytearray(payload)
            damaged[place] ^= change
            sealed = _testing.seal(7, 1, bytes(damaged))
            try:
                back = streaming.Scorecard.from_bytes(sealed)
            except ValueError:
                refused += 1
                continue
            assert back.to_bytes() == sealed
            if place % 5 == 0:
                repr(back.result())
    assert refused > len(payload)


def test_golden_layout():
    total = streaming.Scorecard(n_bins=1)
    total.update([1, 0], [0.5, 0.25])
    state = total.to_bytes()
    assert struct.unpack_from("<QdQQQQ", state, 20) == (1, 0.0, 1, 2, 0, 0)
    assert struct.unpack_from("<QBqQI", state, 68) == (1, 0, 0, 1, 1)  # a miss of weight 1


@pytest.mark.usefixtures("runtime_restored")
def test_intervals_on_every_instruction_set_and_number_of_threads():
    y, p = binary(30_000)
    found = set()
    for isa in calibrant.config.config()["available_isas"]:
        _testing.set_isa(isa)
        for threads in (1, 2, 5):
            calibrant.set_num_threads(threads)
            found.add(json.dumps(scorecard(y, p, n_bins=500).to_dict()))
    assert len(found) == 1


def test_reference_agrees_on_nasty_rows():
    y, p = strategies.nasty_table(300)
    w = np.random.default_rng(2).choice([0.0, 1.0, 2.5], 300)
    card = scorecard(y, p, sample_weight=w)
    assert card.brier.value == pytest.approx(float(reference.brier_score(y, p, w)), rel=1e-15)
