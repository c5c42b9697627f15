"""Groups of every kind of accumulator, to the bit those of one accumulator for each key."""

from __future__ import annotations

import functools
import math

import numpy as np
import pytest

import calibrant
from calibrant import streaming
from calibrant.streaming import Grouped
from strategies import nasty_table

pytestmark = [pytest.mark.kernels, pytest.mark.threads]


def event_rows(n, seed=0, **_):
    y, p = nasty_table(n, seed=seed)
    return {"y_true": y, "y_proba": p}


def matrix_rows(n, seed=0):
    y, p = nasty_table(n, n_classes=11, seed=seed)
    return {"y_true": y, "y_proba": p}


def weighted_rows(n, seed=0):
    weights = np.random.default_rng(seed).choice([0.0, 1.0, 0.1, 3e20], n)
    return {**event_rows(n, seed), "sample_weight": weights}


def saturated_rows(n, seed=0):
    """Most forecasts are all but certain: no cell has room for them."""
    rng = np.random.default_rng(seed)
    p = 10.0 ** -rng.uniform(0, 30, n)
    return {"y_true": (rng.random(n) < 0.1).astype(int), "y_proba": p}


def interval_rows(n, seed=0):
    rng = np.random.default_rng(seed)
    y, low, width = rng.normal(size=(3, n)) * 10.0 ** rng.integers(-9, 9, n)
    return {"y_true": y, "intervals": np.stack([low, low + np.abs(width)], axis=1)}


def weighted_interval_rows(n, seed=0):
    weights = np.random.default_rng(seed).choice([0.0, 1.0, 0.3], n)
    return {**interval_rows(n, seed), "sample_weight": weights}


def level_rows(n, seed=0):
    """Bounds of two levels, as an array of which no column is contiguous."""
    rng = np.random.default_rng(seed)
    low = rng.normal(size=(n, 1, 2)).astype(np.float32)
    bounds = np.concatenate([low, low + rng.random((n, 1, 2), dtype=np.float32)], axis=1)
    return {"y_true": rng.normal(size=n), "intervals": bounds[:, :, ::-1]}


def set_rows(n, seed=0):
    rng = np.random.default_rng(seed)
    return {"y_true": rng.integers(0, 5, n), "sets": rng.random((n, 5)) < 0.4}


def list_rows(n, seed=0):
    rng = np.random.default_rng(seed)
    sets = np.empty(n, object)
    sets[:] = [rng.permutation(4)[: rng.integers(0, 5)].tolist() for _ in range(n)]
    return {"y_true": rng.integers(0, 4, n), "sets": sets}


def pair_rows(n, seed=0):
    y, first = nasty_table(n, seed=seed)
    _, second = nasty_table(n, seed=seed + 1)
    return {"y_true": y, "first": first, "second": second}


def draw_rows(n, seed=0):
    """Whole numbers, so that there are ties to break."""
    rng = np.random.default_rng(seed)
    return {"draws": rng.integers(0, 4, (n, 9)).astype(float), "truth": rng.integers(0, 4, n) * 1.0}


def many_draw_rows(n, seed=0):
    rng = np.random.default_rng(seed)
    return {"draws": rng.integers(0, 3, (n, 5, 2)), "truth": rng.integers(0, 3, (n, 2))}


