"""Generalized means, risk profiles and entropies against their definitions."""

# ruff: noqa: E501 (tables: a line for a case)

from __future__ import annotations

import dataclasses
import itertools
import json
import math
import pickle

import numpy as np
import pytest
import scipy.stats
from hypothesis import assume, given
from hypothesis import strategies as st

import calibrant
import reference
import strategies
from calibrant import (
    coupling_to_power,
    cross_entropy_probability,
    generalized_mean,
    mean_spectrum,
    power_to_coupling,
    renyi_entropy,
    risk_profile,
    streaming,
    tsallis_entropy,
)

BAR = (1.0, 0.0, -2 / 3, 2.0, -1.0, 0.5)
INF = math.inf


def named(result):
    return result.decisiveness, result.accuracy, result.robustness


# Worked examples

EXAMPLES = {
    (0.8, 0.8, 0.1): (17 / 30, 0.4, 0.2 * math.sqrt(2)),
    (0.9, 0.1): (0.5, 0.3, 0.207059036484),
    (0.5, 0.25): (0.375, 0.353553390593, 0.339796868558),
    (0.9, 0.9, 0.9, 0.1, 0.9): (0.74, 0.579954613480, 0.418778452967),
    (0.6, 0.6, 0.6, 0.4, 0.6): (0.56, 0.553264746889, 0.548174714352),
    (0.8, 0.8, 0.8, 0.2, 0.8): (0.68, 0.606286626604, 0.537266023217),
    (0.9, 0.6, 0.6, 0.45): (0.6375, 0.617930143172, 0.605770633035),
}


@pytest.mark.parametrize("values", EXAMPLES)
def test_worked_examples(values):
    # The examples are printed with 12 digits.
    assert named(risk_profile([1] * len(values), values)) == pytest.approx(
        EXAMPLES[values], rel=0, abs=1e-12
    )


def test_worked_examples_that_are_exact():
    assert risk_profile([1, 1, 1], [0.8, 0.8, 0.1]).accuracy == 0.4
    assert risk_profile([1, 1], [0.5, 0.25]).decisiveness == 0.375
    assert generalized_mean([0.25, 1.0], -1) == 0.4
    assert generalized_mean([0.25, 1.0], 0.5) == 0.5625
    assert generalized_mean([0.25, 0.0625], 0) == 0.125


def test_a_model_and_its_source():
    """Example B: the model says 0.9 where 0.8 is right, and 0.1 where it is 0.2."""
    result = cross_entropy_probability([0.8] * 4 + [0.2], [0.9] * 4 + [0.1], events=True)
    expected = (0.579954613480, 0.606286626604, 0.956568375469)
    assert tuple(result) == pytest.approx(expected, rel=0, abs=1e-12)


# Against the definition

many = st.lists(strategies.probabilities, min_size=1, max_size=30)


def close(computed, true):
    # 1 ulp is what is promised for |m| >= 1/8, after 0.72 in a search of 10^5 lists.
    return reference.ulps(computed, true) <= 1


@pytest.mark.parametrize("m", strategies.POWERS)
@given(p=many)
def test_mean_within_an_ulp(m, p):
    assert close(generalized_mean(p, m), reference.generalized_mean(p, m))


@pytest.mark.parametrize("m", BAR)
@given(
    rows=st.lists(st.tuples(strategies.probabilities, strategies.weights), min_size=1, max_size=30)
)
def test_weighted_mean_within_an_ulp(m, rows):
    p, w = zip(*rows, strict=True)
    assume(any(w))
    assert close(generalized_mean(p, m, sample_weight=w), reference.generalized_mean(p, m, w))


@given(p=many, m=strategies.powers.filter(lambda m: m == 0 or abs(m) >= 1 / 8))
def test_any_power_within_an_ulp(p, m):
    assert close(generalized_mean(p, m), reference.generalized_mean(p, m))


@pytest.mark.parametrize("m", [1 / 16, -1 / 64, 2.0**-7, -1e-3, 2.0**-20, 1e-8, -1e-16, 2.0**-79])
@given(p=st.lists(strategies.positive_probabilities, min_size=1, max_size=8))
def test_small_powers(m, p):
    """2^-58 / m is what the header states for |m| < 1/8; and ln q has a relative 2^-53 anyway."""
    mean, true = generalized_mean(p, m), reference.generalized_mean(p, m)
    bound = min(2.0**-57 / abs(m), 2.0**-52 * -math.log(min(p)))
    assert abs(mean - true) <= bound * true + 2 * math.ulp(float(true))


