"""Bins, reliability tables and calibration errors, against definitions in fractions."""

from __future__ import annotations

import json
import math
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

import calibrant
import reference
import strategies
from calibrant import _core, streaming

pytestmark = pytest.mark.threads

N_BINS = st.integers(1, 12)
STRATEGIES = ("uniform", "quantile")
#: Scores as classifiers give them: ties, clusters near 0, saturated, a single value.
SHAPES = {
    "smooth": lambda rng, n: rng.random(n),
    "rounded": lambda rng, n: np.round(rng.random(n), 1),
    "saturated": lambda rng, n: rng.choice([0.0, 0.25, 1.0], n, p=[0.4, 0.1, 0.5]),
    "near 0": lambda rng, n: rng.random(n) ** 30,
    "subnormal": lambda rng, n: rng.random(n) * 2.0**-1060,
    "one value": lambda _, n: np.full(n, 0.7),
    "ones": lambda _, n: np.ones(n),
}


def edges_of(y, p, n_bins, w=None):
    return _core.equal_count_edges(y, p, w, False, _core.EITHER, n_bins)


@given(strategies.tables(min_rows=1, weighted=False), N_BINS)
def test_equal_count_edges_are_those_of_the_definition(table, n_bins):
    y, p, _ = table
    assert edges_of(y, p, n_bins) == reference.equal_count_edges(p, n_bins)


