"""Drift between accumulators, and the sequential test, against their definitions."""

from __future__ import annotations

import itertools
import json
import math
import pickle
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from calibrant import brownian_range_sf, brownian_sup_sf, streaming
from calibrant.drift import drift, drift_by_window
from calibrant.sequential import DIRECTIONS, STAKES, SequentialCalibrationTest
from calibrant.streaming import (
    Intervals,
    Reliability,
    RiskProfile,
    Scorecard,
    Scores,
    ScoreTable,
    Windowed,
)
from calibrated_rows import BINARY, CLASSES, outcomes, sharpened

Z = NormalDist().inv_cdf(0.975)


def rows_of(n, seed, gap=0.0):
    rng = np.random.default_rng(seed)
    p = rng.random(n)
    return (rng.random(n) < np.clip(p + gap, 0, 1)).astype(int), p


def filled(cls, y, p, **weights):
    made = cls()
    made.update(y, p, **weights)
    return made


@pytest.fixture(scope="module")
def rows():
    return rows_of(3000, 1), rows_of(1000, 2, gap=0.1)


@pytest.fixture(scope="module")
def cards(rows):
    return tuple(filled(Scorecard, *part) for part in rows)


@pytest.fixture(scope="module")
def found(cards):
    return drift(*cards)


# Drift


def tail_of_moments(change, terms, n_a, n_b, *, step=0.0):
    """Of the mean of b less that of a, by variance and skewness of all rows; half a step nearer."""
    n = n_a + n_b
    deviation = math.sqrt(terms.var(ddof=1) * (1 / n_a + 1 / n_b))
    z = change / deviation
    skewness = stats.skew(terms) * (n - 2 * n_b) / math.sqrt(n * n_a * n_b)
    skewness = max(math.copysign(1.0, z) * skewness, 1e-6)
    nearer = max(skewness / 2, step * (1 / n_a + 1 / n_b) / 2 / deviation)
    return z, min(1.0, 2 * stats.pearson3(skewness).sf(max(abs(z) - nearer, 0.0)))


@pytest.mark.parametrize(
    ("name", "term"),
    [
        ("brier", lambda y, p: (y - p) ** 2),
        ("log", lambda y, p: -np.log(np.where(y == 1, p, 1 - p))),
        ("decisiveness", lambda y, p: np.where(y == 1, p, 1 - p)),
    ],
)
def test_means_are_compared_by_the_moments_of_all_rows(rows, found, name, term):
    terms = [term(*part) for part in rows]
    change = terms[1].mean() - terms[0].mean()
    z, pvalue = tail_of_moments(change, np.concatenate(terms), 3000, 1000)
    assert found[name].change == pytest.approx(change, rel=1e-12)
    assert found[name].method == "moments"
    assert found[name].statistic == pytest.approx(z, rel=1e-9)
    assert found[name].pvalue == pytest.approx(pvalue, rel=0.02)  # the skewness is that of groups
    se = math.sqrt(sum(t.var() / t.size for t in terms))  # Welch's, of the interval
    assert found[name].se == pytest.approx(se, rel=0.1)


def test_frequencies_are_compared_by_the_hypergeometric_law():
    """Nearly: the gamma law at half a row less is close to it, in the tails and for few events."""
    for n_a, n_b, hits_a, hits_b in (
        (2000, 50, 20, 4), (2000, 50, 20, 6), (300, 300, 12, 30), (200, 10, 100, 9),
        (2000, 500, 1000, 180), (20_000, 20, 200, 3),
    ):  # fmt: skip
        sides = [
            filled(Scorecard, [1, 0], [0.5, 0.5], sample_weight=[k, n - k])
            for n, k in ((n_a, hits_a), (n_b, hits_b))
        ]
        law = stats.hypergeom(n_a + n_b, hits_a + hits_b, n_b)
        exact = 2 * min(law.cdf(hits_b), law.sf(hits_b - 1))
        assert 0.9 * exact <= drift(*sides)["base_rate"].pvalue <= 6.0 * exact


def wilson(k, n):
    centre = (k + Z * Z / 2) / (n + Z * Z)
    half = Z / (n + Z * Z) * math.sqrt(k * (n - k) / n + Z * Z / 4)
    return centre - half, centre + half