@pytest.mark.parametrize("m", [5e-324, -5e-324, 2.0**-1022, 1e-300, -1e-100, 2.0**-81])
def test_powers_that_are_all_but_zero(m):
    p = [0.5, 5e-324, 1.0]
    assert generalized_mean(p, m) == generalized_mean(p, 0)
    assert close(generalized_mean(p, m), reference.generalized_mean(p, m))
    assert generalized_mean([0.3, 0.0], m) == 0


@pytest.mark.parametrize("m", [50.0, -50.0, 1000.0, -1000.0, 30_000.0, -30_000.0])
def test_large_powers(m):
    p = [0.5, 0.25, 1e-10, 0.499999]
    assert close(generalized_mean(p, m), reference.generalized_mean(p, m))


@pytest.mark.parametrize("m", [2.0**26, -(2.0**26)])
def test_the_largest_powers(m):
    """Of values close together; others are refused rather than summed in gigabytes."""
    p = [0.5, 0.5, 0.4999]
    assert close(generalized_mean(p, m), reference.generalized_mean(p, m))
    with pytest.raises(ValueError, match="too many powers of two apart; use a smaller power"):
        generalized_mean([0.5, 0.25], m)


@pytest.mark.parametrize("n", strategies.SIZES[1:])
def test_sizes_around_blocks_and_chunks(n):
    y, p = strategies.nasty_table(n)
    q = np.where(y == 1, p, 1 - p)
    q[q == 0] = 0.25
    result = streaming.RiskProfile(powers=[2, -INF, INF])
    result.update(np.ones(n, np.int8), q)
    result = result.result()
    # 60 digits are needless where the sum has no cancellation: math.fsum is exact.
    assert result.decisiveness == pytest.approx(math.fsum(q) / n, rel=1e-15)
    assert result.accuracy == pytest.approx(math.exp(math.fsum(map(math.log, q)) / n), rel=1e-12)
    assert result.robustness == pytest.approx((math.fsum(q ** (-2 / 3)) / n) ** -1.5, rel=1e-12)
    assert result.means[1:] == (q.min(), q.max())


@given(data=st.data(), q_lim=strategies.q_lims, n_classes=st.sampled_from([None, 2, 3, 5]))
def test_risk_profile_within_an_ulp(data, q_lim, n_classes):
    y, p, w = data.draw(strategies.tables(n_classes=n_classes, min_rows=1, max_rows=20))
    assume(w is None or w.any())
    result = risk_profile(y, p, q_lim=q_lim, sample_weight=w)
    true = reference.risk_profile(y, p, q_lim, w)
    assert all(close(mean, t) for mean, t in zip(named(result), true, strict=True))
    assert (result.n, result.q_lim) == (len(y), q_lim)


# Laws


@given(p=many, weights=st.none() | st.lists(strategies.weights, min_size=30, max_size=30))
def test_means_rise_with_the_power(p, weights):
    w = None if weights is None else weights[: len(p)]
    assume(w is None or any(w))
    powers = (-INF, *(k / 3 for k in range(-30, 31)), INF)
    means = mean_spectrum(p, powers, sample_weight=w).means
    # Each is within an ulp of the truth.
    assert all(a <= b + 2 * math.ulp(b) for a, b in itertools.pairwise(means))
    present = [v for v, x in zip(p, w or [1] * len(p), strict=True) if x > 0]
    assert (means[0], means[-1]) == (min(present), max(present))


@given(p=strategies.probabilities, steps=st.lists(st.integers(-2, 2), min_size=1, max_size=10))
def test_robustness_accuracy_decisiveness_in_order(p, steps):
    """To the bit, also where all are so close that rounding decides."""
    q = [min(max(p + k * math.ulp(p), 0.0), 1.0) for k in steps]
    result = risk_profile([1] * len(q), q)
    assert result.robustness <= result.accuracy <= result.decisiveness


