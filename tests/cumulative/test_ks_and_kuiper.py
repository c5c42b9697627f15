"""KS and Kuiper: definition, degenerate cases, MAPIE, the null law; bounds and the second pass."""

from __future__ import annotations

import dataclasses
import math
import threading

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import calibrant
import reference
import strategies
from calibrant import _core, cumulative_differences, ks_test, kuiper_test
from calibrant.streaming import ScoreTable
from score_cells import of_whole_cells

pytestmark = pytest.mark.threads

TESTS = {"ks": ks_test, "kuiper": kuiper_test}
each_test = pytest.mark.parametrize("name", TESTS)


def both(y, p, w=None):
    return tuple(test(y, p, sample_weight=w).statistic for test in TESTS.values())


def check_by_definition(y, p, w=None):
    """Exact sums, rounded once: within an ulp."""
    if len(y) > 1000:
        true = reference.ks_and_kuiper_of_many(p, y)
    else:
        true = reference.ks_and_kuiper(p, y, None if w is None else list(w))
    for got, expected in zip(both(y, p, w), true, strict=True):
        if math.isinf(expected):
            assert got == math.inf
        else:
            assert abs(got - expected) <= math.ulp(float(expected))


# The definition


def test_a_worked_example():
    # In order: 0.125 (0), 0.25 (0), 0.5 (1), 0.75 (1): the walk, times 4, is
    # -1/8, -3/8, 1/8, 3/8; the variance 7/64 + 3/16 + 1/4 + 3/16 = 47/64.
    y, p = [0, 1, 1, 0], [0.25, 0.75, 0.5, 0.125]
    root = math.sqrt(47 / 64)
    found = ks_test(y, p)
    assert found.statistic == pytest.approx(3 / 8 / root, rel=1e-15)
    assert found.pvalue == calibrant.brownian_sup_sf(found.statistic)
    assert found.log_pvalue == calibrant.brownian_sup_log_sf(found.statistic)
    assert found.sigma == pytest.approx(root / 4, rel=1e-15)
    found = kuiper_test(y, p)
    assert found.statistic == pytest.approx(6 / 8 / root, rel=1e-15)
    assert found.pvalue == calibrant.brownian_range_sf(found.statistic)
    assert found.log_pvalue == calibrant.brownian_range_log_sf(found.statistic)
    assert (found.n, found.n_omitted) == (4, 0)


@given(rows=strategies.tables(min_rows=1, weighted=False, max_rows=80))
def test_by_definition(rows):
    y, p, _ = rows
    check_by_definition(y, p)


# All of these lie within 80 binary digits.
WEIGHTS = st.sampled_from([0.0, 1.0, 3.0, 2.0**20, 0.1]) | st.floats(0.001, 1000)


@given(rows=strategies.tables(min_rows=1, weighted=False), data=st.data())
def test_weights_by_definition(rows, data):
    y, p, _ = rows
    w = np.array(data.draw(st.lists(WEIGHTS, min_size=len(y), max_size=len(y))))
    w[0] = 1.0
    check_by_definition(y, p, w)


def test_weights_are_repetitions():
    y, p = strategies.nasty_table(300)
    w = np.random.default_rng(5).integers(0, 4, 300)
    repeated = both(np.repeat(y, w), np.repeat(p, w))
    assert both(y, p, w) == repeated
    assert both(y, p, 4 * w) == tuple(2 * x for x in repeated)
    assert both(y, p, np.ones(300)) == both(y, p)


def test_weights_far_apart():
    # 2^600 : 1 is more than the unit of weight reaches over; then the heavy rows are all.
    found = both([1, 0, 1], [0.25, 0.5, 0.125], [2.0**600, 2.0**600, 1.0])
    heavy = both([1, 0], [0.25, 0.5], [2.0**600, 2.0**600])
    assert found == pytest.approx(heavy, rel=1e-15)


