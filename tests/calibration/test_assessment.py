"""The model against the source."""

from __future__ import annotations

import itertools
import json
import math
import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import calibrant
import reference
import strategies
from calibrant import assess, streaming

pytestmark = [
    pytest.mark.threads,
    pytest.mark.filterwarnings("ignore:.* bins are too many for .* rows"),
]

SOURCES = ("bins", "bayes", "isotonic", "knn", "kernel")
HALVES = [0.0, 0.5, 1.0]


def profile(result):
    return [result.decisiveness, result.accuracy, result.robustness]


# Worked examples


FIVE = [0, 0, 0, 1, 1]


def five(h):
    return 1 - np.array([h, h, h, 1 - h, h])


@pytest.mark.parametrize(
    ("h", "model", "angle", "divergence"),
    [
        (0.8, (0.68, 0.606286626604, 0.537266023217), 45.0, 1.0),
        (0.9, (0.74, 0.579954613480, 0.418778452967), 66.0421516653, 0.956568375469),
        (0.6, (0.56, 0.553264746889, 0.548174714352), 4.73604918328, 0.912546512840),
    ],
)
@pytest.mark.parametrize("columns", [1, 2])
def test_five_events(h, model, angle, divergence, columns):
    p = five(h) if columns == 1 else np.stack([1 - five(h), five(h)], axis=1)
    found = assess(FIVE, p, n_bins=HALVES)
    assert profile(found.model) == pytest.approx(model, abs=2e-12)
    assert profile(found.source) == pytest.approx((0.68, 0.606286626604, 0.537266023217), abs=2e-12)
    assert found.angle == pytest.approx(angle, abs=1e-9)
    assert found.divergence.accuracy == pytest.approx(divergence, abs=2e-12)
    assert found.bins.pairs.tolist() == [5, 5]
    assert found.bins.true_pairs.tolist() == [1, 4]
    assert found.bins.frequencies.tolist() == [0.2, 0.8]
    assert (found.n, found.n_classes) == (5, 2)


def test_contributions_of_five_events():
    found = assess(FIVE, five(0.8), n_bins=HALVES)
    assert found.bins.contributions == pytest.approx([-0.321887582487, -0.178514841051], abs=2e-12)


FOUR = np.array([[0.9, 0.1], [0.6, 0.4], [0.4, 0.6], [0.55, 0.45]])


def test_divergence_may_exceed_one_where_scores_differ_inside_a_bin():
    found = assess([0, 0, 1, 1], FOUR, n_bins=HALVES)
    assert profile(found.model) == pytest.approx(
        (0.6375, 0.617930143172, 0.605770633035), abs=2e-12
    )
    assert profile(found.source) == pytest.approx(
        (0.625, 0.569876764239, 0.524016464761), abs=2e-12
    )
    assert found.divergence.accuracy == pytest.approx(1.08432240433, abs=2e-11)
    assert binned_divergence(found) == pytest.approx(0.982147931999, abs=2e-12)


def test_a_source_without_spread():
    rows = np.array([[0.9, 0.1], [0.51, 0.49], [0.52, 0.48], [0.1, 0.9]])
    found = assess([0, 1, 1, 1], rows, n_bins=HALVES)
    assert found.bins.frequencies.tolist() == [0.5, 0.5]
    assert found.divergence.accuracy == pytest.approx(1.32132782232, abs=2e-11)
    assert binned_divergence(found) == pytest.approx(0.909821411047, abs=2e-12)
    assert found.angle == 90.0


def test_no_spread_at_all_is_undefined():
    found = assess([0, 1], [0.5, 0.5], n_bins=HALVES)
    assert math.isnan(found.angle)
    assert found.verdict.endswith(
        "no angle: all that happened had the same probability and the same frequency"
    )
    assert found.to_dict()["angle"] is None


# Against the definition


