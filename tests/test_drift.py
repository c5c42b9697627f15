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


@pytest.mark.parametrize(
    ("name", "term"),
    [
        ("brier", lambda y, p: (y - p) ** 2),
        ("log", lambda y, p: -np.log(np.where(y == 1, p, 1 - p))),
        ("decisiveness", lambda y, p: np.where(y == 1, p, 1 - p)),
    ],
)
def test_means_are_compared_by_the_larger_of_two_standard_errors(rows, found, name, term):
    """Welch's, which is that of the interval, and that of one variance for all rows."""
    terms = [term(*part) for part in rows]
    se = math.sqrt(sum(t.var() / t.size for t in terms))
    one = sum(t.size * t.var() for t in terms) / sum(t.size for t in terms)
    change = terms[1].mean() - terms[0].mean()
    z = change / max(se, math.sqrt(sum(one / t.size for t in terms)))
    assert found[name].change == pytest.approx(change, rel=1e-12)
    assert found[name].se == pytest.approx(se, rel=1e-9)
    assert found[name].statistic == pytest.approx(z, rel=1e-9)
    assert found[name].pvalue == pytest.approx(2 * stats.norm.sf(abs(z)), rel=1e-7)
    assert found[name].low == pytest.approx(change - Z * se, rel=1e-8)
    assert found[name].high == pytest.approx(change + Z * se, rel=1e-8)


def wilson(k, n):
    centre = (k + Z * Z / 2) / (n + Z * Z)
    half = Z / (n + Z * Z) * math.sqrt(k * (n - k) / n + Z * Z / 4)
    return centre - half, centre + half


def test_frequencies_are_compared_by_newcombe(rows, found):
    (y1, _), (y2, _) = rows
    a, b = y1.mean(), y2.mean()
    (l1, u1), (l2, u2) = wilson(y1.sum(), y1.size), wilson(y2.sum(), y2.size)
    change = found["base_rate"]
    assert change.change == pytest.approx(b - a, rel=1e-12)
    assert change.low == pytest.approx(b - a - math.hypot(b - l2, u1 - a), rel=1e-9)
    assert change.high == pytest.approx(b - a + math.hypot(u2 - b, a - l1), rel=1e-9)
    assert (change.pvalue < 0.05) == (change.low > 0)


def test_accuracy_is_compared_on_its_own_scale(rows, found):
    logs = [-np.log(np.where(y == 1, p, 1 - p)) for y, p in rows]
    ends = [
        [math.exp(-(t.mean() + s * Z * t.std() / math.sqrt(t.size))) for s in (1, 0, -1)]
        for t in logs
    ]
    (l1, a, u1), (l2, b, u2) = ends
    assert found["accuracy"].change == pytest.approx(b - a, rel=1e-9)
    assert found["accuracy"].low == pytest.approx(b - a - math.hypot(b - l2, u1 - a), rel=1e-7)
    assert found["accuracy"].high == pytest.approx(b - a + math.hypot(u2 - b, a - l1), rel=1e-7)


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
        # Within what the certified bounds leave open, and fine bins instead of rows.
        assert change.statistic == pytest.approx(abs(b - a) / noise, rel=5e-3)
        assert change.pvalue == pytest.approx(2 * tail(change.statistic), rel=1e-9)
        reach = (change.high - change.low) / 2
        assert 2 * tail(reach / noise) == pytest.approx(0.05, rel=0.05)


def bins(y, p, k=15):
    which = np.minimum((p * k).astype(int), k - 1)
    n = np.bincount(which, minlength=k)
    return n, np.bincount(which, y, k) / n, np.bincount(which, p, k) / n


def test_the_error_is_compared_by_the_noise_of_its_bins(rows, found):
    mean = variance = 0.0
    errors = []
    for y, p in rows:
        n, o, s = bins(y, p)
        errors.append(float((n / n.sum() * abs(o - s)).sum()))
        f = (o * n + 0.5) / (n + 1)
        v = f * (1 - f) / n
        mean += float((n / n.sum() * np.sqrt(2 * v / math.pi)).sum())
        variance += float(((n / n.sum()) ** 2 * v).sum()) * (1 - 2 / math.pi)
    z = (abs(errors[1] - errors[0]) - mean) / math.sqrt(variance)
    assert found["ece"].change == pytest.approx(errors[1] - errors[0], rel=1e-9)
    assert found["ece"].statistic == pytest.approx(z, rel=1e-9)
    assert found["ece"].pvalue == pytest.approx(stats.norm.sf(z), rel=1e-6)
    reach = mean + math.sqrt(variance) * stats.norm.isf(0.05)
    assert found["ece"].low == pytest.approx(found["ece"].change - reach, rel=1e-9)


