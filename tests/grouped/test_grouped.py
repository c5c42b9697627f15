"""Grouped accumulators against one accumulator for each key, of the rows that a mask picks."""

from __future__ import annotations

import functools
import math
import pickle
import threading

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import calibrant
from calibrant import _core, distributed, streaming
from calibrant.streaming import Grouped, Scores
from strategies import nasty_table, tables

pytestmark = [pytest.mark.kernels, pytest.mark.threads]

FACTORIES = {
    "scores": functools.partial(Scores, q_lim=0.01),
    "risk profile": functools.partial(streaming.RiskProfile, powers=[2.0]),
    "named risk profile": functools.partial(streaming.RiskProfile, q_lim=0.001),
    "reliability": functools.partial(streaming.Reliability, 5),
    "spiegelhalter": streaming.Spiegelhalter,
    "assessment": functools.partial(streaming.Assessment, 4, q_lim=0.01),
    "score table": streaming.ScoreTable,
    "table of pairs": functools.partial(streaming.ScoreTable, pairs=True),
    "scorecard": functools.partial(streaming.Scorecard, n_bins=3),
}
each_factory = pytest.mark.parametrize("factory", FACTORIES.values(), ids=FACTORIES)
KEYS = {
    "int": np.array([5, -3, 2**62, 7]),
    "small int": np.array([0, 1, 2, 3], np.int8),
    "str": np.array(["b", "a", "", "ü"]),
    "bool": np.array([True, False, True, False]),
}
each_kind = pytest.mark.parametrize("names", KEYS.values(), ids=KEYS)


def picked(rows, mask):
    return {k: v if k in ("multi_class", "nan_policy") else v[mask] for k, v in rows.items()}


def by_masks(factory, rows, groups):
    """The definition: an accumulator for each key."""
    expected = {}
    for key in sorted(set(groups.tolist())):
        expected[key] = factory()
        expected[key].update(**picked(rows, groups == key))
    return expected


def assert_same(grouped, expected):
    assert grouped.keys() == list(expected)
    assert grouped.n == sum(part.n for part in expected.values())
    for key, part in expected.items():
        assert grouped[key].to_bytes() == part.to_bytes(), key


def event_rows(n, *, n_classes=None, weighted=False, seed=0):
    y, p = nasty_table(n, n_classes=n_classes, seed=seed)
    rows = {"y_true": y, "y_proba": p}
    if weighted:
        rows["sample_weight"] = np.random.default_rng(seed).choice([0.0, 1.0, 0.1, 3e20], n)
    return rows


@each_factory
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_classes", [None, 2, 3])
def test_each_group_is_that_of_its_rows_alone(factory, weighted, n_classes):
    rows = event_rows(1500, n_classes=n_classes, weighted=weighted)
    if n_classes == 2:
        rows["multi_class"] = "top_label"
    groups = np.random.default_rng(1).integers(-3, 20, 1500)
    grouped = Grouped(factory)
    grouped.update(**rows, groups=groups)
    assert_same(grouped, by_masks(factory, rows, groups))


@each_factory
def test_rows_with_missing_values_are_omitted_in_their_group(factory):
    rows = event_rows(900)
    rows["y_proba"][::7] = math.nan
    rows["y_true"] = rows["y_true"].astype(float)
    rows["y_true"][::11] = math.nan
    rows |= {"sample_weight": np.where(np.arange(900) % 13, 1.0, math.nan), "nan_policy": "omit"}
    groups = np.arange(900) % 5
    for given_rows in (rows, {name: rows[name] for name in ("y_true", "y_proba", "nan_policy")}):
        grouped, expected = Grouped(factory), by_masks(factory, given_rows, groups)
        grouped.update(**given_rows, groups=groups)
        assert_same(grouped, expected)
        assert grouped.n_omitted == sum(part.n_omitted for part in expected.values()) > 0


