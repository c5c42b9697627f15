"""Sample sets beside prdc, vendi-score, SciPy's root of a matrix, and NumPy's MMD by BLAS."""

from __future__ import annotations

import numpy as np

import calibrant
from bench.task import Peer, Task
from calibrant import streaming


def two_samples(n, d=64):
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, d)), 0.9 * rng.normal(size=(n, d))


def fewer_rows_than_features(n, d=300):
    rng = np.random.default_rng(1)
    return rng.normal(size=(n, d)), rng.normal(size=(n, d)) + 0.1


def prdc(real, generated):
    from prdc import compute_prdc

    return compute_prdc(real, generated, nearest_k=5)


def by_sqrtm(x, y):
    from scipy.linalg import sqrtm

    c, d = np.cov(x, rowvar=False), np.cov(y, rowvar=False)
    root = np.real(np.trace(sqrtm(c @ d)))
    return ((x.mean(0) - y.mean(0)) ** 2).sum() + np.trace(c) + np.trace(d) - 2 * root


def vendi(x):
    from vendi_score.vendi import score_dual

    return score_dual(x, normalize=True)


def moments(rows):
    state = streaming.Moments(rows.shape[1])
    state.update(rows)
    return state.result()


BANDWIDTH = 8.0


def vectors(n, d=64):
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, d)), rng.normal(0.05, size=(n, d))


def columns(n):
    rng = np.random.default_rng(1)
    return rng.normal(size=n), rng.normal(0.01, size=n)


def numpy_mmd(x, y, h=BANDWIDTH):
    """Whole matrices, worked on in place."""

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


TASKS = (
    Task(
        "density_coverage, 64 dimensions",
        two_samples,
        calibrant.density_coverage,
        (
            Peer(
                "prdc", prdc, needs="prdc",
                answer=lambda found: (found["density"], found["coverage"]),
                differs="it always computes precision and recall as well",
            ),
        ),
        answer=lambda found: (found.density, found.coverage),
        sizes=(10**3, 10**4),
        limit=10**5,
    ),
    Task(
        "all four of prdc, 64 dimensions",
        two_samples,
        lambda x, y: (calibrant.density_coverage(x, y), calibrant.precision_recall(x, y)),
        (
            Peer(
                "prdc", prdc, needs="prdc",
                answer=lambda found: [
                    found[key] for key in ("density", "coverage", "precision", "recall")
                ],
            ),
        ),
        answer=lambda pair: (
            pair[0].density, pair[0].coverage, pair[1].precision, pair[1].recall,
        ),
        sizes=(10**3, 10**4),
        limit=10**4,
    ),
    Task(
        "frechet_distance, 300 features",
        fewer_rows_than_features,
        calibrant.frechet_distance,
        (Peer("SciPy, by sqrtm", by_sqrtm, needs="scipy.linalg", rtol=1e-6),),
        sizes=(20, 50, 100, 10**4),
        limit=10**5,
    ),
    Task(
        "streaming.Moments, 64 dimensions",
        lambda n: two_samples(n)[:1],
        moments,
        (
            Peer(
                "NumPy", lambda rows: np.cov(rows, rowvar=False), rtol=0, atol=1e-11,
                differs="np.cov rounds; ours are exact sums of products",
            ),
        ),
        answer=lambda found: found.covariance,
        sizes=(10**3, 10**4),
        limit=10**5,
    ),
    Task(
        "vendi_score, 64 dimensions",
        lambda n: two_samples(n)[:1],
        calibrant.vendi_score,
        (Peer("vendi-score", vendi, needs="vendi_score.vendi"),),
        sizes=(10**3, 10**4, 10**5),
        limit=10**6,
    ),
    Task(
        "mmd, 64 dimensions",
        vectors,
        our_mmd,
        (Peer("NumPy, by BLAS", numpy_mmd, rtol=0, atol=1e-12),),
        sizes=(10**3, 10**4),
        limit=10**5,
    ),
    Task(
        "mmd_test, 1,000 permutations",
        vectors,
        lambda x, y: calibrant.mmd_test(x, y, bandwidth=BANDWIDTH),
        (Peer("one mmd", our_mmd, yardstick=True),),
        answer=lambda found: found.statistic,
        check=lambda data, statistic: np.testing.assert_equal(statistic, our_mmd(*data)),
        sizes=(10**3, 10**4),
        limit=10**4,
    ),
    Task(
        "mmd of numbers",
        columns,
        lambda x, y: calibrant.mmd(x, y, bandwidth=1.0),
        (
            Peer(
                "NumPy, by BLAS", lambda x, y: numpy_mmd(x[:, None], y[:, None], 1.0),
                rtol=0, atol=1e-12,
            ),
        ),
        sizes=(10**3, 4000, 10**5, 10**6),
        limit=10**7,
    ),
)  # fmt: skip
