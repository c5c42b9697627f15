"""Density, coverage, precision and recall, against the definition in exact fractions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from calibrant import set_num_threads
from calibrant._core import _testing
from calibrant.config import config
from calibrant.samples import density_coverage, precision_recall
from neighbour_reference import density_coverage_precision_recall as reference

pytestmark = pytest.mark.usefixtures("runtime_restored")


def found(real, generated, k):
    first, second = density_coverage(real, generated, k=k), precision_recall(real, generated, k=k)
    return first.density, first.coverage, second.precision, second.recall


def test_values_of_the_peer():
    real, generated = [0, 1, 2, 10], [0.5, 5, 5.2, 20]
    assert found(real, generated, 1) == (1.0, 0.75, 0.75, 1.0)
    assert found(real, generated, 2) == (0.625, 1.0, 0.75, 1.0)
    same = [0, 1, 2, 3]
    assert found(same, same, 1) == (1.0, 1.0, 1.0, 1.0)
    assert density_coverage(same, same, k=2).density == 0.75


# Squared distances of such numbers are exact, and often equal.
numbers = st.one_of(st.integers(-3, 3).map(float), st.integers(-320, 320).map(lambda i: i / 64))


@st.composite
def two_samples(draw):
    width = draw(st.integers(1, 3))
    row = st.lists(numbers, min_size=width, max_size=width)
    real = draw(st.lists(row, min_size=2, max_size=40))
    generated = draw(st.lists(row, min_size=2, max_size=40))
    return real, generated, draw(st.integers(1, min(len(real), len(generated)) - 1))


@settings(max_examples=60, deadline=None)
@given(two_samples())
def test_the_definition(sample):
    assert found(*sample) == reference(*sample)


@pytest.mark.parametrize("shape", [(50, 5), (33, 20), (16, 1)])
def test_the_definition_beyond_one_tile(shape):
    rng = np.random.default_rng(5)
    real = rng.normal(size=shape)
    generated = rng.normal(size=(len(real) + 9, shape[1])) * 1.2
    assert found(real, generated, 3) == reference(real.tolist(), generated.tolist(), 3)


def nearest_by_numpy(x, k):
    return np.sort(((x[:, None] - x) ** 2).sum(-1), axis=1)[:, k]


def test_a_large_mean_changes_nothing():
    rng = np.random.default_rng(6)
    real = rng.integers(-50, 50, (300, 4)) / 64
    generated = rng.integers(-50, 50, (200, 4)) / 64
    expected = found(real, generated, 5)
    far = found((real + 1000).astype(np.float32), (generated + 1000).astype(np.float32), 5)
    assert far == expected
    radii = nearest_by_numpy(real, 5)
    cross = ((real[:, None] - generated) ** 2).sum(-1)
    assert expected[0] == (cross < radii[:, None]).sum() / (5 * 200)


@pytest.mark.parametrize("exponent", [-1000, -200, 300, 1000])
def test_any_scale(exponent):
    rng = np.random.default_rng(7)
    real, generated = rng.normal(size=(60, 3)), rng.normal(size=(50, 3))
    scaled = np.ldexp(real, exponent), np.ldexp(generated, exponent)
    assert found(*scaled, 4) == found(real, generated, 4)


def test_threads_and_instruction_sets():
    rng = np.random.default_rng(8)
    real, generated = rng.normal(size=(700, 9)), rng.normal(size=(500, 9))
    expected = found(real, generated, 5)
    for threads in (1, 2, 5):
        set_num_threads(threads)
        for isa in config()["available_isas"]:
            _testing.set_isa(isa)
            assert found(real, generated, 5) == expected


def test_permutations():
    rng = np.random.default_rng(9)
    real, generated = rng.normal(size=(90, 2)), rng.normal(size=(70, 2))
    shuffled = rng.permutation(real), rng.permutation(generated)
    assert found(*shuffled, 5) == found(real, generated, 5)


def test_duplicates_are_counted():
    real = [[0.0, 0.0]] * 4 + [[1.0, 0.0], [5.0, 0.0]]
    result = density_coverage(real, [[0.0, 0.0], [1.0, 0.5]], k=3)
    assert result.n_degenerate == 4
    # Balls of 1 and 5 alone hold something: their third neighbour is at 0.
    assert (result.density, result.coverage) == (2 / 6, 2 / 6)
    both = precision_recall(real, real, k=3)
    assert (both.n_degenerate_real, both.n_degenerate_generated) == (4, 4)


def test_the_expected_coverage():
    rng = np.random.default_rng(10)
    values = [
        density_coverage(rng.normal(size=(40, 2)), rng.normal(size=(30, 2)), k=3)
        for _ in range(400)
    ]
    expected = 1 - math.prod((40 - i) / (70 - i) for i in range(1, 4))
    assert values[0].expected_coverage == pytest.approx(expected, rel=1e-14)
    coverage = np.array([v.coverage for v in values])
    density = np.array([v.density for v in values])
    assert abs(coverage.mean() - expected) < 4 * coverage.std() / 20
    assert abs(density.mean() - 1) < 4 * density.std() / 20
    assert values[0].expected_density == 1
    equal = density_coverage(np.arange(100.0), np.arange(100.0))
    assert equal.expected_coverage == pytest.approx(0.97107, abs=5e-6)


def test_more_neighbours_than_fit_a_tile():
    rng = np.random.default_rng(12)
    real, generated = rng.normal(size=(130, 2)), rng.normal(size=(120, 2))
    radii = nearest_by_numpy(real, 100)
    inside = ((real[:, None] - generated) ** 2).sum(-1) < radii[:, None]
    result = density_coverage(real, generated, k=100)
    assert result.density == inside.sum() / (100 * 120)
    assert result.coverage == inside.any(1).mean()


def test_results_for_json():
    result = density_coverage([0, 1, 2, 10], [0.5, 5], k=2)
    assert result.to_dict()["k"] == 2
    assert repr(precision_recall([0, 1, 2], [0, 1, 2], k=1)) == (
        "PrecisionRecall(precision=1, recall=1, k=1, n_real=3, n_generated=3)"
    )


@pytest.mark.parametrize("function", [density_coverage, precision_recall])
@pytest.mark.parametrize(
    ("real", "generated", "k", "error", "message"),
    [
        ([0, 1, 2], [0, 1, 2], 3, ValueError, "k must be less than the number of rows of real"),
        ([0, 1, 2], [0, 1, 2], 0, ValueError, "k must be at least 1, got 0"),
        ([0, 1, 2], [0, 1, 2], 1.5, TypeError, "k must be an integer, got 1.5"),
        ([[0, 1], [2, 3]], [[0], [1]], 1, ValueError, "same columns, found 2 and 1"),
        (np.zeros((3, 0)), np.zeros((3, 0)), 1, ValueError, "same columns, found 0 and 0"),
        ([0, math.nan, 2], [0, 1], 1, ValueError, r"real has a missing value \(NaN\) at row 1"),
        ([0, 1, 2], [0, math.inf], 1, ValueError, "generated must be finite, found inf at row 1"),
        ([0, 1, 2], ["a", "b"], 1, TypeError, "generated must"),
        (np.zeros((2, 2, 2)), [0, 1], 1, ValueError, "real must have shape"),
        ([0, 1, 2], [], 1, ValueError, "generated"),
    ],
)
def test_rejections(function, real, generated, k, error, message):
    with pytest.raises(error, match=message):
        function(real, generated, k=k)


def test_recall_needs_neighbours_among_the_generated():
    assert density_coverage([0, 1, 2], [0.5], k=2).coverage == 1
    with pytest.raises(ValueError, match=r"rows of generated.* got k = 2 and 1 row"):
        precision_recall([0, 1, 2], [0.5], k=2)
