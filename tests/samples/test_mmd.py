"""MMD against double loops over pairs; its test against splits made one by one."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from calibrant import median_bandwidth, mmd, mmd_test, set_num_threads
from calibrant._core import _testing
from calibrant.config import config
from interrupts import assert_interrupted, needs_signals

pytestmark = [pytest.mark.kernels, pytest.mark.usefixtures("runtime_restored")]

KERNELS = ["gaussian", "laplace", "polynomial"]
X, Y = [0.0, 1.0, 2.0], [1.0, 3.0, 4.0]


def bandwidth_for(kernel, h):
    return {} if kernel == "polynomial" else {"bandwidth": h}


def kernel_of(a, b, h, kernel):
    pairs = list(zip(np.atleast_1d(a).tolist(), np.atleast_1d(b).tolist(), strict=True))
    if kernel == "gaussian":
        return math.exp(-math.fsum((p - q) ** 2 for p, q in pairs) / (2 * h * h))
    if kernel == "laplace":
        return math.exp(-math.fsum(abs(p - q) for p, q in pairs) / h)
    return (math.fsum(p * q for p, q in pairs) / len(pairs) + 1) ** 3


def by_definition(x, y, h, kernel="gaussian"):
    """Return the biased and the unbiased estimate."""

    def mean(a, b, same=True):
        pairs = [(i, j) for i in range(len(a)) for j in range(len(b)) if same or i != j]
        return math.fsum(kernel_of(a[i], b[j], h, kernel) for i, j in pairs) / len(pairs)

    biased = mean(x, x) + mean(y, y) - 2 * mean(x, y)
    if min(len(x), len(y)) < 2:
        return biased, math.nan
    return biased, mean(x, x, False) + mean(y, y, False) - 2 * mean(x, y)


def by_matrices(x, y, h, kernel):
    """Return both from whole matrices of k - 1 in long doubles."""
    x, y = (np.asarray(s, np.longdouble).reshape(len(s), -1) for s in (x, y))

    def matrix(a, b):
        if kernel == "gaussian":
            return np.expm1(-((a[:, None] - b) ** 2).sum(-1) / (2 * np.longdouble(h) ** 2))
        return np.expm1(-np.abs(a[:, None] - b).sum(-1) / np.longdouble(h))

    n, m = len(x), len(y)
    xx, yy, xy = matrix(x, x).sum(), matrix(y, y).sum(), matrix(x, y).sum()
    biased = xx / n / n + yy / m / m - 2 * xy / n / m
    return float(biased), float(xx / n / (n - 1) + yy / m / (m - 1) - 2 * xy / n / m)


def samples(n, m, d, seed=3, shift=0.3):
    rng = np.random.default_rng(seed)
    shape = (lambda k: (k,)) if d == 0 else (lambda k: (k, d))
    return rng.normal(size=shape(n)), rng.normal(shift, 1.3, size=shape(m))


def test_values_of_the_literature():
    assert mmd(X, Y, bandwidth=1.0) == pytest.approx(0.441901231296, abs=1e-12)
    unbiased = mmd(X, Y, bandwidth=1.0, estimator="unbiased")
    assert unbiased == pytest.approx(0.008720291535, abs=1e-12)
    assert median_bandwidth(X, Y) == 2.0
    assert mmd(X, Y) == mmd(X, Y, bandwidth=2.0)
    x, y = [0.0, 1.0, 2.0, 3.0], [1.0, 2.0, 3.0, 5.0]
    linear = mmd(x, y, bandwidth=1.0, estimator="linear")
    assert linear == pytest.approx(-0.09575850870017, abs=1e-13)


def test_kernel_inception_distance():
    x, y = [(1.0, 0.0), (0.0, 1.0), (1.0, 1.0)], [(1.0, 2.0), (2.0, 0.0), (0.0, 0.0)]
    found = mmd(x, y, kernel="polynomial", estimator="unbiased")
    assert found == pytest.approx(-4.527777777778, abs=1e-11)
    biased = (30.25 + 90.875 - 2 * 47) / 9
    assert mmd(x, y, kernel="polynomial") == pytest.approx(biased, rel=1e-14)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(
    ("n", "m", "d"), [(1, 1, 0), (7, 5, 0), (3, 9, 1), (1, 6, 2), (13, 20, 3), (30, 45, 17)]
)
def test_double_loops(n, m, d, kernel):
    x, y = samples(n, m, d)
    for h in (0.4, 3.0):
        biased, unbiased = by_definition(x, y, h, kernel)
        options = {"kernel": kernel, **bandwidth_for(kernel, h)}
        scale = 1.0 if kernel != "polynomial" else 50.0
        assert mmd(x, y, **options) == pytest.approx(biased, abs=3e-15 * scale)
        if min(n, m) >= 2:
            found = mmd(x, y, estimator="unbiased", **options)
            assert found == pytest.approx(unbiased, abs=3e-15 * scale)
        else:
            with pytest.raises(ValueError, match="at least 2 rows of each, got 1"):
                mmd(x, y, estimator="unbiased", **options)


@pytest.mark.parametrize("kernel", ["gaussian", "laplace"])
@pytest.mark.parametrize("d", [0, 5])
@pytest.mark.parametrize("h", [1e-6, 0.01, 1.0, 30.0, 1e5])
def test_many_rows_and_extreme_bandwidths(d, kernel, h):
    """Even where all of k is close to 1, or to 0 off the diagonal."""
    x, y = samples(300, 211, d)
    biased, unbiased = by_matrices(x, y, h, kernel)
    size = min(1.0, 1 / h)  # of 1 - k
    size = size**2 if kernel == "gaussian" else size
    close = {"rel": 1e-12, "abs": 2e-15 * size}
    assert mmd(x, y, bandwidth=h, kernel=kernel) == pytest.approx(biased, **close)
    found = mmd(x, y, bandwidth=h, kernel=kernel, estimator="unbiased")
    assert found == pytest.approx(unbiased, **close)


@pytest.mark.parametrize("kernel", ["gaussian", "laplace"])
def test_a_line_is_as_vectors_with_a_constant(kernel):
    """Points on a line have a way of their own, in n log n."""
    x, y = samples(3000, 2500, 0)
    plane = [np.column_stack([s, np.full(len(s), 7.0)]) for s in (x, y)]
    for estimator in ("biased", "unbiased"):
        line = mmd(x, y, bandwidth=0.7, kernel=kernel, estimator=estimator)
        pairs = mmd(*plane, bandwidth=0.7, kernel=kernel, estimator=estimator)
        assert line == pytest.approx(pairs, abs=2e-15)


def test_far_away_points_lose_nothing():
    """Distances are no differences of large squares."""
    x, y = (np.round(s * 2**20) / 2**20 for s in samples(40, 40, 3))
    expected = mmd(x, y, bandwidth=1.0)
    assert mmd(x + 2.0**30, y + 2.0**30, bandwidth=1.0) == expected


def test_several_bandwidths_at_once():
    x, y = samples(90, 70, 4)
    for estimator in ("biased", "unbiased"):
        found = mmd(x, y, bandwidth=[0.5, 1.0, 4.0], estimator=estimator)
        alone = [mmd(x, y, bandwidth=h, estimator=estimator) for h in (0.5, 1.0, 4.0)]
        assert found.tolist() == alone
    assert mmd(x, y, bandwidth=np.array([2.0])).shape == (1,)


@given(
    st.integers(1, 30),
    st.integers(1, 30),
    st.integers(0, 3),
    st.sampled_from(["gaussian", "laplace"]),
    st.integers(0, 99),
)
@settings(max_examples=40, deadline=None)
def test_laws(n, m, d, kernel, seed):
    """Order of rows, exchange of samples, shift, scale; equal samples have nothing between them."""
    x, y = (np.round(s * 64) / 64 for s in samples(n, m, d, seed))
    rng = np.random.default_rng(seed)
    value = mmd(x, y, bandwidth=0.75, kernel=kernel)
    assert value >= 0.0
    close = pytest.approx(value, abs=2e-15)
    assert mmd(y, x, bandwidth=0.75, kernel=kernel) == close
    assert mmd(rng.permutation(x), rng.permutation(y), bandwidth=0.75, kernel=kernel) == close
    assert mmd(x + 8.0, y + 8.0, bandwidth=0.75, kernel=kernel) == close
    assert mmd(x * 4.0, y * 4.0, bandwidth=3.0, kernel=kernel) == close
    assert mmd(x, x, bandwidth=0.75, kernel=kernel) == pytest.approx(0.0, abs=2e-15)
    repeated = mmd(np.repeat(x, 3, axis=0), np.repeat(y, 2, axis=0), bandwidth=0.75, kernel=kernel)
    assert repeated == close


@pytest.mark.parametrize("d", [0, 3])
@pytest.mark.parametrize("kernel", KERNELS)
def test_same_bits_on_threads_and_instruction_sets(d, kernel):
    x, y = samples(333, 290, d)

    def results():
        options = {"kernel": kernel, **bandwidth_for(kernel, 0.9)}
        equal = x[:290], y
        return (
            mmd(x, y, **options),
            mmd(x, y, estimator="unbiased", **options),
            mmd(*equal, estimator="linear", **options),
            mmd(*equal, estimator="block", **options),
            mmd_test(x, y, n_permutations=70, **options).null.tobytes(),
            0.0 if kernel == "polynomial" else median_bandwidth(x, y, kernel=kernel),
        )

    set_num_threads(1)
    expected = results()
    for threads in (2, 5):
        set_num_threads(threads)
        assert results() == expected
    for isa in config()["available_isas"]:
        _testing.set_isa(isa)
        assert results() == expected


def test_medians():
    for n, m, d in [(5, 4, 0), (6, 4, 3), (300, 200, 3)]:
        x, y = samples(n, m, d)
        pooled = np.concatenate([x, y]).reshape(n + m, -1)
        a, b = np.triu_indices(n + m, 1)
        gaps = pooled[a] - pooled[b]
        expected = np.median(np.sqrt((gaps**2).sum(1)))
        assert median_bandwidth(x, y) == pytest.approx(expected, rel=1e-14)
        expected = np.median(np.abs(gaps).sum(1))
        assert median_bandwidth(x, y, kernel="laplace") == pytest.approx(expected, rel=1e-14)
    x, y = samples(6000, 5000, 4)
    pooled = np.concatenate([x, y])[::8]
    expected = np.median(distances_of(pooled))
    assert median_bandwidth(x, y) == pytest.approx(expected, rel=0.05)


def distances_of(points):
    a, b = np.triu_indices(len(points), 1)
    return np.sqrt(((points[a] - points[b]) ** 2).sum(1))


def linear_terms(x, y, h, kernel):
    def k(a, b):
        return kernel_of(a, b, h, kernel)

    return [
        k(x[i], x[i + 1]) + k(y[i], y[i + 1]) - k(x[i], y[i + 1]) - k(x[i + 1], y[i])
        for i in range(0, len(x) // 2 * 2, 2)
    ]


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("d", [0, 3])
def test_linear_and_block(d, kernel):
    x, y = samples(601, 601, d)
    options = {"kernel": kernel, **bandwidth_for(kernel, 0.8)}
    terms = linear_terms(x, y, 0.8, kernel)
    test = mmd_test(x, y, estimator="linear", **options)
    assert test.statistic == pytest.approx(np.mean(terms), abs=1e-13)
    error = np.std(terms, ddof=1) / math.sqrt(300)
    assert test.standard_error == pytest.approx(error, rel=1e-12)
    assert test.pvalue == pytest.approx(stats.norm.sf(np.mean(terms) / error), rel=1e-10)
    assert (test.n_terms, test.method) == (300, "normal")
    blocks = [
        mmd(x[i : i + 24], y[i : i + 24], estimator="unbiased", **options)
        for i in range(0, 600, 24)
    ]
    test = mmd_test(x, y, estimator="block", **options)
    assert test.n_terms == 25
    assert test.statistic == pytest.approx(np.mean(blocks), abs=1e-14 * (1 + abs(np.mean(blocks))))
    error = np.std(blocks, ddof=1) / 5
    assert test.pvalue == pytest.approx(stats.norm.sf(np.mean(blocks) / error), rel=1e-10)
    assert mmd(x, y, estimator="block", block_size=24, **options) == test.statistic


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("d", [0, 2])
@pytest.mark.parametrize("estimator", ["biased", "unbiased"])
def test_all_splits(d, kernel, estimator):
    n, m = (4, 3) if d == 0 else (3, 4)
    x, y = samples(n, m, d, seed=8)
    options = {"kernel": kernel, "estimator": estimator, **bandwidth_for(kernel, 0.8)}
    pooled = np.concatenate([x, y])
    expected = []
    for chosen in itertools.combinations(range(7), n):
        rest = [i for i in range(7) if i not in chosen]
        both = by_definition(pooled[list(chosen)], pooled[rest], 0.8, kernel)
        expected.append(both[estimator == "unbiased"])
    test = mmd_test(x, y, **options)
    assert (test.method, test.n_permutations) == ("exact", 35)
    np.testing.assert_allclose(np.sort(test.null), np.sort(expected), atol=1e-13, rtol=1e-12)
    assert test.statistic == mmd(x, y, **options)
    assert test.pvalue == sum(t >= expected[0] - 1e-12 for t in expected) / 35


def test_twenty_splits_of_the_literature():
    """Mirrored splits tie with the one at hand, rounding or not."""
    assert mmd_test(X, Y, bandwidth=1.0).pvalue == 0.4
    assert mmd_test(X, Y, bandwidth=1.0, n_permutations=20).method == "exact"
    assert mmd_test(X, Y, bandwidth=1.0, n_permutations=19).method == "permutation"
    plane = [[(v, 5.0) for v in s] for s in (X, Y)]
    assert mmd_test(*plane, bandwidth=1.0).pvalue == 0.4


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("d", [0, 3])
@pytest.mark.parametrize(("n", "m"), [(70, 90), (90, 70)])
def test_random_splits_are_splits(n, m, d, kernel):
    """Each statistic of the null is that of some split; on average they are as theory has it."""
    x, y = samples(n, m, d, shift=0.0)
    options = {"kernel": kernel, **bandwidth_for(kernel, 0.8)}
    test = mmd_test(x, y, n_permutations=200, estimator="unbiased", **options)
    again = mmd_test(x, y, n_permutations=200, estimator="unbiased", **options)
    other = mmd_test(x, y, n_permutations=200, estimator="unbiased", seed=1, **options)
    assert test.null.tobytes() == again.null.tobytes() != other.null.tobytes()
    assert len(set(test.null.tolist())) == 200
    beyond = np.count_nonzero(test.null >= test.statistic)
    assert test.pvalue == (1 + beyond) / 201
    assert test.log_pvalue == math.log(test.pvalue)
    # The unbiased estimate has mean 0 over all splits.
    assert abs(test.null.mean()) < 4 * test.null.std() / math.sqrt(200)
    # The splits that a seed draws do not depend on the values: one point alone is in x or in y.
    indicator = np.zeros((n + m, 2))
    indicator[5] = 1.0
    null = mmd_test(indicator[:n], indicator[n:], bandwidth=0.5, n_permutations=400).null
    share = np.mean(np.isclose(null, null.max() if n < m else null.min()))
    assert share == pytest.approx(n / (n + m), abs=0.1)


@pytest.mark.parametrize("d", [0, 2])
@pytest.mark.parametrize("kernel", ["gaussian", "laplace"])
@pytest.mark.parametrize("h", [0.02, 40.0])
def test_splits_one_by_one(d, kernel, h):
    """The null of random splits, found again among all ways to split by brute force."""
    x, y = samples(6, 5, d)
    pooled = np.concatenate([x, y])
    test = mmd_test(x, y, bandwidth=h, kernel=kernel, n_permutations=100)
    assert test.method == "permutation"  # of 462
    every = [
        by_matrices(pooled[list(c)], np.delete(pooled, c, axis=0), h, kernel)[0]
        for c in itertools.combinations(range(11), 6)
    ]
    gaps = np.abs(np.asarray(every)[None] - test.null[:, None]).min(axis=1)
    assert gaps.max() < 1e-14


def test_mean_kernel_of_several_bandwidths():
    for d in (0, 3):
        x, y = samples(60, 40, d)
        test = mmd_test(x, y, bandwidth=[0.5, 2.0], n_permutations=99)
        alone = [mmd_test(x, y, bandwidth=h, n_permutations=99) for h in (0.5, 2.0)]
        np.testing.assert_allclose(test.null, (alone[0].null + alone[1].null) / 2, atol=1e-15)
        assert test.statistic == pytest.approx(np.mean([t.statistic for t in alone]), abs=1e-15)
        assert test.bandwidths == (0.5, 2.0)
        linear = mmd_test(x[:40], y, bandwidth=[0.5, 2.0], estimator="linear")
        each = mmd(x[:40], y, bandwidth=[0.5, 2.0], estimator="linear")
        assert linear.statistic == pytest.approx(each.mean(), abs=1e-15)


def test_expected_value_between_gaussians():
    """E MMD^2 of N(0, 1) and N(a, 1) with h = 1, in closed form."""
    a, runs, n = 0.7, 60, 400
    expected = 2 / math.sqrt(3) * (1 - math.exp(-(a**2) / 6))
    rng = np.random.default_rng(12)
    found = [
        mmd(rng.normal(size=n), rng.normal(a, size=n), bandwidth=1.0, estimator="unbiased")
        for _ in range(runs)
    ]
    assert np.mean(found) == pytest.approx(expected, abs=4 * np.std(found) / math.sqrt(runs))


@pytest.mark.parametrize("estimator", ["biased", "unbiased", "linear", "block"])
def test_level_and_power(estimator):
    rng = np.random.default_rng(4)
    options = {"bandwidth": 1.0, "estimator": estimator, "n_permutations": 49}
    same = [
        mmd_test(rng.normal(size=(50, 2)), rng.normal(size=(50, 2)), **options).pvalue
        for _ in range(200)
    ]
    # A binomial count of mean 20, above which 36 has a probability of 0.0003.
    assert sum(p <= 0.1 for p in same) <= 36
    far = mmd_test(rng.normal(size=(400, 2)), rng.normal(1.0, size=(400, 2)), **options)
    assert far.pvalue <= 0.02


def test_progress():
    x, y = samples(500, 400, 3)
    seen = []
    mmd_test(x, y, progress=seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == 1.0


@needs_signals
@pytest.mark.parametrize("call", [mmd, mmd_test])
def test_ctrl_c(call):
    x = np.broadcast_to(np.linspace(0.0, 1.0, 40).reshape(1, 40), (200_000, 40))  # minutes
    assert_interrupted(lambda: call(x, x, bandwidth=1.0))


def test_result():
    x, y = samples(30, 20, 2)
    test = mmd_test(x, y, n_permutations=50)
    assert repr(test).startswith("MMDTest(statistic=0.")
    assert "null" not in repr(test)
    assert test.bandwidths == (median_bandwidth(x, y),)
    assert test.to_dict()["null"] == test.null.tolist()
    assert not test.null.flags.writeable


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((X, [(1.0, 2.0)]), {}, "same number of columns, found 1 and 2"),
        ((X, [1.0, math.nan]), {}, "y .* at row 1"),
        (([0.0, math.inf], Y), {"bandwidth": 1.0}, "x must be finite, found inf at row 1"),
        ((X, []), {"bandwidth": 1.0}, "at least one row, found 3 and 0"),
        ((X, Y), {"bandwidth": 0.0}, r"\[1e-150, 1e150\], found 0"),
        ((X, Y), {"bandwidth": -1.0}, r"\[1e-150, 1e150\], found -1"),
        ((X, Y), {"bandwidth": "mean"}, "'median', a number or a sequence of numbers, got 'mean'"),
        ((X, Y), {"bandwidth": []}, "at least one number"),
        ((X, Y), {"kernel": "cosine"}, "'polynomial', got 'cosine'"),
        ((X, Y), {"kernel": "polynomial", "bandwidth": 1.0}, "has no bandwidth, got 1.0"),
        ((X, Y), {"estimator": "quadratic"}, "estimator must be 'biased'"),
        ((X, Y), {"block_size": 2}, "block_size is for estimator 'block'"),
        ((X, Y), {"estimator": "block", "block_size": 4}, r"in \[2, 3\], got 4"),
        ((X, Y[:2]), {"estimator": "linear"}, "as many rows of x as of y, got 3 and 2"),
        (([1.0], [1.0]), {"estimator": "linear", "bandwidth": 1.0}, "at least 2 rows of each"),
        (([1.0, 1.0], [1.0]), {}, "median of the distances, which is 0.0; pass one"),
        (([1e300], [1e-300]), {"bandwidth": 1.0}, r"within 2\^48 bandwidths"),
        (([1e200, 1.0], [2.0]), {"kernel": "polynomial"}, "it overflows"),
    ],
)
def test_rejections(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        mmd(*arguments, **options)
    with pytest.raises(ValueError, match=message):
        mmd_test(*arguments, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_permutations": 0}, "n_permutations must be at least 1, got 0"),
        ({"seed": -1}, r"seed must lie in \[0, 2\^64\), got -1"),
        ({"estimator": "block", "block_size": 2}, "at least 2 of them, got 1"),
    ],
)
def test_rejections_of_the_test(options, message):
    with pytest.raises(ValueError, match=message):
        mmd_test(X, Y, **options)


def test_overflowing_distances_are_far():
    """A kernel of 0, not a NaN."""
    x, y = [(1e200, 0.0), (-1e308, 1e308)], [(0.0, 0.0), (1.0, -1e308)]
    for kernel in ("gaussian", "laplace"):
        assert mmd(x, y, bandwidth=1.0, kernel=kernel) == pytest.approx(1.0)


def test_inputs_of_all_kinds():
    x, y = samples(20, 25, 2)
    expected = mmd(x.astype(np.float32), y.astype(np.float32), bandwidth=1.0)
    lists = [s.astype(np.float32).tolist() for s in (x, y)]
    assert mmd(*lists, bandwidth=1.0) == expected
    assert mmd(np.asfortranarray(x), y[::-1][::-1], bandwidth=1.0) == mmd(x, y, bandwidth=1.0)
    assert mmd(x[:, :1], y[:, :1], bandwidth=1.0) == mmd(x[:, 0], y[:, 0], bandwidth=1.0)