def test_the_curve_is_compared_by_chi_square(rows, found):
    (n1, o1, s1), (n2, o2, s2) = (bins(*part) for part in rows)
    gap = (n1 * (o1 - s1) + n2 * (o2 - s2)) / (n1 + n2)
    f1, f2 = np.clip(s1 + gap, 0, 1), np.clip(s2 + gap, 0, 1)
    used = np.minimum(n1 * f1 * (1 - f1), n2 * f2 * (1 - f2)) >= 2
    change = (o2 - s2) - (o1 - s1)
    squares = change**2 / (f1 * (1 - f1) / n1 + f2 * (1 - f2) / n2)
    assert 10 < used.sum() <= 15
    assert found["curve"].statistic == pytest.approx(squares[used].sum(), rel=1e-9)
    expected = stats.chi2.sf(squares[used].sum(), used.sum())
    assert found["curve"].pvalue == pytest.approx(expected, rel=1e-6)


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
        (ScoreTable, ["ece", "auc", "ks", "kuiper", "curve"], {"ece", "ks", "kuiper", "curve"}),
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
        elif change.name != "ece":
            assert change.pvalue == pytest.approx(found[change.name].pvalue, rel=1e-3)
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
        if a.name not in ("ks", "kuiper"):  # whose sigma takes weights as they are
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
            TypeError, "cannot compare a Reliability with a Scores",
        ),
        (3, Scores(), TypeError, "reference must be a Scorecard"),
        (filled(Scores, [1], [0.5]), Intervals((0.9,)), TypeError, "current must be a Scorecard"),
        (filled(Scorecard, [1], [0.5]), Scorecard(), ValueError, "at least one row"),
        (
            filled(Scorecard, [1], [0.5]), filled(lambda: Scorecard(n_bins=3), [1], [0.5]),
            ValueError, "n_bins|bins",
        ),
        (filled(Scores, [1], [0.5]), filled(Scores, [1], [[0.5, 0.5]]), ValueError, "y_proba"),
    ],
)  # fmt: skip
def test_drift_refuses(reference, current, error, message):
    with pytest.raises(error, match=message):
        drift(reference, current)


def test_bad_levels(cards):
    with pytest.raises(ValueError, match="confidence_level"):
        drift(*cards, confidence_level=1.0)


def test_false_alarms_are_as_rare_as_stated():
    """A small window of right probabilities against a large reference: biases would show."""
    reference = filled(Scorecard, *rows_of(20_000, 0))
    runs = [drift(reference, filled(Scorecard, *rows_of(500, 100 + k))) for k in range(60)]
    assert sum(bool(run.drifted) for run in runs) <= 8  # P < 0.01 of more at a rate of 0.05
    for name in ("brier", "ece", "ks", "curve"):
        assert sum(run[name].pvalue <= 0.05 for run in runs) <= 9, name


def test_false_alarms_of_rare_events():
    """A window may miss what is rare, and most of its variance: that of all rows counts, too."""
    rng = np.random.default_rng(0)
    p = rng.beta(0.5, 50, 95_000)
    y = rng.random(p.size) < p
    windows = Windowed(Scorecard, rows=500, keep=None)
    windows.update(y[20_000:], p[20_000:])
    found = drift_by_window(filled(Scorecard, y[:20_000], p[:20_000]), windows)
    assert len(found) == 150
    for name in ("decisiveness", "robustness", "brier", "log", "auc"):
        tested = [run[name].pvalue for run in found.drifts if run[name].pvalue is not None]
        assert len(tested) > 140
        assert sum(pvalue <= 0.05 for pvalue in tested) <= 14, name  # P < 0.01 of more
    alone = [min(c.pvalue * len(run.changes) for c in run if c.pvalue is not None)
             for run in found.drifts]  # fmt: skip
    assert sum(pvalue <= 0.05 for pvalue in alone) <= 14


def test_area_is_compared_by_its_rarer_kind():
    """DeLong's variance falls with the hits, if they are few: so does that of all rows."""
    rng = np.random.default_rng(3)
    sides = []
    for n in (4000, 600):
        p = rng.beta(1, 20, n)
        sides.append((rng.random(n) < p, p))
    change = drift(*(filled(Scorecard, y, p) for y, p in sides))["auc"]
    hits = [float(y.sum()) for y, _ in sides]
    squares = [((e.high - e.low) / 2 / Z) ** 2 for e in (change.reference, change.current)]
    one = sum(n * n * square for n, square in zip(hits, squares, strict=True)) / sum(hits)
    se = max(math.sqrt(sum(squares)), math.sqrt(sum(one / n for n in hits)))
    assert change.statistic == pytest.approx(change.change / se, rel=1e-6)
    swapped = drift(*(filled(Scorecard, ~y, 1 - p) for y, p in sides))["auc"]
    assert swapped.statistic == pytest.approx(change.statistic, rel=1e-3)


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
    """Each multiplies the best bet by 3/2, as docs/drift.md says: 14 of them are an alarm."""
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
    state = test.to_bytes()
    for at in range(0, len(state), 37):
        damaged = bytearray(state)
        damaged[at] ^= 4
        with pytest.raises(ValueError, match=r"."):
            SequentialCalibrationTest.from_bytes(damaged)
    assert json.loads(json.dumps(test.to_dict()))["result"]["n"] == 3
    assert repr(test) == "SequentialCalibrationTest(n=3, alpha=0.01)"


@pytest.mark.parametrize(
    ("y", "p", "message"),
    [
        ([1, 0], [0.5, 1.5], "found 1.5 at row 1"),
        ([1, 2], [0.5, 0.5], "found 2"),
        ([1, 0], [0.5, math.nan], "row 1"),
        ([1], [0.5, 0.5], "y_true"),
        ([1, 0], [[0.5, 0.5]] * 2, r"y_proba must have shape \(n,\)"),
    ],
)
def test_bad_rows_leave_the_test_as_it_was(y, p, message):
    test = SequentialCalibrationTest()
    test.update([1], [0.25])
    before = test.to_bytes()
    with pytest.raises(ValueError, match=message):
        test.update(y, p)
    assert test.to_bytes() == before


def test_weights_and_bad_alphas_are_refused():
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
