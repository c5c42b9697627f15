"""The loops of the drop-in layers: against their definitions, and the same bits however run."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import calibrant
from calibrant import _core
from calibrant._core import _testing
from calibrant.compat._targets import classes_of, codes_of, equals
from calibrant.compat.mapie import calibration, uncertainty
from calibrant.compat.sklearn import roc_auc_score
from calibrant.config import config

EXAMPLES = settings(max_examples=40)
nan = math.nan


def sums_of(y, lower, upper):
    return (
        _core.interval_totals(y, lower, upper),
        _core.interval_hits(y, lower, upper),
        _core.interval_widths(lower, upper),
        _core.score_variance(y),
    )


@pytest.mark.usefixtures("runtime_restored")
def test_the_same_bits_on_any_threads_and_instruction_sets():
    rng = np.random.default_rng(3)
    n = 300_001
    score, label = rng.random(n).round(3), rng.integers(0, 2, n).astype(np.uint8)
    keys, matrix = rng.normal(size=n), rng.random((n // 3, 3))
    apart = rng.normal(size=(3, n))
    pairs = np.ascontiguousarray(apart[1:].T)
    found = []
    for isa in config()["available_isas"]:
        _testing.set_isa(isa)
        for threads in (1, 2, 3):
            calibrant.set_num_threads(threads)
            found.append((
                _core.walk_range(label, score),
                sums_of(*apart), sums_of(apart[0], *pairs.T), sums_of(*apart[:, ::-1]),
                [a.tobytes() for a in _core.sort_labelled(label, score)[:2]],
                [a.tobytes() for a in _core.sort_pairs(keys, np.arange(n, dtype=np.uint64))[:2]],
                [a.tobytes() for a in _core.largest_columns(matrix)[:2]],
                _core.set_hits(label.astype(np.int64), apart.T > 0),
            ))  # fmt: skip
    assert all(other == found[0] for other in found)
    _, of_apart, of_pairs, _, labelled, paired, largest, hits = found[0]
    assert of_apart == of_pairs  # wherever the bounds lie
    order = np.lexsort([label, score])
    assert labelled == [label[order].tobytes(), score[order].tobytes()]
    order = np.argsort(keys, kind="stable")
    assert paired == [keys[order].tobytes(), order.astype(np.uint64).tobytes()]
    assert largest == [matrix.argmax(axis=1).tobytes(), matrix.max(axis=1).tobytes()]
    assert hits == np.count_nonzero(np.where(label, apart[1], apart[0]) > 0)


VALUES = st.sampled_from([0.0, -0.0, 1.0, -1.0, 1e-300, 0.1]) | st.floats(-1e6, 1e6)


@EXAMPLES
@given(st.lists(st.tuples(VALUES, VALUES, VALUES), min_size=1, max_size=60), st.integers(1, 3))
def test_sums_over_intervals(rows, stride):
    y, lower, upper = np.repeat(np.array(rows), stride, axis=0).T[:, ::stride]
    exact = [[Fraction(v) for v in row] for row in rows]
    width = sum(abs(u - v) for _, v, u in exact)
    excess = sum(max(min(v, u) - x, x - max(v, u), 0) for x, v, u in exact)
    covered = sum(v <= x <= u for x, v, u in exact)
    found = _core.interval_totals(y, lower, upper)
    assert found[0] == covered
    assert found[-1]
    assert found[1:3] == pytest.approx((float(width), float(excess)), rel=1e-14, abs=1e-300)
    assert found[3:5] == (y.min(), y.max())
    assert _core.interval_hits(y, lower, upper) == (covered, True)
    assert _core.interval_widths(lower, upper) == found[1]
    variance = math.fsum(v * (1 - v) for v in y)
    assert _core.score_variance(y) == pytest.approx(
        variance, abs=1e-14 * math.fsum(abs(v) * (1 + abs(v)) for v in y) + 1e-300
    )


@pytest.mark.parametrize("bad", [nan, math.inf, -math.inf])
@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("row", [0, 700, 1022])
def test_what_is_not_finite_is_seen(bad, place, row):
    columns = np.random.default_rng(1).random((3, 1023))
    columns[place, row] = bad
    assert _core.interval_hits(*columns)[1] is False
    assert _core.interval_totals(*columns)[-1] is False


@EXAMPLES
@given(st.integers(1, 30), st.integers(1, 5), st.randoms(use_true_random=False))
def test_hits_of_sets(n, k, random):
    sets = np.array([[[random.random() < 0.5] * 2 for _ in range(k)] for _ in range(n)])
    label = np.array([random.randrange(k) for _ in range(n)])
    expected = sum(bool(sets[i, c, 0]) for i, c in enumerate(label))
    assert _core.set_hits(label, sets[:, :, 0]) == expected
    assert _core.set_hits(np.repeat(label, 2)[::2], sets[:, :, 1]) == expected
    for unknown in (-1, k):
        label[random.randrange(n)] = unknown
        assert _core.set_hits(label, sets[:, :, 0]) is None


@EXAMPLES
@given(st.lists(VALUES, min_size=1, max_size=300))
def test_sort_pairs(values):
    keys = np.array(values)
    rows = np.arange(len(keys), dtype=np.uint64)
    found, order, tied = _core.sort_pairs(keys, rows)
    assert tied == (len(np.unique(keys)) < len(keys))
    assert (found == np.sort(keys)).all()
    assert (keys[order.astype(int)] == found).all()
    assert sorted(order) == rows.tolist()


def test_values_far_apart_are_sorted_too():
    rng = np.random.default_rng(5)
    keys = np.concatenate([rng.random(20_000), 1e308 * rng.normal(size=200).clip(-1.5, 1.5)])
    found, order, _ = _core.sort_pairs(keys, np.arange(len(keys), dtype=np.uint64))
    assert (found == np.sort(keys)).all()
    assert (keys[order.astype(int)] == found).all()


@pytest.mark.parametrize("bad", [nan, math.inf])
def test_keys_that_are_not_finite_are_left_to_others(bad):
    y = np.random.default_rng(6).random(10_000)
    y[17] = bad
    x = np.arange(10_000)
    assert _core.sort_pairs(y, x.view(np.uint64))[2] is True
    for found, expected in zip(calibration.sort_xy_by_y(x, y), (x[np.argsort(y)], np.sort(y)),
                               strict=True):  # fmt: skip
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("kind", [np.int64, np.float64, np.uint64, np.int32, bool, "U3"])
@pytest.mark.parametrize("digits", [3, 17])  # with ties and without
def test_sort_xy_by_y_is_that_of_numpy(kind, digits):
    rng = np.random.default_rng(7)
    y = rng.random(5000).round(digits) - 0.5
    x = rng.integers(0, 1000, 5000).astype(kind)
    order = np.argsort(y)
    found = calibration.sort_xy_by_y(x, y)
    assert found[0].dtype == x.dtype
    assert found[1].dtype == y.dtype
    assert (found[0] == x[order]).all()
    assert (found[1] == y[order]).all()


@given(st.lists(st.tuples(st.sampled_from([0.0, 0.5, 0.25, 1.0, 1.0000001]) | st.floats(0, 1),
                          st.integers(0, 1)), min_size=1, max_size=300))  # fmt: skip
def test_walk_range(rows):
    score = np.array([s for s, _ in rows])
    label = np.array([y for _, y in rows], np.uint8)
    highest, lowest, depends_on_ties = _core.walk_range(label, score)
    if not depends_on_ties:
        # Label 0 first or last in a tie: if it does not matter, both have these extremes.
        for sign in (1, -1):
            order = np.lexsort([sign * label.astype(int), score])
            walk = np.cumsum(label[order] - score[order])
            assert highest == pytest.approx(walk.max(), abs=1e-11)
            assert lowest == pytest.approx(walk.min(), abs=1e-11)


def test_walks_and_accuracies_of_sorted_rows():
    rng = np.random.default_rng(8)
    label, score = rng.integers(0, 2, 40_000).astype(np.uint8), np.sort(rng.random(40_000))
    walk = np.cumsum(label - score) / 40_000
    np.testing.assert_array_equal(_core.cumulative_walk(label, score), walk)
    shares = np.cumsum(label[::-1]) / np.arange(1, 40_001)
    assert _core.mean_accuracy(label) == pytest.approx(math.fsum(shares) / 40_000, rel=1e-14)


@EXAMPLES
@given(
    st.lists(
        st.tuples(st.integers(0, 1), st.sampled_from([0.0, 0.25, 0.5]) | st.floats(0, 1)),
        max_size=40,
    ),
    st.sampled_from([0.1, 0.25, 1 / 3, 0.5, 1 - 2**-53]) | st.floats(0.01, 0.99),
)
def test_partial_area_by_definition(rows, max_fpr):
    y, p = np.array([*rows, (0, 0.3), (1, 0.7)]).T
    hits, misses = int(y.sum()), int((1 - y).sum())
    points = [(Fraction(0), Fraction(0))]
    for cut in sorted(set(p), reverse=True):
        above = p >= cut
        points.append((Fraction(int((1 - y)[above].sum()), misses),
                       Fraction(int(y[above].sum()), hits)))  # fmt: skip
    most, area = Fraction(max_fpr), Fraction(0)
    for (x0, y0), (x1, y1) in itertools.pairwise(points):
        if x0 >= most or x1 == x0:
            continue
        end = min(x1, most)
        height = y0 + (y1 - y0) * (end - x0) / (x1 - x0)
        area += (end - x0) * (y0 + height) / 2
    chance = most * most / 2
    expected = (1 + (area - chance) / (most - chance)) / 2
    assert roc_auc_score(y, p, max_fpr=max_fpr) == pytest.approx(float(expected), abs=1e-12)


def test_accuracy_of_the_most_confident_breaks_ties_by_the_place_of_rows():
    right = np.array([0, 1, 1, 0, 1])
    confidence = np.array([0.5, 0.5, 0.9, 0.5, -0.1])
    order = [2, 0, 1, 3, 4]
    expected = np.mean(np.cumsum(right[order]) / np.arange(1, 6))
    assert uncertainty.auarc(right, confidence) == pytest.approx(expected, rel=1e-14)


def test_a_missing_number_is_seen_by_the_largest_columns():
    assert _core.largest_columns(np.array([[0.1, nan], [0.2, 0.3]]))[2] is False


# Texts -------------------------------------------------------------------------------------------

NAMES = st.sampled_from(["", "a", "b", "ab", "abc", "abcd", "abcde", "\u00e9", "\U0001f600"])


@EXAMPLES
@given(st.lists(NAMES, min_size=1, max_size=30), NAMES | st.just("longer than all"))
def test_texts_are_compared_as_numpy_does(names, name):
    y = np.array(names)
    assert (equals(y, name) == [n == name for n in names]).all()
    assert (equals(y[::-1], np.str_(name)) == [n == name for n in names[::-1]]).all()
    swapped = y.astype(y.dtype.newbyteorder())
    assert (equals(swapped, name) == [n == name for n in names]).all()
    raw = np.char.encode(y, "utf-8")
    assert (equals(raw, name.encode()) == [n == name for n in names]).all()
    assert classes_of(y).tolist() == sorted(set(names))
    codes = codes_of(y, classes_of(y))
    assert classes_of(y)[codes.astype(int)].tolist() == names
