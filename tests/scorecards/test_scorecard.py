"""The scorecard: the numbers of the single functions, what is undefined, how it looks, streams."""

# ruff: noqa: E501 (tables: a line for a case)

from __future__ import annotations

import dataclasses
import json
import math
import struct
from fractions import Fraction
from statistics import NormalDist

import mpmath
import numpy as np
import pytest
from hypothesis import given

import calibrant
import reference
import strategies
from calibrant import Estimate, scorecard, streaming
from calibrant._core import _testing
from calibrant.scorecards._table import ROWS
from cards import binary, check_stream, classes
from score_cells import of_whole_cells

pytestmark = pytest.mark.kernels

# The same bits as the functions for one number


@pytest.mark.parametrize("n_classes", [None, 2, 3, 40])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("q_lim", [0.0, 0.01])
def test_same_bits_as_the_single_functions(n_classes, weighted, q_lim):
    y, p = strategies.nasty_table(3000, n_classes=n_classes)
    w = np.random.default_rng(1).choice([0.0, 0.5, 1.0, 3.0, 1e-30], len(y)) if weighted else None
    how = {"sample_weight": w, "multi_class": "top_label"}
    card = scorecard(y, p, q_lim=q_lim, n_bins=7, **how)
    profile = calibrant.risk_profile(y, p, q_lim=q_lim, **how)
    for name in ("decisiveness", "accuracy", "robustness"):
        assert getattr(card, name).value == getattr(profile, name)
    assert card.brier.value == calibrant.brier_score(y, p, **how)
    assert card.log.value == calibrant.log_score(y, p, q_lim=q_lim, **how)
    assert card.spherical.value == calibrant.spherical_score(y, p, **how)
    assert card.brier_skill.value == calibrant.brier_skill_score(y, p, **how)
    if n_classes is None:
        ece = calibrant.expected_calibration_error(y, p, n_bins=7, sample_weight=w)
    else:
        ece = calibrant.top_label_ece(y, p, average="pooled", n_bins=7, sample_weight=w)
    assert card.ece.value == ece
    if n_classes is None:
        assert card.mce.value == calibrant.maximum_calibration_error(
            y, p, n_bins=7, sample_weight=w
        )
    frequencies = calibrant.optimal_constant(y, n_classes=n_classes, sample_weight=w)
    assert [f.value for f in card.class_frequencies] == frequencies.tolist()
    assert card.base_rate.value == (frequencies[1] if n_classes is None else frequencies.max())


@given(strategies.tables(min_rows=1))
def test_brier_log_and_risk_of_nasty_rows(table):
    y, p, w = table
    if w is not None and not w.any():
        return
    card = scorecard(y, p, sample_weight=w)
    assert card.brier.value == calibrant.brier_score(y, p, sample_weight=w)
    assert card.log.value == calibrant.log_score(y, p, sample_weight=w)
    assert card.robustness.value == calibrant.risk_profile(y, p, sample_weight=w).robustness
    for _, estimate in card:
        assert (estimate.value is None) <= bool(estimate.reason)
        if estimate.low is not None:
            assert estimate.low <= estimate.high


def powers_of_two_from(ends, rng, n):
    """Scores at all distances from some ends, to far below what the kernels' grids resolve."""
    distances = 2.0 ** -rng.integers(1, 120, n) * rng.random(n)
    at = rng.choice(ends, n)
    return np.where(at > 0.5, at - distances, at + distances).clip(0, 1)


@pytest.mark.parametrize("n_bins", [1, 15])
@pytest.mark.parametrize("name", ["uniform", "near 0 and 1", "near 1/2", "ties", "0 and 1"])
def test_rows_without_weights_are_rows_of_weight_one(name, n_bins):
    """The former have kernels of their own, which leave what is too small to the general way."""
    rng, n = np.random.default_rng(5), 9001
    p = {
        "uniform": rng.random(n),
        "near 0 and 1": powers_of_two_from([0.0, 1.0], rng, n),
        "near 1/2": powers_of_two_from([0.5], rng, n),
        "ties": rng.integers(0, 5, n) / 4,
        "0 and 1": rng.integers(0, 2, n).astype(float),
    }[name]
    y = rng.integers(0, 2, n)
    without, ones = (streaming.Scorecard(n_bins=n_bins) for _ in range(2))
    without.update(y, p)
    ones.update(y, p, sample_weight=np.ones(n))
    assert without.to_bytes() == ones.to_bytes()


def test_no_interval_ends_before_it_begins():
    """The basic bootstrap may push both ends beyond 1."""
    card = scorecard([0, 0], [0.7071067811865476, 0.0], sample_weight=[0.03125, 2.0])
    assert card.mce.low <= card.mce.high


# Worked examples, in exact fractions


