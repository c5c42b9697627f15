"""Isotonic fits and the parts of the Brier score, against definitions in fractions and peers."""

from __future__ import annotations

import dataclasses
import json
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

import calibrant
import reference
import strategies
from calibrant import (
    BrierDecomposition,
    CorpDecomposition,
    MurphyDecomposition,
    _core,
    brier_decomposition,
    brier_score,
    brier_skill_score,
    set_num_threads,
)
from calibrant._core import _testing
from calibrant.config import config

F = Fraction
MURPHY = [
    "reliability",
    "resolution",
    "uncertainty",
    "within_bin_variance",
    "within_bin_covariance",
]
CORP = ["miscalibration", "discrimination", "uncertainty"]
#: Weights that are counted without rounding: they lie within 80 binary digits.
WEIGHTS = st.sampled_from([0.0, 1.0, 2.0, 3.0, 0.1, 1e-7]) | st.floats(2.0**-10, 1000)


def isotonic(y, p, w=None):
    first, last, weight, hits = _core.isotonic(y, p, w, False, _core.BINARY)
    return list(zip(first, last, weight, hits, strict=True))


def murphy_parts(parts):
    return [getattr(parts, name) for name in MURPHY]


def corp_parts(parts):
    return [getattr(parts, name) for name in CORP]


def near(found, expected):
    """Correctly rounded, but for what is lost where terms of both signs cancel."""
    gap = abs(Fraction(found) - expected)
    return gap <= Fraction(math.ulp(float(expected))) * F(501, 1000) + F(1, 10**28)


@st.composite
def rows(draw, weighted=None):
    """(y, p, w or None), with some weight; few distinct scores as often as many."""
    y, p, _ = draw(strategies.tables(min_rows=1, max_rows=25, weighted=False))
    if draw(st.booleans()):
        p = np.round(p, 1)
    if not (draw(st.booleans()) if weighted is None else weighted):
        return y, p, None
    w = np.array(draw(st.lists(WEIGHTS, min_size=len(y), max_size=len(y))))
    w[0] = max(w[0], 1.0)
    return y, p, w


# Isotonic regression


@given(rows())
def test_isotonic_blocks_are_the_fit_of_the_definition(table):
    y, p, w = table
    fit = reference.isotonic_fit(y, p, w)
    blocks = []
    for score, value in fit.items():
        if blocks and blocks[-1][2] == value:
            blocks[-1][1] = score
        else:
            blocks.append([score, score, value])
    found = isotonic(y, p, w)
    assert [(first, last) for first, last, *_ in found] == [(b[0], b[1]) for b in blocks]
    for (_, _, weight, hits), (*_, value) in zip(found, blocks, strict=True):
        assert hits / weight == pytest.approx(float(value), rel=1e-15)


def test_isotonic_blocks_by_hand():
    y, p = [0, 0, 1, 0, 1, 1], [0.1, 0.3, 0.4, 0.6, 0.8, 0.9]
    assert isotonic(y, p) == [(0.1, 0.3, 2, 0), (0.4, 0.6, 2, 1), (0.8, 0.9, 2, 2)]
    assert isotonic([], []) == []
    assert isotonic([1], [0.5], [0.0]) == []
    assert isotonic([1, 0], [0.5, 0.5], [0.5, 1.5]) == [(0.5, 0.5, 2.0, 0.5)]


def test_frequencies_that_differ_by_less_than_a_double_are_told_apart():
    # 2^52 / (2^53 + 1) < 1/2 < (2^52 + 1) / (2^53 + 1): the doubles are equal, the blocks not.
    p, half = [0.25, 0.25, 0.75, 0.75], 2.0**52
    assert len(isotonic([1, 0, 1, 0], p, [half, half + 1, half + 1, half])) == 2
    assert len(isotonic([1, 0, 1, 0], p, [half, half, half, half])) == 1
    assert len(isotonic([1, 0, 1, 0], p, [half + 1, half, half, half + 1])) == 1


@pytest.mark.parametrize("weighted", [False, True])
def test_isotonic_blocks_are_those_of_scikit_learn(weighted):
    peer = pytest.importorskip("sklearn.isotonic")
    rng = np.random.default_rng(3)
    p = np.round(rng.random(100_000), 4)
    y = (rng.random(p.size) < p**2).astype(int)
    w = rng.integers(1, 9, p.size).astype(float) if weighted else None
    fit = peer.IsotonicRegression().fit(p, y, sample_weight=w).predict(p)
    first, _, weight, hits = _core.isotonic(y, p, w, False, _core.BINARY)
    ours = (hits / weight)[np.searchsorted(first, p, side="right") - 1]
    np.testing.assert_allclose(ours, fit, rtol=0, atol=1e-12)


