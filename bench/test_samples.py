"""Sample sets beside prdc, vendi-score, SciPy's root of a matrix, and NumPy's MMD by BLAS."""

from functools import partial

import numpy as np

import calibrant
from bench.case import Case, Peer, benchmarks, peer, yardstick
from calibrant import streaming

BANDWIDTH = 8.0
ALL_FOUR = ("density", "coverage", "precision", "recall")


def two_samples(n, d=64, shift=0.0, scale=0.9):
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, d)), rng.normal(shift, scale, size=(n, d))


def one_sample(n):
    return two_samples(n)[:1]


def prdc(keys, differs=""):
    return peer(
        "prdc",
        "prdc.compute_prdc",
        {"nearest_k": 5},
        answer=lambda found: [found[key] for key in keys],
        differs=differs,
    )


def by_sqrtm(x, y):
    from scipy.linalg import sqrtm

    c, d = np.cov(x, rowvar=False), np.cov(y, rowvar=False)
    root = np.real(np.trace(sqrtm(c @ d)))
    return ((x.mean(0) - y.mean(0)) ** 2).sum() + np.trace(c) + np.trace(d) - 2 * root


def moments(rows):
    state = streaming.Moments(rows.shape[1])
    state.update(rows)
    return state.result()


def vectors(n):
    return two_samples(n, 64, 0.05, 1.0)


def numpy_mmd(x, y, h):
    """Whole matrices, worked on in place."""
    x, y = x.reshape(len(x), -1), y.reshape(len(y), -1)

    def mean(a, b):
        k = a @ b.T
        k *= -2.0
        k += (a * a).sum(1)[:, None]
        k += (b * b).sum(1)
        k *= -0.5 / h**2
        return np.exp(k, out=k).mean()

    return mean(x, x) + mean(y, y) - 2 * mean(x, y)


def our_mmd(x, y):
    return calibrant.mmd(x, y, bandwidth=BANDWIDTH)


def same_statistic(data, found):
    np.testing.assert_equal(found.statistic, our_mmd(*data))


def by_blas(h, most):
    call = partial(numpy_mmd, h=h)
    return (Peer("NumPy, by BLAS", call, rtol=0, atol=1e-12, most=most),)


test_samples = benchmarks(
    Case("density_coverage, 64 dimensions", two_samples, calibrant.density_coverage,
         (prdc(ALL_FOUR[:2], "it always computes precision and recall as well"),),
         answer=lambda found: (found.density, found.coverage), most=10**4),
    Case("all four of prdc, 64 dimensions", two_samples,
         lambda x, y: (calibrant.density_coverage(x, y), calibrant.precision_recall(x, y)),
         (prdc(ALL_FOUR),),
         answer=lambda two: (two[0].density, two[0].coverage, two[1].precision, two[1].recall),
         most=10**4),
    Case("frechet_distance, 300 features", lambda n: two_samples(n, 300),
         calibrant.frechet_distance,
         (Peer("SciPy, by sqrtm", by_sqrtm, needs="scipy.linalg", rtol=1e-6),), sizes=(50, 10**4)),
    Case("streaming.Moments, 64 dimensions", one_sample, moments,
         (Peer("NumPy", lambda rows: np.cov(rows, rowvar=False), rtol=0, atol=1e-11,
               differs="np.cov rounds; ours are exact sums of products"),),
         answer=lambda found: found.covariance, most=10**4,
         why="each of the d(d + 1)/2 products of a row is added exactly, some 22 operations of "
             "vectors where `np.cov` has one, in a multiplication of matrices by BLAS"),
    Case("vendi_score, 64 dimensions", one_sample, calibrant.vendi_score,
         (peer("vendi-score", "vendi_score.vendi.score_dual", {"normalize": True}),), most=10**5,
         why="the same matrix by the same BLAS, but first every row gets unit length by an exact "
             "sum of squares, a quarter of the time; singular values keep digits of small ones"),
    Case("mmd, 64 dimensions", vectors, our_mmd, by_blas(BANDWIDTH, 10**4), most=10**4),
    Case("mmd_test, 1,000 permutations", vectors,
         lambda x, y: calibrant.mmd_test(x, y, bandwidth=BANDWIDTH),
         (yardstick("one mmd", our_mmd),), check=same_statistic, most=10**4),
    Case("mmd of numbers", lambda n: [x[:, 0] for x in two_samples(n, 1, 0.01, 1.0)],
         lambda x, y: calibrant.mmd(x, y, bandwidth=1.0), by_blas(1.0, 4000), sizes=(4000, 10**6)),
)  # fmt: skip
