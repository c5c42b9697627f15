"""The verdict on probabilities: false alarms, power, words, and the tests beneath it."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

import calibrant
from calibrant import _core, streaming
from calibrant.calibration._verdict import _percentages, calibration_verdict
from calibrant.report import report
from calibrated_rows import BINARY, CLASSES, outcomes, sharpened


def table_of(y, p, w=None):
    table = streaming.ScoreTable()
    table.update(y, p, sample_weight=w)
    return table._state


def verdict(y, p, w=None):
    return calibration_verdict(table_of(y, p, w))


# Tails


def tails_reference(x, variance, third):
    """Of a Poisson number, moved and scaled to these three cumulants."""
    if third < 0:
        return tails_reference(-x, variance, -third)[::-1]
    unit, mean = third / variance, variance**3 / third**2
    k = max(x / unit + mean, 0.0)
    upper = stats.gamma(k).cdf(mean) if k > 0 else 1.0  # P(N >= k) for whole k
    return upper, stats.gamma(k + 1).sf(mean)


def joint_reference(y, s):
    """From the definitions, with sums over rows in order of their scores."""
    slope, v = 1 - 2 * s, s * (1 - s)
    x, variance, third = (slope * (y - s)).sum(), (slope**2 * v).sum(), (slope**4 * v).sum()
    z_pvalue = min(1.0, 2 * min(tails_reference(x, variance, third)))
    order = np.argsort(s, kind="stable")
    walk = np.cumsum((y - s)[order])
    last = np.append(np.diff(s[order]) > 0, True)
    d, variance_of_walk = np.abs(walk[last]).max(), v.sum()
    third = (v * slope).sum()
    bound = 2 * (
        tails_reference(d - math.log(2), variance_of_walk, third)[0]
        + tails_reference(math.log(2) - d, variance_of_walk, third)[1]
    )
    ks = d / math.sqrt(variance_of_walk)
    ks_pvalue = min(1.0, max(float(_core.brownian_sup_sf([ks])[0]), bound))
    return x / math.sqrt(variance), z_pvalue, ks, ks_pvalue


@pytest.mark.parametrize("law", ["uniform", "Beta(0.5, 9.5), 5 %", "logit-normal(0, 3)"])
@pytest.mark.parametrize("n", [3, 40, 1500])
def test_the_joint_test_is_that_of_its_definition(law, n):
    rng = np.random.default_rng(n)
    p = np.round(BINARY[law](rng, n), 3) * 0.99 + 0.005  # ties, and no symmetry
    y = outcomes(rng, p**1.1)
    found = _core.joint_test(table_of(y, p))
    z, z_pvalue, ks, ks_pvalue = joint_reference(y, p)
    assert found.spiegelhalter == pytest.approx(z, rel=1e-9)
    assert found.spiegelhalter == pytest.approx(
        calibrant.spiegelhalter_test(y, p).statistic, rel=1e-9
    )
    assert found.ks == pytest.approx(calibrant.ks_test(y, p).statistic, rel=1e-9)
    assert found.ks == pytest.approx(ks, rel=1e-9)
    assert found.spiegelhalter_pvalue == pytest.approx(z_pvalue, rel=1e-6)
    assert found.ks_pvalue == pytest.approx(ks_pvalue, rel=1e-6)
    assert found.pvalue == min(1.0, 2 * min(found.spiegelhalter_pvalue, found.ks_pvalue))
    weights = [weight for weight, _, _ in found.groups]
    assert sum(weights) == n
    assert len(weights) <= 10
    assert sum(w * s for w, s, _ in found.groups) == pytest.approx(p.sum())
    assert sum(w * f for w, _, f in found.groups) == pytest.approx(y.sum())


def test_rare_events_are_a_poisson_number():
    """Of scores next to 0 both tests ask how likely so many events are."""
    n, rate = 100_000, 2e-5
    for events in (1, 4, 6, 9):
        y = np.zeros(n, int)
        y[-events:] = 1
        found = _core.joint_test(table_of(y, np.full(n, rate)))
        at_least = stats.poisson(n * rate).sf(events - 1)
        at_most = stats.poisson(n * rate).cdf(events)
        expected = min(1.0, 2 * min(at_least, at_most))
        assert found.spiegelhalter_pvalue == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("seed", range(6))
def test_every_outcome_of_few_rows(seed):
    """Its size is known: the probability of all outcomes that it rejects."""
    rng = np.random.default_rng(seed)
    n = 10
    p = [rng.random(n), rng.beta(0.2, 2.0, n), np.full(n, 0.05), rng.choice([0.1, 0.5], n)][
        seed % 4
    ]
    size = dict.fromkeys((0.2, 0.05, 0.01), 0.0)
    for y in itertools.product((0, 1), repeat=n):
        outcome = np.array(y)
        pvalue = _core.joint_test(table_of(outcome, p)).pvalue
        for level in size:
            if pvalue <= level:
                size[level] += np.prod(np.where(outcome, p, 1 - p))
    assert all(found <= level for level, found in size.items()), size


# False alarms, and power


def share_against(law, n, factor, runs, seed):
    rng = np.random.default_rng(seed)
    against = 0
    for _ in range(runs):
        p = law(rng, n)
        y = outcomes(rng, p)
        against += verdict(y, p if factor == 1 else sharpened(p, factor)).pvalue <= 0.05
    return against / runs


@pytest.mark.parametrize("n", [20, 100, 1000])
@pytest.mark.parametrize("name", [*BINARY, *CLASSES])
def test_false_alarms(name, n):
    """5 of 100 at most; the limit is 6 and 2.5 standard errors."""
    law = {**BINARY, **CLASSES}[name]
    assert share_against(law, n, 1, 200, seed=n) <= 0.06 + 2.5 * math.sqrt(0.06 * 0.94 / 200)


@pytest.mark.parametrize("factor", [1.3, 1 / 1.3])
@pytest.mark.parametrize(
    "name", ["uniform", "Beta(0.2, 0.2)", "logit-normal(0, 3)", "Beta(0.5, 9.5), 5 %", *CLASSES]
)
def test_power(name, factor):
    assert share_against({**BINARY, **CLASSES}[name], 2000, factor, 40, seed=1) >= 0.9


@pytest.mark.parametrize(
    ("factor", "words"), [(1.5, "over-confident"), (0.6, "under-confident"), (1, "calibrated")]
)
@pytest.mark.parametrize("name", ["uniform", "10 classes, Dirichlet(0.1)"])
def test_one_verdict_everywhere(name, factor, words):
    """Of the function, the streams and the report, in words and in numbers."""
    rng = np.random.default_rng(3)
    truth = {**BINARY, **CLASSES}[name](rng, 4000)
    y, p = outcomes(rng, truth), sharpened(truth, factor)
    whole = calibrant.assess(y, p)
    assert whole.verdict.startswith(words)
    expected = verdict(y, p)
    assert whole.pvalue == expected.pvalue
    assert whole.verdict.startswith(str(expected))
    halves = [streaming.Assessment() for _ in range(2)]
    rows, pairs = streaming.ScoreTable(), streaming.ScoreTable(pairs=True)
    for half, part in zip(halves, (slice(0, 1000), slice(1000, None)), strict=True):
        half.update(y[part], p[part])
        rows.update(y[part], p[part])
        pairs.update(y[part], p[part])
    assert str(expected) in halves[0].merge(halves[1]).result().verdict
    streamed = pairs.assess(rows=rows)
    assert str(expected) in streamed.verdict
    assert whole.angle in streamed.angle
    assert streamed.angle.width < 1.0
    page = report(y, p)
    assert page.verdict.kind == expected.kind
    assert expected.size in (page.verdict.headline + page.verdict.sentence).replace(
        expected.size.capitalize(), expected.size
    )
    assert page.verdict.advice == expected.advice


# Words


def test_what_the_audit_found():
    """Calibrated rare events were called over-confident, and separated scores were not."""
    assert verdict(np.zeros(100, int), np.logspace(-6, -4, 100)).kind == "too few rows"
    separated = np.repeat([1, 0], 200)
    assert verdict(separated, np.where(separated, 0.6, 0.4)).kind == "under-confident"
    rng = np.random.default_rng(0)
    assert verdict(np.ones(300, int), rng.uniform(0.8, 1, 300)).words == "too low"
    assert verdict(np.arange(1000) % 10 < 3, np.full(1000, 0.3)).kind == "calibrated"
    assert verdict(np.arange(1000) % 10 < 2, np.full(1000, 0.3)).words == "too high"
    few = verdict([1, 0], [0.5, 0.5], [0.5, 0.5])  # weights that sum to 1
    assert few.kind == "too few rows"
    assert "nan" not in str(few)


def test_one_row_with_a_probability_of_0_changes_no_direction():
    """It cannot happen if the probabilities are right, but says little of the others."""
    rng = np.random.default_rng(1)
    truth = np.append(rng.beta(0.3, 0.3, 568), 1.0)
    y = np.append(outcomes(rng, truth[:-1]), 1)
    p = np.append(sharpened(truth[:-1], 0.5), 0.0)
    found = verdict(y, p)
    assert found.kind == "under-confident"
    assert found.size.endswith(", and a probability of 0 was given to something that happened")
    alone = verdict(np.append(y[:-1], 1), np.append(truth[:-1], 0.0))
    assert alone.kind == "miscalibrated"
    assert alone.size == "a probability of 0 was given to something that happened"
    assert alone.pvalue == found.pvalue == 0.0
    assert calibration_verdict(
        table_of(np.append(y[:-1], 1), np.append(truth[:-1], 0.0)), q_lim=0.01
    ).kind == "calibrated"  # fmt: skip


def test_the_p_value_beside_a_probability_of_0_is_that_of_what_happened():
    """Spiegelhalter's and the KS test do not reject: the verdict does not rest on them."""
    p = np.append(np.full(400, 0.5), 0.0)
    y = np.append(np.arange(400) % 2, 1)
    certain = "impossible if the probabilities are right: p = 0; "
    together = "Spiegelhalter's and the KS test together: p = 1.00"
    assert verdict(y, p).tests == certain + together
    page = calibrant.report(y, p).verdict
    assert page.headline == (
        "These probabilities are not calibrated: "
        "a probability of 0 was given to something that happened."
    )
    assert page.sentence.startswith(f"I{certain[1:]}{together}. ")
    assert calibrant.assess(y, p).pvalue == 0.0
    assert verdict(y[:-1], p[:-1]).tests == together


