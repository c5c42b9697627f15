"""Ranks beside NumPy; simultaneous bands beside ArviZ and arviz-stats."""

import numpy as np

import calibrant
from bench.case import Case, Peer, benchmarks, yardstick
from calibrant import _core, rank_calibration, streaming

DRAWS = 1000
TIES = "ties count as not less, where ours are broken uniformly"


def posterior(n):
    rng = np.random.default_rng(0)
    return rng.random((n, DRAWS), dtype=np.float32), rng.random(n, dtype=np.float32)


def draws_first(n):
    draws, truth = posterior(n)
    return np.ascontiguousarray(draws.T), truth


def points(n):
    rng = np.random.default_rng(1)
    draws, truth = rng.normal(size=(n, DRAWS, 5)), rng.normal(size=(n, 5))
    return draws, truth, rng.normal(size=(n, 5))


def all_counts(draws, truth):
    total = streaming.Ranks(DRAWS)
    total.update(draws, truth)
    return total.counts[0]


def numpy_counts(draws, truth):
    return np.bincount((draws < truth[:, None]).sum(1), minlength=DRAWS + 1)


def same_counts(data, counts):
    ranks = calibrant.sbc_ranks(*data)
    np.testing.assert_array_equal(counts, np.bincount(ranks, minlength=DRAWS + 1))


def within_ties(data, ranks):
    less, equal = calibrant.draw_counts(*data)
    np.testing.assert_array_equal(less, (data[0] < data[1][:, None]).sum(1))
    assert ((ranks >= less) & (ranks <= less + equal)).all()


def numpy_tarp(draws, truth, references):
    reach = ((truth - references) ** 2).sum(-1)
    return (((draws - references[:, None]) ** 2).sum(-1) < reach[:, None]).sum(1)


def arviz_band(n):
    from arviz.stats.ecdf_utils import ecdf_confidence_band

    points = np.arange(1, n) / n
    return ecdf_confidence_band(n, points, points, method="optimized")


def arviz_stats_band(n):
    from arviz_stats.ecdf_utils import ecdf_pit

    uniform = np.random.default_rng(0).random(n)
    return ecdf_pit(uniform, 0.95, n_simulations=1000)[2:]


def band_peer(name, call, counts, differs):
    """A peer whose band is so many counts off at most."""
    needs = f"{name.replace('-', '_')}.{'stats.' * (name == 'arviz')}ecdf_utils"
    return Peer(name, call, needs, rtol=0, atol=counts + 1e-6, answer=in_counts, differs=differs)


def in_counts(fractions):
    return [np.asarray(side) * (len(side) + 1) for side in fractions]


def is_calibrated(data, found):
    assert found.verdict.startswith("calibrated")
    assert found.n == len(data[0])


test_ranks = benchmarks(
    Case("sbc_ranks, 1,000 draws of float32", posterior, calibrant.sbc_ranks,
         (Peer("NumPy", lambda x, y: (x < y[:, None]).sum(1), rtol=0, atol=3, differs=TIES),
          yardstick("np.sum of the draws", lambda draws, truth: draws.sum())),
         check=within_ties, most=10**5),
    Case("sbc_ranks, draws first", draws_first,
         lambda draws, truth: calibrant.sbc_ranks(draws, truth, axis=0),
         (Peer("NumPy", lambda x, y: (x < y).sum(0), rtol=0, atol=3, differs=TIES),), most=10**4),
    Case("streaming.Ranks, 1,000 draws", posterior, all_counts,
         (Peer("NumPy", numpy_counts, answer=np.sum,
               differs="ties count as not less; only the totals are compared",
               expected=lambda draws, truth: len(truth)),), check=same_counts, most=10**4),
    Case("tarp_ranks, 1,000 draws, 5 dimensions", points, calibrant.tarp_ranks,
         (Peer("NumPy", numpy_tarp, rtol=0, atol=1,
               differs="distances within rounding of each other may count differently"),),
         most=3000),
    Case("gamma of the band, N = K", lambda n: (n,),
         lambda n: _core.simultaneous_rank_band(n, n, 0.95),
         (band_peer("arviz", arviz_band, 1, "its search stops near the level: one count off"),
          band_peer("arviz-stats", arviz_stats_band, 6, "1,000 simulations: a few counts off")),
         answer=lambda found: list(found[2:]), sizes=(1000,)),
    Case("rank_calibration, 99 draws, the band known",
         lambda n: (np.random.default_rng(0).integers(0, 100, n), 99), rank_calibration,
         check=is_calibrated, most=10**5),
)  # fmt: skip
