"""Ensemble confidence against vectorised NumPy, the answers compared."""

from __future__ import annotations

import time
from functools import cache

import numpy as np
import pytest

import calibrant

N, MEMBERS, CLASSES = 10**6, 30, 4
GROUP = f"ensemble_confidence of {MEMBERS} members, {CLASSES} classes-{N:.0e}"


@cache
def ensemble(dtype):
    """Votes that mostly agree, as those of a good ensemble do."""
    rng = np.random.default_rng(2005)
    truth = rng.integers(0, CLASSES, (N, 1))
    random = rng.integers(0, CLASSES, (N, MEMBERS))
    votes = np.where(rng.random((N, MEMBERS)) < 0.6, truth, random).astype(dtype)
    return votes, np.log(1 / rng.uniform(0.05, 0.8, MEMBERS))


def softmax(sums):
    sums -= sums.max(axis=1, keepdims=True)
    np.exp(sums, out=sums)
    sums /= sums.sum(axis=1, keepdims=True)
    return sums


def numpy_by_class(votes, weights):
    """The fastest of three: a matrix product with the indicator of each class."""
    sums = np.empty((len(votes), CLASSES))
    for j in range(CLASSES):
        sums[:, j] = (votes == j) @ weights
    return softmax(sums)


def numpy_by_member(votes, weights):
    sums = np.zeros((len(votes), CLASSES))
    rows = np.arange(len(votes))
    for t in range(MEMBERS):
        sums[rows, votes[:, t]] += weights[t]
    return softmax(sums)


def numpy_by_count(votes, weights):
    places = votes.astype(np.int64)
    places += CLASSES * np.arange(len(votes))[:, None]
    flat = np.bincount(places.ravel(), np.tile(weights, len(votes)), CLASSES * len(votes))
    return softmax(flat.reshape(-1, CLASSES))


RIVALS = {"class": numpy_by_class, "member": numpy_by_member, "count": numpy_by_count}
DTYPES = ["int8", "int64"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_ensemble_confidence(benchmark, dtype, threads):  # noqa: ARG001
    votes, weights = ensemble(dtype)
    benchmark.group = f"{GROUP}-{dtype}"
    found = benchmark(lambda: calibrant.ensemble_confidence(votes, weights, CLASSES))
    np.testing.assert_allclose(found, numpy_by_class(votes, weights), rtol=1e-12)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("how", RIVALS)
def test_numpy(benchmark, dtype, how):
    votes, weights = ensemble(dtype)
    benchmark.group = f"{GROUP}-{dtype}"
    found = benchmark.pedantic(lambda: RIVALS[how](votes, weights), rounds=3)
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-12)


@pytest.mark.parametrize("dtype", DTYPES)
def test_ratio(dtype):
    """Interleaved, the best of each: the bar is 20 times the fastest NumPy."""
    votes, weights = ensemble(dtype)
    contenders = {"calibrant": lambda v, w: calibrant.ensemble_confidence(v, w, CLASSES), **RIVALS}
    best = dict.fromkeys(contenders, np.inf)
    for _ in range(5):
        for name, run in contenders.items():
            start = time.perf_counter()
            run(votes, weights)
            best[name] = min(best[name], time.perf_counter() - start)
    ours = best.pop("calibrant")
    ratios = ", ".join(f"by {name} {seconds / ours:.1f}" for name, seconds in best.items())
    print(f"\n{dtype} votes: {1e3 * ours:.1f} ms; NumPy takes so many times as long: {ratios}")


def test_path(benchmark):
    votes, weights = ensemble("int8")
    votes = votes[: N // 10]
    benchmark.group = "path of ensemble_confidence, 1e5 rows"
    found = benchmark(lambda: calibrant.ensemble_confidence(votes, weights, CLASSES, path=True))
    last = calibrant.ensemble_confidence(votes, weights, CLASSES)
    np.testing.assert_array_equal(found[:, -1], last)
