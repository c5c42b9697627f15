"""The Fréchet distance, against the matrix square root; and moments in a stream."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.linalg import sqrtm

from calibrant import set_num_threads, streaming
from calibrant._core import _testing
from calibrant.config import config
from calibrant.samples import SampleMoments, frechet_distance

pytestmark = pytest.mark.usefixtures("runtime_restored")


def reference(x, y):
    """Return the formula, with SciPy's root of a matrix."""
    c, d = np.cov(x, rowvar=False), np.cov(y, rowvar=False)
    root = np.real(np.trace(sqrtm(c @ d)))
    return ((x.mean(0) - y.mean(0)) ** 2).sum() + np.trace(c) + np.trace(d) - 2 * root


def test_two_by_two():
    x = [0, 0], [[2, 1], [1, 2]]
    y = [1, 2], [[1, 0], [0, 3]]
    assert frechet_distance(x, y) == pytest.approx(5.516685226452117, rel=1e-14)
    product = np.array(x[1]) @ np.array(y[1])
    trace = math.sqrt(np.trace(product) + 2 * math.sqrt(np.linalg.det(product)))
    assert frechet_distance(x, y) == pytest.approx(5 + 4 + 4 - 2 * trace, rel=1e-14)


def test_one_column_is_a_closed_form():
    rng = np.random.default_rng(0)
    x, y = rng.normal(1, 2, 50), rng.normal(3, 5, 70)
    expected = (x.mean() - y.mean()) ** 2 + (x.std(ddof=1) - y.std(ddof=1)) ** 2
    assert frechet_distance(x, y) == pytest.approx(expected, rel=1e-13)
    assert frechet_distance(x[:, None], y) == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("n", [12, 13, 100, 3000])
def test_the_square_root_of_the_matrix(n):
    rng = np.random.default_rng(n)
    x = rng.normal(size=(n, 12)) @ rng.normal(size=(12, 12))
    y = 1 + rng.normal(size=(n + 40, 12)) @ rng.normal(size=(12, 12))
    assert frechet_distance(x, y) == pytest.approx(reference(x, y), rel=1e-6)
    assert frechet_distance(x, y) == pytest.approx(frechet_distance(y, x), rel=1e-13)


def test_fewer_rows_than_columns():
    """Both covariances are singular, and the root of their product mostly noise."""
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(50, 300)), rng.normal(size=(40, 300)) + 0.3
    centred = [(a - a.mean(0)) / math.sqrt(len(a) - 1) for a in (x, y)]
    # tr (C D)^(1/2) = tr (B A^T A B^T)^(1/2), by a small symmetric matrix
    values = np.linalg.eigvalsh(centred[1] @ (centred[0].T @ (centred[0] @ centred[1].T)))
    root = np.sqrt(values.clip(0)).sum()
    expected = ((x.mean(0) - y.mean(0)) ** 2).sum() + sum((a**2).sum() for a in centred) - 2 * root
    assert frechet_distance(x, y) == pytest.approx(expected, rel=1e-7)
    moments = [(a.mean(0), np.cov(a, rowvar=False)) for a in (x, y)]
    assert frechet_distance(*moments) == pytest.approx(frechet_distance(x, y), rel=1e-6)


def test_orthogonal_spreads_and_equal_samples():
    along, across = np.zeros((3, 2)), np.zeros((3, 2))
    along[:, 0] = across[:, 1] = [-1, 0, 1]
    assert frechet_distance(along, across) == pytest.approx(2.0, rel=1e-14)
    rng = np.random.default_rng(2)
    for shape in ((20, 50), (50, 20)):
        x = rng.normal(size=shape) + 1e3
        assert 0.0 <= frechet_distance(x, x) < 1e-10
        assert frechet_distance(x, x + 2) == pytest.approx(4 * shape[1], rel=1e-9)


def test_constant_columns():
    x = np.ones((5, 3))
    assert frechet_distance(x, x) == 0
    assert frechet_distance(x, x + 1) == pytest.approx(3, rel=1e-14)


