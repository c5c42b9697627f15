"""Proper scores and the parts of the Brier score, beside scikit-learn and NumPy.

scikit-learn also finds out which labels there are; NumPy checks nothing.
"""

import numpy as np

import calibrant
from bench.case import Case, Peer, benchmarks, binary, peer, ten_classes, weighted

sklearn_brier = peer("scikit-learn", "sklearn.metrics.brier_score_loss")
sklearn_log = peer("scikit-learn", "sklearn.metrics.log_loss")


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


test_scores = benchmarks(
    Case("brier_score", binary, calibrant.brier_score,
         (sklearn_brier, Peer("NumPy", lambda y, p: np.mean((p - y) ** 2)))),
    Case("log_score", binary, calibrant.log_score,
         (sklearn_log, Peer("NumPy", lambda y, p: -np.mean(np.log(np.where(y == 1, p, 1 - p)))))),
    Case("brier_score, weights", weighted,
         lambda y, p, w: calibrant.brier_score(y, p, sample_weight=w),
         (peer("scikit-learn", "sklearn.metrics.brier_score_loss", keyword="sample_weight"),
          Peer("NumPy", lambda y, p, w: np.average((p - y) ** 2, weights=w))),
         why="a weight times a term, itself two doubles, is summed with all its bits, and so are "
             "the weights of each class"),
    Case("brier_score, 10 classes", ten_classes, calibrant.brier_score, (sklearn_brier,),
         most=10**6),
    Case("log_score, 10 classes", ten_classes, calibrant.log_score, (sklearn_log,), most=10**6),
    Case("brier_decomposition, Murphy", binary, calibrant.brier_decomposition,
         (Peer("NumPy", numpy_murphy, rtol=0, atol=1e-9),),
         answer=lambda parts: (parts.reliability, parts.resolution, parts.uncertainty),
         why="the parts are quotients of exact sums, some for each bin"),
    Case("brier_decomposition, CORP", binary,
         lambda y, p: calibrant.brier_decomposition(y, p, method="corp"),
         (Peer("scikit-learn", sklearn_corp, needs="sklearn.isotonic", rtol=0, atol=1e-9),),
         answer=lambda parts: (parts.miscalibration, parts.discrimination, parts.uncertainty)),
)  # fmt: skip