def murphy(card):
    return card.brier, card.reliability, card.resolution, card.uncertainty, card.brier_skill


@pytest.mark.parametrize("weighted", [False, True])
def test_parts_are_those_of_the_decomposition(weighted):
    y, p = binary(2000)
    w = np.random.default_rng(2).integers(0, 4, len(y)) if weighted else None
    card = scorecard(y, p, n_bins=11, sample_weight=w)
    parts = calibrant.brier_decomposition(y, p, n_bins=11, sample_weight=w)
    for found, part in [
        (card.brier, parts.score),
        (card.reliability, parts.reliability),
        (card.resolution, parts.resolution),
        (card.uncertainty, parts.uncertainty),
    ]:
        assert found.value == pytest.approx(part, rel=1e-14)
    test = calibrant.spiegelhalter_test(y, p, sample_weight=w)
    assert card.spiegelhalter_z.value == pytest.approx(test.statistic, rel=1e-13)


def test_worked_example_of_three_values():
    p = [0.1] * 4 + [0.5] * 4 + [0.9] * 2
    card = scorecard([0, 0, 0, 1, 1, 0, 0, 1, 1, 1], p, n_bins=3)
    expected = (
        Fraction(93, 500),
        Fraction(11, 1000),
        Fraction(3, 40),
        Fraction(1, 4),
        Fraction(32, 125),
    )
    assert [x.value for x in murphy(card)] == pytest.approx([float(x) for x in expected], rel=1e-14)
    brier, rel, res, unc, _ = (x.value for x in murphy(card))
    assert rel - res + unc == pytest.approx(brier, rel=1e-14)  # one forecast per bin


def test_worked_example_of_two_bins():
    card = scorecard([0, 0, 1, 0, 1, 1], [0.1, 0.3, 0.4, 0.6, 0.8, 0.9], n_bins=2)
    expected = (
        Fraction(29, 200),
        Fraction(13, 1800),
        Fraction(1, 36),
        Fraction(1, 4),
        Fraction(21, 50),
    )
    assert [x.value for x in murphy(card)] == pytest.approx([float(x) for x in expected], rel=1e-14)
    assert card.hit_rate.value == 4 / 6


def test_worked_example_of_three_classes():
    p = [[0.7, 0.2, 0.1], [0.2, 0.5, 0.3], [0.1, 0.3, 0.6], [0.4, 0.4, 0.2]]
    card = scorecard([0, 1, 2, 1], p)
    assert card.brier.value == pytest.approx(67 / 200, rel=1e-14)
    assert card.brier_skill.value == pytest.approx(58 / 125, rel=1e-14)
    assert card.hit_rate.value == 0.75  # of equals, the first class is the top label
    assert card.base_rate.value == 0.5
    assert [f.value for f in card.class_frequencies] == [0.25, 0.5, 0.25]


def test_one_half_is_taken_for_class_1():
    assert scorecard([1, 1, 0], [0.5, 0.4, 0.5]).hit_rate.value == 1 / 3
    assert scorecard([1, 1, 0], [[0.5, 0.5], [0.6, 0.4], [0.5, 0.5]]).hit_rate.value == 1 / 3


def spiegelhalter(scores, hits, weights):
    rows = [
        (Fraction(s), int(h), Fraction(w)) for s, h, w in zip(scores, hits, weights, strict=True)
    ]
    top = sum(w * (h - s) * (1 - 2 * s) for s, h, w in rows)
    square = sum(w * (1 - 2 * s) ** 2 * s * (1 - s) for s, _, w in rows)
    return float(mpmath.mpf(top.numerator) / top.denominator / mpmath.sqrt(float(square)))


@pytest.mark.parametrize("n_classes", [None, 4])
@pytest.mark.parametrize("weighted", [False, True])
def test_spiegelhalter_by_definition(n_classes, weighted):
    y, p = binary(500) if n_classes is None else classes(500, n_classes)
    w = np.random.default_rng(5).integers(0, 4, 500) / 8 if weighted else np.ones(500)
    scores = p if n_classes is None else p.max(axis=1)
    hits = y if n_classes is None else p.argmax(axis=1) == y
    card = scorecard(y, p, sample_weight=w if weighted else None)
    z = spiegelhalter(scores.tolist(), hits.tolist(), w.tolist())
    assert card.spiegelhalter_z.value == pytest.approx(z, rel=1e-13)
    assert card.spiegelhalter_pvalue.value == pytest.approx(2 * NormalDist().cdf(-abs(z)), rel=1e-9)


# What is undefined