KINDS = {
    "scores": (streaming.Scores, event_rows),
    "scores of classes": (streaming.Scores, matrix_rows),
    "weighted scores": (streaming.Scores, weighted_rows),
    "brier and log": (functools.partial(streaming.Scores, scores=("brier", "log")), event_rows),
    "brier and log of classes": (
        functools.partial(streaming.Scores, scores=("brier", "log")),
        matrix_rows,
    ),
    "brier and spherical": (
        functools.partial(streaming.Scores, scores=("brier", "spherical")),
        event_rows,
    ),
    "log alone": (functools.partial(streaming.Scores, scores=("log",)), event_rows),
    "risk profile": (streaming.RiskProfile, event_rows),
    "clipped risk profile": (functools.partial(streaming.RiskProfile, q_lim=1e-12), saturated_rows),
    "saturated risk profile": (streaming.RiskProfile, saturated_rows),
    "weighted risk profile": (streaming.RiskProfile, weighted_rows),
    "more powers": (functools.partial(streaming.RiskProfile, powers=[2.0, -3.5]), event_rows),
    "saturated powers": (functools.partial(streaming.RiskProfile, powers=[-9.0]), saturated_rows),
    "extremes": (functools.partial(streaming.RiskProfile, powers=[math.inf]), event_rows),
    "reliability": (streaming.Reliability, event_rows),
    "reliability of classes": (streaming.Reliability, matrix_rows),
    "saturated reliability": (streaming.Reliability, saturated_rows),
    "many bins": (functools.partial(streaming.Reliability, 1500), event_rows),
    "spiegelhalter": (streaming.Spiegelhalter, event_rows),
    "spiegelhalter of classes": (streaming.Spiegelhalter, matrix_rows),
    "saturated spiegelhalter": (streaming.Spiegelhalter, saturated_rows),
    "assessment": (functools.partial(streaming.Assessment, 4), event_rows),
    "weighted assessment": (functools.partial(streaming.Assessment, 4, q_lim=0.01), weighted_rows),
    "assessment of classes": (functools.partial(streaming.Assessment, 4), matrix_rows),
    "score table": (streaming.ScoreTable, event_rows),
    "weighted score table": (streaming.ScoreTable, weighted_rows),
    "score table of classes": (streaming.ScoreTable, matrix_rows),
    "table of pairs": (functools.partial(streaming.ScoreTable, pairs=True), event_rows),
    "weighted table of pairs": (
        functools.partial(streaming.ScoreTable, pairs=True, q_lim=0.01),
        weighted_rows,
    ),
    "table of pairs of classes": (
        functools.partial(streaming.ScoreTable, pairs=True),
        matrix_rows,
    ),
    "scorecard": (functools.partial(streaming.Scorecard, n_bins=4), event_rows),
    "weighted scorecard": (functools.partial(streaming.Scorecard, n_bins=4), weighted_rows),
    "scorecard of classes": (functools.partial(streaming.Scorecard, n_bins=4), matrix_rows),
    "intervals": (functools.partial(streaming.Intervals, 0.9), interval_rows),
    "weighted intervals": (
        functools.partial(streaming.Intervals, 0.9, width_edges=[0.1, 1.0]),
        weighted_interval_rows,
    ),
    "intervals of two levels": (functools.partial(streaming.Intervals, [0.5, 0.9]), level_rows),
    "sets": (streaming.PredictionSets, set_rows),
    "lists": (streaming.PredictionSets, list_rows),
    "pairs": (streaming.PairedScores, pair_rows),
    "ranks": (functools.partial(streaming.Ranks, 9, seed=5), draw_rows),
    "ranks in two dimensions": (functools.partial(streaming.Ranks, 5, 2), many_draw_rows),
}
each_kind = pytest.mark.parametrize(("factory", "make"), KINDS.values(), ids=KINDS)
CELLS = (
    "scores", "scores of classes", "brier and log", "brier and log of classes",
    "brier and spherical", "log alone", "risk profile", "saturated risk profile", "reliability",
    "saturated reliability", "spiegelhalter", "saturated spiegelhalter",
)  # fmt: skip

#: One worker takes one group after the other; what it keeps of one must not reach the next.
WORKERS = (
    "more powers", "assessment", "score table", "weighted score table", "scorecard",
    "weighted scorecard", "intervals", "weighted intervals", "sets", "weighted scores",
)  # fmt: skip


FOUND_BEFORE: dict[str, bytes] = {}  # by kind, on another instruction set


def picked(rows, mask):
    return {name: values[mask] for name, values in rows.items()}


def by_masks(factory, rows, groups, batches=None):
    """The definition: an accumulator for each key, updated batch by batch."""
    batches = np.zeros(groups.size) if batches is None else batches
    expected = {key: factory() for key in sorted(set(groups.tolist()))}
    for batch in sorted(set(batches.tolist())):
        for key, part in expected.items():
            mask = (groups == key) & (batches == batch)
            if mask.any():
                part.update(**picked(rows, mask))
    return expected


