"""Rank calibration against sums over all outcomes in exact fractions, SciPy and closed forms."""

from __future__ import annotations

import itertools
import json
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from calibrant import _core, rank_calibration
from calibrant.config import config
from calibrant.ranks._calibration import count_ranks, from_counts
from calibrant.ranks._histogram import default_bins
from interrupts import assert_interrupted, needs_signals
from rank_law_reference import (
    band_of,
    gamma_of,
    gamma_pvalue,
    inside,
    ks_pvalue,
    lower_tails,
)

counts_of_ranks = st.integers(2, 7).flatmap(
    lambda k: st.lists(st.integers(0, 5), min_size=k, max_size=k).filter(any)
)


@given(counts_of_ranks)
@settings(max_examples=60, deadline=None)
def test_exact_pvalues(counts):
    n, n_ranks = sum(counts), len(counts)
    below = list(itertools.accumulate(counts))[:-1]
    found = from_counts(np.array([counts]))
    tails = lower_tails(n, n_ranks)
    assert found.gamma_test.statistic == pytest.approx(float(gamma_of(below, tails)), rel=1e-12)
    expected = float(gamma_pvalue(below, n, n_ranks))
    assert found.gamma_test.pvalue == pytest.approx(expected, rel=1e-9)
    distance, expected = ks_pvalue(below, n, n_ranks)
    assert found.ks.statistic == float(distance)
    assert found.ks.pvalue == pytest.approx(float(expected), rel=1e-9)


@pytest.mark.parametrize("counts", [[40, 0, 0, 0], [0, 25, 0], [0, 0, 0, 0, 30], [18, 2, 0, 1, 19]])
def test_tiny_pvalues_keep_their_digits(counts):
    n, n_ranks = sum(counts), len(counts)
    below = list(itertools.accumulate(counts))[:-1]
    found = from_counts(np.array([counts]))
    expected = float(gamma_pvalue(below, n, n_ranks))
    assert expected < 1e-3
    assert found.gamma_test.pvalue == pytest.approx(expected, rel=1e-10)
    assert found.gamma_test.log_pvalue == pytest.approx(math.log(expected), rel=1e-10)
    expected = float(ks_pvalue(below, n, n_ranks)[1])
    assert found.ks.pvalue == pytest.approx(expected, rel=1e-10)


def test_pvalues_below_all_doubles():
    found = from_counts(np.array([[5000, 0, 0, 0]]))
    # All ranks are 0 with probability 4^-5000, which alone makes gamma and D as extreme; D
    # is so for 3 as well.
    assert found.gamma_test.pvalue == found.ks.pvalue == 0.0
    least = -5000 * math.log(4)
    assert least <= found.gamma_test.log_pvalue <= least + math.log(8)
    assert least <= found.ks.log_pvalue <= least + math.log(8)
    assert found.pvalue == 0.0
    assert found.verdict.startswith("biased up")


def test_reference_values_of_tests():
    found = from_counts(np.array([[3, 2, 2, 1, 2]]))
    assert found.gamma_test.statistic == pytest.approx(0.6444009472, abs=1e-10)
    assert found.gamma_test.pvalue == pytest.approx(0.8096896, abs=1e-10)
    assert found.ks.statistic == 0.1
    assert found.ks.pvalue == pytest.approx(0.98838784, abs=1e-12)
    found = from_counts(np.array([[6, 0, 0, 0, 4]]), n_bins=5)
    assert found.gamma_test.statistic == pytest.approx(0.0127387648, abs=1e-10)
    assert found.gamma_test.pvalue == pytest.approx(0.0254706688, abs=1e-10)
    assert found.ks.statistic == 0.4
    assert found.ks.pvalue == pytest.approx(0.0416171008, abs=1e-10)
    assert found.histogram.chi_square.statistic == pytest.approx(16, rel=1e-14)
    assert found.histogram.chi_square.pvalue == pytest.approx(0.003019163651, abs=1e-12)
    found = from_counts(np.array([[8, 12, 10, 10]]), n_bins=4).histogram
    assert found.chi_square.statistic == pytest.approx(0.8, rel=1e-15)
    assert found.df == 3
    assert found.chi_square.pvalue == pytest.approx(0.8494670333918255, rel=1e-13)


