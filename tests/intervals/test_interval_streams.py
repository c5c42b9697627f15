"""The accumulators of intervals and sets: the same bytes however the work is split, and states."""

from __future__ import annotations

import functools
import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import calibrant
import interval_reference as reference
from calibrant import _core, set_num_threads, streaming
from calibrant._core import _testing
from calibrant.config import config

FEW = 1200  # three blocks
EDGES = (0.5, 1.5, 3.0)
MAKERS = {
    "Intervals": lambda: streaming.Intervals((0.5, 0.9)),
    "Intervals by width": lambda: streaming.Intervals((0.5, 0.9), width_edges=EDGES),
    "PredictionSets": streaming.PredictionSets,
}
makers = pytest.mark.parametrize("name", MAKERS)
both = pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])


@functools.cache
def rows_of(name, n, weighted):
    rng = np.random.default_rng(n)
    if name.startswith("Intervals"):
        y, intervals = reference.random_intervals(n, 2)
        y[: n // 3] = np.round(y[: n // 3])
        y[0] = -0.0
        rows = {"y_true": y, "intervals": intervals}
    else:
        rows = {"y_true": rng.integers(0, 4, n), "sets": rng.random((n, 4, 2)) < 0.5}
    if weighted:
        rows["sample_weight"] = rng.choice([0.0, 1.0, 2.0, 0.1, 1e-300, 1e300, 2.0**-1074], n)
    return rows


def taken(rows, index):
    return {name: column[index] for name, column in rows.items()}


def filled(name, *batches):
    total = MAKERS[name]()
    for batch in batches:
        total.update(**batch)
    return total


@makers
@both
@settings(max_examples=10)
@given(cuts=st.lists(st.integers(0, FEW), max_size=6), order=st.randoms(use_true_random=False))
def test_any_order_batches_and_merges(name, weighted, cuts, order):
    rows = rows_of(name, FEW, weighted)
    expected = filled(name, rows).to_bytes()
    shuffled = list(range(FEW))
    order.shuffle(shuffled)
    edges = [0, *sorted(cuts), FEW]
    batches = [taken(rows, shuffled[a:b]) for a, b in itertools.pairwise(edges)]
    assert filled(name, *batches).to_bytes() == expected
    parts = [filled(name, batch) for batch in batches]
    while len(parts) > 1:  # a random tree
        left = parts.pop(order.randrange(len(parts)))
        right = parts.pop(order.randrange(len(parts)))
        parts.append(left.merge(type(right).from_bytes(right.to_bytes())))
    assert parts[0].to_bytes() == expected


@makers
@both
@pytest.mark.usefixtures("runtime_restored")
def test_any_number_of_threads_and_instruction_set(name, weighted):
    rows = rows_of(name, 150_000, weighted)
    found = set()
    for isa in config()["available_isas"]:
        _testing.set_isa(isa)
        for threads in (1, 2, 7):
            set_num_threads(threads)
            found.add(filled(name, rows).to_bytes())
    assert len(found) == 1


@makers
def test_weights_are_repetitions(name):
    rows = rows_of(name, FEW, False)
    weights = np.random.default_rng(0).integers(0, 4, FEW)
    weighted = filled(name, {**rows, "sample_weight": weights}).result().to_dict()
    repeated = filled(name, taken(rows, np.repeat(np.arange(FEW), weights))).result().to_dict()

    def without_counts(fields):
        if isinstance(fields, dict):
            return {key: without_counts(value) for key, value in fields.items() if key != "n"}
        return [*map(without_counts, fields)] if isinstance(fields, list) else fields

    assert without_counts(weighted) == without_counts(repeated)


def test_the_stream_is_the_function_used_once():
    rows = rows_of("Intervals", FEW, True)
    rows = {**rows, "sample_weight": np.minimum(rows["sample_weight"], 2.0)}
    found = filled("Intervals", rows).result(ci_method="exact", eta=2.0)
    whole = calibrant.interval_summary(
        **rows, confidence_level=(0.5, 0.9), ci_method="exact", eta=2.0
    )
    for one, other in zip(found, whole, strict=True):
        assert one.by_width is None
        assert {**one.to_dict(), "by_width": 0} == {**other.to_dict(), "by_width": 0}
    sets = rows_of("PredictionSets", FEW, True)
    assert filled("PredictionSets", sets).result().to_dict() == (
        calibrant.set_summary(**sets).to_dict()
    )


@both
def test_groups_between_edges(weighted):
    rows = rows_of("Intervals by width", FEW, weighted)
    if weighted:
        rows = {**rows, "sample_weight": np.minimum(rows["sample_weight"], 2.0)}
    found = filled("Intervals by width", rows).result()
    for i, level in enumerate(found):
        table = reference.rows_of(
            rows["y_true"], *rows["intervals"][:, :, i].T, rows.get("sample_weight")
        )
        ends = itertools.pairwise((0.0, *EDGES, np.inf))
        expected = [[row for row in table if a <= row[1] < b and row[3] > 0] for a, b in ends]
        groups = [
            (min(r[1] for r in g), max(r[1] for r in g), reference.coverage(g))
            for g in expected
            if g
        ]
        assert [(g.least, g.largest, g.coverage) for g in level.by_width.groups] == groups
        weights = [float(reference.total(g)) for g in expected if g]
        assert [g.weight for g in level.by_width.groups] == pytest.approx(weights, rel=1e-15)


def test_what_cannot_be_merged_or_made():
    one = streaming.Intervals(0.9)
    for other in (streaming.Intervals(0.8), streaming.Intervals(0.9, width_edges=[1.0])):
        with pytest.raises(ValueError, match=r"cannot merge Intervals of other"):
            one.merge(other)
    with pytest.raises(ValueError, match=r"must have 1 levels, .* got 2"):
        one.update([0.0], np.zeros((1, 2, 2)))
    with pytest.raises(ValueError, match=r"width_edges must be positive, finite and rise.* 1"):
        streaming.Intervals(0.9, width_edges=[1.0, 1.0])
    with pytest.raises(ValueError, match=r"width_edges must be positive"):
        streaming.Intervals(0.9, width_edges=[0.0])
    sets = streaming.PredictionSets()
    sets.update([], [])  # says nothing of the levels
    sets.update([0], np.ones((1, 2, 3), bool))
    with pytest.raises(ValueError, match=r"sets must have 3 levels, as those before, got 1"):
        sets.update([0], [[0]])
    with pytest.raises(TypeError, match=r"cannot merge streaming.PredictionSets"):
        one.merge(sets)
    with pytest.raises(ValueError, match=r"at least one row"):
        one.result()
    with pytest.raises(ValueError, match=r"at least one row"):
        streaming.PredictionSets().result()


@makers
def test_a_rejected_batch_changes_nothing(name):
    total = filled(name, rows_of(name, FEW, False))
    before = total.to_bytes()
    rows = {key: column.copy() for key, column in rows_of(name, 100_000, True).items()}
    rows["sample_weight"][-1] = -1.0
    with pytest.raises(ValueError, match=r"at row 99999 \(row 101199 of the stream\)"):
        total.update(**rows)
    assert total.to_bytes() == before


# States


@makers
def test_copies_and_pickles(name):
    total = filled(name, rows_of(name, FEW, True))
    for same in (pickle.loads(pickle.dumps(total)), total.copy()):
        assert same == total
        assert repr(same) == repr(total)
    assert total != MAKERS[name]()
    assert MAKERS[name]() == type(total).from_bytes(MAKERS[name]().to_bytes())
    assert total.n == FEW
    assert total.n_omitted == 0


def test_states_without_nominal_levels_are_not_of_intervals():
    state = _core.Intervals([], [])
    state.update([0.0], ([0.0], [1.0], True), None, False, False)
    with pytest.raises(ValueError, match="must name its confidence levels"):
        streaming.Intervals.from_bytes(state.to_bytes())
