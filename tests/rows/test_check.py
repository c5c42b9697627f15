"""What is said about bad values: the requirement, the value as given, and the place."""

import re
from decimal import Decimal

import numpy as np
import pytest

from calibrant._core import _testing as core


def says(message):
    return pytest.raises(ValueError, match=f"^{re.escape(message)}$")


def test_probability():
    with says("y_proba must lie in [0, 1], found 1.0000001 at row 1"):
        core.reject_probability([0.5, 1.0000001], 1)


def test_float32_is_printed_with_its_own_digits():
    with says("y_proba must lie in [0, 1], found 1.1 at row 0"):
        core.reject_probability(np.float32([1.1]), 0)


def test_place_in_a_matrix():
    with says("y_proba must lie in [0, 1], found -inf at row 1, column 2"):
        core.reject_probability([[0, 0, 0], [0, 0, -np.inf]], 1, 2)


def test_place_in_a_stream():
    with says("y_proba must lie in [0, 1], found 2 at row 0 (row 1000017 of the stream)"):
        core.reject_probability([2.0], 0, rows_before=1000017)


def test_missing_probability():
    remedy = 'pass nan_policy="omit" to drop and count such rows'
    with says(f"y_proba has a missing value (NaN) at row 1; {remedy}"):
        core.reject_probability([0.5, np.nan], 1)


@pytest.mark.parametrize(("value", "text"), [(-1.0, "-1"), (np.inf, "inf")])
def test_weight(value, text):
    with says(f"sample_weight must be finite and not negative, found {text} at row 2"):
        core.reject_weight(value, 2)


def test_missing_weight():
    with pytest.raises(ValueError, match=r"sample_weight has a missing value \(NaN\) at row 2"):
        core.reject_weight(np.nan, 2)


def test_not_finite():
    with says("intervals must be finite, found inf at row 2"):
        core.reject_not_finite(np.inf, 2)
    with pytest.raises(ValueError, match=r"intervals has a missing value \(NaN\)"):
        core.reject_not_finite(np.nan, 2)


@pytest.mark.parametrize(
    ("labels", "n_classes", "message"),
    [
        ([0, 2], 2, "y_true must be 0 or 1, found 2 at row 1"),
        ([0, -1], 5, "y_true must be an integer from 0 to 4, found -1 at row 1"),
        ([0, 0.5], 2, "y_true must be 0 or 1, found 0.5 at row 1"),
        ([0, 2**63], 2, "y_true must be 0 or 1, found 9223372036854775808 at row 1"),
        ([False, True], 1, "y_true must be 0, found True at row 1"),
    ],
)
def test_label(labels, n_classes, message):
    # Python would make doubles of 0 and 2**63.
    y = np.array(labels, np.uint64) if max(labels) > 2**62 else labels
    with says(message):
        core.reject_label(y, 1, n_classes)


@pytest.mark.parametrize("nan", [np.nan, -np.nan])
def test_missing_label(nan):
    with pytest.raises(
        ValueError, match=r"^y_true has a missing value \(NaN\) at row 1; pass nan_"
    ):
        core.reject_label([0.0, nan], 1, 2)


def test_lengths():
    core.require_same_length(5, 5)
    with says("y_true and y_proba must have the same length, got 5 and 7"):
        core.require_same_length(5, 7)


@pytest.mark.parametrize("dtype", ["f", "d", ">f", ">d"])
def test_floats_are_printed_as_short_as_they_can_be(dtype):
    x = np.random.default_rng(3).integers(0, 256, 8000, dtype=np.uint8).view(dtype)
    x = x[np.isfinite(x)]
    for row, value in enumerate(x):
        text = core.value_text(x, row)
        assert x.dtype.type(text) == value
        # NumPy's are the fewest digits; written out, a number may be shorter for all that.
        assert len(text) <= len(np.format_float_scientific(value, trim="-", exp_digits=2))


def significant_digits(text):
    return len(Decimal(text).normalize().as_tuple().digits)


def test_halves_are_printed_with_the_fewest_digits():
    x = np.arange(0, 2**16, 7, dtype=np.uint16).view(np.float16)
    x = np.concatenate([x[np.isfinite(x)], np.float16(2.0) ** np.arange(-24, 16)])
    for row, value in enumerate(x):
        text = core.value_text(x, row)
        assert np.float16(text) == value
        assert significant_digits(text) <= significant_digits(np.format_float_scientific(value))
