"""Ranks beside NumPy, and beside what merely reading the draws takes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

import calibrant
from bench.machine import cores
from bench.task import Peer, Task
from calibrant import streaming

DRAWS = 1000
POOL = ThreadPoolExecutor(cores())


def posterior(n):
    rng = np.random.default_rng(0)
    return rng.random((n, DRAWS), dtype=np.float32), rng.random(n, dtype=np.float32)


def points(n):
    rng = np.random.default_rng(1)
    draws, truth = rng.normal(size=(n, DRAWS, 5)), rng.normal(size=(n, 5))
    return draws, truth, rng.normal(size=(n, 5))


def reading(draws, truth):  # noqa: ARG001
    """All cores add up the bytes."""
    return list(POOL.map(np.sum, np.array_split(draws.reshape(-1).view(np.int64), cores())))


def draws_first(n):
    draws, truth = posterior(n)
    return np.ascontiguousarray(draws.T), truth


def all_counts(draws, truth):
    total = streaming.Ranks(DRAWS)
    total.update(draws, truth)
    return total.counts[0]


def numpy_counts(draws, truth):
    return np.bincount((draws < truth[:, None]).sum(1), minlength=DRAWS + 1)


def same_counts(data, counts):
    np.testing.assert_array_equal(
        counts, np.bincount(calibrant.sbc_ranks(*data), minlength=DRAWS + 1)
    )


def within_ties(data, ranks):
    less, equal = calibrant.draw_counts(*data)
    np.testing.assert_array_equal(less, (data[0] < data[1][:, None]).sum(1))
    assert ((ranks >= less) & (ranks <= less + equal)).all()


def numpy_tarp(draws, truth, references):
    reach = ((truth - references) ** 2).sum(-1)
    return (((draws - references[:, None]) ** 2).sum(-1) < reach[:, None]).sum(1)


TASKS = (
    Task(
        "sbc_ranks, 1,000 draws of float32",
        posterior,
        calibrant.sbc_ranks,
        (
            Peer(
                "NumPy", lambda draws, truth: (draws < truth[:, None]).sum(1), rtol=0, atol=3,
                differs="ties count as not less, where ours are broken uniformly",
            ),
            Peer("reading the draws", reading, yardstick=True),
        ),
        check=within_ties,
        sizes=(10**3, 10**4, 10**5),
        limit=10**6,
        unit="pairs",
    ),
    Task(
        "sbc_ranks, draws first",
        draws_first,
        lambda draws, truth: calibrant.sbc_ranks(draws, truth, axis=0),
        (
            Peer(
                "NumPy", lambda draws, truth: (draws < truth).sum(0), rtol=0, atol=3,
                differs="ties count as not less, where ours are broken uniformly",
            ),
        ),
        sizes=(10**3, 10**4),
        limit=10**5,
        unit="pairs",
    ),
    Task(
        "streaming.Ranks, 1,000 draws",
        posterior,
        all_counts,
        (
            Peer(
                "NumPy", numpy_counts, answer=np.sum,
                differs="ties count as not less; only the totals are compared",
                expected=lambda draws, truth: len(truth),  # noqa: ARG005
            ),
        ),
        check=same_counts,
        sizes=(10**3, 10**4),
        limit=10**5,
        unit="pairs",
    ),
    Task(
        "tarp_ranks, 1,000 draws, 5 dimensions",
        points,
        calibrant.tarp_ranks,
        (
            Peer(
                "NumPy", numpy_tarp, rtol=0, atol=1,
                differs="distances within rounding of each other may count differently",
            ),
        ),
        sizes=(100, 1000, 3000),
        limit=10**4,
        unit="pairs",
    ),
)  # fmt: skip
