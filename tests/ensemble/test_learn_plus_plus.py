"""Learn++ against its algorithm replayed from the votes, and against the paper's experiments."""

from __future__ import annotations

import importlib.util
import math
import pickle
import warnings
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks
from threadpoolctl import threadpool_limits

import calibrant
from calibrant import ensemble_confidence, ensemble_votes
from calibrant.ensemble._learn_plus_plus import LearnPlusPlus, LearnPlusPlusWarning

STUMP = DecisionTreeClassifier(max_depth=1)


@parametrize_with_checks([LearnPlusPlus(n_estimators=5)])
def test_is_a_scikit_learn_classifier(estimator, check):
    check(estimator)


def rows(n=240, classes=("a", "b", "c"), seed=0):
    """Overlapping clouds around the corners of a triangle."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, len(classes), n)
    angle = 2 * math.pi * y / 3
    X = 1.5 * np.stack([np.cos(angle), np.sin(angle)], axis=1) + rng.normal(size=(n, 2))
    return X, np.array(classes)[y]


def replay(model, datasets, reset=True):
    """Errors of members and ensemble by the steps of the paper, in plain Python."""
    errors, composite, votes = [], [], []
    members = iter(model.estimators_)
    floor = model.least_error
    seen = []
    for X, y in datasets:
        n = len(y)
        d = [1 / n] * n

        def composite_step(d, X=X, y=y, n=n):
            said = [member.predict(X) for member in seen]
            wrong = []
            for i in range(n):
                totals = defaultdict(float)
                for labels, weight in zip(said, votes, strict=True):
                    totals[labels[i]] += weight
                most = max(totals.values())
                first = min(c for c, total in totals.items() if total > most - 1e-12)
                wrong.append(first != y[i])
            e = math.fsum(w for w, bad in zip(d, wrong, strict=True) if bad)
            if e >= 0.5 - 1e-9:
                return e, [1 / n] * n if reset else d
            b = max(e, floor) / (1 - max(e, floor))
            d = [w if bad else w * b for w, bad in zip(d, wrong, strict=True)]
            return e, [w / math.fsum(d) for w in d]

        if seen:
            _, d = composite_step(d)
        for _ in range(model.n_estimators):
            member = next(members)
            h = member.predict(X)
            eps = math.fsum(w for w, a, b in zip(d, h, y, strict=True) if a != b)
            errors.append(eps)
            votes.append(math.log((1 - max(eps, floor)) / max(eps, floor)))
            seen.append(member)
            e, d = composite_step(d)
            composite.append(e)
    return errors, composite, votes


@pytest.mark.parametrize("how", ["reset", "keep"])
@pytest.mark.parametrize("base", [STUMP, GaussianNB(), None], ids=["stump", "bayes", "tree"])
def test_follows_the_algorithm(base, how):
    model = LearnPlusPlus(base, n_estimators=8, on_weak_ensemble=how, random_state=1)
    sets = [rows(seed=1), rows(seed=2), rows(150, ("d", "b", "c"), seed=3)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for X, y in sets:
            model.partial_fit(X, y)
    errors, composite, votes = replay(model, sets, reset=how == "reset")
    np.testing.assert_allclose(model.estimator_errors_, errors, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model.composite_errors_, composite, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model.estimator_weights_, votes, rtol=1e-9)
    assert max(errors) <= 0.5
    assert model.n_datasets_ == 3
    assert model.classes_.tolist() == ["a", "b", "c", "d"]


def test_probabilities_are_ensemble_confidence():
    X, y = rows()
    model = LearnPlusPlus(STUMP, n_estimators=12, random_state=0).fit(X, y)
    votes = np.stack([np.searchsorted(model.classes_, m.predict(X)) for m in model.estimators_], 1)
    weights = model.estimator_weights_
    np.testing.assert_array_equal(model.predict_proba(X), ensemble_confidence(votes, weights, 3))
    path = model.confidence_path(X)
    np.testing.assert_array_equal(path, ensemble_confidence(votes, weights, 3, path=True))
    np.testing.assert_array_equal(model.predict(X), model.classes_[path[:, -1].argmax(axis=1)])
    np.testing.assert_array_equal(ensemble_votes(model, X).votes, votes)
    mild = clone(model).set_params(temperature=4.0).fit(X, y)
    expected = ensemble_confidence(votes, weights, 3, temperature=4.0)
    np.testing.assert_array_equal(mild.predict_proba(X), expected)
    share = clone(model).set_params(combine="share").fit(X, y)
    expected = ensemble_confidence(votes, weights, 3, combine="share")
    np.testing.assert_array_equal(share.predict_proba(X), expected)


def test_learns_new_classes_and_keeps_the_old():
    X, y = rows(400)
    old, new = y != "c", y == "c"
    model = LearnPlusPlus(n_estimators=10, random_state=0).fit(X[old], y[old])
    assert model.predict_proba(X).shape == (400, 2)
    members = list(model.estimators_)
    more = np.concatenate([np.flatnonzero(new), np.flatnonzero(old)[:60]])
    model.partial_fit(X[more], y[more])
    assert model.estimators_[:10] == members
    assert len(model.estimators_) == 20
    assert model.predict_proba(X).shape == (400, 3)
    assert np.mean(model.predict(X) == y) > 0.8
    known = LearnPlusPlus(n_estimators=2, random_state=0)
    known.partial_fit(X[old], y[old], classes=["a", "b", "c"])
    assert known.predict_proba(X).shape == (400, 3)


def test_a_seed_gives_the_same_model_and_datasets_differ():
    X, y = rows()
    base = make_pipeline(StandardScaler(), DecisionTreeClassifier(splitter="random", max_depth=2))
    one, two = (LearnPlusPlus(base, n_estimators=4, random_state=7) for _ in range(2))
    for model in (one, two):
        model.partial_fit(X, y).partial_fit(X, y)
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))
    first, second = one.estimator_errors_[:4], one.estimator_errors_[4:]
    assert first.tolist() != second.tolist()
    again = pickle.loads(pickle.dumps(one))
    np.testing.assert_array_equal(
        again.partial_fit(X, y).predict_proba(X), two.partial_fit(X, y).predict_proba(X)
    )
    fresh = one.fit(X, y)  # forgets
    assert len(fresh.estimators_) == 4


# The gaps of the algorithm


def test_members_without_error_have_a_finite_vote():
    X, y = np.array([[0.0], [1.0], [5.0], [6.0]] * 10), np.array([0, 0, 1, 1] * 10)
    model = LearnPlusPlus(STUMP, n_estimators=3, random_state=0).fit(X, y)
    assert model.estimator_errors_.tolist() == [0.0, 0.0, 0.0]
    np.testing.assert_allclose(model.estimator_weights_, math.log(999), rtol=1e-13)
    assert model.n_floored_ == 6  # of members and of the ensemble
    assert model.n_resets_ == 0


def test_draws_that_never_do():
    """A stump names two classes, so of four balanced ones it gets half wrong or more."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(4), 50)
    X = rng.normal(size=(200, 2))  # nothing to learn
    model = LearnPlusPlus(STUMP, max_redraws=5, random_state=0)
    message = "data set 1 gave 0 of 30 members: 6 draws in a row had a weighted error above 1/2"
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)
    assert not hasattr(model, "estimators_")
    model.fit(X[:100], (X[:100, 0] > 0).astype(int))
    members, before = len(model.estimators_), model.predict_proba(X)
    with pytest.warns(LearnPlusPlusWarning, match="data set 2 gave 0 of 30 members") as caught:
        model.partial_fit(X, y)
    assert caught[0].filename == __file__
    assert len(model.estimators_) == members
    np.testing.assert_array_equal(model.predict_proba(X)[:, :2].argmax(1), before.argmax(1))


