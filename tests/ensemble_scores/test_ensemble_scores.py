"""Scores of ensembles, against their definitions in fractions and long doubles, closed forms and
scoringrules."""

# ruff: noqa: E501 (tables: a line for a case)

from __future__ import annotations

import itertools
import json
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import integrate, stats

import calibrant
from calibrant import ensemble_scores, set_num_threads
from calibrant._core import _testing
from calibrant.config import config
from calibrant.ensemble_scores import (
    crps_ensemble,
    energy_score,
    quantile_score,
    variogram_score,
)
from ensemble_reference import crps_by_definition, share_of

pytestmark = [pytest.mark.kernels, pytest.mark.threads, pytest.mark.usefixtures("runtime_restored")]

ESTIMATORS = ["standard", "fair", 0.25]


def relative_error(found, exact):
    return 0.0 if Fraction(found) == exact else float(abs(Fraction(found) / exact - 1))


# CRPS ---------------------------------------------------------------------------------------------


def test_reference_values():
    y, x = [2.5], [[4.0, 1.0, 3.0, 2.0]]
    assert crps_ensemble(y, x).tolist() == [0.375]
    assert crps_ensemble(y, x, estimator="fair").tolist() == [1 / 6]
    y, x = [7.0], [[0.0, 0.0, 1.0, 5.0, 9.0]]
    assert crps_ensemble(y, x).tolist() == [2.96]
    assert crps_ensemble(y, x, estimator="fair").tolist() == [2.5]
    assert crps_ensemble(y, x, estimator=0.5).tolist() == [2.73]
    assert crps_ensemble([3.0], [[5.0]]).tolist() == [2.0]


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("offset", [0.0, 1e8, -3e15])
def test_crps_is_good_to_the_last_digits(estimator, dtype, offset):
    rng = np.random.default_rng(5)
    for m in (2, 3, 8, 9, 16, 31, 60):
        x = (offset + rng.normal(size=(4, m)) * 10.0 ** rng.integers(-3, 4, (4, 1))).astype(dtype)
        y = offset + rng.normal(size=4)
        found = crps_ensemble(y, x, estimator=estimator)
        for row in range(4):
            exact = crps_by_definition(y[row], x[row], estimator)
            assert relative_error(found[row], exact) < 2.0**-52


