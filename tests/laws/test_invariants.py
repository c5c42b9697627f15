"""Laws that every accumulator obeys, to the bit.

A metric joins by one line in ``METRICS``: how to make its accumulator, and how to make n rows
for it. Rows are a dict of arrays, the arguments of ``update``, that are cut and shuffled
together.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
import threading
from collections.abc import Callable
from typing import Any
from unittest.mock import ANY

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import strategies
from calibrant import set_num_threads, streaming
from calibrant._core import _testing
from calibrant.config import config
from score_cells import of_whole_cells

pytestmark = [
    pytest.mark.kernels,
    pytest.mark.threads,
    pytest.mark.build,
    pytest.mark.usefixtures("runtime_restored"),
]

Rows = dict[str, np.ndarray]


@dataclasses.dataclass(frozen=True)
class Metric:
    make: Callable[[], Any]
    rows: Callable[[int], Rows]  # n rows, some of them nasty
    # from the outcome of rows to that of so many times the rows
    multiplied: Callable[[dict[str, Any], float], dict[str, Any]] = lambda outcome, _: outcome


def events(n, n_classes=None, least=0.0):
    y_true, y_proba = strategies.nasty_table(n, n_classes=n_classes)
    return {"y_true": y_true, "y_proba": np.maximum(y_proba, least)}


def two_columns(n):
    """A binary problem, as predict_proba has it."""
    rows = events(n)
    p = rows["y_proba"]
    return {**rows, "y_proba": np.stack([1.0 - p, p], axis=1)}


def multiplied_test(outcome, factor):
    """A statistic grows like the root of n; its p-values follow from it."""
    statistic = pytest.approx(outcome["statistic"] * math.sqrt(factor), rel=2.0**-51)
    return {**outcome, "statistic": statistic, "pvalue": ANY, "log_pvalue": ANY}


def multiplied_assessment(outcome, _):
    """More rows, more certainty."""
    return {**outcome, "pvalue": ANY}


def pairs(n, n_classes=None, least=0.0):
    """Two models: the nasty one, and one that is shyer."""
    rows = events(n, n_classes, least)
    p = rows.pop("y_proba")
    return {**rows, "first": p, "second": np.where(p == 0.5, 0.25, 0.75 * p + 0.125)}


def multiplied_pairs(outcome, factor):
    """Differences stay; their standard errors shrink like the root of n."""
    for name in ("brier", "log", "spherical", "hit_rate"):
        found = outcome[name]
        if found["standard_error"] is not None:
            error = pytest.approx(found["standard_error"] / math.sqrt(factor), rel=2.0**-48)
            outcome = {
                **outcome,
                name: {
                    **found, "standard_error": error, "better": ANY, "pvalue": ANY,
                    "adjusted_pvalue": ANY,
                },
            }  # fmt: skip
    return outcome


RiskProfile, Scores, Scorecard = streaming.RiskProfile, streaming.Scores, streaming.Scorecard
PairedScores = streaming.PairedScores
POWERS = (-math.inf, -3.0, 0.5, 2.0, 1 / 64, math.inf)
METRICS = {
    "risk profile": Metric(RiskProfile, events),
    "risk profile without zeros": Metric(RiskProfile, functools.partial(events, least=1e-320)),
    "risk profile of 3 classes": Metric(RiskProfile, functools.partial(events, n_classes=3)),
    "risk profile of 700 classes": Metric(RiskProfile, lambda n: events(n // 40, n_classes=700)),
    "risk profile, clipped": Metric(lambda: RiskProfile(q_lim=0.01), events),
    "risk profile of many powers": Metric(lambda: RiskProfile(powers=POWERS), events),
    "reliability": Metric(lambda: streaming.Reliability(7), events),
    "reliability of 3 classes": Metric(
        streaming.Reliability, functools.partial(events, n_classes=3)
    ),
    "assessment": Metric(lambda: streaming.Assessment(7), events, multiplied_assessment),
    "assessment of 3 classes, clipped": Metric(
        lambda: streaming.Assessment(20, q_lim=0.01),
        functools.partial(events, n_classes=3),
        multiplied_assessment,
    ),
    "score table": Metric(streaming.ScoreTable, events),
    "score table of 3 classes": Metric(
        streaming.ScoreTable, functools.partial(events, n_classes=3)
    ),
    "risk profile of many powers and 4 classes": Metric(
        lambda: RiskProfile(powers=POWERS, q_lim=1e-300), functools.partial(events, n_classes=4)
    ),
    "scores": Metric(Scores, events),
    "scores without zeros": Metric(Scores, functools.partial(events, least=1e-320)),
    "scores of two columns": Metric(Scores, two_columns),
    "scores of 3 classes": Metric(Scores, functools.partial(events, n_classes=3)),
    "scores of 7 classes": Metric(Scores, functools.partial(events, n_classes=7)),
    "scores of 700 classes": Metric(Scores, lambda n: events(n // 40, n_classes=700)),
    "some scores": Metric(lambda: Scores(scores=["log", "brier"]), events),
    "scores, clipped": Metric(lambda: Scores(q_lim=0.01), events),
    "paired scores": Metric(PairedScores, pairs, multiplied_pairs),
    "paired scores of 3 classes, clipped": Metric(
        lambda: PairedScores(q_lim=0.01), functools.partial(pairs, n_classes=3), multiplied_pairs
    ),
    "spiegelhalter": Metric(streaming.Spiegelhalter, events, multiplied_test),
    "spiegelhalter of 3 classes": Metric(
        streaming.Spiegelhalter, functools.partial(events, n_classes=3), multiplied_test
    ),
    "scorecard": Metric(Scorecard, events),
    "scorecard without zeros": Metric(Scorecard, functools.partial(events, least=1e-320)),
    "scorecard of 3 classes": Metric(Scorecard, functools.partial(events, n_classes=3)),
    "scorecard of 700 classes": Metric(Scorecard, lambda n: events(n // 40, n_classes=700)),
    "scorecard, clipped, of 40 bins": Metric(lambda: Scorecard(n_bins=40, q_lim=0.01), events),
}

metrics = pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
#: What a result says of the number of rows and their weight; all else is free of their scale.
COUNTS = {
    "n", "n_omitted", "counts", "weights", "hits", "pairs", "true_pairs", "true_weights",
    "tolerance", "verdict", "warning",
}  # fmt: skip
#: Intervals and tests do depend on the weight: more rows, more certainty.
CERTAINTY = {
    "low", "high", "method", "reason", "spiegelhalter_z", "spiegelhalter_pvalue",
    "ks", "ks_pvalue", "kuiper", "kuiper_pvalue",
}  # fmt: skip
THREADS = (1, 2, 4, 7)
MANY = 50_000  # several chunks, and two threads
MOST = 250_000  # enough for seven threads to be worth it
FEW = 1200  # three blocks


@functools.cache
def rows_of(metric: Metric, n: int, weighted: bool = False) -> Rows:
    rows = metric.rows(n)
    if weighted:
        size = len(rows["y_true"])
        choices = [0.0, 1.0, 2.0, 3.0, 0.1, 1e-300, 1e300, strategies.SUBNORMAL]
        rows["sample_weight"] = np.random.default_rng(n).choice(choices, size)
    for column in rows.values():
        column.setflags(write=False)
    return rows


def taken(rows: Rows, index) -> Rows:
    return {name: column[index] for name, column in rows.items()}


def length(rows: Rows) -> int:
    return len(next(iter(rows.values())))


def filled(metric: Metric, *batches: Rows):
    total = metric.make()
    for batch in batches:
        total.update(**batch)
    return total


def without_counts(fields):
    return {
        name: without_counts(value) if isinstance(value, dict) else value
        for name, value in fields.items()
        if name not in COUNTS
    }


def by_cells(total):
    """With scores by whole cells, as those of many rows: as good as of any number of them."""
    if not isinstance(total, (streaming.ScoreTable, streaming.Scorecard)):
        return total
    columns = total._state.columns
    return of_whole_cells(total.copy(), np.empty((1, columns) if columns > 1 else 1))


def outcome(total):
    """The result without its counts, which weights do not change."""
    return without_counts(total.result().to_dict())


def free_of_scale(fields):
    """What of an outcome does not change when all weights are multiplied."""
    if isinstance(fields, list):
        return [free_of_scale(value) for value in fields]
    if not isinstance(fields, dict):
        return fields
    return {name: free_of_scale(value) for name, value in fields.items() if name not in CERTAINTY}


both = pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])


# The same bytes however the work is split


@metrics
@both
def test_any_order(metric, weighted):
    rows = rows_of(metric, FEW, weighted)
    expected = filled(metric, rows).to_bytes()
    rng = np.random.default_rng(0)
    for _ in range(3):
        assert filled(metric, taken(rows, rng.permutation(length(rows)))).to_bytes() == expected
    assert filled(metric, taken(rows, slice(None, None, -1))).to_bytes() == expected


@metrics
@both
@settings(max_examples=10)
@given(cuts=st.lists(st.integers(0, FEW), max_size=8), order=st.randoms(use_true_random=False))
def test_any_batches_and_merges(metric, weighted, cuts, order):
    rows = rows_of(metric, FEW, weighted)
    n = length(rows)
    expected = filled(metric, rows).to_bytes()
    edges = [0, *sorted(min(cut, n) for cut in cuts), n]  # some of 0 rows, some of 1
    batches = [taken(rows, slice(a, b)) for a, b in itertools.pairwise(edges)]
    order.shuffle(batches)
    assert filled(metric, *batches).to_bytes() == expected
    parts = [filled(metric, batch) for batch in batches]
    while len(parts) > 1:  # a random tree
        left = parts.pop(order.randrange(len(parts)))
        right = parts.pop(order.randrange(len(parts)))
        parts.append(left.merge(type(right).from_bytes(right.to_bytes())))
    assert parts[0].to_bytes() == expected


@metrics
def test_row_by_row(metric):
    rows = taken(rows_of(metric, FEW), slice(0, 40))
    expected = filled(metric, rows).to_bytes()
    singles = [taken(rows, slice(i, i + 1)) for i in range(length(rows))]
    assert filled(metric, *singles).to_bytes() == expected


@pytest.mark.every_isa
@metrics
@both
def test_any_number_of_threads_and_instruction_set(metric, weighted):
    rows = rows_of(metric, MOST, weighted)
    found = set()
    for isa in config()["available_isas"]:
        _testing.set_isa(isa)
        for threads in THREADS if isa == config()["available_isas"][-1] else (2,):
            set_num_threads(threads)
            found.add(filled(metric, rows).to_bytes())
    assert len(found) == 1


@metrics
@pytest.mark.parametrize("n", strategies.SIZES)
def test_sizes_around_blocks_and_chunks(metric, n):
    rows = rows_of(metric, n)
    expected = filled(metric, rows).to_bytes()
    set_num_threads(2)
    middle = length(rows) // 2
    halves = taken(rows, slice(0, middle)), taken(rows, slice(middle, None))
    assert filled(metric, *halves).to_bytes() == expected
    assert metric.make().merge(filled(metric, rows)).to_bytes() == expected


@metrics
@both
def test_merging_nothing_changes_nothing(metric, weighted):
    total = filled(metric, rows_of(metric, FEW, weighted))
    before = total.to_bytes()
    total.merge(metric.make())
    total.update(**taken(rows_of(metric, FEW, weighted), slice(0)))
    assert total.to_bytes() == before


# The same values in another form


@metrics
def test_float32_is_read_as_the_same_values(metric):
    rows = rows_of(metric, MANY)
    single = {name: c.astype(np.float32) for name, c in rows.items() if c.dtype == np.float64}
    double = {name: column.astype(np.float64) for name, column in single.items()}
    single, double = {**rows, **single}, {**rows, **double}
    assert filled(metric, single).to_bytes() == filled(metric, double).to_bytes()


def spread(column):
    wide = np.zeros((len(column) * 3, *column.shape[1:]), column.dtype)
    wide[1::3] = column
    return wide[1::3]


def misaligned(column):
    raw = np.zeros(column.nbytes + 1, np.uint8)[1:]
    raw = raw.view(column.dtype).reshape(column.shape)
    raw[...] = column
    return raw


FORMS = {
    "strided": spread,
    "reversed twice": lambda column: column[::-1].copy()[::-1],
    "big-endian": lambda column: column.astype(column.dtype.newbyteorder(">")),
    "little-endian": lambda column: column.astype(column.dtype.newbyteorder("<")),
    "misaligned": misaligned,
    "Fortran order": np.asfortranarray,
    "a column of a matrix": lambda column: np.stack([column, column], axis=-1)[..., 0],
}


@metrics
@both
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_any_memory_layout(metric, weighted, form):
    rows = rows_of(metric, FEW, weighted)
    changed = {name: form(column) for name, column in rows.items()}
    assert filled(metric, changed).to_bytes() == filled(metric, rows).to_bytes()


@metrics
@pytest.mark.parametrize("dtype", ["i2", "i4", "u8", "f2", "f4", "f8"])
def test_any_type_of_labels(metric, dtype):
    rows = rows_of(metric, FEW)
    changed = {**rows, "y_true": rows["y_true"].astype(dtype)}
    assert filled(metric, changed).to_bytes() == filled(metric, rows).to_bytes()


@metrics
def test_lists(metric):
    rows = rows_of(metric, FEW)
    changed = {name: column.tolist() for name, column in rows.items()}
    assert filled(metric, changed).to_bytes() == filled(metric, rows).to_bytes()


# Weights


@metrics
@pytest.mark.parametrize("n", [FEW, MANY])
def test_weight_one_is_no_weight(metric, n):
    rows = rows_of(metric, n)
    for dtype in (float, np.float32, np.int64, bool):
        weighted = {**rows, "sample_weight": np.ones(length(rows), dtype)}
        assert filled(metric, weighted).to_bytes() == filled(metric, rows).to_bytes()


@metrics
def test_an_integer_weight_is_that_many_repetitions(metric):
    rows = rows_of(metric, FEW)
    counts = np.random.default_rng(1).integers(0, 6, length(rows))
    weighted = filled(metric, {**rows, "sample_weight": counts})
    repeated = filled(
        metric, {name: np.repeat(column, counts, axis=0) for name, column in rows.items()}
    )
    assert outcome(weighted) == outcome(repeated)


@metrics
def test_a_large_integer_weight(metric):
    rows = taken(rows_of(metric, FEW), slice(0, 60))
    once = filled(metric, rows)
    often = filled(metric, {**rows, "sample_weight": np.full(length(rows), 2.0**40)})
    for _ in range(40):
        once.merge(once)
    assert outcome(by_cells(often)) == outcome(once)


@metrics
def test_weight_zero_is_absence(metric):
    rows = rows_of(metric, FEW, True)
    present = taken(rows, rows["sample_weight"] > 0)
    assert length(present) < length(rows)
    assert outcome(filled(metric, rows)) == outcome(filled(metric, present))


@metrics
@pytest.mark.parametrize("exponent", [-1000, -100, -1, 1, 10, 100, 1000])
def test_weights_scaled_by_a_power_of_two(metric, exponent):
    rows = rows_of(metric, FEW)
    weights = np.random.default_rng(2).integers(0, 2**20, length(rows)).astype(float)
    expected = filled(metric, {**rows, "sample_weight": weights})
    scaled = filled(metric, {**rows, "sample_weight": np.ldexp(weights, exponent)})
    expected_there = metric.multiplied(outcome(expected), 2.0**exponent)
    assert free_of_scale(outcome(scaled)) == free_of_scale(expected_there)


# Many threads, many rows


@metrics
def test_updates_from_many_python_threads_lose_nothing(metric):
    rows = rows_of(metric, 24_000)
    n = length(rows)
    shared = metric.make()
    edges = [0, n // 50, n // 2, n]  # below and above the size that releases the GIL
    barrier = threading.Barrier(8)

    def work() -> None:
        barrier.wait()
        for a, b in itertools.pairwise(edges):
            shared.update(**taken(rows, slice(a, b)))
            shared.to_bytes()

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expected = filled(metric, rows)
    for _ in range(3):
        expected.merge(expected)
    assert shared.to_bytes() == expected.to_bytes()


@metrics
@both
def test_more_rows_than_32_bits_count(metric, weighted):
    total = filled(metric, rows_of(metric, FEW, weighted))
    once, n = free_of_scale(outcome(by_cells(total))), total.n
    for _ in range(40):
        total.merge(total)
    assert total.n == len(total) == n * 2**40
    assert free_of_scale(outcome(total)) == metric.multiplied(once, 2.0**40)
    back = type(total).from_bytes(total.to_bytes())
    assert back == total


@metrics
def test_counts_reject_to_overflow(metric):
    total = filled(metric, taken(rows_of(metric, FEW), slice(0, 1)))
    single = total.copy()
    for _ in range(63):
        total.merge(total)
    assert total.n == 2**63
    before = total.to_bytes()
    with pytest.raises(OverflowError, match=r"more than 2\^64 - 1 rows"):
        total.merge(total)
    assert total.to_bytes() == before
    # Up to the last count: 2^63 + (2^63 - 1).
    rest = single.copy()
    for _ in range(62):
        rest.merge(rest).merge(single)
    total.merge(rest)
    assert total.n == 2**64 - 1
    before = total.to_bytes()
    with pytest.raises(OverflowError, match=r"more than 2\^64 - 1 rows"):
        total.update(**taken(rows_of(metric, FEW), slice(0, 1)))
    assert total.to_bytes() == before
    assert free_of_scale(outcome(total)) == free_of_scale(
        metric.multiplied(outcome(single), 2.0**64)
    )
