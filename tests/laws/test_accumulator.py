"""The protocol of accumulators, on the least of them, and the law of batches on all."""

from __future__ import annotations

import copy
import gc
import pickle
import threading
import weakref

import numpy as np
import pytest

from bad_input_rows import ACCUMULATORS
from calibrant import set_num_threads
from calibrant._accumulator.base import Accumulator
from calibrant._core import _testing
from interrupts import assert_interrupted
from row_counter import Rows

pytestmark = pytest.mark.kernels


class Other(Rows):
    """Another class around the same state."""

    __slots__ = ()


class Foreign(Rows):
    """With a state of its own class."""

    __slots__ = ()

    def __init__(self) -> None:
        self._state = object()


def test_merge_adds_and_returns_self():
    left, right = Rows(count=3), Rows(count=4)
    assert left.merge(right) is left
    assert (left.n, right.n, len(left)) == (7, 4, 7)


def test_merge_with_itself_counts_twice():
    rows = Rows(count=3)
    assert rows.merge(rows).n == 6


def test_counts_beyond_32_bits():
    rows = Rows(count=1)
    for _ in range(40):
        rows.merge(rows)
    assert rows.n == len(rows) == 2**40


def test_merge_rejects_other_parameters():
    rows = Rows("a", count=1)
    with pytest.raises(
        ValueError, match=r"cannot merge RowCounter with label 'b' into one with 'a'"
    ):
        rows.merge(Rows("b", count=1))
    assert rows.n == 1


@pytest.mark.parametrize("other", [None, 3, b"CLBR", _testing.RowCounter()])
def test_merge_rejects_other_things(other):
    with pytest.raises(TypeError, match=rf"cannot merge {type(other).__name__} into Rows"):
        Rows().merge(other)


def test_merge_rejects_other_kinds():
    with pytest.raises(TypeError, match="cannot merge Foreign into Rows"):
        Rows().merge(Foreign())


def test_a_merge_that_overflows_changes_nothing():
    rows = Rows(count=2**64 - 1)
    with pytest.raises(OverflowError, match="too many rows"):
        rows.merge(Rows(count=1))
    assert rows.n == 2**64 - 1


def test_equality_is_of_states():
    assert Rows("a", count=1) == Rows("a", count=1)
    assert Rows("a", count=1) != Rows("a", count=2)
    assert Rows("a") != Rows("b")
    assert Rows() == Other()
    assert Rows() != Foreign()
    assert Rows() != 0


def test_not_hashable():
    with pytest.raises(TypeError, match="unhashable"):
        hash(Rows())


@pytest.mark.parametrize(
    "duplicate", [Rows.copy, copy.copy, copy.deepcopy], ids=lambda f: f.__name__
)
def test_copies_are_independent(duplicate):
    rows = Rows("a", count=5)
    twin = duplicate(rows)
    assert type(twin) is Rows
    assert twin == rows
    twin.update(1)
    assert (rows.n, twin.n) == (5, 6)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickle(protocol):
    rows = Other("a", count=5)
    back = pickle.loads(pickle.dumps(rows, protocol))
    assert type(back) is Other
    assert back == rows


def test_repr():
    assert repr(Rows("weekly", count=1000)) == "Rows(n=1000, label='weekly')"


def test_no_attributes_that_copies_would_lose():
    with pytest.raises(AttributeError):
        Rows().note = "lost"


def test_weak_references():
    rows = Rows()
    reference = weakref.ref(rows)
    del rows
    gc.collect()
    assert reference() is None


def test_result_is_required():
    with pytest.raises(TypeError, match="abstract"):
        Accumulator()


# Updates


@pytest.mark.parametrize("threads", [1, 2, 4, 7])
@pytest.mark.parametrize("rows", [0, 1, 9_999, 10_000, 10_001, 1_000_000])
def test_update_counts_all_rows(threads, rows):
    set_num_threads(threads)
    try:
        counter = Rows("a", count=7)
        counter.update(rows)
        assert counter.to_bytes() == Rows("a", count=7 + rows).to_bytes()
    finally:
        set_num_threads(0)


@pytest.mark.parametrize("rows", [100, 1_000_000])
def test_a_failed_update_changes_nothing(rows):
    counter = Rows("a", count=7)
    before = counter.to_bytes()
    with pytest.raises(ValueError, match="bad row in the chunk at row 0"):
        counter.update(rows, bad_row=99)
    assert counter.to_bytes() == before


def test_an_interrupted_update_changes_nothing():
    counter = Rows("a", count=7)
    before = counter.to_bytes()
    assert_interrupted(lambda: counter.update(10**8, seconds_per_chunk=0.001))
    assert counter.to_bytes() == before
    counter.update(20_000)
    assert counter.n == 20_007


def test_updates_from_many_threads_lose_nothing():
    counter = Rows()
    sizes = [1, 5_000, 20_000]

    def update_often() -> None:
        for i in range(100):
            counter.update(sizes[i % 3])
            counter.to_bytes()

    threads = [threading.Thread(target=update_often) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counter.n == 8 * sum(sizes[i % 3] for i in range(100))


def drawn(rows, places):
    """Rows at some places, with any probabilities and weights where there are such."""
    rng = np.random.default_rng(7)
    fresh = {"y_proba": rng.random, "sample_weight": lambda n: rng.integers(0, 5, n) / 3}
    return {
        name: drawn(column, places)
        if isinstance(column, dict)
        else fresh[name](places.size)
        if name in fresh and np.ndim(column) == 1
        else np.array(column)[places]
        for name, column in rows.items()
    }


def part(rows, begin, end):
    return {
        name: part(column, begin, end) if isinstance(column, dict) else column[begin:end]
        for name, column in rows.items()
    }


#: The greatest wealth is that of the looks after each batch; the other two cannot be saved.
OTHERS = {
    "sequential.SequentialCalibrationTest", "comparison.ComparisonSums", "streaming.Refinement",
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(ACCUMULATORS.keys() - OTHERS))
def test_a_thousand_random_batches_merged_in_random_order(name):
    make, rows = ACCUMULATORS[name]
    rng = np.random.default_rng(1000)
    n = 5_000
    rows = drawn(rows, rng.integers(0, 6, n))
    whole = make()
    whole.update(**rows)
    cuts = np.sort(rng.integers(0, n + 1, 999))  # some batches are empty
    totals = [make() for _ in range(20)]
    for begin, end in zip([0, *cuts], [*cuts, n], strict=True):
        totals[rng.integers(len(totals))].update(**part(rows, begin, end))
    while len(totals) > 1:
        left = totals.pop(rng.integers(len(totals)))
        totals[rng.integers(len(totals))].merge(left)
    assert totals[0].to_bytes() == whole.to_bytes()