@pytest.mark.parametrize("m", [511, 512, 4096, 4097])
@pytest.mark.parametrize("estimator", ["standard", "fair"])
def test_crps_of_many_draws(m, estimator):
    """In order: both sides of the limits at which the way of sorting changes."""
    rng = np.random.default_rng(m)
    x = np.concatenate([rng.normal(size=(1, m // 2)), rng.integers(-2, 3, (1, m - m // 2))], 1)
    y = 0.3
    inner = np.sort(x[0])
    exact_x = [Fraction(v) for v in inner.tolist()]
    pairs = sum((2 * i - m + 1) * v for i, v in enumerate(exact_x))
    distance = sum(abs(v - Fraction(y)) for v in exact_x)
    exact = distance / m - pairs / (m * m if estimator == "standard" else m * (m - 1))
    assert relative_error(crps_ensemble([y], x, estimator=estimator)[0], exact) < 2.0**-52


DRAWS = st.floats(-1e6, 1e6) | st.sampled_from([0.0, -0.0, 1.0, 5e-324, 1e-300, 1e150, -1e150])


@given(st.lists(DRAWS, min_size=2, max_size=20), DRAWS, st.sampled_from(ESTIMATORS))
def test_crps_equals_the_definition(x, y, estimator):
    found = crps_ensemble([y], [x], estimator=estimator)[0]
    exact = crps_by_definition(y, x, estimator)
    assert found >= 0.0
    assert abs(Fraction(float(found)) - exact) <= exact * Fraction(2) ** -52 + Fraction(5e-324)


@given(
    st.lists(st.tuples(DRAWS, st.sampled_from([0.0, 1.0, 2.0, 0.1, 1e-300, 1e300])), min_size=2,
             max_size=12),
    DRAWS,
    st.sampled_from(ESTIMATORS),
)  # fmt: skip
def test_weights_equal_the_definition(pairs, y, estimator):
    x, w = zip(*pairs, strict=True)
    if sum(v > 0 for v in w) < 2:
        w = (*w[:-2], 1.0, 3.0)
    found = crps_ensemble([y], [x], estimator=estimator, draw_weight=w)[0]
    exact = crps_by_definition(y, x, estimator, w)
    # With unequal weights the fair form is a difference: good to the larger term. Where one
    # weight is nearly all, W^2 - sum w^2 cancels too.
    total = sum(map(Fraction, w))
    distance = sum(Fraction(v) * abs(Fraction(a) - Fraction(y)) for a, v in pairs_of(x, w)) / total
    rest = 1 - sum(Fraction(v) ** 2 for v in w) / total**2
    if estimator == "standard" or rest > Fraction(1, 10**6):
        assert abs(Fraction(float(found)) - exact) <= distance * Fraction(2) ** -50 + Fraction(
            1e-320
        )


def pairs_of(x, w):
    return zip(x, w, strict=True)


@given(st.lists(st.tuples(DRAWS, st.integers(0, 3)), min_size=1, max_size=10), DRAWS)
def test_integer_weights_are_repetitions(pairs, y):
    x, w = zip(*pairs, strict=True)
    if not any(w):
        w = (*w[:-1], 2)
    repeated = np.repeat(np.array(x), w)
    found = crps_ensemble([y], [x], draw_weight=w)[0]
    there = crps_ensemble([y], [repeated])[0]
    assert found == pytest.approx(there, rel=2.0**-51, abs=5e-324)


def test_weights_of_one_are_none():
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(50, 30)), rng.normal(size=50)
    for estimator in ESTIMATORS:
        plain = crps_ensemble(y, x, estimator=estimator)
        same = crps_ensemble(y, x, estimator=estimator, draw_weight=np.full(30, 0.7))
        np.testing.assert_allclose(same, plain, rtol=1e-15)


@pytest.mark.parametrize("estimator", ["standard", "fair"])
def test_weighted_rows_together_are_weighted_rows_alone(estimator, isa):  # noqa: ARG001
    """Rows share registers, but for those with missing or huge values, which go one by one."""
    rng = np.random.default_rng(3)
    x, y, w = rng.normal(size=(21, 30)).round(1), rng.normal(size=21).round(1), rng.random((21, 30))
    w[rng.random(w.shape) < 0.3] = 0.0
    w[:, :2] = 0.5, 0.25
    w *= 10.0 ** rng.integers(-300, 300, (21, 1))
    x[2] *= 1e200
    x[5, 3:6] = math.nan
    y[7] = x[7, 0]
    score = {"estimator": estimator, "nan_policy": "omit"}
    together = crps_ensemble(y, x, draw_weight=w, **score)
    for i in range(21):
        kept = np.flatnonzero((w[i] > 0) & ~np.isnan(x[i]))
        kept = rng.permutation(kept)
        assert together[i] == crps_ensemble(y[i], x[i, kept], draw_weight=w[i, kept], **score)
    w[[9, 4], 20] = -1.0
    with pytest.raises(ValueError, match=r"draw_weight .* at row 4, column 20"):
        crps_ensemble(y, x, draw_weight=w, **score)


def test_the_fair_score_does_not_depend_on_the_number_of_draws():
    rng = np.random.default_rng(11)
    y = rng.normal(size=20_000)
    truth = calibrant.crps_normal(y, 0.0, 2.0).mean()
    for m in (2, 5, 20):
        x = rng.normal(0.0, 2.0, (y.size, m))
        fair = crps_ensemble(y, x, estimator="fair")
        error = (fair - calibrant.crps_normal(y, 0.0, 2.0)).std() / math.sqrt(y.size)
        assert abs(fair.mean() - truth) < 4 * error
        # E|X - X'| / (2 m) more, with E|X - X'| = 2 sigma / sqrt(pi)
        standard = crps_ensemble(y, x).mean()
        assert standard - truth == pytest.approx(2.0 / math.sqrt(math.pi) / m, abs=4 * error)


def test_rain_forecasts_are_calibrated_but_not_alike():
    """The sharper of two calibrated forecasts has the lower score, by the closed forms."""
    rng = np.random.default_rng(7)
    mu = rng.normal(size=200_000)
    y = mu + rng.normal(size=mu.size)
    sharp = calibrant.crps_normal(y, mu, 1.0)
    vague = calibrant.crps_normal(y, 0.0, math.sqrt(2.0))
    for scores, expected in ((sharp, 1 / math.sqrt(math.pi)), (vague, math.sqrt(2 / math.pi))):
        assert abs(scores.mean() - expected) < 4 * scores.std() / math.sqrt(y.size)


@settings(max_examples=30)
@given(
    st.integers(1, 40), st.integers(2, 70), st.integers(0, 2**32 - 1),
    st.sampled_from(["float64", "float32"]), st.sampled_from(ESTIMATORS),
)  # fmt: skip
def test_bits_do_not_depend_on_the_work(n, m, seed, dtype, estimator):
    rng = np.random.default_rng(seed)
    x = rng.choice([rng.normal(size=(n, m)), rng.integers(-2, 3, (n, m)) * 0.1]).astype(dtype)
    y = rng.normal(size=n)
    expected = crps_ensemble(y, x, estimator=estimator).tobytes()
    for threads in (1, 2, 3):
        set_num_threads(threads)
        assert crps_ensemble(y, x, estimator=estimator).tobytes() == expected
    cut = int(rng.integers(0, n + 1))
    parts = [crps_ensemble(y[s], x[s], estimator=estimator) for s in (slice(cut), slice(cut, n))]
    assert np.concatenate(parts).tobytes() == expected
    shuffled = rng.permuted(x, axis=1)
    assert crps_ensemble(y, shuffled, estimator=estimator).tobytes() == expected
    assert crps_ensemble(y, x.T, axis=0, estimator=estimator).tobytes() == expected
    for isa in config()["available_isas"]:
        _testing.set_isa(isa)
        assert crps_ensemble(y, x, estimator=estimator).tobytes() == expected


def test_bits_of_all_scores_do_not_depend_on_threads_or_instruction_sets(isa):  # noqa: ARG001
    rng = np.random.default_rng(1)
    y, x = rng.normal(size=(9, 3)), rng.normal(size=(9, 1030, 3))

    def all_scores():
        sliced = energy_score(y, x, method="sliced", n_directions=20)
        arrays = [
            energy_score(y[:2], x[:2]),
            energy_score(y, x[:, :40], beta=1.3, estimator="fair"),
            variogram_score(y, x, p=0.7),
            sliced.score,
            sliced.standard_error,
            crps_ensemble(y[:, 0], x[:, :, 0], draw_weight=np.abs(x[:, :, 1])),
            quantile_score(y[:, 0], x[:, :3, 0], levels=[0.1, 0.5, 0.7]),
            calibrant.crps_normal(y),
        ]
        return [array.tobytes() for array in arrays]

    set_num_threads(1)
    expected = all_scores()
    set_num_threads(3)
    assert all_scores() == expected
    best = config()["available_isas"][-1]
    _testing.set_isa(best)
    assert all_scores() == expected


def test_huge_and_tiny_numbers():
    x = np.array([1.7e308, -1.7e308, 1e308])
    exact = crps_by_definition(-1e308, x, "fair")
    assert crps_ensemble([-1e308], [x], estimator="fair")[0] == pytest.approx(
        float(exact), rel=1e-15
    )
    found = crps_ensemble([-1e308], [x], draw_weight=[1, 1, 1])[0]
    assert found == pytest.approx(float(crps_by_definition(-1e308, x)), rel=1e-15)
    assert crps_ensemble([0.0], [[5e-324, 5e-324]])[0] == 5e-324
    points = np.array([[1e300, 0.0], [0.0, -1e300], [0.0, 0.0]])
    unit = energy_score([1.0, 1.0], points / 1e300)
    assert energy_score([1e300, 1e300], points) == pytest.approx(unit * 1e300, rel=1e-14)
    assert energy_score([1e-300, 1e-300], points / 1e300 / 1e300) == pytest.approx(
        unit * 1e-300, rel=1e-14
    )
    root = energy_score([1.0, 1.0], points / 1e300, beta=0.5)
    assert energy_score([1e300, 1e300], points, beta=0.5) == pytest.approx(root * 1e150, rel=1e-12)


# Shapes and missing values ------------------------------------------------------------------------


def test_shapes_broadcast():
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(4, 5, 6)), rng.normal(size=(4, 5))
    flat = crps_ensemble(y.ravel(), x.reshape(20, 6))
    assert (crps_ensemble(y, x) == flat.reshape(4, 5)).all()
    assert (crps_ensemble(y, np.moveaxis(x, -1, 0), axis=0) == flat.reshape(4, 5)).all()
    one = crps_ensemble(y, x[0, 0])  # one ensemble for all outcomes
    assert (one == crps_ensemble(y, np.broadcast_to(x[0, 0], x.shape))).all()
    many = crps_ensemble(y[0, 0], x)  # one outcome for all ensembles
    assert (many == crps_ensemble(np.full((4, 5), y[0, 0]), x)).all()
    assert isinstance(crps_ensemble(1.0, [1.0, 2.0]), np.float64)
    assert crps_ensemble(np.empty(0), np.empty((0, 3))).shape == (0,)
    points = rng.normal(size=(4, 5, 7, 3))
    outcomes = rng.normal(size=(5, 3))
    assert energy_score(outcomes, points).shape == (4, 5)
    assert variogram_score(outcomes, points)[2, 3] == variogram_score(outcomes[3], points[2, 3])
    losses = quantile_score(y, x, levels=np.linspace(0.1, 0.9, 6))
    assert losses.shape == (4, 5, 6)
    assert calibrant.crps_normal(y, x[:, :1, 0], 2.0).shape == (4, 5)


@pytest.mark.parametrize("dtype", [np.float16, np.int32, ">f8", "float32"])
def test_other_types_are_converted_exactly(dtype):
    x = np.arange(12).reshape(3, 4)[:, ::-1].astype(dtype)
    y = np.array([1, 2, 3], dtype)
    assert (crps_ensemble(y, x) == crps_ensemble(y.astype(float), x.astype(float))).all()


def test_missing_draws_are_left_out():
    nan = math.nan
    x = np.array(
        [[1.0, nan, 2.0, 4.0], [nan, nan, nan, nan], [1.0, 2.0, 3.0, 4.0], [nan, 1, nan, nan]]
    )
    y = np.array([2.5, 1.0, nan, 3.0])
    for dtype in (np.float64, np.float32):
        found = crps_ensemble(y, x.astype(dtype), nan_policy="omit")
        assert found[0] == crps_ensemble([2.5], [[1.0, 2.0, 4.0]])[0]
        assert np.isnan(found[[1, 2]]).all()
        assert found[3] == 2.0
    fair = crps_ensemble(y, x, estimator="fair", nan_policy="omit")
    assert np.isnan(fair[3])  # one draw left
    weighted = crps_ensemble(y, x, draw_weight=[1, 5, 1, 2], nan_policy="omit")
    assert weighted[0] == crps_ensemble([2.5], [[1.0, 2.0, 4.0, 4.0]])[0]


@pytest.mark.parametrize("rows", [1, 5, 40])
def test_a_bad_row_is_named(rows):
    for value, word in ((math.nan, "NaN"), (math.inf, "inf")):
        x = np.zeros((rows, 20))
        x[rows - 1, 7] = value
        with pytest.raises(ValueError, match=rf"draws.*{word}.*row {rows - 1}, column 7"):
            crps_ensemble(np.zeros(rows), x)
        y = np.zeros(rows)
        y[rows - 1] = value
        with pytest.raises(ValueError, match=rf"y_true.*{word}.*row {rows - 1}"):
            crps_ensemble(y, np.zeros((rows, 20)))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: crps_ensemble([1.0], [[1.0]], estimator="fair"), "a fair score needs at least 2"),
        (lambda: crps_ensemble([1.0], np.empty((1, 0))), "needs at least 1 draws, got 0"),
        (lambda: crps_ensemble([1.0], [[1.0]], estimator="pwm"), "estimator must be .* got 'pwm'"),
        (lambda: crps_ensemble([1.0], [[1.0, 2.0]], estimator=1.5), "in \\[0, 1\\], got 1.5"),
        (lambda: crps_ensemble([1.0, 2.0], [[1.0]] * 3), "y_true must have the shape of draws"),
        (lambda: crps_ensemble([1.0], [[1.0]], axis=2), "axis must lie in \\[-2, 2\\), got 2"),
        (lambda: crps_ensemble([1.0], [[1.0]], nan_policy="x"), "nan_policy must be"),
        (lambda: crps_ensemble([1.0], 3.0), "draws must have shape"),
        (lambda: crps_ensemble([1.0], [[1.0, 2.0]], draw_weight=[1.0]), "draw_weight must have shape"),
        (lambda: crps_ensemble([1.0], [[1.0]], draw_weight=[[1.0], [1.0]]), "draw_weight must have"),
        (lambda: crps_ensemble([1.0], [[1.0]], draw_weight=[0.0]), "positive for at least one draw"),
        (lambda: crps_ensemble([1.0], [[1.0, 2.0]], draw_weight=[1, -1]), "draw_weight .* -1"),
        (
            lambda: crps_ensemble([1.0], [[1.0, 2.0]], draw_weight=[1, 0], estimator="fair"),
            "positive for at least two draws, found one at row 0",
        ),
        (lambda: energy_score([1.0], [[1.0]], beta=2.0), "beta must lie in"),
        (lambda: energy_score([1.0], [[1.0]], scale=[0.0]), "scale must be positive"),
        (lambda: energy_score([1.0], [[1.0]], scale=[1.0, 2.0]), "scale must have shape \\(1,\\)"),
        (lambda: energy_score([1e300], [[1.0]], scale=[1e-300]), "scale must not make values inf"),
        (lambda: energy_score([1.0, 2.0], [[1.0]]), "as many coordinates"),
        (lambda: energy_score([1.0], [1.0]), "draws must have shape"),
        (lambda: energy_score([math.nan], [[1.0]]), "y_true .*NaN.* at row 0, column 0"),
        (lambda: energy_score([1.0], [[1.0]], method="fast"), "method must be"),
        (lambda: energy_score([1.0], [[1.0]], method="sliced", beta=1.5), "needs beta = 1"),
        (lambda: energy_score([1.0], [[1.0]], method="sliced", n_directions=1), "n_directions must"),
        (lambda: energy_score([1.0], [[1.0]], method="sliced", seed=-1), "seed must lie"),
        (lambda: variogram_score([1.0, 2.0], [[1.0, 2.0]], p=0.0), "p must lie in"),
        (lambda: variogram_score([1.0], [[1.0]], weights=[1.0]), "weights must have shape \\(1, 1\\)"),
        (lambda: variogram_score([1.0], [[1.0]], weights=[[-1.0]]), "weights must be finite"),
        (lambda: variogram_score([0.0, 1e300], [[0.0, 1.0]], p=2.0), "coordinates 0 and 1 at row 0"),
        (lambda: quantile_score([1.0], [[1.0, 2.0]], levels=[0.5]), "levels must have shape \\(2,\\)"),
        (lambda: quantile_score([1.0], [[1.0]], levels=[1.0]), "levels must lie in \\(0, 1\\)"),
        (lambda: quantile_score([1.0], [[math.inf]], levels=[0.5]), "quantiles .* inf"),
        (lambda: calibrant.crps_normal([1.0], scale=[0.0]), "scale must be positive, found 0"),
        (lambda: calibrant.crps_normal([1.0, 2.0], [1.0] * 3), "must broadcast"),
        (lambda: calibrant.crps_normal([math.nan]), "y_true"),
    ],
)  # fmt: skip
def test_bad_arguments(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_text_is_no_number():
    with pytest.raises(TypeError, match="draws must hold real numbers"):
        crps_ensemble([1.0], [["a"]])
    with pytest.raises(TypeError, match="loc must hold real numbers"):
        calibrant.crps_normal([1.0], ["a"])


# Energy and variogram score -----------------------------------------------------------------------


def energy_by_definition(y, x, estimator, beta=1.0):
    y, x = np.asarray(y, np.longdouble), np.asarray(x, np.longdouble)
    m, share = len(x), np.longdouble(share_of(estimator))
    norms = [np.sqrt(((x - y) ** 2).sum(1)), np.sqrt(((x[:, None] - x) ** 2).sum(2))]
    distance, pairs = (np.sum(a if beta == 1 else a ** np.longdouble(beta)) for a in norms)
    distance, pairs = distance / m, pairs / 2
    spread = (1 - share) * pairs / m**2 + (share * pairs / (m * (m - 1)) if share else 0)
    return float(distance - spread), float(distance)


def test_energy_reference_values():
    x = [[0.0, 0.0], [3.0, 4.0], [6.0, 8.0]]
    assert energy_score([0.0, 0.0], x) == 25 / 9
    assert energy_score([0.0, 0.0], x, estimator="fair") == 5 / 3
    assert energy_score([0.0, 0.0], x, scale=[1.0, 1.0]) == 25 / 9


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("beta", [1.0, 0.3, 1.9])
@pytest.mark.parametrize("offset", [0.0, 1e8])
def test_energy_equals_the_definition(estimator, beta, offset):
    rng = np.random.default_rng(4)
    for m, d in ((2, 1), (5, 2), (40, 3), (63, 9)):
        x, y = offset + rng.normal(size=(3, m, d)), offset + rng.normal(size=(3, d))
        found = energy_score(y, x, estimator=estimator, beta=beta)
        for row in range(3):
            score, larger = energy_by_definition(y[row], x[row], estimator, beta)
            assert found[row] == pytest.approx(score, rel=0, abs=4e-16 * larger)
        shuffled = rng.permuted(x, axis=1) if d == 1 else x[:, rng.permutation(m)]
        assert (
            energy_score(y, shuffled, estimator=estimator, beta=beta).tobytes() == found.tobytes()
        )


def test_energy_of_many_draws():
    """Beyond 1024 draws a row is shared among threads."""
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(1100, 2)), rng.normal(size=2)
    for estimator in ("standard", "fair"):
        score, larger = energy_by_definition(y, x, estimator)
        assert energy_score(y, x, estimator=estimator) == pytest.approx(score, abs=4e-16 * larger)


