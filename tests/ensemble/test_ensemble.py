"""Ensemble confidence against its definition, in high precision; votes of scikit-learn."""

# ruff: noqa: E501 (a table: a line for a case)

from __future__ import annotations

import functools
import json
import math
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

import calibrant
import vote_reference
from calibrant import ensemble_confidence, ensemble_votes, set_num_threads
from calibrant._core import _testing
from calibrant.config import config

pytestmark = [pytest.mark.kernels, pytest.mark.threads, pytest.mark.usefixtures("runtime_restored")]

INF, NAN = math.inf, math.nan


def reference(*args, **options):
    return [float(share) for share in vote_reference.confidence(*args, **options)]


def close(found, expected, members, rel=4e-16):
    """A weight is rounded by 2^-62 of the bound on all: T times that, in F, and 2 ulps."""
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, expected, rtol=rel + members * 2.0**-57, atol=1e-320)


# Worked examples of the paper's formula


@pytest.mark.parametrize(("n_classes", "expected"), [(2, 4 / 5), (3, 2 / 3), (4, 4 / 7)])
def test_one_member(n_classes, expected):
    """It errs in 1 of 5 cases; its confidence is 4 : 1 : ... : 1, not 1 as the paper says."""
    found = ensemble_confidence([[0]], [math.log(4)], n_classes)
    rest = [expected / 4] * (n_classes - 1)
    np.testing.assert_allclose(found, [[expected, *rest]], rtol=3e-16)


def test_product_of_odds():
    found = ensemble_confidence([[0, 0, 1]], np.log([9.0, 4.0, 3.0]), 3)
    np.testing.assert_allclose(found, [[0.9, 0.075, 0.025]], rtol=5e-16)
    assert found[0, 0] == 0.9


def test_powers_of_two_are_exact():
    weights = [1.0, 2.0, 4.0, 1.0]
    shares = ensemble_confidence([[0, 1, 2, -1], [0, 1, 0, 0]], weights, 3, combine="share")
    assert shares.tolist() == [[1 / 7, 2 / 7, 4 / 7], [0.75, 0.25, 0.0]]
    even = ensemble_confidence([[0, 1, 2, 0]], [3.0, 3.0, 3.0, 0.0], 3)
    assert even.tolist() == [[1 / 3, 1 / 3, 1 / 3]]


# Any ensemble

finite = st.floats(-40, 40) | st.sampled_from([0.0, 1e-300, 1e-9, 7.0, 700.0, 5e-324])
weight = finite | st.sampled_from([INF, -INF])


@st.composite
def ensembles(draw, element=weight):
    n_classes = draw(st.integers(1, 6))
    weights = draw(st.lists(element, min_size=1, max_size=12))
    row = st.lists(st.integers(-1, n_classes - 1), min_size=len(weights), max_size=len(weights))
    return draw(st.lists(row, min_size=1, max_size=9)), weights, n_classes


@given(ensembles(), st.sampled_from([1.0, 0.25, 4.0, 1e-3, 1e6, 1 / 3]))
def test_softmax_equals_the_definition(case, temperature):
    votes, weights, n_classes = case
    largest = max((abs(w) for w in weights if math.isfinite(w)), default=0.0)
    found = ensemble_confidence(votes, weights, n_classes, temperature=temperature)
    for row, confidence in zip(votes, found, strict=True):
        expected = reference(row, weights, n_classes, temperature)
        units = largest / temperature * len(weights) ** 2 * 2.0**-59  # of F, into the exponential
        close(confidence, expected, 1, rel=4e-16 + 2 * units)
        assert math.fsum(confidence) == pytest.approx(1, abs=n_classes * 2e-16)


@given(ensembles(st.floats(0, 40) | st.sampled_from([0.0, INF, 1e300])))
def test_share_equals_the_definition(case):
    votes, weights, n_classes = case
    found = ensemble_confidence(votes, weights, n_classes, combine="share")
    largest = max((w for w in weights if math.isfinite(w)), default=0.0)
    for row, confidence in zip(votes, found, strict=True):
        expected = reference(row, weights, n_classes, combine="share")
        total = sum(w for v, w in zip(row, weights, strict=True) if v >= 0 and math.isfinite(w))
        if total > 2.0**-20 * largest:  # else the units of the weights show
            np.testing.assert_allclose(confidence, expected, rtol=4e-16, atol=2.0**-30 * 2.0**-20)
        certain = any(v >= 0 and w == INF for v, w in zip(row, weights, strict=True))
        if total == 0 and not certain:
            assert confidence.tolist() == [1 / n_classes] * n_classes


