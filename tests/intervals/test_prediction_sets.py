"""Prediction sets in all their forms against their definitions, against MAPIE, and their laws."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

import calibrant
from calibrant import set_num_threads


def random_sets(n, k=5, levels=1, seed=0):
    rng = np.random.default_rng([seed, n, k])
    return rng.integers(0, k, n), rng.random((n, k, levels)) < np.linspace(0.2, 0.7, levels)


def masks_of(sets):
    """Class c is bit c % 64 of word c // 64."""
    n, k = sets.shape
    words = np.zeros((n, (k + 63) // 64), np.uint64)
    for c in range(k):
        words[:, c // 64] |= sets[:, c].astype(np.uint64) << np.uint64(c % 64)
    return words


def lists_of(sets):
    return [np.flatnonzero(row).tolist() for row in sets]


def by_definition(y, sets, weights=None):
    """(coverage, mean size, share of empty sets, {size: (weight, coverage)})"""
    weights = np.ones(len(y)) if weights is None else weights
    rows = [
        (int(row.sum()), bool(row[label]), w)
        for label, row, w in zip(y, sets, weights, strict=True)
    ]
    total = math.fsum(weights)
    sizes = {}
    for size in {size for size, _, w in rows if w > 0}:
        weight = math.fsum(w for s, _, w in rows if s == size)
        hits = math.fsum(w for s, hit, w in rows if s == size and hit)
        sizes[size] = (weight, hits / weight)
    coverage = math.fsum(w for _, hit, w in rows if hit) / total
    mean = math.fsum(w * s for s, _, w in rows) / total
    return coverage, mean, sizes.get(0, (0.0, 0.0))[0] / total, sizes


# Against the definition


@pytest.mark.parametrize("k", [1, 3, 64, 65, 130])
@pytest.mark.parametrize("weighted", [False, True])
def test_all_forms_by_definition(k, weighted):
    y, sets = random_sets(300, k)
    sets = sets[:, :, 0]
    sets[::17] = False
    weights = np.random.default_rng(2).integers(0, 4, 300).astype(float) if weighted else None
    coverage, mean, empty, sizes = by_definition(y, sets, weights)
    forms = {"boolean": sets, "lists": lists_of(sets), "masks": masks_of(sets)}
    if k <= 64:
        forms["words"] = masks_of(sets)[:, 0]
    for form in forms.values():
        found = calibrant.set_summary(y, form, sample_weight=weights)
        assert float(found.coverage) == coverage
        assert float(found.size) == pytest.approx(mean, rel=1e-15)
        assert found.size.empty == empty
        assert found.size.largest == max(sizes)
        groups = {int(g.least): (g.weight, g.coverage) for g in found.by_size.groups}
        assert groups == sizes
        assert all(g.least == g.largest for g in found.by_size.groups)
        assert calibrant.set_coverage(y, form, sample_weight=weights).to_dict() == (
            found.coverage.to_dict()
        )
        assert calibrant.set_size(form, sample_weight=weights).to_dict() == found.size.to_dict()
        ssc = calibrant.size_stratified_coverage(y, sets=form, sample_weight=weights)
        assert ssc.to_dict() == found.by_size.to_dict()


def test_levels_are_each_by_themselves():
    y, sets = random_sets(500, 6, levels=3)
    together = calibrant.set_summary(y, sets)
    assert together.coverage.value.shape == (3,)
    for level in range(3):
        alone = calibrant.set_summary(y, sets[:, :, level])
        assert together.coverage.value[level] == float(alone.coverage)
        assert together.size.value[level] == float(alone.size)
        assert together.size.empty[level] == alone.size.empty
        assert together.by_size.levels[level] == alone.by_size.levels[0]
    json.dumps(together.to_dict())


@given(
    rows=st.lists(
        st.tuples(st.integers(0, 4), st.sets(st.integers(0, 4))), min_size=1, max_size=40
    ),
    n_groups=st.integers(1, 4),
)
def test_equal_count_groups_of_sets(rows, n_groups):
    """As for widths: group k ends with the least size that holds k / m, ties included."""
    y, sets = zip(*rows, strict=True)
    found = calibrant.size_stratified_coverage(list(y), sets=list(sets), n_groups=n_groups)
    sizes = sorted(map(len, sets))
    ends = {sizes[math.ceil(k * len(sizes) / n_groups) - 1] for k in range(1, n_groups + 1)}
    assert [g.largest for g in found.groups] == sorted(ends)
    least = 0
    for group in found.groups:
        inside = [label in s for label, s in rows if least <= len(s) <= group.largest]
        assert (group.weight, group.coverage) == (len(inside), sum(inside) / len(inside))
        least = group.largest + 1


def test_mapie():
    peer = pytest.importorskip("mapie.metrics.classification")
    y, sets = random_sets(800, 4, levels=2)
    found = calibrant.set_summary(y, sets)
    assert found.coverage.value == pytest.approx(peer.classification_coverage_score(y, sets))
    assert found.size.value == pytest.approx(peer.classification_mean_width_score(sets))
    groups = peer.classification_ssc(y, sets)
    for level in range(2):
        mine = {int(g.least): g.coverage for g in found.by_size.levels[level].groups}
        theirs = {s: c for s, c in enumerate(groups[level]) if not np.isnan(c)}
        assert mine == pytest.approx(theirs)
    assert found.by_size.value == pytest.approx(peer.classification_ssc_score(y, sets))


# Names, and other libraries


def test_names_of_classes():
    names = np.array(["cat", "dog", "emu"])
    y, sets = random_sets(60, 3)
    sets = sets[:, :, 0]
    expected = calibrant.set_summary(y, sets).to_dict()
    lists = [names[row].tolist() for row in sets]
    assert calibrant.set_summary(names[y], lists).to_dict() == expected
    assert calibrant.set_summary(names[y], lists, labels=names).to_dict() == expected
    assert calibrant.set_summary(names[y], sets, labels=names).to_dict() == expected
    assert calibrant.set_summary(names[y], masks_of(sets), labels=names).to_dict() == expected
    with pytest.raises(ValueError, match=r"sets must hold classes of labels, found 'emu' at row"):
        calibrant.set_summary(names[y[:9]], lists[:9], labels=["cat", "dog"])
    with pytest.raises(ValueError, match=r"labels must name the 3 classes, got 2"):
        calibrant.set_coverage(["cat"] * 60, sets, labels=["cat", "dog"])


def test_lists_of_arrow_polars_and_pandas():
    pa = pytest.importorskip("pyarrow")
    pd = pytest.importorskip("pandas")
    y, sets = random_sets(50, 4)
    lists = lists_of(sets[:, :, 0])
    expected = calibrant.set_summary(y, lists).to_dict()
    arrow = pa.array(lists, pa.list_(pa.int64()))
    forms = [
        arrow,
        pa.array(lists, pa.large_list(pa.int8())),
        pa.chunked_array([arrow[:20], arrow[20:]]),
        pd.Series(lists),
        [set(row) for row in lists],
    ]
    for form in forms:
        assert calibrant.set_summary(y, form).to_dict() == expected
    assert calibrant.set_summary(y[20:], arrow[20:]).to_dict() == (
        calibrant.set_summary(y[20:], lists[20:]).to_dict()
    )
    polars = pytest.importorskip("polars")
    assert calibrant.set_summary(y, polars.Series(lists)).to_dict() == expected


def test_missing_sets_and_labels():
    pa = pytest.importorskip("pyarrow")
    y, lists = [0.0, 1.0, math.nan, 0.0], [[0], None, [1], [1]]
    for form in (lists, pa.array(lists)):
        with pytest.raises(ValueError, match=r"sets has a missing value \(None\) at row 1"):
            calibrant.set_coverage([0, 1, 1, 0], form)
        found = calibrant.set_coverage(y, form, nan_policy="omit")
        assert (found.value, found.n, found.n_omitted) == (0.5, 2, 2)
        gap = calibrant.coverage_gap(
            y, sets=form, groups=[1, 1, 2, 2], confidence_level=0.5, nan_policy="omit"
        )
        assert gap.coverage.tolist() == [1.0, 0.0]
    with pytest.raises(ValueError, match=r"y_true has a missing value \(NaN\) at row 1"):
        calibrant.set_coverage([0.0, math.nan], [[0], [1]])


def test_coverage_gap_of_sets():
    y, sets = random_sets(400, 4, levels=2)
    keys = np.random.default_rng(4).integers(0, 3, 400)
    found = calibrant.coverage_gap(y, sets=sets, groups=keys, confidence_level=(0.3, 0.6))
    for i, level in enumerate((0.3, 0.6)):
        coverages = [by_definition(y[keys == g], sets[keys == g][:, :, i])[0] for g in range(3)]
        assert found.coverage[i].tolist() == pytest.approx(coverages, rel=1e-15)
        expected = np.mean(np.abs(np.array(coverages) - level))
        assert found.value[i] == pytest.approx(expected, rel=1e-14)


# Results and laws


def test_sets_of_one_size_say_nothing():
    found = calibrant.size_stratified_coverage([0, 1], sets=[[0], [0]])
    assert math.isnan(float(found))
    assert "all sizes are equal" in found.note


@pytest.mark.usefixtures("runtime_restored")
def test_any_number_of_threads():
    y, sets = random_sets(200_000, 3)
    forms = [sets, masks_of(sets[:, :, 0])]
    weights = np.random.default_rng(1).choice([0.0, 1.0, 0.1, 1e300], len(y))
    for w in (None, weights):
        found = set()
        for threads in (1, 2, 7):
            set_num_threads(threads)
            for form in forms:
                summary = calibrant.set_summary(y, form, sample_weight=w)
                found.add(json.dumps(summary.to_dict()))
        assert len(found) == 1


# Rejections


@pytest.mark.parametrize(
    ("y", "sets", "error", "message"),
    [
        ([0, 2], [[True, False]] * 2, ValueError, r"y_true must be 0 or 1, found 2 at row 1"),
        ([0, 64], np.zeros(2, np.uint64), ValueError, r"from 0 to 63, found 64 at row 1"),
        ([0, -1], [[0], [1]], ValueError, r"y_true must be an integer from 0 .* found -1 at row 1"),
        ([0, 1], [[0], [1, 3, 1]], ValueError, r"sets must hold no class twice, found 1 at row 1"),
        ([0, 1], [[0], [1, -3]], ValueError, r"class numbers from 0 on, found -3 at row 1"),
        ([0, 1], [[0], [2**40]], ValueError, r"below 2147483647, found 1099511627776 at row 1"),
        ([0, 1], [[0], 1], TypeError, r"a list of classes for each row, found 1 at row 1"),
        ([0, 1], [[0.5], [1.0]], TypeError, r"integer class numbers, or names, got real numbers"),
        ([0, 1], [set(), {True}], TypeError, r"found truth values in lists"),
        ([0, 1], np.eye(2), TypeError, r"sets must be boolean .* got float64 of shape \(2, 2\)"),
        ([0, 1], np.ones((2, 2, 0), bool), ValueError, r"at least one level, got 0"),
        ([0, 1], np.ones((2, 0), bool), ValueError, r"at least one class, got 0"),
        ([0], np.ones((2, 2), bool), ValueError, r"y_true and sets must have the same length"),
        (None, [[0]], TypeError, r"y_true must be an array of labels, got None"),
        ([], [], ValueError, r"at least one row, got none"),
        (["a", "b"], np.ones((2, 2), bool), TypeError, r"pass labels="),
    ],
)
def test_what_is_rejected(y, sets, error, message):
    with pytest.raises(error, match=message):
        calibrant.set_coverage(y, sets)


def test_weights_are_checked():
    with pytest.raises(
        ValueError, match=r"sample_weight must be finite and not negative, found -1"
    ):
        calibrant.set_coverage([0, 1], [[0], [1]], sample_weight=[1, -1])
    with pytest.raises(ValueError, match=r"positive weight, all 2 have weight 0"):
        calibrant.set_coverage([0, 1], [[0], [1]], sample_weight=[0, 0])