def binned_divergence(found):
    """P_div with the mean probability of each bin's pairs in place of the single ones."""
    bins = found.bins
    used = bins.true_weights > 0
    share = bins.true_weights[used] / bins.true_weights.sum()
    return math.exp((share * np.log(bins.mean_scores[used] / bins.frequencies[used])).sum())


def edges_of(found, of_class=-1):
    mine = found.bins.classes == of_class
    return [*found.bins.left[mine].tolist(), found.bins.right[mine][-1]]


def compare(found, rows, of_class=-1):
    mine = found.bins.classes == of_class
    bins = reference.assessed_bins(rows, edges_of(found, of_class))
    total = found.bins.true_weights.sum()
    for k, expected in zip(np.flatnonzero(mine), bins, strict=True):
        n, true, weight, happened, frequency, means, contribution = expected
        assert (found.bins.pairs[k], found.bins.true_pairs[k]) == (n, true)
        assert found.bins.weights[k] == float(weight)
        assert found.bins.true_weights[k] == float(happened)
        if frequency is None:
            assert math.isnan(found.bins.frequencies[k])
        else:
            assert found.bins.frequencies[k] == float(frequency)
        if means is None:
            assert math.isnan(found.bins.accuracy[k])
            continue
        columns = (found.bins.decisiveness, found.bins.accuracy, found.bins.robustness)
        for column, mean in zip(columns, means, strict=True):
            assert reference.ulps(column[k], mean) <= 1
        assert found.bins.contributions[k] * total == pytest.approx(float(contribution), rel=1e-13)
    return [(frequency, happened) for _, _, _, happened, frequency, _, _ in bins if happened]


def has_weight(table):
    return len(table[0]) > 0 and (table[2] is None or (table[2] > 0).any())


moderate = st.sampled_from((0.0, 1.0, 2.0, 3.0, 0.1, 0.75)) | st.floats(1e-3, 1e3)


@st.composite
def weighted_tables(draw, n_classes=None):
    y, p, _ = draw(strategies.tables(n_classes=n_classes, min_rows=1, max_rows=25, weighted=False))
    w = draw(st.none() | st.lists(moderate, min_size=len(y), max_size=len(y)).filter(any))
    return y, p, None if w is None else np.array(w)


@settings(max_examples=80)
@given(
    table=weighted_tables() | weighted_tables(n_classes=3),
    n_bins=st.integers(1, 9),
    q_lim=strategies.q_lims,
    strategy=st.sampled_from(("quantile", "uniform")),
)
def test_pooled_pairs_against_the_definition(table, n_bins, q_lim, strategy):
    y, p, w = table
    found = assess(y, p, n_bins=n_bins, q_lim=q_lim, strategy=strategy, sample_weight=w)
    rows = reference.pairs(y, p, q_lim, w)
    if strategy == "quantile":
        scores, weights = [row[1] for row in rows], [row[3] for row in rows]
        assert edges_of(found) == reference.equal_count_edges(scores, n_bins, weights)
    source = reference.source_means(compare(found, rows))
    model = reference.risk_profile(y, p, q_lim, w)
    for mine, expected in zip(profile(found.model), model, strict=True):
        assert reference.ulps(mine, expected) <= 1 or mine == expected == 0
    assert profile(found.source) == pytest.approx([float(x) for x in source], rel=4e-16)
    if found.model.robustness > 0:
        ratios = [float(m / s) for m, s in zip(model, source, strict=True)]
        assert profile(found.divergence) == pytest.approx(ratios, rel=1e-15)


@settings(max_examples=40)
@given(table=weighted_tables() | weighted_tables(n_classes=3), n_bins=st.integers(1, 5))
def test_per_class_against_the_definition(table, n_bins):
    y, p, w = table
    found = assess(y, p, n_bins=n_bins, per_class=True, sample_weight=w)
    rows = reference.pairs(y, p, 0.0, w)
    frequencies = []
    for j in range(found.n_classes):
        mine = [row for row in rows if row[0] == j]
        frequencies += compare(found, mine, j)
    source = reference.source_means(frequencies)
    assert profile(found.source) == pytest.approx([float(x) for x in source], rel=4e-16)
    assert found.model == calibrant.risk_profile(y, p, sample_weight=w)
    assert set(found.bins.classes) == set(range(found.n_classes))


