"""Generalized means and risk profiles against their definitions."""

# ruff: noqa: E501 (tables: a line for a case)

from __future__ import annotations

import dataclasses
import itertools
import json
import math
import pickle

import mpmath
import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

import calibrant
import reference
import strategies
from calibrant import (
    cross_entropy_probability,
    generalized_mean,
    mean_spectrum,
    risk_profile,
    streaming,
)

pytestmark = pytest.mark.kernels

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


@pytest.mark.parametrize("m", strategies.POWERS)
@given(p=many)
def test_mean_within_an_ulp(m, p):
    assert reference.within_an_ulp(generalized_mean(p, m), reference.generalized_mean(p, m))


@pytest.mark.parametrize("m", BAR)
@given(
    rows=st.lists(st.tuples(strategies.probabilities, strategies.weights), min_size=1, max_size=30)
)
def test_weighted_mean_within_an_ulp(m, rows):
    p, w = zip(*rows, strict=True)
    assume(any(w))
    assert reference.within_an_ulp(
        generalized_mean(p, m, sample_weight=w), reference.generalized_mean(p, m, w)
    )


@given(p=many, m=strategies.powers.filter(lambda m: m == 0 or abs(m) >= 1 / 8))
def test_any_power_within_an_ulp(p, m):
    assert reference.within_an_ulp(generalized_mean(p, m), reference.generalized_mean(p, m))


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
    assert reference.within_an_ulp(generalized_mean(p, m), reference.generalized_mean(p, m))
    assert generalized_mean([0.3, 0.0], m) == 0


@pytest.mark.parametrize("m", [50.0, -50.0, 1000.0, -1000.0, 30_000.0, -30_000.0])
def test_large_powers(m):
    p = [0.5, 0.25, 1e-10, 0.499999]
    assert reference.within_an_ulp(generalized_mean(p, m), reference.generalized_mean(p, m))


@pytest.mark.parametrize("m", [2.0**26, -(2.0**26)])
def test_the_largest_powers(m):
    """Of values close together; others are rejected rather than summed in gigabytes."""
    p = [0.5, 0.5, 0.4999]
    assert reference.within_an_ulp(generalized_mean(p, m), reference.generalized_mean(p, m))
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
    result = risk_profile(y, p, q_lim=q_lim, sample_weight=w, multi_class="top_label")
    true = reference.risk_profile(y, p, q_lim, w)
    assert all(
        reference.within_an_ulp(mean, t) for mean, t in zip(named(result), true, strict=True)
    )
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
    assert reference.within_an_ulp(
        generalized_mean([0.5, 0.0], m), reference.generalized_mean([0.5, 0.0], m)
    )
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
    assert reference.within_an_ulp(mean, reference.generalized_mean(q, -2 / 3))
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
        risk_profile([0], [[0.5, 1.5, 0.0]], q_lim=0.01)


def test_many_classes():
    n, k = 600, 1500  # a row is wider than a block
    rng = np.random.default_rng(0)
    y, p = rng.integers(0, k, n), rng.random((n, k))
    picked = risk_profile(np.ones(n), p[np.arange(n), y])
    assert risk_profile(y, p) == picked
    assert risk_profile(y, np.asfortranarray(p)) == picked


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


# The geometric standard deviation


@given(strategies.tables(min_rows=1))
def test_geometric_standard_deviation_is_that_of_the_logarithms(table):
    _, p, w = table
    used = p if w is None else p[w > 0]
    if not len(used):
        return
    found = calibrant.geometric_standard_deviation(p, sample_weight=w)
    if (used == 0).any():
        assert found == (1.0 if (used == 0).all() else math.inf)
        return
    with mpmath.workdps(60):
        weights = [mpmath.mpf(float(x)) for x in (np.ones(len(p)) if w is None else w)]
        rows = [(x, mpmath.log(float(q))) for x, q in zip(weights, p, strict=True) if x]
        total = mpmath.fsum(x for x, _ in rows)
        mean = mpmath.fsum(x * log for x, log in rows) / total
        deviation = mpmath.sqrt(mpmath.fsum(x * (log - mean) ** 2 for x, log in rows) / total)
        expected = float(mpmath.exp(deviation))
    # The deviation is rounded once, and the exponential multiplies its error by it.
    assert found == pytest.approx(expected, rel=2.0**-51 * (1 + math.log(expected)), abs=0)


def test_geometric_standard_deviation_of_worked_examples():
    assert calibrant.geometric_standard_deviation([0.5, 0.25]) == pytest.approx(math.sqrt(2))
    assert calibrant.geometric_standard_deviation([0.3] * 7) == 1.0
    clipped = calibrant.geometric_standard_deviation([0.0, 0.5], q_lim=0.25)
    assert clipped == pytest.approx(math.sqrt(2), rel=1e-15)
    with pytest.raises(ValueError, match="a deviation needs at least one row, got none"):
        calibrant.geometric_standard_deviation([])
    with pytest.raises(ValueError, match="all 2 have weight 0"):
        calibrant.geometric_standard_deviation([0.5, 0.5], sample_weight=[0, 0])


def test_geometric_standard_deviation_of_many_rows_has_one_value():
    rng = np.random.default_rng(0)
    p, k = 1 - rng.random(50_000), rng.integers(0, 3, 50_000)
    order = rng.permutation(p.size)
    found = calibrant.geometric_standard_deviation(p)
    assert found == calibrant.geometric_standard_deviation(p[order])
    assert found == pytest.approx(math.exp(np.log(p).std()), rel=1e-13)
    weighted = calibrant.geometric_standard_deviation(p, sample_weight=k)
    assert weighted == calibrant.geometric_standard_deviation(np.repeat(p, k))