@given(p=strategies.probabilities, n=st.integers(1, 600))
def test_the_mean_of_equal_values_is_that_value(p, n):
    powers = (-INF, -3, -2 / 3, 0, 0.5, 1, 2, INF)
    # Twice rounded where it is subnormal.
    slack = math.ulp(p) if p < 2.0**-1022 else 0.0
    assert mean_spectrum([p] * n, powers).means == pytest.approx([p] * 8, rel=0, abs=slack)


@pytest.mark.parametrize("m", [0, -1e-9, -2 / 3, -1, -20, -INF])
def test_a_zero_makes_the_mean_zero(m):
    assert generalized_mean([0.5, 0.0, 1.0], m) == 0
    assert generalized_mean([0.5, -0.0, 1.0], m) == 0
    assert generalized_mean([0.5, 0.0], m, sample_weight=[1, 0]) == 0.5


@pytest.mark.parametrize("m", [1 / 8, 0.5, 1, 3, 20])
def test_a_zero_does_not_matter_for_positive_powers(m):
    assert close(generalized_mean([0.5, 0.0], m), reference.generalized_mean([0.5, 0.0], m))
    assert generalized_mean([0.0, 0.0], m) == 0


def test_the_mean_may_be_subnormal():
    least = strategies.SUBNORMAL
    assert mean_spectrum([least, least], (-INF, -2 / 3, 0, 1, 2, INF)).means == (least,) * 6


@pytest.mark.parametrize("m", [2.0, -1.0, 0.5])
def test_powers_without_logarithm_have_the_bits_of_weighted_ones(m, isa):  # noqa: ARG001
    """Without weights they are summed as they are made; with weights, one by one."""
    rng = np.random.default_rng(8)
    border = 2.0**-28
    p = np.concatenate(
        [rng.random(900), 2.0 ** -rng.uniform(0, 1074, 300), rng.random(300) * border]
    )
    edges = [
        1.0,
        border,
        np.nextafter(border, 0),
        np.nextafter(border, 1),
        np.nextafter(1, 0),
        5e-324,
    ]
    p = rng.permutation(np.concatenate([p, edges]))
    for q in (p, p[p > 0.1], np.r_[p, 0.0]):
        plain, weighted = streaming.RiskProfile(powers=[m]), streaming.RiskProfile(powers=[m])
        plain.update(np.ones(len(q), np.int8), q)
        weighted.update(np.ones(len(q), np.int8), q, sample_weight=np.ones(len(q)))
        assert plain.to_bytes() == weighted.to_bytes()
        assert generalized_mean(q, m) == generalized_mean(q, m, sample_weight=np.ones(len(q)))


def test_a_negative_zero_is_zero():
    for values in ([0.0, -0.0], [-0.0, 0.0], [-0.0]):
        mean = generalized_mean(values, -INF)
        assert math.copysign(1, mean) == 1


def test_spectrum_is_the_means_one_by_one():
    y, p = strategies.nasty_table(700)
    q = np.maximum(np.where(y == 1, p, 1 - p), 1e-200)
    spectrum = mean_spectrum(q)
    assert spectrum.means == tuple(generalized_mean(q, m) for m in spectrum.powers)
    assert {1.0, 0.0, -2 / 3} <= set(spectrum.powers)
    assert (spectrum.n, spectrum.n_omitted) == (700, 0)


def test_minus_two_thirds_is_meant_exactly():
    """With one q far below the rest the mean depends on m so much that its rounding shows."""
    q = [1e-300] + [1.0] * 1000
    mean = generalized_mean(q, -2 / 3)
    assert close(mean, reference.generalized_mean(q, -2 / 3))
    assert mean != generalized_mean(q, math.nextafter(-2 / 3, 0))


# Risk profiles


@given(table=strategies.tables(n_classes=4, min_rows=1), q_lim=strategies.q_lims)
def test_multiclass_is_picking_by_hand(table, q_lim):
    y, p, w = table
    assume(w is None or w.any())
    picked = p[np.arange(len(y)), y]
    by_hand = risk_profile(np.ones_like(y), picked, q_lim=q_lim, sample_weight=w)
    assert risk_profile(y, p, q_lim=q_lim, sample_weight=w) == by_hand