@pytest.mark.parametrize("exponent", [-900, -300, 300, 480])
def test_any_scale(exponent):
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(30, 4)), rng.normal(size=(40, 4))
    scaled = frechet_distance(np.ldexp(x, exponent), np.ldexp(y, exponent))
    assert scaled == math.ldexp(frechet_distance(x, y), 2 * exponent)


def test_a_large_mean_in_single_precision():
    rng = np.random.default_rng(4)
    x = (rng.normal(size=(5000, 3)) + 1e4).astype(np.float32)
    y = (rng.normal(size=(4000, 3)) + 1e4).astype(np.float32)
    expected = frechet_distance(x.astype(float) - 1e4, y.astype(float) - 1e4)
    assert frechet_distance(x, y) == pytest.approx(expected, rel=1e-9)
    total = [streaming.Moments(3), streaming.Moments(3)]
    for state, rows in zip(total, (x, y), strict=True):
        for batch in np.array_split(rows, 7):
            state.update(batch)
    found = frechet_distance(*(state.result() for state in total))
    assert found == pytest.approx(expected, rel=1e-9)
    exact = np.cov(x.astype(float) - 1e4, rowvar=False)
    assert np.abs(total[0].result().covariance / exact - 1).max() < 1e-13


@pytest.mark.parametrize(
    ("x", "error", "message"),
    [
        ([[1.0, 2.0]], ValueError, "at least 2 rows, got 1 of x"),
        ([[1.0], [2.0]], ValueError, "same columns, found 1 and 2"),
        (
            [[1.0, 2.0], [3.0, math.nan]],
            ValueError,
            r"x has a missing value \(NaN\) at row 1, column 1",
        ),
        ([[1.0, 2.0], [3.0, -math.inf]], ValueError, "x must be finite, found -inf at row 1, col"),
        ("ab", TypeError, "x must be an array"),
        ([[1e308, 0.0]] * 4, ValueError, "x must be small enough for sums of its rows"),
        (np.zeros((3, 0)), ValueError, "x must have at least one column"),
        (([0, 0], [[1, 0]]), ValueError, r"covariance of x must have shape \(2, 2\).*\(1, 2\)"),
        (([0, 0], [[1, 2], [0, 1]]), ValueError, "symmetric, found 2.0 at row 0, column 1 and 0.0"),
        (([0, 0], [[1, 2], [2, 1]]), ValueError, "no negative eigenvalue, found -1"),
        (
            ([0, math.nan], [[1, 0], [0, 1]]),
            ValueError,
            r"the mean of x has a missing value \(NaN\) at row 1",
        ),
    ],
)
def test_rejections(x, error, message):
    with pytest.raises(error, match=message):
        frechet_distance(x, [[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]])


# Moments in a stream

numbers = st.floats(allow_nan=False, allow_infinity=False, allow_subnormal=True).filter(
    lambda x: x == 0 or 1e-140 < abs(x) < 1e140
)


def exact_moments(rows):
    n, width = len(rows), len(rows[0])
    columns = [[Fraction(row[j]) for row in rows] for j in range(width)]
    means = [sum(c) / n for c in columns]
    centred = [[x - m for x in c] for c, m in zip(columns, means, strict=True)]
    covariance = [
        [sum(a * b for a, b in zip(c, d, strict=True)) / (n - 1) for d in centred] for c in centred
    ]
    return means, covariance


@settings(max_examples=40, deadline=None)
@given(
    st.integers(1, 3).flatmap(
        lambda d: st.lists(st.lists(numbers, min_size=d, max_size=d), min_size=2, max_size=8)
    )
)
def test_moments_are_exact(rows):
    state = streaming.Moments(len(rows[0]))
    state.update(rows)
    means, covariance = exact_moments(rows)
    found = state.result()
    assert found.n == len(rows)
    for a, b in zip(found.mean, means, strict=True):
        assert abs(Fraction(a) - b) <= abs(b) * Fraction(1, 2**51)
    flat = [value for row in covariance for value in row]
    for a, b in zip(found.covariance.ravel(), flat, strict=True):
        assert abs(Fraction(a) - b) <= abs(b) * Fraction(1, 2**51)