# Worked examples; decimal inputs are rounded to floats, hence a tolerance unless dyadic

TEN = [0, 0, 0, 1, 1, 0, 0, 1, 1, 1], [0.1] * 4 + [0.5] * 4 + [0.9] * 2
SIX = [0, 0, 1, 0, 1, 1], [0.1, 0.3, 0.4, 0.6, 0.8, 0.9]
EVERY_VALUE = [0, 0.2, 0.35, 0.5, 0.7, 0.85, 1]  # one value of SIX in each bin
#: rows, options, score, (REL, RES, UNC, WBV, WBC)
MURPHY_EXAMPLES = {
    "three values": (TEN, {"n_bins": 3}, F(93, 500), (F(11, 1000), F(3, 40), F(1, 4), 0, 0)),
    "three values, corrected": (
        TEN,
        {"n_bins": 3, "bias_corrected": True},
        F(93, 500),
        (F(-71, 1500), F(2, 45), F(5, 18), 0, 0),
    ),
    "six rows": (
        SIX,
        {"n_bins": 2},
        F(29, 200),
        (F(13, 1800), F(1, 36), F(1, 4), F(7, 450), F(1, 10)),
    ),
    "six rows, corrected": (
        SIX,
        {"n_bins": 2, "bias_corrected": True},
        F(29, 200),
        (F(-187, 1800), F(-1, 30), F(3, 10), F(7, 450), F(1, 10)),
    ),
    "a bin for each value": (
        SIX,
        {"n_bins": EVERY_VALUE},
        F(29, 200),
        (F(29, 200), F(1, 4), F(1, 4), 0, 0),
    ),
}


@pytest.mark.parametrize("example", MURPHY_EXAMPLES.values(), ids=MURPHY_EXAMPLES)
def test_murphy_examples(example):
    data, options, score, expected = example
    parts = brier_decomposition(*data, **options)
    assert parts.score == pytest.approx(float(score), rel=1e-15)
    for found, value in zip(murphy_parts(parts), expected, strict=True):
        if value == 0:
            assert found == 0  # to the bit: one score in each bin
        assert found == pytest.approx(float(value), rel=1e-14)


def test_murphy_identities_of_the_six_rows():
    parts = brier_decomposition(*SIX, n_bins=2)
    assert parts.generalized_resolution == pytest.approx(101 / 900, rel=1e-14)
    without = parts.reliability - parts.resolution + parts.uncertainty
    assert without == pytest.approx(413 / 1800, rel=1e-14)  # not the score, 29/200
    skill = (parts.generalized_resolution - parts.reliability) / parts.uncertainty
    assert skill == pytest.approx(brier_skill_score(*SIX), rel=1e-14)


def test_corp_examples():
    parts = brier_decomposition(*TEN, method="corp")
    assert parts.miscalibration == pytest.approx(11 / 1000, rel=1e-14)
    assert parts.discrimination == 3 / 40
    assert parts.uncertainty == 1 / 4
    six = brier_decomposition(*SIX, method="corp")
    assert six.miscalibration == pytest.approx(37 / 600, rel=1e-14)
    assert (six.discrimination, six.uncertainty) == (1 / 6, 1 / 4)
    skill = (six.discrimination - six.miscalibration) / six.uncertainty
    assert skill == pytest.approx(brier_skill_score(*SIX), rel=1e-14)


def test_the_parts_of_frequencies_are_exact_to_the_bit():
    # The parts that do not depend on the scores are fractions of small integers.
    parts = brier_decomposition(*SIX, n_bins=2, bias_corrected=True)
    assert parts.uncertainty == 0.3
    assert parts.resolution == -1 / 30
    assert brier_decomposition(*TEN, n_bins=3, bias_corrected=True).resolution == 2 / 45
    assert brier_decomposition(*TEN, n_bins=3).resolution == 3 / 40