@given(table=weighted_tables() | weighted_tables(n_classes=4), q_lim=strategies.q_lims)
def test_the_model_is_the_risk_profile(table, q_lim):
    y, p, w = table
    expected = calibrant.risk_profile(y, p, q_lim=q_lim, sample_weight=w)
    for source in SOURCES:
        found = assess(y, p, n_bins=3, q_lim=q_lim, source=source, sample_weight=w)
        assert found.model == expected


@given(table=weighted_tables() | weighted_tables(n_classes=3), n_bins=st.integers(1, 12))
def test_contributions_sum_to_the_log_of_the_accuracy(table, n_bins):
    y, p, w = table
    found = assess(y, np.maximum(p, 1e-300), n_bins=n_bins, q_lim=1e-12, sample_weight=w)
    assert math.fsum(found.bins.contributions) == pytest.approx(
        math.log(found.model.accuracy), rel=1e-13, abs=1e-14
    )


@given(table=strategies.tables(n_classes=3, min_rows=1, weighted=False), n_bins=st.integers(1, 12))
def test_binned_divergence_is_at_most_one(table, n_bins):
    y, p, _ = table
    p = np.maximum(p, 1e-9)
    p = p / p.sum(axis=1, keepdims=True)
    assert binned_divergence(assess(y, p, n_bins=n_bins)) <= 1 + 1e-12


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(0, 10)), min_size=2, max_size=5))
def test_forecasts_equal_to_the_frequencies_lie_on_the_diagonal(groups):
    y, p = [], []
    for size, tenths in groups:
        y += [1] * (tenths * size) + [0] * ((10 - tenths) * size)
        p += [tenths / 10] * (10 * size)
    found = assess(y, np.array(p), n_bins=np.arange(12) / 11)
    # 1 - 0.7 is not the double nearest to 0.3
    assert profile(found.divergence) == pytest.approx([1, 1, 1], abs=1e-13)
    if not math.isnan(found.angle) and found.model.decisiveness - found.model.robustness > 1e-9:
        assert found.angle == pytest.approx(45.0, abs=1e-4)


# Sources


def bayes(rows, edges, classes):
    bins = reference.assessed_bins(rows, edges)
    prior = Fraction(1.0 / classes)
    return [
        ((happened + prior) / (weight + 1), happened)
        for _, _, weight, happened, _, _, _ in bins
        if happened
    ]


@given(table=weighted_tables() | weighted_tables(n_classes=3), n_bins=st.integers(1, 6))
def test_bayes(table, n_bins):
    y, p, w = table
    found = assess(y, p, n_bins=n_bins, source="bayes", sample_weight=w)
    rows = reference.pairs(y, p, 0.0, w)
    source = reference.source_means(bayes(rows, edges_of(found), found.n_classes))
    assert profile(found.source) == pytest.approx([float(x) for x in source], rel=4e-16)


def estimates(rows, estimate):
    """(estimate at each true pair's score, its weight)."""
    present = [row for row in rows if row[3] > 0]
    return [
        (estimate(present, score), Fraction(weight)) for _, score, true, weight in present if true
    ]


def isotonic(rows, score):
    """Max over lower ends, min over upper ends, of the mean between them (Robertson 1988)."""
    values = sorted({row[1] for row in rows})
    weight = {v: sum(Fraction(r[3]) for r in rows if r[1] == v) for v in values}
    hits = {v: sum(Fraction(r[3]) for r in rows if r[1] == v and r[2]) for v in values}

    def mean(a, b):
        between = [v for v in values if a <= v <= b]
        return sum(hits[v] for v in between) / sum(weight[v] for v in between)

    return max(min(mean(a, b) for b in values if b >= score) for a in values if a <= score)


