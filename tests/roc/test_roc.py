"""ROC: pairs counted one by one, scikit-learn, and the laws."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, strategies as st

import calibrant
import strategies
from calibrant import (
    accuracy_rejection_auc,
    cumulative,
    roc_auc,
    roc_curve,
    set_num_threads,
    streaming,
)  # fmt: skip
from calibrant._core import _testing
from calibrant.config import config
from calibrant.streaming import ScoreTable
from roc_reference import (
    area_by_definition,
    pairs_of,
    rejection_by_definition,
    variance_by_definition,
    won,
)

pytestmark = [pytest.mark.threads, pytest.mark.usefixtures("runtime_restored")]

HALF_ULP = 2.0**-53  # relative, but for the one place in 2^40 that two roundings may cost


def correctly_rounded(found, expected):
    return found == pytest.approx(float(expected), rel=HALF_ULP, abs=0)


def both_kinds(table):
    y, _, weights = table
    weights = np.ones(len(y)) if weights is None else np.asarray(weights, float)
    return all((weights[np.asarray(y) == label] > 0).any() for label in (0, 1))


@given(strategies.tables(min_rows=2).filter(both_kinds))
def test_definition(table):
    y, p, weights = table
    if weights is not None:  # spans that the units of weights hold
        weights = np.round(np.minimum(weights, 1e6) * 1024) / 1024
        if not both_kinds((y, p, weights)):
            return
    found = roc_auc(y, p, sample_weight=weights)
    assert correctly_rounded(found, area_by_definition(y, p, weights))
    curve = roc_curve(y, p, sample_weight=weights)
    assert curve.auc == found
    hits, misses = pairs_of(y, p, weights)
    for t, false, true in zip(curve.thresholds, *rates(curve), strict=True):
        assert true == float(sum(w for s, w in hits if s >= t) / sum(w for _, w in hits))
        assert false == float(sum(w for s, w in misses if s >= t) / sum(w for _, w in misses))


def rates(curve):
    return curve.false_positive_rates, curve.true_positive_rates


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("weighted", [False, True])
def test_standard_error_and_predicted_curve(seed, weighted):
    rng = np.random.default_rng(seed)
    n = 40 + seed
    p = np.round(rng.random(n), 2 if seed % 2 else 17)
    y = rng.random(n) < p
    weights = rng.integers(0, 5, n) if weighted else None
    curve = roc_curve(y, p, sample_weight=weights)
    variance = variance_by_definition(y, p, weights)
    assert curve.auc_standard_error == pytest.approx(math.sqrt(variance), rel=1e-15)
    mass = [
        (Fraction(s), int(w))
        for s, w in zip(p.tolist(), weights if weighted else [1] * n, strict=True)
    ]
    hits, misses = sum(s * w for s, w in mass), sum((1 - s) * w for s, w in mass)
    predicted = curve.predicted_false_positive_rates, curve.predicted_true_positive_rates
    for t, false, true in zip(curve.thresholds, *predicted, strict=True):
        assert true == pytest.approx(float(sum(s * w for s, w in mass if s >= t) / hits), rel=1e-15)
        assert false == pytest.approx(
            float(sum((1 - s) * w for s, w in mass if s >= t) / misses), rel=1e-15
        )
    area = sum(a * s * b * (1 - t) * won(s, t) for s, a in mass for t, b in mass)
    assert curve.predicted_auc == pytest.approx(float(area / hits / misses), rel=1e-15)
    trapezoids = np.trapezoid(predicted[1], predicted[0])
    assert curve.predicted_auc == pytest.approx(trapezoids, rel=1e-13)


def coupled_gaussian(x, mean):
    """The density of Nelson's figures up to a factor: kappa = 0.5, scale 1."""
    return (1 + 0.5 * (x - mean) ** 2) ** (-(1 + 0.5) / (2 * 0.5))


