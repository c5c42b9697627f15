"""All tasks, one file for each room."""

from __future__ import annotations

from bench.task import Task
from bench.tasks import (
    calibration,
    cumulative,
    dependence,
    drift,
    ensemble,
    ensemble_scores,
    grouped,
    intervals,
    means,
    ranks,
    roc,
    samples,
    score_table,
    scorecards,
    scores,
    windows,
)

ROOMS = (
    scorecards, scores, means, calibration, cumulative, roc, intervals, dependence, ranks,
    ensemble_scores, samples, ensemble, score_table, grouped, windows, drift,
)  # fmt: skip

TASKS: tuple[Task, ...] = tuple(task for room in ROOMS for task in room.TASKS)


def find(name: str) -> Task:
    return next(task for task in TASKS if task.name == name)