@given(rows=strategies.tables(min_rows=1, weighted=False))
def test_the_references_agree(rows):
    y, p, _ = rows
    for one, other in zip(
        reference.ks_and_kuiper_of_many(p, y), reference.ks_and_kuiper(p, y), strict=True
    ):
        assert one == other or abs(one - other) <= other * 1e-50


# Rows enough for cells


N = 70_000


def data(kind, n=N, seed=1):
    """(y, p) of smooth and of adversarial scores."""
    rng = np.random.default_rng([seed, n])
    p = rng.random(n)
    if kind == "miscalibrated":
        return (rng.random(n) < p**1.2).astype(int), p
    if kind == "ties":
        p = np.full(n, 0.3)
    elif kind == "three decimals":
        p = p.round(3)
    elif kind == "two clusters":
        p = np.where(p < 0.5, 0.2 + 1e-9 * p, 0.9 - 1e-12 * p)
    elif kind == "one cell":
        p = 0.25 + p * 2.0**-20
    elif kind == "near 0":
        p = 10.0 ** -(40 * p)
    elif kind == "near 1":
        p = 1 - 2.0 ** -(53 * p)
    elif kind == "sorted":
        p = np.sort(p)
    elif kind == "reversed":
        p = np.sort(p)[::-1].copy()
    elif kind == "rare":
        p = rng.beta(0.5, 100, n)
    elif kind == "subnormal":
        p = rng.integers(0, 9, n) * 5e-324
    elif kind == "zeros and ones":
        p = np.where(rng.random(n) < 0.4, p.round(), p)
    elif kind == "certain":
        p = p.round()
    elif kind == "float32":
        p = p.astype(np.float32)
    elif kind == "nasty":
        return strategies.nasty_table(n)
    y = (rng.random(n) < p).astype(int)
    if kind in ("near 0", "subnormal"):
        y[rng.integers(0, n, 30)] = 1
    return y, p


KINDS = (
    "smooth", "miscalibrated", "ties", "three decimals", "two clusters", "one cell", "near 0",
    "near 1", "sorted", "reversed", "rare", "subnormal", "zeros and ones", "certain", "float32",
    "nasty",
)  # fmt: skip
each_kind = pytest.mark.parametrize("kind", KINDS)


@each_kind
def test_many_rows_by_definition(kind):
    y, p = data(kind)
    check_by_definition(y, p)


@each_kind
def test_cells_and_sorting_agree(kind):
    for seed in range(3):
        y, p = data(kind, 65_536 + 1000 * seed, seed)
        rows = (y, p, None, False, _core.EITHER)
        assert _core.walk_tests(*rows) == _core.sorted_walk_tests(*rows)


def test_more_rows_in_a_cell_than_a_flush():
    y, p = data("zeros and ones", 600_000)
    p[:400_000] = 0.3 + 1e-6 * p[:400_000]
    rows = (y, p, None, False, _core.EITHER)
    assert _core.walk_tests(*rows) == _core.sorted_walk_tests(*rows)


# Cells cut into parts


def by_parts(y, p, *, in_buckets=False, rows_per_part=64, rows_per_sorted=1, omit=False):
    """Whatever the rows are like: cells are cut, and all rows of parts that are left gathered."""
    return _core.cell_walk_tests(
        y, p, omit, _core.EITHER, in_buckets, 2**40, rows_per_sorted, rows_per_part
    )


def by_sorting(y, p, *, omit=False):
    return _core.sorted_walk_tests(y, p, None, omit, _core.EITHER)


@each_kind
@pytest.mark.usefixtures("runtime_restored")
def test_parts_and_sorting_agree(kind):
    for rows_per_part, threads in ((1, 1), (64, 2), (5000, 7)):
        calibrant.set_num_threads(threads)
        y, p = data(kind, seed=threads)
        expected = by_sorting(y, p)
        assert by_parts(y, p, rows_per_part=rows_per_part) == expected
        # Where a cell has much of all rows, there are no buckets.
        in_buckets = by_parts(y, p, in_buckets=True, rows_per_part=rows_per_part)
        assert in_buckets == expected or (in_buckets is None and kind not in ("smooth", "rare"))


