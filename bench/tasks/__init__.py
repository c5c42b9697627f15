"""All tasks, one file for each concept."""

from __future__ import annotations

from bench.task import Task
from bench.tasks import (
    assessment,
    calibration,
    cumulative,
    decompositions,
    dependence,
    ensemble,
    ensemble_scores,
    grouped,
    intervals,
    means,
    mmd,
    rank_calibration,
    ranks,
    roc,
    samples,
    scorecard,
    scores,
    streams,
)

CONCEPTS = (
    scorecard, assessment, scores, means, decompositions, calibration, cumulative, roc, intervals,
    dependence, ranks, rank_calibration, ensemble_scores, mmd, samples, ensemble, grouped, streams,
)  # fmt: skip

TASKS: tuple[Task, ...] = tuple(task for concept in CONCEPTS for task in concept.TASKS)


def find(name: str) -> Task:
    return next(task for task in TASKS if task.name == name)