def by_the_ends(change):
    """What the intervals of both sides make of the change (Zou and Donner 2008)."""
    one, two = change.reference, change.current
    apart = two.value - one.value
    down = math.hypot(two.value - two.low, one.high - one.value)
    up = math.hypot(two.high - two.value, one.value - one.low)
    return apart, apart - down, apart + up


def test_frequencies_are_compared_by_newcombe(rows, found):
    (y1, _), (y2, _) = rows
    change = found["base_rate"]
    assert change.change == pytest.approx(y2.mean() - y1.mean(), rel=1e-12)
    assert (change.change, change.low, change.high) == pytest.approx(by_the_ends(change), rel=1e-9)
    assert (change.pvalue < 0.05) == (change.low > 0)


def test_accuracy_is_compared_on_its_own_scale(rows, found):
    (a, b) = (math.exp(np.log(np.where(y == 1, p, 1 - p)).mean()) for y, p in rows)
    change = found["accuracy"]
    assert change.change == pytest.approx(b - a, rel=1e-9)
    assert (change.low, change.high) == pytest.approx(by_the_ends(change)[1:], rel=1e-7)


def walk(y, p):
    order = np.argsort(p, kind="stable")
    return np.concatenate([[0.0], np.cumsum((y - p)[order])]) / y.size


def test_extremes_are_compared_before_they_are_scaled(rows, found):
    walks = [walk(*part) for part in rows]
    noise = sum(math.sqrt(((y - p) ** 2).mean() / y.size) for y, p in rows)
    extremes = {"ks": lambda w: np.abs(w).max(), "kuiper": np.ptp}
    for name, tail in (("ks", brownian_sup_sf), ("kuiper", brownian_range_sf)):
        a, b = (extremes[name](w) for w in walks)
        change = found[name]
        assert change.reference.low * (1 - 1e-6) <= a <= change.reference.high * (1 + 1e-6)
        assert change.current.low * (1 - 1e-6) <= b <= change.current.high * (1 + 1e-6)
        assert change.statistic == pytest.approx(b - a, rel=0.02)  # of groups of rows
        reach = (change.high - change.low) / 2
        assert 2 * tail(reach / noise) == pytest.approx(0.05, rel=0.05)


def bins(y, p, k=15):
    which = np.minimum((p * k).astype(int), k - 1)
    n = np.bincount(which, minlength=k)
    return n, np.bincount(which, y, k) / n, np.bincount(which, p, k) / n


def test_the_interval_of_the_error_is_the_noise_of_its_bins(rows, found):
    mean = variance = 0.0
    errors = []
    for y, p in rows:
        n, o, s = bins(y, p)
        errors.append(float((n / n.sum() * abs(o - s)).sum()))
        f = (o * n + 0.5) / (n + 1)
        v = f * (1 - f) / n
        mean += float((n / n.sum() * np.sqrt(2 * v / math.pi)).sum())
        variance += float(((n / n.sum()) ** 2 * v).sum()) * (1 - 2 / math.pi)
    assert found["ece"].change == pytest.approx(errors[1] - errors[0], rel=1e-9)
    assert found["ece"].statistic == pytest.approx(errors[1] - errors[0], rel=2e-3)  # groups
    reach = mean + math.sqrt(variance) * stats.norm.isf(0.05)
    assert found["ece"].low == pytest.approx(found["ece"].change - reach, rel=1e-9)