def test_energy_of_one_coordinate_is_the_crps():
    rng = np.random.default_rng(9)
    x, y = rng.normal(size=(30, 25)), rng.normal(size=30)
    for estimator in ESTIMATORS:
        np.testing.assert_allclose(
            energy_score(y[:, None], x[:, :, None], estimator=estimator),
            crps_ensemble(y, x, estimator=estimator),
            rtol=1e-13,
        )


def test_scale_divides_coordinates():
    rng = np.random.default_rng(8)
    x, y, scale = rng.normal(size=(6, 9, 3)), rng.normal(size=(6, 3)), [2.0, 0.5, 3.0]
    assert (energy_score(y, x, scale=scale) == energy_score(y / scale, x / scale)).all()


@pytest.mark.parametrize(("m", "d"), [(30, 1), (30, 2), (12, 3), (4200, 2)])
def test_sliced_is_within_its_error(m, d):
    rng = np.random.default_rng(6)
    x, y = rng.normal(size=(2, m, d)), rng.normal(size=(2, d))
    for estimator in ("standard", "fair"):
        exact = energy_score(y, x, estimator=estimator)
        found = energy_score(y, x, estimator=estimator, method="sliced", n_directions=300)
        assert (abs(found.score - exact) <= 4 * found.standard_error + 1e-13).all()
        assert (np.asarray(found) == found.score).all()
        assert (found.standard_error < 0.1).all()
    assert d > 1 or (found.standard_error < 1e-14).all()
    other = energy_score(y, x, method="sliced", n_directions=300, seed=1)
    assert (
        d == 1 or (other.score != energy_score(y, x, method="sliced", n_directions=300).score).all()
    )


