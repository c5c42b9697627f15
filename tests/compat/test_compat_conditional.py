"""Worst slab and excess risk: by definition, and beside MAPIE where covmetrics is installed."""

import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import calibrant
from calibrant import _core
from calibrant.compat.mapie import conditional
from calibrant.compat.mapie.conditional import excess_risk_target_coverage, worst_slab_coverage

EXAMPLES = settings(max_examples=40)


def problem(seed=0, n=60, features=2, digits=None):
    """Features, outcomes and intervals that cover less where the first feature is large."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, features))
    x = x if digits is None else x.round(digits)
    y = rng.normal(size=n) * (1 + np.maximum(x[:, 0], 0))
    return x, y, np.column_stack([np.full(n, -1.2), np.full(n, 1.2)])


def least_mean(row, least_rows):
    n = len(row)
    segments = [(j, k) for j in range(n) for k in range(j + least_rows, n + 1)]
    return min(Fraction(int(sum(row[j:k])), k - j) for j, k in segments)


@EXAMPLES
@given(st.integers(1, 25), st.integers(1, 4), st.randoms(use_true_random=False), st.data())
def test_worst_slab_is_the_least_mean_of_all_segments(n, slabs, random, data):
    covered = np.array([[random.random() < 0.7 for _ in range(n)] for _ in range(slabs)])
    least_rows = data.draw(st.integers(1, n))
    hits, rows = _core.worst_slab(covered.view(np.uint8), least_rows, 1, 1)
    expected = min(least_mean(row, least_rows) for row in covered)
    assert Fraction(hits, rows) == expected
    # Nothing is below the least, and one above it does not matter.
    assert _core.worst_slab(covered.view(np.uint8), least_rows, hits, rows) == (hits, rows)


@pytest.mark.usefixtures("runtime_restored")
def test_worst_slab_on_any_threads():
    covered = (np.random.default_rng(2).random((40, 5000)) < 0.9).astype(np.uint8)
    found = []
    for threads in (1, 2, 3):
        calibrant.set_num_threads(threads)
        hits, rows = _core.worst_slab(covered, 500, 1, 1)
        found.append(hits / rows)
    assert found[0] == found[1] == found[2] < 0.9


@pytest.mark.parametrize("delta", [0.1, 0.35, 0.9])
@pytest.mark.parametrize("at_once", [1, 7 * 40, 1 << 23])
def test_worst_slab_coverage_by_definition(delta, at_once, monkeypatch):
    monkeypatch.setattr(conditional, "_MOST_PROJECTIONS", at_once)
    x, y, bounds = problem(n=40)
    covered = (bounds[:, 0] <= y) & (y <= bounds[:, 1])
    directions = np.random.RandomState(3).randn(12, 2)
    rows = [covered[np.argsort(x @ d / np.sqrt((d * d).sum()))] for d in directions]
    expected = float(min(least_mean(row, int(np.ceil(delta * 40))) for row in rows))
    options = {"delta": delta, "n_directions": 12, "random_state": 3}
    assert worst_slab_coverage(x, y, y_intervals=bounds, **options) == expected
    sets = np.column_stack([covered, ~covered])
    zeros = np.zeros(40, int)
    assert worst_slab_coverage(x.tolist(), zeros, y_sets=sets, **options) == expected


def test_worst_slab_coverage_leaves_the_global_stream_alone():
    x, y, bounds = problem()
    np.random.seed(5)  # noqa: NPY002  # the stream that covmetrics seeds
    expected = np.random.random()  # noqa: NPY002
    np.random.seed(5)  # noqa: NPY002
    worst_slab_coverage(x, y, y_intervals=bounds, n_directions=3)
    assert np.random.random() == expected  # noqa: NPY002


class Threshold:
    """Foretells the coverage of each side of a cut, from the rows that it has seen."""

    def __init__(self, cut=0.0):
        self.cut = cut

    def fit(self, x, covered, scale=1.0):
        above = x[:, 0] > self.cut
        self.means = [scale * covered[side].mean() for side in (~above, above)]

    def predict_proba(self, x):
        p = np.where(x[:, 0] > self.cut, self.means[1], self.means[0])
        return np.column_stack([1 - p, p])


class OnlyPredicts(Threshold):
    predict_proba = None

    def __getattribute__(self, name):
        if name == "predict_proba":
            raise AttributeError(name)
        return super().__getattribute__(name)

    def predict(self, x):
        return (x[:, 0] > self.cut).astype(int)


def squared(prediction, covered):
    return (prediction - covered) ** 2


def over(prediction, covered, alpha):
    return np.maximum(prediction - covered, 0) * alpha


def risk_by_definition(x, covered, level, loss, n_splits, seed, fit):
    from sklearn.model_selection import KFold

    risks = []
    for seen, unseen in KFold(n_splits, shuffle=True, random_state=seed).split(x):
        model = Threshold(0.5)
        model.fit(x[seen], covered[seen], **fit)
        terms = []
        for row, p in zip(unseen, model.predict_proba(x[unseen])[:, 1], strict=True):
            hit = int(covered[row])
            if loss is squared:
                terms.append((level - hit) ** 2 - (p - hit) ** 2)
            elif loss is over:
                terms.append((1 - level) * (max(level - hit, 0) - max(p - hit, 0)))
            else:
                terms.append((hit - level) * (int(p > level) - int(p < level)))
        risks.append(sum(terms) / len(terms))
    return sum(risks) / len(risks)


@pytest.mark.parametrize("loss", [None, squared, over])
@pytest.mark.parametrize("fit", [{}, {"scale": 0.9}])
def test_excess_risk_by_definition(loss, fit):
    pytest.importorskip("sklearn")
    x, y, bounds = problem(seed=4, n=101)
    covered = (bounds[:, 0] <= y) & (y <= bounds[:, 1])
    found = excess_risk_target_coverage(
        x, y, 0.8, y_intervals=bounds, model_cls=Threshold, model_kwargs={"cut": 0.5}, n_splits=4,
        random_state=9, loss=loss, fit_kwargs=fit,
    )  # fmt: skip
    expected = risk_by_definition(x, covered, 0.8, loss, 4, 9, fit)
    assert found == pytest.approx(expected, rel=1e-12)


def test_excess_risk_of_the_default_classifier_is_seeded():
    pytest.importorskip("sklearn")
    x, y, bounds = problem(n=100)
    given = {"y_intervals": bounds, "model_kwargs": {"max_iter": 2}, "loss": squared, "n_splits": 2}
    first, second, other = (
        excess_risk_target_coverage(x, y, 0.8, random_state=seed, **given) for seed in (1, 1, 2)
    )
    assert first == second != other


def test_excess_risk_needs_scikit_learn(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.ensemble", None)
    x, y, bounds = problem()
    with pytest.raises(ImportError, match=r"needs scikit-learn: pip install .\.\[sklearn\]"):
        excess_risk_target_coverage(x, y, 0.8, y_intervals=bounds)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"x": np.zeros(60)}, r"x must have shape \(n, features\), got \(60,\)"),
        ({"x": np.full((60, 2), np.nan)}, "x must be finite, found nan at row 0"),
        ({"x": np.zeros((59, 2))}, "same number of rows, got x 59, y 60"),
        ({"y_sets": np.zeros((60, 2), bool)}, "pass either y_intervals or y_sets"),
        ({"delta": 0}, r"delta must be a number in \(0, 1\), got 0"),
        ({"delta": "half"}, r"delta must be a number in \(0, 1\), got 'half'"),
        ({"n_directions": 0}, "n_directions must be an integer of at least 1, got 0"),
        ({"n_directions": 1.5}, "n_directions must be an integer of at least 1, got 1.5"),
    ],
)
def test_worst_slab_coverage_rejects(change, words):
    x, y, bounds = problem()
    options = {"x": x, "y": y, "y_intervals": bounds, "n_directions": 3} | change
    with pytest.raises(ValueError, match=words):
        worst_slab_coverage(**options)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"x": np.zeros(60)}, r"x must have shape \(n, features\)"),
        ({"n_splits": 1}, "n_splits must be an integer of at least 2, got 1"),
        ({"confidence_level": 1.5}, "confidence_level must lie in"),
    ],
)
def test_excess_risk_rejects(change, words):
    x, y, bounds = problem()
    options = {"x": x, "y": y, "y_intervals": bounds, "confidence_level": 0.8} | change
    with pytest.raises(ValueError, match=words):
        excess_risk_target_coverage(**options)


# Beside MAPIE ------------------------------------------------------------------------------------


@pytest.fixture
def peer():
    return pytest.importorskip("mapie.metrics.conditional", reason="it needs covmetrics")


@pytest.mark.parametrize("features", [1, 2, 5])
@pytest.mark.parametrize("digits", [None, 1, 0])  # ties, for which the order of a sort decides
@pytest.mark.parametrize("delta", [0.05, 0.1, 0.5])
def test_worst_slab_coverage_is_that_of_mapie(peer, features, digits, delta):
    x, y, bounds = problem(seed=features, n=150, features=features, digits=digits)
    for data in (x, x.astype(np.float32), (10 * x).astype(int)):
        given = {"y_intervals": bounds, "delta": delta, "n_directions": 50, "random_state": 11}
        assert worst_slab_coverage(data, y, **given) == peer.worst_slab_coverage(data, y, **given)


@pytest.mark.parametrize("model", [None, Threshold, OnlyPredicts])
@pytest.mark.parametrize("loss", [None, squared, over])
@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64])
@pytest.mark.filterwarnings("ignore:.*predict")
def test_excess_risk_is_that_of_mapie(peer, model, loss, kind):
    x, y, bounds = problem(seed=8, n=120)
    given = {"y_intervals": bounds, "model_cls": model, "loss": loss, "n_splits": 3}
    if model is None:
        given["model_kwargs"] = {"max_iter": 5}
    x = x.astype(kind)
    found = excess_risk_target_coverage(x, y, 0.8, **given)
    assert found == pytest.approx(peer.excess_risk_target_coverage(x, y, 0.8, **given), rel=1e-12)


@pytest.mark.parametrize("weighted", [True, False])
def test_coverage_gap_is_that_of_mapie(peer, weighted):
    x, y, bounds = problem(seed=3, n=120)
    given = (y, (x[:, 0] > 0).astype(int), 0.9)
    options = {"y_intervals": bounds, "weighted": weighted}
    expected = peer.coverage_gap(*given, **options)
    assert conditional.coverage_gap(*given, **options) == pytest.approx(expected, rel=1e-12)