@each_kind
@given(table=tables(min_rows=1, max_rows=60), data=st.data())
@settings(max_examples=25)
def test_batches_and_merges_cannot_be_seen(names, table, data):
    y, p, w = table
    rows = {"y_true": y, "y_proba": p} | ({} if w is None else {"sample_weight": w})
    n = y.size
    groups = names[data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))]
    part_of = np.array(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)))
    whole = Grouped(Scores)
    whole.update(**rows, groups=groups)
    assert_same(whole, by_masks(Scores, rows, groups))
    parts = []
    for i in data.draw(st.permutations(range(4))):
        parts.append(Grouped(Scores))
        parts[-1].update(**picked(rows, part_of == i), groups=groups[part_of == i])
    batches = Grouped(Scores)
    for i in range(4):
        batches.update(**picked(rows, part_of == i), groups=groups[part_of == i])
    merged = functools.reduce(Grouped.merge, parts)
    assert merged == whole == batches
    assert merged.to_bytes() == whole.to_bytes() == batches.to_bytes()
    back = Grouped.from_bytes(whole.to_bytes())
    assert back == whole
    assert streaming.restore(whole.to_bytes()) == pickle.loads(pickle.dumps(whole)) == whole
    back.update(**rows, groups=groups)
    assert back == whole.copy().merge(whole)


@pytest.mark.parametrize("weighted", [False, True])
def test_threads_and_sizes_cannot_be_seen(weighted):
    n = 300_000
    rows = event_rows(n, weighted=weighted, seed=3)
    rng = np.random.default_rng(4)
    groups = np.where(rng.random(n) < 0.5, 3, rng.integers(0, 1000, n) ** 2)  # one is large
    found = []
    try:
        for threads in (1, 2, 5):
            calibrant.set_num_threads(threads)
            found.append(Grouped(Scores))
            found[-1].update(**rows, groups=groups)
    finally:
        calibrant.set_num_threads(0)
    assert found[0].to_bytes() == found[1].to_bytes() == found[2].to_bytes()
    for key in (3, 0, 998001):
        alone = Scores()
        alone.update(**picked(rows, groups == key))
        assert found[0][key] == alone


def test_the_place_of_a_group_has_room_for_few_rows_only():
    """2^24 rows in a cell; then it moves."""
    n = 2**24 + 1000
    y, p = np.resize([0, 1, 1], n).astype(np.int8), np.resize([0.25, 0.7, 0.1, 1.0], n)
    groups = np.zeros(n, np.int8)
    groups[-3:] = 1
    grouped, alone = Grouped(Scores), Scores()
    grouped.update(y, p, groups=groups)
    alone.update(y[:-3], p[:-3])
    assert grouped[0] == alone
    assert grouped.metric("log")[0] == alone.result().log
    assert grouped.copy().merge(grouped)[0] == alone.copy().merge(alone)


def test_metrics_are_those_of_the_results():
    rows, groups = event_rows(5000, seed=8), np.arange(5000) % 77
    for weighted in ({}, {"sample_weight": np.arange(5000) % 3 * 0.7}):
        grouped = Grouped(Scores)
        grouped.update(**rows, **weighted, groups=groups)
        results = grouped.result()
        assert list(results) == grouped.keys() == list(range(77))
        for name in ("brier", "log", "spherical"):
            expected = [getattr(result, name) for result in results.values()]
            assert grouped.metric(name).tolist() == expected
            by_function = grouped.metric(lambda part, name=name: getattr(part.result(), name))
            assert by_function.tolist() == expected
        assert grouped.metric("brier_skill_score")[3] == grouped[3].brier_skill_score()


