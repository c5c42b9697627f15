"""Labels of any kind and the columns that they name."""

# ruff: noqa: E501 (tables: a line for a case)

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from calibrant import (
    risk_profile,
    streaming,
)

P3 = [[0.5, 0.2, 0.3], [0.1, 0.7, 0.2], [0.25, 0.25, 0.5]]
BY_CODES = risk_profile([2, 0, 1], P3)

LABELS = {
    "strings": (["c", "a", "b"], ["a", "b", "c"]),
    "not sorted": (["b", "c", "a"], ["c", "a", "b"]),
    "of other lengths": (["long one", "", "b"], ["", "b", "long one"]),
    "objects": (np.array(["c", "a", "b"], object), ["a", "b", "c"]),
    "bytes": (np.array([b"c", b"a", b"b"]), np.array([b"a", b"b", b"c"])),
    "ints": ([30, -1, 7], [-1, 7, 30]),
    "uint8 and int64": (np.array([30, 1, 7], np.uint8), [1, 7, 30]),
    "floats": ([2.5, -1.0, 0.0], [-1.0, 0.0, 2.5]),
    "dates": (
        np.array(["2022", "2020", "2021"], "M8[Y]"),
        np.array(["2020", "2021", "2022"], "M8[D]"),
    ),
}


@pytest.mark.parametrize(("y_true", "labels"), LABELS.values(), ids=LABELS)
def test_labels_name_the_columns(y_true, labels):
    assert risk_profile(y_true, P3, labels=labels) == BY_CODES


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_labels_of_other_libraries(library):
    column = pytest.importorskip(library)
    make = column.array if library == "pyarrow" else column.Series
    assert risk_profile(make(["c", "a", "b"]), P3, labels=["a", "b", "c"]) == BY_CODES


def test_labels_of_a_binary_problem():
    expected = risk_profile([0, 1], [0.25, 0.75])
    assert risk_profile(["no", "yes"], [0.25, 0.75], labels=["no", "yes"]) == expected
    assert risk_profile(["no", "yes"], [0.75, 0.25], labels=["yes", "no"]) == expected
    assert risk_profile(["no", "yes"], [0.25, 0.75], pos_label="yes") == expected
    assert risk_profile([0, 1], [0.75, 0.25], pos_label=0) == expected
    assert risk_profile([-1, 1], [0.25, 0.75], pos_label=1) == expected
    assert risk_profile([False, True], [0.25, 0.75], pos_label=True) == expected
    assert risk_profile(["no", "yes"], [[0.75, 0.25], [0.25, 0.75]], pos_label="yes") == expected


def test_one_class_alone():
    assert risk_profile(["no", "no"], [0.25, 0.5], pos_label="yes") == risk_profile(
        [0, 0], [0.25, 0.5]
    )
    assert risk_profile(["yes"], [0.25], pos_label="yes") == risk_profile([1], [0.25])


def test_an_accumulator_takes_labels_too():
    total = streaming.RiskProfile()
    total.update(["c", "a"], P3[:2], labels=["a", "b", "c"])
    total.update(["b"], P3[2:], labels=["a", "b", "c"])
    assert total.result() == BY_CODES


MISSING_LABELS = {
    "NaN": [1.0, math.nan, 0.0],
    "None": np.array(["yes", None, "no"], object),
    "NaN among strings": np.array(["yes", math.nan, "no"], object),
    "NaT": np.array(["2021", "NaT", "2020"], "M8[Y]"),
}


@pytest.mark.parametrize("y_true", MISSING_LABELS.values(), ids=MISSING_LABELS)
def test_missing_labels(y_true):
    """Never taken for the other class."""
    p = [0.75, 0.5, 0.25]
    named_labels = {"pos_label": y_true[0]}, {"labels": [y_true[2], y_true[0]]}
    for options in named_labels:
        with pytest.raises(ValueError, match=r"y_true has a missing value \(NaN\) at row 1"):
            risk_profile(y_true, p, **options)
        result = risk_profile(y_true, p, nan_policy="omit", **options)
        assert result == dataclasses.replace(risk_profile([1, 0], [0.75, 0.25]), n_omitted=1)


def test_missing_labels_of_pandas():
    pandas = pytest.importorskip("pandas")
    y_true = pandas.Series(["yes", pandas.NA, "no"], dtype="string")
    result = risk_profile(y_true, [0.75, 0.5, 0.25], pos_label="yes", nan_policy="omit")
    assert (result.n, result.n_omitted) == (2, 1)