def test_the_standard_error_tells_the_spread_over_seeds():
    rng = np.random.default_rng(6)
    x, y = rng.normal(size=(20, 4)), rng.normal(size=4)
    runs = [energy_score(y, x, method="sliced", n_directions=50, seed=k) for k in range(200)]
    spread = np.std([run.score for run in runs])
    assert spread == pytest.approx(np.mean([run.standard_error for run in runs]), rel=0.15)
    assert np.mean([run.score for run in runs]) == pytest.approx(
        energy_score(y, x), abs=4 * spread / math.sqrt(200)
    )


def test_sliced_result_can_be_read():
    x = np.zeros((3, 4, 2))
    result = energy_score(np.ones((3, 2)), x, method="sliced", n_directions=8)
    assert json.loads(json.dumps(result.to_dict()))["n_directions"] == 8
    assert repr(result).startswith("SlicedEnergyScore(score=[")


def variogram_by_definition(y, x, p, w, estimator):
    y, x = np.asarray(y, np.longdouble), np.asarray(x, np.longdouble)
    m, p = len(x), np.longdouble(p)
    outcome = abs(y[:, None] - y) ** p
    powers = abs(x[:, :, None] - x[:, None, :]) ** p
    gap = (outcome - powers.mean(0)) ** 2
    if estimator != "standard":
        gap = gap - share_of(estimator) * powers.var(0, ddof=1) / m
    return float((w * gap).sum())


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("p", [0.5, 1.0, 2.0, 0.8])
@pytest.mark.parametrize("weighted", [False, True])
def test_variogram_equals_the_definition(estimator, p, weighted):
    rng = np.random.default_rng(12)
    for m, d in ((2, 2), (20, 5), (600, 2), (4, 1)):
        x, y = rng.normal(size=(3, m, d)), rng.normal(size=(3, d))
        w = rng.random((d, d)) if weighted else np.ones((d, d))
        found = variogram_score(y, x, p=p, weights=w if weighted else None, estimator=estimator)
        for row in range(3):
            expected = variogram_by_definition(y[row], x[row], p, w, estimator)
            assert found[row] == pytest.approx(expected, rel=1e-13, abs=1e-14)
        moved = variogram_score(y, x[:, ::-1], p=p, weights=w, estimator=estimator)
        assert moved.tobytes() == found.tobytes()


