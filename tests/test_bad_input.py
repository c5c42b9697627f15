"""What every public function refuses, and how it says so: requirement, what was found, where."""

# ruff: noqa: E501 (tables: a line for a case)

from __future__ import annotations

import functools
import math
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import calibrant
from calibrant import set_num_threads, streaming

NAN, INF = math.nan, math.inf
ONE_MORE = math.nextafter(1.0, 2.0)

# Functions that take arrays, with arguments that are good.

pytestmark = pytest.mark.filterwarnings("ignore:.* bins are too many for .* rows")

GOOD = {
    "risk_profile": (
        calibrant.risk_profile,
        {"y_true": [0, 1, 1], "y_proba": [0.1, 0.7, 0.9], "sample_weight": [1.0, 2.0, 0.5]},
    ),
    "risk_profile of classes": (
        calibrant.risk_profile,
        {
            "y_true": [0, 2, 1],
            "y_proba": [[0.1, 0.2, 0.7], [0.3, 0.3, 0.4], [0.2, 0.7, 0.1]],
            "sample_weight": [1.0, 2.0, 0.5],
        },
    ),
    "streaming.RiskProfile": (
        lambda **rows: streaming.RiskProfile().update(**rows),
        {"y_true": [0, 1, 1], "y_proba": [0.1, 0.7, 0.9], "sample_weight": [1.0, 2.0, 0.5]},
    ),
    "assess": (
        calibrant.assess,
        {"y_true": [0, 1, 1], "y_proba": [0.1, 0.7, 0.9], "sample_weight": [1.0, 2.0, 0.5]},
    ),
    "assess, isotonic, of classes": (
        functools.partial(calibrant.assess, source="isotonic", per_class=True),
        {
            "y_true": [0, 2, 1],
            "y_proba": [[0.1, 0.2, 0.7], [0.3, 0.3, 0.4], [0.2, 0.7, 0.1]],
            "sample_weight": [1.0, 2.0, 0.5],
        },
    ),
    "streaming.Assessment": (
        lambda **rows: streaming.Assessment(4).update(**rows),
        {"y_true": [0, 1, 1], "y_proba": [0.1, 0.7, 0.9], "sample_weight": [1.0, 2.0, 0.5]},
    ),
    "brier_score": (
        calibrant.brier_score,
        {"y_true": [0, 1, 1], "y_proba": [0.1, 0.7, 0.9], "sample_weight": [1.0, 2.0, 0.5]},
    ),
    "log_score": (
        calibrant.log_score,
        {"y_true": [0, 1, 1], "y_proba": [0.1, 0.7, 0.9], "sample_weight": [1.0, 2.0, 0.5]},
    ),
    "spherical_score of classes": (
        calibrant.spherical_score,
        {
            "y_true": [0, 2, 1],
            "y_proba": [[0.1, 0.2, 0.7], [0.3, 0.3, 0.4], [0.2, 0.7, 0.1]],
            "sample_weight": [1.0, 2.0, 0.5],
        },
    ),
    "brier_skill_score": (
        calibrant.brier_skill_score,
        {"y_true": [0, 1, 1], "y_proba": [0.1, 0.7, 0.9], "sample_weight": [1.0, 2.0, 0.5]},
    ),
    "gini_impurity": (
        lambda **rows: calibrant.gini_impurity(**rows, n_classes=3),
        {"y_true": [0, 2, 1], "sample_weight": [1.0, 2.0, 0.5]},
    ),
    "streaming.Scores": (
        lambda **rows: streaming.Scores().update(**rows),
        {"y_true": [0, 1, 1], "y_proba": [0.1, 0.7, 0.9], "sample_weight": [1.0, 2.0, 0.5]},
    ),
    "streaming.PairedScores": (
        lambda **rows: streaming.PairedScores().update(**rows),
        {
            "y_true": [0, 2, 1],
            "first": [[0.1, 0.2, 0.7], [0.3, 0.3, 0.4], [0.2, 0.7, 0.1]],
            "second": [[0.1, 0.2, 0.7], [0.3, 0.3, 0.4], [0.2, 0.7, 0.1]],
            "sample_weight": [1.0, 2.0, 0.5],
        },
    ),
    "spiegelhalter_test": (
        calibrant.spiegelhalter_test,
        {"y_true": [0, 1, 1], "y_proba": [0.1, 0.7, 0.9], "sample_weight": [1.0, 2.0, 0.5]},
    ),
    "ks_test": (
        calibrant.ks_test,
        {"y_true": [0, 1, 1], "y_proba": [0.1, 0.7, 0.9], "sample_weight": [1.0, 2.0, 0.5]},
    ),
    "kuiper_test of classes": (
        lambda **rows: calibrant.kuiper_test(**rows, classes="per-class"),
        {
            "y_true": [0, 2, 1],
            "y_proba": [[0.1, 0.2, 0.7], [0.3, 0.3, 0.4], [0.2, 0.7, 0.1]],
            "sample_weight": [1.0, 2.0, 0.5],
        },
    ),
    "cumulative_differences": (
        calibrant.cumulative_differences,
        {"y_true": [0, 1, 1], "y_proba": [0.1, 0.7, 0.9], "sample_weight": [1.0, 2.0, 0.5]},
    ),
    "streaming.Spiegelhalter of classes": (
        lambda **rows: streaming.Spiegelhalter().update(**rows),
        {
            "y_true": [0, 2, 1],
            "y_proba": [[0.1, 0.2, 0.7], [0.3, 0.3, 0.4], [0.2, 0.7, 0.1]],
            "sample_weight": [1.0, 2.0, 0.5],
        },
    ),
    "brier_decomposition": (
        calibrant.brier_decomposition,
        {"y_true": [0, 1, 1], "y_proba": [0.1, 0.7, 0.9], "sample_weight": [1.0, 2.0, 0.5]},
    ),
    "brier_decomposition of classes, CORP": (
        lambda **rows: calibrant.brier_decomposition(**rows, method="corp"),
        {
            "y_true": [0, 2, 1],
            "y_proba": [[0.1, 0.2, 0.7], [0.3, 0.3, 0.4], [0.2, 0.7, 0.1]],
            "sample_weight": [1.0, 2.0, 0.5],
        },
    ),
    "expected_calibration_error": (
        calibrant.expected_calibration_error,
        {"y_true": [0, 1, 1], "y_proba": [0.1, 0.7, 0.9], "sample_weight": [1.0, 2.0, 0.5]},
    ),
    "smooth_calibration_error": (
        calibrant.smooth_calibration_error,
        {"y_true": [0, 1, 1], "y_proba": [0.1, 0.7, 0.9], "sample_weight": [1.0, 2.0, 0.5]},
    ),
    "roc_auc": (
        calibrant.roc_auc,
        {"y_true": [0, 1, 1], "y_proba": [0.1, 0.7, 0.9], "sample_weight": [1.0, 2.0, 0.5]},
    ),
    "roc_curve": (
        calibrant.roc_curve,
        {"y_true": [0, 1, 1], "y_proba": [0.1, 0.7, 0.9], "sample_weight": [1.0, 2.0, 0.5]},
    ),
    "accuracy_rejection_auc of classes": (
        calibrant.accuracy_rejection_auc,
        {
            "y_true": [0, 2, 1],
            "y_proba": [[0.1, 0.2, 0.7], [0.3, 0.3, 0.4], [0.2, 0.7, 0.1]],
            "sample_weight": [1.0, 2.0, 0.5],
        },
    ),
    "top_label_ece": (
        lambda **rows: calibrant.top_label_ece(**rows, strategy="quantile"),
        {
            "y_true": [0, 2, 1],
            "y_proba": [[0.1, 0.2, 0.7], [0.3, 0.3, 0.4], [0.2, 0.7, 0.1]],
            "sample_weight": [1.0, 2.0, 0.5],
        },
    ),
    "scorecard": (
        calibrant.scorecard,
        {"y_true": [0, 1, 1], "y_proba": [0.1, 0.7, 0.9], "sample_weight": [1.0, 2.0, 0.5]},
    ),
    "scorecard of classes, by groups": (
        lambda **rows: calibrant.scorecard(
            **rows, groups=["a", "b", "a"] if getattr(rows["y_true"], "size", 3) else []
        ),
        {
            "y_true": [0, 2, 1],
            "y_proba": [[0.1, 0.2, 0.7], [0.3, 0.3, 0.4], [0.2, 0.7, 0.1]],
            "sample_weight": [1.0, 2.0, 0.5],
        },
    ),
    "streaming.Reliability": (
        lambda **rows: streaming.Reliability().update(**rows),
        {"y_true": [0, 1, 1], "y_proba": [0.1, 0.7, 0.9], "sample_weight": [1.0, 2.0, 0.5]},
    ),
    "streaming.ScoreTable": (
        lambda **rows: streaming.ScoreTable().update(**rows),
        {"y_true": [0, 1, 1], "y_proba": [0.1, 0.7, 0.9], "sample_weight": [1.0, 2.0, 0.5]},
    ),
    "generalized_mean": (
        lambda **rows: calibrant.generalized_mean(**rows, m=-1),
        {"p": [0.1, 0.7, 0.9], "sample_weight": [1.0, 2.0, 0.5]},
    ),
    "mean_spectrum": (
        calibrant.mean_spectrum,
        {"p": [0.1, 0.7, 0.9], "sample_weight": [1.0, 2.0, 0.5]},
    ),
    "renyi_entropy": (lambda p: calibrant.renyi_entropy(p, 2), {"p": [0.5, 0.25, 0.25]}),
    "tsallis_entropy": (lambda p: calibrant.tsallis_entropy(p, 2), {"p": [0.5, 0.25, 0.25]}),
    "cross_entropy_probability": (
        calibrant.cross_entropy_probability,
        {"p": [0.5, 0.25, 0.25], "q": [0.25, 0.25, 0.5]},
    ),
    "cross_entropy_probability of events": (
        lambda **rows: calibrant.cross_entropy_probability(**rows, events=True),
        {"p": [0.5, 0.2, 0.2], "q": [0.3, 0.3, 0.5], "sample_weight": [1.0, 2.0, 0.5]},
    ),
}

