"""The ROC curve and its area beside scikit-learn's, accuracy by rejection beside MAPIE's."""

import numpy as np

import calibrant
from bench.case import Case, benchmarks, binary, peer, weighted

AUC = "sklearn.metrics.roc_auc_score"


def correctness(y, p):
    """What MAPIE starts from: was the more probable class right, and its probability."""
    return ((p >= 0.5) == y).astype(np.int64), np.maximum(p, 1 - p)


test_roc = benchmarks(
    Case("roc_auc", binary, calibrant.roc_auc, (peer("scikit-learn", AUC),)),
    Case("roc_auc, weights", weighted, lambda y, p, w: calibrant.roc_auc(y, p, sample_weight=w),
         (peer("scikit-learn", AUC, keyword="sample_weight"),)),
    Case("roc_curve", binary, calibrant.roc_curve,
         (peer("scikit-learn", "sklearn.metrics.roc_curve", {"drop_intermediate": False},
               answer=lambda found: np.trapezoid(found[1], found[0]),
               differs="no predicted curve, no error of the area; the areas are compared"),),
         answer=lambda found: found.auc, most=10**6,
         why="it also gives the predicted curve and the standard error of the area, sums exact"),
    Case("accuracy_rejection_auc", binary, calibrant.accuracy_rejection_auc,
         (peer("MAPIE", "mapie.metrics.uncertainty.auarc", prepare=correctness),), most=10**6),
)  # fmt: skip