def numbers(y, p):
    """What the splits are of, from the definitions."""
    n, o, s = (np.nan_to_num(x) for x in bins(y, p))
    rate = y.mean()
    w = walk(y, p)
    ranks = stats.rankdata(p)[y == 1].sum()
    hits = y.sum()
    return {
        "reliability": (n * (o - s) ** 2).sum() / y.size,
        "resolution": (n * (o - rate) ** 2).sum() / y.size,
        "brier_skill": 1 - ((y - p) ** 2).mean() / (rate * (1 - rate)),
        "ece": (n * abs(o - s)).sum() / y.size,
        "auc": (ranks - hits * (hits + 1) / 2) / hits / (y.size - hits),
        "ks": np.abs(w).max(),
        "kuiper": np.ptp(w),
    }


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize(("n", "gap"), [(60, 0.0), (60, 0.1), (250, 0.04)])
def test_other_numbers_are_compared_by_splits_of_all_rows(n, gap):
    """The same as 1,000 permutations of the rows themselves, within their noise."""
    (y1, p1), (y2, p2) = rows_of(250, 21), rows_of(n, 22, gap)
    found = drift(filled(Scorecard, y1, p1), filled(Scorecard, y2, p2))
    y, p = np.concatenate([y1, y2]), np.concatenate([p1, p2])

    def changes(order):
        a, b = numbers(y[order[:250]], p[order[:250]]), numbers(y[order[250:]], p[order[250:]])
        return np.array([b[name] - a[name] for name in a])

    rng = np.random.default_rng(5)
    seen = changes(np.arange(y.size))
    null = np.array([changes(rng.permutation(y.size)) for _ in range(1000)])
    upper, lower = (null >= seen).mean(axis=0), (null <= seen).mean(axis=0)
    expected = np.minimum(2 * np.minimum(upper, lower), 1.0)
    for name, pvalue, bias in zip(numbers(y, p), expected, null.mean(axis=0), strict=True):
        change = found[name]
        assert change.method == "permutation"
        # Both have the noise of 1,000 draws; groups of rows are not the rows.
        assert change.pvalue == pytest.approx(pvalue, abs=0.1, rel=0.1), name
        if name in ("reliability", "resolution"):  # less what chance makes of it
            raw = change.current.value - change.reference.value
            assert raw - change.change == pytest.approx(bias, abs=0.15 * null[:, 0].std() + 1e-3)


@pytest.mark.filterwarnings("ignore:invalid value")
def test_the_curve_is_the_sum_of_squares_of_its_bins(rows, found):
    (n1, o1, s1), (n2, o2, s2) = (bins(*part) for part in rows)
    share = (n1 * o1 + n2 * o2 + 0.5) / (n1 + n2 + 1)
    squares = ((o2 - s2) - (o1 - s1)) ** 2 / (share * (1 - share) * (1 / n1 + 1 / n2))
    assert found["curve"].statistic == pytest.approx(squares.sum(), rel=2e-3)  # of groups
    assert found["curve"].pvalue < 1e-3
    # Of one law it is nearly chi-square.
    same = drift(filled(Scorecard, *rows_of(3000, 1)), filled(Scorecard, *rows_of(3000, 6)))
    expected = stats.chi2.sf(same["curve"].statistic, 15)
    assert same["curve"].pvalue == pytest.approx(expected, abs=0.06)


def test_verdict(found, cards):
    assert {"base_rate", "ks", "curve"} <= set(found.drifted)
    assert "hit_rate" not in found.drifted
    assert found.verdict.startswith("drift: base rate rose")
    text = repr(found)
    assert text.startswith("Drift of 1000 rows from 3000, 95% intervals")
    assert text.endswith(found.verdict)
    same = drift(cards[0], filled(Scorecard, *rows_of(1000, 7)))
    assert same.drifted == ()
    assert same.verdict == "no drift seen: chance explains all changes"
    assert json.loads(json.dumps(found.to_dict()))["drifted"] == list(found.drifted)
    with pytest.raises(KeyError, match="there are base_rate"):
        found["mse"]


def test_holm_over_all_tests(found):
    tested = sorted((c.pvalue, c.adjusted_pvalue) for c in found if c.pvalue is not None)
    largest = 0.0
    for rank, (p, adjusted) in enumerate(tested):
        largest = max(largest, min(1.0, (len(tested) - rank) * p))
        assert adjusted == largest


def test_drift_changes_nothing(cards):
    before = [card.to_bytes() for card in cards]
    drift(*cards)
    assert [card.to_bytes() for card in cards] == before


@pytest.mark.parametrize(
    ("cls", "names", "tested"),
    [
        (
            ScoreTable,
            ["ece", "auc", "ks", "kuiper", "curve"],
            {"ece", "auc", "ks", "kuiper", "curve"},
        ),
        (Scores, ["brier", "log", "spherical"], set()),
        (RiskProfile, ["decisiveness", "accuracy", "robustness"], set()),
        (Reliability, ["ece", "curve"], {"ece", "curve"}),
    ],
)
def test_other_accumulators(rows, found, cls, names, tested):
    other = drift(*(filled(cls, *part) for part in rows))
    assert [change.name for change in other] == names
    assert {c.name for c in other if c.pvalue is not None} == tested
    for change in other:
        if change.change is not None:
            assert change.change == pytest.approx(found[change.name].change, abs=1e-4)
        if change.pvalue is None:
            assert "use a Scorecard" in change.reason
        else:
            same = 1e-9 if cls is ScoreTable else 1.0  # a Reliability has no groups within bins
            assert change.pvalue == pytest.approx(
                found[change.name].pvalue, rel=same, abs=same / 20
            )
    assert other.verdict.startswith("drift" if tested else "open")
    json.dumps(other.to_dict())


