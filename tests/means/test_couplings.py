"""Couplings and powers, there and back."""

# ruff: noqa: E501 (tables: a line for a case)

from __future__ import annotations

import math

import pytest
from hypothesis import given, strategies as st

from calibrant import (
    coupling_to_power,
    power_to_coupling,
)

couplings = st.floats(-0.09, 1e3)


def test_the_two_conventions():
    assert coupling_to_power(0.5) == -2 / 3
    assert coupling_to_power(-1 / 3) == pytest.approx(1, rel=1e-15)
    assert coupling_to_power(-0.25, convention="shape") == pytest.approx(-2 / 3, rel=1e-15)
    assert coupling_to_power(1, convention="shape") == 1
    assert coupling_to_power(1, exponent=1) == -0.5


@given(
    k=couplings,
    d=st.integers(1, 10),
    a=st.sampled_from([1, 2]),
    convention=st.sampled_from(["score", "shape"]),
)
def test_coupling_and_back(k, d, a, convention):
    options = {"dimension": d, "exponent": a, "convention": convention}
    m = coupling_to_power(k, **options)
    # Towards m = -a/d, where k is infinite, m has ever fewer digits of k; so near k = -1/d.
    condition = (1 + d * abs(k)) * max(1, 1 / (1 + d * k))
    assert power_to_coupling(m, **options) == pytest.approx(k, rel=1e-14 * condition, abs=1e-300)
    other = {**options, "convention": "shape" if convention == "score" else "score"}
    assert coupling_to_power(k, **other) == -m
    assert power_to_coupling(-m, **other) == power_to_coupling(m, **options)


def test_the_dual_coupling():
    """k -> -k / (1 + k) is m -> -2m / (2 + m), and exchanges 1 and -2/3."""
    for m in (1, -2 / 3, 0.25):
        k = power_to_coupling(m)
        assert coupling_to_power(-k / (1 + k)) == pytest.approx(-2 * m / (2 + m), rel=1e-15)


def test_no_coupling():
    for convert in (coupling_to_power, power_to_coupling):
        for zero in (0, 0.0, -0.0):
            for convention in ("score", "shape"):
                assert math.copysign(1, convert(zero, convention=convention)) == 1


def test_huge_couplings():
    assert coupling_to_power(1e307) == -2
    assert coupling_to_power(1.7e308) == -2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: coupling_to_power(-1), r"coupling must be finite and exceed -1/dimension = -1.0, got -1"),
        (lambda: coupling_to_power(-0.1, dimension=10), r"exceed -1/dimension = -0.1, got -0.1"),
        (lambda: coupling_to_power(math.inf), r"coupling must be finite .* got inf"),
        (lambda: coupling_to_power(math.nan), r"coupling must be a number, got nan"),
        (lambda: coupling_to_power(1, dimension=0), r"dimension must be at least 1, got 0"),
        (lambda: coupling_to_power(1, exponent=-1), r"exponent must be positive and finite, got -1"),
        (lambda: coupling_to_power(1, exponent=math.nan), r"exponent must be a number, got nan"),
        (lambda: coupling_to_power(1, convention="paper"), r"convention must be 'score' or 'shape', got 'paper'"),
        (lambda: power_to_coupling(-2), r"power must be finite and exceed -2.0, got -2"),
        (lambda: power_to_coupling(2, convention="shape"), r"power must be finite and be below 2.0, got 2"),
        (lambda: power_to_coupling(math.inf), r"power must be finite .* got inf"),
        (lambda: power_to_coupling(1, dimension=0), r"dimension must be at least 1, got 0"),
        (lambda: power_to_coupling(1, exponent=0), r"exponent must be positive and finite, got 0"),
        (lambda: power_to_coupling(1, convention=None), r"convention must be 'score' or 'shape', got None"),
    ],
)  # fmt: skip
def test_couplings_out_of_range(call, message):
    with pytest.raises(ValueError, match=message):
        call()
