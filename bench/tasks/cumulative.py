"""Tests of calibration beside MAPIE's, and beside one sort of the scores."""

from __future__ import annotations

import numpy as np

import calibrant
from bench.predictions import binary
from bench.task import TO_1E6, TO_1E8, Peer, Task
from calibrant import _core

MAPIE = "mapie.metrics.calibration"


def mapie_spiegelhalter(y, p):
    from mapie.metrics.calibration import spiegelhalter_p_value

    return spiegelhalter_p_value(y, p)


def mapie_walks(y, p):
    from mapie.metrics.calibration import kolmogorov_smirnov_p_value, kuiper_p_value

    return kolmogorov_smirnov_p_value(y, p), kuiper_p_value(y, p)


#: Scores that crowd the cells by which KS and Kuiper avoid a sort.
CROWDED = {
    "three decimals": lambda p: p.round(3),
    "one cell": lambda p: 0.25 + p * 2.0**-20,
    "near 0": lambda p: 10 ** (-40 * p),
    "clusters": lambda p: np.where(p < 0.9, 2.0**-30 * (1 + 2.0**-20 * p), p),
}


def crowded(name):
    def make(n):
        p = CROWDED[name](np.random.default_rng(1).random(n))
        return (np.random.default_rng(2).random(n) < p).astype(np.int64), p

    def by_sorting(y, p):
        return _core.sorted_walk_tests(y, p, None, False, _core.EITHER)

    def same(data, found):
        assert found == by_sorting(*data)

    return Task(
        f"ks and kuiper, scores: {name}",
        make,
        lambda y, p: _core.walk_tests(y, p, None, False, _core.EITHER),
        (Peer("calibrant, by a full sort", by_sorting, yardstick=True),),
        check=same,
        sizes=(10**6,),
        limit=10**6,
    )


def in_groups(n):
    return (*binary(n), np.random.default_rng(8).integers(0, 100, n))


def as_a_subset(data, found):
    y, p, keys = data
    assert found.ks.groups[7] == calibrant.ks_test(y, p, subset=keys == 7)


def statistics(n):
    return (np.random.default_rng(1).uniform(0.05, 4, n),)


def mapie_law(x):
    from mapie.metrics.calibration import kolmogorov_smirnov_cdf

    return [kolmogorov_smirnov_cdf(value) for value in x.tolist()]


TASKS = (
    Task(
        "spiegelhalter_test",
        binary,
        lambda y, p: calibrant.spiegelhalter_test(y, p, alternative="greater"),
        (Peer("MAPIE", mapie_spiegelhalter, needs=MAPIE),),
        answer=lambda found: found.pvalue,
    ),
    Task(
        "cumulative_tests (KS and Kuiper)",
        binary,
        calibrant.cumulative_tests,
        (
            Peer(
                "MAPIE", mapie_walks, needs=MAPIE, rtol=0, atol=1e-3,
                differs="noise of 1e-8 on the scores, p-values by another series",
            ),
            Peer("np.sort of the scores", lambda y, p: np.sort(p), yardstick=True),  # noqa: ARG005
        ),
        answer=lambda found: (found.ks.pvalue, found.kuiper.pvalue),
        sizes=TO_1E8,
    ),
    Task(
        "cumulative_tests, 100 groups",
        in_groups,
        lambda y, p, keys: calibrant.cumulative_tests(y, p, groups=keys),
        (
            Peer(
                "the same without groups",
                lambda y, p, keys: calibrant.cumulative_tests(y, p),  # noqa: ARG005
                yardstick=True,
            ),
        ),
        check=as_a_subset,
        sizes=TO_1E6,
    ),
    Task(
        "brownian_sup_cdf",
        statistics,
        calibrant.brownian_sup_cdf,
        (Peer("MAPIE", mapie_law, needs=MAPIE, atol=1e-9),),
        sizes=TO_1E6[:2],
        limit=10**6,
        unit="values",
    ),
    *(crowded(name) for name in CROWDED),
)  # fmt: skip
