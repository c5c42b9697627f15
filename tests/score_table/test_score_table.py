"""The score table: its cells, and that its intervals hold what the rows themselves give."""

from __future__ import annotations

import bisect
import itertools
import json
import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import calibrant
import strategies
from calibrant import _core, streaming
from calibrant._core import _testing
from score_cells import MOST_LISTED, of_whole_cells

pytestmark = pytest.mark.kernels

TOP = _core.n_score_cells - 1
NORMS = (1, 2, "max")
STRATEGIES = ("quantile", "uniform")
EDGES = (0.0, 2.0**-39, 2.0**-6, 0.3, 0.3, 0.5, 1 - 2.0**-7, 1.0, 1.0)


def boundaries():
    """Where cells begin, from the definition: below 1/2, closed on the left."""
    octaves = [2.0**e * (1 + j / 256) for e in range(-38, -6) for j in range(256)]
    return [2.0**-53, *octaves, *(k * 2.0**-14 for k in range(256, 8192)), 0.5]


def cell_by_definition(score):
    """By the double 1 - (1 - s): the inner difference is rounded, the outer one exact."""
    if score > 0.5:
        return TOP - cell_by_definition(1.0 - score)
    return bisect.bisect_right(BOUNDARIES, 1.0 - (1.0 - score))


BOUNDARIES = boundaries()
around = st.sampled_from(BOUNDARIES).flatmap(
    lambda b: st.sampled_from(
        [b, math.nextafter(b, 0), math.nextafter(b, 1), 1 - b, math.nextafter(1 - b, 0), b * 1.001]
    )
)
scores = around | strategies.probabilities


@given(scores)
def test_cells_are_those_of_the_definition(score):
    assert len(BOUNDARIES) + 1 == _core.n_score_cells // 2 + 1
    assert _testing.cell_of_score(score) == cell_by_definition(abs(score))


@given(scores)
def test_cells_mirror(score):
    assert _testing.cell_of_score(1.0 - score) == TOP - _testing.cell_of_score(score)


@given(scores, scores)
def test_cells_keep_the_order(a, b):
    a, b = min(a, b), max(a, b)
    assert 0 <= _testing.cell_of_score(a) <= _testing.cell_of_score(b) <= TOP


def test_special_scores_have_cells_of_their_own():
    assert _testing.cell_of_score(0.0) == 0
    assert _testing.cell_of_score(1.0) == TOP
    assert _testing.cell_of_score(math.nextafter(1, 0)) == TOP - 1
    middle = _testing.cell_of_score(0.5)
    assert middle == TOP // 2
    assert _testing.cell_of_score(math.nextafter(0.5, 0) - 2.0**-53) == middle - 1
    assert _testing.cell_of_score(math.nextafter(0.5, 1)) == middle + 1


# The interval holds the value


def table_of(y, p, w=None, *, whole_cells=False):
    table = streaming.ScoreTable()
    table.update(y, p, sample_weight=w)
    return of_whole_cells(table, p) if whole_cells else table


def assert_holds(y, p, w, n_bins, strategy, norm):
    options = {"n_bins": n_bins, "strategy": strategy, "norm": norm, "sample_weight": w}
    if p.ndim == 2:
        exact = calibrant.top_label_ece(y, p, average="pooled", **options)
    else:
        exact = calibrant.expected_calibration_error(y, p, **options)
    for whole_cells in (False, True):
        found = table_of(y, p, w, whole_cells=whole_cells).expected_calibration_error(
            n_bins=n_bins, strategy=strategy, norm=norm
        )
        assert 0 <= found.low <= exact <= found.high <= 1
        assert found.low <= found.value <= found.high
    return found, exact