BANDS = [  # (n, K, prob), gamma, coverage
    (10, 10, 0.95, 0.02148437, 0.96035624),
    (10, 10, 0.99, 0.00335544, 0.99145328),
    (20, 20, 0.95, 0.01203054, 0.95124447),
    (100, 100, 0.95, 0.00410975, 0.95053298),
    (100, 100, 0.99, 0.00067922, 0.99003935),
    (250, 250, 0.95, 0.00247187, 0.95005466),
    (100, 20, 0.95, 0.00854836, 0.95235906),
    (1000, 100, 0.95, 0.00266961, 0.95006126),
    (1000, 1000, 0.95, 0.00151607, 0.95005299),
    (10_000, 100, 0.95, 0.00233834, 0.95000329),
    (4, 4, 0.95, 0.05, 0.99218750),
]


@pytest.mark.parametrize(("n", "n_ranks", "prob", "gamma", "coverage"), BANDS)
def test_reference_values_of_gamma(n, n_ranks, prob, gamma, coverage):
    found = _core.simultaneous_rank_band(n, n_ranks, prob)
    assert found[:2] == pytest.approx((gamma, coverage), abs=6e-9)


def test_reference_values_of_bands():
    _, _, low, high = _core.simultaneous_rank_band(10, 10, 0.95)
    assert low.tolist() == [0, 0, 0, 1, 1, 2, 4, 5, 6]
    assert high.tolist() == [4, 5, 6, 8, 9, 9, 10, 10, 10]
    _, coverage, low, high = _core.rank_band(10, 10, 0.05)
    assert low.tolist() == [0, 0, 0, 1, 2, 3, 4, 5, 7]
    assert high.tolist() == [3, 5, 6, 7, 8, 9, 10, 10, 10]
    assert coverage == pytest.approx(0.9242347368, abs=1e-10)
    _, _, low, high = _core.simultaneous_rank_band(100, 100, 0.95)
    assert [(low[k - 1], high[k - 1]) for k in (10, 25, 50)] == [(3, 19), (13, 38), (36, 64)]
    _, coverage, *_ = _core.rank_band(100, 100, 0.05)
    assert coverage == pytest.approx(0.592, abs=5e-4)


@pytest.mark.parametrize(("n", "n_ranks", "prob"), [(5, 4, 0.9), (9, 6, 0.95), (12, 5, 0.8)])
def test_band_is_the_narrowest_that_covers(n, n_ranks, prob):
    gamma, coverage, low, high = _core.simultaneous_rank_band(n, n_ranks, prob)
    tails = lower_tails(n, n_ranks)
    atoms = sorted({2 * p for tail in tails for p in tail})
    covers = {
        level: inside(n, n_ranks, *band_of(n, tails, lambda g, level=level: g >= level))
        for level in [*atoms, Fraction(1) - Fraction(prob)]
        if level <= 1 - Fraction(prob)
    }
    best = max(level for level, covered in covers.items() if covered >= Fraction(prob))
    assert gamma == pytest.approx(float(best), rel=1e-12)
    assert coverage == pytest.approx(float(covers[best]), rel=1e-12)
    least, most = band_of(n, tails, lambda g: g >= best)
    assert (low.tolist(), high.tolist()) == (list(least), list(most))


@given(counts_of_ranks, st.sampled_from([0.5, 0.8, 0.95, 0.999]))
@settings(max_examples=60, deadline=None)
def test_band_and_test_agree(counts, prob):
    found = from_counts(np.array([counts]), prob=prob)
    assert found.ecdf.coverage >= prob or found.ecdf.coverage == pytest.approx(prob, abs=1e-12)
    if found.ecdf.gamma < 1.0 - prob:  # else the band is the pointwise one, and wider than needed
        assert found.ecdf.inside == (found.gamma_test.pvalue > 1.0 - prob)
    elif not found.ecdf.inside:
        assert found.gamma_test.pvalue <= 1.0 - prob