PROBABILITIES = ("y_proba", "p", "q")


def last_value_is(value):
    """The last of the good values replaced; in a matrix the last of the last row."""

    def spoil(good):
        array = np.array(good, dtype=np.result_type(np.array(good), type(value)))
        array[(-1,) * array.ndim] = value
        return array

    return spoil


def cast(dtype):
    return lambda good: np.array(good).astype(dtype)


PLACE = r"at row 2(, column 2)?$"
MISSING = r"{0} has a missing value \(NaN\) at row 2"
KIND = r"{0} must hold (real numbers|integer class codes), got dtype "

# argument, how it is spoiled, error, message
SPOILED = [
    (PROBABILITIES, "NaN", last_value_is(NAN), ValueError, MISSING),
    (PROBABILITIES, "inf", last_value_is(INF), ValueError, r"{0} must lie in \[0, 1\], found inf " + PLACE),
    (PROBABILITIES, "-inf", last_value_is(-INF), ValueError, r"{0} must lie in \[0, 1\], found -inf " + PLACE),
    (PROBABILITIES, "-0.1", last_value_is(-0.1), ValueError, r"{0} must lie in \[0, 1\], found -0.1 " + PLACE),
    (PROBABILITIES, "-ulp", last_value_is(-5e-324), ValueError, r"{0} must lie in \[0, 1\], found -5e-324 " + PLACE),
    (PROBABILITIES, "1 + ulp", last_value_is(ONE_MORE), ValueError, r"{0} must lie in \[0, 1\], found 1.0000000000000002 " + PLACE),
    (PROBABILITIES, "float32", lambda good: last_value_is(1.1)(good).astype("f4"), ValueError, r"{0} must lie in \[0, 1\], found 1.1 " + PLACE),
    (PROBABILITIES, "ints", lambda good: last_value_is(2)(np.zeros_like(good, int)), ValueError, r"{0} must lie in \[0, 1\], found 2 " + PLACE),
    (("y_true",), "NaN", last_value_is(NAN), ValueError, MISSING),
    (("y_true",), "3", last_value_is(3), ValueError, r"y_true must be (0 or 1|an integer from 0 to 2), found 3 " + PLACE),
    (("y_true",), "-1", last_value_is(-1), ValueError, r"y_true must be .*, found -1 " + PLACE),
    (("y_true",), "0.5", last_value_is(0.5), ValueError, r"y_true must be .*, found 0.5 " + PLACE),
    (("y_true",), "inf", last_value_is(INF), ValueError, r"y_true must be .*, found inf " + PLACE),
    (("y_true",), "2^32 + 1", last_value_is(2**32 + 1), ValueError, r"y_true must be .*, found 4294967297 " + PLACE),
    (("y_true",), "2^64 - 1", lambda _: np.array([0, 1, 2**64 - 1], np.uint64), ValueError, r"found 18446744073709551615 " + PLACE),
    (("sample_weight",), "NaN", last_value_is(NAN), ValueError, MISSING),
    (("sample_weight",), "-1", last_value_is(-1.0), ValueError, r"sample_weight must be finite and not negative, found -1 " + PLACE),
    (("sample_weight",), "-ulp", last_value_is(-5e-324), ValueError, r"sample_weight must be .*, found -5e-324 " + PLACE),
    (("sample_weight",), "inf", last_value_is(INF), ValueError, r"sample_weight must be finite and not negative, found inf " + PLACE),
    (("sample_weight",), "negative int", last_value_is(-3), ValueError, r"sample_weight must be .*, found -3 " + PLACE),
    (None, "too short", lambda good: good[:-1], ValueError, r"must (have the same length, got (2 and 3|3 and 2)|sum to 1, got a sum of 0.)"),
    (None, "empty", lambda good: np.array(good)[:0], ValueError, r"must (have the same length, got (0 and 3|3 and 0)|sum to 1, got a sum of 0.0)"),
    (None, "0-d", lambda _: 0.5, ValueError, r"{0} must have shape \(n,\)( or \(n, k\))?, got shape \(\)"),
    (None, "3-d", lambda _: np.zeros((3, 2, 2)), ValueError, r"{0} must have shape \(n,\)( or \(n, k\))?, got shape \(3, 2, 2\)"),
    (("y_proba",), "(n, 1)", lambda _: np.full((3, 1), 0.5), ValueError, r"y_proba of shape \(n, k\) needs k >= 2 classes, got k = 1; pass shape \(n,\)"),
    (("y_proba",), "(n, 0)", lambda _: np.zeros((3, 0)), ValueError, r"needs k >= 2 classes, got k = 0"),
    (("y_true", "sample_weight", "p", "q"), "(n, 1)", lambda good: np.array(good)[:, None], ValueError, r"{0} must have shape \(n,\), got shape \(3, 1\)"),
    (None, "object", cast(object), TypeError, KIND + "object"),
    (None, "strings", cast(str), TypeError, KIND + "<U"),
    (None, "bytes", cast("S8"), TypeError, KIND + r"\|S8"),
    (None, "complex", cast(complex), TypeError, KIND + "complex128"),
    (None, "datetime", lambda good: np.zeros(np.shape(good), "M8[s]"), TypeError, KIND + "datetime64"),
    (None, "timedelta", lambda good: np.zeros(np.shape(good), "m8[s]"), TypeError, KIND + "timedelta64"),
    (None, "structured", lambda _: np.zeros(3, [("a", "f8")]), TypeError, KIND + r"\[\('a'"),
    (None, "long double", lambda good: np.zeros(np.shape(good), np.longdouble), TypeError, KIND + "float"),
    (None, "masked", np.ma.array, TypeError, r"{0} is a masked array, whose mask would be lost; pass {0}.filled"),
    (None, "ragged", lambda _: [[0.5], [0.5, 0.5], [0.5]], TypeError, r"{0} must be a rectangular list of real numbers"),
    (None, "a dict", lambda _: {"a": 1}, TypeError, r"{0} must be an array of real numbers, got dict"),
    (None, "a string", lambda _: "0.5", TypeError, r"{0} must be an array of real numbers, got str"),
    (("y_true", "y_proba", "p", "q"), "None", lambda _: None, TypeError, r"{0} must be an array of .*, got None"),
    (("sample_weight",), "all zero", lambda _: np.zeros(3), ValueError, r"(a (mean|score|scorecard|calibration error)|the (test|area under the .* curve)) needs a row with positive weight, all 3 have weight 0"),
]  # fmt: skip