def test_scores_that_are_not_kept():
    rows, groups = event_rows(900, seed=5), np.arange(900) % 7
    some = Grouped(functools.partial(Scores, scores=("brier", "log")))
    message = r"no 'spherical': Scores\(scores=\('brier', 'log'\)\) keeps no 'spherical'"
    with pytest.raises(ValueError, match=message):
        some.metric("spherical")  # also of no groups
    full = Grouped(Scores)
    for grouped in (some, full):
        grouped.update(**rows, groups=groups)
    for name in ("brier", "log", "brier_skill_score"):
        assert some.metric(name).tolist() == full.metric(name).tolist()
    assert some.worst(3) == full.worst(3)
    with pytest.raises(ValueError, match=message):
        some.metric("spherical")
    with pytest.raises(ValueError, match=message):
        some.worst(1, "spherical")
    assert some.result()[3].spherical is None
    assert some.to_dict()["parameters"]["scores"] == ["brier", "log"]
    of_log = Grouped(functools.partial(Scores, scores=["log"]))
    of_log.update([1], [0.5], groups=[0], sample_weight=[0])  # there is no result, either
    for name in ("brier", "brier_skill_score"):
        with pytest.raises(ValueError, match=f"no '{name}': .* keeps no 'brier'"):
            of_log.metric(name)
    for back in (Grouped.from_bytes(some.to_bytes()), pickle.loads(pickle.dumps(some))):
        assert back == some
        assert back.to_bytes() == some.to_bytes()
        assert repr(back) == repr(some)
    with pytest.raises(ValueError, match="cannot merge sums of different scores"):
        some.merge(full)


def test_a_log_score_of_zero_and_of_infinity():
    grouped = Grouped(Scores)
    grouped.update([1, 1, 0], [1.0, 0.0, 0.5], groups=["sure", "wrong", "even"])
    assert grouped.metric("log").tolist() == [math.log(2), 0.0, math.inf]
    assert math.copysign(1, grouped.metric("log")[1]) == 1


def test_worst():
    grouped = Grouped(Scores)
    grouped.update(
        [1, 1, 1, 1, 0, 1], [0.5, 0.5, 0.75, 0.25, 0.75, 0.9], groups=[4, 4, 2, 3, 1, 9],
        sample_weight=[1, 1, 1, 1, 1, 0],
    )  # fmt: skip
    brier = {key: result.brier for key, result in grouped.result().items() if result is not None}
    assert grouped.result()[9] is None
    assert math.isnan(grouped.metric("brier")[-1])
    # Equal values, in the order of the keys, and none of the group without weight.
    assert grouped.worst(2) == [(1, brier[1], 1), (3, brier[3], 1)]
    assert grouped.worst(9, largest=False) == [
        (2, brier[2], 1), (4, 0.25, 2), *grouped.worst(2)
    ]  # fmt: skip
    assert grouped.worst(5, min_rows=2) == [(4, 0.25, 2)]
    assert grouped.worst(1, lambda part: part.n) == [(4, 2.0, 2)]
    assert grouped.worst(0) == []
    with pytest.raises(ValueError, match="k must be at least 0, got -1"):
        grouped.worst(-1)
    with pytest.raises(ValueError, match="Scores has none that is called 'beauty'"):
        grouped.worst(1, "beauty")


def test_worst_of_other_accumulators():
    rows, groups = event_rows(400), np.arange(400) % 4
    for factory, metric in (
        (streaming.Reliability, "expected_calibration_error"),
        (streaming.ScoreTable, "roc_auc"),
        (streaming.Scorecard, "ece"),
        (streaming.RiskProfile, "robustness"),
    ):
        grouped = Grouped(factory)
        grouped.update(**rows, groups=groups)
        found = grouped.worst(4, metric)
        assert [value for _, value, _ in found] == sorted((v for _, v, _ in found), reverse=True)
        assert {key for key, _, _ in found} == {0, 1, 2, 3}


@pytest.mark.parametrize(
    ("factory", "metric"), [(streaming.Scorecard, "auc"), (streaming.ScoreTable, "roc_auc")]
)
def test_groups_where_a_metric_is_undefined(factory, metric):
    grouped = Grouped(factory)
    grouped.update([1, 0, 1, 1], [0.75, 0.5, 0.5, 0.25], groups=[1, 1, 2, 2])  # 2 has one class
    assert grouped.worst(2, metric) == [(1, 1.0, 2)]
    assert math.isnan(grouped.metric(metric)[1])