def test_dyadic_scores_are_decomposed_to_the_bit():
    y, p = [0, 0, 1, 0, 1, 1], [0.125, 0.25, 0.375, 0.625, 0.75, 0.875]
    edges = [0.0, 0.5, 1.0]
    expected = reference.murphy(y, p, edges)[:5]
    assert murphy_parts(brier_decomposition(y, p, n_bins=2)) == [float(x) for x in expected]
    assert corp_parts(brier_decomposition(y, p, method="corp")) == [
        float(x) for x in reference.corp(y, p)
    ]


def test_calibrated_scores_have_no_miscalibration():
    y, p = [0, 0, 0, 1, 0, 1, 1, 1], [0.25] * 4 + [0.75] * 4
    parts = brier_decomposition(y, p, method="corp")
    assert parts.miscalibration == 0
    assert parts.discrimination == 1 / 16
    assert brier_decomposition(y, p).reliability == 0


# Against the definitions


@given(rows(), st.integers(1, 6), st.sampled_from(["uniform", "quantile"]), st.booleans())
def test_murphy_is_that_of_the_definition(table, n_bins, strategy, bias_corrected):
    y, p, w = table
    if bias_corrected and (len(y) if w is None else sum(map(F, w))) < 2:
        return
    edges = (
        [k / n_bins for k in range(n_bins + 1)]
        if strategy == "uniform"
        else _core.equal_count_edges(y, p, w, False, _core.BINARY, n_bins)
    )
    *expected, uncorrected = reference.murphy(y, p, edges, w, bias_corrected)
    parts = brier_decomposition(
        y, p, n_bins=n_bins, strategy=strategy, bias_corrected=bias_corrected, sample_weight=w
    )
    for name, found, value in zip(MURPHY, murphy_parts(parts), expected, strict=True):
        assert near(found, value), name
    assert parts.n_uncorrected_bins == uncorrected
    assert parts.score == brier_score(y, p, sample_weight=w)


@given(rows())
def test_corp_is_that_of_the_definition(table):
    y, p, w = table
    parts = brier_decomposition(y, p, method="corp", sample_weight=w)
    for name, found, value in zip(CORP, corp_parts(parts), reference.corp(y, p, w), strict=True):
        assert near(found, value), name
    assert parts.miscalibration >= 0
    assert parts.discrimination >= 0


@given(strategies.tables(min_rows=1, max_rows=12, weighted=True))
def test_weights_of_any_size(table):
    y, p, w = table
    if w.max() == 0:
        return
    parts = brier_decomposition(y, p, method="corp", sample_weight=w)
    assert parts.miscalibration >= 0
    assert parts.discrimination >= 0
    for found, value in zip(corp_parts(parts), reference.corp(y, p, w), strict=True):
        assert abs(F(found) - value) <= F(1, 2**53)  # 2^-79 of the largest weight, and a rounding
    expected = reference.murphy(y, p, [0.0, 0.5, 1.0], w)[:5]
    for found, value in zip(
        murphy_parts(brier_decomposition(y, p, n_bins=2, sample_weight=w)), expected, strict=True
    ):
        assert near(found, value)


@given(rows(), st.integers(1, 20))
def test_the_parts_add_up_to_the_score(table, n_bins):
    y, p, w = table
    by_bins = brier_decomposition(y, p, n_bins=n_bins, sample_weight=w)
    total = by_bins.reliability - by_bins.generalized_resolution + by_bins.uncertainty
    assert total == pytest.approx(by_bins.score, rel=0, abs=1e-15)
    corp = brier_decomposition(y, p, method="corp", sample_weight=w)
    total = corp.miscalibration - corp.discrimination + corp.uncertainty
    assert total == pytest.approx(corp.score, rel=0, abs=1e-15)


@given(rows(weighted=False))
def test_corp_is_murphy_by_value_where_frequencies_rise(table):
    y, p, _ = table
    blocks = isotonic(y, p)
    values = sorted({float(x) + 0.0 for x in p})
    if len(blocks) < len(values):
        return
    edges = [0.0, *values[1:], 1.0]
    murphy = brier_decomposition(y, p, n_bins=edges)
    corp = brier_decomposition(y, p, method="corp")
    assert (murphy.reliability, murphy.resolution) == (corp.miscalibration, corp.discrimination)


# Laws

METHODS = {
    "murphy": {"n_bins": 4},
    "quantile": {"n_bins": 4, "strategy": "quantile"},
    "corrected": {"n_bins": 4, "bias_corrected": True},
    "corp": {"method": "corp"},
}
methods = pytest.mark.parametrize("options", METHODS.values(), ids=METHODS)
CLASSES = pytest.mark.parametrize("n_classes", [None, 3])


