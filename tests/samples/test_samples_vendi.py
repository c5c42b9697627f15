"""The Vendi score, against its definition by the eigenvalues of all similarities."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from calibrant import streaming
from calibrant.samples import vendi_profile, vendi_score

ORDERS = [0.1, 0.5, 1, 1.5, 2, 3, math.inf]
K = [[1, 0.5, 0], [0.5, 1, 0], [0, 0, 1]]


def similarities(x):
    x = np.asarray(x, float)
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    return unit @ unit.T


def reference(matrix, q, p=None):
    """Return the definition; orders from 1 on, as noise in the eigenvalues weighs less there."""
    n = len(matrix)
    p = np.full(n, 1 / n) if p is None else np.asarray(p) / np.sum(p)
    values = np.linalg.eigvalsh(np.sqrt(np.outer(p, p)) * matrix)
    values = values[values > 1e-13]
    if q == 1:
        return math.exp(-(values * np.log(values)).sum())
    if q == math.inf:
        return 1 / values.max()
    return (values**q).sum() ** (1 / (1 - q))


def test_known_values():
    expected = {0: 3, 0.5: 2.8652513709, 1: 2.7494592740, 2: 2.5714285714, math.inf: 2}
    for q, value in expected.items():
        assert vendi_score(K, q=q, kernel="precomputed") == pytest.approx(value, abs=5e-11)
    x = [[1, 0], [0, 1], [1, 1]]
    assert vendi_score(x) == pytest.approx(1.8898815748, abs=5e-11)
    assert vendi_score(x, q=2) == pytest.approx(1.8, rel=1e-14)
    assert vendi_score(x, q=0) == 2


@pytest.mark.parametrize("shape", [(30, 4), (4, 30), (7, 7), (300, 3)])
@pytest.mark.parametrize("q", ORDERS)
def test_the_definition(shape, q):
    x = np.random.default_rng(0).normal(size=shape) + 0.5
    expected = reference(similarities(x), q)
    assert vendi_score(x, q=q) == pytest.approx(expected, rel=1e-9)
    assert vendi_score(similarities(x), q=q, kernel="precomputed") == pytest.approx(
        expected, rel=1e-9
    )


def test_noise_is_not_counted():
    """A peer finds 13.94 by the n x n matrix and 7.995 by the features."""
    x = np.random.default_rng(0).normal(size=(500, 8))
    by_features = vendi_score(x, q=0.1)
    assert 7 < by_features < 8
    assert vendi_score(similarities(x), q=0.1, kernel="precomputed") == pytest.approx(
        by_features, rel=1e-9
    )
    assert vendi_score(x, q=0) == 8


def test_a_rare_direction_is_not_noise():
    """Its eigenvalue, 1e-20 of the largest, would be lost in a matrix of products."""
    x = np.array([[1.0, 0.0], [1.0, 1e-10], [1.0, 0.0]])
    assert vendi_score(x, q=0) == 2


def test_limits():
    assert vendi_score(np.ones((5, 3))) == pytest.approx(1)
    for q in (0, *ORDERS):
        assert vendi_score(np.eye(6), q=q) == pytest.approx(6, rel=1e-13)
        assert vendi_score(np.eye(6), q=q, kernel="precomputed") == pytest.approx(6, rel=1e-13)
    assert vendi_score([3.0, 2.0, 7.0]) == 1  # one feature has two directions
    assert vendi_score([3.0, -2.0, 7.0]) == pytest.approx(1)
    assert vendi_score([[1.0, 2.0]], q=0) == 1
    near = vendi_score(K, q=1 + 1e-7, kernel="precomputed")
    assert near == pytest.approx(vendi_score(K, kernel="precomputed"), rel=1e-6)
    assert vendi_score(np.eye(50), q=1000) == pytest.approx(50, rel=1e-12)


rows = st.integers(1, 4).flatmap(
    lambda d: st.lists(
        st.lists(st.integers(-9, 9), min_size=d, max_size=d).filter(any), min_size=1, max_size=12
    )
)


@settings(max_examples=60, deadline=None)
@given(rows, st.randoms(use_true_random=False))
def test_laws(x, random):
    profile = vendi_profile(x, orders=[0.5, 1, 2, 4, math.inf])
    scores = profile.scores
    assert all(a >= b * (1 - 1e-9) for a, b in itertools.pairwise(scores))
    assert scores[-1] >= 1 - 1e-9
    assert scores[0] <= len(x) * (1 + 1e-9)
    assert profile.eigenvalues.sum() == pytest.approx(1)
    shuffled = random.sample(x, len(x))
    assert vendi_score(shuffled) == pytest.approx(vendi_score(x), rel=1e-9)
    assert vendi_score(np.multiply(x, 3.0)) == pytest.approx(vendi_score(x), rel=1e-9)
    assert vendi_score(x + x) == pytest.approx(vendi_score(x), rel=1e-9)


@pytest.mark.parametrize("shape", [(12, 3), (12, 40)])
@pytest.mark.parametrize("q", [0.5, 1, 2, math.inf])
def test_weights_are_repetitions(shape, q):
    rng = np.random.default_rng(2)
    x, counts = rng.normal(size=shape), rng.integers(0, 4, 12)
    expected = vendi_score(np.repeat(x, counts, axis=0), q=q)
    assert vendi_score(x, q=q, sample_weight=counts) == pytest.approx(expected, rel=1e-9)
    matrix = similarities(x)
    assert vendi_score(
        matrix, q=q, kernel="precomputed", sample_weight=counts * 1e300
    ) == pytest.approx(expected, rel=1e-7)
    assert reference(matrix, q, counts) == pytest.approx(expected, rel=1e-6)


def test_the_profile():
    profile = vendi_profile([[1, 0], [0, 1], [1, 1]])
    for q, score in zip(profile.orders, profile.scores, strict=True):
        assert score == profile.at(q) == pytest.approx(vendi_score([[1, 0], [0, 1], [1, 1]], q=q))
    assert profile.to_dict()["orders"][-1] == "inf"
    assert profile.n == 3


def test_the_stream_agrees():
    x = np.random.default_rng(3).normal(size=(300, 6)) + 1
    state = streaming.Vendi(6)
    for batch in np.array_split(x, 5):
        state.update(batch)
    profile = state.result()
    for q in (0, *ORDERS):
        assert profile.at(q) == pytest.approx(vendi_score(x, q=q), rel=1e-10)


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_any_length_of_rows(scale):
    x = np.array([[1.0, 2.0], [-3.0, 1.0], [0.5, 0.5]])
    assert vendi_score(x * scale) == pytest.approx(vendi_score(x), rel=1e-12)


@pytest.mark.parametrize(
    ("x", "options", "error", "message"),
    [
        ([[0.0, 0.0]], {}, ValueError, "direction in every row, found nothing but zeros at row 0"),
        ([[1.0, math.nan]], {}, ValueError, r"x has a missing value \(NaN\) at row 0, column 1"),
        (np.zeros((0, 2)), {}, ValueError, "x must have rows"),
        ([[1.0]], {"q": -1}, ValueError, "q must not be negative, got -1"),
        ([[1.0]], {"q": math.nan}, ValueError, "q must be a number, got nan"),
        ([[1.0]], {"q": "one"}, TypeError, "q must be a real number, got 'one'"),
        ([[1.0]], {"kernel": "rbf"}, ValueError, "kernel must be 'cosine' or 'precomputed'"),
        (
            [[1.0], [1.0]],
            {"sample_weight": [1.0]},
            ValueError,
            r"must have the same length, got 2 and 1",
        ),
        ([[1.0], [1.0]], {"sample_weight": [1.0, -1.0]}, ValueError, "found -1 at row 1"),
        ([[1.0], [1.0]], {"sample_weight": [0, 0]}, ValueError, "must not be 0 in all rows"),
        ([[1.0, 0.5]], {"kernel": "precomputed"}, ValueError, r"square.* got \(1, 2\)"),
        (
            [[1, 0], [0.5, 1]],
            {"kernel": "precomputed"},
            ValueError,
            "symmetric, found 0.0 at row 0",
        ),
        ([[1, 0], [0, 2]], {"kernel": "precomputed"}, ValueError, "diagonal, found 2.0 at row 1"),
        ([[1, -3], [-3, 1]], {"kernel": "precomputed"}, ValueError, "no negative eigenvalue"),
    ],
)
def test_rejections(x, options, error, message):
    with pytest.raises(error, match=message):
        vendi_score(x, **options)