def test_dictionaries_of_arrow_that_repeat_a_key_or_hold_a_null():
    pa = pytest.importorskip("pyarrow")
    y, p = [1, 0, 1, 0], [0.75, 0.5, 0.25, 0.125]
    plain, repeated = Grouped(Scores), Grouped(Scores)
    plain.update(y, p, groups=["a", "b", "a", "a"])
    repeated.update(y, p, groups=pa.DictionaryArray.from_arrays([0, 1, 2, 0], ["a", "b", "a"]))
    assert repeated == plain
    card = calibrant.scorecard(
        y, p, groups=pa.DictionaryArray.from_arrays([0, 1, 2, 0], ["a", "b", "a"])
    )
    assert card.groups["a"].n == 3
    with_null = pa.DictionaryArray.from_arrays([0, 1, 0, None], ["a", None])
    with pytest.raises(ValueError, match="groups has a missing value at row 1"):
        plain.copy().update(y, p, groups=with_null)
    omitted, without = Grouped(Scores), Grouped(Scores)
    omitted.update(y, p, groups=with_null, nan_policy="omit")
    without.update(y, p, groups=["a", None, "a", None], nan_policy="omit")
    assert omitted == without
    assert omitted.n_omitted == 2


def test_keys_that_no_state_could_hold_are_rejected():
    empty, grouped = Grouped(Scores), Grouped(Scores)
    grouped.update([1], [0.5], groups=["a"])
    for made in (empty, grouped):
        before = made.to_bytes()
        with pytest.raises(ValueError, match=r"text that UTF-8 can hold, found '\\udc80'"):
            made.update([1, 0], [0.5, 0.5], groups=["a", "\udc80"])
        assert made.to_bytes() == before


@pytest.mark.parametrize("form", ["array", "pair", "list"])
def test_intervals_by_group(form):
    rng = np.random.default_rng(0)
    y, low, width = rng.normal(size=(3, 200))
    high, groups = low + np.abs(width), np.array(["a", "b", "c", "d"])[np.arange(200) % 4]
    make = functools.partial(streaming.Intervals, 0.5)
    given_bounds = {
        "array": np.stack([low, high], axis=1),
        "pair": (low, high),
        "list": np.stack([low, high], axis=1).tolist(),
    }[form]
    grouped = Grouped(make)
    grouped.update(y, given_bounds, groups=groups)
    rows = {"y_true": y, "intervals": np.stack([low, high], axis=1)}
    assert_same(grouped, by_masks(make, rows, groups))
    assert streaming.restore(grouped.to_bytes()) == grouped


def test_sets_and_pairs_by_group():
    sets = [[0, 1], [1], [], [2, 0, 1]]
    grouped, first = Grouped(streaming.PredictionSets), streaming.PredictionSets()
    grouped.update([0, 1, 1, 2], sets, groups=["x", "y", "x", "x"])
    first.update([0, 1, 2], [sets[0], sets[2], sets[3]])
    assert grouped["x"] == first
    y, p = nasty_table(50)
    pairs, groups = Grouped(streaming.PairedScores), np.arange(50) % 3
    pairs.update(y, p, 1 - p, groups=groups)
    rows = {"y_true": y, "first": p, "second": 1 - p}
    assert_same(pairs, by_masks(streaming.PairedScores, rows, groups))


