"""Scores in ascending order, ties pooled, weights exact."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

from calibrant import _core

pytestmark = pytest.mark.threads

SCORES = st.sampled_from([0.0, -0.0, 0.5, 1.0, 5e-324, 2.0**-28, 0.1]) | st.floats(0, 1)
WEIGHTS = st.sampled_from([0.0, 1.0, 3.0, 0.1, 2.0**60, 1e-5]) | st.floats(0.001, 1000)
ROWS = st.lists(st.tuples(st.integers(0, 1), SCORES, WEIGHTS), max_size=200)


def sorted_scores(y, p, w=None, omit=False):
    """[(score, weight, hits)] with the weights as fractions."""
    table, exponent = _core._testing.sorted_scores(y, p, w, omit, _core.BINARY)
    unit = Fraction(2) ** exponent
    return [(score, weight * unit, hits * unit) for score, weight, hits in table]


def by_definition(rows, weighted):
    pools = {}
    for y, p, w in rows:
        weight = Fraction(w) if weighted else Fraction(1)
        if weight == 0:
            continue
        pool = pools.setdefault(p + 0.0, [Fraction(0), Fraction(0)])
        pool[0] += weight
        pool[1] += y * weight
    return [(p, *pools[p]) for p in sorted(pools)]


def columns(rows):
    y, p, w = zip(*rows, strict=True) if rows else ((), (), ())
    return np.array(y, np.int64), np.array(p, np.float64), np.array(w, np.float64)


@given(rows=ROWS, weighted=st.booleans())
def test_sorted_scores_are_those_of_the_definition(rows, weighted):
    # All of these weights lie within 80 binary digits, or are rounded: see the next test.
    rows = [(y, p, w) for y, p, w in rows if w < 2.0**20]
    y, p, w = columns(rows)
    assert sorted_scores(y, p, w if weighted else None) == by_definition(rows, weighted)


@given(rows=ROWS)
def test_weights_are_rounded_to_2_to_the_minus_79_of_the_largest(rows):
    y, p, w = columns(rows)
    largest = float(w.max()) if len(w) else 0.0
    expected = {score: (weight, hits) for score, weight, hits in by_definition(rows, True)}
    for score, weight, hits in sorted_scores(y, p, w):
        bound = Fraction(largest) * len(rows) / 2**79
        assert abs(weight - expected[score][0]) <= bound
        assert abs(hits - expected[score][1]) <= bound


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_row_order_and_threads_do_not_matter(threads):
    rng = np.random.default_rng(1)
    n = 60_000  # several buckets
    p = rng.random(n) ** rng.choice([0.1, 1, 40], n)
    y = (rng.random(n) < p).astype(np.uint8)
    w = rng.random(n) * 2.0 ** rng.integers(-80, 80, n)  # many are rounded
    order = rng.permutation(n)
    before = _core.num_threads()
    try:
        _core.set_num_threads(threads)
        assert sorted_scores(y, p, w) == sorted_scores(y[order], p[order], w[order])
        assert sorted_scores(y, p) == sorted_scores(y[order], p[order])
    finally:
        _core.set_num_threads(before)


def test_bad_rows_are_named():
    with pytest.raises(ValueError, match=r"y_proba must lie in \[0, 1\], found 1.5 at row 1"):
        sorted_scores([0, 1], [0.5, 1.5])
