"""The ROC curve and its area beside scikit-learn's, accuracy by rejection beside MAPIE's."""

from __future__ import annotations

import numpy as np

import calibrant
from bench.predictions import binary, weighted
from bench.task import TO_1E6, TO_1E8, Peer, Task

SKLEARN = "sklearn.metrics"


def sklearn_auc(y, p, weight=None):
    from sklearn.metrics import roc_auc_score

    return roc_auc_score(y, p, sample_weight=weight)


def sklearn_curve(y, p):
    from sklearn.metrics import roc_curve

    return roc_curve(y, p, drop_intermediate=False)


def correctness(y, p):
    """What MAPIE starts from: was the more probable class right, and its probability."""
    return ((p >= 0.5) == y).astype(np.int64), np.maximum(p, 1 - p)


def mapie_auarc(correct, confidence):
    from mapie.metrics.uncertainty import auarc

    return auarc(correct, confidence)


TASKS = (
    Task(
        "roc_auc",
        binary,
        calibrant.roc_auc,
        (Peer("scikit-learn", sklearn_auc, needs=SKLEARN),),
        sizes=TO_1E8,
    ),
    Task(
        "roc_auc, weights",
        weighted,
        lambda y, p, w: calibrant.roc_auc(y, p, sample_weight=w),
        (Peer("scikit-learn", sklearn_auc, needs=SKLEARN),),
        sizes=TO_1E6,
    ),
    Task(
        "roc_curve",
        binary,
        calibrant.roc_curve,
        (
            Peer(
                "scikit-learn", sklearn_curve, needs=SKLEARN,
                answer=lambda found: np.trapezoid(found[1], found[0]),
                differs="no predicted curve, no error of the area; the areas are compared",
            ),
        ),
        answer=lambda found: found.auc,
        sizes=TO_1E6,
    ),
    Task(
        "accuracy_rejection_auc",
        binary,
        calibrant.accuracy_rejection_auc,
        (
            Peer("MAPIE", mapie_auarc, needs="mapie.metrics.uncertainty", prepare=correctness),
        ),
        sizes=TO_1E6,
    ),
)  # fmt: skip