def cases():
    for function, (call, good) in GOOD.items():
        for arguments, how, spoil, error, message in SPOILED:
            for argument in arguments or good:
                if argument not in good:
                    continue
                if how == "all zero" and "streaming" in function:
                    continue  # refused by result(), not by update()
                expected = message.format(argument)
                label = f"{function}-{argument}-{how}"
                yield pytest.param(call, good, argument, spoil, error, expected, id=label)


@pytest.mark.parametrize(("call", "good"), GOOD.values(), ids=GOOD)
def test_what_is_good(call, good):
    call(**good)


@pytest.mark.parametrize(("call", "good", "argument", "spoil", "error", "message"), list(cases()))
def test_what_is_refused(call, good, argument, spoil, error, message):
    with pytest.raises(error, match=message):
        call(**{**good, argument: spoil(good[argument])})


@pytest.mark.parametrize("name", GOOD)
def test_no_rows(name):
    call, good = GOOD[name]
    empty = {argument: np.array(values)[:0] for argument, values in good.items()}
    if "streaming" in name:
        call(**empty)  # a batch may be empty
        return
    with pytest.raises(ValueError, match=r"needs at least one row, got none|got a sum of 0\.0"):
        call(**empty)


@pytest.mark.parametrize("name", [name for name in GOOD if "entropy" not in name])
def test_nan_policy_is_one_of_two(name):
    call, good = GOOD[name]
    with pytest.raises(ValueError, match=r"nan_policy must be 'raise' or 'omit', got 'drop'"):
        call(**good, nan_policy="drop")