@given(ensembles(), st.sampled_from(["softmax", "share"]), st.randoms())
def test_no_order_matters(case, combine, random):
    votes, weights, n_classes = case
    weights = np.abs(weights) if combine == "share" else np.array(weights)
    votes = np.array(votes)
    run = functools.partial(ensemble_confidence, n_classes=n_classes, combine=combine)
    found = run(votes, weights)
    members = random.sample(range(len(weights)), len(weights))
    np.testing.assert_array_equal(run(votes[:, members], weights[members]), found)
    rows = random.sample(range(len(votes)), len(votes))
    np.testing.assert_array_equal(run(votes[rows], weights), found[rows])
    classes = np.array([*random.sample(range(n_classes), n_classes), -1])
    renamed = run(classes[votes], weights)
    np.testing.assert_array_equal(renamed[:, classes[:-1]], found)
    np.testing.assert_array_equal(run(votes, weights, path=True)[:, -1], found)


@given(ensembles(st.floats(0.1, 8)), st.sampled_from(["softmax", "share"]))
def test_a_path_is_the_confidence_of_the_first_members(case, combine):
    votes, weights, n_classes = np.array(case[0]), case[1], case[2]
    path = ensemble_confidence(votes, weights, n_classes, combine=combine, path=True)
    assert path.shape == (len(votes), len(weights), n_classes)
    for t in range(1, len(weights) + 1):
        first = ensemble_confidence(votes[:, :t], weights[:t], n_classes, combine=combine)
        np.testing.assert_allclose(path[:, t - 1], first, rtol=1e-15, atol=1e-320)


def test_infinite_weights_are_the_limit_of_large_ones():
    votes = [[0, 1, 2, 2], [0, 0, 1, 2], [0, 1, 1, -1], [-1, 2, 2, 2]]
    weights = [INF, INF, math.log(3), math.log(2)]
    found = ensemble_confidence(votes, weights, 3)
    expected = [[1 / 2, 1 / 2, 0], [1, 0, 0], [1 / 4, 3 / 4, 0], [0, 0, 1]]
    np.testing.assert_allclose(found, expected, rtol=3e-16)
    shares = ensemble_confidence(votes, weights, 3, combine="share")
    assert shares.tolist() == [[0.5, 0.5, 0], [1, 0, 0], [0.5, 0.5, 0], [0, 0, 1]]
    against = ensemble_confidence([[0, 1, 1, 2]], [-INF, 0.0, 0.0, 0.0], 3)
    assert against.tolist() == [[0, 0.5, 0.5]]


@pytest.mark.parametrize("size", [1e-300, 5e-324, 1e300, 1.7e308])
def test_weights_of_any_size(size):
    found = ensemble_confidence([[0, 0, 1], [0, 1, -1]], [size] * 3, 2)
    gap = math.inf if size > 1 else 0.0
    assert found.tolist() == [[1 / (1 + math.exp(-gap)), 1 - 1 / (1 + math.exp(-gap))], [0.5, 0.5]]
    shares = ensemble_confidence([[0, 0, 1]], [size] * 3, 2, combine="share")
    np.testing.assert_allclose(shares, [[2 / 3, 1 / 3]], rtol=3e-16)
    cold = ensemble_confidence([[0, 0, 1]], [1.0] * 3, 2, temperature=1e-150)
    hot = ensemble_confidence([[0, 0, 1]], [1.0] * 3, 2, temperature=1e150)
    assert cold.tolist() == [[1, 0]]
    assert hot.tolist() == [[0.5, 0.5]]


# Memory and machines


def some_votes(n, members=30, n_classes=4):
    rng = np.random.default_rng(5)
    return rng.integers(-1, n_classes, (n, members)), rng.uniform(0.1, 4, members)