# Edges of cells and of parts, and the double on either side.
EDGES = [
    x
    for cell in (0.25, 2.0**-6, 2.0**-38, 0.5, 0.75, 0.75 + 2.0**-14, 1 - 2.0**-38, 1 - 2.0**-6)
    for part in (0.0, 2.0**-17, 2.0**-30)
    for edge in (cell + part * min(cell, 1 - cell),)
    for x in (math.nextafter(edge, 0), edge, math.nextafter(edge, 1))
]


@given(
    rows=st.lists(
        st.tuples(
            st.integers(0, 1),
            st.sampled_from(EDGES) | strategies.probabilities | st.floats(0.3, 0.3001),
        ),
        min_size=1,
        max_size=60,
    ),
    rows_per_part=st.sampled_from([1, 2, 8]),
)
@settings(max_examples=60)
def test_parts_of_any_rows(rows, rows_per_part):
    y, p = (np.array(column) for column in zip(*rows, strict=True))
    assert by_parts(y, p, rows_per_part=rows_per_part) == by_sorting(y, p)


@pytest.mark.usefixtures("runtime_restored")
def test_many_rows_in_each_of_many_cells():
    """The walk may turn in most cells, but in few of their parts: nothing is sorted for it."""
    rng = np.random.default_rng(11)
    p = rng.uniform(0.4, 0.55, 1_500_000)
    y = rng.random(p.size) < p
    expected = by_sorting(y, p)
    by_cells_alone = _core.cell_walk_tests(y, p, False, _core.EITHER, False, 8, 8, 2**40)
    assert by_cells_alone is None
    for threads in (1, 2, 7):
        calibrant.set_num_threads(threads)
        for in_buckets in (False, True):
            assert by_parts(y, p, in_buckets=in_buckets, rows_per_sorted=100) == expected
    assert _core.walk_tests(y, p, None, False, _core.EITHER) == expected


def test_parts_of_single_precision_and_of_missing_rows():
    y, p = data("smooth")
    single = p.astype(np.float32)
    assert by_parts(y, single) == by_sorting(y, single)
    p[::7] = np.nan
    assert by_parts(y, p, omit=True) == by_sorting(y, p, omit=True)


def test_too_many_rows_are_left_to_gather():
    """More than one of 8 is a subnormal, or lies so close to others that no part separates them."""
    for kind in ("subnormal", "near 0"):
        assert by_parts(*data(kind), rows_per_sorted=8) is None
    y, p = data("smooth")
    p = 0.3 + 1e-16 * np.floor(16 * p)
    assert by_parts(y, p, rows_per_sorted=8) is None
    assert by_parts(y, p) == by_sorting(y, p)


def test_rows_that_change_while_they_are_read():
    """Either what they were at some time, or an error; never a crash."""
    y, p = data("one cell", 300_000)
    stop = threading.Event()

    def change():
        rng = np.random.default_rng(1)
        while not stop.is_set():
            p[rng.integers(0, p.size, 1000)] = 0.25 + rng.random(1000) * 2.0**-20

    writer = threading.Thread(target=change)
    writer.start()
    tries = (by_parts(y, p) for _ in range(5000))  # one is enough, as a rule
    try:
        with pytest.raises(ValueError, match="the arrays changed while they were being read"):
            all(tries)
    finally:
        stop.set()
        writer.join()


@each_kind
@pytest.mark.usefixtures("runtime_restored")
def test_order_and_threads_do_not_matter(kind):
    y, p = data(kind)
    expected = ks_test(y, p), kuiper_test(y, p)
    order = np.random.default_rng(3).permutation(N)
    for threads in (1, 2, 3):
        calibrant.set_num_threads(threads)
        assert (ks_test(y[order], p[order]), kuiper_test(y[order], p[order])) == expected


def test_instruction_sets(isa):  # noqa: ARG001
    y, p = data("nasty")
    check_by_definition(y, p)


