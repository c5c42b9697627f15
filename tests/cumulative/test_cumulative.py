"""Spiegelhalter's test: definition, degenerate cases, MAPIE, states."""

from __future__ import annotations

import copy
import math
import pickle
import struct
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, strategies as st

import calibrant
import reference
import strategies
from calibrant import spiegelhalter_test
from calibrant._core import _testing
from calibrant.streaming import Spiegelhalter
from forged_states import MINUS_ONE, NONE, ONE

pytestmark = pytest.mark.kernels

ALTERNATIVES = ("two-sided", "greater", "less")
FINE = Fraction(1, 2**28)  # below it, terms are not rounded to the grid


def top_label(y, p):
    hits = [int(label == row.argmax()) for label, row in zip(y, p, strict=True)]
    return p.max(axis=1), hits


def root_ratio(excess, variance):
    with mpmath.workdps(60):
        a, b = (mpmath.mpf(x.numerator) / x.denominator for x in (excess, variance))
        return a / mpmath.sqrt(b)


def allowed(true, scores, weights):
    """The error of the terms on the grid: 2^-80 each, where each variance is at least 2^-28."""
    gridded = Fraction(0)
    for p, w in zip(scores, weights or [1] * len(scores), strict=True):
        _, variance = reference.spiegelhalter([p], [0])
        gridded += Fraction(w) if variance >= FINE else 0
    return 2 * math.ulp(float(true)) + 2.0**-65 * math.sqrt(gridded / 4)


# Worked examples and the definition


def test_a_worked_example():
    # (y - p)(1 - 2p): -1/8, -1/8, 0, -3/32; variances 3/64, 3/64, 0, 63/1024
    found = spiegelhalter_test([0, 1, 1, 0], [0.25, 0.75, 0.5, 0.125])
    z = -Fraction(11, 32) / Fraction(math.sqrt(Fraction(159, 1024)))
    assert found.statistic == pytest.approx(float(z), rel=2.0**-51)
    assert found.pvalue == pytest.approx(math.erfc(abs(z) / math.sqrt(2)), rel=1e-14)
    assert found.log_pvalue == pytest.approx(math.log(found.pvalue), rel=1e-14)
    assert (found.n, found.n_omitted, found.alternative) == (4, 0, "two-sided")
    assert found.to_dict()["statistic"] == found.statistic


def test_the_sign():
    overconfident = spiegelhalter_test([0, 1] * 50, [0.9] * 100)
    underconfident = spiegelhalter_test([1] * 100, [0.9] * 100)
    assert overconfident.statistic > 5
    assert underconfident.statistic < -1


@pytest.mark.parametrize("n_classes", [None, 2, 5])
@given(data=st.data())
def test_against_the_definition(n_classes, data):
    y, p, w = data.draw(strategies.tables(n_classes=n_classes, min_rows=1, max_rows=12))
    if w is not None and not (w > 0).any():
        w[0] = 1.0
    weights = None if w is None else w.tolist()
    scores, hits = (p, y) if n_classes is None else top_label(y, p)
    excess, variance = reference.spiegelhalter(scores, hits, weights)
    found = spiegelhalter_test(y, p, sample_weight=w, multi_class="top_label")
    if variance == 0:
        assert found.statistic == (math.inf if excess > 0 else 0.0)
        return
    true = root_ratio(excess, variance)
    if abs(true) > 1e308:  # a subnormal score, and a weight of 1e308 against it
        assert found.log_pvalue < -1e300
        return
    assert abs(found.statistic - true) <= allowed(true, scores, weights)


NEAR_HALF = [0.5 + s * 2.0**-k for k in (12, 13, 14, 15, 30, 40, 53) for s in (-1, 1)]
SMALL = [2.0**-27, 2.0**-28, 3e-9, 1e-12, 1e-100, 1e-308, 2.0**-1074, 1 - 2.0**-28, 1 - 2.0**-53]


