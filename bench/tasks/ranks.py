"""Ranks beside NumPy and a read of the draws; simultaneous bands beside ArviZ and arviz-stats."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

import calibrant
from bench.machine import cores
from bench.task import Peer, Task
from calibrant import _core, rank_calibration, streaming

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


def band(n):
    """Lower and upper counts at k/n, k = 1..n-1, of n ranks, at 95%."""
    return _core.simultaneous_rank_band(n, n, 0.95)


def arviz_band(n):
    from arviz.stats.ecdf_utils import ecdf_confidence_band

    points = np.arange(1, n) / n
    return ecdf_confidence_band(n, points, points, method="optimized")


def arviz_stats_band(n):
    from arviz_stats.ecdf_utils import ecdf_pit

    uniform = np.random.default_rng(0).random(n)
    return ecdf_pit(uniform, 0.95, n_simulations=1000)[2:]


def allowance(counts):
    """A peer whose band is so many counts off at most: compared at n = 1,000 and below."""
    return {"rtol": 0, "atol": counts / 1000 + 1e-9}


def uniform_ranks(n):
    return np.random.default_rng(0).integers(0, 100, n), 99


def is_calibrated(data, found):
    assert found.verdict.startswith("calibrated")
    assert found.n == len(data[0])


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
    Task(
        "gamma of the band, N = K",
        lambda n: (n,),
        band,
        (
            Peer(
                "arviz", arviz_band, needs="arviz.stats.ecdf_utils", **allowance(1),
                differs="its search stops near the level: bounds may differ by one count",
            ),
            Peer(
                "arviz-stats", arviz_stats_band, needs="arviz_stats.ecdf_utils", **allowance(6),
                differs="1,000 simulations: bounds differ by a few counts",
            ),
        ),
        answer=lambda found: [np.asarray(side) / (len(side) + 1) for side in found[2:]],
        sizes=(1000,),
        limit=1000,
        unit="ranks",
    ),
    Task(
        "rank_calibration, 99 draws, the band known",
        uniform_ranks,
        rank_calibration,
        check=is_calibrated,
        sizes=(10**3, 10**4, 10**5),
        limit=10**6,
        unit="ranks",
    ),
)  # fmt: skip