def nasty_rows(n=1500, width=5):
    rng = np.random.default_rng(3)
    return np.ldexp(rng.normal(size=(n, width)), rng.integers(-60, 60, (n, width)))


ACCUMULATORS = [streaming.Moments, streaming.Vendi]


@pytest.mark.parametrize("accumulator", ACCUMULATORS)
def test_any_batches_merges_threads_and_instruction_sets(accumulator):
    rows = nasty_rows()
    whole = accumulator(5)
    whole.update(rows)
    expected = whole.to_bytes()
    rng = np.random.default_rng(4)
    for threads, isa in [(t, i) for t in (1, 3) for i in config()["available_isas"]]:
        set_num_threads(threads)
        _testing.set_isa(isa)
        cuts = np.sort(rng.integers(0, len(rows), 6))
        parts = []
        for batch in np.split(rng.permutation(rows), cuts):
            parts.append(accumulator(5))
            parts[-1].update(batch)
        while len(parts) > 1:
            i, j = rng.choice(len(parts), 2, replace=False)
            parts[i].merge(parts[j])
            del parts[j]
        assert parts[0].to_bytes() == expected
    back = accumulator.from_bytes(expected)
    assert back == whole
    assert back.copy().merge(back).n == 2 * len(rows)
    assert repr(back) == f"streaming.{accumulator.__name__}(n=1500, n_features=5)"


@pytest.mark.parametrize("accumulator", ACCUMULATORS)
@pytest.mark.parametrize("form", [np.asfortranarray, lambda a: a[::-1][::-1], np.ndarray.tolist])
def test_any_memory_layout(accumulator, form):
    rows = nasty_rows(40)
    first, second = accumulator(5), accumulator(5)
    first.update(rows)
    second.update(form(rows))
    assert first == second


@pytest.mark.parametrize("accumulator", ACCUMULATORS)
def test_an_update_that_fails_changes_nothing(accumulator):
    state = accumulator(2)
    state.update([[1.0, 2.0], [3.0, 5.0]])
    before = state.to_bytes()
    for bad, message in [
        ([[1.0, 2.0], [1.0, math.nan]], r"\(NaN\) at row 1, column 1 \(row 3 of the stream\)"),
        ([[1.0, math.inf]], "features must be finite, found inf"),
        ([[1.0, 2.0, 3.0]], "features must have 2 columns, found 3"),
        ([1.0, 2.0], "features must have 2 columns, found 1"),
    ]:
        with pytest.raises(ValueError, match=message):
            state.update(bad)
        assert state.to_bytes() == before
    with pytest.raises(ValueError, match="cannot merge states of 2 and 3 features"):
        state.merge(accumulator(3))
    with pytest.raises(TypeError, match="cannot merge"):
        state.merge(streaming.Spiegelhalter())
    assert state.to_bytes() == before


def test_too_few_rows_and_bad_widths():
    state = streaming.Moments(1)
    state.update([1.0])
    with pytest.raises(ValueError, match="at least 2 rows, got 1"):
        state.result()
    with pytest.raises(ValueError, match="at least 1 row, got 0"):
        streaming.Vendi(1).result()
    for accumulator in ACCUMULATORS:
        with pytest.raises(ValueError, match=r"n_features must be at least 1, got 0"):
            accumulator(0)
        with pytest.raises(TypeError, match=r"n_features must be an integer, got 1\.5"):
            accumulator(1.5)


def test_zero_rows_have_no_direction():
    state = streaming.Vendi(2)
    with pytest.raises(
        ValueError, match="direction in every row, found nothing but zeros at row 1"
    ):
        state.update([[1.0, 2.0], [0.0, 0.0]])
    assert state.n == 0


def test_moments_for_json():
    state = streaming.Moments(1)
    state.update([1.0, 3.0])
    assert state.result().to_dict() == {"mean": [2.0], "covariance": [[2.0]], "n": 2}
    assert repr(state.result()) == "SampleMoments of 2 rows with 1 feature"
    assert isinstance(state.result(), SampleMoments)