@pytest.mark.parametrize(("model_mean", "sign"), [(2, 0), (1, -1), (3, 1)])
def test_predicted_curve_of_nelsons_figures(model_mean, sign):
    """Figure 3, a perfect model: both curves agree. Figure 4, mean 1 instead of 2: the actual
    curve is better than the predicted one; mean 3 promises too much."""
    rng = np.random.default_rng(1)
    n = 200_000
    y = rng.integers(0, 2, n)
    # Student's t with 1 / kappa = 2 degrees of freedom is the coupled Gaussian of kappa 0.5.
    x = rng.standard_t(2, n) + 2 * y
    ones = coupled_gaussian(x, model_mean)
    curve = roc_curve(y, ones / (ones + coupled_gaussian(x, 0)), max_points=100)
    assert len(curve) <= 100
    gap = (curve.predicted_auc - curve.auc) / curve.auc_standard_error
    assert abs(gap) < 4 if sign == 0 else gap * sign > 10


@given(strategies.tables(min_rows=1))
def test_rejection_by_definition(table):
    y, p, weights = table
    if weights is not None:
        weights = np.round(np.minimum(weights, 1e6) * 1024) / 1024
        if weights.sum() == 0:
            return
    p = np.asarray(p)
    right = np.asarray(y) == (p >= 0.5)
    expected = rejection_by_definition(right, np.maximum(p, 1 - p).tolist(), weights)
    found = accuracy_rejection_auc(y, p, sample_weight=weights)
    assert correctly_rounded(found, expected)


def test_rejection_of_classes_is_mapies_where_nothing_ties():
    auarc = pytest.importorskip("mapie.metrics.uncertainty").auarc
    rng = np.random.default_rng(5)
    p = rng.dirichlet(np.ones(4), 3000)
    y = rng.integers(0, 4, 3000)
    expected = auarc(p.argmax(axis=1) == y, p.max(axis=1))
    assert accuracy_rejection_auc(y, p) == pytest.approx(expected, rel=1e-13)
    # With ties, MAPIE's depends on the order of rows.
    assert auarc([0, 1], [0.5, 0.5]) != auarc([1, 0], [0.5, 0.5])
    assert accuracy_rejection_auc([0, 1], [0.5, 0.5]) == 0.5


SCORES = {
    "smooth": lambda rng, n: rng.random(n),
    "rare": lambda rng, n: rng.beta(0.5, 500, n),
    "near 0 and 1": lambda rng, n: rng.beta(0.1, 0.1, n),
    "few values": lambda rng, n: np.round(rng.random(n), 2),
    "crowded": lambda rng, n: 0.3 + 1e-9 * rng.random(n),
    "two crowds": lambda rng, n: rng.choice([0.25, 0.75], n) + 1e-13 * rng.random(n),
    "one tie": lambda _, n: np.full(n, 0.5),
    "subnormal": lambda rng, n: rng.integers(0, 3 * n, n) * 5e-324,
    "zeros and ones": lambda rng, n: rng.integers(0, 2, n).astype(float),
    "most tied": lambda rng, n: np.where(rng.random(n) < 0.9, 0.125, rng.random(n)),
    "a crowd in the smooth": lambda rng, n: np.where(
        rng.random(n) < 0.04, 0.3 + 1e-12 * rng.random(n), rng.random(n)
    ),
    "sorted": lambda rng, n: np.sort(rng.random(n)),
}


def sample(scores, n):
    rng = np.random.default_rng(3)
    p = SCORES[scores](rng, n)
    ranks = np.argsort(np.argsort(p, kind="stable"), kind="stable")
    y = rng.random(n) < 0.2 + 0.5 * ranks / n
    if scores == "sorted":
        return y, p
    order = rng.permutation(n)
    return y[order], p[order]


def pairs_by_sorting(y, p):
    """Twice the pairs won, and the pairs: integers of any size."""
    values, place = np.unique(p, return_inverse=True)
    hits = np.bincount(place, weights=y, minlength=values.size).astype(np.int64)
    misses = np.bincount(place, minlength=values.size) - hits
    below = np.cumsum(misses) - misses
    return int((hits * (2 * below + misses)).sum()), 2 * int(hits.sum()) * int(misses.sum())


@pytest.mark.parametrize("scores", SCORES)
@pytest.mark.parametrize("n", [300, 60_000, 400_000])
def test_every_kind_of_scores(scores, n):
    y, p = sample(scores, n)
    expected = float(Fraction(*pairs_by_sorting(y, p)))
    found = set()
    for isa in config()["available_isas"]:
        _testing.set_isa(isa)
        for threads in (1, 2, 5) if isa == config()["available_isas"][-1] else (2,):
            set_num_threads(threads)
            found.add(roc_auc(y, p))
    assert found == {expected}
    assert roc_auc(y, p, sample_weight=np.full(n, 0.125)) == expected  # by sorting