@given(strategies.tables(min_rows=1, weighted=False), N_BINS, st.data())
def test_weights_move_edges_as_repetitions_do(table, n_bins, data):
    y, p, _ = table
    k = np.array(data.draw(st.lists(st.integers(0, 5), min_size=len(p), max_size=len(p))))
    if k.sum() == 0:
        return
    repeated = edges_of(np.repeat(y, k), np.repeat(p, k), n_bins)
    assert edges_of(y, p, n_bins, k) == repeated
    assert edges_of(y, p, n_bins, k * 2.0**-1030) == repeated
    assert repeated == reference.equal_count_edges(p, n_bins, [int(w) for w in k])


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("n_bins", [1, 7, 50])
def test_bins_of_many_rows(shape, n_bins):
    rng = np.random.default_rng(5)
    p = SHAPES[shape](rng, 200_000)
    y = rng.random(p.size) < p
    edges = np.array(edges_of(y, p, n_bins))
    ordered = np.sort(p)
    for k in range(1, n_bins):
        last = ordered[-(-k * p.size // n_bins) - 1]
        following = np.searchsorted(ordered, last, side="right")
        assert edges[k] == (ordered[following] if following < p.size else 1.0)
    bins = calibrant.reliability_bins(y, p, n_bins=n_bins, strategy="quantile")
    found = np.clip(np.searchsorted(edges, p, side="right") - 1, 0, n_bins - 1)
    np.testing.assert_array_equal(bins.counts, np.bincount(found, minlength=n_bins))
    np.testing.assert_array_equal(bins.hits, np.bincount(found, weights=y, minlength=n_bins))
    assert bins.counts.sum() == bins.n == p.size


def test_ties_are_never_split_and_rows_may_come_in_any_order():
    rng = np.random.default_rng(3)
    p = rng.choice([0.1, 0.2, 0.3, 0.9], 1000, p=[0.5, 0.2, 0.2, 0.1])
    y = np.sort(rng.integers(0, 2, 1000))
    order = rng.permutation(1000)
    assert edges_of(y, p, 10) == edges_of(y[order], p[order], 10)
    bins = calibrant.reliability_bins(y, p, n_bins=10, strategy="quantile")
    assert sorted(bins.counts[bins.counts > 0]) == sorted(np.unique(p, return_counts=True)[1])
    assert len(bins) == 10


@pytest.mark.parametrize("n_bins", [1, 3, 10, 49, 1000])
def test_equal_width_edges_and_the_scores_on_them(n_bins):
    edges = np.array(_core.equal_width_edges(n_bins))
    np.testing.assert_array_equal(edges, np.arange(n_bins + 1) / n_bins)
    bins = calibrant.reliability_bins(np.zeros(n_bins + 1, int), edges, n_bins=n_bins)
    expected = np.ones(n_bins)
    expected[-1] = 2  # the last bin holds its right edge
    np.testing.assert_array_equal(bins.counts, expected)


def rounded(x):
    """The nearest float, or inf: three weights of 1e308 have no finite sum."""
    return math.inf if x > sys.float_info.max else float(x)


@given(strategies.tables(min_rows=1), N_BINS, st.sampled_from(STRATEGIES))
def test_table_is_exact(table, n_bins, strategy):
    y, p, w = table
    if w is not None and not w.any():
        return
    bins = calibrant.reliability_bins(y, p, n_bins=n_bins, strategy=strategy, sample_weight=w)
    expected = reference.reliability(y, p, bins.edges, w)
    for k, (n, weight, hits, scores) in enumerate(expected):
        assert bins.counts[k] == n
        assert bins.weights[k] == rounded(weight)
        assert bins.hits[k] == rounded(hits)
        if weight == 0:
            assert math.isnan(bins.mean_scores[k])
            assert math.isnan(bins.frequencies[k])
        else:
            assert bins.mean_scores[k] == pytest.approx(float(scores / weight), rel=4e-16, abs=0)
            assert bins.frequencies[k] == pytest.approx(float(hits / weight), rel=4e-16, abs=0)


@given(
    strategies.tables(min_rows=1),
    N_BINS,
    st.sampled_from(STRATEGIES),
    st.sampled_from([(1, False), (2, False), (2, True), ("max", False)]),
)
def test_errors_are_those_of_the_definition(table, n_bins, strategy, norm_debias):
    y, p, w = table
    if w is not None and not w.any():
        return
    norm, debias = norm_debias
    options = {"n_bins": n_bins, "strategy": strategy, "sample_weight": w}
    found = calibrant.expected_calibration_error(y, p, norm=norm, debias=debias, **options)
    bins = calibrant.reliability_bins(y, p, **options)
    table = reference.reliability(y, p, bins.edges, w)
    # Squares of gaps near 1e-16 lose half their digits in a double.
    tolerance = {"rel": 4e-16, "abs": 0} if norm in (1, "max") else {"rel": 1e-12, "abs": 1e-15}
    assert found == pytest.approx(
        float(reference.calibration_error(table, norm, debias)), **tolerance
    )
    if norm == "max":
        assert found == calibrant.maximum_calibration_error(y, p, **options)


def test_perfect_and_worst():
    y = [0, 1, 1, 0]
    assert calibrant.expected_calibration_error(y, [0.0, 1.0, 1.0, 0.0]) == 0.0
    assert calibrant.expected_calibration_error(y, [1.0, 0.0, 0.0, 1.0]) == 1.0


def test_debiased_error_of_repeated_rows_is_that_of_weights():
    rng = np.random.default_rng(4)
    p = rng.random(300)
    y = (rng.random(300) < p).astype(int)
    counts = rng.integers(0, 4, 300)
    weighted = calibrant.expected_calibration_error(y, p, norm=2, debias=True, sample_weight=counts)
    y, p = np.repeat(y, counts), np.repeat(p, counts)
    assert weighted == calibrant.expected_calibration_error(y, p, norm=2, debias=True)


def test_debiased_error_of_perfect_probabilities_is_smaller():
    rng = np.random.default_rng(11)
    p = rng.random(20_000)
    y = rng.random(p.size) < p
    plain = calibrant.expected_calibration_error(y, p, norm=2, n_bins=200)
    debiased = calibrant.expected_calibration_error(y, p, norm=2, n_bins=200, debias=True)
    # The noise of a bin of 100 rows, averaged over p: root of E[p (1 - p)] / 100 = 0.041.
    assert plain == pytest.approx(0.041, rel=0.15)
    assert debiased < 0.5 * plain


@given(strategies.tables(n_classes=3, min_rows=1, weighted=False), N_BINS)
def test_top_label_is_the_binary_error_of_the_confidence(table, n_bins):
    y, p, _ = table
    top = p.argmax(axis=1)
    confidence = p[np.arange(len(p)), top]
    expected = calibrant.expected_calibration_error(y == top, confidence, n_bins=n_bins)
    assert calibrant.top_label_ece(y, p, n_bins=n_bins, average="pooled") == expected


# By predicted label


LABELLED = st.sampled_from(("macro", "weighted"))


@given(strategies.tables(n_classes=3, min_rows=1), N_BINS, st.sampled_from(STRATEGIES), LABELLED)
def test_errors_by_predicted_label_are_those_of_the_definition(table, n_bins, strategy, average):
    y, p, w = table
    if w is not None and not w.any():
        return
    if w is not None and np.ptp(np.frexp(w[w > 0])[1]) > 20:
        return  # equal counts may then be of rounded weights
    bins = [k / n_bins for k in range(n_bins + 1)]
    if strategy == "quantile":

        def bins(scores, weights):
            return reference.equal_count_edges(scores, n_bins, weights)

    options = {"n_bins": n_bins, "strategy": strategy, "sample_weight": w}
    listed = None if w is None else w.tolist()
    for norm in (1, 2, "max"):
        found = calibrant.top_label_ece(y, p, average=average, norm=norm, **options)
        true = float(reference.top_label_error(y, p, bins, average, norm, listed))
        assert found == pytest.approx(true, rel=1e-14, abs=2.0**-511)


@pytest.mark.parametrize("average", ["macro", "weighted"])
@pytest.mark.parametrize("strategy", ["uniform", "quantile", "kmeans"])
def test_errors_by_predicted_label_have_one_value(average, strategy):
    rng = np.random.default_rng(3)
    p = rng.dirichlet([1.0, 2.0, 0.5, 0.01], 60_000)
    p[::3] = np.round(p[::3], 2)
    y, k = rng.integers(0, 4, len(p)), rng.integers(0, 3, len(p))

    def error(y, p, **options):
        return calibrant.top_label_ece(
            y, p, average=average, strategy=strategy, n_bins=7, **options
        )

    if strategy == "kmeans":
        p, y, k = p[:3000], y[:3000], k[:3000]
    order = rng.permutation(len(p))
    found = error(y, p)
    assert found == error(y[order], p[order])
    assert found == error(y, np.asfortranarray(p)) == error(y, p, nan_policy="omit")
    assert found == error(y, p, sample_weight=np.ones(len(p)))
    assert error(y, p, sample_weight=k) == error(np.repeat(y, k), np.repeat(p, k, axis=0))
    threads = calibrant.get_num_threads()
    try:
        calibrant.set_num_threads(1 if threads > 1 else 2)
        assert found == error(y, p)
    finally:
        calibrant.set_num_threads(0)
    missing = p.copy()
    missing[5, 1] = np.nan
    assert error(y, missing, nan_policy="omit") == error(np.delete(y, 5), np.delete(p, 5, axis=0))
    single = p.astype(np.float32)
    assert error(y, single) == error(y, single.astype(float))


def test_a_label_that_is_never_predicted_does_not_count():
    y, p = [0, 2, 1], [[0.75, 0.25, 0.0], [0.75, 0.25, 0.0], [0.0, 0.5, 0.5]]
    # Label 0: |1/2 - 3/4| over two rows; label 1, the first of equals: |1 - 1/2|; label 2: never.
    assert calibrant.top_label_ece(y, p, n_bins=1) == (0.25 + 0.5) / 2
    assert calibrant.top_label_ece(y, p, n_bins=1, average="weighted") == (2 * 0.25 + 0.5) / 3
    assert calibrant.top_label_ece(y, p, n_bins=1, average="pooled") == 0.0
    weights = [1.0, 1.0, 0.0]  # and so with a label whose rows have no weight
    assert calibrant.top_label_ece(y, p, n_bins=1, sample_weight=weights) == 0.25


def test_top_label_errors_are_rejected_without_rows_or_weight():
    for average in ("macro", "weighted", "pooled"):
        with pytest.raises(ValueError, match="needs at least one row, got none"):
            calibrant.top_label_ece([], np.empty((0, 2)), average=average)
        with pytest.raises(ValueError, match="all 1 have weight 0"):
            calibrant.top_label_ece([1], [[0.5, 0.5]], average=average, sample_weight=[0])
    with pytest.raises(
        ValueError, match="average must be 'macro', 'weighted' or 'pooled', got 'micro'"
    ):
        calibrant.top_label_ece([1], [[0.5, 0.5]], average="micro")


def test_macro_is_what_mapie_computes_where_its_bins_are_ours():
    peer = pytest.importorskip("mapie.metrics.calibration")
    rng = np.random.default_rng(8)
    p = rng.dirichlet(np.full(5, 0.7), 4000)
    y = rng.integers(0, 5, len(p))
    # MAPIE's num_bins are edges: one bin fewer, (a, b], which differs on edges alone.
    for n_bins in (2, 10, 49):
        expected = peer.top_label_ece(y, p, num_bins=n_bins + 1)
        assert calibrant.top_label_ece(y, p, n_bins=n_bins) == pytest.approx(expected, rel=1e-12)


# Clusters


@given(strategies.tables(min_rows=1, max_rows=12, weighted=False), st.integers(1, 5), st.data())
def test_clusters_have_the_least_sum_of_squares(table, n_bins, data):
    y, p, _ = table
    p = np.round(p, 3)
    w = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(p), max_size=len(p))))
    if not w.any():
        return
    edges = _core.clustered_edges(y, p, w, False, _core.BINARY, n_bins)
    assert (edges[0], edges[-1], len(edges)) == (0.0, 1.0, n_bins + 1)
    cost = Fraction(0)
    for _, total, _, scores in reference.reliability(y, p, edges, w.tolist()):
        cost -= scores**2 / total if total else 0
    cost += sum(int(k) * Fraction(float(s)) ** 2 for s, k in zip(p, w, strict=True))
    least = reference.clusters(p, n_bins, w.tolist())
    assert cost >= least
    assert float(cost) == pytest.approx(float(least), rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("shape", SHAPES)
def test_clusters_do_not_depend_on_the_order_of_rows_or_on_repetition(shape):
    rng = np.random.default_rng(6)
    p = SHAPES[shape](rng, 2000)
    y, k = rng.integers(0, 2, p.size), rng.integers(0, 3, p.size)

    def edges(y, p, w=None):
        return _core.clustered_edges(y, p, w, False, _core.BINARY, 9)

    order = rng.permutation(p.size)
    assert edges(y, p) == edges(y[order], p[order]) == edges(1 - y, p)
    assert edges(y, p, k) == edges(np.repeat(y, k), np.repeat(p, k))
    bins = calibrant.reliability_bins(y, p, n_bins=9, strategy="kmeans")
    assert bins.edges.tolist() == edges(y, p)
    distinct = np.unique(p)
    assert (bins.counts > 0).sum() == min(9, distinct.size)


def test_clusters_are_those_of_scikit_learn():
    cluster = pytest.importorskip("sklearn.cluster")
    rng = np.random.default_rng(7)
    p = np.concatenate([rng.normal(c, 0.02, 100) for c in (0.1, 0.3, 0.55, 0.9)]).clip(0, 1)
    y = rng.integers(0, 2, p.size)
    bins = calibrant.reliability_bins(y, p, n_bins=4, strategy="kmeans")
    theirs = cluster.KMeans(4, n_init=10, random_state=0).fit(p[:, None])
    assert bins.mean_scores == pytest.approx(np.sort(theirs.cluster_centers_.ravel()), rel=1e-12)
    # Near 1 clusters are told apart as they are near 0.
    near = calibrant.reliability_bins(y, 1 - p * 2.0**-30, n_bins=4, strategy="kmeans")
    assert near.counts.tolist() == bins.counts.tolist()[::-1]


def test_clusters_serve_every_function_with_bins():
    rng = np.random.default_rng(9)
    p = rng.dirichlet(np.ones(3), 4000)
    y = rng.integers(0, 3, 4000)
    binary, score = (y == 0).astype(int), p[:, 0]
    edges = _core.clustered_edges(binary, score, None, False, _core.BINARY, 5)
    for function in (calibrant.expected_calibration_error, calibrant.brier_decomposition):
        found = function(binary, score, n_bins=5, strategy="kmeans")
        assert found == function(binary, score, n_bins=edges)
    each = calibrant.classwise_ece(y, p, n_bins=5, strategy="kmeans", average=False)
    assert each[0] == calibrant.expected_calibration_error(binary, score, n_bins=edges)
    found = calibrant.assess(y, p, n_bins=5, strategy="kmeans", per_class=True)
    assert found.bins.left[:5].tolist() == edges[:-1]
    many = rng.random(70_000)
    with pytest.raises(ValueError, match=r"distinct scores to be at most 2\^26, got"):
        calibrant.reliability_bins(many < 0.5, many, n_bins=1000, strategy="kmeans")
    table = streaming.ScoreTable()
    table.update(binary, score)
    with pytest.raises(ValueError, match="strategy must be 'uniform' or 'quantile', got 'kmeans'"):
        table.reliability_bins(strategy="kmeans")


@pytest.mark.parametrize("width", [2, 3, 4, 5, 7, 8, 9, 16, 33])
def test_top_labels_of_any_width_and_layout(width):
    rng = np.random.default_rng(width)
    p = rng.integers(0, 5, (1000, width)) / 4  # many ties, exact in float32
    p[p == 0] = -0.0
    y = rng.integers(0, width, 1000)
    top = p.argmax(axis=1)
    expected = calibrant.reliability_bins(y == top, p.max(axis=1), n_bins=7).to_dict()
    wider = np.zeros((2000, width + 3))
    wider[::2, 1:-2] = p
    layouts = [p, p.astype("f4"), p.astype("f2"), np.asfortranarray(p), wider[::2, 1:-2]]
    for layout in [*layouts, p.astype(">f8"), p.tolist()]:
        found = calibrant.reliability_bins(y, layout, n_bins=7, multi_class="top_label")
        assert found.to_dict() == expected
    omitting = calibrant.reliability_bins(
        y, p, n_bins=7, multi_class="top_label", nan_policy="omit"
    )
    assert omitting.to_dict() == expected


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2"])
@pytest.mark.parametrize("bad", [-0.25, 1.25, np.nan, np.inf, -np.inf])
def test_every_value_of_a_row_is_checked(dtype, bad):
    for width in (2, 3, 4, 7, 10):
        for column in range(width):
            p = np.full((50, width), 0.5, dtype)
            p[33, column] = bad
            message = f"y_proba .* row 33, column {column}"
            for function in (calibrant.top_label_ece, calibrant.classwise_ece):
                with pytest.raises(ValueError, match=message):
                    function(np.zeros(50, int), p)


@given(strategies.tables(n_classes=3, min_rows=1, weighted=False), st.sampled_from(STRATEGIES))
def test_classwise_is_the_binary_error_of_each_class(table, strategy):
    y, p, _ = table
    each = [
        calibrant.expected_calibration_error(y == j, p[:, j], n_bins=5, strategy=strategy)
        for j in range(3)
    ]
    found = calibrant.classwise_ece(y, p, n_bins=5, strategy=strategy, average=False)
    np.testing.assert_array_equal(found, each)
    assert calibrant.classwise_ece(y, p, n_bins=5, strategy=strategy) == np.mean(each)
    indicators = (y[:, None] == np.arange(3)).astype(int)
    multilabel = calibrant.classwise_ece(indicators, p, n_bins=5, strategy=strategy, average=False)
    np.testing.assert_array_equal(multilabel, each)
    lists = calibrant.classwise_ece(indicators.tolist(), p, n_bins=5, strategy=strategy)
    assert lists == np.mean(each)


def test_accumulator_gives_the_table_of_the_function():
    rng = np.random.default_rng(2)
    p = rng.random(3000)
    y = rng.random(3000) < p
    table = streaming.Reliability(n_bins=10)
    for part in np.array_split(np.arange(3000), 7):
        table.update(y[part], p[part])
    bins = calibrant.reliability_bins(y, p, n_bins=10)
    assert repr(table.result()) == repr(bins)
    error = calibrant.expected_calibration_error(y, p, n_bins=10)
    assert table.expected_calibration_error() == error
    assert streaming.Reliability.from_bytes(table.to_bytes()) == table
    assert repr(table) == "streaming.Reliability(n=3000, n_bins=10)"


def test_merging_needs_equal_edges():
    with pytest.raises(ValueError, match="2 bins into one with 3: both need the same edges"):
        streaming.Reliability(n_bins=3).merge(streaming.Reliability(n_bins=2))


def test_missing_values_are_rejected_or_counted():
    y, p = [0, 1, 1], [0.1, np.nan, 0.8]
    with pytest.raises(ValueError, match="y_proba has a missing value"):
        calibrant.reliability_bins(y, p)
    bins = calibrant.reliability_bins(y, p, n_bins=2, nan_policy="omit", strategy="quantile")
    assert (bins.n, bins.n_omitted) == (2, 1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_bins": 0}, "n_bins must lie in"),
        ({"n_bins": [0.0, 0.5]}, "edges must cover \\[0, 1\\]"),
        ({"n_bins": [0.0, 0.7, 0.5, 1.0]}, "edges must not fall, found 0.5 after 0.7"),
        ({"n_bins": [0.0, np.nan, 1.0]}, "edges must be finite"),
        ({"strategy": "width"}, "strategy must be 'uniform', 'quantile' or 'kmeans', got 'width'"),
        ({"norm": 3}, "norm must be 1, 2 or 'max', got 3"),
        ({"norm": 1, "debias": True}, "debias needs norm=2"),
        ({"y_proba": [[0.5, 0.5, 0.0]] * 2}, "use top_label_ece or classwise_ece"),
        ({"y_true": [0, 2]}, "y_true must be 0 or 1, found 2 at row 1"),
        ({"y_proba": [0.5, 1.5]}, "y_proba must lie in \\[0, 1\\], found 1.5 at row 1"),
        ({"y_true": [], "y_proba": []}, "at least one row"),
        ({"sample_weight": [0, 0]}, "positive weight"),
    ],
)
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_bad_input(change, message, strategy):
    arguments = {"y_true": [0, 1], "y_proba": [0.2, 0.9], "strategy": strategy, **change}
    with pytest.raises(ValueError, match=message):
        calibrant.expected_calibration_error(**arguments)


