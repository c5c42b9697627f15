"""HSIC between width and coverage, against the n x n definition and MAPIE."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import calibrant
from calibrant import coverage_hsic, set_num_threads, streaming
from calibrant._core import _testing
from calibrant.config import config
from calibrant.intervals._hsic import mapie_hsic

RATIOS = [1e-3, 1e-2, 0.1, 0.5, 1.0, 3.0, 10.0, 100.0, 1e3]


pytestmark = [pytest.mark.kernels, pytest.mark.usefixtures("runtime_restored")]


def reference(width, covered, h, g):
    """Return trace / n^2, the unbiased estimator, and the size of its terms, in long doubles."""
    w, c = np.asarray(width, np.longdouble), np.asarray(covered, np.longdouble)
    n = len(w)
    k = np.exp(-(((w[:, None] - w) / np.longdouble(h)) ** 2) / 2)
    other = np.exp(-1 / (2 * np.longdouble(g) ** 2))
    m = np.where(c[:, None] == c, np.longdouble(1), other)
    m_centred = m - m.mean(0) - m.mean(1)[:, None] + m.mean()
    k_centred = k - k.mean(0) - k.mean(1)[:, None] + k.mean()
    trace = (k_centred * m_centred).sum()
    k0, m0 = k - np.eye(n), m - np.eye(n)
    unbiased = (
        (k0 * m0).sum()
        + k0.sum() * m0.sum() / (n - 1) / (n - 2)
        - 2 * (k0.sum(0) * m0.sum(0)).sum() / np.longdouble(n - 2)
    ) / (n * (n - 3))
    squares = float(np.sum((c - c.mean()) ** 2) * (1 - other)) / (n * (n - 3))
    return float(trace) / n**2, float(unbiased), 2 * squares


def intervals_of(width, covered):
    width = np.asarray(width, float)
    return np.where(covered, 0.0, -1.0), np.stack([np.zeros_like(width), width], axis=1)


def widths(name, n=300):
    rng = np.random.default_rng(5)
    return {
        "exponential": rng.exponential(size=n) + 2,
        "uniform": rng.random(n),
        "far-flung": 10.0 ** rng.uniform(-6, 6, n),
        "two clusters": np.where(rng.random(n) < 0.5, 1e6 + rng.normal(size=n), rng.random(n)),
        "tied": rng.integers(0, 4, n).astype(float),
    }[name]


@pytest.mark.parametrize("name", ["exponential", "uniform", "far-flung", "two clusters", "tied"])
@pytest.mark.parametrize("ratio", RATIOS)
def test_equals_the_definition(name, ratio):
    w = widths(name)
    covered = np.random.default_rng(1).random(len(w)) < 0.8
    h = ratio * w.std()
    biased, unbiased, terms = reference(w, covered, h, 0.7)
    arguments = intervals_of(w, covered)
    found = coverage_hsic(*arguments, bandwidths=(h, 0.7))
    assert found.reason is None
    assert found.hsic == pytest.approx(biased, rel=1e-12, abs=0)
    n = len(w)
    gretton = coverage_hsic(*arguments, bandwidths=(h, 0.7), estimator="gretton")
    assert gretton.hsic == pytest.approx(biased * (n / (n - 1)) ** 2, rel=1e-12, abs=0)
    # Differences of larger terms: good to their rounding.
    there = coverage_hsic(*arguments, bandwidths=(h, 0.7), estimator="unbiased")
    assert there.hsic == pytest.approx(unbiased, rel=1e-12, abs=4e-15 * terms)


@pytest.mark.parametrize("g", [1e-3, 0.3, 1.0, 1e3, 1e6])
def test_bandwidth_of_coverage(g):
    w = widths("uniform")
    covered = np.random.default_rng(1).random(len(w)) < 0.6
    expected, _, _ = reference(w, covered, 0.2, g)
    if g > 1e3:  # 1 - exp(-x) loses its digits in the reference
        expected = reference(w, covered, 0.2, 1e3)[0] * math.expm1(-0.5e-12) / math.expm1(-0.5e-6)
    found = coverage_hsic(*intervals_of(w, covered), bandwidths=(0.2, g))
    assert found.hsic == pytest.approx(expected, rel=1e-11)


@given(
    rows=st.lists(
        st.tuples(
            st.floats(0, 1e9) | st.sampled_from([0.0, 0.5, 1 / 16, 1 / 32, 3.0, 1e-300]),
            st.booleans(),
        ),
        min_size=4,
        max_size=25,
    ),
    h=st.sampled_from([1e-3, 0.25, 1.0, 77.0, 1e6]),
)
@settings(max_examples=60, deadline=None)
def test_any_rows(rows, h):
    w, covered = np.array([r[0] for r in rows]), np.array([r[1] for r in rows])
    biased, unbiased, terms = reference(w, covered, h, 1.0)
    found = coverage_hsic(*intervals_of(w, covered), bandwidths=(h, 1.0))
    if found.reason is not None:
        assert math.isnan(found.hsic)
        assert len(set(covered)) == 1 or np.ptp(w) <= 2.0**-30 * w.max()
        return
    assert found.hsic == pytest.approx(biased, rel=1e-12, abs=1e-19 * terms)
    there = coverage_hsic(*intervals_of(w, covered), bandwidths=(h, 1.0), estimator="unbiased")
    assert there.hsic == pytest.approx(unbiased, rel=1e-12, abs=4e-15 * terms)


@pytest.mark.parametrize("sizes", [(1, 1), (0.3, 2.0), (25.0, 0.1)])
def test_mapie(sizes):
    mapie = pytest.importorskip("mapie.metrics.regression")
    rng = np.random.default_rng(2)
    y = rng.normal(size=200)
    half = rng.exponential(size=(200, 2)) + 0.1
    intervals = np.stack([-half, half * 1.3], axis=1)
    intervals[3] = intervals[3, ::-1]  # crossed: MAPIE takes the absolute width
    expected = mapie.hsic(y, intervals, sizes)
    np.testing.assert_allclose(mapie_hsic(y, intervals, sizes), expected, rtol=1e-9)
    straight = np.sort(intervals, axis=1)
    ours = coverage_hsic(y, straight, bandwidths=np.sqrt(np.array(sizes) / 2), estimator="gretton")
    np.testing.assert_allclose(np.sqrt(ours.hsic), mapie.hsic(y, straight, sizes), rtol=1e-9)


def test_levels_are_taken_one_by_one():
    rng = np.random.default_rng(3)
    y = rng.normal(size=500)
    half = rng.exponential(size=(500, 3)) * [0.5, 1.0, 2.0]
    intervals = np.stack([-half, half], axis=1)
    found = coverage_hsic(y, intervals)
    assert isinstance(found, calibrant.CoverageHSICByLevel)
    assert found.hsic.shape == (3,)
    for level in range(3):
        assert found.levels[level] == coverage_hsic(y, intervals[:, :, level])
        assert found.levels[level] == coverage_hsic(y, (-half[:, level], half[:, level]))
    assert found == coverage_hsic(y, (-half, half))
    assert "level  hsic" in repr(found)
    assert len(repr(found).splitlines()) == 5


def test_what_cannot_be_told_has_a_reason():
    y = np.arange(6.0)
    constant = np.stack([y - 0.1, y + 0.1], axis=1)  # widths differ by rounding
    assert len(set(constant[:, 1] - constant[:, 0])) > 1
    shifted = y + np.array([0, 0, 0, 5, 5, 5])
    found = coverage_hsic(shifted, constant)
    assert math.isnan(found.hsic)
    assert found.reason == "constant widths"
    assert found.coverage == 0.5
    growing = np.stack([y - y - 0.1, y + 0.1], axis=1)
    assert coverage_hsic(y, growing).reason == "all covered"
    assert coverage_hsic(y + 50, growing).reason == "none covered"
    assert "constant widths" in repr(found)
    assert found.to_dict()["reason"] == "constant widths"


@pytest.mark.parametrize("scale", [2.0**-40, 3.0, 2.0**60])
def test_unit_of_the_widths(scale):
    w = widths("exponential")
    covered = np.random.default_rng(1).random(len(w)) < 0.8
    once = coverage_hsic(*intervals_of(w, covered), bandwidths=(0.5, 1.0)).hsic
    scaled = coverage_hsic(*intervals_of(w * scale, covered), bandwidths=(0.5 * scale, 1.0)).hsic
    assert scaled == pytest.approx(once, rel=1e-13)


def test_covered_and_uncovered_are_alike():
    w = widths("uniform")
    covered = np.random.default_rng(1).random(len(w)) < 0.8
    for estimator in ("biased", "unbiased"):
        found = [
            coverage_hsic(*intervals_of(w, c), estimator=estimator).hsic
            for c in (covered, ~covered)
        ]
        assert found[0] == pytest.approx(found[1], rel=1e-11)


def test_rows_repeated():
    w = widths("uniform")
    covered = np.random.default_rng(1).random(len(w)) < 0.8
    y, intervals = intervals_of(w, covered)
    once = coverage_hsic(y, intervals).hsic
    assert coverage_hsic(np.tile(y, 4), np.tile(intervals, (4, 1))).hsic == pytest.approx(
        once, rel=1e-14
    )


# The same bits however the work is split


def many(n=40_000):
    rng = np.random.default_rng(7)
    width = np.concatenate([rng.exponential(size=n - 200), 10.0 ** rng.uniform(-6, 6, 200)])
    y = np.where(rng.random(n) < 0.9 - 0.1 * (width > 1), width / 2, -1.0)
    return y, np.stack([np.zeros(n), width], axis=1)


@pytest.mark.every_isa
@pytest.mark.parametrize("estimator", ["biased", "unbiased"])
def test_threads_instruction_sets_and_order(estimator):
    y, intervals = many()
    found = set()
    order = np.random.default_rng(0).permutation(len(y))
    for isa, threads in itertools.product(config()["available_isas"], (1, 2, 5)):
        _testing.set_isa(isa)
        set_num_threads(threads)
        found.add(coverage_hsic(y, intervals, estimator=estimator).hsic)
        found.add(coverage_hsic(y[order], intervals[order], estimator=estimator).hsic)
    assert len(found) == 1


def test_batches_and_merges():
    y, intervals = many()
    whole = streaming.CoverageHSIC()
    whole.update(y, intervals)
    parts = [streaming.CoverageHSIC() for _ in range(3)]
    for i, cut in enumerate(np.array_split(np.arange(len(y)), 50)):
        parts[i % 3].update(y[cut], intervals[cut])
    merged = parts[2].merge(parts[0]).merge(parts[1])
    assert merged == whole
    assert merged.to_bytes() == whole.to_bytes()
    assert streaming.CoverageHSIC.from_bytes(whole.to_bytes()) == whole
    for estimator in ("biased", "gretton", "unbiased"):
        one_shot = coverage_hsic(y, intervals, estimator=estimator)
        assert merged.result(estimator=estimator) == one_shot


@pytest.mark.parametrize(("estimator", "n"), [("biased", 1_200_000), ("unbiased", 80_000)])
def test_far_flung_rows_are_sorted_with_the_same_bits(estimator, n):
    # More boxes than are kept in hand; the larger number takes two ranges.
    rng = np.random.default_rng(0)
    width = 10.0 ** rng.uniform(-1, 8, n)
    width = width[np.arange(n) % 150_000]  # not too many boxes for the stream
    y, intervals = intervals_of(width, rng.random(n) < 0.7)
    y[17] = math.nan
    total = streaming.CoverageHSIC(bandwidths=(0.01, 1.0), max_boxes=10**6)
    total.update(y, intervals, nan_policy="omit")
    assert total.n_boxes > 65536
    found = {total.result(estimator=estimator)}
    for threads in (1, 2):
        set_num_threads(threads)
        found.add(
            coverage_hsic(
                y, intervals, bandwidths=(0.01, 1.0), estimator=estimator, nan_policy="omit"
            )
        )
    assert len(found) == 1
    assert found.pop().n == n - 1


def test_too_many_boxes_leave_the_state_as_it_was():
    total = streaming.CoverageHSIC(max_boxes=100)
    total.update(*intervals_of(np.linspace(0, 3, 50), np.arange(50) % 2 == 0))
    before = total.to_bytes()
    with pytest.raises(
        ValueError, match="more than max_boxes=100 boxes of 1/16 of the bandwidth 1"
    ):
        total.update(*intervals_of(np.linspace(0, 100, 500), np.arange(500) % 2 == 0))
    other = streaming.CoverageHSIC(max_boxes=1000)
    other.update(*intervals_of(np.linspace(0, 100, 500), np.arange(500) % 2 == 0))
    with pytest.raises(ValueError, match="more than max_boxes=100"):
        total.merge(other)
    assert total.to_bytes() == before


# Bad input


def test_bad_input():
    y, intervals = intervals_of([1.0, 2.0, 3.0], [True, False, True])
    with pytest.raises(ValueError, match=r"estimator must be .*'unbiased', got 'u'"):
        coverage_hsic(y, intervals, estimator="u")
    with pytest.raises(ValueError, match=r"bandwidths must be two numbers.*got 1"):
        coverage_hsic(y, intervals, bandwidths=1)
    with pytest.raises(ValueError, match=r"bandwidths must lie in \[1e-150, 1e150\], found 0"):
        coverage_hsic(y, intervals, bandwidths=(0, 1))
    with pytest.raises(ValueError, match="an unbiased HSIC needs at least 4 rows, got 3"):
        coverage_hsic(y, intervals, estimator="unbiased")
    with pytest.raises(ValueError, match="an HSIC needs at least 2 rows, got 0"):
        coverage_hsic([], np.zeros((0, 2)))
    with pytest.raises(ValueError, match=r"lower <= upper.*at row 1"):
        coverage_hsic([0.0, 0.0], [[0.0, 1.0], [1.0, 0.0]])
    assert coverage_hsic([0.0, 5.0], [[0.0, 1.0], [2.0, 0.0]], crossed="swap").n == 2
    with pytest.raises(ValueError, match=r"y_true has a missing value \(NaN\) at row 0"):
        coverage_hsic([math.nan, 0.0], intervals[:2])
    assert coverage_hsic([math.nan, *y], [[0, 1], *intervals], nan_policy="omit").n_omitted == 1
    with pytest.raises(ValueError, match=r"narrower than 2\^46 bandwidths.*1e\+200 at row 1"):
        coverage_hsic([0.0, 0.0], [[0.0, 1.0], [0.0, 1e200]])
    with pytest.raises(ValueError, match="max_boxes must be at least 1, got 0"):
        streaming.CoverageHSIC(max_boxes=0)


def test_merging_other_parameters():
    total = streaming.CoverageHSIC()
    with pytest.raises(ValueError, match="cannot merge CoverageHSIC of other bandwidths"):
        total.merge(streaming.CoverageHSIC(bandwidths=(2, 1)))
    total.update([0.0], [[0.0, 1.0]])
    with pytest.raises(ValueError, match="cannot merge CoverageHSIC of 2 levels into one of 1"):
        total.update([0.0], np.zeros((1, 2, 2)))


def test_a_value_is_a_number():
    y, one = [0.0, 1.0, 2.0, 3.0], [[-1, 1], [0, 2], [2.5, 3.5], [1, 2]]
    found = coverage_hsic(y, one)
    assert float(found) == found.hsic == np.asarray(found)
    many = coverage_hsic(y, np.stack([one, np.multiply(one, 2.0)], axis=-1))
    np.testing.assert_array_equal(np.asarray(many), [float(level) for level in many.levels])