def test_undefined_numbers_say_why():
    card = scorecard([0, 0, 0], [0.0, 1.0, 0.5])
    assert card.brier_skill == Estimate(
        None, None, None, "none",
        "all rows are of one class, so no forecast can do better than the best constant",
    )  # fmt: skip
    assert card.spiegelhalter_z.value is None
    assert card.spiegelhalter_pvalue.reason == card.spiegelhalter_z.reason != ""
    assert (card.log.value, card.accuracy.value) == (math.inf, 0.0)
    assert card.log.low is None
    assert "q_lim" in card.log.reason
    text = repr(card)
    assert "undefined" in text
    assert "Brier skill: all rows are of one class" in text
    assert "nan" not in (text + card._repr_html_()).lower()


def test_certain_bounds_are_told_from_confidence_intervals():
    total = streaming.Scorecard()
    of_whole_cells(total).update(*binary(1000))
    lines = {line.split("  ")[1]: line for line in repr(total.result()).splitlines()[1:]}
    assert total.result().ks.method == "certified"
    assert " to " not in lines["KS"]  # its ends look alike
    wide = dataclasses.replace(total.result(), ks=Estimate(1.5, 1.5, 1.75, "certified"))
    assert "1.50000  surely 1.50000 to 1.75000  0 is" in repr(wide)
    hints = [row[1] for row in ROWS.values()]
    starts = {
        line.index(hint)
        for hint, line in zip(hints, repr(wide).splitlines()[1 : 1 + len(hints)], strict=True)
    }
    assert len(starts) == 1


def test_p_values_too_small_for_a_double_are_not_shown_as_zero():
    card = scorecard([0] * 4000, [0.9] * 4000)
    assert card.ks_pvalue.value == 0.0
    assert repr(card).count("p-value         < 1e-300                      small") == 3
    assert "&lt; 1e-300" in card._repr_html_()


def test_one_row_has_no_interval():
    card = scorecard([1], [0.75])
    assert card.brier == Estimate(
        0.0625, None, None, "none",
        "too few rows: an interval needs the weight of two, got 1; weights count as repetitions",
    )  # fmt: skip
    assert card.hit_rate.low > 0
    twice = scorecard([1], [0.75], sample_weight=[2]).brier
    assert twice.low < 0.0625 < twice.high


@pytest.mark.parametrize("scale", [2.0**-1074, 1e-300, 1e300, 1.7e308])
def test_weights_of_any_size(scale):
    y, p = binary(50)
    card = scorecard(y, p, sample_weight=np.full(50, scale))
    assert card.brier.value == scorecard(y, p).brier.value
    assert 0 <= card.hit_rate.low <= card.hit_rate.value <= card.hit_rate.high <= 1
    json.dumps(card.to_dict(), allow_nan=False)


def test_no_rows():
    with pytest.raises(ValueError, match="a scorecard needs at least one row, got none"):
        scorecard([], [])
    with pytest.raises(ValueError, match="all 2 have weight 0"):
        scorecard([0, 1], [0.5, 0.5], sample_weight=[0, 0])
    with pytest.raises(ValueError, match="at least one row"):
        streaming.Scorecard().result()


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"confidence_level": 1.0}, ValueError, "confidence_level must lie strictly between 0 and 1"),
        ({"confidence_level": math.nan}, ValueError, "strictly between 0 and 1, got nan"),
        ({"confidence_level": "95%"}, TypeError, "confidence_level must be a real number, got '95%'"),
        ({"n_bins": 0}, ValueError, r"n_bins must lie in \[1, 1000000\], got 0"),
        ({"n_bins": 2.5}, TypeError, "n_bins must be an integer, got 2.5"),
        ({"q_lim": 0.5}, ValueError, "q_lim must satisfy 0 <= q_lim < 0.5, got 0.5"),
        ({"q_lim": None}, TypeError, "q_lim must be a real number, got None"),
        ({"groups": ["a"]}, ValueError, "groups and y_proba must have the same length, got 1 and 2"),
        ({"groups": np.eye(2)}, ValueError, r"groups must have shape \(n,\), got shape \(2, 2\)"),
        ({"groups": ["a", {}]}, TypeError, "keys that can be hashed, found {} at row 1"),
        ({"nan_policy": "drop"}, ValueError, "nan_policy"),
    ],
)  # fmt: skip
def test_wrong_arguments(arguments, error, message):
    with pytest.raises(error, match=message):
        scorecard([0, 1], [0.25, 0.5], **arguments)


# How it looks


def test_table_and_iteration():
    card = scorecard(*binary(1000))
    lines = repr(card).splitlines()
    assert lines[0] == "Scorecard of 1000 rows, 95% intervals"
    assert len(lines) == 1 + len(dict(card)) == 22
    assert dict(card)["brier"] is card.brier
    assert len({line.index(" to ") for line in lines if " to " in line}) == 1
    page = card._repr_html_()
    assert page.count("<tr") == page.count("</tr>") == 22
    assert "http" not in page