def test_keys_keep_their_kind():
    grouped = Grouped(Scores)
    grouped.update([1, 0], [0.5, 0.5], groups=[1, 2])
    assert 1 in grouped
    assert np.int32(1) in grouped
    assert "1" not in grouped
    assert True not in grouped
    assert [type(key) for key in grouped] == [int, int]
    before = grouped.to_bytes()
    for keys, found in ((["1", "2"], "'1'"), ([True, False], "False")):
        with pytest.raises(TypeError, match=f"one kind: int so far, now {found}"):
            grouped.update([1, 0], [0.5, 0.5], groups=keys)
    other = Grouped(Scores)
    other.update([1], [0.5], groups=["a"])
    with pytest.raises(TypeError, match="one kind: int so far, now 'a'"):
        grouped.merge(other)
    for keys in ([1, "a"], [1, True], np.array([1, "a"], object)):
        with pytest.raises(TypeError, match="keys of groups must be of one kind"):
            grouped.update([1, 0], [0.5, 0.5], groups=keys)
    with pytest.raises(TypeError, match=r"integers, strings or booleans, found 1\.5"):
        grouped.update([1, 0], [0.5, 0.5], groups=[1.5, 2.5])
    with pytest.raises(ValueError, match=r"keys must be below 2\*\*63"):
        grouped.update([1], [0.5], groups=np.array([2**63], np.uint64))
    with pytest.raises(KeyError):
        grouped[3]
    assert grouped.to_bytes() == before


@pytest.mark.parametrize(
    ("rows", "groups", "error", "message"),
    [
        (([1, 0], [0.5, 1.5]), [1, 2], ValueError, r"found 1\.5 at row 1 \(row 4 of the stream\)"),
        (([1, 3], [0.5, 0.5]), [1, 2], ValueError, "y_true"),
        (([1, 0], [0.5, 0.5]), [1], ValueError, "groups and y_proba must have the same length"),
        (([1, 0], [0.5, 0.5]), np.array([[1, 2]]), ValueError, r"groups must have shape \(n,\)"),
        (([1, 0], [0.5, 0.5]), ["a", None], ValueError, "groups has a missing value at row 1"),
        (([1, 0], [0.5, 0.5]), None, TypeError, "groups must be an array of keys, got None"),
        (([1, 0],), [1, 2], TypeError, "y_proba"),
        (([1, 0], [[0.5, 0.5], [1, 1]]), [1, 2], ValueError, "rows that sum to 1, .* at row 1"),
        (([1, 0], [[0.5, 0.5, 0], [1, 0, 0]]), [1, 2], ValueError, "y_proba must keep its shape"),
    ],
)  # fmt: skip
def test_a_failed_update_leaves_all_as_it_was(rows, groups, error, message):
    grouped = Grouped(Scores)
    grouped.update([1, 0, 1], [0.5, 0.25, 0.5], groups=[1, 2, 3])
    before = grouped.to_bytes()
    with pytest.raises(error, match=message):
        grouped.update(*rows, groups=groups)
    assert grouped.to_bytes() == before


def test_a_bad_row_is_named_by_its_number_in_the_batch():
    for factory in (streaming.RiskProfile, streaming.ScoreTable):
        grouped = Grouped(factory)
        with pytest.raises(ValueError, match=r"found 1\.5 at row 2"):
            grouped.update([1, 0, 1], [0.5, 0.5, 1.5], groups=[1, 2, 1])
        assert grouped.n == grouped.n_groups == 0
    intervals = Grouped(functools.partial(streaming.Intervals, 0.9))
    with pytest.raises(ValueError, match="row 2"):
        intervals.update([0.0, 0.0, 0.0], [[0, 1], [0, 1], [math.nan, 1]], groups=[1, 2, 1])
    with pytest.raises(ValueError, match="groups and y_true must have the same length"):
        intervals.update([0.0, 0.0], [[0, 1], [0, 1]], groups=[1, 2, 1])


def test_rows_without_a_key_are_omitted_and_counted():
    grouped, alone = Grouped(Scores), Scores()
    grouped.update([1, 0, 1], [0.5, 0.25, 0.5], groups=["a", None, "b"], nan_policy="omit")
    alone.update([1], [0.5])
    assert (grouped.n, grouped.n_omitted, grouped.n_groups) == (2, 1, 2)
    assert grouped["a"] == alone
    assert Grouped.from_bytes(grouped.to_bytes()).n_omitted == 1