def test_classes_and_weights():
    rng = np.random.default_rng(0)
    p = rng.dirichlet([1, 1, 1], 500)
    y = (p.cumsum(axis=1) < rng.random((500, 1))).sum(axis=1)
    one = drift(filled(Scorecard, y[:300], p[:300]), filled(Scorecard, y[300:], p[300:]))
    assert one.drifted == ()
    half = np.full(150, 2.0)
    twice = filled(Scorecard, y[:150], p[:150], sample_weight=half)
    repeated = filled(Scorecard, np.repeat(y[:150], 2), np.repeat(p[:150], 2, axis=0))
    other = filled(Scorecard, y[300:], p[300:])
    for a, b in zip(drift(twice, other), drift(repeated, other), strict=True):
        assert a.pvalue == pytest.approx(b.pvalue, rel=1e-9), a.name


def test_of_one_class_and_of_certain_scores():
    sure = filled(Scorecard, [1, 0] * 10, [1.0, 0.0] * 10)
    ones = filled(Scorecard, [1] * 20, [1.0] * 20)
    found = drift(sure, ones)
    assert found["auc"].pvalue is None
    assert found["brier"].pvalue is None
    assert found["ks"].change == 0.0
    json.dumps(found.to_dict())
    infinite = filled(Scorecard, [1, 0], [0.0, 0.5])
    assert drift(sure, infinite)["log"].pvalue is None


@pytest.mark.parametrize(
    ("reference", "current", "error", "message"),
    [
        (
            filled(Scores, [1], [0.5]), Reliability(),
            TypeError, "cannot compare a streaming.Reliability with a streaming.Scores",
        ),
        (3, Scores(), TypeError, "reference must be a calibrant.streaming.Scorecard, .* got int"),
        (
            filled(Scorecard, [1], [0.5]).result(), Scorecard(),
            TypeError, "got the result calibrant.Scorecard, which keeps no rows: fill a",
        ),
        (
            filled(Scores, [1], [0.5]), Intervals((0.9,)),
            TypeError, "current must be a calibrant.streaming.Scorecard",
        ),
        (filled(Scorecard, [1], [0.5]), Scorecard(), ValueError, "at least one row"),
        (
            filled(Scorecard, [1], [0.5]), filled(lambda: Scorecard(n_bins=3), [1], [0.5]),
            ValueError, "n_bins|bins",
        ),
        (filled(Scores, [1], [0.5]), filled(Scores, [1], [[0.5, 0.5, 0]]), ValueError, "y_proba"),
    ],
)  # fmt: skip
def test_drift_rejects(reference, current, error, message):
    with pytest.raises(error, match=message):
        drift(reference, current)


def test_bad_levels(cards):
    with pytest.raises(ValueError, match="confidence_level"):
        drift(*cards, confidence_level=1.0)


def test_false_alarms_are_as_rare_as_stated():
    """A small window of right probabilities against a large reference: biases would show."""
    reference = filled(Scorecard, *rows_of(20_000, 0))
    runs = [drift(reference, filled(Scorecard, *rows_of(500, 100 + k))) for k in range(40)]
    assert sum(bool(run.drifted) for run in runs) <= 6  # P < 0.01 of more at a rate of 0.05
    for name in ("brier", "ece", "ks", "curve"):
        assert sum(run[name].pvalue <= 0.05 for run in runs) <= 7, name