def test_an_accumulator_of_nothing_has_no_result():
    total = streaming.RiskProfile()
    with pytest.raises(ValueError, match="a mean needs at least one row, got none"):
        total.result()
    total.update([1, 0], [0.5, 0.5], sample_weight=[0, 0])
    with pytest.raises(
        ValueError, match="a mean needs a row with positive weight, all 2 have weight 0"
    ):
        total.result()
    total.update([1], [0.5])
    assert total.result().accuracy == 0.5


# The first bad row is named, wherever it is


@pytest.fixture(params=[1, 2, 7])
def any_threads(request, runtime_restored):  # noqa: ARG001
    set_num_threads(request.param)


for_any_threads = pytest.mark.usefixtures("any_threads")


N = 250_000  # enough for seven threads to be worth it
FIRST_BAD = [0, 1, 511, 512, 8191, 8192, 8193, 200_000, N - 1]


def good_rows(n_classes=None):
    rng = np.random.default_rng(0)
    return {
        "y_true": rng.integers(0, n_classes or 2, N).astype(float),
        "y_proba": rng.random(N if n_classes is None else (N, n_classes)),
        "sample_weight": rng.random(N),
    }


@for_any_threads
@pytest.mark.parametrize("n_classes", [None, 3])
@pytest.mark.parametrize("argument", ["y_true", "y_proba", "sample_weight"])
def test_the_first_bad_row_is_named(n_classes, argument):
    rows = good_rows(n_classes)
    total = streaming.RiskProfile()
    total.update([1, 1, 0], [0.5, 0.6, 0.7])
    before = total.to_bytes()
    for row in FIRST_BAD:
        spoiled = {**rows, argument: rows[argument].copy()}
        spoiled[argument][row:] = -3  # and all that come after
        column = ", column 0" if n_classes and argument == "y_proba" else ""
        message = (
            rf"{argument} must .* found -3 at row {row}{column} \(row {row + 3} of the stream\)$"
        )
        with pytest.raises(ValueError, match=message):
            total.update(**spoiled)
        assert total.to_bytes() == before