# Quantiles and laws -------------------------------------------------------------------------------


def test_pinball_equals_the_definition():
    rng = np.random.default_rng(13)
    y, q, levels = rng.normal(size=50), rng.normal(size=(50, 4)), np.array([0.1, 0.9, 0.5, 1e-9])
    q[:, 0] = y
    found = quantile_score(y, q, levels=levels)
    expected = np.where(y[:, None] < q, (1 - levels) * (q - y[:, None]), levels * (y[:, None] - q))
    np.testing.assert_allclose(found, expected, rtol=1e-15)
    sklearn = pytest.importorskip("sklearn.metrics")
    for k, level in enumerate(levels):
        assert found[:, k].mean() == pytest.approx(
            sklearn.mean_pinball_loss(y, q[:, k], alpha=level), rel=1e-13
        )


def test_pinball_over_all_levels_is_half_the_crps():
    k = 20_000
    levels = (np.arange(k) + 0.5) / k
    losses = quantile_score([0.4], stats.norm.ppf(levels)[None], levels=levels)
    assert 2 * losses.mean() == pytest.approx(calibrant.crps_normal(0.4), rel=1e-4)


#: Distribution functions at location 0 and scale 1.
LAWS = {
    "normal": lambda z: 0.5 * math.erfc(-z / math.sqrt(2)),
    "logistic": lambda z: 1 / (1 + math.exp(-z)),
    "laplace": lambda z: 0.5 * math.exp(z) if z < 0 else 1 - 0.5 * math.exp(-z),
    "uniform": lambda z: min(max(z, 0.0), 1.0),
    "exponential": lambda z: -math.expm1(-max(z, 0.0)),
}


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("z", [-9.0, -1.5, -0.2, 0.0, 0.3, 1.0, 2.5, 12.0])
def test_laws_equal_the_integral(name, z):
    """Of (F - 1(z <= t))^2, in pieces within which it is smooth."""
    cdf = LAWS[name]
    cuts = sorted({-50.0, z, 0.0, 1.0, 50.0})
    pieces = [
        integrate.quad(lambda t: (cdf(t) - (z <= t)) ** 2, a, b, epsrel=1e-12, limit=100)[0]
        for a, b in itertools.pairwise(cuts)
    ]
    score = getattr(ensemble_scores, f"crps_{name}")
    for loc, scale in ((0.0, 1.0), (-3.0, 0.25), (10.0, 7.0)):
        assert score(loc + scale * z, loc, scale) == pytest.approx(scale * sum(pieces), rel=1e-10)


