"""Tests of calibration beside MAPIE's, and beside one sort of the scores."""

import numpy as np

import calibrant
from bench.case import Case, Peer, benchmarks, binary, in_groups, peer, yardstick
from calibrant import _core
from calibrant.sequential import SequentialCalibrationTest
from calibrant.streaming import Scores

MAPIE = "mapie.metrics.calibration"


def mapie_walks(y, p):
    from mapie.metrics.calibration import kolmogorov_smirnov_p_value, kuiper_p_value

    return kolmogorov_smirnov_p_value(y, p), kuiper_p_value(y, p)


def mapie_law(x):
    from mapie.metrics.calibration import kolmogorov_smirnov_cdf

    return [kolmogorov_smirnov_cdf(value) for value in x.tolist()]


#: Scores that crowd the cells by which KS and Kuiper avoid a sort.
CROWDED = {
    "three decimals": lambda p: p.round(3),
    "one cell": lambda p: 0.25 + p * 2.0**-20,
    "near 0": lambda p: 10 ** (-40 * p),
    "clusters": lambda p: np.where(p < 0.9, 2.0**-30 * (1 + 2.0**-20 * p), p),
}


def crowded(name):
    def data(n):
        p = CROWDED[name](np.random.default_rng(1).random(n))
        return (np.random.default_rng(2).random(n) < p).astype(np.int64), p

    def sorting(y, p):
        return _core.sorted_walk_tests(y, p, None, False, _core.EITHER)

    return Case(
        f"ks and kuiper, scores: {name}",
        data,
        lambda y, p: _core.walk_tests(y, p, None, False, _core.EITHER),
        (yardstick("calibrant, by a full sort", sorting),),
        check=lambda data, found: np.testing.assert_equal(found == sorting(*data), True),
        most=10**6,
    )


def as_a_subset(data, found):
    y, p, keys = data
    assert found.ks.groups[7] == calibrant.ks_test(y, p, subset=keys == 7)


def updated(made, y, p):
    made.update(y, p)
    return made


def no_alarm(data, found):
    assert not found.alarm
    assert found.n == len(data[0])


test_cumulative = benchmarks(
    Case("spiegelhalter_test", binary,
         lambda y, p: calibrant.spiegelhalter_test(y, p, alternative="greater"),
         (peer("MAPIE", f"{MAPIE}.spiegelhalter_p_value"),), answer=lambda found: found.pvalue),
    Case("cumulative_tests (KS and Kuiper)", binary, calibrant.cumulative_tests,
         (Peer("MAPIE", mapie_walks, needs=MAPIE, rtol=0, atol=1e-3,
               differs="noise of 1e-8 on the scores, p-values by another series"),
          yardstick("np.sort of the scores", lambda y, p: np.sort(p))),
         answer=lambda found: (found.ks.pvalue, found.kuiper.pvalue)),
    Case("cumulative_tests, 100 groups", in_groups,
         lambda y, p, keys: calibrant.cumulative_tests(y, p, groups=keys),
         (yardstick("without groups", lambda y, p, keys: calibrant.cumulative_tests(y, p)),),
         check=as_a_subset, most=10**6),
    Case("brownian_sup_cdf", lambda n: (np.random.default_rng(1).uniform(0.05, 4, n),),
         calibrant.brownian_sup_cdf,
         (Peer("MAPIE", mapie_law, needs=MAPIE, atol=1e-9, most=10**4),), most=10**6),
    Case("SequentialCalibrationTest", binary,
         lambda y, p: updated(SequentialCalibrationTest(), y, p).result(),
         (yardstick("streaming.Scores", lambda y, p: updated(Scores(), y, p)),), check=no_alarm),
    *(crowded(name) for name in CROWDED),
)  # fmt: skip
