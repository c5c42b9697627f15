"""scikit-learn's scorers over the functions of this layer. Needs scikit-learn."""

from __future__ import annotations

from typing import Any

from sklearn.metrics import make_scorer

from calibrant.calibration import expected_calibration_error
from calibrant.compat.sklearn import (
    brier_score_loss,
    d2_brier_score,
    d2_log_loss_score,
    log_loss,
    roc_auc_score,
)

__all__ = ["scorers"]

_PROBABILITIES = {"response_method": "predict_proba"}
_SCORES = {"response_method": ("decision_function", "predict_proba")}

#: By scikit-learn's names, and the calibration error of calibrant; larger is better, always.
scorers: dict[str, Any] = {
    "d2_brier_score": make_scorer(d2_brier_score, **_PROBABILITIES),
    "d2_log_loss_score": make_scorer(d2_log_loss_score, **_PROBABILITIES),
    "neg_brier_score": make_scorer(brier_score_loss, greater_is_better=False, **_PROBABILITIES),
    "neg_expected_calibration_error": make_scorer(
        expected_calibration_error, greater_is_better=False, **_PROBABILITIES
    ),
    "neg_log_loss": make_scorer(log_loss, greater_is_better=False, **_PROBABILITIES),
    "roc_auc": make_scorer(roc_auc_score, **_SCORES),
    "roc_auc_ovo": make_scorer(roc_auc_score, multi_class="ovo", **_PROBABILITIES),
    "roc_auc_ovo_weighted": make_scorer(
        roc_auc_score, multi_class="ovo", average="weighted", **_PROBABILITIES
    ),
    "roc_auc_ovr": make_scorer(roc_auc_score, multi_class="ovr", **_PROBABILITIES),
    "roc_auc_ovr_weighted": make_scorer(
        roc_auc_score, multi_class="ovr", average="weighted", **_PROBABILITIES
    ),
}