def assert_table_holds(y, p, w, n_bins, strategy):
    exact = calibrant.reliability_bins(y, p, n_bins=n_bins, strategy=strategy, sample_weight=w)
    for whole_cells in (False, True):
        table = table_of(y, p, w, whole_cells=whole_cells)
        found = table.reliability_bins(n_bins=n_bins, strategy=strategy)
        for name in ("edges", "counts", "weights", "hits", "mean_scores", "frequencies"):
            true = getattr(exact, name)
            defined = ~np.isnan(true)
            low, high = getattr(found.low, name)[defined], getattr(found.high, name)[defined]
            assert (low <= true[defined]).all(), name
            assert (true[defined] <= high).all(), name
        assert found.value.counts.sum() == exact.n == found.low.n
    return found, exact


@st.composite
def clustered(draw):
    """Rows that share few cells: ties, neighbours in a cell, several cuts in one."""
    centres = draw(st.lists(scores, min_size=1, max_size=4))
    n = draw(st.integers(1, 60))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    p = rng.choice(centres, n)
    spread = draw(st.sampled_from([0.0, 2.0**-60, 2.0**-40, 2.0**-16, 2.0**-8]))
    p = np.clip(p + spread * rng.integers(-3, 4, n), 0, 1)
    y = (rng.random(n) < draw(st.sampled_from([0.0, 0.1, 0.5, 1.0]))).astype(int)
    kind = draw(st.sampled_from(["none", "integer", "any"]))
    w = {
        "none": None,
        "integer": rng.integers(0, 4, n).astype(float) * 2.0 ** draw(st.integers(-30, 30)),
        "any": rng.choice([0.0, 1.0, 0.1, 0.3, 2.0, 1e-300, 1e300, 5e-324], n),
    }[kind]
    order = draw(st.sampled_from(["random", "sorted", "reversed"]))
    rows = {"random": np.arange(n), "sorted": np.argsort(p), "reversed": np.argsort(-p)}[order]
    return y[rows], p[rows], w if w is None else w[rows]


bins_or_edges = st.integers(1, 20) | st.just(EDGES) | st.just(500)


@settings(max_examples=400)
@given(
    clustered() | strategies.tables(min_rows=1),
    bins_or_edges,
    st.sampled_from(STRATEGIES),
    st.sampled_from(NORMS),
)
def test_the_interval_holds_the_value(table, n_bins, strategy, norm):
    y, p, w = table
    if w is not None and not w.any():
        return
    assert_holds(y, p, w, n_bins, strategy, norm)


@settings(max_examples=300)
@given(clustered() | strategies.tables(min_rows=1), bins_or_edges, st.sampled_from(STRATEGIES))
def test_the_bounds_hold_the_table(table, n_bins, strategy):
    y, p, w = table
    if w is not None and not w.any():
        return
    assert_table_holds(y, p, w, n_bins, strategy)


