"""Ensemble confidence beside three ways of NumPy to sum votes."""

from __future__ import annotations

import numpy as np

import calibrant
from bench.task import TO_1E6, Peer, Task

MEMBERS, CLASSES = 30, 4


def votes_of(dtype):
    def make(n):
        """Votes that mostly agree, as those of a good ensemble do."""
        rng = np.random.default_rng(2005)
        truth = rng.integers(0, CLASSES, (n, 1))
        random = rng.integers(0, CLASSES, (n, MEMBERS))
        votes = np.where(rng.random((n, MEMBERS)) < 0.6, truth, random).astype(dtype)
        return votes, np.log(1 / rng.uniform(0.05, 0.8, MEMBERS))

    return make


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


def confidence(dtype):
    return Task(
        f"ensemble_confidence, 30 votes of {dtype}",
        votes_of(dtype),
        lambda votes, weights: calibrant.ensemble_confidence(votes, weights, CLASSES),
        (
            Peer("NumPy, by class", by_class),
            Peer("NumPy, by member", by_member),
            Peer("NumPy, by count", by_count),
        ),
        sizes=TO_1E6,
        limit=10**6,
    )


TASKS = (confidence("int8"), confidence("int64"))