def test_false_alarms_of_rare_events():
    """A window may miss what is rare, and most of its variance: that of all rows counts, too."""
    rng = np.random.default_rng(1)
    p = rng.beta(0.5, 50, 45_000)
    y = rng.random(p.size) < p
    windows = Windowed(Scorecard, rows=500, keep=None)
    windows.update(y[20_000:], p[20_000:])
    found = drift_by_window(filled(Scorecard, y[:20_000], p[:20_000]), windows)
    assert len(found) == 50
    for name in ("decisiveness", "robustness", "brier", "log", "auc"):
        tested = [run[name].pvalue for run in found.drifts if run[name].pvalue is not None]
        assert len(tested) > 45
        assert sum(pvalue <= 0.05 for pvalue in tested) <= 7, name  # P < 0.01 of more
    alone = [min(c.pvalue * len(run.changes) for c in run if c.pvalue is not None)
             for run in found.drifts]  # fmt: skip
    assert sum(pvalue <= 0.05 for pvalue in alone) <= 7


def alarms(law, n_reference, n_current, runs, factor=1.0):
    """In how many runs something "drifted" though both sides are of one law."""
    count = 0
    for run in range(runs):
        rng = np.random.default_rng([run, n_current])
        sides = []
        for n in (n_reference, n_current):
            p = law(rng, n)
            sides.append(filled(Scorecard, outcomes(rng, p), sharpened(p, factor)))
        count += bool(drift(*sides).drifted)
    return count


@pytest.mark.parametrize("name", [*BINARY, *CLASSES])
def test_false_alarms_of_small_windows(name):
    """At most 5 % of the verdicts, whatever the scores; 60 runs for each law."""
    law = {**BINARY, **CLASSES}[name]
    count = sum(
        alarms(law, 200, n, 15, factor)
        for n, factor in ((2, 1.0), (20, 1.5), (50, 1.0), (200, 1.0))
    )
    assert count <= 7  # P < 0.02 of more at the full rate of 5 %


def test_false_alarms_of_many_windows():
    """30 windows of 50 rows have one error rate: 48 % of such verdicts were false once."""
    rng = np.random.default_rng(12)
    reference = filled(Scorecard, *rows_of(2000, 30))
    count = 0
    for _ in range(10):
        windows = Windowed(Scorecard, rows=50)
        p = rng.random(1500)
        windows.update(outcomes(rng, p), p)
        count += bool(drift_by_window(reference, windows).drifted)
    assert count <= 2  # P < 0.02 of more


@pytest.mark.parametrize("name", ["uniform", "4 classes, Dirichlet(1)"])
def test_real_changes_are_found(name):
    law = {**BINARY, **CLASSES}[name]
    for run in range(5):
        rng = np.random.default_rng([7, run])
        p, q = law(rng, 2000), law(rng, 2000)
        reference = filled(Scorecard, outcomes(rng, p), p)
        assert drift(reference, filled(Scorecard, outcomes(rng, q), sharpened(q, 1.5))).drifted


def test_a_base_rate_that_rises_is_found():
    for run in range(5):
        rng = np.random.default_rng([8, run])
        p, q = rng.beta(0.4, 1.6, 2000), rng.beta(0.6, 1.4, 2000)
        sides = (filled(Scorecard, outcomes(rng, x), x) for x in (p, q))
        assert "base_rate" in drift(*sides).drifted


def test_too_few_rows_to_tell():
    reference = filled(Scorecard, *rows_of(2000, 1))
    for n, few in ((2, True), (5, True), (30, False)):
        found = drift(reference, filled(Scorecard, *rows_of(n, 3)))
        assert found.drifted == ()
        assert found.verdict.startswith("too few rows to tell" if few else "no drift seen")
        assert found["ece"].low is None
        assert found["ece"].reason == "too few rows"
    rare = np.full(2000, 1e-4)
    none = filled(Scorecard, np.zeros(2000), rare)
    found = drift(none, none.copy())
    assert found.verdict.startswith("too few rows to tell")  # no event: nothing could be seen
    assert found["auc"].pvalue is None
    assert found["auc"].reason == "too few events"


def test_pvalues_are_functions_of_the_two_states():
    """However rows were split and ordered."""
    y, p = rows_of(600, 4)
    reference = filled(Scorecard, *rows_of(900, 5))
    order = np.random.default_rng(1).permutation(600)
    parts = Scorecard()
    for rows in np.array_split(order, 7):
        parts.update(y[rows], p[rows])
    assert drift(reference, parts).to_dict() == drift(reference, filled(Scorecard, y, p)).to_dict()


