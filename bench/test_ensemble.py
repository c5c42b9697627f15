"""Ensemble confidence beside three ways of NumPy to sum votes."""

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


def softmax(sums):
    sums -= sums.max(axis=1, keepdims=True)
    np.exp(sums, out=sums)
    sums /= sums.sum(axis=1, keepdims=True)
    return sums


def by_class(votes, weights):
    """A matrix product with the indicator of each class."""
    sums = np.empty((len(votes), CLASSES))
    for j in range(CLASSES):
        sums[:, j] = (votes == j) @ weights
    return softmax(sums)


def by_member(votes, weights):
    sums = np.zeros((len(votes), CLASSES))
    rows = np.arange(len(votes))
    for t in range(MEMBERS):
        sums[rows, votes[:, t]] += weights[t]
    return softmax(sums)


def by_count(votes, weights):
    """One count of all votes, by row and class."""
    places = votes.astype(np.int64)
    places += CLASSES * np.arange(len(votes))[:, None]
    flat = np.bincount(places.ravel(), np.tile(weights, len(votes)), CLASSES * len(votes))
    return softmax(flat.reshape(-1, CLASSES))


WAYS = {"class": by_class, "member": by_member, "count": by_count}


def confidence(dtype):
    return Case(
        f"ensemble_confidence, 30 votes of {dtype}",
        lambda n: votes(n, dtype),
        lambda votes, weights: calibrant.ensemble_confidence(votes, weights, CLASSES),
        tuple(Peer(f"NumPy, by {name}", way) for name, way in WAYS.items()),
        most=10**6,
    )


test_ensemble = benchmarks(confidence("int8"), confidence("int64"))
