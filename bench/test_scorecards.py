"""The scorecard beside one score plus one equal-count binning; and beside scikit-learn, which has
three of its numbers, without intervals, in as many passes."""

import numpy as np

import calibrant
from bench.case import Case, Peer, benchmarks, binary, in_groups, yardstick


def sklearn_three(y, p):
    from sklearn.metrics import accuracy_score, brier_score_loss, log_loss

    return brier_score_loss(y, p), log_loss(y, p), accuracy_score(y, p >= 0.5)


def brier_and_bins(y, p):
    bins = calibrant.expected_calibration_error(y, p, n_bins=50, strategy="quantile")
    return calibrant.brier_score(y, p), bins


def same_brier(data, card):
    np.testing.assert_equal(card.brier.value, calibrant.brier_score(*data[:2]))


THREE = "three of its numbers: Brier, log loss, accuracy"
test_scorecards = benchmarks(
    Case("scorecard", binary, calibrant.scorecard,
         (Peer("scikit-learn", sklearn_three, needs="sklearn.metrics", differs=THREE),
          yardstick("brier_score and equal-count ECE", brier_and_bins)),
         answer=lambda card: (card.brier.value, card.log.value, card.hit_rate.value)),
    Case("scorecard, 100 groups", in_groups,
         lambda y, p, keys: calibrant.scorecard(y, p, groups=keys),
         (yardstick("scorecard without groups", lambda y, p, keys: calibrant.scorecard(y, p)),),
         check=same_brier),
)  # fmt: skip