@pytest.mark.parametrize(("n", "n_ranks"), [(50, 7), (1000, 100), (123_457, 31)])
def test_pointwise_band_is_scipys(n, n_ranks):
    _, _, low, high = _core.rank_band(n, n_ranks, 0.05)
    z = np.arange(1, n_ranks) / n_ranks
    np.testing.assert_array_equal(low, stats.binom.ppf(0.025, n, z))
    np.testing.assert_array_equal(high, stats.binom.ppf(0.975, n, z))


def test_simultaneous_coverage_by_simulation():
    n, n_ranks = 1000, 50
    rng = np.random.default_rng(8)
    counts = rng.multinomial(n, np.full(n_ranks, 1 / n_ranks), size=40_000)
    below = np.cumsum(counts, axis=1)[:, :-1]
    _, coverage, low, high = _core.simultaneous_rank_band(n, n_ranks, 0.95)
    share = np.mean(np.all((low <= below) & (below <= high), axis=1))
    assert share == pytest.approx(coverage, abs=0.0035)  # 3 standard deviations
    assert abs(share - 0.95) < 0.005
    _, coverage, low, high = _core.rank_band(n, n_ranks, 0.05)
    share = np.mean(np.all((low <= below) & (below <= high), axis=1))
    assert share == pytest.approx(coverage, abs=0.008)


