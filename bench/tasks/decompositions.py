"""The parts of the Brier score: CORP beside scikit-learn's isotonic regression and Brier score,
Murphy beside the NumPy that people write for it."""

from __future__ import annotations

import numpy as np

import calibrant
from bench.task import Peer, Task
from bench.tasks.predictions import binary


def numpy_murphy(y, p, n_bins=15):
    """REL, RES, UNC; the within-bin terms would cost two passes more and are left out."""
    bins = np.minimum((p * n_bins).astype(np.int64), n_bins - 1)
    count = np.bincount(bins, minlength=n_bins)
    hits = np.bincount(bins, y, minlength=n_bins)
    scores = np.bincount(bins, p, minlength=n_bins)
    base_rate = y.mean()
    filled = count > 0
    count, hits, scores = count[filled], hits[filled], scores[filled]
    reliability = np.sum((scores - hits) ** 2 / count) / len(y)
    resolution = np.sum(count * (hits / count - base_rate) ** 2) / len(y)
    return reliability, resolution, base_rate * (1 - base_rate)


def sklearn_corp(y, p):
    from sklearn.isotonic import IsotonicRegression
    from sklearn.metrics import brier_score_loss as brier

    fit = IsotonicRegression(y_min=0, y_max=1).fit(p, y).predict(p)
    fitted, base = brier(y, fit), np.mean(y) * (1 - np.mean(y))
    return brier(y, p) - fitted, base - fitted, base


TASKS = (
    Task(
        "brier_decomposition, Murphy",
        binary,
        calibrant.brier_decomposition,
        (Peer("NumPy", numpy_murphy, rtol=0, atol=1e-9),),
        answer=lambda parts: (parts.reliability, parts.resolution, parts.uncertainty),
    ),
    Task(
        "brier_decomposition, CORP",
        binary,
        lambda y, p: calibrant.brier_decomposition(y, p, method="corp"),
        (Peer("scikit-learn", sklearn_corp, needs="sklearn.isotonic", rtol=0, atol=1e-9),),
        answer=lambda parts: (parts.miscalibration, parts.discrimination, parts.uncertainty),
    ),
)