@given(table=strategies.tables(min_rows=1), q_lim=strategies.q_lims)
def test_two_columns_equal_one(table, q_lim):
    y, p, w = table
    assume(w is None or w.any())
    columns = np.stack([1 - p, p], axis=1)
    assert risk_profile(y, columns, q_lim=q_lim, sample_weight=w) == risk_profile(
        y, p, q_lim=q_lim, sample_weight=w
    )


def test_clipping():
    clipped = risk_profile([1, 0, 1], [0.0, 0.0, 0.5], q_lim=0.01)
    assert clipped == dataclasses.replace(risk_profile([1, 1, 1], [0.01, 0.99, 0.5]), q_lim=0.01)
    assert risk_profile([1], [0.0]).accuracy == 0
    # Every class's probability must be valid, not only the one that counts.
    with pytest.raises(ValueError, match=r"found 1.5 at row 0, column 1"):
        risk_profile([0], [[0.5, 1.5]], q_lim=0.01)


def test_many_classes():
    n, k = 600, 1500  # a row is wider than a block
    rng = np.random.default_rng(0)
    y, p = rng.integers(0, k, n), rng.random((n, k))
    picked = risk_profile(np.ones(n), p[np.arange(n), y])
    assert risk_profile(y, p) == picked
    assert risk_profile(y, np.asfortranarray(p)) == picked


# Labels

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
    ([[0], [1, 0]], [0.5, 0.5], {"pos_label": 1}, TypeError, r"y_true of type list cannot be read as an array"),
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


# Entropies


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
def test_what_entropies_refuse(entropy, p, order, error, message):
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
        assert close(computed, true)
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
    assert close(result.model, model)
    assert close(result.source, source)
    if divergence < 1e308:
        assert close(result.divergence, divergence)
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
def test_what_cross_entropy_refuses(p, q, options, message):
    with pytest.raises(ValueError, match=message):
        cross_entropy_probability(p, q, **options)