def test_missing_rows_are_dropped():
    y, p = data("smooth")
    gaps = p.copy()
    gaps[::7] = np.nan
    kept = ~np.isnan(gaps)
    found = ks_test(y, gaps, nan_policy="omit")
    assert found.n_omitted == N - kept.sum()
    assert dataclasses.replace(found, n_omitted=0) == ks_test(y[kept], p[kept])


def test_a_bad_row_is_named():
    y, p = data("smooth")
    p[40_000] = 1.5
    with pytest.raises(ValueError, match=r"y_proba must lie in \[0, 1\], found 1.5 at row 40000"):
        ks_test(y, p)


# Degenerate cases


@pytest.mark.parametrize(
    ("y", "p", "statistic"),
    [
        ([0, 1], [0.0, 1.0], 0.0),
        ([1, 1], [0.0, 1.0], math.inf),
        ([0], [1.0], math.inf),
        ([0], [-0.0], 0.0),
        ([1], [[0.0, 1.0]], 0.0),
        ([0], [[0.0, 1.0]], math.inf),
        ([0, 1], [0.5, 0.5], 0.0),  # a tie that balances
    ],
)
@each_test
def test_nothing_or_all(name, y, p, statistic):
    found = TESTS[name](y, p)
    assert found.statistic == statistic
    assert (found.pvalue, found.log_pvalue) == ((1.0, 0.0) if statistic == 0 else (0.0, -math.inf))


@each_test
def test_one_row(name):
    assert TESTS[name]([1], [0.75]).statistic == pytest.approx(0.25 / math.sqrt(3 / 16), rel=1e-15)


def test_certain_and_wrong_in_opposite_ways():
    # The walk goes up by 1 at score 0 and down by 1 at score 1; sigma is 0.
    assert both([1, 0], [0.0, 1.0]) == (math.inf, math.inf)


@each_test
def test_what_is_rejected(name):
    test = TESTS[name]
    with pytest.raises(ValueError, match="the test needs at least one row, got none"):
        test([], [])
    with pytest.raises(ValueError, match="a row with positive weight, all 2 have weight 0"):
        test([0, 1], [0.5, 0.25], sample_weight=[0, 0])
    with pytest.raises(ValueError, match="classes must be 'top-label' or 'per-class', got 'all'"):
        test([0, 1], [0.5, 0.25], classes="all")
    with pytest.raises(ValueError, match=r"classes='per-class' needs y_proba of shape \(n, k\)"):
        test([0, 1], [0.5, 0.25], classes="per-class")


# Classes


@each_test
def test_the_top_label_is_the_score(name):
    rng = np.random.default_rng(6)
    p = rng.dirichlet(np.ones(4), 500)
    y = rng.integers(0, 4, 500)
    assert TESTS[name](y, p) == TESTS[name]((y == p.argmax(axis=1)).astype(int), p.max(axis=1))


@each_test
def test_per_class(name):
    rng = np.random.default_rng(7)
    p = rng.dirichlet(np.ones(3), 400)
    y = (rng.random((400, 1)) < p.cumsum(axis=1)).argmax(axis=1)
    y[:60] = 2
    found = TESTS[name](y, p, classes="per-class")
    classes = [TESTS[name]((y == j).astype(int), p[:, j]) for j in range(3)]
    assert found.classes == tuple(classes)
    smallest, middle, largest = sorted(one.pvalue for one in classes)
    assert found.pvalue == min(1.0, 3 * smallest)
    assert found.log_pvalue == pytest.approx(math.log(found.pvalue), rel=1e-13)
    assert found.statistic == max(one.statistic for one in classes)
    holm = (3 * smallest, max(3 * smallest, 2 * middle), max(3 * smallest, 2 * middle, largest))
    assert sorted(found.adjusted_pvalues) == [min(1.0, x) for x in holm]


# Against MAPIE, and under the null


