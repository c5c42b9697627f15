"""MMD against NumPy's whole matrices, the answers compared; and what permutations cost.

As a script, the ratios: ``python bench/test_bench_mmd.py``.
"""

from __future__ import annotations

import time

import numpy as np
import pytest

import calibrant

N, D, H = 10_000, 64, 8.0


@pytest.fixture(scope="module")
def vectors():
    rng = np.random.default_rng(0)
    return rng.normal(size=(N, D)), rng.normal(0.05, size=(N, D))


def numpy_mmd(x, y, h=H):
    """Whole matrices by BLAS, worked on in place."""

    def mean(a, b):
        k = a @ b.T
        k *= -2.0
        k += (a * a).sum(1)[:, None]
        k += (b * b).sum(1)
        k *= -0.5 / h**2
        return np.exp(k, out=k).mean()

    return mean(x, x) + mean(y, y) - 2 * mean(x, y)


def test_mmd(benchmark, vectors):
    benchmark.group = f"mmd, n = m = {N}, d = {D}"
    found = benchmark.pedantic(lambda: calibrant.mmd(*vectors, bandwidth=H), rounds=3)
    assert found == pytest.approx(numpy_mmd(*vectors), abs=1e-12)


def test_mmd_of_numpy(benchmark, vectors):
    benchmark.group = f"mmd, n = m = {N}, d = {D}"
    assert benchmark.pedantic(lambda: numpy_mmd(*vectors), rounds=3) > 0


def test_mmd_of_four_bandwidths(benchmark, vectors):
    benchmark.group = f"mmd, n = m = {N}, d = {D}"
    found = benchmark.pedantic(lambda: calibrant.mmd(*vectors, bandwidth=[4, 8, 16, 32]), rounds=3)
    assert found[1] == calibrant.mmd(*vectors, bandwidth=H)


def test_mmd_test(benchmark, vectors):
    benchmark.group = f"mmd, n = m = {N}, d = {D}"
    found = benchmark.pedantic(lambda: calibrant.mmd_test(*vectors, bandwidth=H), rounds=1)
    assert found.statistic == calibrant.mmd(*vectors, bandwidth=H)


@pytest.mark.parametrize("kernel", ["gaussian", "laplace"])
def test_mmd_of_numbers(benchmark, kernel):
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=10**6), rng.normal(0.01, size=10**6)
    benchmark.group = "mmd of numbers, n = m = 1e6"
    found = benchmark.pedantic(lambda: calibrant.mmd(x, y, bandwidth=1.0, kernel=kernel), rounds=3)
    assert 1e-6 < found < 1e-3


def _seconds(work):
    begin = time.perf_counter()
    result = work()
    return time.perf_counter() - begin, result


def _ratios(rounds=3):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(N, D)), rng.normal(0.05, size=(N, D))
    ours, theirs, test = [], [], []
    for _ in range(rounds):
        seconds, value = _seconds(lambda: calibrant.mmd(x, y, bandwidth=H))
        ours.append(seconds)
        seconds, expected = _seconds(lambda: numpy_mmd(x, y))
        theirs.append(seconds)
        seconds, _ = _seconds(lambda: calibrant.mmd_test(x, y, bandwidth=H))
        test.append(seconds)
        if abs(value - expected) > 1e-12:
            raise AssertionError(f"{value} is not NumPy's {expected}")
    mine, peer, permuted = min(ours), min(theirs), min(test)
    print(f"mmd {mine:.3f} s, NumPy {peer:.3f} s: {peer / mine:.1f} times as fast")
    print(f"1000 permutations {permuted:.3f} s: {permuted / mine:.1f} times one mmd")


if __name__ == "__main__":
    _ratios()