# Coupling

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
        (lambda: coupling_to_power(INF), r"coupling must be finite .* got inf"),
        (lambda: coupling_to_power(math.nan), r"coupling must be a number, got nan"),
        (lambda: coupling_to_power(1, dimension=0), r"dimension must be at least 1, got 0"),
        (lambda: coupling_to_power(1, exponent=-1), r"exponent must be positive and finite, got -1"),
        (lambda: coupling_to_power(1, exponent=math.nan), r"exponent must be a number, got nan"),
        (lambda: coupling_to_power(1, convention="paper"), r"convention must be 'score' or 'shape', got 'paper'"),
        (lambda: power_to_coupling(-2), r"power must be finite and exceed -2.0, got -2"),
        (lambda: power_to_coupling(2, convention="shape"), r"power must be finite and be below 2.0, got 2"),
        (lambda: power_to_coupling(INF), r"power must be finite .* got inf"),
        (lambda: power_to_coupling(1, dimension=0), r"dimension must be at least 1, got 0"),
        (lambda: power_to_coupling(1, exponent=0), r"exponent must be positive and finite, got 0"),
        (lambda: power_to_coupling(1, convention=None), r"convention must be 'score' or 'shape', got None"),
    ],
)  # fmt: skip
def test_couplings_out_of_range(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# Parameters

WRONG_PARAMETERS = [
    (lambda: generalized_mean([0.5], math.nan), ValueError, r"a power must be infinite or lie in .* got nan"),
    (lambda: generalized_mean([0.5], 2.0**26 + 1), ValueError, r"a power must be infinite or lie in \[-2\^26, 2\^26\]"),
    (lambda: generalized_mean([0.5], "1"), TypeError, r"a power must be a real number, got '1'"),
    (lambda: generalized_mean([0.5], None), TypeError, r"a power must be a real number, got None"),
    (lambda: generalized_mean([0.5], 1j), TypeError, r"a power must be a real number, got 1j"),
    (lambda: mean_spectrum([0.5], "12"), TypeError, r"powers must be a sequence of real numbers, got '12'"),
    (lambda: mean_spectrum([0.5], 2), TypeError, r"powers must be a sequence of real numbers, got 2"),
    (lambda: mean_spectrum([0.5], [[1, 2]]), TypeError, r"a power must be a real number, got \[1, 2\]"),
    (lambda: mean_spectrum([0.5], [1.0] * 4097), ValueError, r"at most 4096 powers at once, got 4097"),
    (lambda: streaming.RiskProfile(powers=["a"]), TypeError, r"a power must be a real number, got 'a'"),
    (lambda: streaming.RiskProfile(powers=2), TypeError, r"powers must be a sequence of real numbers, got 2"),
    (lambda: streaming.RiskProfile(powers=[math.nan]), ValueError, r"a power must be .* got nan"),
    (lambda: streaming.RiskProfile(q_lim=0.5), ValueError, r"q_lim must satisfy 0 <= q_lim < 0.5, got 0.5"),
    (lambda: risk_profile([1], [0.5], q_lim=-1e-9), ValueError, r"q_lim must satisfy .* got -1e-09"),
    (lambda: risk_profile([1], [0.5], q_lim=math.nan), ValueError, r"q_lim must satisfy .* got nan"),
    (lambda: risk_profile([1], [0.5], q_lim="0"), TypeError, r"q_lim must be a real number, got '0'"),
    (lambda: risk_profile([1], [0.5], q_lim=None), TypeError, r"q_lim must be a real number, got None"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "message"), WRONG_PARAMETERS)
def test_wrong_parameters(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_numpy_numbers_are_numbers():
    p = [0.5, 0.25]
    assert (
        generalized_mean(p, np.float32(2))
        == generalized_mean(p, np.int8(2))
        == generalized_mean(p, 2)
    )
    assert mean_spectrum(p, np.array([1, 2])).powers == (1.0, 2.0)
    assert mean_spectrum(p, iter((1, 2))).powers == (1.0, 2.0)
    assert risk_profile([1, 1], p, q_lim=np.float64(0.3)).q_lim == 0.3


# Results

RESULTS = [
    risk_profile([1, 0], [0.75, 0.5]),
    risk_profile([1, 0], [0.75, 0.5], q_lim=0.01),
    mean_spectrum([0.5, 0.25]),
    cross_entropy_probability([0.5, 0.5], [0.8, 0.2]),
]


@pytest.mark.parametrize("result", RESULTS, ids=lambda r: type(r).__name__)
def test_results(result):
    for field in dataclasses.fields(result):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(result, field.name, 0)
    back = json.loads(json.dumps(result.to_dict()))
    assert back == {k: list(v) if isinstance(v, tuple) else v for k, v in result.to_dict().items()}
    assert list(back) == [field.name for field in dataclasses.fields(result)]
    assert pickle.loads(pickle.dumps(result)) == result
    assert hash(result) == hash(dataclasses.replace(result))
    assert repr(result).startswith(f"{type(result).__name__}(")
    assert isinstance(result, getattr(calibrant, type(result).__name__))


def test_reprs():
    assert (
        repr(RESULTS[0])
        == "RiskProfile(decisiveness=0.625, accuracy=0.612372, robustness=0.604065, n=2)"
    )
    assert repr(RESULTS[1]).endswith("n=2, q_lim=0.01)")
    total = streaming.RiskProfile(powers=[INF])
    total.update([1.0, math.nan], [0.5, 0.5], nan_policy="omit")
    assert repr(total.result()) == (
        "RiskProfile(decisiveness=0.5, accuracy=0.5, robustness=0.5, n=1, n_omitted=1, "
        "powers=(inf,), means=(0.5,))"
    )


@pytest.fixture
def pyplot():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    yield plt
    plt.close("all")


@pytest.mark.usefixtures("pyplot")
def test_plot():
    ax = mean_spectrum([0.8, 0.8, 0.1]).plot().ax_
    assert [text.get_text() for text in ax.texts] == [
        "robustness 0.283",
        "accuracy 0.400",
        "decisiveness 0.567",
    ]
    ax.figure.canvas.draw()


@pytest.mark.parametrize("powers", [[], [INF], [-INF, 1, 0, INF], [2.0]])
def test_plot_of_any_powers(pyplot, powers):
    _, ax = pyplot.subplots()
    assert mean_spectrum([0.8, 0.1], powers).plot(ax).ax_ is ax
    ax.figure.canvas.draw()