def test_mapie():
    peer = pytest.importorskip("mapie.metrics.calibration")
    rng = np.random.default_rng(8)
    for power in (0.9, 1.0, 1.1):
        p = rng.random(3000)
        y = (rng.random(3000) < p**power).astype(int)
        curve = cumulative_differences(y, p)
        assert np.allclose(curve.differences[1:], peer.cumulative_differences(y, p), atol=1e-7)
        assert curve.sigma == pytest.approx(peer.length_scale(p), rel=1e-12)
        statistic = peer.kolmogorov_smirnov_statistic(y, p)
        assert ks_test(y, p).statistic == pytest.approx(statistic, abs=1e-5)
        assert ks_test(y, p).pvalue == pytest.approx(
            peer.kolmogorov_smirnov_p_value(y, p), abs=1e-6
        )
        # Its range leaves the start out: that can only make it smaller.
        without_start = np.ptp(curve.differences[1:]) / curve.sigma
        assert without_start == pytest.approx(peer.kuiper_statistic(y, p), abs=1e-5)
        assert kuiper_test(y, p).statistic >= without_start * (1 - 1e-12)


@each_test
def test_pvalues_are_uniform_under_the_null(name):
    rng = np.random.default_rng(9)
    pvalues = []
    for _ in range(400):
        p = rng.beta(0.7, 1.1, 4000)
        pvalues.append(TESTS[name]((rng.random(4000) < p).astype(int), p).pvalue)
    distance = np.abs(np.sort(pvalues) - (np.arange(400) + 0.5) / 400).max()
    # Kolmogorov: 1.95 / sqrt(400) is exceeded by chance once in a thousand. The law of 4000 rows
    # is off its limit by some 1 / sqrt(4000), in the direction of larger p-values.
    assert distance < 1.95 / 20 + 1 / math.sqrt(4000)


# The curve


@given(rows=strategies.tables(min_rows=1, weighted=False))
def test_curve_by_definition(rows):
    y, p, _ = rows
    places, variance, weight = reference.walk(p, y)
    curve = cumulative_differences(y, p)
    assert curve.differences.size == len(places)
    for found, place in zip(curve.differences, places, strict=True):
        assert abs(found - place / weight) <= 2 * math.ulp(float(place / weight))
    assert curve.scores.tolist() == [0.0, *sorted({float(s) + 0.0 for s in p})]
    assert curve.fractions[0] == 0.0
    assert curve.fractions[-1] == 1.0
    assert curve.sigma == pytest.approx(math.sqrt(variance) / weight, rel=1e-13)


def test_the_curve_gives_the_statistics():
    y, p = data("miscalibrated", 5000)
    curve = cumulative_differences(y, p)
    assert ks_test(y, p).statistic == pytest.approx(
        np.abs(curve.differences).max() / curve.sigma, rel=1e-14
    )
    assert kuiper_test(y, p).statistic == pytest.approx(
        np.ptp(curve.differences) / curve.sigma, rel=1e-14
    )
    assert curve.fractions.tolist() == [k / 5000 for k in range(5001)]


def test_weights_of_the_curve():
    curve = cumulative_differences([1, 0, 0], [0.25, 0.5, 0.5], sample_weight=[3, 0, 1])
    assert curve.fractions.tolist() == [0.0, 0.75, 1.0]
    assert curve.differences.tolist() == [0.0, 0.75 * 0.75, 0.75 * 0.75 - 0.125]


@pytest.mark.parametrize("max_points", [4, 5, 37, 1000])
def test_a_thin_curve_keeps_what_sticks_out(max_points):
    y, p = data("smooth", 5000)
    whole = cumulative_differences(y, p)
    thin = cumulative_differences(y, p, max_points=max_points)
    assert thin.differences.size <= max_points
    assert thin.differences.max() == whole.differences.max()
    assert thin.differences.min() == whole.differences.min()
    assert (thin.fractions[0], thin.fractions[-1]) == (0.0, 1.0)
    assert set(zip(thin.fractions, thin.scores, thin.differences, strict=True)) <= set(
        zip(whole.fractions, whole.scores, whole.differences, strict=True)
    )
    assert cumulative_differences(y, p, max_points=5001).differences.size == 5001