def test_certain_and_right():
    assert verdict([0, 1] * 10, [0.0, 1.0] * 10).kind == "too few rows"
    assert verdict([0, 1] * 50, [0.0, 1.0] * 50).kind == "calibrated"


@pytest.mark.parametrize("size", ["under", "over"])
def test_the_size_is_that_of_a_group_that_shows_it(size):
    rng = np.random.default_rng(2)
    truth = rng.uniform(0.05, 0.95, 5000)
    found = verdict(outcomes(rng, truth), sharpened(truth, 0.5 if size == "under" else 2.0))
    promised, happened = (
        float(text.split(" %")[0]) for text in found.size.removeprefix("events given ").split("d ")
    )
    nearer_half = abs(happened - 50) < abs(promised - 50)
    assert nearer_half == (size == "over")


@pytest.mark.parametrize(
    ("shares", "texts"),
    [
        ((0.25, 0.11), ("25 %", "11 %")),
        ((0.5, 0.503), ("50.0 %", "50.3 %")),
        ((0.0052, 0.011), ("0.52 %", "1.10 %")),
        ((0.999, 0.94), ("99.90 %", "94.00 %")),
        ((1.0, 0.0), ("100 %", "0 %")),
        ((0.25, 0.0), ("25 %", "0 %")),
    ],
)
def test_percentages(shares, texts):
    assert _percentages(*shares) == texts