@each_factory
def test_omitted_rows_are_counted_however_they_come(factory):
    rows = {"y_true": [1, 0, 1], "y_proba": [0.5, math.nan, math.nan], "nan_policy": "omit"}
    total = Grouped(factory)
    total.update(**rows, groups=["a", "a", "b"])
    assert total.n_omitted == 2  # one of them in a group without other rows
    total.update(**rows, groups=["a", None, "c"])
    assert total.n_omitted == 4
    for other in (total.copy(), Grouped.from_bytes(total.to_bytes())):
        assert (other.n, other.n_omitted) == (2, 4)
        assert other.merge(total).n_omitted == 8
    assert total.merge(total).n_omitted == 8


@each_factory
def test_no_row_has_a_key(factory):
    grouped = Grouped(factory)
    grouped.update([1, 0], [0.5, 0.5], groups=[None, None], nan_policy="omit")
    grouped.update([], [], groups=[])
    assert (grouped.n, grouped.n_omitted, grouped.keys(), grouped.result()) == (0, 2, [], {})
    assert Grouped.from_bytes(grouped.to_bytes()) == grouped


def test_columns_of_other_libraries():
    pa, pd, pl = map(pytest.importorskip, ("pyarrow", "pandas", "polars"))
    y, p = nasty_table(600)
    names = np.array(["x", "y", "zz"])[np.arange(600) % 3]
    expected = Grouped(Scores)
    expected.update(y, p, groups=names)
    unused = pa.DictionaryArray.from_arrays(np.arange(600) % 3, ["x", "y", "zz", "never"])
    for groups in (
        names.tolist(), pa.array(names.tolist()), pa.array(names.tolist()).dictionary_encode(),
        unused, pa.chunked_array([unused[:100], unused[100:]]), pd.Series(names.tolist()),
        pd.Series(names.tolist(), dtype="category"), pl.Series(names.tolist()),
        pl.Series(names.tolist(), dtype=pl.Categorical),
    ):  # fmt: skip
        grouped = Grouped(Scores)
        grouped.update(y, p, groups=groups)
        assert grouped.keys() == ["x", "y", "zz"], type(groups)
        assert grouped == expected
    numbers = Grouped(Scores)
    numbers.update(y, p, groups=np.arange(600) % 3)
    three = np.arange(600) % 3
    for groups in (pd.Series(three), pl.Series(three), pa.array(three), three.astype(np.uint8)):
        grouped = Grouped(Scores)
        grouped.update(y, p, groups=groups)
        assert grouped == numbers


@given(
    st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(-5, 5), max_size=50),
    st.integers(1, 2000),
)
def test_codes_of_integers(some, repeats):
    keys = np.array(some * repeats, np.int64)[:50_000]
    codes, distinct = _core.integer_codes(keys)
    assert (np.diff(distinct.astype(object)) > 0).all()
    assert (distinct[codes] == keys).all()
    assert set(keys.tolist()) <= set(distinct.tolist())
    assert distinct.size <= max(2**12, keys.size)


def test_codes_of_integers_by_threads():
    rng = np.random.default_rng(0)
    keys = rng.choice(rng.integers(-(2**62), 2**62, 5000), 400_000)
    expected = np.unique(keys, return_inverse=True)
    codes, distinct = _core.integer_codes(keys)
    assert (distinct == expected[0]).all()
    assert (codes == expected[1]).all()


def test_many_python_threads_lose_no_row():
    grouped = Grouped(Scores)
    y, p = nasty_table(2000)

    def work(seed):
        for i in range(5):
            grouped.update(y, p, groups=np.arange(2000) % (10 + seed + i))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expected = Grouped(Scores)
    for seed in range(6):
        for i in range(5):
            expected.update(y, p, groups=np.arange(2000) % (10 + seed + i))
    assert grouped.n == 6 * 5 * 2000
    assert grouped == expected


