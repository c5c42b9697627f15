"""Scorecards of groups: cards of their own, with keys of any kind."""

from __future__ import annotations

import math

import numpy as np
import pytest

import strategies
from calibrant import Estimate, scorecard, streaming
from calibrant._core import _testing
from calibrant.evidence import Evidence
from cards import ORDERED, binary, check_stream, classes

pytestmark = pytest.mark.kernels


def same(card, other):
    return {**card.to_dict(), "groups": []} == {**other.to_dict(), "groups": []}


@pytest.mark.parametrize("n_classes", [None, 3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_groups", [1, 7, 600])
def test_groups_are_cards_of_their_own(n_classes, weighted, n_groups):
    y, p = strategies.nasty_table(20_000, n_classes=n_classes)
    rng = np.random.default_rng(3)
    keys = rng.integers(0, n_groups, y.size)
    w = rng.choice([0.25, 1.0, 3.0], y.size) if weighted else None
    card = scorecard(y, p, groups=keys, sample_weight=w)
    assert same(card, scorecard(y, p, sample_weight=w))
    assert list(card.groups) == sorted(set(keys.tolist()))
    for key in list(card.groups)[:: max(1, n_groups // 7)]:
        rows = keys == key
        alone = scorecard(y[rows], p[rows], sample_weight=None if w is None else w[rows])
        assert card.groups[key] == alone


def key_arrays():
    keys = ["b", "a", "c", "a", "b", "a"]
    yield "list", keys, str
    yield "NumPy text", np.array(keys), str
    yield "objects", np.array(keys, object), str
    yield "integers", np.array([2, 1, 3, 1, 2, 1]), int
    yield "small integers", np.array([127, -128, 3, -128, 127, -128], np.int8), int
    yield "far integers", np.array([2**62, -(2**62), 3, -(2**62), 2**62, -(2**62)]), int
    yield "unsigned", np.array([2**64 - 1, 0, 3, 0, 2**64 - 1, 0], np.uint64), int
    yield "floats", np.array([0.5, -1.5, 3, -1.5, 0.5, -1.5]), float
    yield "booleans", np.array([True, False, True, False, True, False]), bool
    yield (
        "dates",
        np.array(["2020-02", "2020-01", "2020-03", "2020-01", "2020-02", "2020-01"], "M8[M]"),
        object,
    )
    yield "tuples", [(1, "b"), (1, "a"), (2, "c"), (1, "a"), (1, "b"), (1, "a")], tuple


@pytest.mark.parametrize(
    ("groups", "kind"), [x[1:] for x in key_arrays()], ids=[x[0] for x in key_arrays()]
)
def test_keys_of_many_kinds(groups, kind):
    y, p = [1, 0, 0, 1, 1, 0], [0.9, 0.1, 0.3, 0.6, 0.8, 0.4]
    card = scorecard(y, p, groups=groups)
    keys = list(card.groups)
    assert all(isinstance(key, kind) for key in keys)
    assert keys == sorted(keys)
    first = keys[0]
    assert card.groups[first] == scorecard([0, 1, 0], [0.1, 0.6, 0.4])
    assert sum(group.n for group in card.groups.values()) == 6


def test_keys_that_cannot_be_sorted_come_in_the_order_of_their_rows():
    card = scorecard([1, 0, 1], [0.5, 0.5, 0.5], groups=["b", 1, (2,)])
    assert list(card.groups) == ["b", 1, (2,)]


@pytest.mark.parametrize(
    "library", ["pandas", "pandas categories", "polars", "arrow", "arrow chunks"]
)
def test_keys_of_other_libraries(library):
    values = ["b", "a", None, "a", "b", "a"]
    if library.startswith("pandas"):
        pd = pytest.importorskip("pandas")
        groups = pd.Series(values, dtype="category" if "cat" in library else object)
    elif library == "polars":
        groups = pytest.importorskip("polars").Series(values)
    else:
        pa = pytest.importorskip("pyarrow")
        groups = (
            pa.chunked_array([values[:2], values[2:]]) if "chunks" in library else pa.array(values)
        )
    y, p = [1, 0, 0, 1, 1, 0], [0.9, 0.1, 0.3, 0.6, 0.8, 0.4]
    with pytest.raises(ValueError, match="groups has a missing value at row 2"):
        scorecard(y, p, groups=groups)
    card = scorecard(y, p, groups=groups, nan_policy="omit")
    assert list(card.groups) == ["a", "b"]
    assert (card.n, card.n_omitted) == (5, 1)
    assert card.groups["a"] == scorecard([0, 1, 0], [0.1, 0.6, 0.4])


@pytest.mark.parametrize(
    "groups", [[1.0, math.nan], np.array([1, None], object), np.array(["2020", "NaT"], "M8[Y]")]
)
def test_a_missing_key_is_rejected_with_its_row(groups):
    with pytest.raises(ValueError, match="groups has a missing value at row 1"):
        scorecard([0, 1], [0.5, 0.5], groups=groups)


def test_omitted_rows_are_counted_where_they_belong():
    y = [1, 0, 1, math.nan, 1, 0]
    p = [0.5, math.nan, 0.25, 0.5, 0.75, math.nan]
    card = scorecard(y, p, groups=["a", "a", "b", "b", None, "c"], nan_policy="omit")
    assert (card.n, card.n_omitted) == (2, 4)
    assert {key: (c.n, c.n_omitted) for key, c in card.groups.items()} == {
        "a": (1, 1), "b": (1, 1), "c": (0, 1)
    }  # fmt: skip
    assert card.groups["c"].brier == Estimate(
        None, None, None, "none", "no row of this group has weight"
    )
    assert "undefined" in repr(card)


def test_a_bad_row_is_found_in_groups_too():
    y, p = binary(100_000)
    p[70_000] = 1.5
    with pytest.raises(ValueError, match=r"y_proba must lie in \[0, 1\], found 1.5 at row 70000"):
        scorecard(y, p, groups=np.arange(100_000) % 10)


# One answer, however the scorecards of groups are asked for


@pytest.mark.parametrize("n_classes", [None, 3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n", [600, 20_000])
def test_groups_have_one_answer(n_classes, weighted, n):
    rng = np.random.default_rng(n)
    y, p = binary(n) if n_classes is None else classes(n, n_classes)
    keys = rng.choice(["a", "b", "c"], n, p=[0.6, 0.3, 0.1])
    w = rng.choice([0.5, 1.0, 3.0], n) if weighted else None
    exact = scorecard(y, p, groups=keys, sample_weight=w)
    grouped = streaming.Grouped(streaming.Scorecard)
    grouped.update(y, p, groups=keys, sample_weight=w)
    evidence = Evidence()
    for rows in np.array_split(np.arange(n), 3):
        some = None if w is None else w[rows]
        evidence.update(y[rows], p[rows], groups=keys[rows], sample_weight=some)
    of_report = evidence.result()
    for key, card in exact.groups.items():
        assert grouped[key].result() == of_report.groups[key]
        check_stream(of_report.groups[key], card)
        assert all(estimate.value is not None for _, estimate in of_report.groups[key])
        if card.n <= 4096:
            assert of_report.groups[key] == card


def test_a_saved_group_without_a_table():
    total = streaming.Scorecard()
    total.update(*binary(500))
    state, table = total.to_bytes(), total.table.to_bytes()
    plain = streaming.Scorecard.from_bytes(_testing.seal(7, 1, state[20 : -4 - len(table)]))
    found = plain.result()
    for name, estimate in total.result():
        if name in ORDERED:
            reason = "no table of scores was kept of these rows"
            assert getattr(found, name) == Estimate(None, None, None, "none", reason)
        else:
            assert getattr(found, name) == estimate
    with pytest.raises(ValueError, match="this Scorecard keeps no table of scores"):
        _ = plain.table
    both, other_way = total.copy().merge(plain), plain.copy().merge(total)
    assert both == other_way
    assert both.result().auc.value is None
    assert both.result().brier.value == total.result().brier.value
    assert streaming.Scorecard().merge(plain) == plain