SHAPES = {
    "smooth": lambda rng, n: rng.random(n),
    "rounded": lambda rng, n: np.round(rng.random(n), 2),
    "float32": lambda rng, n: rng.random(n).astype(np.float32),
    "rare": lambda rng, n: 1e-3 * rng.random(n) ** 4,
    "near 1": lambda rng, n: 1 - 1e-3 * rng.random(n) ** 4,
    "saturated": lambda rng, n: 1 / (1 + np.exp(-60 * rng.standard_normal(n))),
    "in one cell": lambda rng, n: 0.3 + 1e-6 * rng.random(n),
    "in two cells": lambda rng, n: np.where(rng.random(n) < 0.3, 0.3, 0.7) + 1e-6 * rng.random(n),
    "one value": lambda _, n: np.full(n, 0.7),
    "zeros and ones": lambda rng, n: rng.integers(0, 2, n).astype(float),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("norm", NORMS)
def test_the_interval_holds_the_value_of_many_rows(shape, weighted, norm):
    rng = np.random.default_rng(7)
    p = SHAPES[shape](rng, 20_000)
    y = rng.random(p.size) < p**1.2
    w = rng.random(p.size) if weighted else None
    for n_bins in (1, 15, 100, [0, 0.001, 0.3000005, 0.30000055, 0.9, 1]):
        for strategy in STRATEGIES:
            assert_holds(y, p, w, n_bins, strategy, norm)
            assert_table_holds(y, p, w, n_bins, strategy)


def test_of_classes():
    rng = np.random.default_rng(3)
    p = rng.dirichlet(np.ones(4), 5000)
    y = rng.integers(0, 4, 5000)
    for norm in NORMS:
        assert_holds(y, p, None, 20, "quantile", norm)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_without_doubt_it_is_the_value_to_the_bit(norm, strategy):
    rng = np.random.default_rng(5)
    p = rng.choice(rng.random(300), 50_000)
    y = rng.random(p.size) < p
    for w in (None, rng.integers(0, 5, p.size)):
        found, exact = assert_holds(y, p, w, 15, strategy, norm)
        assert found.low == found.value == found.high == exact
        bounds, bins = assert_table_holds(y, p, w, 15, strategy)
        assert repr(bounds.value) == repr(bins)
        for part in (bounds.low, bounds.high):
            np.testing.assert_array_equal(part.mean_scores, bins.mean_scores)
            np.testing.assert_array_equal(part.frequencies, bins.frequencies)


def test_more_rows_in_a_cell_than_its_counters_hold():
    n = 400_000
    p = np.full(n, 0.3) + 1e-7 * np.arange(n) / n
    y = np.arange(n) % 3 == 0
    table = table_of(y, p)
    bins = table.reliability_bins(n_bins=1).value
    assert bins.counts[0] == n
    assert bins.mean_scores[0] == calibrant.reliability_bins(y, p, n_bins=1).mean_scores[0]


def test_typical_width():
    rng = np.random.default_rng(1)
    p = rng.random(1_000_000)
    y = rng.random(p.size) < p**1.3
    found, _ = assert_holds(y, p, None, 50, "quantile", 1)
    assert found.width < 2e-4


# The bounds themselves: tight where a search over all divisions can tell


def all_divisions(y, p, n_bins):
    """The least and greatest norm-1 error over all orders of the labels."""
    p = np.sort(p)
    errors = [
        calibrant.expected_calibration_error(list(labels), p, n_bins=n_bins, strategy="quantile")
        for labels in set(itertools.permutations(y.astype(int)))
    ]
    return min(errors), max(errors)


@pytest.mark.parametrize("hits", range(1, 6))
def test_bounds_are_near_the_extremes_of_what_the_cell_allows(hits):
    p = 0.3 + 1e-9 * np.arange(6)
    y = np.arange(6) < hits
    least, most = all_divisions(y, p, 2)
    found = table_of(y, p, whole_cells=True).expected_calibration_error(n_bins=2)
    assert found.low <= least
    assert most <= found.high
    # Within a row's worth: of how many rows a tie might move, the table knows nothing.
    assert found.low > least - 0.05
    assert found.high < most + 0.25


# The accumulator


@pytest.mark.parametrize("n", [3, 4000, 20_000])
@pytest.mark.parametrize("q_lim", [0.0, 0.01])
@pytest.mark.parametrize("n_classes", [1, 3])
def test_the_spectrum_of_a_stream(n, q_lim, n_classes):
    rng = np.random.default_rng(n)
    p = rng.beta(0.3, 0.5, n) if n_classes == 1 else rng.dirichlet([0.3] * n_classes, n)
    y = rng.integers(0, max(n_classes, 2), n)
    weight = rng.integers(0, 4, n) / 3
    q = np.where(y == 1, p, 1 - p) if n_classes == 1 else p[np.arange(n), y]
    table = streaming.ScoreTable(pairs=n_classes > 1, q_lim=q_lim if n_classes > 1 else 0.0)
    table.update(y, p, sample_weight=weight)
    found = table._spectrum(q_lim)
    exact = calibrant.mean_spectrum(q, q_lim=q_lim, sample_weight=weight)
    assert found.value.powers == exact.powers
    assert found.value.n == n
    if n_classes == 1 and n <= 4096:
        np.testing.assert_allclose(found.value.means, exact.means, rtol=1e-15)
        assert found.low == found.value.means == found.high
    ordered = zip(found.low, exact.means, found.high, strict=True)
    assert all(low * (1 - 1e-14) <= mean <= high * (1 + 1e-14) for low, mean, high in ordered)
    if q.min() > 2**-38:
        np.testing.assert_allclose(found.value.means, exact.means, rtol=1e-5)


def test_a_stream_in_which_the_impossible_happened():
    table = streaming.ScoreTable()
    table.update([1, 0], [0.0, 0.5])
    means = dict(zip(table._spectrum(0.0).value.powers, table._spectrum(0.0).low, strict=True))
    assert means[0.0] == means[-1.0] == 0.0
    assert means[1.0] == 0.25


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def test_states_that_no_rows_can_make():
    """Bits changed under a checksum made good: rejected, or a state that reads back as itself."""
    table = streaming.ScoreTable()
    table.update([0, 1, 1], [0.2, 0.9, 0.20000001], sample_weight=[1, 0.5, 1])
    good = table.to_bytes()
    rejected = 0
    for i in range(20, len(good) - 4):
        for bit in range(8):
            body = good[:i] + bytes([good[i] ^ (1 << bit)]) + good[i + 1 : -4]
            state = body + crc32c(body).to_bytes(4, "little")
            try:
                read = streaming.ScoreTable.from_bytes(state)
            except ValueError:
                rejected += 1
            else:
                assert read.to_bytes() == state
                read.result()
                read.assess(n_bins=2)
    # What may pass: other omitted rows, offsets and sums within the cell, sums of the model.
    assert rejected > 0.75 * 8 * (len(good) - 24)


def test_results_are_ready_for_json():
    table = table_of([0, 1, 1], [0.1, 0.9, 0.3])
    summary = json.loads(json.dumps(table.result().to_dict(), allow_nan=False))
    assert summary["n"] == summary["cells"] == 3
    bins = json.loads(json.dumps(table.reliability_bins(n_bins=5).to_dict(), allow_nan=False))
    assert bins["low"]["counts"] == [1, 0, 1, 0, 1] or sum(bins["low"]["counts"]) == 3
    assert repr(table) == "streaming.ScoreTable(n=3)"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_bins": 0}, "n_bins must lie in"),
        ({"n_bins": [0.0, 0.5]}, "edges must cover \\[0, 1\\]"),
        ({"strategy": "width"}, "strategy must be 'uniform' or 'quantile', got 'width'"),
        ({"norm": 3}, "norm must be 1, 2 or 'max', got 3"),
    ],
)
def test_bad_arguments(change, message):
    with pytest.raises(ValueError, match=message):
        table_of([0, 1], [0.2, 0.9]).expected_calibration_error(**change)