@pytest.mark.parametrize("n_classes", [2, 4, 300])
@pytest.mark.parametrize("path", [False, True])
def test_same_bits_for_any_threads_and_instruction_set(n_classes, path):
    members = 130 if n_classes < 300 else 20
    votes, weights = some_votes(3000 if path else 30_000, members, n_classes)
    votes, weights = votes[: 10**6 // (members * n_classes)], weights
    run = functools.partial(ensemble_confidence, votes, weights, n_classes, path=path)
    expected = run()
    for isa in config()["available_isas"]:
        _testing.set_isa(isa)
        for threads in (1, 2, 7):
            set_num_threads(threads)
            np.testing.assert_array_equal(run(), expected)
    by_pieces = [
        ensemble_confidence(part, weights, n_classes, path=path) for part in np.split(votes, [1, 9])
    ]
    np.testing.assert_array_equal(np.concatenate(by_pieces), expected)
    for i in (0, len(votes) - 1):
        there = expected[i, -1] if path else expected[i]
        close(there, reference(votes[i].tolist(), weights, n_classes), members, rel=1e-15)


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8", ">i4", "f2", "f4", "f8"])
def test_votes_of_any_type_and_layout(dtype):
    votes, weights = some_votes(1000, 7)
    expected = ensemble_confidence(votes, weights, 4)
    typed = votes.astype(dtype)
    wide = np.zeros((1000, 21), dtype)
    wide[:, ::3] = typed
    for given_votes in (typed, np.asfortranarray(typed), wide[:, ::3], typed[::-1][::-1]):
        np.testing.assert_array_equal(ensemble_confidence(given_votes, weights, 4), expected)
    seen = np.maximum(votes, 0)
    expected = ensemble_confidence(seen, weights, 4)
    unsigned = seen.astype("u" + dtype[-1] if dtype[0] in "i" else "u8")
    np.testing.assert_array_equal(ensemble_confidence(unsigned, weights, 4), expected)


def test_votes_of_other_libraries():
    votes, weights = some_votes(50, 3, 2)
    expected = ensemble_confidence(votes, weights, 2)
    np.testing.assert_array_equal(ensemble_confidence(votes.tolist(), weights, 2), expected)
    np.testing.assert_array_equal(ensemble_confidence(pd.DataFrame(votes), weights, 2), expected)
    yes = votes == 1
    np.testing.assert_array_equal(
        ensemble_confidence(yes, weights, 2), ensemble_confidence(yes.astype(int), weights, 2)
    )
    lists = pa.FixedSizeListArray.from_arrays(pa.array(votes.ravel()), 3)
    np.testing.assert_array_equal(ensemble_confidence(lists, pa.array(weights), 2), expected)


def test_no_rows():
    assert ensemble_confidence(np.zeros((0, 3), int), [1, 1, 1], 4).shape == (0, 4)
    assert ensemble_confidence(np.zeros((0, 3), int), [1, 1, 1], 4, path=True).shape == (0, 3, 4)


# What is rejected

GOOD = {"votes": [[0, 1], [1, 2], [2, 2]], "weights": [1.0, 2.0], "n_classes": 3}
REFUSED = [
    ({"votes": [[0, 1], [1, 3], [9, 9]]}, ValueError, "votes must be -1 or an integer from 0 to 2, found 3 at row 1, column 1$"),
    ({"votes": [[0, 1], [-2, 0]]}, ValueError, "votes must be -1 or .*, found -2 at row 1, column 0$"),
    ({"votes": np.array([[0, 255]], "u1")}, ValueError, "found 255 at row 0, column 1$"),
    ({"votes": np.array([[0, 2**63]], "u8")}, ValueError, "found 9223372036854775808 at row 0"),
    ({"votes": [[0, 0.5]]}, ValueError, "found 0.5 at row 0, column 1$"),
    ({"votes": [[0, NAN]]}, ValueError, r"votes has a missing value \(NaN\) at row 0, column 1$"),
    ({"votes": [0, 1]}, ValueError, r"votes must have shape \(n, k\), got shape \(2,\)"),
    ({"votes": [["a", "b"]]}, TypeError, "votes must hold integer class codes, got dtype <U1$"),
    ({"votes": None}, TypeError, "votes must be an array of real numbers, got None"),
    ({"votes": np.zeros((3, 0), int), "weights": []}, ValueError, "votes must have at least one member, got 0"),
    ({"weights": [1.0]}, ValueError, "votes must have one column for each of the 1 weights, got 2"),
    ({"weights": [1.0, NAN]}, ValueError, r"weights has a missing value \(NaN\) at row 1$"),
    ({"weights": [[1.0, 2.0]]}, ValueError, r"weights must have shape \(n,\), got shape \(1, 2\)"),
    ({"weights": [1.0, -2.0], "combine": "share"}, ValueError, "weights must not be negative with combine='share', found -2 at row 1$"),
    ({"weights": ["a", "b"]}, TypeError, "weights must hold real numbers, got dtype <U1"),
    ({"n_classes": 0}, ValueError, "n_classes must be at least 1, got 0"),
    ({"n_classes": -1}, ValueError, "n_classes must be at least 1, got -1"),
    ({"n_classes": 2**20 + 1}, ValueError, "n_classes must be at most 1048576, got 1048577"),
    ({"n_classes": 3.0}, TypeError, "n_classes must be an integer, got 3.0"),
    ({"temperature": 0.0}, ValueError, r"temperature must lie in \[1e-150, 1e150\], got 0"),
    ({"temperature": -1.0}, ValueError, "temperature must lie in .*, got -1"),
    ({"temperature": NAN}, ValueError, "temperature must be a number, got nan"),
    ({"temperature": 2.0, "combine": "share"}, ValueError, "temperature must be 1 with combine='share', got 2"),
    ({"combine": "mean"}, ValueError, "combine must be 'softmax' or 'share', got 'mean'"),
]  # fmt: skip


@pytest.mark.parametrize(("bad", "error", "message"), REFUSED, ids=range(len(REFUSED)))
def test_what_is_rejected(bad, error, message):
    with pytest.raises(error, match=message):
        ensemble_confidence(**{**GOOD, **bad})


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_the_first_bad_vote_is_named(threads):
    set_num_threads(threads)
    votes, weights = some_votes(20_000)
    for row in (0, 511, 12_345, 19_999):
        spoiled = votes.astype(np.int16)
        spoiled[row:, 7] = 4
        with pytest.raises(ValueError, match=f"found 4 at row {row}, column 7$"):
            ensemble_confidence(spoiled, weights, 4)


# Members of scikit-learn's ensembles

sk = pytest.importorskip("sklearn.ensemble")


@pytest.fixture(scope="module")
def named_rows():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, 300)
    X = np.array([[0, 0], [2, 1], [0, 3]])[y] + rng.normal(size=(300, 2))
    return X, np.array(["z", "a", "m"])[y]