@pytest.mark.parametrize("norm", [2, 2.0, np.int8(2), np.float32(2), np.array(2)])
def test_a_norm_of_any_number(norm):
    y, p = [0, 1, 2, 1], [[0.5, 0.3, 0.2], [0.2, 0.5, 0.3], [0.1, 0.4, 0.5], [0.6, 0.2, 0.2]]
    table = streaming.Reliability()
    table.update([0, 1], [0.25, 0.5])
    for error in (
        lambda norm: calibrant.expected_calibration_error([0, 1], [0.25, 0.5], norm=norm),
        lambda norm: calibrant.top_label_ece(y, p, norm=norm),
        lambda norm: calibrant.top_label_ece(y, p, norm=norm, average="pooled"),
        lambda norm: calibrant.classwise_ece(y, p, norm=norm),
        lambda norm: table.expected_calibration_error(norm=norm),
    ):
        assert error(norm) == error(2)


def test_results_are_ready_for_json():
    bins = calibrant.reliability_bins([0, 1], [0.1, 0.9], n_bins=3)
    plain = json.loads(json.dumps(bins.to_dict(), allow_nan=False))
    assert plain["counts"] == [1, 0, 1]
    assert plain["frequencies"] == [0.0, None, 1.0]
    assert "more bins" in repr(calibrant.reliability_bins([0, 1], [0.1, 0.9], n_bins=100))


