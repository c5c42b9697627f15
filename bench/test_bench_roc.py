"""The area under the ROC curve against scikit-learn's, the answers compared."""

from __future__ import annotations

import pytest

import calibrant

GROUP = "roc_auc"


@pytest.fixture
def dtype():
    return "float64"


@pytest.mark.usefixtures("threads")
def test_calibrant(measure, predictions):
    y, p = predictions.y_true, predictions.y_proba
    area = measure(
        lambda: calibrant.roc_auc(y, p), group=GROUP, bytes_per_row=y.itemsize + p.itemsize
    )
    # Uniform scores that are right: 5/6, with a standard error below 1 / sqrt(n).
    assert area == pytest.approx(5 / 6, abs=4 / p.size**0.5)


def test_scikit_learn(measure, predictions):
    peer = pytest.importorskip("sklearn.metrics")
    y, p = predictions.y_true, predictions.y_proba
    area = measure(
        lambda: peer.roc_auc_score(y, p), group=GROUP, bytes_per_row=y.itemsize + p.itemsize
    )
    assert area == pytest.approx(calibrant.roc_auc(y, p), rel=1e-12)
