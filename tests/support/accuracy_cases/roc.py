"""Ranking."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import mpmath
import numpy as np
from sklearn import metrics

import calibrant
import roc_reference as by
from accuracy_cases import Case, case, number, peer, row
from accuracy_cases.inputs import SPAN_OF_80, predictions, weights_of


@row("area under the ROC curve", covers="roc_auc", bound=1, peer="scikit-learn")
def area(few: bool) -> Iterator[Case]:
    for y, p, weights in predictions(few, least=2, most=100, weights=SPAN_OF_80):
        yield case(
            calibrant.roc_auc(y, p, sample_weight=weights), by.area_by_definition(y, p, weights),
            peer=peer(metrics.roc_auc_score, y, p, sample_weight=weights),
        )  # fmt: skip


@row("DeLong's standard error", covers="", bound=2, unit="ulp, at least of 2⁻²⁶")
def delong(few: bool) -> Iterator[Case]:
    for y, p, weights in predictions(few, least=10, most=30, weights=("none", "integers")):
        variance = by.variance_by_definition(y, p, weights)
        found = calibrant.roc_curve(y, p, sample_weight=weights).auc_standard_error
        if np.isfinite(found):
            yield case(found, mpmath.sqrt(number(variance)), scale=2.0**-26)


@row("ROC curves, found and predicted", covers="roc_curve", bound=1)
def curve(few: bool) -> Iterator[Case]:
    for y, p, weights in predictions(few, least=2, most=100, ends=False, weights=SPAN_OF_80):
        found = calibrant.roc_curve(y, p, sample_weight=weights)
        w = [Fraction(float(x)) for x in weights_of(p, weights)]
        rows = list(zip(map(int, y), map(Fraction, p.tolist()), w, strict=True))
        hits, misses = sum(w * y for y, _, w in rows), sum(w * (1 - y) for y, _, w in rows)
        good, bad = sum(w * s for _, s, w in rows), sum(w * (1 - s) for _, s, w in rows)
        for i, threshold in enumerate(found.thresholds[1:].tolist(), start=1):
            above = [row for row in rows if row[1] >= Fraction(threshold)]
            yield case(found.true_positive_rates[i], sum(w * y for y, _, w in above) / hits)
            yield case(
                found.false_positive_rates[i], sum(w * (1 - y) for y, _, w in above) / misses
            )
            yield case(
                found.predicted_true_positive_rates[i], sum(w * s for _, s, w in above) / good
            )
            yield case(
                found.predicted_false_positive_rates[i],
                sum(w * (1 - s) for _, s, w in above) / bad,
            )
        won = sum(
            v * s * w * (1 - t) * by.won(s, t) for _, s, v in rows for _, t, w in rows
        ) if len(rows) <= 30 else None  # fmt: skip
        if won is not None:
            yield case(found.predicted_auc, won / (good * bad))


@row("area under accuracy against rejection", covers="accuracy_rejection_auc", bound=1)
def rejection(few: bool) -> Iterator[Case]:
    for y, p, weights in predictions(few, most=100, weights=SPAN_OF_80):
        confidence = np.maximum(p, 1 - p).tolist()
        true = by.rejection_by_definition((p >= 0.5) == y, confidence, weights)
        yield case(calibrant.accuracy_rejection_auc(y, p, sample_weight=weights), true)