def test_a_weak_ensemble_is_reset_and_counted():
    X, y = rows()
    flipped = np.where(y == "a", "b", np.where(y == "b", "c", "a"))
    for how in ("reset", "keep"):
        model = LearnPlusPlus(n_estimators=5, on_weak_ensemble=how, random_state=0).fit(X, y)
        before = model.n_resets_
        model.partial_fit(X, flipped)
        assert model.n_resets_ > before
        assert model.composite_errors_[5] > 0.5


def test_a_draw_of_one_class_gives_a_constant_member():
    X, y = np.arange(20.0)[:, None], np.array([0] * 19 + [1])
    model = LearnPlusPlus(LogisticRegression(), n_estimators=6, random_state=0).fit(X, y)
    assert {len(member.classes_) for member in model.estimators_} == {1, 2}


def test_an_error_changes_nothing():
    X, y = rows()
    model = LearnPlusPlus(n_estimators=3, random_state=0).fit(X, y)
    before = model.predict_proba(X)
    with pytest.raises(ValueError, match="3 features"):
        model.partial_fit(np.zeros((4, 3)), ["a", "b", "a", "b"])
    with pytest.raises(ValueError, match="must hold names, or numbers, as they did before"):
        model.partial_fit(X, np.arange(240) % 2)
    np.testing.assert_array_equal(model.predict_proba(X), before)
    with pytest.raises(NotFittedError):
        LearnPlusPlus().predict_proba(X)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"n_estimators": 0}, "n_estimators must be an integer from 1 on, got 0"),
        ({"n_estimators": 2.5}, "n_estimators must be an integer from 1 on, got 2.5"),
        ({"max_redraws": -1}, "max_redraws must be an integer from 0 on, got -1"),
        ({"sample_fraction": 0}, r"sample_fraction must lie in \(0, 1\], got 0"),
        ({"sample_fraction": math.nan}, r"sample_fraction must lie in \(0, 1\], got nan"),
        ({"least_error": 0.5}, r"least_error must lie in \(0, 0.5\), got 0.5"),
        ({"on_weak_ensemble": "stop"}, "on_weak_ensemble must be 'reset' or 'keep', got 'stop'"),
        ({"combine": "mean"}, "combine must be 'softmax' or 'share', got 'mean'"),
        ({"temperature": 0}, r"temperature must lie in \[1e-150, 1e150\], got 0"),
    ],
)
def test_parameters_that_are_rejected(bad, message):
    with pytest.raises(ValueError, match=message):
        LearnPlusPlus(**bad).fit(*rows())


