"""Prediction intervals and sets beside MAPIE's."""

import numpy as np

import calibrant
from bench.case import Case, Peer, benchmarks, peer

LEVELS = (0.5, 0.9, 0.95)
CLASSES = 10
MAPIE = "mapie.metrics"


def three_levels(n):
    rng = np.random.default_rng(20170619)
    y, spread = rng.normal(size=n), rng.gamma(4.0, 0.25, n)
    bounds = [np.stack([-z * spread, z * spread], axis=1) for z in (0.674, 1.645, 1.96)]
    return y, np.ascontiguousarray(np.stack(bounds, axis=2))


def sets(n):
    rng = np.random.default_rng(20170619)
    return rng.integers(0, CLASSES, n), rng.random((n, CLASSES)) < 0.3


def by_calibrant(y, intervals):
    total = calibrant.streaming.Intervals(LEVELS)
    total.update(y, intervals)
    return total.result()


def mapie_intervals(y, intervals):
    from mapie.metrics import regression as mapie

    scores = [mapie.regression_mwi_score(y, intervals[:, :, [i]], c) for i, c in enumerate(LEVELS)]
    coverage = mapie.regression_coverage_score(y, intervals)
    return coverage, mapie.regression_mean_width_score(intervals), scores


def mapie_sets(y, in_set):
    from mapie.metrics import classification as mapie

    return (
        mapie.classification_coverage_score(y, in_set),
        mapie.classification_mean_width_score(in_set),
        mapie.classification_ssc(y, in_set),
    )


test_intervals = benchmarks(
    Case("coverage, width and score of 3 levels", three_levels, by_calibrant,
         (Peer("MAPIE", mapie_intervals, needs=f"{MAPIE}.regression"),),
         answer=lambda found: ([x.coverage.value for x in found], [x.mean_width for x in found],
                               [x.score for x in found]), most=10**6),
    Case("size_stratified_coverage, 3 levels", three_levels, calibrant.size_stratified_coverage,
         (peer("MAPIE", f"{MAPIE}.regression.regression_ssc"),),
         answer=lambda found: [[group.coverage for group in row.groups] for row in found.levels],
         most=10**6),
    Case("set_summary, 10 classes", sets, calibrant.set_summary,
         (Peer("MAPIE", mapie_sets, needs=f"{MAPIE}.classification",
               answer=lambda found: (*found[:2], found[2][~np.isnan(found[2])])),),
         answer=lambda found: (float(found.coverage), float(found.size),
                               [group.coverage for group in found.by_size.groups]), most=10**6),
)  # fmt: skip