def test_the_form_with_labels_sorted_too():
    y, p = data("miscalibrated", 1000)
    curve = cumulative_differences(y, p, form="theory")
    expected = np.cumsum(np.sort(y) - np.sort(p)) / 1000
    assert np.allclose(curve.differences[1:], expected, rtol=0, atol=1e-14)
    assert curve.differences[-1] == cumulative_differences(y, p).differences[-1]


def test_what_the_curve_rejects():
    with pytest.raises(ValueError, match="form must be 'rows' or 'theory', got 'both'"):
        cumulative_differences([0], [0.5], form="both")
    with pytest.raises(ValueError, match="max_points must be at least 4, got 3"):
        cumulative_differences([0], [0.5], max_points=3)
    with pytest.raises(ValueError, match="needs at least one row"):
        cumulative_differences([], [])


def test_repr_of_the_curve():
    curve = cumulative_differences([0, 1], [0.25, 0.75])
    assert repr(curve) == (
        "CumulativeDifferences(3 points, lowest=-0.125, highest=0, sigma=0.306186, n=2)"
    )


# A stream: bounds, and the second pass


def table_of(y, p, w=None, parts=3, *, whole_cells=False):
    table = of_whole_cells(ScoreTable()) if whole_cells else ScoreTable()
    for rows in np.array_split(np.arange(len(y)), parts):
        table.update(y[rows], p[rows], sample_weight=None if w is None else w[rows])
    return table


def refined(table, y, p, w=None, parts=4):
    again = table.refine()
    for rows in np.array_split(np.random.default_rng(2).permutation(len(y)), parts):
        again.update(y[rows], p[rows], sample_weight=None if w is None else w[rows])
    return again


def check_bounds(bounds, exact):
    for name in ("statistic", "pvalue", "log_pvalue"):
        bound = getattr(bounds, name)
        assert bound.low <= bound.value <= bound.high
        assert getattr(exact, name) in bound


def check_stream(y, p, w=None):
    for whole_cells in (False, True):
        table = table_of(y, p, w, whole_cells=whole_cells)
        again = refined(table, y, p, w)
        for name, test in TESTS.items():
            exact = test(y, p, sample_weight=w)
            check_bounds(getattr(table, name)(), exact)
            assert dataclasses.replace(getattr(again, name)(), n_omitted=0) == exact
    return table, again


@each_kind
@pytest.mark.parametrize("weighted", [False, True])
def test_points_of_a_table_lie_on_the_curve(kind, weighted):
    y, p = data(kind, 9000)
    w = np.random.default_rng(4).integers(0, 4, len(y)) / 2 if weighted else None
    exact, curve = (
        cumulative_differences(y, p, sample_weight=w),
        table_of(y, p, w).cumulative_differences(),
    )
    place = {score: i for i, score in enumerate(exact.scores[1:], 1)}
    at = [0, *(place[score] for score in curve.scores[1:])]
    assert (np.diff(at) > 0).all()
    assert np.array_equal(curve.fractions, exact.fractions[at])
    np.testing.assert_allclose(curve.differences, exact.differences[at], rtol=4e-16, atol=1e-300)
    assert exact.sigma * (1 - 1e-15) <= curve.sigma <= exact.sigma * (1 + 2.0**-24)
    assert (curve.n, curve.n_omitted) == (exact.n, exact.n_omitted)


def test_a_thin_curve_of_a_table_keeps_the_statistic():
    table = table_of(*data("miscalibrated", 9000))
    curve = table.cumulative_differences(max_points=60)
    assert curve.fractions.size <= 60
    assert np.abs(curve.differences).max() / curve.sigma == pytest.approx(
        table.ks().statistic.value, rel=1e-14
    )
    assert np.ptp(curve.differences) / curve.sigma == pytest.approx(
        table.kuiper().statistic.value, rel=1e-14
    )
    with pytest.raises(ValueError, match="max_points must be at least 4, got 3"):
        table.cumulative_differences(max_points=3)
    with pytest.raises(ValueError, match="needs at least one row"):
        ScoreTable().cumulative_differences()