def test_normal_to_the_last_digits():
    mpmath = pytest.importorskip("mpmath")
    assert calibrant.crps_normal(0.0) == 0.23369497725510907
    with mpmath.workdps(40):
        for z in (0.0, 1e-9, 0.01, 0.3, 0.7, 1.0, 1.9, 2.2, 4.0, 8.0, 30.0, 39.9, 41.0, 1e10):
            x = mpmath.mpf(z)
            exact = (
                x * mpmath.erf(x / mpmath.sqrt(2)) + 2 * mpmath.npdf(x) - 1 / mpmath.sqrt(mpmath.pi)
            )
            for found in calibrant.crps_normal([z, -z]):
                assert found == pytest.approx(float(exact), rel=1e-15)
    # A forecast much too sure of itself: as far as its spread can be neglected, the distance.
    assert calibrant.crps_normal(1e300, 0.0, 1e-300) == 1e300


def test_normal_on_both_sides_of_its_border():
    """Two expressions meet at one standard deviation, and the tail ends at 8.25."""
    mpmath = pytest.importorskip("mpmath")
    rng = np.random.default_rng(5)
    y = np.concatenate([np.linspace(0.0, 9.0, 200), 1.0 + rng.normal(size=100) * 1e-3])
    found = calibrant.crps_normal(y)
    with mpmath.workdps(40):
        root = mpmath.sqrt(mpmath.pi)
        for z, value in zip(map(mpmath.mpf, y.tolist()), found.tolist(), strict=True):
            exact = z * mpmath.erf(z / mpmath.sqrt(2)) + 2 * mpmath.npdf(z) - 1 / root
            assert abs(value - exact) < 2 * math.ulp(value)