def test_only_like_merges_with_like():
    grouped = Grouped(Scores)
    with pytest.raises(ValueError, match="q_lim"):
        grouped.merge(Grouped(functools.partial(Scores, q_lim=0.1)))
    with pytest.raises(TypeError, match=r"cannot merge streaming\.ScoreTable into streaming\.Sco"):
        grouped.merge(Grouped(streaming.ScoreTable))
    with pytest.raises(TypeError, match=r"cannot merge streaming\.Scores into streaming\.Gr"):
        grouped.merge(Scores())
    with pytest.raises(TypeError, match="factory must make an accumulator, got 3"):
        Grouped(3)
    with pytest.raises(TypeError, match="factory must make an accumulator to be grouped"):
        Grouped(lambda: Grouped(Scores))
    with pytest.raises(TypeError, match="factory must make an accumulator to be grouped"):
        Grouped(dict)


def test_states_that_cannot_be():
    grouped = Grouped(Scores)
    grouped.update([1, 0], [0.5, 0.25], groups=["a", "b"])
    kind, rows, empty, key_a, a, key_b, b = _core.open_grouped(grouped.to_bytes())
    assert _core.seal_grouped([kind, rows, empty, key_a, a, key_b, b]) == grouped.to_bytes()
    for parts in (
        [kind, rows], [kind, rows, empty, key_a], [kind, rows[1:], empty], [b"float", rows, empty],
        [kind, rows, empty], [b"", rows, empty, key_a, a], [kind, rows, empty, key_b, b, key_a, a],
        [kind, rows, empty, key_a, a, key_a, b], [kind, rows, a, key_a, a],
        [kind, rows, empty, key_a, empty], [b"int", rows, empty, key_a, a],
        [b"bool", rows, empty, b"\2", a], [kind, rows, empty, b"\xff", a],
        [b"", rows, _core.seal_grouped([b"", rows, empty])],
        [kind, rows, Scores(q_lim=0.1).to_bytes(), key_a, a],
        [kind, rows, streaming.ScoreTable().to_bytes(), key_a, a],
    ):  # fmt: skip
        with pytest.raises(ValueError, match=r"."):
            Grouped.from_bytes(_core.seal_grouped(parts))
    saved = grouped.to_bytes()
    for at in range(len(saved)):
        with pytest.raises(ValueError, match=r"."):
            Grouped.from_bytes(saved[:at])
        changed = bytearray(saved)
        changed[at] ^= 1 << at % 8
        with pytest.raises(ValueError, match=r"."):
            Grouped.from_bytes(changed)


def test_saved_and_shown(tmp_path):
    grouped = Grouped(functools.partial(Scores, q_lim=0.125))
    grouped.update([1, 0], [0.5, 0.25], groups=["b", "a"])
    grouped.save(tmp_path / "groups.state")
    assert streaming.load(tmp_path / "groups.state") == Grouped.load(tmp_path / "groups.state")
    view = grouped.to_dict()
    assert list(view["result"]) == ["a", "b"]
    assert view["result"]["a"]["result"]["brier"] == 0.0625
    assert view["parameters"] == {"of": "Scores", "q_lim": 0.125}
    assert (
        repr(grouped) == "streaming.Grouped(n=2, n_groups=2, of=streaming.Scores(n=0, q_lim=0.125))"
    )
    empty = Grouped(Scores)
    assert empty.result() == {}
    assert empty.worst(3) == []
    assert Grouped.from_bytes(empty.to_bytes()) == empty


@pytest.mark.parametrize("kind", ["int", "str"])
def test_distributed(kind):
    y, p = nasty_table(500)
    keys = np.arange(500) % 6 if kind == "int" else np.array(list("abcdef"))[np.arange(500) % 6]
    expected = Grouped(Scores)
    expected.update(y, p, groups=keys)
    table = {"y": y, "p": p, "key": keys}
    batches = [{name: column[i::7] for name, column in table.items()} for i in range(7)]
    make = functools.partial(Grouped, Scores)
    total = distributed.local(batches, make, label="y", prob="p", group="key", n_workers=2)
    assert total == expected
    assert total.to_bytes() == expected.to_bytes()
    with pytest.raises(TypeError, match="no column was named for groups of Grouped"):
        distributed.local(batches, make, label="y", prob="p")