@for_any_threads
def test_the_first_bad_row_of_all_arguments_is_named():
    rows = good_rows()
    rows["y_true"][140_000] = 7
    rows["y_proba"][120_000] = 1.5
    rows["sample_weight"][120_001] = -1
    with pytest.raises(ValueError, match=r"y_proba must lie in \[0, 1\], found 1.5 at row 120000$"):
        calibrant.risk_profile(**rows)


def test_a_class_beside_the_true_one_is_checked_too():
    rows = good_rows(3)
    rows["y_true"][:] = 0
    rows["y_proba"][12_345, 2] = NAN
    with pytest.raises(
        ValueError, match=r"y_proba has a missing value \(NaN\) at row 12345, column 2"
    ):
        calibrant.risk_profile(**rows)


def test_omitted_rows_count_in_the_stream():
    total = streaming.RiskProfile()
    total.update([1, NAN, 0], [0.5, 0.5, NAN], nan_policy="omit")
    assert (total.n, total.n_omitted) == (1, 2)
    with pytest.raises(ValueError, match=r"at row 1 \(row 4 of the stream\)"):
        total.update([1, 1], [0.5, 1.5])


@pytest.mark.parametrize("n_classes", [None, 2, 3])
@pytest.mark.parametrize(
    "dtype", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", ">i4", "f2", "f4"]
)
def test_labels_of_any_type_are_checked(dtype, n_classes):
    """Common types have code of their own."""
    wrong = 254 if dtype.startswith("u") else -1
    y_proba = np.full(3 if n_classes is None else (3, n_classes), 0.5)
    with pytest.raises(ValueError, match=rf"y_true must be .*, found {wrong} at row 1$"):
        calibrant.risk_profile(np.array([0, wrong, 1]).astype(dtype), y_proba)