@pytest.mark.parametrize("n", [200, 1000])
def test_intervals_of_changes_cover(n):
    """Those that are given hold the true change, here 0, in 92 % of the runs or more."""
    covered, given_ = {}, {}
    for run in range(60):
        sides = (filled(Scorecard, *rows_of(m, 1000 * run + m)) for m in (1001, n))
        for change in drift(*sides):
            if change.low is not None:
                given_[change.name] = given_.get(change.name, 0) + 1
                covered[change.name] = covered.get(change.name, 0) + (
                    change.low <= 0 <= change.high
                )
    assert {"base_rate", "brier", "log", "auc", "ece", "ks", "reliability"} <= set(given_)
    for name, count in given_.items():
        assert covered[name] >= 0.86 * count, name  # P < 0.01 of fewer at 95 %


def test_extremes_of_few_rows_are_exact():
    """No two rows share a cell of the table: there is a value, without bounds."""
    y, p = rows_of(40, 3)
    found = drift(filled(Scorecard, *rows_of(500, 1)), filled(Scorecard, y, p))
    assert found["ks"].current.value == pytest.approx(np.abs(walk(y, p)).max(), rel=1e-9)
    assert found["kuiper"].current.value == pytest.approx(np.ptp(walk(y, p)), rel=1e-9)


def test_windows():
    y, p = rows_of(4000, 3)
    y[3000:] = np.random.default_rng(1).random(1000) < 0.5  # p says nothing any more
    windows = Windowed(Scorecard, rows=500)
    windows.update(y, p)
    found = drift_by_window(filled(Scorecard, *rows_of(4000, 4)), windows)
    assert [w.start for w in found.drifted] == [3000, 3500]
    assert len(found) == 8
    alone = drift(filled(Scorecard, *rows_of(4000, 4)), windows.windows()[0])
    for one, other in zip(alone, found.drifts[0], strict=True):
        assert one.pvalue == other.pvalue
        assert one.pvalue is None or other.adjusted_pvalue >= one.adjusted_pvalue
    assert len(json.loads(json.dumps(found.to_dict()))["windows"]) == 8
    assert found.verdict == "drift: something changed in 2 of 8 windows"
    right = drift_by_window(filled(Scorecard, *rows_of(4000, 4)), windows.windows()[:6])
    assert right.verdict == "no drift seen: chance explains all changes"
    few = Windowed(Scorecard, rows=2)
    few.update(y[:4], p[:4])
    assert drift_by_window(few.windows()[0], few).verdict.startswith("too few rows to tell")
    assert repr(found).startswith("Drift of 8 windows\n  0 to 500, 500 rows: no drift seen")


def test_an_error_names_its_window():
    windows = Windowed(Scorecard, every=10)
    windows.update([1, 0, 1], [0.5, 0.25, 0.5], timestamps=[1, 2, 11], sample_weight=[1, 1, 0])
    with pytest.raises(ValueError, match=r"window from 10 to 20: .*weight"):
        drift_by_window(windows.windows()[0], windows)


def test_pictures():
    plt = pytest.importorskip("matplotlib.pyplot")
    from calibrant.plotting import DriftDisplay

    y, p = rows_of(600, 3)
    stamps = np.datetime64("2026-01-01") + np.arange(600) * np.timedelta64(1, "h")
    windows = Windowed(Scorecard, every=np.timedelta64(5, "D"), origin=stamps[0])
    windows.update(np.where(np.arange(600) < 480, y, 1 - y), p, timestamps=stamps)
    found = drift_by_window(filled(Scorecard, *rows_of(4000, 4)), windows)
    display = found.plot(metric="brier", name="model")
    assert isinstance(display, DriftDisplay)
    values = [drift_["brier"].current.value for drift_ in found.drifts]
    assert list(display.points_.get_ydata()) == values[:4]
    assert list(display.drifted_.get_ydata()) == values[4:]
    assert len(display.intervals_) == 5
    assert display.reference_.get_ydata()[0] == found.drifts[0]["brier"].reference.value
    display.figure_.canvas.draw()
    assert found.drifts[0].plot().ax_.get_ylabel() == "ECE"
    with pytest.raises(ValueError, match="metric must be one of"):
        found.plot(metric="curve")
    with pytest.raises(ValueError, match="no windows to draw"):
        drift_by_window(filled(Scorecard, *rows_of(40, 4)), []).plot()
    plt.close("all")


# The sequential test


