"""Entropies and cross-entropies against their definitions."""

# ruff: noqa: E501 (tables: a line for a case)

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, strategies as st

import reference
import strategies
from calibrant import (
    cross_entropy_probability,
    renyi_entropy,
    tsallis_entropy,
)

pytestmark = pytest.mark.kernels

INF = math.inf


@st.composite
def distributions(draw):
    """Multiples of 2^-20 that sum to 1 exactly, with zeros among them."""
    cuts = draw(st.lists(st.integers(0, 2**20), max_size=12))
    return np.diff([0, *sorted(cuts), 2**20]) / 2**20


ORDERS = (0, 0.25, 0.5, 1, 1.5, 2, 3, 10)


@given(p=distributions(), order=st.sampled_from(ORDERS) | st.floats(0, 20))
def test_entropies_against_the_definition(p, order):
    # Terms carry 2^-58 each, relative to numbers of size 1; entropies near 0 are differences.
    assert renyi_entropy(p, order) == pytest.approx(
        float(reference.renyi_entropy(p, order)), rel=4e-16, abs=2.0**-54
    )
    assert tsallis_entropy(p, order) == pytest.approx(
        float(reference.tsallis_entropy(p, order)), rel=4e-16, abs=2.0**-54
    )


@given(p=distributions())
def test_special_orders(p):
    support = np.count_nonzero(p)
    assert renyi_entropy(p, 0) == pytest.approx(math.log(support), rel=1e-15, abs=1e-16)
    assert tsallis_entropy(p, 0) == pytest.approx(support - 1, rel=1e-15, abs=1e-16)
    assert renyi_entropy(p, 1) == pytest.approx(scipy.stats.entropy(p), rel=1e-13, abs=1e-16)
    assert renyi_entropy(p, 1) == tsallis_entropy(p, 1)
    assert renyi_entropy(p, 2) == pytest.approx(-math.log(np.sum(p**2)), rel=1e-13, abs=1e-15)
    assert tsallis_entropy(p, 2) == pytest.approx(1 - np.sum(p**2), rel=1e-13, abs=1e-15)
    assert renyi_entropy(p, INF) == pytest.approx(-math.log(p.max()), rel=1e-15, abs=1e-16)


@pytest.mark.parametrize("n", [1, 2, 4, 1000, 1024])
@pytest.mark.parametrize("order", [*ORDERS, INF])
def test_entropy_of_uniform_distributions(n, order):
    p = np.full(n, 1 / n)
    assert renyi_entropy(p, order) == pytest.approx(math.log(n), rel=2e-16, abs=2e-16)
    if order not in (1, INF):
        assert tsallis_entropy(p, order) == pytest.approx(
            (n ** (1 - order) - 1) / (1 - order), rel=1e-14
        )


@pytest.mark.parametrize("step", [2.0**-52, -(2.0**-53), 1e-12, -1e-12, 1e-8, -1e-8, 1e-4])
def test_entropies_near_order_one(step):
    p = [0.5, 0.25, 0.125, 0.125]
    order = 1 + step
    assert renyi_entropy(p, order) == pytest.approx(
        float(reference.renyi_entropy(p, order)), rel=4e-16
    )
    assert tsallis_entropy(p, order) == pytest.approx(
        float(reference.tsallis_entropy(p, order)), rel=4e-16
    )


def test_entropy_of_a_certain_outcome_is_zero():
    for order in (*ORDERS, INF):
        assert math.copysign(1, renyi_entropy([0.0, 1.0, 0.0], order)) == 1  # 0.0, not -0.0
        assert renyi_entropy([0.0, 1.0, 0.0], order) == 0
    for order in ORDERS:
        assert math.copysign(1, tsallis_entropy([0.0, 1.0, 0.0], order)) == 1
        assert tsallis_entropy([0.0, 1.0, 0.0], order) == 0


def test_a_float32_distribution_is_one():
    p = np.random.default_rng(0).dirichlet(np.ones(2000)).astype(np.float32)
    assert renyi_entropy(p, 1) == pytest.approx(scipy.stats.entropy(p.astype(float)), rel=1e-6)


@pytest.mark.parametrize("entropy", [renyi_entropy, tsallis_entropy])
@pytest.mark.parametrize(
    ("p", "order", "error", "message"),
    [
        ([0.5, 0.4], 1, ValueError, r"p must sum to 1, got a sum of 0.9"),
        ([], 1, ValueError, r"p must sum to 1, got a sum of 0.0"),
        ([1.5, -0.5], 1, ValueError, r"p must lie in \[0, 1\], found 1.5 at row 0"),
        ([0.5, math.nan], 1, ValueError, r"p has a missing value \(NaN\) at row 1"),
        ([[0.5, 0.5]], 1, ValueError, r"p must have shape \(n,\), got shape \(1, 2\)"),
        ([0.5, 0.5], -0.1, ValueError, r"order must be infinite or lie in \[0, 2\^26\], got -0.1"),
        ([0.5, 0.5], math.nan, ValueError, r"order must be .* got nan"),
        ([0.5, 0.5], 1e9, ValueError, r"order must be .* got 1000000000.0"),
        ([0.5, 0.5], "1", TypeError, r"order must be a real number, got '1'"),
        ([0.5, 0.5], None, TypeError, r"order must be a real number, got None"),
    ],
)
def test_what_entropies_reject(entropy, p, order, error, message):
    with pytest.raises(error, match=message):
        entropy(p, order)


