"""Proper scores beside scikit-learn, and beside the least NumPy that could be written.

scikit-learn also finds out which labels there are; NumPy checks nothing.
"""

from __future__ import annotations

import numpy as np

import calibrant
from bench.task import TO_1E6, TO_1E8, Peer, Task
from bench.tasks.predictions import binary, ten_classes, weighted


def sklearn_brier(y, p, weight=None):
    from sklearn.metrics import brier_score_loss

    return brier_score_loss(y, p, sample_weight=weight)


def sklearn_log(y, p):
    from sklearn.metrics import log_loss

    return log_loss(y, p)


def sklearn(call, **more):
    return Peer("scikit-learn", call, needs="sklearn.metrics", **more)


TASKS = (
    Task(
        "brier_score",
        binary,
        calibrant.brier_score,
        (sklearn(sklearn_brier), Peer("NumPy", lambda y, p: np.mean((p - y) ** 2))),
        sizes=TO_1E8,
    ),
    Task(
        "log_score",
        binary,
        calibrant.log_score,
        (
            sklearn(sklearn_log),
            Peer("NumPy", lambda y, p: -np.mean(np.log(np.where(y == 1, p, 1 - p)))),
        ),
        sizes=TO_1E8,
    ),
    Task(
        "brier_score, weights",
        weighted,
        lambda y, p, w: calibrant.brier_score(y, p, sample_weight=w),
        (
            sklearn(sklearn_brier),
            Peer("NumPy", lambda y, p, w: np.average((p - y) ** 2, weights=w)),
        ),
    ),
    Task(
        "brier_score, 10 classes",
        ten_classes,
        calibrant.brier_score,
        (sklearn(sklearn_brier),),
        sizes=TO_1E6,
        limit=10**7,
    ),
    Task(
        "log_score, 10 classes",
        ten_classes,
        calibrant.log_score,
        (sklearn(sklearn_log),),
        sizes=TO_1E6,
        limit=10**7,
    ),
)
