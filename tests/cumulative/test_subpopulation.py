"""Tests of a subpopulation against the full population: definition, laws, null, rejections."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import calibrant
import reference
import strategies
from calibrant import cumulative_differences, cumulative_tests, ks_test, kuiper_test

pytestmark = pytest.mark.threads


def both(*args, **kwargs):
    found = cumulative_tests(*args, **kwargs)
    return found.ks.statistic, found.kuiper.statistic


@st.composite
def subsets(draw, **kwargs):
    y, p, w = draw(strategies.tables(min_rows=1, **kwargs))
    members = draw(st.lists(st.booleans(), min_size=len(y), max_size=len(y)))
    members[draw(st.integers(0, len(y) - 1))] = True
    if w is not None:  # wide weights are rounded: not by definition
        w = np.array(
            draw(st.lists(st.sampled_from((0, 0.5, 1, 2, 3)), min_size=len(y), max_size=len(y)))
        )
        w[members.index(True)] = 1
    return y, p, w, np.array(members)


def check_by_definition(y, p, w, members):
    expected = reference.subpopulation_ks_and_kuiper(p, y, members, None if w is None else list(w))
    assert both(y, p, subset=members, sample_weight=w) == pytest.approx(expected, rel=1e-15)


def test_a_worked_example():
    # Members score 0.25 and 0.75, so rows up to 0.5 belong to the first window, 0.5 included.
    p = [0.25, 0.75, 0.0, 0.5, 0.625, 1.0]
    y = [1, 0, 0, 0, 1, 1]
    members = np.array([True, True, False, False, False, False])
    # Rates 1/3 and 2/3: the walk is at 2/3, then at 0; each step has the variance 2/9.
    found = cumulative_tests(y, p, subset=members)
    assert found.ks.statistic == pytest.approx(2 / 3 / math.sqrt(4 / 9), rel=1e-15)
    assert found.kuiper.statistic == found.ks.statistic
    assert found.ks.sigma == pytest.approx(math.sqrt(4 / 9) / 2, rel=1e-15)
    assert found.ks.pvalue == calibrant.brownian_sup_sf(found.ks.statistic)
    assert found.kuiper.pvalue == calibrant.brownian_range_sf(found.kuiper.statistic)
    assert (found.ks.n, found.ks.n_omitted) == (2, 0)
    curve = cumulative_differences(y, p, subset=members)
    np.testing.assert_allclose(curve.differences, [0, 1 / 3, 0], rtol=1e-15, atol=1e-17)
    np.testing.assert_array_equal(curve.fractions, [0, 0.5, 1])
    np.testing.assert_array_equal(curve.scores, [0, 0.25, 0.75])
    assert curve.sigma == found.ks.sigma


@given(rows=subsets(weighted=False))
@settings(max_examples=150)
def test_by_definition(rows):
    y, p, w, members = rows
    check_by_definition(y, p, w, members)


@given(rows=subsets(weighted=True, max_rows=20))
@settings(max_examples=100)
def test_weights_by_definition(rows):
    y, p, w, members = rows
    check_by_definition(y, p, w, members)


def some_rows(n, seed=0, decimals=None):
    rng = np.random.default_rng(seed)
    p = rng.random(n)
    p = p if decimals is None else p.round(decimals)
    return (rng.random(n) < p).astype(int), p, rng.integers(0, 4, n)


@pytest.mark.parametrize("decimals", [None, 2])
def test_many_rows_by_definition(decimals):
    y, p, group = some_rows(3000, decimals=decimals)
    check_by_definition(y, p, None, (group == 0) & (np.arange(3000) < 600))


def test_windows_end_halfway_without_rounding():
    # (a + b) / 2 rounds to the double below it, or above: rows there are not moved.
    a, b = 0.5, math.nextafter(0.5, 1)
    p = [a, b, a, b, b]
    check_by_definition([1, 0, 0, 1, 1], p, None, np.array([True, True, False, False, False]))
    tiny = 2.0**-1074
    p = [0.0, 3 * tiny, tiny, 2 * tiny]
    check_by_definition([1, 0, 0, 1], p, None, np.array([True, True, False, False]))


def test_weights_are_repetitions():
    y, p, group = some_rows(300, decimals=1)
    w = np.random.default_rng(1).integers(0, 4, 300)
    members = group == 1
    weighted = cumulative_tests(y, p, subset=members, sample_weight=w)
    repeated = cumulative_tests(np.repeat(y, w), np.repeat(p, w), subset=np.repeat(members, w))
    for one, other in ((weighted.ks, repeated.ks), (weighted.kuiper, repeated.kuiper)):
        assert one.statistic == pytest.approx(other.statistic, rel=1e-15)
        assert one.sigma == pytest.approx(other.sigma, rel=1e-15)


def test_order_and_threads_do_not_matter(threads):
    y, p, group = some_rows(50_000, decimals=4)
    order = np.random.default_rng(2).permutation(50_000)
    found = []
    for n_threads, rows in ((1, slice(None)), (2, slice(None)), (2, order), (3, order)):
        threads(n_threads)
        found.append(cumulative_tests(y[rows], p[rows], groups=group[rows]))
    assert all(result == found[0] for result in found)


@pytest.fixture
def threads():
    yield calibrant.set_num_threads
    calibrant.set_num_threads(0)


def test_groups_are_subsets():
    y, p, group = some_rows(5000)
    found = cumulative_tests(y, p, groups=group)
    for test, of_subset in ((found.ks, ks_test), (found.kuiper, kuiper_test)):
        alone = {key: of_subset(y, p, subset=group == key) for key in range(4)}
        assert test.groups == alone
        least = min(alone.values(), key=lambda result: result.pvalue)
        assert test.statistic == least.statistic
        assert test.pvalue == min(1, 4 * least.pvalue)
        assert test.log_pvalue == pytest.approx(min(0, math.log(4) + least.log_pvalue))
        ranked = sorted(alone, key=lambda key: alone[key].pvalue)
        assert test.adjusted_pvalues[ranked[0]] == test.pvalue
        holm = [min(1, (4 - i) * alone[key].pvalue) for i, key in enumerate(ranked)]
        assert [test.adjusted_pvalues[key] for key in ranked] == list(np.maximum.accumulate(holm))
    assert json.loads(json.dumps(found.ks.to_dict()))["groups"][1]["key"] == 1
    assert repr(found.ks).endswith("4 groups)")


def test_one_group_differs():
    y, p, group = some_rows(20_000)
    # Scores that are wrong for all in the same way are no deviation of a group.
    assert ks_test(y, p**2, groups=group).pvalue > 0.01
    rng = np.random.default_rng(3)
    y[group == 2] = rng.random(20_000)[group == 2] < p[group == 2] ** 1.5
    found = ks_test(y, p, groups=np.array(list("abcd"))[group])
    assert min(found.adjusted_pvalues, key=found.adjusted_pvalues.get) == "c"
    assert found.pvalue < 1e-6


@pytest.mark.parametrize("share", [0.1, 0.5])
def test_pvalues_are_uniform_under_the_null(share):
    """400 data sets. The law is that of many rows: for few, p-values err on the large side."""
    rng = np.random.default_rng(4)
    pvalues = {"ks": [], "kuiper": []}
    for _ in range(400):
        p = rng.random(1000)
        y = rng.random(1000) < p**2  # calibration does not matter
        found = cumulative_tests(y, p, subset=rng.random(1000) < share)
        pvalues["ks"].append(found.ks.pvalue)
        pvalues["kuiper"].append(found.kuiper.pvalue)
    for found in pvalues.values():
        for level in (0.05, 0.2, 0.5):
            often = np.mean(np.array(found) <= level)
            # Three standard errors, and up to a quarter less for the steps of the walk.
            error = 3 * math.sqrt(level * (1 - level) / 400)
            assert 0.75 * level - error < often < level + error


# Degenerate cases and rejections


@pytest.mark.parametrize(
    ("y", "p", "members"),
    [
        ([0, 1, 1], [0.1, 0.5, 0.9], [True, True, True]),  # all there is
        ([1, 1, 1], [0.1, 0.5, 0.9], [True, False, True]),  # hits only
        ([0, 0, 0], [0.1, 0.1, 0.1], [True, False, False]),
        ([1], [0.3], [True]),
    ],
)
def test_nothing_can_deviate(y, p, members):
    found = cumulative_tests(y, p, subset=np.array(members))
    for test in (found.ks, found.kuiper):
        assert (test.statistic, test.pvalue, test.log_pvalue, test.sigma) == (0, 1, 0, 0)


def test_the_top_label_and_classes():
    rng = np.random.default_rng(5)
    p = rng.dirichlet(np.ones(3), 500)
    y = rng.integers(0, 3, 500)
    members = rng.random(500) < 0.3
    hits = (p.argmax(axis=1) == y).astype(int)
    assert ks_test(y, p, subset=members) == ks_test(hits, p.max(axis=1), subset=members)
    found = ks_test(y, p, subset=members, classes="per-class")
    assert found.classes == tuple(
        ks_test((y == j).astype(int), p[:, j].copy(), subset=members) for j in range(3)
    )


def test_missing_rows_are_dropped():
    y, p, group = some_rows(200)
    p[::7] = np.nan
    keys = np.where(np.arange(200) % 5 == 0, None, group.astype(object))
    kept = ~np.isnan(p) & (np.arange(200) % 5 != 0)
    found = cumulative_tests(y, p, groups=keys, nan_policy="omit")
    expected = cumulative_tests(y[kept], p[kept], groups=group[kept])
    assert {key: test.statistic for key, test in found.ks.groups.items()} == {
        key: test.statistic for key, test in expected.ks.groups.items()
    }
    assert found.ks.n == expected.ks.n
    assert found.ks.n_omitted == 200 - kept.sum()


def test_what_is_rejected():
    y, p = [0, 1, 1], [0.2, 0.5, 0.7]
    with pytest.raises(TypeError, match=r"subset must be an array of booleans, got dtype int"):
        ks_test(y, p, subset=[0, 1, 1])
    with pytest.raises(ValueError, match=r"subset must have shape \(n,\), got shape \(1, 3\)"):
        ks_test(y, p, subset=[[True, False, True]])
    with pytest.raises(
        ValueError, match=r"subset and y_proba must have the same length, got 2 and 3"
    ):
        ks_test(y, p, subset=[True, False])
    with pytest.raises(
        ValueError, match=r"groups and y_proba must have the same length, got 2 and 3"
    ):
        ks_test(y, p, groups=[True, False])
    with pytest.raises(ValueError, match="subset needs a row with positive weight, got none"):
        ks_test(y, p, subset=[False] * 3)
    with pytest.raises(ValueError, match="subset needs a row with positive weight, got none"):
        cumulative_differences(y, p, subset=[True, False, False], sample_weight=[0, 1, 1])
    with pytest.raises(ValueError, match="group with a row of positive weight, got none"):
        ks_test(y, p, groups=[1, 1, 2], sample_weight=[0, 0, 0])
    with pytest.raises(ValueError, match="subset and groups cannot both be given"):
        ks_test(y, p, groups=[1, 1, 2], subset=[True] * 3)
    with pytest.raises(ValueError, match="groups cannot be tested per class"):
        ks_test(y, p, groups=[1, 1, 2], classes="per-class")
    with pytest.raises(ValueError, match="subset needs form='rows', got 'theory'"):
        cumulative_differences(y, p, subset=[True] * 3, form="theory")
    with pytest.raises(ValueError, match=r"y_proba must lie in \[0, 1\], found 1.5 at row 1"):
        ks_test(y, [0.2, 1.5, 0.7], subset=[True] * 3)