@settings(max_examples=40)
@given(table=weighted_tables() | weighted_tables(n_classes=3))
def test_isotonic(table):
    y, p, w = (None if column is None else column[:8] for column in table)
    if w is not None and not w.any():
        w = None
    found = assess(y, p, n_bins=3, source="isotonic", sample_weight=w)
    source = reference.source_means(estimates(reference.pairs(y, p, 0.0, w), isotonic))
    assert profile(found.source) == pytest.approx([float(x) for x in source], rel=1e-14)


def test_isotonic_is_that_of_scikit_learn():
    regression = pytest.importorskip("sklearn.isotonic")
    rng = np.random.default_rng(3)
    p = rng.integers(0, 65, 3000) / 64
    y = (rng.random(3000) < p**2).astype(int)
    found = assess(y, p, n_bins=20, source="isotonic")
    scores = np.concatenate([1 - p, p])
    hits = np.concatenate([1 - y, y])
    fit = regression.IsotonicRegression().fit_transform(scores, hits)
    expected = fit[hits == 1]
    assert found.source.decisiveness == pytest.approx(expected.mean(), rel=1e-12)
    assert found.source.accuracy == pytest.approx(np.exp(np.log(expected).mean()), rel=1e-12)


def nearest(n_bins):
    def estimate(rows, score):
        total = sum(Fraction(row[3]) for row in rows)
        distances = sorted({abs(row[1] - score) for row in rows})
        for distance in distances:
            near = [row for row in rows if abs(row[1] - score) <= distance]
            weight = sum(Fraction(row[3]) for row in near)
            if weight * n_bins >= total:
                return sum(Fraction(row[3]) for row in near if row[2]) / weight
        raise AssertionError

    return estimate


@settings(max_examples=60)
@given(table=weighted_tables() | weighted_tables(n_classes=3), n_bins=st.integers(1, 12))
def test_nearest(table, n_bins):
    y, p, w = table
    if w is not None:
        w = np.ceil(w)  # shares of the weight are then exact in both
    found = assess(y, p, n_bins=n_bins, source="knn", sample_weight=w)
    source = reference.source_means(estimates(reference.pairs(y, p, 0.0, w), nearest(n_bins)))
    assert profile(found.source) == pytest.approx([float(x) for x in source], rel=1e-14)


def kernel(n_bins):
    def cell(score):
        return min(int(score * 2**14), 2**14 - 1)

    def estimate(rows, score):
        top = bottom = Fraction(0)
        for _, other, true, weight in rows:
            distance = Fraction((cell(other) - cell(score)) * n_bins, 2**14)
            counts = Fraction(weight) * max(1 - distance**2, 0)
            top += counts if true else 0
            bottom += counts
        return top / bottom

    return estimate


@settings(max_examples=60)
@given(table=weighted_tables() | weighted_tables(n_classes=3), n_bins=st.integers(1, 12))
def test_kernel(table, n_bins):
    y, p, w = table
    found = assess(y, p, n_bins=n_bins, source="kernel", sample_weight=w)
    source = reference.source_means(estimates(reference.pairs(y, p, 0.0, w), kernel(n_bins)))
    assert profile(found.source) == pytest.approx([float(x) for x in source], rel=1e-12)


@pytest.mark.parametrize("source", SOURCES)
def test_sources_agree_where_there_is_much_data(source):
    rng = np.random.default_rng(11)
    truth = rng.uniform(0.02, 0.98, 200_000)
    y = rng.random(truth.size) < truth
    odds = (truth / (1 - truth)) ** 1.5
    found = assess(y, odds / (1 + odds), n_bins=50, source=source)
    expected = np.where(y, truth, 1 - truth)
    assert found.source.accuracy == pytest.approx(np.exp(np.log(expected).mean()), rel=2e-3)
    assert found.source.decisiveness == pytest.approx(expected.mean(), rel=4e-3)
    assert found.verdict.startswith("over-confident")
    used = found.bins.true_pairs > 0
    assert found.bins.source[used] == pytest.approx(found.bins.frequencies[used], abs=0.02)