def test_scikit_learn_agrees_away_from_the_edges():
    calibration = pytest.importorskip("sklearn.calibration")
    rng = np.random.default_rng(4)
    p = rng.random(5000)
    y = (rng.random(5000) < p).astype(int)
    frequencies, scores = calibration.calibration_curve(y, p, n_bins=10)
    bins = calibrant.reliability_bins(y, p, n_bins=10)
    np.testing.assert_allclose(bins.frequencies, frequencies, rtol=1e-13)
    np.testing.assert_allclose(bins.mean_scores, scores, rtol=1e-13)


@given(strategies.tables(min_rows=1))
def test_mean_calibration_error_is_that_of_the_definition(table):
    y, p, w = table
    weights = [Fraction(1)] * len(p) if w is None else [Fraction(float(x)) for x in w]
    if sum(weights) == 0:
        with pytest.raises(ValueError, match="needs a row with positive weight"):
            calibrant.mean_calibration_error(y, p, sample_weight=w)
        return
    rows = zip(weights, p, y, strict=True)
    true = sum(x * (Fraction(float(score)) - int(hit)) for x, score, hit in rows) / sum(weights)
    found = calibrant.mean_calibration_error(y, p, sample_weight=w)
    assert abs(Fraction(found) - true) <= Fraction(math.ulp(float(true)))
    ece = calibrant.expected_calibration_error(y, p, n_bins=5, sample_weight=w)
    assert abs(found) <= ece


def test_mean_calibration_error_of_labels_classes_and_missing_rows():
    rng = np.random.default_rng(8)
    p = rng.dirichlet([0.4] * 3, 5000)
    y = rng.integers(0, 3, 5000)
    found = calibrant.mean_calibration_error(y, p)
    assert found == pytest.approx(p.max(axis=1).mean() - (p.argmax(axis=1) == y).mean(), rel=1e-9)
    order = rng.permutation(5000)
    assert calibrant.mean_calibration_error(y[order], p[order]) == found
    repeats = rng.integers(0, 4, 5000)
    repeated = calibrant.mean_calibration_error(
        np.repeat(y, repeats), np.repeat(p, repeats, axis=0)
    )
    assert calibrant.mean_calibration_error(y, p, sample_weight=repeats) == repeated

    words, scores = ["no", "yes", "yes"], [0.25, 0.5, math.nan]
    found = calibrant.mean_calibration_error(words, scores, pos_label="yes", nan_policy="omit")
    assert found == -0.125
    assert math.copysign(1.0, calibrant.mean_calibration_error([0, 1], [0.5, 0.5])) == 1.0
    with pytest.raises(ValueError, match="needs at least one row"):
        calibrant.mean_calibration_error([], [])