def test_any_byte_but_zero_is_true():
    y_true = np.array([2, 0, 255], np.uint8).view(bool)
    p = [0.5, 0.6, 0.7]
    assert calibrant.risk_profile(y_true, p) == calibrant.risk_profile([1, 0, 1], p)


# Missing values


@for_any_threads
@pytest.mark.parametrize("n_classes", [None, 3])
def test_omit_drops_and_counts(n_classes):
    rows = good_rows(n_classes)
    rng = np.random.default_rng(1)
    for column in rows.values():
        column[rng.random(column.shape) < 0.05] = NAN
    complete = ~np.any([np.isnan(c).reshape(N, -1).any(axis=1) for c in rows.values()], axis=0)
    result = calibrant.risk_profile(**rows, nan_policy="omit")
    kept = calibrant.risk_profile(**{name: column[complete] for name, column in rows.items()})
    assert (result.n, result.n_omitted) == (kept.n, N - kept.n)
    assert (result.decisiveness, result.accuracy, result.robustness) == (
        kept.decisiveness,
        kept.accuracy,
        kept.robustness,
    )


@pytest.mark.parametrize("argument", ["y_true", "y_proba", "sample_weight"])
def test_omit_still_refuses_bad_values(argument):
    rows = {"y_true": [NAN, 1.0], "y_proba": [NAN, 0.5], "sample_weight": [NAN, 1.0]}
    rows[argument] = [NAN, -3.0]
    with pytest.raises(ValueError, match=rf"{argument} must .* found -3 at row 1$"):
        calibrant.risk_profile(**rows, nan_policy="omit")