def test_nothing_has_no_error():
    table = streaming.ScoreTable()
    with pytest.raises(ValueError, match="a calibration error needs at least one row, got none"):
        table.result()
    table.update([0], [0.5], sample_weight=[0])
    with pytest.raises(ValueError, match="positive weight, all 1 have weight 0"):
        table.reliability_bins()


MEMORY = """
import re
import numpy as np
from calibrant import streaming

def peak():
    status = open("/proc/self/status").read()
    return int(re.search(r"VmHWM:\\s+(\\d+) kB", status)[1]) * 1024

rng = np.random.default_rng(0)
p = rng.random(1_000_000)
y = rng.random(p.size) < p
table = streaming.ScoreTable()
table.update(y, p)
before = peak()
for _ in range(10):
    table.update(y, rng.random(out=p))
print(peak() - before, len(table.to_bytes()))
"""


@pytest.mark.memory
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc/self/status")
def test_memory_is_constant():
    run = subprocess.run([sys.executable, "-c", MEMORY], capture_output=True, text=True, check=True)
    growth, size = map(int, run.stdout.split())
    assert growth < 16 * 2**20  # of 80 MB that went through
    assert size < 4 * 2**20


# Few rows: each score is kept, and nothing is uncertain

LISTED_WEIGHTS = {
    "none": lambda rng, n: None,  # noqa: ARG005
    "any": lambda rng, n: rng.random(n) + 0.01,
    "counts": lambda rng, n: rng.integers(0, 3, n).astype(float),
}