# Laws


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("weighted", [False, True])
def test_any_order_and_number_of_threads(source, weighted, runtime_restored):  # noqa: ARG001
    y, p = strategies.nasty_table(60_000)
    rng = np.random.default_rng(5)
    w = rng.choice([0.0, 1.0, 2.0, 0.1], y.size) if weighted else None
    order = rng.permutation(y.size)
    shuffled = None if w is None else w[order]
    found = set()
    for threads in (1, 2, 7):
        calibrant.set_num_threads(threads)
        for rows in ((y, p, w), (y[order], p[order], shuffled)):
            result = assess(
                rows[0], rows[1], n_bins=7, source=source, q_lim=1e-6, sample_weight=rows[2]
            )
            found.add(json.dumps(result.to_dict()))
    assert len(found) == 1


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("per_class", [False, True])
def test_an_integer_weight_is_that_many_repetitions(source, per_class):
    y, p = strategies.nasty_table(400, n_classes=3)
    counts = np.random.default_rng(2).integers(0, 5, y.size)
    options = {"n_bins": 6, "source": source, "per_class": per_class, "q_lim": 0.001}
    weighted = assess(y, p, sample_weight=counts, **options)
    repeated = assess(np.repeat(y, counts), np.repeat(p, counts, axis=0), **options)
    assert profile(weighted.model) == profile(repeated.model)
    assert profile(weighted.source) == profile(repeated.source)
    assert (weighted.angle, weighted.verdict) == (repeated.angle, repeated.verdict)
    assert weighted.bins.true_weights.tolist() == repeated.bins.true_weights.tolist()


def test_batches_give_what_all_rows_give():
    y, p = strategies.nasty_table(5000, n_classes=3)
    total = streaming.Assessment(10, q_lim=0.01)
    for a, b in itertools.pairwise([0, 1, 700, 5000]):
        total.update(y[a:b], p[a:b])
    for source in ("bins", "bayes"):
        once = assess(y, p, n_bins=10, strategy="uniform", q_lim=0.01, source=source)
        assert json.dumps(total.result(source).to_dict()) == json.dumps(once.to_dict())


def test_batches_keep_their_classes():
    total = streaming.Assessment(3)
    total.update([0, 1], [0.5, 0.5])
    before = total.to_bytes()
    with pytest.raises(ValueError, match="y_proba must keep its number of classes, got 3 after 2"):
        total.update([2], [[0.1, 0.2, 0.7]])
    assert total.to_bytes() == before


def test_other_edges_do_not_merge():
    with pytest.raises(ValueError, match="both need the same edges and q_lim"):
        streaming.Assessment(3).merge(streaming.Assessment(4))
    with pytest.raises(ValueError, match="both need the same edges and q_lim"):
        streaming.Assessment(3).merge(streaming.Assessment(3, q_lim=0.1))


# Nelson 2017, figures 3 to 6: two classes, Student t with two degrees of freedom (k = 1/2) at 0
# and 2; the model is wrong in the mean, the squared scale or the tail of the second, or the tail
# of both


def log_density(x, mean=0.0, scale2=1.0, k=0.5):
    u = (x - mean) ** 2 / scale2
    if k == 0:
        return -u / 2 - math.log(2 * math.pi * scale2) / 2
    z = math.sqrt(math.pi / k * scale2) * math.gamma(0.5 / k) / math.gamma((1 + k) / (2 * k))
    return -(1 / k + 1) / 2 * np.log1p(k * u) - math.log(z)