Y3 = ["a", "b", "c"]
BAD_LABELS = [
    (Y3, P3, {"labels": ["a", "b", "d"]}, ValueError, r"y_true must be one of labels, found 'c' at row 2"),
    ([0, 1, 5], P3, {"labels": [0, 1, 2]}, ValueError, r"one of labels, found 5 at row 2"),
    ([0, 1, 0.5], P3, {"labels": [0, 1, 2]}, ValueError, r"one of labels, found 0.5 at row 2"),
    (Y3, P3, {"labels": ["a", "b", "a"]}, ValueError, r"labels must be distinct, found 'a' twice"),
    (Y3, P3, {"labels": ["a"]}, ValueError, r"labels must list at least two classes, got \['a'\]"),
    (Y3, P3, {"labels": "abc"}, ValueError, r"labels must list at least two classes, got 'abc'"),
    (Y3, P3, {"labels": {"a", "b"}}, ValueError, r"labels must list at least two classes, got \{"),
    (Y3, P3, {"labels": [0, math.nan, 1]}, ValueError, r"labels must not be missing"),
    (["a", "b", "a"], P3, {"labels": ["a", "b"]}, ValueError, r"labels must name the 3 classes of y_proba, got 2"),
    (["a", "b", "a"], np.array(P3), {"labels": ["a", "b"]}, ValueError, r"name the 3 classes of y_proba, got 2"),
    (["a", "b"], [0.5, 0.5], {"labels": ["a", "b", "c"]}, ValueError, r"name the 2 classes of y_proba, got 3"),
    (["a", "b"], [[0.5, 0.5]] * 2, {"labels": ["a", "b", "c"]}, ValueError, r"name the 2 classes of y_proba, got 3"),
    ([1, 2], [0.5, 0.5], {"labels": ["1", "2"]}, TypeError, r"y_true and labels must be of one kind, got int64 and <U1"),
    (["1", "2"], [0.5, 0.5], {"labels": [1, 2]}, TypeError, r"must be of one kind, got <U1 and int64"),
    (np.array(["1", "2"], object), [0.5, 0.5], {"labels": [1, 2]}, TypeError, r"must be of one kind, got object and int64"),
    ([1, 2], [0.5, 0.5], {"labels": np.array([1, "a"], object)}, TypeError, r"must be of one kind"),
    (Y3, [0.5] * 3, {"pos_label": "a"}, ValueError, r"pos_label='a' and one other label, besides it found 'b' at row 1 and 'c' at row 2"),
    (np.array(["a", 1, "c", None], object), [0.5] * 4, {"pos_label": "a"}, ValueError, r"found 1 at row 1 and 'c' at row 2"),
    ([1, 1], [0.5, 0.5], {"pos_label": "1"}, TypeError, r"y_true and pos_label must be of one kind, got int64 and <U1"),
    ([0, 1], [[0.5, 0.2, 0.3]] * 2, {"pos_label": 1}, ValueError, r"pos_label is for two classes, y_proba has 3: pass labels"),
    (["a", "b"], [0.5, 0.5], {"labels": ["a", "b"], "pos_label": "a"}, ValueError, r"labels or pos_label, not both"),
    (np.ma.array([0, 1], mask=[0, 1]), [0.5, 0.5], {"pos_label": 1}, TypeError, r"y_true is a masked array"),
    (np.ma.array([0, 1], mask=[0, 1]), [0.5, 0.5], {"labels": [0, 1]}, TypeError, r"y_true is a masked array"),
    ([[0], [1, 0]], [0.5, 0.5], {"pos_label": 1}, TypeError, r"y_true must be a rectangular list of values, found shape"),
    ([[0], [1]], [0.5, 0.5], {"pos_label": 1}, ValueError, r"y_true must have shape \(n,\), got shape \(2, 1\)"),
    (None, [0.5], {"pos_label": 1}, TypeError, r"y_true must be an array of labels, got None"),
    (None, [0.5], {}, TypeError, r"y_true must be an array of labels, got None"),
    ([], [], {"labels": ["a", "b"]}, ValueError, r"at least one row"),
    ([], [], {"pos_label": "a"}, ValueError, r"at least one row"),
]  # fmt: skip


@pytest.mark.parametrize(("y_true", "y_proba", "options", "error", "message"), BAD_LABELS)
def test_labels_that_do_not_fit(y_true, y_proba, options, error, message):
    with pytest.raises(error, match=message):
        risk_profile(y_true, y_proba, **options)