def test_tsallis_needs_a_finite_order():
    with pytest.raises(ValueError, match=r"order must be finite, got inf"):
        tsallis_entropy([0.5, 0.5], INF)


# Cross-entropy


@given(p=distributions(), q=distributions())
def test_cross_entropy_of_two_distributions(p, q):
    size = max(len(p), len(q))
    p, q = np.pad(p, (0, size - len(p))), np.pad(q, (0, size - len(q)))
    result = cross_entropy_probability(p, q)
    for computed, true in zip(
        result, reference.cross_entropy_probability(p, q, weights=p), strict=True
    ):
        assert reference.within_an_ulp(computed, true)
    assert result.divergence <= 1  # Gibbs
    assert result.model == pytest.approx(result.source * result.divergence, rel=4e-16)


@given(
    rows=st.lists(
        st.tuples(strategies.positive_probabilities, strategies.probabilities),
        min_size=1,
        max_size=20,
    )
)
def test_cross_entropy_of_events(rows):
    p, q = zip(*rows, strict=True)
    result = cross_entropy_probability(p, q, events=True)
    model, source, divergence = reference.cross_entropy_probability(p, q, [1] * len(p))
    assert reference.within_an_ulp(result.model, model)
    assert reference.within_an_ulp(result.source, source)
    if divergence < 1e308:
        assert reference.within_an_ulp(result.divergence, divergence)
    else:
        assert result.divergence > 1e307


@given(p=distributions(), rows=st.lists(strategies.positive_probabilities, min_size=1, max_size=9))
def test_no_divergence_from_itself(p, rows):
    assert cross_entropy_probability(p, p).divergence == 1
    assert cross_entropy_probability(rows, rows, events=True).divergence == 1


def test_what_the_model_holds_impossible():
    assert tuple(cross_entropy_probability([0.5, 0.5], [1.0, 0.0])) == (0.0, 0.5, 0.0)
    assert tuple(cross_entropy_probability([0.5, 0.5], [1.0, 0.0], events=True)) == (0.0, 0.5, 0.0)


def test_what_the_source_holds_impossible():
    # Without weight it does not matter; as an event it cannot have happened.
    assert tuple(cross_entropy_probability([1.0, 0.0], [0.5, 0.5])) == (0.5, 1.0, 0.5)
    with pytest.raises(ValueError, match="p must be positive for what happened, found 0"):
        cross_entropy_probability([1.0, 0.0], [0.5, 0.5], events=True)
    weighted = cross_entropy_probability([1.0, 0.0], [0.5, 0.5], events=True, sample_weight=[1, 0])
    assert tuple(weighted) == (0.5, 1.0, 0.5)


def test_weighted_events_are_repeated_events():
    weighted = cross_entropy_probability([0.5, 0.3], [0.6, 0.2], events=True, sample_weight=[2, 1])
    repeated = cross_entropy_probability([0.5, 0.5, 0.3], [0.6, 0.6, 0.2], events=True)
    assert weighted == repeated


@pytest.mark.parametrize(
    ("p", "q", "options", "message"),
    [
        ([0.5, 0.5], [1.0], {}, r"p and q must have the same length, got 2 and 1"),
        ([0.5, 0.5], [1.0], {"events": True}, r"p and q must have the same length, got 2 and 1"),
        ([0.5, 0.5], [0.5, 0.6], {}, r"q must sum to 1, got a sum of 1.1"),
        ([0.5, 0.6], [0.5, 0.5], {}, r"p must sum to 1, got a sum of 1.1"),
        ([0.5], [1.5], {"events": True}, r"q must lie in \[0, 1\], found 1.5 at row 0"),
        ([], [], {"events": True}, r"at least one row, got none"),
        ([0.5], [0.5], {"events": True, "sample_weight": [0]}, r"positive weight, all 1 have weight 0"),
        ([0.5], [0.5], {"events": True, "sample_weight": [1, 1]}, r"p and sample_weight must have the same length"),
        ([1.0], [1.0], {"sample_weight": [1]}, r"sample_weight needs events=True"),
    ],
)  # fmt: skip
def test_what_cross_entropy_rejects(p, q, options, message):
    with pytest.raises(ValueError, match=message):
        cross_entropy_probability(p, q, **options)