MODELS = {  # parameters of class 0, of class 1; angle, its sd, P_div, its sd, verdict
    "perfect": ({}, {}, 44.8, 0.8, 0.9990, 0.0003, "calibrated"),
    "mean 1": ({}, {"mean": 1}, 20.9, 0.6, 0.9756, 0.0020, "under-confident"),
    "mean 3": ({}, {"mean": 3}, 62.4, 0.7, 0.9767, 0.0019, "over-confident"),
    "variance 0.5": ({}, {"scale2": 0.5}, 53.8, 0.8, 0.9935, 0.0010, "over-confident"),
    "variance 2": ({}, {"scale2": 2}, 37.6, 0.9, 0.9944, 0.0009, "under-confident"),
    "k=0, one": ({}, {"k": 0}, 72.2, 0.5, 0.9050, 0.0058, "over-confident"),
    "k=0, both": ({"k": 0}, {"k": 0}, 73.1, 0.4, 0.8930, 0.0055, "over-confident"),
    "k=1, both": ({"k": 1}, {"k": 1}, 38.8, 0.8, 0.9970, 0.0005, "under-confident"),
}


def sample(per_class, seed):
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], per_class)
    return y, rng.standard_t(2, y.size) + 2 * y


def posterior(x, zero, one):
    odds = log_density(x, **zero) - log_density(x, **{"mean": 2, **one})
    return 1 / (1 + np.exp(np.minimum(odds, 700)))


@pytest.mark.parametrize("name", MODELS)
def test_figures_of_nelson(name):
    zero, one, angle, angle_sd, divergence, divergence_sd, verdict = MODELS[name]
    seeds = 8
    angles, divergences = [], []
    for seed in range(seeds):
        y, x = sample(5000, seed)
        found = assess(y, posterior(x, zero, one), n_bins=50, q_lim=0.01)
        angles.append(found.angle)
        divergences.append(found.divergence.accuracy)
        if name != "perfect":
            assert found.verdict.startswith(verdict)
    # The table's means are themselves of 20 seeds.
    slack = 4 * math.sqrt(1 / seeds + 1 / 20)
    assert np.mean(angles) == pytest.approx(angle, abs=slack * max(angle_sd, 0.4))
    assert np.mean(divergences) == pytest.approx(divergence, abs=slack * divergence_sd)


@pytest.mark.parametrize(("per_class", "n_bins"), [(5000, 50), (500, 20)])
def test_calibrated_probabilities_are_called_so(per_class, n_bins):
    verdicts = []
    for seed in range(100):
        y, x = sample(per_class, seed)
        found = assess(y, posterior(x, {}, {}), n_bins=n_bins, q_lim=0.01)
        verdicts.append(found.verdict.startswith("calibrated"))
    assert sum(verdicts) >= 90  # 95 of 100 expected at least, sd 2.2


def test_another_error_is_not_called_calibrated_without_a_word():
    rng = np.random.default_rng(0)
    truth = rng.uniform(0.25, 0.75, 100_000)
    y = rng.random(truth.size) < truth
    wrong = np.where(truth < 0.5, truth + 0.2, truth - 0.2)  # some too high, some too low
    found = assess(y, wrong, n_bins=20)
    assert found.divergence.accuracy < 0.99
    assert found.verdict.startswith("over-confident: events given ")


# Bins and warnings


def test_optimism_of_perfect_forecasts():
    logs = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        q = rng.uniform(0.02, 0.98, 1000)
        found = assess(rng.random(1000) < q, q, n_bins=50)
        logs.append(-math.log(found.divergence.accuracy))
    assert np.mean(logs) == pytest.approx(0.0137, abs=4 * 0.0039 / math.sqrt(20))


def test_too_many_bins_are_named():
    rng = np.random.default_rng(0)
    q = rng.random(1000)
    y = rng.random(1000) < q
    with pytest.warns(UserWarning, match="50 bins are too many for 1000 rows"):
        found = assess(y, q, n_bins=50)
    assert "1.2%" in found.warning
    assert found.warning in repr(found)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert assess(y, q).warning is None
        assert len(assess(y, q).bins) == 20


