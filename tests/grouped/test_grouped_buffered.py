"""Rows of a group are buffered until an accumulator is worth while: results do not show it.

512 rows of a group are buffered for an Assessment, 16,384 for a ScoreTable or a Scorecard.
"""

from __future__ import annotations

import functools
import itertools
import math

import numpy as np
import pytest

import calibrant
from calibrant.streaming import Assessment, Grouped, Scorecard, ScoreTable
from float_modes import MODES, STANDARD, mode, testing
from strategies import nasty_table

KINDS = {
    "assessment": (functools.partial(Assessment, 10), 512),
    "assessment, clipped": (functools.partial(Assessment, 10, q_lim=0.01), 512),
    "score table": (ScoreTable, 16384),
    "table of pairs": (functools.partial(ScoreTable, pairs=True, q_lim=0.01), 16384),
    "scorecard": (functools.partial(Scorecard, q_lim=1e-9), 16384),
}
each_kind = pytest.mark.parametrize(("factory", "most"), KINDS.values(), ids=KINDS)


def batch(n, seed=0, **more):
    y, p = nasty_table(n, seed=seed)
    return {"y_true": y, "y_proba": p, **more}


def of_classes(n):
    y, p = nasty_table(n, n_classes=3)
    return {"y_true": y, "y_proba": p}


def alone(factory, batches):
    total = factory()
    for rows in batches:
        total.update(**rows)
    return total


def in_group(factory, batches, key=7):
    """The same rows, among those of a neighbour."""
    total = Grouped(factory)
    for rows in batches:
        n = len(rows["y_true"])
        rows = {name: np.concatenate([values, values[:1]]) for name, values in rows.items()}
        total.update(**rows, groups=np.append(np.full(n, key), key + 1))
    return total


@each_kind
@pytest.mark.parametrize("more", [-1, 0, 1])
def test_about_as_many_as_may_wait(factory, most, more):
    whole = batch(most + more)
    assert in_group(factory, [whole])[7] == alone(factory, [whole])
    for first in (1, most // 2, most - 2):
        halves = [batch(first), batch(most + more - first, seed=1)]
        assert in_group(factory, halves)[7] == alone(factory, halves)


@each_kind
def test_many_batches(factory, most):
    """Taken in several times."""
    batches = [batch(most // 3 + i, seed=i) for i in range(8)]
    total, expected = in_group(factory, batches), alone(factory, batches)
    assert total[7] == expected
    assert total.n == expected.n + 8
    assert Grouped.from_bytes(total.to_bytes()) == total
    assert total.copy() == total


def several(rows):
    return np.resize([0.5, 2.0, 0.0, 1.0], len(rows["y_true"]))


def unusual(most):
    """What does not wait, or not any more: by name."""
    few, many = batch(40), batch(most + 1)
    return {
        "few": [few],
        "many": [many],
        "many, then few": [many, few],
        "weighted": [{**few, "sample_weight": several(few)}],
        "a negative zero": [
            {**few, "y_proba": np.where(few["y_proba"] == 0, -0.0, few["y_proba"])}
        ],
        "nearly too many": [batch(most)],
        "none": [],
    }


@each_kind
def test_merges_of_all_that_there_may_be(factory, most):
    kinds = unusual(most)
    for (left, a), (right, b) in itertools.product(kinds.items(), repeat=2):
        total, other = in_group(factory, a), in_group(factory, b)
        before = other.to_bytes()
        total.merge(other)
        expected = alone(factory, a + b)
        if a or b:
            assert total[7] == expected, (left, right)
            assert total[7].to_bytes() == expected.to_bytes()
        assert total.n == expected.n + len(a) + len(b)
        assert other.to_bytes() == before


@each_kind
def test_a_missing_value_is_omitted(factory, most):
    rows = batch(most - 3)
    rows["y_proba"][5] = math.nan
    total, expected = Grouped(factory), factory()
    for part in (batch(2, seed=3), rows, batch(9, seed=4)):
        total.update(**part, groups=np.full(len(part["y_true"]), "a"), nan_policy="omit")
        expected.update(**part, nan_policy="omit")
    assert total["a"] == expected
    assert total.n_omitted == 1


@each_kind
@pytest.mark.parametrize("n", [3, 20000])
def test_another_shape_is_rejected_as_by_one_alone(factory, most, n):  # noqa: ARG001
    vector, matrix = batch(n), of_classes(n)
    for first, second in ((vector, matrix), (matrix, vector)):
        expected = alone(factory, [first])
        try:
            expected.update(**second)
        except ValueError as rejected:
            message = str(rejected)
        else:
            message = None
        total = Grouped(factory)
        total.update(**first, groups=np.zeros(n, int))
        before = total.to_bytes()
        other = Grouped(factory)
        other.update(**second, groups=np.arange(n) // (n - 1))  # a second group: all or nothing
        if message is None:
            assert total.merge(other)[0].n == 2 * n - 1
            continue
        for add in (
            lambda: total.merge(other),  # noqa: B023
            lambda: total.update(**second, groups=np.arange(n) // (n - 1)),  # noqa: B023
        ):
            with pytest.raises(ValueError, match="y_proba must keep its") as rejected:
                add()
            assert str(rejected.value) == message
            assert total.to_bytes() == before
            assert (total.n, total.n_groups) == (n, 1)


@each_kind
@pytest.mark.usefixtures("runtime_restored")
def test_threads_and_order_cannot_be_seen(factory, most):
    n, groups = 40_000, 40_000 * 2 // most
    rows, key = batch(n), np.random.default_rng(0).integers(0, groups, n)
    found = set()
    for threads in (1, 2, 5):
        calibrant.set_num_threads(threads)
        for cuts in (1, 3, 7):
            total = Grouped(factory)
            for part in np.array_split(np.random.default_rng(cuts).permutation(n), cuts):
                total.update(**{k: v[part] for k, v in rows.items()}, groups=key[part])
            found.add(total.to_bytes())
    assert len(found) == 1


@each_kind
@pytest.mark.skipif(not hasattr(testing, "set_mxcsr"), reason="x86 only")
@pytest.mark.parametrize("name", MODES)
def test_the_floating_point_mode_cannot_be_seen(factory, most, name):
    rows = batch(most - 1)

    def states():
        total = in_group(factory, [rows])
        read = total[7].to_bytes()
        return read, total.merge(total).to_bytes()

    with mode(STANDARD):
        expected = states()
    with mode(MODES[name]):
        found = states()
    assert found == expected