def wealth(y, p):
    """By plain products, from the definition."""
    total = 0.0
    for stake in [sign / 2**k for k in range(1, 8) for sign in (1, -1)]:
        for g in (lambda _: 1.0, lambda p: 2 * p - 1):
            capital = 1.0
            for a, b in zip(y, p, strict=True):
                capital *= 1 + stake * g(b) * (a - b)
            total += capital / 28
    return total


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 1), st.floats(0, 1)), min_size=1, max_size=25),
    st.lists(st.integers(0, 25), max_size=4),
)
def test_wealth_is_the_mean_of_products(rows, cuts):
    y, p = (list(column) for column in zip(*rows, strict=True))
    edges = [0, *sorted({cut % len(y) for cut in cuts} - {0}), len(y)]
    test, greatest, at_alarm = SequentialCalibrationTest(0.5), 1.0, None
    for a, b in itertools.pairwise(edges):
        test.update(y[a:b], p[a:b])
        now = wealth(y[:b], p[:b])
        greatest = max(greatest, now)
        if at_alarm is None and now >= 2.0:
            at_alarm = b
    found = test.result()
    assert found.log_wealth == pytest.approx(math.log(now), abs=1e-12)
    assert found.max_log_wealth == pytest.approx(math.log(greatest), abs=1e-12)
    assert found.pvalue == pytest.approx(1 / greatest, rel=1e-12)
    assert (found.alarm, found.n_at_alarm) == (at_alarm is not None, at_alarm)


def test_the_wealth_is_fair():
    """Its expectation over y is what it was, whatever p: all outcomes, weighed by p."""
    p = [0.0, 0.1, 0.5, 0.97, 1.0, 0.3]
    total = 0.0
    for y in itertools.product((0, 1), repeat=len(p)):
        test = SequentialCalibrationTest()
        test.update(y, p)
        chance = math.prod(b if a else 1 - b for a, b in zip(y, p, strict=True))
        total += chance * math.exp(test.result().log_wealth)
    assert total == pytest.approx(1.0, rel=1e-13)


def test_false_alarms_at_any_moment():
    """Looked at after every 20 rows, the alarm comes in no more than alpha of the streams."""
    rng = np.random.default_rng(11)
    alarms = 0
    for _ in range(120):
        p = rng.beta(*rng.uniform(0.3, 3, 2), 2000)
        y = rng.random(2000) < p
        test = SequentialCalibrationTest(alpha=0.1)
        for rows in np.split(np.arange(2000), 40):
            test.update(y[rows], p[rows])
        alarms += test.result().alarm
    assert alarms <= 19  # P < 0.02 of more, even at the full rate of 0.1


@pytest.mark.parametrize(
    ("fault", "frequency"),
    [
        ("too low", lambda p: p + 0.1 * p * (1 - p) * 4),
        ("too high", lambda p: p - 0.1 * p * (1 - p) * 4),
        ("over-confident", lambda p: 0.5 + 0.7 * (p - 0.5)),
        ("under-confident", lambda p: np.clip(0.5 + 1.3 * (p - 0.5), 0, 1)),
    ],
)
def test_power(fault, frequency):
    rng = np.random.default_rng(5)
    p = rng.random(4000)
    y = rng.random(4000) < frequency(p)
    test = SequentialCalibrationTest(alpha=0.01)
    for rows in np.split(np.arange(4000), 40):
        test.update(y[rows], p[rows])
    found = test.result()
    assert found.alarm
    assert found.n_at_alarm <= 3000
    assert found.favourite == fault


def test_events_of_probability_zero():
    """Each multiplies the best bet by 3/2 (docs/production/drift.md): 14 of them are an alarm."""
    test = SequentialCalibrationTest(alpha=0.05)
    for _ in range(20):
        test.update([1], [0.0])
    assert test.result().n_at_alarm == 14


def test_order_and_batches_do_not_change_the_wealth():
    y, p = rows_of(3000, 8)
    whole, parts = SequentialCalibrationTest(), SequentialCalibrationTest()
    whole.update(y, p)
    order = np.random.default_rng(0).permutation(3000)
    for rows in np.array_split(order, 7):
        parts.update(y[rows], p[rows])
    assert parts.result().log_wealth == whole.result().log_wealth
    assert parts._parts()[1] == whole._parts()[1]


