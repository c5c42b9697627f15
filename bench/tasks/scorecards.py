"""The scorecard beside what it is measured by, one score plus one equal-count binning; and beside
scikit-learn, which has three of its numbers, without intervals, in as many passes."""

from __future__ import annotations

import numpy as np

import calibrant
from bench.predictions import binary
from bench.task import TO_1E8, Peer, Task


def sklearn_three(y, p):
    from sklearn.metrics import accuracy_score, brier_score_loss, log_loss

    return brier_score_loss(y, p), log_loss(y, p), accuracy_score(y, p >= 0.5)


def brier_and_bins(y, p):
    bins = calibrant.expected_calibration_error(y, p, n_bins=50, strategy="quantile")
    return calibrant.brier_score(y, p), bins


def in_groups(n):
    return (*binary(n), np.random.default_rng(8).integers(0, 100, n))


TASKS = (
    Task(
        "scorecard",
        binary,
        calibrant.scorecard,
        (
            Peer(
                "scikit-learn", sklearn_three, needs="sklearn.metrics",
                differs="three of its numbers: Brier, log loss, accuracy",
            ),
            Peer("brier_score and equal-count ECE", brier_and_bins, yardstick=True),
        ),
        answer=lambda card: (card.brier.value, card.log.value, card.hit_rate.value),
        sizes=TO_1E8,
    ),
    Task(
        "scorecard, 100 groups",
        in_groups,
        lambda y, p, keys: calibrant.scorecard(y, p, groups=keys),
        (
            Peer(
                "scorecard without groups",
                lambda y, p, keys: calibrant.scorecard(y, p),  # noqa: ARG005
                yardstick=True,
            ),
        ),
        answer=lambda card: card.brier.value,
        check=lambda data, brier: np.testing.assert_equal(brier, calibrant.brier_score(*data[:2])),
    ),
)  # fmt: skip