@pytest.mark.parametrize("scores", [NEAR_HALF, SMALL, NEAR_HALF + SMALL], ids=len)
@pytest.mark.parametrize("repeat", [1, 100])
@pytest.mark.parametrize("weighted", [False, True])
def test_scores_with_hardly_a_variance(scores, repeat, weighted):
    """The terms of such rows are finer than the grid, and keep their digits."""
    p = np.repeat(scores, repeat)
    y = np.random.default_rng(0).integers(0, 2, p.size)
    w = np.random.default_rng(1).random(p.size) if weighted else None
    weights = None if w is None else w.tolist()
    true = root_ratio(*reference.spiegelhalter(p, y, weights))
    found = spiegelhalter_test(y, p, sample_weight=w).statistic
    assert abs(found - true) <= allowed(true, p, weights)
    assert found == pytest.approx(float(true), rel=1e-14)


@pytest.mark.parametrize("n", [1, 511, 5000])
def test_many_rows_against_the_definition(n):
    y, p = strategies.nasty_table(n)
    true = root_ratio(*reference.spiegelhalter(p, y))
    assert abs(spiegelhalter_test(y, p).statistic - true) <= allowed(true, p, None)


# p-values


def test_alternatives():
    rng = np.random.default_rng(4)
    p = rng.random(300)
    y = rng.random(300) < 0.1 + 0.8 * p
    two, greater, less = (spiegelhalter_test(y, p, alternative=a) for a in ALTERNATIVES)
    assert two.statistic == greater.statistic == less.statistic > 0
    assert two.pvalue == pytest.approx(2 * greater.pvalue, rel=1e-15)
    assert greater.pvalue + less.pvalue == pytest.approx(1, rel=1e-15)
    assert (two.alternative, less.alternative) == ("two-sided", "less")
    assert less.log_pvalue == pytest.approx(math.log1p(-greater.pvalue), rel=1e-15)


def test_a_pvalue_too_small_for_a_double():
    found = spiegelhalter_test([0, 1] * 5000, [0.9, 0.1] * 5000)
    assert found.statistic == pytest.approx(300, rel=1e-15)
    assert found.pvalue == 0.0
    with mpmath.workdps(40):
        true = mpmath.log(mpmath.erfc(mpmath.mpf(found.statistic) / mpmath.sqrt(2)))
        assert abs(found.log_pvalue - true) < 1e-15 * abs(true)


@pytest.mark.parametrize("shape", ["uniform", "beta", "classes"])
def test_uniform_under_the_null(shape):
    """Seeded: 2000 tests of 1000 rows; 1.95 / sqrt(2000) is exceeded once in a thousand."""
    rng = np.random.default_rng(20)
    pvalues = {alternative: [] for alternative in ALTERNATIVES}
    for _ in range(2000):
        if shape == "classes":
            p = rng.dirichlet([1, 1, 1], 1000)
            y = (rng.random((1000, 1)) > p.cumsum(axis=1)).sum(axis=1).clip(max=2)
        else:
            p = rng.random(1000) if shape == "uniform" else rng.beta(0.4, 1.2, 1000)
            y = rng.random(1000) < p
        total = Spiegelhalter()
        total.update(y, p)
        for alternative in ALTERNATIVES:
            pvalues[alternative].append(total.result(alternative=alternative).pvalue)
    for found in pvalues.values():
        gap = np.sort(found) - (np.arange(2000) + 0.5) / 2000
        assert np.abs(gap).max() < 1.95 / math.sqrt(2000)


# Degenerate cases