def listed_rows(seed, n, kind):
    rng = np.random.default_rng(seed)
    p = {"even": rng.random(n), "rare": rng.random(n) ** 30, "close": 0.3 + 1e-7 * rng.random(n),
         "tied": np.round(rng.random(n), 2), "tiny": rng.random(n) * 1e-300}[kind]  # fmt: skip
    return rng, (rng.random(n) < 0.2 + 0.6 * p).astype(int), p


@pytest.mark.parametrize("weights", LISTED_WEIGHTS)
@pytest.mark.parametrize("kind", ["even", "rare", "close", "tied", "tiny"])
@pytest.mark.parametrize("n", [7, 569, MOST_LISTED])
def test_what_is_read_off_few_rows_is_exact(n, kind, weights):
    rng, y, p = listed_rows(n, n, kind)
    w = LISTED_WEIGHTS[weights](rng, n)
    table, card = table_of(y, p, w), streaming.Scorecard()
    card.update(y, p, sample_weight=w)
    auc = calibrant.roc_auc(y, p, sample_weight=w)
    assert table.roc_auc() == _bounds(auc)
    assert card.result().auc == calibrant.scorecard(y, p, sample_weight=w).auc
    for n_bins, strategy, norm in itertools.product((2, 15), STRATEGIES, NORMS):
        setting = {"n_bins": n_bins, "strategy": strategy, "norm": norm}
        exact = calibrant.expected_calibration_error(y, p, sample_weight=w, **setting)
        assert table.expected_calibration_error(**setting) == _bounds(exact)
    curve = table.roc_curve()
    expected = calibrant.roc_curve(y, p, sample_weight=w)
    assert curve.auc == expected.auc
    np.testing.assert_array_equal(curve.thresholds, expected.thresholds)


def _bounds(value):
    return calibrant.score_table._bounds.Bounds(value, value, value)


@pytest.mark.parametrize("n", [MOST_LISTED - 1, MOST_LISTED, MOST_LISTED + 1])
@pytest.mark.parametrize("weights", LISTED_WEIGHTS)
def test_what_is_kept_depends_on_the_number_of_rows_alone(n, weights, runtime_restored):  # noqa: ARG001
    rng, y, p = listed_rows(1, n, "even")
    p[::7] = p[3]
    w = LISTED_WEIGHTS[weights](rng, n)
    p[::11] = np.nan
    expected = None
    for threads, pieces in itertools.product((1, 3), (1, 2, 40)):
        calibrant.set_num_threads(threads)
        table = streaming.ScoreTable()
        for rows in np.array_split(rng.permutation(n), pieces):
            part = streaming.ScoreTable()
            weight = None if w is None else w[rows]
            part.update(y[rows], p[rows], sample_weight=weight, nan_policy="omit")
            table.merge(part)
        expected = table.to_bytes() if expected is None else expected
        assert table.to_bytes() == expected
        assert table._state.lists_scores == (n <= MOST_LISTED)
        assert streaming.ScoreTable.from_bytes(expected) == table


def test_rows_one_by_one_are_those_of_one_batch():
    _, y, p = listed_rows(2, 600, "tied")
    table = streaming.ScoreTable()
    for label, score in zip(y, p, strict=True):
        table.update([label], [score])
    assert table == table_of(y, p)
