"""Samples as a generator gives them: how far from real ones, how good, how diverse?"""

from calibrant.samples._comparison import SampleComparison, compare_samples
from calibrant.samples._frechet import SampleMoments, frechet_distance
from calibrant.samples._mmd import median_bandwidth, mmd
from calibrant.samples._mmd_test import MMDTest, mmd_test
from calibrant.samples._neighbours import (
    DensityCoverage,
    PrecisionRecall,
    density_coverage,
    precision_recall,
)
from calibrant.samples._vendi import VendiProfile, vendi_profile, vendi_score

__all__ = [
    "DensityCoverage",
    "MMDTest",
    "PrecisionRecall",
    "SampleComparison",
    "SampleMoments",
    "VendiProfile",
    "compare_samples",
    "density_coverage",
    "frechet_distance",
    "median_bandwidth",
    "mmd",
    "mmd_test",
    "precision_recall",
    "vendi_profile",
    "vendi_score",
]


def __dir__() -> list[str]:
    return __all__