@pytest.mark.parametrize("scores", SCORES)
def test_bounds_of_a_table_hold(scores):
    for n in (2, 50, 60_000):
        y, p = sample(scores, n)
        y[:2] = 0, 1
        table = streaming.ScoreTable()
        for half in (slice(None, n // 2), slice(n // 2, None)):
            table.update(y[half], p[half])
        bounds = table.roc_auc()
        assert bounds.low <= bounds.value <= bounds.high
        assert roc_auc(y, p) in bounds
        if scores in ("few values", "one tie", "zeros and ones"):
            assert bounds.low == bounds.high == roc_auc(y, p)
        if scores == "smooth" and n == 60_000:
            assert bounds.width < 2.0**-13


@pytest.mark.parametrize("scores", SCORES)
def test_points_of_a_table_lie_on_the_curve(scores):
    y, p = sample(scores, 20_000)
    table = streaming.ScoreTable()
    table.update(y, p)
    exact, curve = roc_curve(y, p), table.roc_curve()
    place = {threshold: i for i, threshold in enumerate(exact.thresholds)}
    at = [place[threshold] for threshold in curve.thresholds]
    assert (np.diff(at) > 0).all()
    assert np.array_equal(curve.true_positive_rates, exact.true_positive_rates[at])
    assert np.array_equal(curve.false_positive_rates, exact.false_positive_rates[at])
    for name in ("predicted_true_positive_rates", "predicted_false_positive_rates"):
        np.testing.assert_allclose(getattr(curve, name), getattr(exact, name)[at], rtol=4e-16)
    assert curve.auc == table.roc_auc().value
    # Rows of a cell are taken as tied, so they must not be too many.
    if len(curve) > 1000 or len(curve) == len(exact):
        assert curve.auc_standard_error == pytest.approx(exact.auc_standard_error, rel=1e-3)
        assert curve.predicted_auc == pytest.approx(exact.predicted_auc, abs=1e-3, nan_ok=True)
    assert (curve.n, curve.n_omitted) == (exact.n, exact.n_omitted)
    thin = table.roc_curve(max_points=50)
    assert len(thin) <= 50
    assert thin.auc == curve.auc


@given(strategies.tables(min_rows=2).filter(both_kinds))
def test_points_of_a_table_for_nasty_rows(table):
    y, p, weights = table
    accumulator = streaming.ScoreTable()
    accumulator.update(y, p, sample_weight=weights)
    curve = accumulator.roc_curve()
    rows = [
        (Fraction(float(s)), int(hit), Fraction(float(w)))
        for s, hit, w in zip(p, y, np.ones(len(y)) if weights is None else weights, strict=True)
    ]
    for i in range(1, len(curve)):
        from_here = [row for row in rows if row[0] >= Fraction(float(curve.thresholds[i]))]
        for found, wanted in ((curve.true_positive_rates, 1), (curve.false_positive_rates, 0)):
            expected = Fraction(
                sum(w for _, hit, w in from_here if hit == wanted),
                sum(w for _, hit, w in rows if hit == wanted),
            )
            assert float(found[i]) == pytest.approx(float(expected), rel=3e-16)


@given(strategies.tables(min_rows=2).filter(both_kinds))
def test_bounds_of_a_table_hold_for_nasty_rows(table):
    y, p, weights = table
    accumulator = streaming.ScoreTable()
    accumulator.update(y, p, sample_weight=weights)
    bounds = accumulator.roc_auc()
    expected = area_by_definition(y, p, weights)
    slack = Fraction(1, 2**53)  # each end is rounded
    assert Fraction(bounds.low) * (1 - slack) <= expected <= Fraction(bounds.high) * (1 + slack)


@given(strategies.tables(min_rows=2, weighted=False).filter(both_kinds), st.randoms())
def test_laws(table, random):
    y, p, _ = table
    y, p = np.asarray(y), np.asarray(p)
    once = roc_auc(y, p)
    order = list(range(len(y)))
    random.shuffle(order)
    assert roc_auc(y[order], p[order]) == once
    halved = p[p > 1e-300] / 2
    if both_kinds((y[p > 1e-300], halved, None)):
        assert roc_auc(y[p > 1e-300], halved) == roc_auc(y[p > 1e-300], p[p > 1e-300])
    assert roc_auc(1 - y, p) == pytest.approx(1 - once, abs=2.0**-53)
    repeats = np.array([random.randint(1, 3) for _ in order])
    weighted = [f(y, p, sample_weight=repeats) for f in (roc_auc, accuracy_rejection_auc)]
    y, p = np.repeat(y, repeats), np.repeat(p, repeats)
    assert weighted == [roc_auc(y, p), accuracy_rejection_auc(y, p)]


def test_curve_has_the_same_bits_for_weights_order_and_threads():
    y, p = sample("near 0 and 1", 60_000)
    weights = np.random.default_rng(2).integers(0, 3, p.size)
    expected = roc_curve(np.repeat(y, weights), np.repeat(p, weights)).to_dict()
    for threads in (1, 3):
        set_num_threads(threads)
        found = roc_curve(y[::-1], p[::-1], sample_weight=weights[::-1]).to_dict()
        assert {**found, "n": 0} == {**expected, "n": 0}


@pytest.mark.parametrize("max_points", [4, 5, 50, 1000])
def test_thinning_keeps_ends_extremes_and_areas(max_points):
    y, p = sample("smooth", 20_000)
    full, thin = roc_curve(y, p), roc_curve(y, p, max_points=max_points)
    assert max_points / 4 <= len(thin) <= max_points
    assert (thin.auc, thin.auc_standard_error) == (full.auc, full.auc_standard_error)
    points = set(zip(full.thresholds, *rates(full), strict=True))
    assert set(zip(thin.thresholds, *rates(thin), strict=True)) <= points
    for end in (0, -1):
        assert thin.thresholds[end] == full.thresholds[end]
    excess, thin_excess = (np.subtract(*rates(curve)[::-1]) for curve in (full, thin))
    assert (thin_excess.min(), thin_excess.max()) == (excess.min(), excess.max())
    assert roc_curve(y, p, max_points=10**6).to_dict() == full.to_dict()


def test_scikit_learn():
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(8)
    p = np.round(rng.random(5000), 3)
    y = rng.random(5000) < p
    weights = rng.random(5000)
    for w in (None, weights):
        assert roc_auc(y, p, sample_weight=w) == pytest.approx(
            metrics.roc_auc_score(y, p, sample_weight=w), rel=1e-12
        )
        curve = roc_curve(y, p, sample_weight=w)
        false, true, thresholds = metrics.roc_curve(y, p, sample_weight=w, drop_intermediate=False)
        np.testing.assert_allclose(curve.false_positive_rates, false, rtol=1e-12)
        np.testing.assert_allclose(curve.true_positive_rates, true, rtol=1e-12)
        np.testing.assert_array_equal(curve.thresholds, thresholds)
    p = rng.dirichlet(np.ones(4), 2000)
    y = np.array([rng.choice(4, p=row) for row in p])
    for w in (None, weights[:2000]):
        for average in ("macro", "weighted", None):
            expected = metrics.roc_auc_score(
                y, p, average=average, multi_class="ovr", sample_weight=w
            )
            found = roc_auc(y, p, average=average, sample_weight=w)
            np.testing.assert_allclose(found, expected, rtol=1e-12)
    one = roc_curve(y, p, of_class=2)
    assert one.auc == roc_auc(y, p, average=None)[2] == roc_auc(y == 2, p[:, 2])


def test_names_missing_values_and_forms():
    y, p = ["no", "yes", "yes", "no"], [0.2, 0.7, np.nan, 0.7]
    assert roc_auc(y, p, pos_label="yes", nan_policy="omit") == 0.75
    curve = roc_curve(y, p, labels=["no", "yes"], nan_policy="omit")
    assert (curve.n, curve.n_omitted, curve.auc) == (3, 1, 0.75)
    assert math.isnan(curve.auc_standard_error)
    assert curve.to_dict()["auc_standard_error"] is None
    assert curve.to_dict()["thresholds"] == [None, 0.7, 0.2]
    assert roc_auc([0, 1], np.array([-0.0, 0.0])) == 0.5
    certain = roc_curve([0, 1], [1.0, 1.0])
    assert math.isnan(certain.predicted_auc)
    assert np.isnan(certain.predicted_true_positive_rates).all()
    assert cumulative.roc_auc is calibrant.roc_auc


def test_areas_that_are_not_defined():
    for function in (roc_auc, roc_curve):
        with pytest.raises(ValueError, match=r"not defined: .* no negative has a positive weight"):
            function([1, 1], [0.1, 0.2])
        with pytest.raises(ValueError, match=r"not defined: .* no positive has a positive weight"):
            function([0, 1], [0.1, 0.2], sample_weight=[1, 0])
        with pytest.raises(ValueError, match="needs at least one row, got none"):
            function([], [])
    with pytest.raises(ValueError, match=r"no positive .* \(class 1 against the rest\)"):
        roc_auc([0, 2], [[0.5, 0.2, 0.3], [0.1, 0.2, 0.7]])
    with pytest.raises(ValueError, match="accuracy-rejection curve needs at least one row"):
        accuracy_rejection_auc([], [])
    table = streaming.ScoreTable()
    table.update([1], [0.5])
    with pytest.raises(ValueError, match=r"not defined: .* no negative"):
        table.roc_auc()


def test_bad_choices():
    with pytest.raises(ValueError, match="average must be 'macro', 'weighted' or None, got 'mic"):
        roc_auc([0, 1], [0.1, 0.2], average="micro")
    with pytest.raises(ValueError, match=r"multi_class must be 'ovr' or 'top_label', got 'ovo'"):
        roc_auc([0, 1], [0.1, 0.2], multi_class="ovo")
    with pytest.raises(ValueError, match="max_points must be at least 4, got 3"):
        roc_curve([0, 1], [0.1, 0.2], max_points=3)
    with pytest.raises(ValueError, match=r"of_class is for y_proba of shape \(n, k\)"):
        roc_curve([0, 1], [0.1, 0.2], of_class=1)
    for of_class in (None, 3, -1):
        with pytest.raises(ValueError, match=f"0 to 2, got {of_class}"):
            roc_curve([0, 1], [[0.1, 0.9, 0.0], [0.2, 0.8, 0.0]], of_class=of_class)


@pytest.mark.parametrize("scale", [2.0**-1000, 2.0**-60, 2.0**60, 2.0**1015])
def test_standard_error_of_extreme_weights(scale):
    y, p = [0, 1, 1, 0, 1, 0], [0.1, 0.5, 0.4, 0.45, 0.9, 0.2]
    w = np.array([3.0, 5.0, 7.0, 3.0, 4.0, 2.0])
    # Of a kind, the variance of the shares won, over its rows less one.
    variance = Fraction(0)
    for kind in (1, 0):
        mine = [(s, Fraction(k)) for label, s, k in zip(y, p, w, strict=True) if label == kind]
        others = [(s, Fraction(k)) for label, s, k in zip(y, p, w, strict=True) if label != kind]
        weight, other = (sum(k for _, k in rows) for rows in (mine, others))
        won = [(sum(k for t, k in others if (s > t) == (kind == 1)) / other, k) for s, k in mine]
        area = sum(v * k for v, k in won) / weight
        free = weight * Fraction(scale) - 1
        if free > 0:
            variance += sum(k * (v - area) ** 2 for v, k in won) / weight / free
    table = ScoreTable()
    table.update(y, p, sample_weight=w * scale)
    for found in (calibrant.roc_curve(y, p, sample_weight=w * scale), table.roc_curve()):
        if not variance:  # no kind has more than one row
            assert math.isnan(found.auc_standard_error)
            continue
        with mpmath.workdps(30):
            expected = mpmath.sqrt(mpmath.mpf(variance.numerator) / variance.denominator)
        assert found.auc_standard_error == pytest.approx(float(expected), rel=1e-14, abs=0)


def test_standard_error_of_weights_far_apart():
    y, p = [0, 1, 1, 0, 1, 0], [0.1, 0.5, 0.4, 0.45, 0.9, 0.2]
    for w in ([1e308, 1.5e308, 1.7e308, 1e308, 1.1e308, 1e308], [1e-300, 1e308, 5, 1e308, 3, 2]):
        found = calibrant.roc_curve(y, p, sample_weight=w).auc_standard_error
        assert 0 <= found < 1e-150
