"""Ensemble confidence beside NumPy's fastest way to sum votes."""

import numpy as np

import calibrant
from bench.case import Case, Peer, benchmarks

MEMBERS, CLASSES = 30, 4


def votes(n, dtype):
    """Votes that mostly agree, as those of a good ensemble do."""
    rng = np.random.default_rng(2005)
    truth = rng.integers(0, CLASSES, (n, 1))
    random = rng.integers(0, CLASSES, (n, MEMBERS))
    found = np.where(rng.random((n, MEMBERS)) < 0.6, truth, random).astype(dtype)
    return found, np.log(1 / rng.uniform(0.05, 0.8, MEMBERS))


def by_count(votes, weights):
    """One count of all votes, by row and class."""
    places = votes.astype(np.int64)
    places += CLASSES * np.arange(len(votes))[:, None]
    flat = np.bincount(places.ravel(), np.tile(weights, len(votes)), CLASSES * len(votes))
    sums = flat.reshape(-1, CLASSES)
    sums -= sums.max(axis=1, keepdims=True)
    np.exp(sums, out=sums)
    sums /= sums.sum(axis=1, keepdims=True)
    return sums


def confidence(dtype):
    return Case(
        f"ensemble_confidence, 30 votes of {dtype}",
        lambda n: votes(n, dtype),
        lambda votes, weights: calibrant.ensemble_confidence(votes, weights, CLASSES),
        (Peer("NumPy", by_count),),
        most=10**6,
    )


test_ensemble = benchmarks(confidence("int8"), confidence("int64"))