def test_ties_are_not_split():
    # Clipping ties many scores; cut inside a tie, sorted labels would leak (0.629 in place of
    # 0.6006, above the limit of Bayes, 0.6145).
    found = []
    for seed in range(8):
        y, x = sample(5000, seed)
        result = assess(y, posterior(x, {}, {"k": 0}), n_bins=50, q_lim=0.01)
        found.append(result.source.accuracy)
    assert np.mean(found) == pytest.approx(0.6006, abs=0.005)


# Bad input


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"source": "lasso"}, r"source must be 'bins', .*, got 'lasso'"),
        ({"strategy": "odd"}, r"strategy must be 'uniform', 'quantile' or 'kmeans', got 'odd'"),
        ({"n_bins": 0}, r"n_bins must lie in \[1, 1000000\], got 0"),
        ({"n_bins": [0.5, 1.0]}, r"edges must cover \[0, 1\], got edges from 0.5 to 1"),
        ({"q_lim": 0.5}, r"q_lim must satisfy 0 <= q_lim < 0.5, got 0.5"),
        ({"q_lim": -0.1}, r"q_lim must satisfy 0 <= q_lim < 0.5, got -0.1"),
        ({"source": "kernel", "n_bins": 4000}, r"n_bins must be at most 2048 .* got 4000"),
        ({"sample_weight": [0, 0, 0]}, r"all 3 have weight 0"),
        ({"nan_policy": "drop"}, r"nan_policy must be"),
    ],
)
def test_what_is_rejected(options, message):
    with pytest.raises(ValueError, match=message):
        assess([0, 1, 1], [0.1, 0.7, 0.9], **options)


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("per_class", [False, True])
def test_missing_rows_are_omitted(source, per_class):
    y, p = strategies.nasty_table(50, n_classes=3)
    holes = p.copy()
    holes[[3, 17], [0, 2]] = np.nan
    kept = np.delete(np.arange(50), [3, 17])
    options = {"n_bins": 3, "source": source, "per_class": per_class}
    found = assess(y, holes, nan_policy="omit", **options)
    assert found.n_omitted == 2
    assert found.n == 48
    assert profile(found.source) == profile(assess(y[kept], p[kept], **options).source)


def test_labels_by_name():
    found = assess(["no", "yes", "yes"], [0.1, 0.7, 0.9], n_bins=2, pos_label="yes")
    assert profile(found.model) == profile(calibrant.risk_profile([0, 1, 1], [0.1, 0.7, 0.9]))


def test_repr_and_dict():
    found = assess(FIVE, five(0.9), n_bins=HALVES)
    assert "decisiveness  0.7400  0.6800  1.0882" in repr(found)
    assert found.verdict in repr(found)
    assert "0.5000  1.0000  5" in repr(found.bins)
    assert json.loads(json.dumps(found.to_dict()))["bins"]["pairs"] == [5, 5]
    with pytest.raises(AttributeError):
        found.angle = 0.0


# The log score, split


@given(table=weighted_tables() | weighted_tables(n_classes=3), n_bins=st.integers(1, 6))
def test_cross_entropy_is_entropy_plus_divergence(table, n_bins):
    y, p, w = table
    options = {"q_lim": 1e-6, "sample_weight": w}
    found = calibrant.log_decomposition(y, p, n_bins=n_bins, **options)
    assert found.cross_entropy == pytest.approx(calibrant.log_score(y, p, **options), abs=1e-14)
    assert found.entropy + found.divergence == pytest.approx(found.cross_entropy, abs=1e-13)


def test_certain_and_right_costs_nothing():
    found = calibrant.log_decomposition([0, 1], [0.0, 1.0], n_bins=2)
    assert repr(found) == "LogDecomposition(cross_entropy=0, entropy=0, divergence=0, n=2)"


def test_a_certain_error_costs_infinitely_much():
    found = calibrant.log_decomposition([0, 1], [0.25, 0.0], n_bins=2)
    assert (found.cross_entropy, found.divergence) == (math.inf, math.inf)
    assert math.isfinite(found.entropy)
