"""The simultaneous band for ranks beside ArviZ's, exact there, and arviz-stats', simulated."""

from __future__ import annotations

import numpy as np

from bench.task import Peer, Task
from calibrant import _core, rank_calibration


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