@each_kind
def test_bounds_hold_and_refining_is_exact(kind):
    check_stream(*data(kind, 9000))


@pytest.mark.parametrize("kind", ["smooth", "rare", "nasty", "three decimals"])
def test_bounds_with_weights(kind):
    y, p = data(kind, 3000)
    rng = np.random.default_rng(4)
    check_stream(y, p, rng.integers(0, 4, 3000).astype(float))
    check_stream(y, p, rng.random(3000))


@settings(max_examples=50)
@given(rows=strategies.tables(min_rows=1, weighted=False))
def test_bounds_of_nasty_rows(rows):
    y, p, _ = rows
    check_stream(y, p)


@pytest.mark.parametrize("kind", ["ties", "certain", "three decimals"])
def test_nothing_is_uncertain_about_ties(kind):
    y, p = data(kind, 9000)
    table = table_of(y, p)
    for name, test in TESTS.items():
        bounds = getattr(table, name)()
        assert bounds.statistic.low == bounds.statistic.high == test(y, p).statistic
        assert bounds.pvalue.low == bounds.pvalue.high == test(y, p).pvalue


def test_bounds_are_narrow_and_few_rows_are_kept():
    y, p = data("smooth", 200_000)
    table, again = check_stream(y, p)
    assert table.ks().statistic.width < 0.05
    assert 0 < again.n_kept < 20_000
    y, p = data("miscalibrated", 200_000)
    table, again = check_stream(y, p)
    assert again.n_kept < 2000


def test_refining_needs_the_rows_of_the_table():
    y, p = data("smooth", 2000)
    table = table_of(y, p, whole_cells=True)
    again = table.refine()
    again.update(y[:1000], p[:1000])
    with pytest.raises(ValueError, match="needs all rows of the table, which are 2000, got 1000"):
        again.ks()
    with pytest.raises(ValueError, match="which are 2000, got 3000"):
        again.update(y, p)
    with pytest.raises(ValueError, match=r"y_proba must lie in \[0, 1\]"):
        again.update([1, 0], [0.5, 1.5])
    assert again.n == 1000
    again.update(y[1000:], p[1000:])
    assert again.ks() == ks_test(y, p)


def test_refining_with_other_rows():
    y, p = data("one cell", 2000)
    again = table_of(y, p, whole_cells=True).refine()
    again.update(y, np.full(2000, 0.9))
    with pytest.raises(ValueError, match="needs the rows of the table, got others"):
        again.ks()
    # As many rows in each cell, but of another variance.
    again = table_of(y, np.full(2000, 0.25), whole_cells=True).refine()
    again.update(y, p)
    with pytest.raises(ValueError, match="needs the rows of the table, got others"):
        again.kuiper()
    # More rows than the table has in the only cell where the walk may turn.
    half = np.where(np.arange(2000) < 1000, p, 0.9)
    again = table_of(y, half, whole_cells=True).refine()
    with pytest.raises(ValueError, match="needs the rows of the table, got others"):
        again.update(y, p)
    assert (again.n, again.n_kept) == (0, 0)


def test_refining_states_its_limit():
    y, p = data("one cell", 2000)
    table = table_of(y, p, whole_cells=True)
    with pytest.raises(ValueError, match="needs 2000 rows in memory, more than max_rows=1999"):
        table.refine(max_rows=1999)
    assert repr(table.refine(max_rows=2000)) == "Refinement(n=0, n_kept=0)"


def test_no_bounds_of_nothing():
    with pytest.raises(ValueError, match="needs at least one row"):
        ScoreTable().ks()
    empty = ScoreTable()
    empty.update([1], [0.5], sample_weight=[0.0])
    with pytest.raises(ValueError, match="all 1 have weight 0"):
        empty.kuiper()
    with pytest.raises(ValueError, match="all 1 have weight 0"):
        empty.refine()