def assert_same(grouped, expected):
    assert grouped.keys() == list(expected)
    for key, part in expected.items():
        assert grouped[key].to_bytes() == part.to_bytes(), key


@each_kind
def test_batches(factory, make):
    n = 900
    rows, rng = make(n), np.random.default_rng(1)
    groups, batches = rng.integers(-5, 30, n), rng.integers(0, 3, n)
    groups[batches == 0] //= 2  # later batches have other keys, too
    grouped = Grouped(factory)
    for batch in range(3):
        mask = batches == batch
        grouped.update(**picked(rows, mask), groups=groups[mask])
    expected = by_masks(factory, rows, groups, batches)
    assert_same(grouped, expected)
    assert grouped.n == sum(part.n for part in expected.values())
    back = Grouped.from_bytes(grouped.to_bytes())
    assert back == grouped
    twice = grouped.copy().merge(grouped)
    assert_same(twice, {key: part.copy().merge(part) for key, part in expected.items()})
    assert_same(grouped, expected)  # a copy shares nothing


@each_kind
def test_merged_in_any_order(factory, make):
    n = 400
    rows, rng = make(n, seed=3), np.random.default_rng(2)
    groups, part_of = rng.integers(0, 12, n).astype(str), rng.integers(0, 3, n)
    parts, expected = [], {}
    for part in range(3):
        mask = part_of == part
        parts.append(Grouped(factory))
        parts[-1].update(**picked(rows, mask), groups=groups[mask])
        for key, alone in by_masks(factory, picked(rows, mask), groups[mask]).items():
            expected[key] = expected[key].merge(alone) if key in expected else alone
    expected = dict(sorted(expected.items()))
    assert_same(parts[0].copy().merge(parts[1]).merge(parts[2]), expected)
    assert_same(parts[2].copy().merge(parts[0]).merge(parts[1]), expected)


@each_kind
@pytest.mark.usefixtures("runtime_restored")
def test_threads_cannot_be_seen(factory, make):
    n = 3000 if make in (list_rows, many_draw_rows) or factory is not streaming.Scores else 60_000
    rows = make(n, seed=4)
    groups = np.random.default_rng(5).integers(0, 130, n)
    found = set()
    for threads in (1, 2, 5):
        calibrant.set_num_threads(threads)
        grouped = Grouped(factory)
        grouped.update(**rows, groups=groups)
        found.add(grouped.to_bytes())
    assert len(found) == 1
    assert_same(grouped, by_masks(factory, rows, groups))


@each_kind
@pytest.mark.usefixtures("runtime_restored")
def test_many_groups(factory, make):
    """More than there are neighbourhoods, each of several groups; many of them without rows."""
    n, rng = 6000, np.random.default_rng(12)
    rows, groups = make(n, seed=11), rng.integers(0, 2000, n) ** 2 % 2003
    expected = by_masks(factory, rows, groups)
    assert len(expected) > 700
    for threads in (1, 3):
        calibrant.set_num_threads(threads)
        grouped = Grouped(factory)
        grouped.update(**rows, groups=groups)
        assert_same(grouped, expected)


def forms_of(y, p, weight):
    """The same columns as other libraries, or other code, may have them."""
    table = np.stack([p, weight, p], axis=1)
    forms = {
        "as they are": (y, p, weight),
        "backwards": (y[::-1].copy()[::-1], p[::-1].copy()[::-1], weight[::-1].copy()[::-1]),
        "columns of a table": (np.repeat(y, 3)[::3], table[:, 0], table[:, 1]),
        "other types": (y.astype(bool), p.astype(np.float32), weight.astype(np.int16)),
        "other bytes": (y.astype(">i4"), p.astype(">f8"), weight.astype(">f4")),
        "matrix": (y, np.stack([1 - p, p / 2, p / 2], axis=1)[:, ::-1], weight),
    }
    pa = pytest.importorskip("pyarrow")
    nulls = pa.array(p, mask=np.arange(y.size) % 10 == 3)
    return {**forms, "bits and nulls": (pa.array(y.astype(bool)), nulls, pa.array(weight))}


