"""The assessment of a score table: its intervals hold what the rows themselves give."""

from __future__ import annotations

import itertools
import json
import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from test_score_table import EDGES, SHAPES, STRATEGIES, clustered, table_of

import calibrant
import strategies
from calibrant import streaming
from calibrant.calibration._assessment import number_of_bins

pytestmark = pytest.mark.kernels

NAMES = ("decisiveness", "accuracy", "robustness")


def exact_assessment(y, p, w, n_bins, strategy="quantile"):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # too many bins
        return calibrant.assess(y, p, n_bins=n_bins, strategy=strategy, sample_weight=w)


def assert_holds(y, p, w, n_bins, strategy="quantile"):
    exact = exact_assessment(y, p, w, n_bins, strategy)
    n_bins = number_of_bins(len(y)) if n_bins is None else n_bins
    for whole_cells in (False, True):
        found = table_of(y, p, w, whole_cells=whole_cells).assess(n_bins=n_bins, strategy=strategy)
        assert found.model == exact.model or whole_cells
        for part, name in itertools.product(("source", "divergence"), NAMES):
            bounds = getattr(getattr(found, part), name)
            assert bounds.low <= bounds.value <= bounds.high
            assert getattr(getattr(exact, part), name) in bounds, (part, name)
        for name in NAMES:
            source = getattr(found.source, name)
            assert source.low >= 0.5 * (1 - 2.0**-48)
            assert source.high <= 1
        if math.isnan(exact.angle):
            assert found.model.decisiveness == found.model.robustness
        else:
            assert exact.angle in found.angle
    return found, exact


@settings(max_examples=500)
@given(
    clustered() | strategies.tables(min_rows=1),
    st.none() | st.integers(1, 20) | st.just(EDGES) | st.just(500),
    st.sampled_from(STRATEGIES),
)
def test_the_intervals_hold_the_assessment(table, n_bins, strategy):
    y, p, w = table
    if w is not None and not w.any():
        return
    assert_holds(y, p, w, n_bins, strategy)


def test_almost_all_weight_next_to_0():
    """The mean score of the first bin is 1e-312, and its power -2/3 has no square."""
    p = np.array([0.0, 9.1e-13, 0.0, 0.0, 1.8e-12, 1.8e-12])
    w = np.array([1e300, 0.3, 0.0, 0.3, 0.1, 0.0])
    assert_holds(np.zeros(6, int), p, w, None, "quantile")


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_intervals_hold_the_assessment_of_many_rows(shape, weighted):
    rng = np.random.default_rng(7)
    p = SHAPES[shape](rng, 20_000)
    y = rng.random(p.size) < p**1.2
    w = rng.random(p.size) if weighted else None
    for n_bins in (None, 1, 15, 1000, [0, 0.001, 0.3000005, 0.30000055, 0.9, 1]):
        for strategy in STRATEGIES:
            assert_holds(y, p, w, n_bins, strategy)


@given(st.integers(1, 3), st.integers(0, 2**32))
def test_weights_are_repetitions(most, seed):
    rng = np.random.default_rng(seed)
    p = 0.3 + 1e-6 * rng.random(30)
    y = rng.integers(0, 2, 30)
    w = rng.integers(0, most + 1, 30)
    if not w.any():
        return
    once, repeated = table_of(y, p, w), table_of(np.repeat(y, w), np.repeat(p, w))
    for name in NAMES:
        a = getattr(once.assess(n_bins=4).source, name)
        b = getattr(repeated.assess(n_bins=4).source, name)
        assert (a.value, a.low, a.high) == pytest.approx((b.value, b.low, b.high), rel=2.0**-40)
    assert_holds(y, p, w, 4)


def test_without_doubt_it_is_the_assessment_to_the_bit():
    rng = np.random.default_rng(5)
    p = rng.choice(rng.integers(1, 1000, 300) / 1000, 50_000)  # 0.3 is not 1 - 0.7
    y = rng.random(p.size) < p
    for w, n_bins in itertools.product((None, rng.integers(0, 5, p.size)), (None, 7, EDGES)):
        found, exact = assert_holds(y, p, w, n_bins)
        for part, name in itertools.product(("source", "divergence"), NAMES):
            bounds = getattr(getattr(found, part), name)
            assert bounds.low == bounds.value == bounds.high
            assert bounds.value == getattr(getattr(exact, part), name)
        assert found.angle == streaming.Bounds(exact.angle, exact.angle, exact.angle)
        assert found.verdict == exact.verdict
        assert found.tolerance == pytest.approx(exact.tolerance, rel=1e-9)
        np.testing.assert_array_equal(found.bins.counts, exact.bins.pairs)
        np.testing.assert_array_equal(found.bins.hits, exact.bins.true_weights)
        np.testing.assert_allclose(found.bins.mean_scores, exact.bins.mean_scores, rtol=1e-12)


@pytest.mark.parametrize("score", [0.0, 2.0**-54, 5e-324, 1e-20, 1e-12, 1 - 2.0**-53, 1.0])
def test_scores_at_the_ends(score):
    y, p = [0, 1, 1, 0], [score, score, 0.25, 0.5]
    found, exact = assert_holds(np.array(y), np.array(p), None, 3)
    np.testing.assert_allclose(found.bins.mean_scores, exact.bins.mean_scores, rtol=1e-12)
    assert found.source.accuracy.width == 0


def test_the_model_is_the_risk_profile():
    y, p = strategies.nasty_table(5000)
    w = np.random.default_rng(0).choice([0.0, 1.0, 0.1, 3.0, 1e300], 5000)
    for weights in (None, w):
        expected = calibrant.risk_profile(y, p, sample_weight=weights)
        assert table_of(y, p, weights).assess().model == expected


