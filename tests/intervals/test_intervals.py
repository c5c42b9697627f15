"""Prediction intervals against their definitions, against MAPIE, and their laws."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings, strategies as st

import calibrant
import interval_reference as reference
import strategies
from calibrant import set_num_threads
from calibrant._core import _testing
from calibrant.config import config

pytestmark = [pytest.mark.kernels, pytest.mark.threads]

LEVELS = (0.5, 0.8, 0.95)

bounds = st.sampled_from((0.0, -0.0, 1.0, -1.0, 2.0**-1074, 1e-300, 1e300, 0.1)) | st.floats(-9, 9)


@st.composite
def tables(draw, max_rows=30):
    """(y, lower, upper, weights or None)"""
    rows = draw(st.lists(st.tuples(bounds, bounds, bounds), min_size=1, max_size=max_rows))
    y, a, b = (np.array(column, float) for column in zip(*rows, strict=True))
    weights = None
    if draw(st.booleans()):
        weights = np.array(
            draw(st.lists(strategies.weights, min_size=len(y), max_size=len(y))), float
        )
        weights[0] = max(weights[0], 1.0)
    return y, np.minimum(a, b), np.maximum(a, b), weights


# Against the definition


@given(table=tables())
def test_one_level_by_definition(table):
    y, lower, upper, weights = table
    rows = reference.rows_of(y, lower, upper, weights)
    intervals = np.column_stack([lower, upper])
    found = calibrant.interval_coverage(y, intervals, sample_weight=weights)
    assert float(found) == reference.coverage(rows)
    assert found.low <= found.value <= found.high
    width = calibrant.interval_width(intervals, sample_weight=weights)
    assert width == reference.mean_width(rows)
    score = calibrant.interval_score(y, (lower, upper), confidence_level=0.9, sample_weight=weights)
    assert score == pytest.approx(reference.score(rows, 0.9), rel=2.0**-51, abs=0)


@given(table=tables(), n_groups=st.integers(1, 7))
def test_coverage_by_width_by_definition(table, n_groups):
    y, lower, upper, weights = table
    rows = reference.rows_of(y, lower, upper, weights)
    # Weights that reach over more than 80 binary digits are rounded.
    if weights is not None and weights.max() > 1e10 * weights[weights > 0].min():
        weights, rows = None, reference.rows_of(y, lower, upper)
    found = calibrant.size_stratified_coverage(
        y, (lower, upper), n_groups=n_groups, sample_weight=weights
    )
    expected = reference.equal_count_groups(rows, n_groups)
    if expected[-1][1] - expected[0][0] <= 2.0**-30 * expected[-1][1]:  # equal but for rounding
        expected = reference.equal_count_groups(rows, 1)
    assert [(g.least, g.largest, g.weight, g.coverage) for g in found.groups] == expected
    if len(expected) > 1:
        assert float(found) == min(group[3] for group in expected)
        assert found.worst.coverage == found.value
        assert not found.note
    else:
        assert math.isnan(float(found))
        assert found.worst is None
        assert "equal" in found.note


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("n_groups", [2, 3, 10, 50])
def test_many_rows_by_cells_are_the_groups_of_a_sort(ties, n_groups):
    """Weights of 1 take the sort; without weights a histogram finds the cuts."""
    y, intervals = reference.random_intervals(70_000, 2, ties=ties)
    by_cells = calibrant.size_stratified_coverage(y, intervals, n_groups=n_groups)
    by_sort = calibrant.size_stratified_coverage(
        y, intervals, n_groups=n_groups, sample_weight=np.ones(len(y))
    )
    assert by_cells.to_dict() == by_sort.to_dict()
    rows = reference.rows_of(y, *intervals[:, :, 1].T)
    expected = reference.equal_count_groups(rows, n_groups)
    found = [(g.least, g.largest, g.weight, g.coverage) for g in by_cells.levels[1].groups]
    assert found == expected


@pytest.mark.parametrize("n", [50, 70_000])
def test_widths_that_differ_by_rounding_are_equal(n):
    y, centre = np.random.default_rng(6).normal(size=(2, n))
    intervals = (centre - 0.7, centre + 0.7)
    widths = intervals[1] - intervals[0]
    assert 0 < np.ptp(widths) < 1e-14
    found = calibrant.size_stratified_coverage(y, intervals)
    assert math.isnan(float(found))
    (group,) = found.groups
    assert (group.least, group.largest) == (widths.min(), widths.max())
    assert group.coverage == float(calibrant.interval_coverage(y, intervals))
    summary = calibrant.interval_summary(y, intervals, confidence_level=0.9)
    assert "equally wide" in summary[0].notes[0]
    wider = np.where(np.arange(n) < n // 2, 0.7, 0.7 * (1 + 1e-8))
    assert not calibrant.size_stratified_coverage(y, (centre - wider, centre + wider)).note


def test_equal_and_zero_widths_of_many_rows():
    y = np.linspace(-1, 1, 70_000)
    found = calibrant.size_stratified_coverage(y, (y * 0 - 0.5, y * 0 + 0.5))
    assert len(found.groups) == 1
    assert "all widths are equal" in found.note
    assert math.isnan(float(found))
    assert "all widths are equal" in repr(found)
    half_points = np.where(y < 0, y, y + 1)
    found = calibrant.size_stratified_coverage(y, (y, half_points), n_groups=2)
    assert [(g.least, g.largest, g.weight) for g in found.groups] == [
        (0.0, 0.0, 35_000),
        (found.groups[1].least, 1.0, 35_000),
    ]


def test_levels_are_each_by_themselves():
    y, intervals = reference.random_intervals(2000, 3)
    weights = np.random.default_rng(1).integers(0, 4, 2000)
    options = {"sample_weight": weights}
    together = calibrant.interval_summary(y, intervals, confidence_level=LEVELS, **options)
    coverage = calibrant.interval_coverage(y, intervals, **options)
    width = calibrant.interval_width(intervals, **options)
    score = calibrant.interval_score(y, intervals, confidence_level=LEVELS, **options)
    cwc = calibrant.coverage_width_criterion(
        y, intervals, confidence_level=LEVELS, eta=30.0, **options
    )
    ssc = calibrant.size_stratified_coverage(y, intervals, **options)
    for i, level in enumerate(LEVELS):
        alone = calibrant.interval_summary(y, intervals[:, :, i], confidence_level=level, **options)
        assert alone[0].to_dict() == {
            **together[i].to_dict(), "adjusted_pvalue": together[i].pvalue
        }  # fmt: skip
        rows = reference.rows_of(y, *intervals[:, :, i].T, weights)
        assert coverage.value[i] == alone[0].coverage.value == reference.coverage(rows)
        assert (coverage.low[i], coverage.high[i]) == (
            alone[0].coverage.low,
            alone[0].coverage.high,
        )
        assert width[i] == alone[0].mean_width == reference.mean_width(rows)
        assert score[i] == alone[0].score == pytest.approx(reference.score(rows, level), rel=1e-15)
        assert cwc[i] == alone[0].criterion
        assert cwc[i] == pytest.approx(reference.criterion(y, rows, level, 30.0), rel=1e-14)
        assert ssc.value[i] == alone[0].by_width.worst.coverage
        below = sum(
            w for y_, low, w in zip(y, intervals[:, 0, i], weights, strict=True) if y_ < low
        )
        assert alone[0].below.value == pytest.approx(below / weights.sum(), rel=1e-15)
        outside = alone[0].below.value + alone[0].above.value
        assert outside + alone[0].coverage.value == pytest.approx(1, abs=1e-15)


# Confidence intervals


@pytest.mark.parametrize(("hits", "n"), [(0, 1), (1, 1), (0, 9), (9, 9), (1, 10), (450, 500)])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_confidence_intervals_of_a_coverage(hits, n, level):
    y = np.where(np.arange(n) < hits, 0.5, 2.0)
    intervals = np.tile([0.0, 1.0], (n, 1))
    for method, peer in (("wilson", "wilson"), ("exact", "exact")):
        found = calibrant.interval_coverage(y, intervals, ci_level=level, ci_method=method)
        expected = scipy.stats.binomtest(hits, n).proportion_ci(level, method=peer)
        assert found.value == hits / n
        assert found.low == pytest.approx(expected.low, rel=1e-11, abs=1e-14)
        assert found.high == pytest.approx(expected.high, rel=1e-11, abs=1e-14)
        assert found.value in found


@pytest.mark.parametrize("n", [1.0, 3.5, 40.0, 1e3, 1e6, 1e9, 1e12])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_exact_intervals_of_none_and_all_are_closed_forms(n, level):
    """(1 - high)^n is the tail if none was covered: an end next to 0 keeps its digits."""
    log_share = math.log((1 - level) / 2) / n
    options = {"sample_weight": [n], "ci_level": level, "ci_method": "exact"}
    none = calibrant.interval_coverage([2.0], [[0.0, 1.0]], **options)
    assert (none.value, none.low) == (0.0, 0.0)
    assert none.high == pytest.approx(-math.expm1(log_share), rel=1e-14, abs=0)
    every = calibrant.interval_coverage([0.5], [[0.0, 1.0]], **options)
    assert (every.value, every.high) == (1.0, 1.0)
    assert every.low == pytest.approx(math.exp(log_share), rel=1e-14, abs=0)


@pytest.mark.parametrize("n", [3.5, 1e3, 1e6, 1e9, 1e11])
@pytest.mark.parametrize("share", [1e-9, 0.1, 0.5, 0.999])
def test_exact_intervals_of_large_weights(n, share):
    """Beta quantiles, for weights that no rows could make."""
    found = calibrant.interval_coverage(
        [0.0, 2.0],
        [[-1, 1], [-1, 1]],
        ci_method="exact",
        sample_weight=[n * share, n * (1 - share)],
    )
    a, b = n * share, n * (1 - share)
    assert found.low == pytest.approx(scipy.stats.beta.ppf(0.025, a, b + 1), rel=1e-9)
    assert found.high == pytest.approx(scipy.stats.beta.isf(0.025, a + 1, b), rel=1e-9)


def test_beyond_all_counts_the_exact_interval_is_wilsons():
    rows = {"y_true": [0.0, 2.0], "intervals": [[-1, 1]] * 2, "sample_weight": [2.0**45, 2.0**44]}
    exact = calibrant.interval_coverage(**rows, ci_method="exact")
    wilson = calibrant.interval_coverage(**rows)
    assert (exact.low, exact.high) == (wilson.low, wilson.high)


# Against MAPIE, where definitions agree


def test_mapie():
    peer = pytest.importorskip("mapie.metrics.regression")
    y, intervals = reference.random_intervals(3000, 3)
    close = {"rel": 1e-12}
    coverage = calibrant.interval_coverage(y, intervals).value
    assert coverage == pytest.approx(peer.regression_coverage_score(y, intervals), **close)
    width = calibrant.interval_width(intervals)
    assert width == pytest.approx(peer.regression_mean_width_score(intervals), **close)
    groups = peer.regression_ssc(y, intervals, num_bins=5)
    found = calibrant.size_stratified_coverage(y, intervals, n_groups=5)
    # Ties (of width 0) are cut by MAPIE as they come: they all lie in the first group here.
    assert [[g.coverage for g in level.groups] for level in found.levels] == pytest.approx(
        groups, **close
    )
    assert found.value == pytest.approx(peer.regression_ssc_score(y, intervals, 5), **close)
    for i, level in enumerate(LEVELS):
        one = intervals[:, :, [i]]
        score = calibrant.interval_score(y, one, confidence_level=level)
        assert score == pytest.approx(peer.regression_mwi_score(y, one, level), **close)
        cwc = calibrant.coverage_width_criterion(y, one, confidence_level=level, eta=2.0)
        expected = peer.coverage_width_based(y, one[:, 0, 0], one[:, 1, 0], 2.0, level)
        assert cwc == pytest.approx(expected, **close)


def test_mapie_swaps_crossed_bounds_in_its_score():
    peer = pytest.importorskip("mapie.metrics.regression")
    y, intervals = reference.random_intervals(500)
    intervals[::7] = intervals[::7, ::-1]
    with pytest.raises(ValueError, match="lower <= upper"):
        calibrant.interval_score(y, intervals, confidence_level=0.9)
    found = calibrant.interval_score(y, intervals, confidence_level=0.9, crossed="swap")
    assert found == pytest.approx(peer.regression_mwi_score(y, intervals, 0.9), rel=1e-12)
    sorted_bounds = np.sort(intervals, axis=1)
    assert float(calibrant.interval_coverage(y, intervals, crossed="swap")) == float(
        calibrant.interval_coverage(y, sorted_bounds)
    )


# Groups


def test_coverage_gap_by_definition():
    y, intervals = reference.random_intervals(600, 2)
    rng = np.random.default_rng(3)
    keys = rng.choice(["a", "b", "c"], 600, p=[0.7, 0.2, 0.1])
    weights = rng.integers(0, 4, 600)
    for weighted in (False, True):
        found = calibrant.coverage_gap(
            y,
            intervals,
            groups=keys,
            confidence_level=(0.6, 0.7),
            weighted=weighted,
            sample_weight=weights,
        )
        assert found.keys == ("a", "b", "c")
        for i, level in enumerate((0.6, 0.7)):
            gaps, shares = [], []
            for g, key in enumerate("abc"):
                at = keys == key
                rows = reference.rows_of(y[at], *intervals[at][:, :, i].T, weights[at])
                assert found.coverage[i, g] == reference.coverage(rows)
                assert found.low[i, g] < found.coverage[i, g] < found.high[i, g]
                gaps.append(abs(reference.coverage(rows) - level))
                shares.append(float(reference.total(rows)) if weighted else 1.0)
            expected = np.average(gaps, weights=shares)
            assert found.value[i] == pytest.approx(expected, rel=1e-14)


def test_coverage_gap_of_rows_without_a_key_or_weight():
    y, intervals = [0.0, 5.0, 0.0, 9.0], [[-1, 1]] * 4
    with pytest.raises(ValueError, match="groups has a missing value at row 1"):
        calibrant.coverage_gap(y, intervals, groups=[1, None, 2, 2], confidence_level=0.9)
    found = calibrant.coverage_gap(
        y,
        intervals,
        groups=[1, None, 2, 3],
        confidence_level=0.9,
        nan_policy="omit",
        sample_weight=[1, 1, 1, 0],
    )
    assert found.keys == (1, 2)
    assert found.coverage.tolist() == [1.0, 1.0]
    assert float(found) == pytest.approx(0.1)
    json.dumps(found.to_dict())
    with pytest.raises(ValueError, match="positive weight"):
        calibrant.coverage_gap([], ([], []), groups=[], confidence_level=0.9)
    with pytest.raises(ValueError, match="must name 1 levels, one for each, got 2"):
        calibrant.coverage_gap(y, intervals, groups=[1, 1, 1, 1], confidence_level=[0.9, 0.8])


# Laws


@settings(max_examples=25)
@given(table=tables(), seed=st.integers(0, 9))
def test_any_order_of_rows(table, seed):
    y, lower, upper, weights = table
    order = np.random.default_rng(seed).permutation(len(y))
    shuffled = (y[order], (lower[order], upper[order]))
    w = None if weights is None else weights[order]
    for level in (0.5, 0.9):
        one = calibrant.interval_summary(
            y, (lower, upper), confidence_level=level, sample_weight=weights
        )
        two = calibrant.interval_summary(*shuffled, confidence_level=level, sample_weight=w)
        assert one.to_dict() == two.to_dict()


def test_an_integer_weight_is_that_many_repetitions():
    y, intervals = reference.random_intervals(700, 2, ties=True)
    weights = np.random.default_rng(5).integers(0, 4, 700)
    repeated = np.repeat(np.arange(700), weights)
    options = {"confidence_level": (0.5, 0.9), "n_groups": 4, "ci_method": "exact"}
    one = calibrant.interval_summary(y, intervals, sample_weight=weights, **options).to_dict()
    two = calibrant.interval_summary(y[repeated], intervals[repeated], **options).to_dict()
    assert one.pop("n") == 700
    assert two.pop("n") == weights.sum()
    assert one == two


def test_shift_and_scale():
    """Powers of two and dyadic shifts are exact, so the laws hold to the bit."""
    y, intervals = reference.random_intervals(1000, ties=True)
    plain = calibrant.interval_summary(y, intervals, confidence_level=0.9)[0]
    for factor, shift in ((4.0, 0.0), (0.25, 8.0), (1.0, -3.5)):
        moved = calibrant.interval_summary(
            factor * y + shift, factor * intervals + shift, confidence_level=0.9
        )[0]
        assert moved.coverage == plain.coverage
        assert moved.mean_width == factor * plain.mean_width
        assert moved.score == pytest.approx(factor * plain.score, rel=1e-15)
        assert moved.criterion == pytest.approx(plain.criterion, rel=1e-14)
        assert moved.by_width.worst.coverage == plain.by_width.worst.coverage
    mirrored = calibrant.interval_summary(-y, -intervals[:, ::-1], confidence_level=0.9)[0]
    assert (mirrored.below, mirrored.above) == (plain.above, plain.below)
    assert mirrored.score == plain.score


@pytest.mark.every_isa
@pytest.mark.usefixtures("runtime_restored")
def test_any_number_of_threads_and_instruction_set():
    y, intervals = reference.random_intervals(200_000, 2)
    weights = np.random.default_rng(2).choice([0.0, 1.0, 0.1, 1e10], len(y))
    found = set()
    for isa in config()["available_isas"]:
        _testing.set_isa(isa)
        for threads in (1, 2, 7):
            set_num_threads(threads)
            for w in (None, weights):
                summary = calibrant.interval_summary(
                    y, intervals, confidence_level=(0.5, 0.9), sample_weight=w
                )
                found.add((w is None, json.dumps(summary.to_dict())))
    assert len(found) == 2


FORMS = {
    "float32": lambda x: x.astype(np.float32).astype(np.float64),
    "Fortran": np.asfortranarray,
    "big-endian": lambda x: x.astype(">f8"),
    "reversed twice": lambda x: x[::-1].copy()[::-1],
    "list": lambda x: x.tolist(),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_any_layout(form):
    y, intervals = reference.random_intervals(800, 3)
    if form is FORMS["float32"]:
        y, intervals = y.astype(np.float32), intervals.astype(np.float32)
    expected = calibrant.interval_summary(form(y), form(intervals), confidence_level=LEVELS)
    pair = (form(intervals[:, 0]), form(intervals[:, 1]))
    found = calibrant.interval_summary(y, pair, confidence_level=LEVELS)
    assert found.to_dict() == expected.to_dict()
    single = calibrant.interval_width(form(intervals[:, :, 0]))
    assert single == found[0].mean_width


def test_arrow_and_pandas():
    pa = pytest.importorskip("pyarrow")
    pd = pytest.importorskip("pandas")
    y, intervals = reference.random_intervals(50)
    intervals = intervals[:, :, 0]
    expected = calibrant.interval_coverage(y, intervals).to_dict()
    lists = pa.array(intervals.tolist(), pa.list_(pa.float64(), 2))
    frame = pd.DataFrame(intervals, columns=["low", "high"])
    pair = (pa.array(intervals[:, 0]), frame["high"])
    for form in (lists, frame, pair):
        assert calibrant.interval_coverage(pd.Series(y), form).to_dict() == expected
    with_null = pa.array([[0.0, 1.0], None, [0.0, None], [0.0, 1.0]], pa.list_(pa.float64(), 2))
    with pytest.raises(ValueError, match=r"intervals\[:, 0\] has a missing value .* at row 1"):
        calibrant.interval_width(with_null)
    assert calibrant.interval_width(with_null, nan_policy="omit") == 1.0


# Results


def test_how_results_look():
    y, intervals = reference.random_intervals(200, 2)
    coverage = calibrant.interval_coverage(y, intervals)
    assert repr(coverage).startswith("Coverage of 200 rows, 95% intervals\n  level 0  0.")
    with pytest.raises(TypeError, match="has 2 levels"):
        float(coverage)
    assert np.asarray(coverage).shape == (2,)
    assert json.loads(json.dumps(coverage.to_dict()))["n"] == 200
    ssc = calibrant.size_stratified_coverage(y, intervals)
    assert "level 1" in repr(ssc)
    assert "worst" in repr(ssc)
    with pytest.raises(ValueError, match="there are 2 levels"):
        _ = ssc.groups
    summary = calibrant.interval_summary(y, intervals, confidence_level=(0.999, 0.1))
    assert [level.verdict for level in summary] == ["under-covering", "over-covering"]
    assert len(summary) == 2
    assert "under-covering" in repr(summary)
    json.dumps(summary.to_dict())


# Verdicts


def covering(hits, misses):
    """Rows of which so many are covered, as weights."""
    return ([0.0, 0.0], ([-1.0, 1.0], [1.0, 2.0])), [float(hits), float(misses)]


@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
@pytest.mark.parametrize("n", [1, 5, 50, 1000])
def test_verdict_is_the_binomial_test(n, level):
    """Summed over all outcomes, its false alarm rate is at most 5 %."""
    rate = 0.0
    law = scipy.stats.binom(n, level)
    likely = range(int(law.ppf(1e-6)), n + 1)
    for hits in likely:
        rows, weight = covering(hits, n - hits)
        (found,) = calibrant.interval_summary(*rows, confidence_level=level, sample_weight=weight)
        expected = min(1.0, 2.0 * min(law.cdf(hits), law.sf(hits - 1)))
        assert found.pvalue == found.adjusted_pvalue == pytest.approx(expected, rel=1e-9)
        low, high = (
            calibrant.interval_coverage(*rows, sample_weight=weight, ci_method="exact").to_dict()[
                end
            ]
            for end in ("low", "high")
        )
        assert (found.pvalue <= 0.05) == (not low <= level <= high)
        if found.verdict.endswith("-covering"):
            rate += law.pmf(hits)
            assert found.verdict == ("under" if hits < n * level else "over") + "-covering"
        else:
            none_is_off = 2.0 * min(level, 1.0 - level) ** n > 0.05
            assert found.verdict == ("too few rows to tell" if none_is_off else "calibrated")
    assert rate <= 0.05


def test_levels_share_one_error_rate():
    """Three calibrated levels of 50 rows: any false word in at most 5 % of 400 runs, seeded."""
    rng = np.random.default_rng(8)
    levels = np.array([0.8, 0.9, 0.99])
    alarms = 0
    for _ in range(400):
        half = scipy.stats.norm.ppf(0.5 + levels / 2)
        bounds = np.broadcast_to(np.stack([-half, half]), (50, 2, 3))
        found = calibrant.interval_summary(
            rng.standard_normal(50), bounds, confidence_level=tuple(levels)
        )
        alarms += any(level.verdict != "calibrated" for level in found)
    assert alarms <= 28  # P < 0.04 of more at the full rate of 5 %; the test is below it


def test_what_is_odd_is_named():
    y = np.ones(5)
    summary = calibrant.interval_summary(y, (y - 1, y + 1), confidence_level=0.9)
    assert summary[0].criterion is None
    assert summary[0].by_width.worst is None
    assert "equally wide" in summary[0].notes[0]
    assert "outcomes are equal" in summary[0].notes[1]
    assert "level 0.9: all intervals are equally wide" in repr(summary)
    with pytest.raises(ValueError, match=r"y_true must hold two different values, found only 1\.0"):
        calibrant.coverage_width_criterion(y, (y - 1, y + 1), confidence_level=0.9, eta=1.0)


# Rejections

GOOD = {"y_true": [0.0, 1.0, 2.0], "intervals": [[-1.0, 1.0], [0.0, 2.0], [1.0, 3.0]]}
SPOILED = [
    ({"y_true": [0.0, math.nan, 2.0]}, ValueError, r"y_true has a missing value \(NaN\) at row 1"),
    ({"y_true": [0.0, math.inf, 2.0]}, ValueError, r"y_true must be finite, found inf at row 1"),
    (
        {"y_true": [0.0, 1.0]},
        ValueError,
        r"y_true and intervals must have the same length.*2 and 3",
    ),
    ({"y_true": None}, TypeError, r"y_true must be an array, got None"),
    ({"y_true": ["a", "b", "c"]}, TypeError, r"y_true must hold real numbers"),
    (
        {"intervals": [[-1, 1], [0, 2], [3, 1]]},
        ValueError,
        r"lower <= upper, found lower 3 and upper 1 at row 2; pass crossed=\"swap\"",
    ),
    (
        {"intervals": [[-1, 1], [0, math.inf], [1, 3]]},
        ValueError,
        r"intervals\[:, 1\] must be finite, found inf at row 1",
    ),
    (
        {"intervals": np.array([[[-1.0], [1.0]], [[math.nan], [2.0]], [[1.0], [3.0]]])},
        ValueError,
        r"intervals\[:, 0, 0\] has a missing value \(NaN\) at row 1",
    ),
    (
        {"intervals": ([-1.0, 0.0, 1.0], [1.0, -math.inf, 3.0])},
        ValueError,
        r"intervals\[1\] must be finite, found -inf at row 1",
    ),
    (
        {"intervals": ([-1.0, 0.0], [1.0, 2.0, 3.0])},
        ValueError,
        r"one shape, got \(2,\) and \(3,\)",
    ),
    ({"intervals": ([0.0], [1.0], [2.0])}, TypeError, r"tuple \(lower, upper\), got 3 parts"),
    (
        {"intervals": np.zeros((3, 3))},
        ValueError,
        r"shape \(n, 2\) or \(n, 2, k\), got shape \(3, 3\)",
    ),
    ({"intervals": np.zeros((3, 3, 2))}, ValueError, r"got shape \(3, 3, 2\)"),
    ({"intervals": np.zeros((3, 2, 0))}, ValueError, r"at least one level, got 0"),
    (
        {"intervals": np.zeros(3)},
        ValueError,
        r"intervals must have shape \(n, k\), got shape \(3,\)",
    ),
    (
        {"intervals": [[-1, 1], [-1.7e308, 1.7e308], [1, 3]]},
        ValueError,
        r"less than 1.8e308 above the lower bound, found 1.7e\+308 at row 1",
    ),
    (
        {"sample_weight": [1.0, -1.0, 1.0]},
        ValueError,
        r"sample_weight must be finite and not negative",
    ),
    ({"sample_weight": [0.0, 0.0, 0.0]}, ValueError, r"positive weight, all 3 have weight 0"),
    ({"y_true": [], "intervals": np.zeros((0, 2))}, ValueError, r"at least one row, got none"),
    ({"crossed": "sort"}, ValueError, r"crossed must be 'raise' or 'swap', got 'sort'"),
    ({"nan_policy": "drop"}, ValueError, r"nan_policy"),
    ({"ci_level": 1.0}, ValueError, r"ci_level must lie strictly between 0 and 1, got 1.0"),
    ({"ci_method": "wald"}, ValueError, r"ci_method must be 'wilson' or 'exact', got 'wald'"),
]


@pytest.mark.parametrize(("spoiled", "error", "message"), SPOILED)
def test_what_is_rejected(spoiled, error, message):
    calibrant.interval_coverage(**GOOD)
    with pytest.raises(error, match=message):
        calibrant.interval_coverage(**{**GOOD, **spoiled})


def test_far_away_outcomes_are_rejected():
    with pytest.raises(ValueError, match=r"y_true must be less than 1.8e308 away"):
        calibrant.interval_coverage([1.7e308], [[-1.7e308, -1.6e308]])


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"confidence_level": 0.0}, ValueError, "strictly between 0 and 1, got 0.0"),
        ({"confidence_level": [0.5, 0.9]}, ValueError, "must have 2 levels, .* got 1"),
        ({"confidence_level": "0.9"}, TypeError, "confidence_level must be a number"),
        ({"confidence_level": []}, ValueError, "at least one level"),
    ],
)
def test_nominal_levels_are_checked(options, error, message):
    with pytest.raises(error, match=message):
        calibrant.interval_score(**GOOD, **options)


def test_other_arguments_are_checked():
    with pytest.raises(TypeError, match="pass either intervals or sets"):
        calibrant.size_stratified_coverage([0.0])
    with pytest.raises(TypeError, match="prediction sets go in by sets="):
        calibrant.size_stratified_coverage([0, 1], np.eye(2, dtype=bool))
    with pytest.raises(ValueError, match="n_groups must lie in"):
        calibrant.size_stratified_coverage(**GOOD, n_groups=0)
    with pytest.raises(TypeError, match="n_groups must be an integer"):
        calibrant.size_stratified_coverage(**GOOD, n_groups=2.5)
    with pytest.raises(ValueError, match="eta must be finite"):
        calibrant.coverage_width_criterion(**GOOD, confidence_level=0.9, eta=math.inf)


@pytest.mark.parametrize("row", [0, 511, 512, 60_000, 99_999])
def test_the_first_bad_row_is_named(row):
    y, intervals = reference.random_intervals(100_000)
    intervals[row] = [[2.0], [1.0]]
    intervals[row + 1 :] = np.nan
    with pytest.raises(ValueError, match=rf"at row {row} for level 0;"):
        calibrant.interval_coverage(y, intervals)


def test_omit_drops_and_counts():
    y, intervals = reference.random_intervals(2000, 2)
    y[5], intervals[7, 0, 1], intervals[600, 1, 0] = np.nan, np.nan, np.nan
    weights = np.ones(2000)
    weights[1999] = np.nan
    keep = np.setdiff1d(np.arange(2000), [5, 7, 600, 1999])
    found = calibrant.interval_summary(
        y, intervals, confidence_level=(0.5, 0.9), sample_weight=weights, nan_policy="omit"
    )
    expected = calibrant.interval_summary(y[keep], intervals[keep], confidence_level=(0.5, 0.9))
    assert found.n_omitted == 4
    assert found.n == 1996
    assert [level.to_dict() for level in found] == [level.to_dict() for level in expected]
    intervals[3, 0, 0] = np.inf  # no missing value
    with pytest.raises(
        ValueError, match=r"intervals\[:, 0, 0\] must be finite, found inf at row 3"
    ):
        calibrant.interval_width(intervals, nan_policy="omit")
