"""Scores of ensembles against scoringrules' fastest backend, the answers compared.

pytest bench/test_bench_ensemble_scores.py -k bar -s    # prints the ratios, side by side
"""

from __future__ import annotations

import time
from functools import cache

import numpy as np
import pytest

import calibrant

ROWS, DRAWS = 100_000, 100
#: What scoringrules calls the number: the fastest of its estimators that give it.
THEIRS = {"standard": "qd", "fair": "pwm"}


@cache
def make_ensembles(n, m, dtype):
    rng = np.random.default_rng(20170619)
    x = rng.standard_normal((n, m)).astype(dtype)
    return rng.standard_normal(n).astype(dtype), x


@cache
def make_points(n, m, d):
    rng = np.random.default_rng(20170619)
    return rng.standard_normal((n, d)), rng.standard_normal((n, m, d))


def backend():
    """The numba one, where there is numba."""
    try:
        import numba  # noqa: F401
    except ImportError:
        return "numpy"
    return "numba"


def best_of(rounds, *functions):
    """The least time of each, in turns, so that all have the same neighbours."""
    times = [[] for _ in functions]
    for _ in range(rounds):
        for function, seconds in zip(functions, times, strict=True):
            start = time.perf_counter()
            function()
            seconds.append(time.perf_counter() - start)
    return [min(seconds) for seconds in times]


@pytest.fixture(params=["float64", "float32"])
def ensembles(request):
    return make_ensembles(ROWS, DRAWS, request.param)


@pytest.mark.parametrize("estimator", ["standard", "fair"])
@pytest.mark.usefixtures("threads")
def test_calibrant(benchmark, ensembles, estimator):
    y, x = ensembles
    benchmark.group = f"crps_ensemble-{estimator}-{x.dtype}"
    scores = benchmark.pedantic(
        lambda: calibrant.crps_ensemble(y, x, estimator=estimator), rounds=7, warmup_rounds=1
    )
    assert scores.shape == (ROWS,)


@pytest.mark.parametrize("estimator", ["standard", "fair"])
def test_scoringrules(benchmark, ensembles, estimator):
    peer = pytest.importorskip("scoringrules")
    y, x = ensembles
    benchmark.group = f"crps_ensemble-{estimator}-{x.dtype}"
    scores = benchmark.pedantic(
        lambda: peer.crps_ensemble(y, x, estimator=THEIRS[estimator], backend=backend()),
        rounds=3,
        warmup_rounds=1,
    )
    ours = calibrant.crps_ensemble(y, x, estimator=estimator)
    tolerance = 1e-10 if x.dtype == np.float64 else 1e-4
    np.testing.assert_allclose(scores, ours, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("estimator", ["standard", "fair"])
def test_bar_crps(ensembles, estimator):
    peer = pytest.importorskip("scoringrules")
    y, x = ensembles

    def theirs():
        return peer.crps_ensemble(y, x, estimator=THEIRS[estimator], backend=backend())

    def ours():
        return calibrant.crps_ensemble(y, x, estimator=estimator)

    tolerance = 1e-10 if x.dtype == np.float64 else 1e-4
    np.testing.assert_allclose(ours(), theirs(), rtol=tolerance, atol=tolerance)
    mine, peers = best_of(5, ours, theirs)
    print(
        f"\ncrps_ensemble {estimator} {x.dtype} n={ROWS} m={DRAWS}: {mine * 1e3:.1f} ms, "
        f"scoringrules {THEIRS[estimator]} ({backend()}) {peers * 1e3:.1f} ms, "
        f"{peers / mine:.1f} times"
    )


@pytest.mark.parametrize("m", [10, 1000, 10_000])
def test_bar_crps_of_other_sizes(m):
    peer = pytest.importorskip("scoringrules")
    y, x = make_ensembles(1_000_000 // m, m, "float64")

    def theirs():
        return peer.crps_ensemble(y, x, estimator="qd", backend=backend())

    def ours():
        return calibrant.crps_ensemble(y, x)

    np.testing.assert_allclose(ours(), theirs(), rtol=1e-9)
    mine, peers = best_of(5, ours, theirs)
    print(f"\ncrps_ensemble m={m}: {mine * 1e3:.2f} ms, {peers * 1e3:.2f} ms, {peers / mine:.1f}")


@pytest.mark.parametrize("shape", [(1000, 100, 3), (200, 100, 20), (1, 4000, 3)])
def test_bar_energy(shape):
    peer = pytest.importorskip("scoringrules")
    y, x = make_points(*shape)

    def theirs():
        return peer.es_ensemble(y, x, backend=backend())

    def ours():
        return calibrant.energy_score(y, x)

    np.testing.assert_allclose(ours(), theirs(), rtol=1e-10)
    mine, peers = best_of(3, ours, theirs)
    print(
        f"\nenergy_score {x.shape}: {mine * 1e3:.2f} ms, {peers * 1e3:.2f} ms, {peers / mine:.1f}"
    )


def test_bar_variogram():
    peer = pytest.importorskip("scoringrules")
    y, x = make_points(200, 100, 20)

    def theirs():
        return peer.vs_ensemble(y, x, backend=backend())

    def ours():
        return calibrant.variogram_score(y, x)

    np.testing.assert_allclose(ours(), theirs(), rtol=1e-10)
    mine, peers = best_of(3, ours, theirs)
    print(f"\nvariogram {x.shape}: {mine * 1e3:.2f} ms, {peers * 1e3:.2f} ms, {peers / mine:.1f}")


def test_bar_weights():
    peer = pytest.importorskip("scoringrules")
    y, x = make_ensembles(20_000, DRAWS, "float64")
    w = np.random.default_rng(1).random(x.shape)
    w /= w.sum(1, keepdims=True)

    def theirs():
        return peer.crps_ensemble(y, x, ens_w=w, estimator="qd", backend=backend())

    def ours():
        return calibrant.crps_ensemble(y, x, draw_weight=w)

    np.testing.assert_allclose(ours(), theirs(), rtol=1e-9)
    mine, peers = best_of(3, ours, theirs)
    print(f"\nweighted crps: {mine * 1e3:.1f} ms, {peers * 1e3:.1f} ms, {peers / mine:.1f}")