def test_pairs_whose_share_is_next_to_nothing():
    """Neither the source nor its bounds become 0 because a frequency rounds to 0."""
    y, p = np.array([0, 0, 1, 0]), np.array([0.25, 0.75, 0.25, 0.25])
    w = np.array([1.0, 1.0, 2.0**-1074, 1.0])
    found, exact = assert_holds(y, p, w, 2)
    assert exact.source.robustness > 0.5
    assert found.source.robustness.low > 0.5 * (1 - 2.0**-48)


# The bounds themselves: near the extremes over all that the cell allows


@pytest.mark.parametrize("hits", range(1, 6))
def test_bounds_are_near_the_extremes_of_what_the_cell_allows(hits):
    p = np.concatenate([0.3 + 1e-9 * np.arange(6), np.full(20, 0.1), np.full(20, 0.6)])
    rest = np.concatenate([np.arange(20) < 3, np.arange(20) < 13])
    all_labels = set(itertools.permutations((np.arange(6) < hits).astype(int)))
    table = table_of(np.concatenate([sorted(min(all_labels)), rest]), p, whole_cells=True)
    bins = [0, 0.3 + 2.5e-9, 1]
    found = table.assess(n_bins=bins)
    for name in NAMES:
        values = [
            getattr(exact_assessment(np.concatenate([o, rest]), p, None, bins).source, name)
            for o in all_labels
        ]
        bounds = getattr(found.source, name)
        assert bounds.low <= min(values)
        assert max(values) <= bounds.high
        # The table does not know how many of the six lie left of the cut.
        assert bounds.width < 2.5 * (max(values) - min(values)) + 0.02


def test_typical_width():
    rng = np.random.default_rng(1)
    p = rng.random(1_000_000)
    y = rng.random(p.size) < p**1.3
    found, exact = assert_holds(y, p, None, 100)
    for name in NAMES:
        assert getattr(found.source, name).width < 2e-4
        value = getattr(found.source, name).value
        assert value == pytest.approx(getattr(exact.source, name), abs=2e-6)
    assert found.angle.width < 0.05
    assert found.verdict == exact.verdict


# What it says


def test_a_verdict_that_is_not_certain_says_so():
    rng = np.random.default_rng(2)
    p = 0.3 + 1e-7 * rng.random(2000)
    y = rng.random(p.size) < 0.3
    found, _ = assert_holds(y, p, None, 4)
    assert found.angle.low < 45 < found.angle.high
    assert "; not certain, because this table knows the KS statistic within" in found.verdict


def test_equal_probabilities_have_no_angle():
    found, exact = assert_holds(np.array([0, 1]), np.array([0.5, 0.5]), None, 2)
    assert math.isnan(exact.angle)
    assert math.isnan(found.angle.value)
    assert found.verdict == exact.verdict
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["angle"]["value"] is None


def test_results_are_ready_for_json_and_readable():
    table = table_of([0, 1, 1, 0], [0.1, 0.9, 0.3, 0.3])
    found = table.assess(n_bins=2)
    fields = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert (fields["n"], fields["n_classes"]) == (4, 2)
    assert fields["source"]["accuracy"]["low"] == found.source.accuracy.low
    assert repr(found).startswith("AssessmentBounds of 4 rows, 2 classes, 2 bins\n")
    assert found.warning == exact_assessment([0, 1, 1, 0], [0.1, 0.9, 0.3, 0.3], None, 2).warning


def test_missing_values_count_for_the_number_of_bins():
    rng = np.random.default_rng(0)
    p = rng.integers(1, 1000, 1000) / 1024
    y = rng.integers(0, 2, 1000)
    p[::2] = np.nan
    table = streaming.ScoreTable()
    table.update(y, p, nan_policy="omit")
    found, exact = table.assess(), calibrant.assess(y, p, nan_policy="omit")
    assert len(found.bins) == len(exact.bins) == 20
    assert (found.n, found.n_omitted) == (exact.n, exact.n_omitted) == (500, 500)


# What it rejects


def test_the_largest_of_each_row_does_not_suffice():
    table = table_of([0, 1], [[0.2, 0.8, 0.0], [0.3, 0.7, 0.0]])
    with pytest.raises(ValueError, match=r"shape \(n, 3\) has the largest of each row only"):
        table.assess()


@pytest.mark.parametrize("others", [[[0.2, 0.8, 0.0]], [[0.2, 0.3, 0.1, 0.4]]])
def test_shapes_do_not_mix(others):
    table = table_of([0, 1], [0.2, 0.8])
    before = table.to_bytes()
    with pytest.raises(ValueError, match=r"y_proba must keep its shape: \(n,\) so far, now \(n, "):
        table.update([1], others)
    with pytest.raises(ValueError, match=r"y_proba must keep its shape"):
        table.merge(table_of([1], others))
    assert table.to_bytes() == before
    table.update([], np.empty((0, 3)))
    table.merge(streaming.ScoreTable())
    assert table.to_bytes() == before


def test_nothing_has_no_assessment():
    table = streaming.ScoreTable()
    with pytest.raises(ValueError, match="needs at least one row, got none"):
        table.assess()
    table.update([0], [0.5], sample_weight=[0])
    with pytest.raises(ValueError, match="positive weight, all 1 have weight 0"):
        table.assess()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_bins": 0}, "n_bins must lie in"),
        ({"n_bins": [0.0, 0.5]}, "edges must cover \\[0, 1\\]"),
        ({"strategy": "width"}, "strategy must be 'uniform' or 'quantile', got 'width'"),
    ],
)
def test_bad_arguments(change, message):
    with pytest.raises(ValueError, match=message):
        table_of([0, 1], [0.2, 0.9]).assess(**change)