@pytest.mark.parametrize("sort", [False, True])
@pytest.mark.parametrize("factory", [streaming.Scores, functools.partial(streaming.Assessment, 4)])
def test_columns_in_any_form(factory, sort):
    """Rows are copied by group as they are, or not at all if they are sorted by group."""
    n, rng = 3000, np.random.default_rng(14)
    keys = rng.integers(0, 40, n)
    keys = np.sort(keys) if sort else keys
    p = rng.integers(0, 65, n) / 64
    columns = forms_of((rng.random(n) < p).astype(int), p, rng.integers(0, 3, n) * 0.5 + 1)
    for name, (y, proba, weight) in columns.items():
        rows = {"y_true": y, "y_proba": proba, "sample_weight": weight, "nan_policy": "omit"}
        grouped = Grouped(factory)
        grouped.update(**rows, groups=keys)
        for key in (0, 7, 39):
            at, alone = np.flatnonzero(keys == key), factory()
            chosen = {"nan_policy": "omit"}
            for column in ("y_true", "y_proba", "sample_weight"):
                values = rows[column]
                is_array = isinstance(values, np.ndarray)
                chosen[column] = values[at] if is_array else values.take(at)
            alone.update(**chosen)
            assert grouped[key] == alone, name
        assert grouped.n + grouped.n_omitted == n


@pytest.mark.parametrize("kind", CELLS)
@pytest.mark.usefixtures("isa")
def test_instruction_sets_cannot_be_seen(kind):
    factory, make = KINDS[kind]
    rows = make(700, seed=6)
    groups = np.random.default_rng(7).integers(0, 9, 700)
    grouped = Grouped(factory)
    grouped.update(**rows, groups=groups)
    found = grouped.to_bytes()
    assert_same(grouped, by_masks(factory, rows, groups))
    assert found == FOUND_BEFORE.setdefault(kind, found)


