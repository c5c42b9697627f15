"""HSIC of two samples, against the n x n definition; its test against all permutations."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from calibrant import _core, dependence, set_num_threads
from calibrant._core import _testing
from calibrant.config import config
from calibrant.dependence import hsic, hsic_test

pytestmark = [pytest.mark.kernels, pytest.mark.threads, pytest.mark.usefixtures("runtime_restored")]

KERNELS = ["gaussian", "laplace"]


def kernel_matrix(x, h, kernel):
    """Return k - 1, which centring does not tell from k, in long doubles."""
    x = np.asarray(x, np.longdouble).reshape(len(x), -1)
    difference = x[:, None] - x
    if kernel == "gaussian":
        return np.expm1(-(difference**2).sum(-1) / (2 * np.longdouble(h) ** 2))
    return np.expm1(-np.abs(difference).sum(-1) / np.longdouble(h))


def centred(matrix):
    return matrix - matrix.mean(0) - matrix.mean(1)[:, None] + matrix.mean()


def reference(x, y, hx, hy, kernel):
    """Return the biased and the unbiased estimator, the latter as Song et al. print it.

    It takes matrices with a zero diagonal and sees no constant added to all other entries.
    """
    n = len(x)
    k, m = kernel_matrix(x, hx, kernel), kernel_matrix(y, hy, kernel)
    trace = (centred(k) * centred(m)).sum()
    if n < 4:
        return float(trace) / n**2, math.nan
    unbiased = (
        (k * m).sum()
        + k.sum() * m.sum() / (n - 1) / (n - 2)
        - 2 * (k.sum(0) * m.sum(0)).sum() / np.longdouble(n - 2)
    ) / (n * (n - 3))
    return float(trace) / n**2, float(unbiased)


def sample(name, n=250):
    rng = np.random.default_rng(11)
    x = rng.normal(size=n)
    return {
        "independent": (x, rng.exponential(size=n)),
        "dependent": (x, x**2 + 0.1 * rng.normal(size=n)),
        "far-flung": (10.0 ** rng.uniform(-6, 6, n), rng.random(n)),
        "far from zero, tied": (1e6 + x, rng.integers(0, 3, n).astype(float)),
        "heavy tails": (rng.standard_cauchy(n), rng.standard_cauchy(n)),
        "vectors": (rng.normal(size=(n, 3)), np.stack([x, x * rng.normal(size=n)], axis=1)),
        "vector and number": (rng.normal(size=(n, 2)), x),
    }[name]


NAMES = ["independent", "dependent", "far-flung", "far from zero, tied", "vectors"]


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("ratio", [1e-3, 0.1, 1.0, 10.0, 1e3])
def test_equals_the_definition(name, kernel, ratio):
    x, y = sample(name)
    for y_ratio in (1.0, ratio):
        h = ratio * x.std(), y_ratio * y.std()
        biased, unbiased = reference(x, y, *h, kernel)
        found = hsic(x, y, bandwidth=h, kernel=kernel)
        assert float(found) == pytest.approx(biased, rel=1e-12, abs=0)
        assert found.bandwidths == h
        n = len(x)
        gretton = hsic(x, y, bandwidth=h, kernel=kernel, estimator="gretton").hsic
        assert gretton == pytest.approx(biased * (n / (n - 1)) ** 2, rel=1e-12, abs=0)
        # A difference of terms that are as large as the biased one.
        there = hsic(x, y, bandwidth=h, kernel=kernel, estimator="unbiased").hsic
        assert there == pytest.approx(unbiased, rel=0, abs=1e-12 * biased)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("ratio", [1e-3, 0.1, 1.0, 10.0, 1e3])
def test_heavy_tails(kernel, ratio):
    # The spread is that of a few points; all others are close together.
    x, y = sample("heavy tails")
    h = ratio * x.std(), ratio * y.std()
    biased, _ = reference(x, y, *h, kernel)
    assert hsic(x, y, bandwidth=h, kernel=kernel).hsic == pytest.approx(biased, rel=1e-11)


@pytest.mark.parametrize("kernel", KERNELS)
def test_vector_and_number(kernel):
    x, y = sample("vector and number", 100)
    expected = reference(x, y, 1.0, 0.5, kernel)
    for estimator, value in zip(("biased", "unbiased"), expected, strict=True):
        found = hsic(x, y, bandwidth=(1.0, 0.5), kernel=kernel, estimator=estimator)
        assert found.hsic == pytest.approx(value, rel=1e-11)
    one_column = hsic(y[:, None], y, bandwidth=1.0, kernel=kernel)
    assert one_column == hsic(y, y, bandwidth=1.0, kernel=kernel)


numbers = st.floats(-1e6, 1e6) | st.sampled_from([0.0, 1.0, -1.0, 0.5, 1e-300])


@pytest.mark.parametrize("kernel", KERNELS)
@given(
    rows=st.lists(st.tuples(numbers, numbers), min_size=2, max_size=40),
    h=st.sampled_from([1e-3, 0.3, 1.0, 50.0, 1e5]),
)
@settings(max_examples=40)
def test_any_rows(kernel, rows, h):
    x, y = (np.array(column) for column in zip(*rows, strict=True))
    found = hsic(x, y, bandwidth=(h, 2 * h), kernel=kernel)
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        assert found.reason == ("constant x" if np.ptp(x) == 0 else "constant y")
        assert math.isnan(found.hsic)
        return
    biased, _ = reference(x, y, h, 2 * h, kernel)
    x_most = np.abs(kernel_matrix(x, h, kernel)).max()
    scale = x_most * np.abs(kernel_matrix(y, 2 * h, kernel)).max()
    assert found.hsic == pytest.approx(biased, rel=1e-11, abs=1e-14 * float(scale))


@pytest.mark.parametrize("kernel", KERNELS)
def test_laws(kernel):
    x, y = sample("dependent")
    one = hsic(x, y, bandwidth=(0.5, 0.7), kernel=kernel).hsic
    assert hsic(y, x, bandwidth=(0.7, 0.5), kernel=kernel).hsic == pytest.approx(one, rel=1e-13)
    order = np.random.default_rng(0).permutation(len(x))
    shuffled = hsic(x[order], y[order], bandwidth=(0.5, 0.7), kernel=kernel).hsic
    assert shuffled == pytest.approx(one, rel=1e-13)
    scaled = hsic(8 * x + 3, -y / 4, bandwidth=(4.0, 0.175), kernel=kernel).hsic
    assert scaled == pytest.approx(one, rel=1e-12)
    twice = hsic(np.tile(x, 2), np.tile(y, 2), bandwidth=(0.5, 0.7), kernel=kernel).hsic
    assert twice == pytest.approx(one, rel=1e-12)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(
    ("n", "h"), [(5000, 1.0), (5000, 0.001), (5000, 30.0), (20_000, 0.7), (400, (1.0,))]
)
def test_same_bits_on_any_number_of_threads_and_instruction_set(kernel, n, h):
    rng = np.random.default_rng(3)
    x = rng.normal(size=n)
    y = x + rng.normal(size=n)
    if isinstance(h, tuple):  # vectors
        x, y, h = np.stack([x, y], axis=1), np.stack([y, rng.random(n)], axis=1), h[0]
    found = set()
    cases = [(isa, 2) for isa in config()["available_isas"] if n < 10_000]
    for isa, threads in [*cases, *((None, threads) for threads in (1, 2, 5))]:
        if isa is not None:
            _testing.set_isa(isa)
        set_num_threads(threads)
        answer = _core.hsic(x, y, h, h, kernel, 2, 3 if n < 1000 else 0, 0)
        found.add(tuple(sorted(answer.items())))
    assert len(found) == 1


def test_large_samples_against_a_subset_of_definitions():
    # Blocks of the matrices, one after the other.
    rng = np.random.default_rng(4)
    n = 6_000
    x = rng.normal(size=n)
    y = 0.3 * x + rng.normal(size=n)
    total = rows = 0.0
    sums = np.zeros(2)
    for block in np.array_split(np.arange(n), 40):
        k = np.exp(-((x[block, None] - x) ** 2) / 2)
        m = np.exp(-((y[block, None] - y) ** 2) / 2)
        total += (k * m).sum()
        rows += (k.sum(1) * m.sum(1)).sum()
        sums += k.sum(), m.sum()
    expected = total / n**2 - 2 * rows / n**3 + sums[0] * sums[1] / n**4
    assert hsic(x, y, bandwidth=1.0).hsic == pytest.approx(expected, rel=1e-10)


# Bandwidths


@pytest.mark.parametrize("n", [2, 3, 4, 50, 301])
@pytest.mark.parametrize("digits", [1, 12])
def test_median_bandwidth_is_exact(n, digits):
    rng = np.random.default_rng(n)
    x = np.round(rng.standard_cauchy(n), digits)
    distances = [abs(a - b) for a, b in itertools.combinations(x, 2)]
    if not (median := float(np.median(distances))):
        pytest.skip("more than half of the pairs are ties")
    found = hsic(x, np.arange(n), bandwidth=(None, 1.0))
    assert found.bandwidths == (median, 1.0)
    assert hsic(x, np.arange(n), bandwidth=(None, 1.0), kernel="laplace").bandwidths[0] == median


def test_median_bandwidth_of_vectors():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(1500, 2))
    rows = x[np.arange(1000) * 1500 // 1000]
    distances = np.sqrt(((rows[:, None] - rows) ** 2).sum(-1))[np.triu_indices(1000, 1)]
    found = hsic(x, x[:, 0], bandwidth=(None, 1.0)).bandwidths[0]
    assert found == pytest.approx(np.median(distances), rel=1e-15)


# The test of independence


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("columns", [1, 2])
def test_moments_are_those_of_all_permutations(kernel, columns):
    rng = np.random.default_rng(2)
    n = 6
    x, y = rng.normal(size=(n, columns)), rng.exponential(size=(n, columns))
    a, b = centred(kernel_matrix(x, 1.0, kernel)), centred(kernel_matrix(y, 0.5, kernel))
    values = np.array(
        [
            float((a * b[np.ix_(order, order)]).sum()) / n**2
            for order in map(list, itertools.permutations(range(n)))
        ]
    )
    found = hsic_test(x, y, bandwidth=(1.0, 0.5), kernel=kernel)
    assert found.null_mean == pytest.approx(values.mean(), rel=1e-12)
    assert found.null_variance == pytest.approx(values.var(), rel=1e-11)
    shape, scale = values.mean() ** 2 / values.var(), values.var() / values.mean()
    expected = stats.gamma.sf(found.statistic, shape, scale=scale)
    assert found.pvalue == pytest.approx(expected, rel=1e-9)
    assert found.log_pvalue == pytest.approx(math.log(expected), rel=1e-9)
    # Random orders: the share of all orders that reach the statistic, within 5 standard errors.
    share = np.mean(values >= found.statistic * (1 - 1e-12))
    count = 4000
    random = hsic_test(
        x, y, bandwidth=(1.0, 0.5), kernel=kernel, method="permutation", n_permutations=count
    )
    error = 5 * math.sqrt(share * (1 - share) / count) + 1 / count
    assert random.pvalue == pytest.approx(share, abs=error)


@pytest.mark.parametrize("shape", [1e-3, 0.5, 1.0, 7.3, 15.9, 16.1, 300.0, 1e5])
@pytest.mark.parametrize("deviations", [-5.0, -1.0, -0.01, 0.0, 0.3, 2.0, 8.0, 30.0])
def test_gamma_tail(shape, deviations):
    x = max(shape + deviations * math.sqrt(shape), 1e-9)
    tail, log_tail = _core.gamma_tail(shape, x)
    assert tail == pytest.approx(stats.gamma.sf(x, shape), rel=1e-10, abs=1e-300)
    assert log_tail == pytest.approx(stats.gamma.logsf(x, shape), rel=1e-9, abs=1e-13)


def test_gamma_tail_beyond_doubles():
    tail, log_tail = _core.gamma_tail(2.0, 2000.0)
    assert tail == 0.0
    assert log_tail == pytest.approx(-2000.0 + math.log(2001.0), rel=1e-14)
    assert _core.gamma_tail(2.0, 0.0) == (1.0, 0.0)
    assert _core.gamma_tail(1e12, 1e12)[0] == pytest.approx(0.5, abs=1e-6)


@pytest.mark.parametrize("method", ["gamma", "permutation"])
def test_level_and_power(method):
    rng = np.random.default_rng(8)
    runs, n = 200, 40
    rejected = sum(
        hsic_test(rng.normal(size=n), rng.normal(size=n), method=method, n_permutations=99).pvalue
        <= 0.1
        for _ in range(runs)
    )
    assert 6 <= rejected <= 38  # binomial(200, 0.1), but for 1 in 10^4
    x = rng.uniform(-1, 1, 200)
    assert hsic_test(x, x**2, method=method, n_permutations=199).pvalue <= 0.005


def test_permutations_depend_on_the_seed_alone():
    x, y = sample("independent", 60)
    found = {}
    for seed, threads in itertools.product((0, 1, 2**64 - 1), (1, 3)):
        set_num_threads(threads)
        result = hsic_test(x, y, method="permutation", n_permutations=300, seed=seed)
        found.setdefault(seed, set()).add(result.pvalue)
    assert all(len(values) == 1 for values in found.values())
    assert len(set.union(*found.values())) > 1


def test_constant_samples_have_a_reason():
    x = np.ones(10)
    y = np.arange(10.0)
    assert hsic(x, y).reason == "constant x"
    assert hsic(y, x).reason == "constant y"
    assert "reason='constant x'" in repr(hsic(x, y))
    result = hsic_test(x, y)
    assert (result.pvalue, result.reason) == (1.0, "constant x")
    assert math.isnan(result.statistic)
    assert hsic_test(y, x, method="permutation").pvalue == 1.0


def test_bad_input():
    x = np.arange(10.0)
    with pytest.raises(ValueError, match=r"kernel must be 'gaussian' or 'laplace', got 'rbf'"):
        hsic(x, x, kernel="rbf")
    with pytest.raises(ValueError, match=r"estimator must be .*got 'v'"):
        hsic(x, x, estimator="v")
    with pytest.raises(ValueError, match="an HSIC needs at least 2 rows, got 1"):
        hsic([1.0], [2.0])
    with pytest.raises(ValueError, match="an unbiased HSIC needs at least 4 rows, got 3"):
        hsic(x[:3], x[:3], estimator="unbiased")
    with pytest.raises(ValueError, match="x and y must have the same length, got 10 and 9"):
        hsic(x, x[:9])
    with pytest.raises(ValueError, match=r"y must be finite, found inf at row 1"):
        hsic([0.0, 1.0], [0.0, math.inf])
    with pytest.raises(ValueError, match=r"x .*NaN.* at row 1, column 0"):
        hsic([[0.0, 1.0], [math.nan, 1.0]], [0.0, 1.0])
    with pytest.raises(ValueError, match=r"bandwidth must lie in \[1e-150, 1e150\], found -1"):
        hsic(x, x, bandwidth=-1.0)
    with pytest.raises(ValueError, match="bandwidth must be a number, a pair"):
        hsic(x, x, bandwidth=(1.0, 2.0, 3.0))
    with pytest.raises(ValueError, match=r"bandwidth of x cannot be the median .*, which is 0"):
        hsic([0.0] * 9 + [1.0], x)
    with pytest.raises(ValueError, match=r"x must lie within 2\^48 bandwidths of 0, found 1e\+40"):
        hsic([0.0, 1e40, 1.0], [0.0, 1.0, 2.0], bandwidth=1.0)
    with pytest.raises(ValueError, match="method must be 'gamma' or 'permutation', got 'exact'"):
        hsic_test(x, x, method="exact")
    with pytest.raises(ValueError, match="n_permutations must be at least 1, got 0"):
        hsic_test(x, x, method="permutation", n_permutations=0)
    with pytest.raises(ValueError, match="seed must lie in"):
        hsic_test(x, x, seed=-1)
    with pytest.raises(ValueError, match="needs at least 6 rows, got 5"):
        hsic_test(x[:5], x[:5])
    with pytest.raises(TypeError, match="x must hold real numbers"):
        hsic(["a", "b"], [1.0, 2.0])
    assert dependence.hsic is hsic


def test_a_value_is_a_number():
    found = hsic([1.0, 2.0, 4.0], [1.0, 3.0, 2.0])
    assert float(found) == found.hsic == np.asarray(found)
