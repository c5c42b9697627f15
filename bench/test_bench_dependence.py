"""HSIC against MAPIE and NumPy's n x n matrices, the answers compared."""

from __future__ import annotations

import numpy as np
import pytest

import calibrant
from calibrant._coverage_hsic import mapie_hsic

N = 4000


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    width = rng.exponential(size=N) + 0.5
    return rng.normal(size=N), np.stack([-width, width], axis=1)


@pytest.fixture
def pairs():
    rng = np.random.default_rng(1)
    x = rng.normal(size=N)
    return x, x + rng.normal(size=N)


def numpy_hsic(x, y):
    """Centred on one side; the trace as a sum of products."""
    k = np.exp(-((x[:, None] - x) ** 2) / 2)
    m = np.exp(-((y[:, None] - y) ** 2) / 2)
    k -= k.mean(0)
    k -= k.mean(1)[:, None]
    return np.sum(k * m) / x.size**2


def test_coverage_hsic(benchmark, rows):
    benchmark.group = f"coverage_hsic, n = {N}"
    found = benchmark(lambda: calibrant.coverage_hsic(*rows))
    size = 2 * np.ones(2)  # twice the squared bandwidth
    expected = mapie_hsic(*rows, size)[0] ** 2 * ((N - 1) / N) ** 2
    assert found.hsic == pytest.approx(expected, rel=1e-12)


def test_coverage_hsic_of_mapie(benchmark, rows):
    peer = pytest.importorskip("mapie.metrics.regression")
    benchmark.group = f"coverage_hsic, n = {N}"
    found = benchmark.pedantic(lambda: peer.hsic(*rows), rounds=1)
    assert found == pytest.approx(mapie_hsic(*rows), rel=1e-9)


def test_coverage_hsic_of_many_rows(benchmark):
    rng = np.random.default_rng(2)
    n = 10**7
    width = rng.exponential(size=n) + 0.5
    truth = rng.normal(size=n)
    bounds = -width, width
    benchmark.group = "coverage_hsic, n = 1e7"
    found = benchmark(lambda: calibrant.coverage_hsic(truth, bounds))
    assert 0.004 < found.hsic < 0.008


def test_sum_of_many_widths(benchmark):
    width = np.random.default_rng(2).exponential(size=10**7) + 0.5
    benchmark.group = "coverage_hsic, n = 1e7"
    assert benchmark(width.sum) == pytest.approx(1.5e7, rel=1e-2)


@pytest.mark.parametrize("kernel", ["gaussian", "laplace"])
def test_hsic(benchmark, pairs, kernel):
    benchmark.group = f"hsic, n = {N}"
    found = benchmark(lambda: calibrant.hsic(*pairs, bandwidth=1.0, kernel=kernel))
    if kernel == "gaussian":
        assert found.hsic == pytest.approx(numpy_hsic(*pairs), rel=1e-11)


def test_hsic_of_numpy(benchmark, pairs):
    benchmark.group = f"hsic, n = {N}"
    assert benchmark(lambda: numpy_hsic(*pairs)) > 0


@pytest.mark.parametrize("kernel", ["gaussian", "laplace"])
def test_hsic_of_many_rows(benchmark, kernel):
    rng = np.random.default_rng(3)
    n = 10**6
    x = rng.normal(size=n)
    y = x + rng.normal(size=n)
    benchmark.group = "hsic, n = 1e6"
    found = benchmark(lambda: calibrant.hsic(x, y, bandwidth=1.0, kernel=kernel))
    few = calibrant.hsic(x[:20_000], y[:20_000], bandwidth=1.0, kernel=kernel)
    assert found.hsic == pytest.approx(few.hsic, rel=0.05)


def test_reading_as_many(benchmark):
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=10**6), rng.normal(size=10**6)
    benchmark.group = "hsic, n = 1e6"
    benchmark(lambda: (x.sum(), y.sum()))