def test_to_dict_is_json():
    card = scorecard(
        [0, 0, 0, 1], [0.0, 1.0, 0.5, 0.25], groups=["x", "y", ("z", 1), None], nan_policy="omit"
    )
    back = json.loads(json.dumps(card.to_dict(), allow_nan=False))
    assert back["log"]["value"] == "inf"
    assert float(back["log"]["value"]) == math.inf
    assert back["brier"]["value"] == card.brier.value
    assert [group["key"] for group in back["groups"]] == ["x", "y", "('z', 1)"]
    assert back["n_omitted"] == 1


def test_html_escapes_keys():
    page = scorecard([0, 1], [0.5, 0.5], groups=["<b>", "&"])._repr_html_()
    assert "<b>" not in page
    assert "&lt;b&gt;" in page


# In a stream


def test_stream_in_pieces_is_the_whole():
    y, p = binary(5000)
    total = streaming.Scorecard(n_bins=9, q_lim=1e-6)
    for begin in range(0, 5000, 700):
        total.update(y[begin : begin + 700], p[begin : begin + 700])
    whole = scorecard(y, p, n_bins=9, q_lim=1e-6, confidence_level=0.8)
    check_stream(total.result(confidence_level=0.8), whole)
    assert repr(total) == "streaming.Scorecard(n=5000, n_bins=9, q_lim=1e-06)"


def test_shapes_and_parameters_must_agree():
    total = streaming.Scorecard()
    total.update([0], [0.5])
    before = total.to_bytes()
    with pytest.raises(
        ValueError, match=r"y_proba must keep its shape: \(n,\) so far, now \(n, 3\)"
    ):
        total.update([0], [[0.5, 0.25, 0.25]])
    with pytest.raises(ValueError, match="with 3 bins into one with 15"):
        total.merge(streaming.Scorecard(n_bins=3))
    with pytest.raises(ValueError, match=r"q_lim 0.1 into one with q_lim 0$"):
        total.merge(streaming.Scorecard(q_lim=0.1))
    assert total.to_bytes() == before


def test_golden_layout():
    total = streaming.Scorecard(n_bins=1)
    total.update([1, 0], [0.5, 0.25])
    state = total.to_bytes()
    assert struct.unpack_from("<QdQQQQ", state, 20) == (1, 0.0, 1, 2, 0, 0)
    assert struct.unpack_from("<QBqQI", state, 68) == (1, 0, 0, 1, 1)  # a miss of weight 1


@pytest.mark.every_isa
@pytest.mark.usefixtures("runtime_restored")
def test_intervals_on_every_instruction_set_and_number_of_threads():
    y, p = binary(30_000)
    found = set()
    for isa in calibrant.config.config()["available_isas"]:
        _testing.set_isa(isa)
        for threads in (1, 2, 5):
            calibrant.set_num_threads(threads)
            found.add(json.dumps(scorecard(y, p, n_bins=500).to_dict()))
    assert len(found) == 1


def test_reference_agrees_on_nasty_rows():
    y, p = strategies.nasty_table(300)
    w = np.random.default_rng(2).choice([0.0, 1.0, 2.5], 300)
    card = scorecard(y, p, sample_weight=w)
    assert card.brier.value == pytest.approx(float(reference.brier_score(y, p, w)), rel=1e-15)


# Estimates are numbers


def test_an_estimate_behaves_like_a_number():
    brier = scorecard([1, 0, 1], [0.75, 0.25, 0.5]).brier
    assert (float(brier), f"{brier:.3f}", f"{brier:>8.2%}") == (0.125, "0.125", "  12.50%")
    assert (round(brier, 2), round(brier)) == (0.12, 0)
    assert brier < 0.2
    assert brier <= 0.125
    assert brier > 0.1
    assert brier >= np.float32(0.125)
    assert brier == 0.125
    assert brier != 0.25
    assert hash(brier) == hash(0.125)
    assert np.asarray([brier], float).tolist() == [0.125]
    assert max(brier, Estimate(0.5, None, None, "none")).value == 0.5
    assert brier == dataclasses.replace(brier)
    assert brier != dataclasses.replace(brier, low=0.0)
    assert f"{brier}" == repr(brier)
    with pytest.raises(TypeError, match="not supported"):
        _ = brier < "0.2"


def test_an_undefined_estimate_says_why():
    auc = scorecard([1, 1], [0.75, 0.5]).auc
    for use in (float, round, "{:.3f}".format, lambda x: x < 0.5, lambda x: x >= x):
        with pytest.raises(ValueError, match="the estimate is undefined: there are no pairs"):
            use(auc)
    assert auc != 0.5
    assert f"{auc}" == repr(auc)
