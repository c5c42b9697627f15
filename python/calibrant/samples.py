"""Samples as a generator gives them: how far from real ones, how good, how diverse?"""

from calibrant._frechet import SampleMoments, frechet_distance
from calibrant._neighbours import (
    DensityCoverage,
    PrecisionRecall,
    density_coverage,
    precision_recall,
)
from calibrant._vendi import VendiProfile, vendi_profile, vendi_score

__all__ = [
    "DensityCoverage",
    "PrecisionRecall",
    "SampleMoments",
    "VendiProfile",
    "density_coverage",
    "frechet_distance",
    "precision_recall",
    "vendi_profile",
    "vendi_score",
]
