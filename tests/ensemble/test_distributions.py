"""Coupled Gaussians: quadrature, scipy's Student t, closed forms, samples."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import integrate, stats

from calibrant import CoupledGaussian, class_posterior

COUPLINGS = (2.0, 1.0, 0.5, 0.162, 1e-3, 1e-9, 0.0, -1e-9, -1e-3, -0.095, -0.25, -0.9)
SCALE = np.array([[2.0, 0.5], [0.5, 1.0]])


def reach(kappa):
    return math.inf if kappa >= 0 else math.sqrt(-1 / kappa)


@pytest.mark.parametrize("kappa", COUPLINGS)
def test_a_line_integrates_to_one(kappa):
    density = CoupledGaussian(0.0, 1.0, kappa)
    end = reach(kappa)
    # x = end sin t removes the edge of a compact support, x = sinh t tames a heavy tail.
    if math.isinf(end):
        total = 2 * integrate.quad(
            lambda t: density.pdf(math.sinh(t)) * math.cosh(t), 0, 60, epsabs=1e-14, limit=500
        )[0]  # fmt: skip
    else:
        width = min(end, 40.0)
        total = 2 * integrate.quad(
            lambda t: density.pdf(end * math.sin(t)) * end * math.cos(t),
            0, math.asin(width / end), epsabs=1e-14, limit=500,
        )[0]  # fmt: skip
    # Beyond |t| = 60 the tail of kappa = 2, which falls as x^-1.5, still has 1e-13.
    assert total == pytest.approx(1.0, abs=2e-12)


@pytest.mark.parametrize("d", [1, 2, 3, 4, 7, 10])
@pytest.mark.parametrize("kappa", COUPLINGS)
def test_the_norm_in_many_digits(d, kappa):
    if kappa * d <= -1:
        pytest.skip("no such distribution")
    with mpmath.workdps(60):
        k, half = mpmath.mpf(kappa), mpmath.mpf(d) / 2
        if kappa > 0:
            log_z = half * mpmath.log(mpmath.pi / k)
            log_z += mpmath.loggamma(1 / (2 * k)) - mpmath.loggamma((1 + d * k) / (2 * k))
        elif kappa == 0:
            log_z = half * mpmath.log(2 * mpmath.pi)
        else:
            s = (-1 / k - d) / 2
            log_z = half * mpmath.log(-mpmath.pi / k)
            log_z += mpmath.loggamma(s + 1) - mpmath.loggamma(s + 1 + half)
        expected = float(-log_z)
    found = CoupledGaussian(np.zeros(d), 1.0, kappa).logpdf(np.zeros(d))
    assert found == pytest.approx(expected, rel=1e-14, abs=1e-14)


@pytest.mark.parametrize("kappa", [2.0, 0.5, 0.162, 0.01])
def test_students_t(kappa):
    x = np.random.default_rng(1).normal(size=(50, 2)) * 5
    found = CoupledGaussian([1.0, 2.0], SCALE, kappa).pdf(x)
    np.testing.assert_allclose(
        found, stats.multivariate_t([1.0, 2.0], SCALE, df=1 / kappa).pdf(x), rtol=1e-12
    )
    one = np.linspace(-50, 50, 101)
    np.testing.assert_allclose(
        CoupledGaussian(0.0, 4.0, kappa).cdf(one),
        stats.t(1 / kappa, scale=2.0).cdf(one),
        rtol=1e-12,
    )


def test_gauss():
    x = np.random.default_rng(2).normal(size=(50, 2))
    found = CoupledGaussian([1.0, 2.0], SCALE).pdf(x)
    np.testing.assert_allclose(
        found, stats.multivariate_normal([1.0, 2.0], SCALE).pdf(x), rtol=1e-12
    )


def test_worked_examples():
    assert CoupledGaussian(0, 1, 0.5).pdf(2.0) == pytest.approx(
        1 / (2 * 2**0.5 * 3**1.5), rel=1e-14
    )
    assert CoupledGaussian(0, 1, 1.0).pdf(1.0) == pytest.approx(1 / (2 * math.pi), rel=1e-14)
    compact = CoupledGaussian(0, 1, -0.25)
    assert compact.pdf(1.0) == pytest.approx(0.75**1.5 / (0.75 * math.pi), rel=1e-14)
    assert compact.pdf(2.0) == compact.pdf(-7.0) == 0.0
    assert compact.logpdf(3.0) == -math.inf
    first, second = CoupledGaussian(2, 1, 0.5), CoupledGaussian(0, 1, 0.5)
    assert first.posterior(2.0, second) == pytest.approx(3**1.5 / (1 + 3**1.5), rel=1e-14)


@pytest.mark.parametrize("kappa", [0.7, 0.0, -0.1, -0.49])
def test_in_the_plane_the_norm_does_not_depend_on_the_coupling(kappa):
    found = CoupledGaussian([0.0, 0.0], SCALE, kappa).pdf([0.0, 0.0])
    assert found == pytest.approx(1 / (2 * math.pi * math.sqrt(np.linalg.det(SCALE))), rel=1e-14)


@given(
    kappa=st.floats(-1e-6, 1e-6),
    x=st.floats(-20, 20),
    d=st.integers(1, 6),
)
def test_the_gaussian_is_reached_smoothly(kappa, x, d):
    point = np.full(d, x / math.sqrt(d))
    near = CoupledGaussian(np.zeros(d), 1.0, kappa).logpdf(point)
    gauss = -x * x / 2 - d / 2 * math.log(2 * math.pi)
    # ln G = Gauss + kappa (u^2/4 - d u/2 + d (d - 2)/4) + O(kappa^2)
    slope = x**4 / 4 - d * x * x / 2 + d * (d - 2) / 4
    curve = kappa**2 * (1 + abs(x) ** 6 + d**3)
    assert near == pytest.approx(gauss + kappa * slope, rel=1e-13, abs=curve + 1e-13)


@pytest.mark.parametrize("kappa", [0.2, 0.0, -0.2, -0.9])
def test_samples_follow_the_distribution_function(kappa):
    distribution = CoupledGaussian(3.0, 2.0, kappa)
    x = distribution.rvs(20_000, seed=5)
    assert stats.kstest(x, distribution.cdf).pvalue > 1e-3
    grid = np.linspace(-4, 10, 15)
    by_density = [integrate.quad(distribution.pdf, 3.0, at, epsabs=1e-13)[0] + 0.5 for at in grid]
    np.testing.assert_allclose(distribution.cdf(grid), by_density, atol=1e-8)
    np.testing.assert_array_equal(x, distribution.rvs(20_000, seed=5))


@pytest.mark.parametrize("kappa", [0.1, 0.0, -0.2])
def test_samples_have_the_covariance(kappa):
    distribution = CoupledGaussian([1.0, -1.0], SCALE, kappa)
    x = distribution.rvs(100_000, seed=6)
    np.testing.assert_allclose(np.cov(x.T), SCALE / (1 - 2 * kappa), atol=0.06)
    np.testing.assert_allclose(x.mean(axis=0), [1.0, -1.0], atol=0.03)


@pytest.mark.parametrize("kappa", [0.6, 0.0, -0.2])
def test_fits(kappa):
    truth = CoupledGaussian([1.0, -1.0], SCALE, kappa)
    fit = CoupledGaussian.fit(truth.rvs(50_000, seed=7), kappa)
    assert fit.converged
    np.testing.assert_allclose(fit.distribution.mean, truth.mean, atol=0.04)
    np.testing.assert_allclose(fit.distribution.scale, SCALE, atol=0.08)
    assert fit.to_dict()["kappa"] == kappa


def test_a_fit_is_where_the_likelihood_is_largest():
    x = CoupledGaussian(0.0, 1.0, 0.4).rvs(300, seed=8)
    best = CoupledGaussian.fit(x, 0.4).distribution
    top = best.logpdf(x).sum()
    for shift, stretch in [(0.01, 1.0), (-0.01, 1.0), (0.0, 1.02), (0.0, 0.98)]:
        other = CoupledGaussian(best.mean + shift, best.scale * stretch, 0.4)
        assert other.logpdf(x).sum() < top
    assert not CoupledGaussian.fit(x, 0.4, max_iterations=2).converged


def test_posteriors():
    narrow, far = CoupledGaussian(0.0, 1.0, -0.5), CoupledGaussian(10.0, 1.0, -0.5)
    x = np.array([0.0, 5.0, 10.0])
    np.testing.assert_array_equal(narrow.posterior(x, far, prior=0.3), [1.0, 0.3, 0.0])
    np.testing.assert_array_equal(narrow.posterior(x, far, outside=0.0), [1.0, 0.0, 0.0])
    wide, shifted = CoupledGaussian(0.0, 1.0, 0.0), CoupledGaussian(1.0, 1.0, 0.0)
    both = wide.posterior(x, shifted, prior=0.2) + shifted.posterior(x, wide, prior=0.8)
    np.testing.assert_allclose(both, 1.0, rtol=1e-15)
    assert wide.posterior(1e3, shifted) == 0.0  # no overflow on the way


def test_shapes():
    line, plane = CoupledGaussian(0.0), CoupledGaussian([0.0, 0.0])
    assert isinstance(line.pdf(0.0), float)
    assert line.pdf(np.zeros((3, 4))).shape == (3, 4)
    assert line.pdf(np.zeros((3, 1))).shape == (3,)
    assert plane.pdf(np.zeros((5, 3, 2))).shape == (5, 3)
    assert (line.rvs(3).shape, plane.rvs(3).shape) == ((3,), (3, 2))
    assert CoupledGaussian([0, 0], [1, 4]).scale.tolist() == [[1, 0], [0, 4]]
    assert repr(line) == "CoupledGaussian(mean=0.0, scale=1.0, kappa=0.0)"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: CoupledGaussian([0, 0], 1, -0.5), "greater than -1/d = -0.5"),
        (lambda: CoupledGaussian(0, 1, math.nan), "kappa must be (finite|a number)"),
        (lambda: CoupledGaussian(math.inf), "mean must be a finite"),
        (lambda: CoupledGaussian(0, 0), "positive definite"),
        (lambda: CoupledGaussian([0, 0], [[1, 2], [0, 1]]), "symmetric"),
        (lambda: CoupledGaussian([0, 0], [1, 2, 3]), "a vector of 2"),
        (lambda: CoupledGaussian([0, 0]).pdf([1.0, 2.0, 3.0]), r"shape \(..., 2\), got \(3,\)"),
        (lambda: CoupledGaussian(0).pdf(math.nan), "x must not be NaN"),
        (lambda: CoupledGaussian([0, 0]).cdf([1.0, 2.0]), "one dimension"),
        (lambda: CoupledGaussian(0).posterior(0, CoupledGaussian(0), prior=1), r"lie in \(0, 1\)"),
        (lambda: CoupledGaussian(0).posterior(0, CoupledGaussian([0, 0])), "dimension 1, got 2"),
        (lambda: CoupledGaussian(0).posterior(0, CoupledGaussian(0), outside=2), "outside"),
        (lambda: CoupledGaussian.fit([[1.0, 2.0]]), "more rows than columns"),
        (lambda: CoupledGaussian.fit([1.0, math.nan, 2.0]), "at row 1"),
    ],
)
def test_what_cannot_be(make, message):
    with pytest.raises(ValueError, match=message):
        make()


# Posteriors of several classes


def test_posterior_of_gaussians_is_the_closed_form():
    # Equal scales: a softmax of linear functions.
    means, priors = np.array([[0.0, 0.0], [2.0, 1.0], [-1.0, 3.0]]), np.array([0.2, 0.5, 0.3])
    x = np.random.default_rng(0).normal(size=(4, 5, 2)) * 3
    linear = x @ means.T - 0.5 * (means**2).sum(axis=1) + np.log(priors)
    expected = np.exp(linear - linear.max(axis=-1, keepdims=True))
    expected /= expected.sum(axis=-1, keepdims=True)
    found = class_posterior(x, [CoupledGaussian(mean) for mean in means], priors=10 * priors)
    assert found.shape == (4, 5, 3)
    assert found == pytest.approx(expected, rel=1e-13)


def test_posterior_of_three_students_is_the_closed_form():
    # kappa = 1/2 in one dimension: densities go as (1 + (x - mean)^2 / 2)^(-3/2).
    x, means, priors = (
        np.linspace(-5, 9, 29),
        np.array([0.0, 2.0, 4.0]),
        np.array([0.25, 0.5, 0.25]),
    )
    density = (1 + 0.5 * (x[:, None] - means) ** 2) ** -1.5 * priors
    found = class_posterior(x, [CoupledGaussian(m, 1.0, 0.5) for m in means], priors=priors)
    assert found == pytest.approx(density / density.sum(axis=1, keepdims=True), rel=1e-13)
    assert found.sum(axis=1) == pytest.approx(1.0, rel=1e-14)


@given(
    st.lists(st.floats(-50, 50), min_size=1, max_size=5),
    st.sampled_from(COUPLINGS),
    st.sampled_from(COUPLINGS),
    st.floats(0.01, 0.99),
)
def test_posterior_of_two_classes_is_the_first_of_several(x, kappa, other_kappa, prior):
    first, second = CoupledGaussian(1.0, 2.0, kappa), CoupledGaussian(-1.0, 0.5, other_kappa)
    found = class_posterior(x, [first, second], priors=[prior, 1 - prior])
    assert found[:, 0] == pytest.approx(first.posterior(x, second, prior=prior), rel=1e-12)
    assert found[:, 1] == pytest.approx(second.posterior(x, first, prior=1 - prior), rel=1e-12)
    third = CoupledGaussian(0.0, 1.0, 0.0)
    logs = np.array([g.logpdf(x) for g in (first, second, third)])
    found = class_posterior(x, [first, second, third])
    with mpmath.workdps(40):
        for i, column in enumerate(logs.T):
            densities = [mpmath.exp(log) for log in column]
            total = mpmath.fsum(densities)
            if total:
                assert found[i] == pytest.approx([float(d / total) for d in densities], rel=1e-11)


def test_posterior_outside_of_all_supports():
    classes = [CoupledGaussian(10.0 * j, 1.0, -0.5) for j in range(3)]
    found = class_posterior([0.0, 5.0, 20.0], classes, priors=[2, 1, 1])
    assert found.tolist() == [[1.0, 0.0, 0.0], [0.5, 0.25, 0.25], [0.0, 0.0, 1.0]]
    assert class_posterior([5.0], classes, outside=[0, 0, 0]).tolist() == [[0.0, 0.0, 0.0]]
    assert class_posterior(5.0, classes[:1]).tolist() == [1.0]


def test_posteriors_that_are_rejected():
    classes = [CoupledGaussian(0.0), CoupledGaussian(1.0)]
    for options, message in (
        ({"classes": []}, "at least one CoupledGaussian, got none"),
        ({"classes": [classes[0], CoupledGaussian([0.0, 1.0])]}, "got 1 and, at position 1, 2"),
        ({"priors": [1.0]}, "priors must be finite, with a number for each of 2 classes"),
        ({"priors": [1.0, 0.0]}, r"priors must be positive, got \[1.0, 0.0\]"),
        ({"outside": [1.5, 0.0]}, r"outside must lie in \[0, 1\], got \[1.5, 0.0\]"),
    ):
        with pytest.raises(ValueError, match=message):
            class_posterior([0.0], **{"classes": classes, **options})
    with pytest.raises(TypeError, match="classes must be a list of CoupledGaussian, got 3"):
        class_posterior([0.0], [classes[0], 3])