def test_law_beyond_a_million_is_that_of_a_million():
    at, beyond = (_core.simultaneous_rank_band(n, 20, 0.95) for n in (10**6, 10**8))
    assert at[:2] == beyond[:2]
    z = np.arange(1, 20) / 20
    np.testing.assert_array_equal(beyond[2], stats.binom.ppf(0.5 * beyond[0], 10**8, z))
    # D of 1.358 / sqrt(n) has p = 0.05 for n and K without limit, and less for few cuts
    n = 10**8
    below = np.arange(1, 1000) * (n // 1000)
    below[499] += round(1.3581 * math.sqrt(n))
    found = _core.rank_ks_test(n, 1000, below)
    assert found[1] == pytest.approx(0.05, abs=0.006)


def test_many_draws_are_tested_at_a_thousand_cuts():
    for n_ranks in (1001, 1002, 5000, 123_456):
        cuts = _core.rank_cuts(n_ranks)
        assert cuts.size == 1000
        np.testing.assert_array_equal(cuts, n_ranks - cuts[::-1])
        assert cuts[0] >= 1
        steps = np.diff(cuts)
        assert steps.min() >= 1
        assert steps.max() - steps.min() <= 2
    rng = np.random.default_rng(0)
    found = rank_calibration(rng.integers(0, 5001, size=400), 5000)
    assert found.verdict.startswith("calibrated")
    assert found.ecdf.t.size == 1000
    assert found.histogram.counts.sum() == 400


def test_same_bits_on_every_instruction_set(isa):
    assert config()["isa"] == isa
    found = _core.simultaneous_rank_band(2000, 77, 0.95)
    assert (found[0].hex(), found[1].hex()) == BITS.setdefault(
        "band", (found[0].hex(), found[1].hex())
    )
    rng = np.random.default_rng(1)
    below = np.cumsum(rng.multinomial(2000, np.full(77, 1 / 77)))[:-1] // 2
    tests = (_core.rank_gamma_test(2000, 77, below), _core.rank_ks_test(2000, 77, below))
    bits = [x.hex() for test in tests for x in test]
    assert bits == BITS.setdefault("tests", bits)


BITS: dict[str, object] = {}  # of the first instruction set


# The histogram.


@pytest.mark.parametrize("n_ranks", [2, 3, 4, 9, 10, 101])
def test_moments_of_the_components_are_exact(n_ranks):
    u = [Fraction(2 * r + 1, 2 * n_ranks) for r in range(n_ranks)]

    def variance(values):
        mean = sum(values) / n_ranks
        return sum((v - mean) ** 2 for v in values) / n_ranks

    rng = np.random.default_rng(n_ranks)
    counts = rng.integers(0, 9, size=n_ranks)
    found = from_counts(counts[None]).histogram
    n = int(counts.sum())
    for test, values in (
        (found.bias, u),
        (found.dispersion, [(v - Fraction(1, 2)) ** 2 for v in u]),
    ):
        mean = sum(values) / n_ranks
        excess = sum(int(c) * (v - mean) for c, v in zip(counts, values, strict=True)) / n
        spread = math.sqrt(variance(values) / n)
        z = float(excess) / spread if spread else 0.0
        assert test.statistic == pytest.approx(z, rel=1e-12, abs=1e-12)
        assert test.pvalue == pytest.approx(math.erfc(abs(z) / math.sqrt(2)), rel=1e-12)


def test_unequal_bins_expect_unequal_counts():
    rng = np.random.default_rng(0)
    ranks = rng.integers(0, 101, size=200_000)
    found = rank_calibration(ranks, 100, n_bins=20).histogram
    sizes = np.diff(found.edges)
    assert sorted(set(sizes.tolist())) == [5, 6]
    np.testing.assert_allclose(found.expected, 200_000 * sizes / 101)
    by_scipy = stats.chisquare(found.counts, found.expected)
    assert found.chi_square.statistic == pytest.approx(by_scipy.statistic, rel=1e-12)
    assert found.chi_square.pvalue == pytest.approx(by_scipy.pvalue, rel=1e-10)
    assert found.chi_square.pvalue > 0.01
    assert stats.chisquare(found.counts).pvalue < 1e-50  # with equal expectations


def test_histogram_band_is_scipys():
    found = rank_calibration(np.arange(1000) % 10, 9, n_bins=4).histogram
    p = np.diff(found.edges) / 10
    np.testing.assert_array_equal(found.low, stats.binom.ppf(0.05 / 8, 1000, p))
    np.testing.assert_array_equal(found.high, stats.binom.ppf(1 - 0.05 / 8, 1000, p))


@given(st.integers(1, 3000), st.integers(2, 300))
def test_default_bins(n, n_ranks):
    bins = default_bins(n, n_ranks)
    assert 2 <= bins <= min(20, n_ranks)
    assert bins == 2 or n * (n_ranks // bins) >= 5 * n_ranks


# Coverage.


@given(counts_of_ranks)
@settings(max_examples=60, deadline=None)
def test_coverage_curves_by_definition(counts):
    n, n_ranks = sum(counts), len(counts)
    found = from_counts(np.array([counts])).dimensions[0]
    central = [
        (Fraction(n_ranks - 2 * k, n_ranks), Fraction(sum(counts[k : n_ranks - k]), n))
        for k in range((n_ranks - 1) // 2, 0, -1)
    ]
    one_sided = [(Fraction(k, n_ranks), Fraction(sum(counts[:k]), n)) for k in range(1, n_ranks)]
    for curve, points in ((found.central, central), (found.one_sided, one_sided)):
        assert curve.levels.tolist() == [float(level) for level, _ in points]
        assert curve.coverage.tolist() == [float(covered) for _, covered in points]
        ends = [(0, 0), *points, (1, 1)]
        area = sum(
            (b[0] - a[0]) * (a[1] - a[0] + b[1] - b[0]) / 2 for a, b in itertools.pairwise(ends)
        )
        assert curve.area == pytest.approx(float(area), abs=1e-14)
        exact = [stats.binomtest(round(float(c) * n), n).proportion_ci(0.95) for _, c in points]
        np.testing.assert_allclose(curve.low, [ci.low for ci in exact], rtol=1e-9)
        np.testing.assert_allclose(curve.high, [ci.high for ci in exact], rtol=1e-9)


def test_even_ranks_are_covered_exactly_as_often_as_promised():
    found = rank_calibration(np.arange(500) % 10, 9)
    np.testing.assert_array_equal(found.coverage.levels, found.coverage.coverage)
    assert found.coverage.area == 0.0
    assert found.ks.statistic == 0.0
    assert found.ks.pvalue == 1.0
    np.testing.assert_array_equal(found.ecdf.differences, 0.0)


# Verdicts.

N, M = 2000, 99


def ranks_of(rng, *, shift=0.0, scale=1.0):
    """Of truths from N(0, 1) among draws of a posterior N(shift, scale^2)."""
    truth = rng.normal(size=N)
    return rng.binomial(M, stats.norm.cdf(truth, shift, scale))


@pytest.mark.parametrize(
    ("options", "word", "meaning"),
    [
        ({}, "calibrated", "likely by chance"),
        ({"scale": 1.4}, "over-dispersed", "too wide"),
        ({"scale": 0.7}, "under-dispersed", "too narrow"),
        ({"shift": 0.4}, "biased up", "too high"),
        ({"shift": -0.4}, "biased down", "too low"),
        ({"shift": 5.0}, "biased up", "too high"),
        ({"shift": 0.3, "scale": 2.0}, "over-dispersed and biased up", "too wide"),
        ({"shift": -0.5, "scale": 0.5}, "under-dispersed and biased down", "too low"),
    ],
)
def test_verdict_names_what_is_wrong(options, word, meaning):
    found = rank_calibration(ranks_of(np.random.default_rng(5), **options), M)
    assert found.verdict.partition(":")[0] == word
    assert meaning in found.verdict
    assert found.ecdf.inside == (word == "calibrated")
    if options.get("scale", 1.0) != 1.0:
        assert (found.coverage.area > 0) == (options["scale"] > 1)


@pytest.mark.parametrize(("scale", "word"), [(0.7, "under-dispersed"), (1.5, "over-dispersed")])
def test_verdict_on_energy_ranks(scale, word):
    rng = np.random.default_rng(2)
    truth = np.sum(rng.normal(size=(N, 3)) ** 2, axis=1)
    ranks = rng.binomial(M, stats.chi2.cdf(truth / scale**2, 3))  # draws more probable than it
    found = rank_calibration(ranks, M, kind="energy")
    assert found.verdict.partition(":")[0] == word
    assert (found.coverage.area > 0) == (scale > 1)  # too wide: above the diagonal
    assert rank_calibration(ranks, M, kind="tarp").verdict.startswith("biased:")


def test_dimensions_are_corrected_for_their_number():
    rng = np.random.default_rng(3)
    ranks = np.stack([ranks_of(rng), ranks_of(rng, scale=0.8), ranks_of(rng)], axis=1)
    found = rank_calibration(ranks, M, names=["mass", "spin", "charge"])
    least = min(d.gamma_test.pvalue for d in found.dimensions)
    assert found.pvalue == pytest.approx(3 * least)
    assert [d.adjusted_pvalue <= 0.05 for d in found.dimensions] == [False, True, False]
    assert found.verdict == "under-dispersed: 1 of 3 dimensions: spin (under-dispersed)"
    alone = rank_calibration(ranks[:, 1], M)
    assert alone.gamma_test == found.dimensions[1].gamma_test
    with pytest.raises(ValueError, match=r"there are 3 dimensions: use \.dimensions\[i\]"):
        _ = found.ecdf
    calibrated = rank_calibration(ranks[:, [0, 2]], M)
    assert calibrated.verdict.startswith("calibrated: such ranks are likely by chance in all 2")


def test_results_can_be_read():
    found = rank_calibration(ranks_of(np.random.default_rng(5), scale=1.4), M)
    text = repr(found)
    assert text.startswith(
        "RankCalibration of 2000 ranks among 99 draws\n  over-dispersed: too many"
    )
    assert "gamma p" in text
    plain = json.loads(json.dumps(found.to_dict()))
    assert plain["dimensions"][0]["histogram"]["counts"] == found.histogram.counts.tolist()
    assert plain["dimensions"][0]["ecdf"]["gamma"] == found.ecdf.gamma
    assert repr(found.histogram).startswith("RankHistogram(20 bins, chi_square=")
    assert repr(found.ecdf).startswith("RankEcdf(99 points, outside the band, gamma=0.00")
    assert repr(found.coverage).startswith("CoverageCurve(49 levels, area=0.1096)")
    assert repr(found.dimensions[0]).startswith("RankDimension('dimension 0', 'over-dispersed")


# Laws, and rejections.


@given(st.lists(st.integers(0, 6), min_size=1, max_size=40), st.randoms())
@settings(max_examples=30, deadline=None)
def test_order_does_not_matter_and_counts_suffice(ranks, random):
    shuffled = list(ranks)
    random.shuffle(shuffled)
    found = rank_calibration(ranks, 6).to_dict()
    assert found == rank_calibration(np.array(shuffled, dtype=float), 6).to_dict()
    counts = np.bincount(ranks, minlength=7)[None]
    assert found == from_counts(counts).to_dict()


@given(counts_of_ranks)
@settings(max_examples=30, deadline=None)
def test_mirrored_ranks_have_the_same_pvalues(counts):
    one, other = (from_counts(np.array([c])) for c in (counts, counts[::-1]))
    assert one.gamma_test.pvalue == pytest.approx(other.gamma_test.pvalue, rel=1e-9)
    assert one.ks == other.ks
    assert one.histogram.bias.statistic == -other.histogram.bias.statistic


@pytest.mark.parametrize(
    ("ranks", "options", "error", "message"),
    [
        ([0, 5], {}, ValueError, r"whole numbers from 0 to n_draws = 4, found 5 at row 1"),
        ([0, -1], {}, ValueError, r"found -1 at row 1"),
        ([0.0, 1.5], {}, ValueError, r"found 1.5 at row 1"),
        ([0.0, math.nan], {}, ValueError, r"found nan at row 1"),
        ([[0, 1], [2, 9]], {}, ValueError, r"found 9 at row 1, dimension 1"),
        ([], {}, ValueError, r"ranks must hold at least one rank, got shape \(0,\)"),
        ([[[0]]], {}, ValueError, r"shape \(n,\) or \(n, d\), got \(1, 1, 1\)"),
        (["a"], {}, TypeError, r"ranks must hold whole numbers, got dtype <U1"),
        ([True], {}, TypeError, r"ranks must hold whole numbers, got dtype bool"),
        ([0, 1], {"n_draws": 0}, ValueError, r"n_draws must be at least 1, got 0"),
        ([0, 1], {"n_draws": 1.5}, TypeError, r"n_draws must be an integer, got 1.5"),
        ([0, 1], {"prob": 1.0}, ValueError, r"prob must lie strictly between 0 and 1, got 1.0"),
        ([0, 1], {"prob": "a"}, TypeError, r"prob must be a real number, got 'a'"),
        ([0, 1], {"n_bins": 6}, ValueError, r"n_bins must be from 2 to n_draws \+ 1 = 5, got 6"),
        ([0, 1], {"n_bins": 2.0}, TypeError, r"n_bins must be an integer, got 2.0"),
        ([0, 1], {"kind": "x"}, ValueError, r"'marginal', 'energy' or 'tarp', got 'x'"),
        ([0, 1], {"names": ["a", "b"]}, ValueError, r"names must name 1 dimensions, got 2"),
    ],
)  # fmt: skip
def test_bad_input(ranks, options, error, message):
    with pytest.raises(error, match=message):
        rank_calibration(ranks, **{"n_draws": 4, **options})


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ([[1, 2], [1, 1]], r"all dimensions must have as many ranks, got \[3, 2\]"),
        ([[1, -1]], r"counts must not be negative, found -1"),
        ([[0, 0]], r"needs at least one rank, got none"),
        ([1, 2], r"counts must have shape \(d, n_draws \+ 1\), got \(2,\)"),
        ([[2**61, 2**60]], r"ranks among 1 draws are too many"),
    ],
)
def test_bad_counts(counts, message):
    with pytest.raises(ValueError, match=message):
        from_counts(np.array(counts))


@needs_signals
def test_ctrl_c_ends_a_long_search():
    assert_interrupted(lambda: _core.simultaneous_rank_band(10**6, 1001, 0.95))  # a second


def test_count_ranks():
    np.testing.assert_array_equal(count_ranks([[0, 2], [2, 2]], 2), [[1, 0, 1], [0, 0, 2]])


@pytest.mark.parametrize("n_draws", [1, 2, 3])
@pytest.mark.parametrize("n", [1, 2, 5])
def test_smallest_inputs(n, n_draws):
    for ranks in itertools.combinations_with_replacement(range(n_draws + 1), n):
        found = rank_calibration(ranks, n_draws)
        assert 0.0 < found.pvalue <= 1.0
        assert 0.0 < found.ks.pvalue <= 1.0
