"""MMD beside NumPy's whole matrices by BLAS; and what permutations cost."""

from __future__ import annotations

import numpy as np

import calibrant
from bench.task import Peer, Task

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


def ours(x, y):
    return calibrant.mmd(x, y, bandwidth=BANDWIDTH)


TASKS = (
    Task(
        "mmd, 64 dimensions",
        vectors,
        ours,
        (Peer("NumPy, by BLAS", numpy_mmd, rtol=0, atol=1e-12),),
        sizes=(10**3, 10**4),
        limit=10**5,
    ),
    Task(
        "mmd_test, 1,000 permutations",
        vectors,
        lambda x, y: calibrant.mmd_test(x, y, bandwidth=BANDWIDTH),
        (Peer("one mmd", ours, yardstick=True),),
        answer=lambda found: found.statistic,
        check=lambda data, statistic: np.testing.assert_equal(statistic, ours(*data)),
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