def test_adaboost_votes_as_it_does_itself(named_rows):
    X, y = named_rows
    model = sk.AdaBoostClassifier(n_estimators=20, random_state=0).fit(X, y)
    found = ensemble_votes(model, X)
    assert found.votes.shape == (300, len(model.estimators_))
    np.testing.assert_array_equal(found.weights, model.estimator_weights_)
    for t, member in enumerate(model.estimators_):
        np.testing.assert_array_equal(found.classes[found.votes[:, t]], member.predict(X))
    np.testing.assert_array_equal(found.classes[found.confidence().argmax(1)], model.predict(X))


def test_adaboost_that_stops_at_once():
    model = sk.AdaBoostClassifier(n_estimators=9).fit([[0], [1], [2]], [0, 1, 1])
    found = ensemble_votes(model, [[0], [2]])
    assert found.votes.tolist() == [[0], [1]]
    assert found.weights.tolist() == [1.0]


def test_forest_and_bag_are_counted(named_rows):
    X, y = named_rows
    forest = sk.RandomForestClassifier(15, max_depth=3, random_state=0).fit(X, y)
    found = ensemble_votes(forest, X)
    labels = [forest.classes_[tree.predict(X).astype(int)] for tree in forest.estimators_]
    shares = [[np.mean([said[i] == c for said in labels]) for c in "amz"] for i in range(300)]
    np.testing.assert_allclose(found.confidence(combine="share"), shares, rtol=3e-16)
    bag = sk.BaggingClassifier(n_estimators=9, max_features=1, random_state=0).fit(X, y)
    found = ensemble_votes(bag, pd.DataFrame(X, columns=["u", "v"]))
    for t, (member, columns) in enumerate(
        zip(bag.estimators_, bag.estimators_features_, strict=True)
    ):
        np.testing.assert_array_equal(found.votes[:, t], member.predict(X[:, columns]))
    assert repr(found) == "EnsembleVotes(n=300, members=9, classes=['a', 'm', 'z'])"
    assert json.loads(json.dumps(found.to_dict()))["classes"] == ["a", "m", "z"]


def test_sparse_rows(named_rows):
    sparse = pytest.importorskip("scipy.sparse")
    X, y = named_rows
    model = sk.BaggingClassifier(n_estimators=4, random_state=0).fit(X, y)
    found = ensemble_votes(model, sparse.coo_matrix(X))
    np.testing.assert_array_equal(found.votes, ensemble_votes(model, X).votes)


def test_what_does_not_vote_is_rejected(named_rows):
    X, y = named_rows
    with pytest.raises(
        TypeError, match=r"must be a fitted ensemble .*, got RandomForestClassifier"
    ):
        ensemble_votes(sk.RandomForestClassifier(), X)
    boosted = sk.GradientBoostingClassifier(n_estimators=2).fit(X, y)
    with pytest.raises(TypeError, match=r"must have members that vote .*, got GradientBoosting"):
        ensemble_votes(boosted, X)
    two = sk.RandomForestClassifier(2).fit(X, np.stack([y, y], axis=1))
    with pytest.raises(TypeError, match="must have members that vote for one class a row"):
        ensemble_votes(two, X)


def test_without_scikit_learn_the_error_names_the_extra():
    script = """
import sys
sys.modules["sklearn"] = None
import calibrant
calibrant.ensemble_confidence([[0, 1]], [1, 2], 2)
for module in (calibrant, calibrant.ensemble):
    try:
        module.LearnPlusPlus
    except ImportError as error:
        print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    line = 'LearnPlusPlus needs scikit-learn: pip install ".[sklearn]"\n'
    assert done.stdout == 2 * line
    with pytest.raises(AttributeError, match="has no attribute 'LearnMinusMinus'"):
        calibrant.LearnMinusMinus  # noqa: B018