# The table of pairs


def test_a_table_of_pairs_is_not_for_tests_of_rows():
    table = streaming.ScoreTable(pairs=True)
    table.update([0, 2], [[0.5, 0.25, 0.25], [0.25, 0.25, 0.5]])
    assert repr(table) == "streaming.ScoreTable(n=2, pairs=True, q_lim=0.0)"
    for method in (
        "ks",
        "kuiper",
        "refine",
        "roc_auc",
        "roc_curve",
        "result",
        "reliability_bins",
        "expected_calibration_error",
        "cumulative_differences",
    ):
        with pytest.raises(ValueError, match="holds pairs, which is for `assess` only"):
            getattr(table, method)()
    with pytest.raises(ValueError, match="of pairs with one of rows"):
        table.merge(streaming.ScoreTable())
    with pytest.raises(ValueError, match="or with another q_lim"):
        table.merge(streaming.ScoreTable(pairs=True, q_lim=0.125))
    with pytest.raises(ValueError, match=r"q_lim is for tables of pairs, got 0\.1"):
        streaming.ScoreTable(q_lim=0.1)
    assert table.assess().verdict.startswith("undefined: the rows are not known")


@pytest.mark.parametrize("shape", [None, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_table_of_pairs_is_that_of_all_batches(shape, weighted):
    rng = np.random.default_rng(4)
    n = 5000
    p = rng.random(n) if shape is None else rng.dirichlet(np.ones(shape), n)
    y = outcomes(rng, p)
    w = rng.choice([0.0, 1.0, 2.5], n) if weighted else None

    def of(rows):
        table = streaming.ScoreTable(pairs=True, q_lim=0.01)
        table.update(y[rows], p[rows], sample_weight=None if w is None else w[rows])
        return table

    whole = of(slice(None))
    parts = of(slice(4000, None)).merge(of(slice(0, 3))).merge(of(slice(3, 4000)))
    assert parts.to_bytes() == whole.to_bytes()
    back = streaming.ScoreTable.from_bytes(whole.to_bytes())
    assert back == whole
    assert (whole.n, back.assess().n_classes) == (n, shape or 2)
    exact = calibrant.assess(y, p, q_lim=0.01, sample_weight=w, n_bins=20)
    found = whole.assess(n_bins=20)
    assert found.model == exact.model
    for name in ("decisiveness", "accuracy", "robustness"):
        assert getattr(exact.source, name) in getattr(found.source, name)
    assert exact.angle in found.angle


def test_damaged_tables_of_pairs_are_rejected():
    table = streaming.ScoreTable(pairs=True)
    table.update([0, 2, 1], [[0.5, 0.25, 0.25], [0.25, 0.25, 0.5], [0.125, 0.875, 0.0]])
    state = bytearray(table.to_bytes())
    for at in range(len(state)):
        damaged = bytes(state[:at]) + bytes([state[at] ^ 0x10]) + bytes(state[at + 1 :])
        with pytest.raises(ValueError, match=r"state|calibrant"):
            streaming.ScoreTable.from_bytes(damaged)


# The angle


@pytest.mark.parametrize("name", ["uniform", "Beta(0.5, 49.5), 1 %", "4 classes, Dirichlet(1)"])
def test_the_tolerance_of_the_angle(name):
    """Of calibrated rows the angle is within it in about 95 of 100 samples."""
    rng = np.random.default_rng(5)
    inside = 0
    for _ in range(60):
        p = {**BINARY, **CLASSES}[name](rng, 2000)
        found = calibrant.assess(outcomes(rng, p), p)
        inside += abs(found.angle - 45) <= found.tolerance
    assert inside >= 50


def test_the_tolerance_is_a_function_of_the_bins():
    rng = np.random.default_rng(6)
    p = rng.random(3000)
    y = outcomes(rng, p)
    order = rng.permutation(p.size)
    assert calibrant.assess(y, p).tolerance == calibrant.assess(y[order], p[order]).tolerance