@pytest.mark.parametrize(
    ("y", "p", "statistic", "pvalues"),
    [
        ([0, 1, 1], [0.0, 1.0, 1.0], 0.0, (1, 1, 1)),  # certain and right
        ([0, 1], [0.5, 0.5], 0.0, (1, 1, 1)),
        ([0, 1, 0, 1], [0.5, 0.5, 0.0, 1.0], 0.0, (1, 1, 1)),
        ([1, 1], [0.0, 1.0], math.inf, (0, 0, 1)),  # certain and wrong
        ([0, 1], [1.0, 0.5], math.inf, (0, 0, 1)),
        ([0], [-0.0], 0.0, (1, 1, 1)),
        ([1], [[0.0, 1.0]], 0.0, (1, 1, 1)),
        ([0], [[0.0, 1.0]], math.inf, (0, 0, 1)),
        ([1], [[0.0, 0.0]], 0.0, (1, 1, 1)),  # the top label is the first, and has no chance
        ([0], [[0.0, 0.0]], math.inf, (0, 0, 1)),
    ],
)
def test_no_variance(y, p, statistic, pvalues):
    for alternative, pvalue in zip(ALTERNATIVES, pvalues, strict=True):
        found = spiegelhalter_test(y, p, alternative=alternative, multi_class="top_label")
        assert (found.statistic, found.pvalue) == (statistic, pvalue)
        assert found.log_pvalue == (0.0 if pvalue else -math.inf)


def test_no_excess_but_a_variance():
    # Excess 3/4 - 3/4: once wrong, three times right.
    found = spiegelhalter_test([0, 1, 1, 1], [0.75, 0.75, 0.75, 0.75])
    assert (found.statistic, found.pvalue, found.log_pvalue) == (0.0, 1.0, 0.0)
    assert spiegelhalter_test([0, 1, 1, 1], [0.75] * 4, alternative="less").pvalue == 0.5


def test_one_row():
    found = spiegelhalter_test([1], [0.75])
    assert found.statistic == pytest.approx(-1 / math.sqrt(3), rel=1e-15)


def test_a_wrong_certainty_of_weight_zero():
    assert spiegelhalter_test([1, 0], [0.0, 0.0], sample_weight=[0, 1]).pvalue == 1.0
    assert spiegelhalter_test([1, 0], [0.0, 0.0], sample_weight=[5e-324, 1]).pvalue == 0.0


# Labels, weights, rejections


def test_weights_are_repetitions():
    y, p = strategies.nasty_table(200)
    w = np.random.default_rng(5).integers(0, 4, 200)
    repeated = spiegelhalter_test(np.repeat(y, w), np.repeat(p, w))
    weighted = spiegelhalter_test(y, p, sample_weight=w)
    assert weighted.statistic == repeated.statistic
    assert weighted.pvalue == repeated.pvalue
    four = spiegelhalter_test(y, p, sample_weight=4 * w)
    assert four.statistic == 2 * weighted.statistic


def test_named_labels():
    expected = spiegelhalter_test([0, 1, 1], [0.25, 0.5, 0.125])
    names = ["no", "yes", "yes"]
    assert spiegelhalter_test(names, [0.25, 0.5, 0.125], pos_label="yes") == expected
    assert spiegelhalter_test(names, [0.25, 0.5, 0.125], labels=["no", "yes"]) == expected


def test_the_top_label_is_the_score():
    rng = np.random.default_rng(6)
    p = rng.dirichlet(np.ones(4), 500)
    y = rng.integers(0, 4, 500)
    expected = spiegelhalter_test(y == p.argmax(axis=1), p.max(axis=1))
    assert spiegelhalter_test(y, p) == expected


def test_what_is_rejected():
    with pytest.raises(ValueError, match="alternative must be 'two-sided', 'greater' or 'less', got 'both'"):  # noqa: E501  # fmt: skip
        spiegelhalter_test([0, 1], [0.5, 0.25], alternative="both")
    with pytest.raises(ValueError, match="the test needs at least one row, got none"):
        spiegelhalter_test([], [])
    with pytest.raises(ValueError, match="a row with positive weight, all 2 have weight 0"):
        spiegelhalter_test([0, 1], [0.5, 0.25], sample_weight=[0, 0])
    with pytest.raises(TypeError, match="y_true must be an array, got None"):
        calibrant._core.Spiegelhalter().update(None, [0.5], None, False)


def test_it_is_no_test_of_pytest():
    assert calibrant.TestResult.__test__ is False
    assert "__test__" not in calibrant.TestResult.__dataclass_fields__


# Against MAPIE


