"""Coverage, width and score of three levels, and coverage by width, against MAPIE's, the answers
compared."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import calibrant

LEVELS = (0.5, 0.9, 0.95)
BYTES = 8 * (1 + 2 * len(LEVELS))


@pytest.fixture
def dtype():
    return "float64"


@cache
def make_intervals(n):
    rng = np.random.default_rng(20170619)
    y, spread = rng.normal(size=n), rng.gamma(4.0, 0.25, n)
    bounds = [np.stack([-z * spread, z * spread], axis=1) for z in (0.674, 1.645, 1.96)]
    return y, np.ascontiguousarray(np.stack(bounds, axis=2))


def by_mapie(peer, y, intervals):
    scores = [peer.regression_mwi_score(y, intervals[:, :, [i]], c) for i, c in enumerate(LEVELS)]
    coverage = peer.regression_coverage_score(y, intervals)
    return coverage, peer.regression_mean_width_score(intervals), np.array(scores)


def by_calibrant(y, intervals):
    total = calibrant.streaming.Intervals(LEVELS)
    total.update(y, intervals)
    return total.result()


@pytest.mark.usefixtures("threads")
def test_calibrant(measure, n):
    y, intervals = make_intervals(n)
    found = measure(lambda: by_calibrant(y, intervals), group="intervals", bytes_per_row=BYTES)
    assert found[0].coverage.value < found[1].coverage.value < found[2].coverage.value


def test_mapie(measure, n):
    peer = pytest.importorskip("mapie.metrics.regression")
    y, intervals = make_intervals(n)
    coverage, width, score = measure(
        lambda: by_mapie(peer, y, intervals), group="intervals", bytes_per_row=BYTES
    )
    found = by_calibrant(y, intervals)
    assert [level.coverage.value for level in found] == pytest.approx(coverage, rel=1e-12)
    assert [level.mean_width for level in found] == pytest.approx(width, rel=1e-12)
    assert [level.score for level in found] == pytest.approx(score, rel=1e-12)


@pytest.mark.usefixtures("threads")
def test_coverage_by_width(measure, n):
    y, intervals = make_intervals(n)
    found = measure(
        lambda: calibrant.size_stratified_coverage(y, intervals),
        group="coverage by width",
        bytes_per_row=BYTES,
    )
    assert [len(level.groups) for level in found.levels] == [3, 3, 3]


def test_mapie_coverage_by_width(measure, n):
    peer = pytest.importorskip("mapie.metrics.regression")
    y, intervals = make_intervals(n)
    groups = measure(
        lambda: peer.regression_ssc(y, intervals), group="coverage by width", bytes_per_row=BYTES
    )
    found = calibrant.size_stratified_coverage(y, intervals)
    mine = [[group.coverage for group in level.groups] for level in found.levels]
    assert mine == pytest.approx(groups, rel=1e-12)


SETS = 10


@cache
def make_sets(n):
    rng = np.random.default_rng(20170619)
    return rng.integers(0, SETS, n), rng.random((n, SETS)) < 0.3


@pytest.mark.usefixtures("threads")
def test_sets(measure, n):
    y, sets = make_sets(n)
    found = measure(
        lambda: calibrant.set_summary(y, sets), group="sets of 10 classes", bytes_per_row=8 + SETS
    )
    assert float(found.size) == pytest.approx(3, rel=0.1)


def test_mapie_sets(measure, n):
    peer = pytest.importorskip("mapie.metrics.classification")
    y, sets = make_sets(n)
    coverage, size, groups = measure(
        lambda: (
            peer.classification_coverage_score(y, sets),
            peer.classification_mean_width_score(sets),
            peer.classification_ssc(y, sets),
        ),
        group="sets of 10 classes",
        bytes_per_row=8 + SETS,
    )
    found = calibrant.set_summary(y, sets)
    assert float(found.coverage) == pytest.approx(coverage[0], rel=1e-12)
    assert float(found.size) == pytest.approx(size, rel=1e-12)
    theirs = [c for c in groups[0] if not np.isnan(c)]
    assert [group.coverage for group in found.by_size.groups] == pytest.approx(theirs, rel=1e-12)
