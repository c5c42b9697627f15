"""Sample sets against prdc, vendi-score and SciPy's root of a matrix, the answers compared."""

from __future__ import annotations

import time

import numpy as np
import pytest

import calibrant
from calibrant import streaming

RNG = np.random.default_rng(0)


def best_of(n, call):
    """Return the least time of n calls, and what the last gave."""
    times = []
    for _ in range(n):
        start = time.perf_counter()
        result = call()
        times.append(time.perf_counter() - start)
    return min(times), result


# Density and coverage

N, D = 10_000, 64


@pytest.fixture(scope="module")
def samples():
    return RNG.normal(size=(N, D)), 0.9 * RNG.normal(size=(N, D))


def test_density_coverage(benchmark, samples):
    benchmark.group = f"density and coverage, n = {N}, d = {D}"
    found = benchmark.pedantic(lambda: calibrant.density_coverage(*samples), rounds=5)
    assert 0.5 < found.coverage < 1


def test_precision_recall(benchmark, samples):
    benchmark.group = f"density and coverage, n = {N}, d = {D}"
    found = benchmark.pedantic(lambda: calibrant.precision_recall(*samples), rounds=3)
    assert found.precision > found.recall


def test_density_coverage_beside_prdc(samples):
    peer = pytest.importorskip("prdc")
    ours, found = best_of(3, lambda: calibrant.density_coverage(*samples))
    both, pair = best_of(1, lambda: calibrant.precision_recall(*samples))
    theirs, expected = best_of(1, lambda: peer.compute_prdc(*samples, nearest_k=5))
    assert found.density == pytest.approx(expected["density"], rel=1e-12)
    assert found.coverage == pytest.approx(expected["coverage"], rel=1e-12)
    assert pair.precision == pytest.approx(expected["precision"], rel=1e-12)
    assert pair.recall == pytest.approx(expected["recall"], rel=1e-12)
    print(f"density_coverage {ours:.2f} s, prdc {theirs:.2f} s: {theirs / ours:.1f} times")
    print(f"all four {ours + both:.2f} s: {theirs / (ours + both):.1f} times")
    assert theirs / ours > 3


# The Fréchet distance


def by_sqrtm(x, y):
    from scipy.linalg import sqrtm

    c, d = np.cov(x, rowvar=False), np.cov(y, rowvar=False)
    root = np.real(np.trace(sqrtm(c @ d)))
    return ((x.mean(0) - y.mean(0)) ** 2).sum() + np.trace(c) + np.trace(d) - 2 * root


@pytest.mark.parametrize(("rows", "d"), [(50, 300), (100, 500)])
def test_frechet_distance_beside_sqrtm(rows, d):
    x, y = RNG.normal(size=(rows, d)), RNG.normal(size=(rows, d)) + 0.1
    ours, found = best_of(20, lambda: calibrant.frechet_distance(x, y))
    theirs, expected = best_of(1, lambda: by_sqrtm(x, y))
    assert found == pytest.approx(expected, rel=1e-6)
    times = f"{ours * 1e3:.2f} ms, sqrtm {theirs:.2f} s: {theirs / ours:.0f} times"
    print(f"n = {rows}, d = {d}: {times}")
    assert theirs / ours > 100


@pytest.mark.parametrize(("rows", "d"), [(100, 1000), (10_000, 64), (5_000, 512)])
def test_frechet_distance(benchmark, rows, d):
    x, y = RNG.normal(size=(rows, d)), RNG.normal(size=(rows, d)) + 0.1
    benchmark.group = f"Fréchet distance, n = {rows}, d = {d}"
    assert benchmark(lambda: calibrant.frechet_distance(x, y)) > 0


@pytest.mark.parametrize("d", [16, 64, 256])
def test_moments(benchmark, d):
    rows = RNG.normal(size=(2000, d)) + 100
    benchmark.group = f"moments of 2000 rows, d = {d}"

    def work():
        state = streaming.Moments(d)
        state.update(rows)
        return state

    found = benchmark(work).result()
    assert np.abs(found.covariance - np.cov(rows, rowvar=False)).max() < 1e-11


# The Vendi score


@pytest.mark.parametrize("q", [0.1, 1, 2])
def test_vendi_score(benchmark, q):
    x = RNG.normal(size=(N, D))
    benchmark.group = f"Vendi score, n = {N}, d = {D}"
    assert 1 < benchmark(lambda: calibrant.vendi_score(x, q=q)) <= D


def test_vendi_score_of_the_peer(benchmark):
    peer = pytest.importorskip("vendi_score.vendi")
    x = RNG.normal(size=(N, D))
    benchmark.group = f"Vendi score, n = {N}, d = {D}"
    found = benchmark(lambda: peer.score_dual(x))
    assert found == pytest.approx(calibrant.vendi_score(x), rel=1e-9)