def outcome(y, p, w=None, **options):
    fields = brier_decomposition(y, p, sample_weight=w, **options).to_dict()
    return {name: value for name, value in fields.items() if name not in ("n", "n_omitted")}


@methods
@CLASSES
@pytest.mark.usefixtures("runtime_restored")
def test_any_order_threads_and_instruction_set(options, n_classes):
    y, p = strategies.nasty_table(60_000 if n_classes is None else 20_000, n_classes=n_classes)
    w = np.random.default_rng(4).choice([0.0, 1.0, 2.5, 1e-5], len(y))
    for weight in (None, w):
        expected = outcome(y, p, weight, **options)
        order = np.random.default_rng(5).permutation(len(y))
        assert outcome(y[order], p[order], None if weight is None else w[order], **options) == (
            expected
        )
        for isa in config()["available_isas"]:
            _testing.set_isa(isa)
            for threads in (1, 2, 5):
                set_num_threads(threads)
                assert outcome(y, p, weight, **options) == expected


@methods
@CLASSES
@pytest.mark.parametrize("n", [3, 40, 2000])
def test_an_integer_weight_is_that_many_repetitions(options, n_classes, n):
    y, p = strategies.nasty_table(n, n_classes=n_classes)
    k = np.random.default_rng(n).integers(0, 6, n)
    k[0] = 3
    repeated = outcome(np.repeat(y, k), np.repeat(p, k, axis=0), **options)
    assert outcome(y, p, k, **options) == repeated
    if "bias_corrected" not in options:  # there, a weight is a number of rows
        assert outcome(y, p, k * 2.0**-1030, **options) == repeated
        assert outcome(y, p, k * 2.0**1000, **options) == repeated


@methods
def test_classes_are_decomposed_each_against_the_rest(options):
    y, p = strategies.nasty_table(500, n_classes=3)
    whole = brier_decomposition(y, p, **options)
    assert whole.score == brier_score(y, p)
    each = [brier_decomposition(y == j, p[:, j], **options) for j in range(3)]
    for name in CORP if "method" in options else MURPHY:
        expected = sum(getattr(part, name) for part in each)
        assert getattr(whole, name) == pytest.approx(expected, rel=0, abs=1e-15)


def test_two_columns_give_twice_the_parts_of_one():
    y, p = np.array([0, 1, 1, 0]), np.array([0.25, 0.75, 0.5, 0.375])
    one = brier_decomposition(y, p, method="corp")
    two = brier_decomposition(
        y, np.column_stack([1 - p, p]), method="corp", multi_class="top_label"
    )
    assert [2 * x for x in corp_parts(one)] == corp_parts(two)
    assert two.score == 2 * one.score


def test_the_three_classes_of_the_brier_example():
    y = [0, 1, 2, 1]
    p = [(0.7, 0.2, 0.1), (0.2, 0.5, 0.3), (0.1, 0.3, 0.6), (0.4, 0.4, 0.2)]
    for parts in (brier_decomposition(y, p), brier_decomposition(y, p, method="corp")):
        assert parts.score == pytest.approx(67 / 200, rel=1e-15)
        assert parts.uncertainty == 5 / 8  # Gini


def test_more_blocks_than_are_kept_at_once():
    # Soft labels: each score is two rows, a hit of weight f and a miss of weight 1 - f, and the
    # frequencies rise, so that each score is a block of its own.
    n = 2**18 + 1000
    p = np.repeat(np.arange(n) / n, 2)
    y = np.tile([1, 0], n)
    w = np.where(y == 1, p, 1 - p)
    assert len(isotonic(y, p, w)) == n
    parts = brier_decomposition(y, p, method="corp", sample_weight=w)
    assert 0 <= parts.miscalibration < 1e-25
    assert parts.discrimination == pytest.approx(1 / 12, rel=1e-4)
    total = parts.uncertainty - parts.discrimination + parts.miscalibration
    assert total == pytest.approx(parts.score, rel=1e-14)