@pytest.mark.parametrize("law", LAWS)
def test_laws_of_many_rows_equal_those_of_one(law, isa):  # noqa: ARG001
    rng = np.random.default_rng(6)
    score = getattr(ensemble_scores, f"crps_{law}")
    y, loc = rng.normal(size=1300) * 4.0, rng.normal(size=1300).astype("f4")
    scale = np.exp(rng.normal(size=2600))[::2]
    y[:4], loc[:4], scale[:4] = (
        (1e300, -1e300, 1e308, 5e-324),
        (0, 0, -1e38, 0),
        (1e-300, 1e-300, 1, 1),
    )
    together = score(y, loc, scale)
    alone = [score(*row) for row in zip(y.tolist(), loc.tolist(), scale.tolist(), strict=True)]
    assert together.tolist() == alone


@pytest.mark.parametrize("name", ["y_true", "loc", "scale"])
def test_a_bad_row_of_a_law_is_named(name):
    for bad, message in ((math.nan, "NaN"), (math.inf, "inf"), (-math.inf, "-inf")):
        columns = {"y_true": np.zeros(9000), "loc": np.zeros(9000), "scale": np.ones(9000)}
        columns[name][7001:] = bad
        with pytest.raises(ValueError, match=f"{name} .*{message}.* at row 7001"):
            calibrant.crps_normal(**columns)
    columns = {"y_true": np.zeros(9000), "scale": np.ones(9000)}
    columns["scale"][[600, 8000]] = -1.0, math.nan
    with pytest.raises(ValueError, match="scale must be positive, found -1 at row 600"):
        calibrant.crps_laplace(**columns)


