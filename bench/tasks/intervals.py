"""Prediction intervals and sets beside MAPIE's."""

from __future__ import annotations

import numpy as np

import calibrant
from bench.task import TO_1E6, Peer, Task

LEVELS = (0.5, 0.9, 0.95)
CLASSES = 10


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
    from mapie.metrics import regression as peer

    scores = [peer.regression_mwi_score(y, intervals[:, :, [i]], c) for i, c in enumerate(LEVELS)]
    coverage = peer.regression_coverage_score(y, intervals)
    return coverage, peer.regression_mean_width_score(intervals), scores


def mapie_by_width(y, intervals):
    from mapie.metrics.regression import regression_ssc

    return regression_ssc(y, intervals)


def mapie_sets(y, in_set):
    from mapie.metrics import classification as peer

    return (
        peer.classification_coverage_score(y, in_set),
        peer.classification_mean_width_score(in_set),
        peer.classification_ssc(y, in_set),
    )


TASKS = (
    Task(
        "coverage, width and score of 3 levels",
        three_levels,
        by_calibrant,
        (Peer("MAPIE", mapie_intervals, needs="mapie.metrics.regression"),),
        answer=lambda found: (
            [level.coverage.value for level in found],
            [level.mean_width for level in found],
            [level.score for level in found],
        ),
        sizes=TO_1E6,
        limit=10**7,
    ),
    Task(
        "size_stratified_coverage, 3 levels",
        three_levels,
        calibrant.size_stratified_coverage,
        (Peer("MAPIE", mapie_by_width, needs="mapie.metrics.regression"),),
        answer=lambda found: [[group.coverage for group in row.groups] for row in found.levels],
        sizes=TO_1E6,
        limit=10**7,
    ),
    Task(
        "set_summary, 10 classes",
        sets,
        calibrant.set_summary,
        (
            Peer(
                "MAPIE", mapie_sets, needs="mapie.metrics.classification",
                answer=lambda found: (*found[:2], found[2][~np.isnan(found[2])]),
            ),
        ),
        answer=lambda found: (
            float(found.coverage), float(found.size), [g.coverage for g in found.by_size.groups],
        ),
        sizes=TO_1E6,
    ),
)  # fmt: skip