def test_without_replacement_any_row_can_be_drawn():
    X, y = rows(60)
    model = LearnPlusPlus(n_estimators=25, sample_fraction=0.8, replace=False, random_state=0)
    assert len(model.fit(X, y).estimators_) == 25


def test_is_found_at_the_top():
    assert calibrant.LearnPlusPlus is LearnPlusPlus
    assert calibrant.ensemble.LearnPlusPlus is LearnPlusPlus
    assert "LearnPlusPlus" not in calibrant.__all__  # which must do without scikit-learn


# The paper's experiments, with fewer repeats than examples/learnpp_experiments.py


@pytest.fixture(scope="module")
def experiments():
    path = Path(__file__).parents[2] / "examples" / "learnpp_experiments.py"
    spec = importlib.util.spec_from_file_location("learnpp_experiments", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("experiment", [1, 2, 3])
def test_the_error_dips_and_climbs(experiments, experiment):
    """The bands are those of 20 repeats, widened by twice the standard error of 2."""
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore", ConvergenceWarning)
        result = experiments.repeated(experiment, 2)
    means = result["errors"]["softmax"].mean(axis=0)
    low, high = experiments.EXPECTED[experiment]
    slack = 2 * {1: 0.0009, 2: 0.0019, 3: 0.0022}[experiment] / math.sqrt(2)
    assert low - slack < means[-1] < high + slack
    assert 2 <= means.argmin() <= 11  # 3 to 12 members
    assert means[-1] > 1.15 * means.min()  # the paper: it falls all the way
    assert means[-1] < result["always 1"]
    share = result["errors"]["vote share"].mean(axis=0)
    assert share[-1] < 0.75 * means[-1]


def test_errors_are_kept_as_they_were_seen():
    X, y = np.arange(20.0)[:, None], np.arange(20) >= 10
    model = LearnPlusPlus(n_estimators=1, sample_fraction=1.0, replace=False, random_state=0)
    model.fit(X, y)
    assert model.estimator_errors_.tolist() == [0.0]
    assert model.estimator_weights_ == pytest.approx([np.log((1 - 1e-3) / 1e-3)])
    assert model.n_floored_ >= 1
