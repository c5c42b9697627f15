"""Bands for ranks against ArviZ, the answers compared; and what larger ones cost."""

from __future__ import annotations

import time
import warnings

import numpy as np
import pytest

from calibrant import _core, rank_calibration
from calibrant._rank_curves import _bands


def test_gamma(benchmark):
    benchmark.group = "gamma, N = K = 1000"
    gamma, coverage, *_ = benchmark(_core.simultaneous_rank_band, 1000, 1000, 0.95)
    assert gamma == pytest.approx(0.00151607, abs=1e-8)
    assert coverage == pytest.approx(0.95005299, abs=1e-8)


@pytest.fixture
def arviz_band():
    """Its band for N = K = 1000, compiled by numba if that is there."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        arviz = pytest.importorskip("arviz.stats.ecdf_utils")
    points = np.arange(1, 1000) / 1000
    arviz.ecdf_confidence_band(10, points[99::100], points[99::100], method="optimized")  # compile
    return lambda: arviz.ecdf_confidence_band(1000, points, points, method="optimized")


def check_band(arviz, ours):
    # Its search stops near the level, not at it: bounds may differ by one count.
    for theirs, bounds in zip(arviz, ours[2:], strict=True):
        assert np.abs(1000 * theirs - bounds).max() <= 1 + 1e-9


def test_gamma_arviz(benchmark, arviz_band):
    benchmark.group = "gamma, N = K = 1000"
    found = benchmark.pedantic(arviz_band, rounds=2)
    check_band(found, _core.simultaneous_rank_band(1000, 1000, 0.95))


def test_gamma_is_20_times_faster_than_arviz(arviz_band):
    """The bar: in one run, on one thread, by the processor's time."""

    def seconds(work, rounds):
        def once():
            start = time.process_time()
            work()
            return time.process_time() - start

        return min(once() for _ in range(rounds))

    ours = seconds(lambda: _core.simultaneous_rank_band(1000, 1000, 0.95), 10)
    theirs = seconds(arviz_band, 2)
    print(
        f"\ngamma at N = K = 1000: {1e3 * ours:.2f} ms, ArviZ {theirs:.2f} s, {theirs / ours:.0f}x"
    )
    assert theirs / ours > 20


def test_large_gamma(benchmark):
    benchmark.group = "gamma, N = 1e6, K = 1000"
    found = benchmark.pedantic(_core.simultaneous_rank_band, (1_000_000, 1000, 0.95), rounds=2)
    assert found[1] >= 0.95


@pytest.mark.parametrize(("n_ranked", "n_draws"), [(1000, 99), (100_000, 99), (1_000_000, 999)])
def test_rank_calibration(benchmark, n_ranked, n_draws):
    """With the band found before, as for the second and all further dimensions."""
    benchmark.group = "rank_calibration"
    ranks = np.random.default_rng(0).integers(0, n_draws + 1, n_ranked)
    found = benchmark.pedantic(rank_calibration, (ranks, n_draws), rounds=3, warmup_rounds=1)
    assert found.verdict.startswith("calibrated")
    assert _bands.cache_info().hits > 0