def test_merge_is_one_update_after_the_others():
    y, p = rows_of(900, 9, gap=0.2)
    left, right, one = (SequentialCalibrationTest(1e-3) for _ in range(3))
    left.update(y[:50], p[:50])
    right.update(y[50:], p[50:])
    one.update(y[:50], p[:50])
    one.update(y[50:], p[50:])
    assert left.merge(right) is left
    assert left == one
    assert left.result().n_at_alarm == 900
    assert right.result().n == 850
    with pytest.raises(TypeError, match="cannot merge Scores"):
        left.merge(Scores())
    with pytest.raises(ValueError, match="alpha"):
        left.merge(SequentialCalibrationTest(0.5))


def test_an_alarm_stays():
    test = SequentialCalibrationTest(alpha=0.05)
    test.update([1] * 60, [0.1] * 60)
    alarmed = test.result()
    y, p = rows_of(20_000, 3)
    test.update(y, p)
    later = test.result()
    assert later.log_wealth < alarmed.log_wealth == later.max_log_wealth
    assert (later.alarm, later.n_at_alarm, later.pvalue) == (True, 60, alarmed.pvalue)


def test_states_of_the_sequential_test(tmp_path):
    test = SequentialCalibrationTest(alpha=0.01)
    test.update([1, 0, 1], [0.2, 0.3, 0.25])
    test.save(tmp_path / "test.state")
    copies = [
        SequentialCalibrationTest.from_bytes(test.to_bytes()), streaming.restore(test.to_bytes()),
        streaming.load(tmp_path / "test.state"), pickle.loads(pickle.dumps(test)), test.copy(),
    ]  # fmt: skip
    for other in copies:
        assert other == test
        assert other.result() == test.result()
    copies[0].update([1], [0.5])
    assert (copies[0].n, test.n, len(test)) == (4, 3, 3)
    assert json.loads(json.dumps(test.to_dict()))["result"]["n"] == 3
    assert repr(test) == "SequentialCalibrationTest(n=3, alpha=0.01)"


@pytest.mark.parametrize(
    ("y", "p", "message"),
    [
        ([1, 0], [0.5, 1.5], "found 1.5 at row 1"),
        ([1, 2], [0.5, 0.5], "found 2"),
        ([1, 0], [0.5, math.nan], "row 1"),
        ([1], [0.5, 0.5], "y_true"),
        ([1, 0], [[0.5, 0.5, 0.0]] * 2, r"y_proba must have shape \(n,\)"),
    ],
)
def test_bad_rows_leave_the_test_as_it_was(y, p, message):
    test = SequentialCalibrationTest()
    test.update([1], [0.25])
    before = test.to_bytes()
    with pytest.raises(ValueError, match=message):
        test.update(y, p)
    assert test.to_bytes() == before


def test_weights_and_bad_alphas_are_rejected():
    with pytest.raises(TypeError, match="sample_weight"):
        SequentialCalibrationTest().update([1], [0.5], sample_weight=[1.0])
    for alpha in (0.0, 1.0, -1, math.nan):
        with pytest.raises(ValueError, match="alpha must lie strictly between 0 and 1"):
            SequentialCalibrationTest(alpha)
    with pytest.raises(TypeError, match="alpha"):
        SequentialCalibrationTest("5%")


def test_named_labels_and_the_bets():
    one, other = SequentialCalibrationTest(), SequentialCalibrationTest()
    one.update(["b", "a"], [0.25, 0.5], pos_label="b")
    other.update([1, 0], [0.25, 0.5])
    assert one == other
    assert len(STAKES) * len(DIRECTIONS) == 28
    empty = SequentialCalibrationTest().result()
    assert (empty.log_wealth, empty.pvalue, empty.alarm, empty.n) == (0.0, 1.0, False, 0)


@pytest.mark.parametrize("n", [500, 9_000])
def test_extremes_of_scores_that_tie(n):
    """Nothing is uncertain about them, and they are compared like others; they were taken for 0."""
    rng = np.random.default_rng(5)
    p = np.round(rng.random(2 * n), 2)
    y = rng.random(2 * n) < np.r_[p[:n], np.clip(p[n:] + 0.3, 0, 1)]
    found = drift(filled(Scorecard, y[:n], p[:n]), filled(Scorecard, y[n:], p[n:]))
    for name in ("ks", "kuiper"):
        assert found[name].current.value > found[name].reference.value > 0
        assert name in found.drifted