def test_mapie():
    peer = pytest.importorskip("mapie.metrics.calibration")
    rng = np.random.default_rng(7)
    for power in (0.7, 1.0, 1.3):
        p = rng.random(3000)
        y = (rng.random(3000) < p**power).astype(int)
        found = spiegelhalter_test(y, p, alternative="greater")
        assert found.statistic == pytest.approx(peer.spiegelhalter_statistic(y, p), rel=1e-10)
        assert found.pvalue == pytest.approx(peer.spiegelhalter_p_value(y, p), abs=1e-12)


# The accumulator


def filled(rows=([1, 0], [0.75, 0.125]), **options):
    total = Spiegelhalter()
    total.update(*rows, **options)
    return total


def test_omitted_rows_are_counted():
    total = filled(([1, 0, 1], [0.75, math.nan, 0.25]), nan_policy="omit")
    total.update([math.nan, 0], [0.75, 0.125], sample_weight=[1, 2], nan_policy="omit")
    assert (total.n, total.n_omitted) == (3, 2)
    assert total.result().n_omitted == 2
    same = filled(([1, 1, 0, 0], [0.75, 0.25, 0.125, 0.125]))
    assert total.result().statistic == same.result().statistic


def test_repr():
    assert repr(filled()) == "streaming.Spiegelhalter(n=2)"


STATES = {
    "empty": Spiegelhalter(),
    "binary": filled(),
    "certain": filled(([1, 0], [0.0, 1.0])),
    "tiny": filled(([1, 0], [1e-300, 2.0**-30]), sample_weight=[1e300, 0]),
}
each_state = pytest.mark.parametrize("total", STATES.values(), ids=STATES)


@each_state
def test_written_and_read_again(total):
    saved = total.to_bytes()
    for back in (
        Spiegelhalter.from_bytes(saved),
        copy.deepcopy(total),
        pickle.loads(pickle.dumps(total)),
    ):
        assert back == total
        assert back.to_bytes() == saved
    with pytest.raises(
        TypeError, match=r"cannot merge streaming\.Scores into streaming\.Spiegelhalter"
    ):
        total.copy().merge(calibrant.streaming.Scores())


KIND = 8


def read_or_reject(payload: bytes) -> None:
    """Bytes that no release wrote, under a sound seal: rejected, or read as they stand."""
    sealed = _testing.seal(KIND, 1, payload)
    try:
        total = Spiegelhalter.from_bytes(sealed)
    except ValueError:
        return
    assert total.to_bytes() == sealed
    try:
        assert 0 <= total.result().pvalue <= 1
        total.merge(total)
        total.update([1, 0], [0.0, 0.25], sample_weight=[1, 1e300])
    except (ValueError, OverflowError):
        return


@given(payload=st.binary(max_size=120))
def test_junk(payload):
    read_or_reject(payload)
    read_or_reject(filled().to_bytes()[20:44] + payload)


@pytest.mark.parametrize(
    ("counts", "sums", "possible"),
    [
        ((1, 0, 1), (ONE, ONE), True),
        ((1, 0, 1), (MINUS_ONE, ONE), True),
        ((1, 0, 1), (ONE, NONE), True),
        ((1, 5, 0), (NONE, NONE), True),
        ((1, 0, 2), (ONE, ONE), False),  # more rows with weight than rows
        ((1, 0, 0), (ONE, NONE), False),  # sums of nothing
        ((1, 0, 0), (NONE, ONE), False),
        ((1, 0, 1), (ONE, MINUS_ONE), False),  # a negative variance
        ((1, 0, 1), (MINUS_ONE, NONE), False),  # better than certain and right
    ],
)
def test_states_that_can_and_cannot_be(counts, sums, possible):
    sealed = _testing.seal(KIND, 1, struct.pack("<3Q", *counts) + b"".join(sums))
    if possible:
        assert Spiegelhalter.from_bytes(sealed).to_bytes() == sealed
        return
    with pytest.raises(ValueError, match="counts and sums of the test disagree"):
        Spiegelhalter.from_bytes(sealed)