@pytest.mark.parametrize("kind", CELLS)
def test_groups_of_more_rows_than_a_cell_has_room_for(kind):
    """A cell has room for 2^11 rows, and is emptied in time, also when groups are merged."""
    factory, make = KINDS[kind]
    n = 20_000
    rows = make(n, seed=8)
    groups = np.minimum(np.arange(n) % 8, 3)  # 12,500 rows in one
    halves = []
    for half in (slice(0, n // 2), slice(n // 2, n)):
        halves.append(Grouped(factory))
        halves[-1].update(**picked(rows, half), groups=groups[half])
    assert_same(halves[0].merge(halves[1]), by_masks(factory, rows, groups))
    many = Grouped(factory)
    for _ in range(3):  # 1,900 rows each
        many.update(**picked(rows, slice(1900)), groups=np.zeros(1900, int))
    alone = factory()
    alone.update(**picked(rows, slice(1900)))
    assert many[0] == alone.copy().merge(alone).merge(alone)


@pytest.mark.parametrize("n_keys", [41, 1400])  # neighbourhoods of one group, and of several
@pytest.mark.parametrize("kind", WORKERS)
@pytest.mark.usefixtures("runtime_restored")
def test_large_groups_among_small_ones(kind, n_keys):
    """A group of 2^16 rows is for all threads; a table of more than 2,048 is counted otherwise."""
    factory, make = KINDS[kind]
    n = 75_000
    rows, rng = make(n, seed=9), np.random.default_rng(10)
    groups = np.concatenate([np.full(66_000, 20), np.full(5000, 7), np.arange(4000) % n_keys])
    groups = rng.permutation(groups)
    expected = by_masks(factory, rows, groups)
    for threads in (1, 3):
        calibrant.set_num_threads(threads)
        grouped = Grouped(factory)
        grouped.update(**rows, groups=groups)
        assert_same(grouped, expected)
    before = grouped.to_bytes()
    at = int(np.flatnonzero(groups == 20)[-1])
    y = rows["y_true"].astype(float)
    y[at] = math.nan
    with pytest.raises(ValueError, match=f"row {at}"):
        grouped.update(**{**rows, "y_true": y}, groups=groups)
    assert grouped.to_bytes() == before


@each_kind
def test_a_failed_update_leaves_all_groups_as_they_were(factory, make):
    grouped, rows = Grouped(factory), make(40)
    grouped.update(**rows, groups=np.arange(40) % 7)
    before = grouped.to_bytes()
    name = "draws" if "draws" in rows else list(rows)[1]
    if name == "sets":
        bad = {**rows, "y_true": np.where(np.arange(40) == 33, -7, rows["y_true"])}
    else:
        values = rows[name].astype(float)
        values[33] = math.nan
        bad = {**rows, name: values}
    with pytest.raises(ValueError, match=r"(row|pair) 33"):
        grouped.update(**bad, groups=np.arange(40) % 9)
    assert grouped.to_bytes() == before
    with pytest.raises(ValueError, match="same length"):
        grouped.update(**rows, groups=np.arange(39))
    assert grouped.to_bytes() == before
    assert grouped.n_groups == 7


@pytest.mark.parametrize(
    "kind",
    ["more powers", "assessment", "score table", "scorecard", "intervals", "pairs", "ranks"],
)
def test_missing_values_are_omitted_in_their_group(kind):
    factory, make = KINDS[kind]
    rows = make(300)
    name = list(rows)[1]
    rows[name] = np.where(
        np.arange(rows[name].size) % 11 < 2, math.nan, rows[name].ravel()
    ).reshape(rows[name].shape)
    groups = np.arange(300) % 5
    grouped, expected = Grouped(factory), {}
    grouped.update(**rows, groups=groups, nan_policy="omit")
    for key in range(5):
        expected[key] = factory()
        expected[key].update(**picked(rows, groups == key), nan_policy="omit")
    assert_same(grouped, expected)
    assert grouped.n_omitted == sum(part.n_omitted for part in expected.values()) > 0


def test_ties_of_ranks_are_broken_as_for_each_key_alone():
    rows, groups = draw_rows(200), np.arange(200) % 3
    grouped, parts = Grouped(functools.partial(streaming.Ranks, 9)), {}
    for batch in (slice(0, 50), slice(50, 200)):
        grouped.update(rows["draws"][batch].T, rows["truth"][batch], groups=groups[batch], axis=0)
        for key in range(3):
            mask = groups[batch] == key
            part = parts.setdefault(key, streaming.Ranks(9))
            part.update(rows["draws"][batch][mask], rows["truth"][batch][mask])
    assert_same(grouped, parts)
    assert {part.n for part in parts.values()} == {66, 67}
    named, alone = Grouped(functools.partial(streaming.Ranks, 9)), streaming.Ranks(9)
    named.update(**rows, groups=groups, first_pair=1000)
    alone.update(**picked(rows, groups == 1), first_pair=1000)
    assert named[1] == alone


def test_rows_without_a_key_are_left_out_of_runs():
    keys = ["a", None, "b", "a"]
    grouped, alone = Grouped(functools.partial(streaming.Intervals, 0.5)), streaming.Intervals(0.5)
    grouped.update([0.0, 1.0, 2.0, 3.0], [[0, 1]] * 4, groups=keys, nan_policy="omit")
    alone.update([0.0, 3.0], [[0, 1]] * 2)
    assert grouped["a"] == alone
    assert (grouped.n, grouped.n_omitted) == (3, 1)
    with pytest.raises(ValueError, match=r"lower <= upper.*row 1"):  # checked all the same
        grouped.update([0.0] * 4, [[0, 1], [1, 0], [0, 1], [0, 1]], groups=keys, nan_policy="omit")
    nothing = Grouped(functools.partial(streaming.Intervals, 0.5))
    nothing.update([0.0], [[0, 1]], groups=[None], nan_policy="omit")
    assert (nothing.n, nothing.n_omitted, nothing.keys()) == (0, 1, [])


@each_kind
def test_no_rows_of_keys_that_might_be(factory, make):
    pa = pytest.importorskip("pyarrow")
    empty = pa.DictionaryArray.from_arrays(np.zeros(0, np.int32), ["x", "y"])
    grouped, rows = Grouped(factory), make(6)
    grouped.update(**picked(rows, slice(0)), groups=empty)
    assert (grouped.n, grouped.keys()) == (0, [])
    grouped.update(**rows, groups=pa.DictionaryArray.from_arrays(np.zeros(6, np.int32), ["x", "y"]))
    assert_same(grouped, by_masks(factory, rows, np.full(6, "x")))
