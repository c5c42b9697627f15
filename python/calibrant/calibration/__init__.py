"""Calibration: do things that are given 70% happen 70% of the time?

A *reliability table* sorts rows into bins by their score and compares, per bin, the mean score
with the frequency of hits. The calibration errors sum up the gaps between the two.

Bins are [e_k, e_k+1), and the last also holds its right edge: n bins are n bins, and every
score in [0, 1] falls in exactly one. Equal-count bins (``strategy="quantile"``) never split
scores that are equal, so with many ties some stay empty and others grow. Empty bins are kept.
"""

from __future__ import annotations

from calibrant._input.bins import Strategy as Strategy
from calibrant.calibration._assessment import Assessment, AssessmentBins, assess
from calibrant.calibration._conventions import Convention, Conventions, conventions
from calibrant.calibration._errors import (
    Norm as Norm,
    ReliabilityBins,
    classwise_ece,
    expected_calibration_error,
    maximum_calibration_error,
    mean_calibration_error,
    reliability_bins,
    top_label_ece,
)
from calibrant.calibration._smooth import smooth_calibration_error

__all__ = [
    "Assessment",
    "AssessmentBins",
    "Convention",
    "Conventions",
    "ReliabilityBins",
    "assess",
    "classwise_ece",
    "conventions",
    "expected_calibration_error",
    "maximum_calibration_error",
    "mean_calibration_error",
    "reliability_bins",
    "smooth_calibration_error",
    "top_label_ece",
]


def __dir__() -> list[str]:
    return __all__