def test_omit_may_leave_nothing():
    with pytest.raises(ValueError, match="a mean needs at least one row, got none"):
        calibrant.generalized_mean([NAN, NAN], 1, nan_policy="omit")


def test_omit_without_anything_to_omit_changes_nothing():
    rows = good_rows()
    omitting, strict = streaming.RiskProfile(), streaming.RiskProfile()
    omitting.update(**rows, nan_policy="omit")
    strict.update(**rows)
    assert omitting.to_bytes() == strict.to_bytes()


@pytest.mark.parametrize("bits", [0x7FF0000000000001, 0xFFF8000000000000, 0x7FF8DEADBEEF0000])
def test_any_nan_is_missing(bits):
    p = np.array([0x3FE0000000000000, bits], np.uint64).view(float)
    for argument in ("y_true", "y_proba", "sample_weight"):
        rows = {"y_true": [1, 1], "y_proba": [0.5, 0.5], "sample_weight": [1, 1]}
        rows[argument] = p if argument == "y_proba" else np.where([True, False], 1.0, p)
        with pytest.raises(ValueError, match=rf"{argument} has a missing value \(NaN\) at row 1"):
            calibrant.risk_profile(**rows)
        assert calibrant.risk_profile(**rows, nan_policy="omit").n_omitted == 1


# A failed or interrupted update leaves everything as it was


def test_a_refused_sum_changes_nothing():
    total = streaming.RiskProfile(powers=[-(2.0**26)])
    total.update([1], [0.5])
    before = total.to_bytes()
    with pytest.raises(ValueError, match="too many powers of two apart"):
        total.update([1], [0.25])
    far = streaming.RiskProfile(powers=[-(2.0**26)])
    far.update([1], [0.25])
    with pytest.raises(ValueError, match="too many powers of two apart"):
        total.merge(far)
    assert total.to_bytes() == before


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="no signals to threads")
@pytest.mark.usefixtures("runtime_restored")
def test_ctrl_c_during_an_update_changes_nothing():
    set_num_threads(2)
    y = np.broadcast_to(np.int8(1), 2**38)  # hours of rows, of one byte
    p = np.broadcast_to(np.float64(0.3), 2**38)
    total = streaming.RiskProfile(powers=[2])
    total.update([1, 0], [0.5, 0.25])
    before = total.to_bytes()
    main = threading.main_thread().ident
    timer = threading.Timer(0.3, lambda: signal.pthread_kill(main, signal.SIGINT))
    timer.start()
    start = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        total.update(y, p)
    assert time.perf_counter() - start < 20  # 0.4 s on an idle machine
    timer.join()
    assert total.to_bytes() == before
    total.update([1], [0.5])
    assert total.n == 3


FORK = """
    import os
    import numpy as np
    from calibrant import set_num_threads, streaming

    y, p = np.tile([0, 1, 1], 20_000), np.linspace(0, 1, 60_000)

    def filled():
        total = streaming.RiskProfile(powers=[2])
        total.update(y, p)
        return total.to_bytes()

    set_num_threads(4)
    expected = filled()
    child = os.fork()
    if child == 0:
        os._exit(0 if filled() == expected else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert filled() == expected
    print("done")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_child_goes_on():
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", textwrap.dedent(FORK)]
    finished = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
    assert finished.stdout == "done\n", finished.stderr