def test_corp_of_scikit_learns_isotonic_fit():
    peer = pytest.importorskip("sklearn.isotonic")
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(11)
    p = rng.random(20_000)
    y = (rng.random(p.size) < np.sqrt(p)).astype(int)
    w = rng.random(p.size)
    for weight in (None, w):
        fit = peer.IsotonicRegression(y_min=0, y_max=1).fit(p, y, sample_weight=weight).predict(p)
        score, fitted, base = (
            metrics.brier_score_loss(y, x, sample_weight=weight)
            for x in (p, fit, np.full(p.size, np.average(y, weights=weight)))
        )
        parts = brier_decomposition(y, p, method="corp", sample_weight=weight)
        expected = [score - fitted, base - fitted, base]
        np.testing.assert_allclose(corp_parts(parts), expected, rtol=0, atol=1e-12)


def test_corp_of_model_diagnostics():
    peer = pytest.importorskip("model_diagnostics.scoring")
    rng = np.random.default_rng(12)
    p = np.round(rng.random(5000), 3)
    y = (rng.random(p.size) < p**2).astype(int)
    frame = peer.decompose(y, p, scoring_function=peer.SquaredError())
    parts = brier_decomposition(y, p, method="corp")
    found = {"score": parts.score} | {name: getattr(parts, name) for name in CORP}
    for name, value in found.items():
        assert float(frame[name][0]) == pytest.approx(value, rel=1e-9)


# Edges of the domain, and what is rejected


def test_one_class_and_one_row():
    for options in ({"n_bins": 3}, {"method": "corp"}):
        parts = brier_decomposition([1, 1], [0.5, 0.75], **options)
        assert parts.uncertainty == 0
    single = brier_decomposition([1], [0.75], n_bins=3)
    assert murphy_parts(single) == [0.0625, 0, 0, 0, 0]
    assert corp_parts(brier_decomposition([1], [0.75], method="corp")) == [0.0625, 0, 0]


def test_bins_of_one_row_are_left_uncorrected_and_counted():
    y, p = [0, 1, 0, 1, 1], [0.1, 0.3, 0.4, 0.45, 0.9]
    plain = brier_decomposition(y, p, n_bins=2)
    parts = brier_decomposition(y, p, n_bins=2, bias_corrected=True)
    assert (plain.n_uncorrected_bins, parts.n_uncorrected_bins) == (0, 1)
    # The bin of four, half of them hits: A = 4/5 * 1/4 / 3.
    assert parts.reliability == pytest.approx(plain.reliability - 1 / 15, rel=1e-13)


def test_omitted_rows_are_counted():
    parts = brier_decomposition([0, 1, 1], [0.25, math.nan, 0.75], nan_policy="omit")
    assert (parts.n, parts.n_omitted) == (2, 1)
    assert parts.score == 0.0625
    with pytest.raises(ValueError, match=r"y_proba has a missing value \(NaN\) at row 1"):
        brier_decomposition([0, 1, 1], [0.25, math.nan, 0.75], method="corp")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "brier"}, "method must be 'murphy' or 'corp', got 'brier'"),
        ({"method": "corp", "bias_corrected": True}, "bias_corrected needs method='murphy'"),
        ({"strategy": "width"}, "strategy must be 'uniform', 'quantile' or 'kmeans', got 'width'"),
        ({"n_bins": 0}, r"n_bins must lie in \[1, 1000000\], got 0"),
        ({"n_bins": [0.0, 0.5]}, "edges must cover"),
        ({"sample_weight": [0.0, 0.0]}, "weight 0"),
        (
            {"sample_weight": [0.5, 0.5], "bias_corrected": True},
            "bias_corrected needs at least two rows, or .* of at least 2, got 1",
        ),
    ],
)
def test_rejected_options(options, message):
    with pytest.raises(ValueError, match=message):
        brier_decomposition([0, 1], [0.25, 0.5], **options)


@pytest.mark.parametrize("method", ["murphy", "corp"])
def test_no_rows_are_rejected(method):
    with pytest.raises(ValueError, match="at least one row"):
        brier_decomposition([], [], method=method)


def test_results_are_frozen_and_plain():
    for parts in (brier_decomposition(*SIX), brier_decomposition(*SIX, method="corp")):
        assert isinstance(parts, BrierDecomposition)
        assert json.loads(json.dumps(parts.to_dict())) == parts.to_dict()
        with pytest.raises(dataclasses.FrozenInstanceError):
            parts.score = 0.0
    assert calibrant.scores.brier_decomposition is brier_decomposition
    assert isinstance(brier_decomposition(*SIX), MurphyDecomposition)
    assert isinstance(parts, CorpDecomposition)