# The peer -----------------------------------------------------------------------------------------


def test_agrees_with_scoringrules():
    peer = pytest.importorskip("scoringrules")
    rng = np.random.default_rng(14)
    x, y = rng.normal(size=(40, 17)), rng.normal(size=40)
    near = {"rtol": 1e-12, "atol": 1e-14}
    for theirs, ours in (
        ("nrg", "standard"),
        ("qd", "standard"),
        ("fair", "fair"),
        ("pwm", "fair"),
    ):
        np.testing.assert_allclose(
            crps_ensemble(y, x, estimator=ours),
            peer.crps_ensemble(y, x, estimator=theirs, backend="numpy"),
            **near,
        )
    w = rng.random((40, 17))
    for theirs, ours in (("nrg", "standard"), ("fair", "fair")):
        np.testing.assert_allclose(
            crps_ensemble(y, x, estimator=ours, draw_weight=w),
            peer.crps_ensemble(y, x, ens_w=w / w.sum(1, keepdims=True), estimator=theirs, backend="numpy"),
            **near,
        )  # fmt: skip
    points, outcomes = rng.normal(size=(6, 9, 4)), rng.normal(size=(6, 4))
    for theirs, ours in (("nrg", "standard"), ("fair", "fair")):
        np.testing.assert_allclose(
            energy_score(outcomes, points, estimator=ours),
            peer.es_ensemble(outcomes, points, estimator=theirs, backend="numpy"),
            **near,
        )
        np.testing.assert_allclose(
            variogram_score(outcomes, points, estimator=ours),
            peer.vs_ensemble(outcomes, points, estimator=theirs, backend="numpy"),
            **near,
        )
    for name in ("normal", "logistic", "laplace"):
        found = getattr(ensemble_scores, f"crps_{name}")(y, 0.3, 1.7)
        np.testing.assert_allclose(found, getattr(peer, f"crps_{name}")(y, 0.3, 1.7), rtol=1e-12)


def test_where_scoringrules_loses_digits():
    """An ensemble far from 0: without centring, the fair score 1/6 keeps half its digits."""
    peer = pytest.importorskip("scoringrules")
    x, y = np.array([[4.0, 1.0, 3.0, 2.0]]) + 1e8, np.array([2.5]) + 1e8
    assert crps_ensemble(y, x, estimator="fair")[0] == 1 / 6
    theirs = peer.crps_ensemble(y, x, estimator="pwm", backend="numpy")[0]
    assert 1e-9 < abs(theirs - 1 / 6) < 1e-7
