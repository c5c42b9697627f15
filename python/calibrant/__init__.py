"""Can these probabilities be trusted?

calibrant scores probabilities exactly, in a stream, and to the same last bit however the
work is split.
"""

from calibrant import calibration, cumulative, means, scores, streaming
from calibrant._core import __version__
from calibrant.calibration import (
    Assessment,
    AssessmentBins,
    ReliabilityBins,
    assess,
    classwise_ece,
    expected_calibration_error,
    maximum_calibration_error,
    reliability_bins,
    top_label_ece,
)
from calibrant.config import get_num_threads, set_num_threads, show_config
from calibrant.cumulative import (
    TestResult,
    brownian_range_cdf,
    brownian_range_log_sf,
    brownian_range_sf,
    brownian_sup_cdf,
    brownian_sup_log_sf,
    brownian_sup_sf,
    spiegelhalter_test,
)
from calibrant.means import (
    CrossEntropyProbability,
    MeanSpectrum,
    RiskProfile,
    coupling_to_power,
    cross_entropy_probability,
    generalized_mean,
    mean_spectrum,
    power_to_coupling,
    renyi_entropy,
    risk_profile,
    tsallis_entropy,
)
from calibrant.scores import (
    LogDecomposition,
    ScoreSummary,
    brier_score,
    brier_skill_score,
    gini_impurity,
    log_decomposition,
    log_score,
    optimal_constant,
    spherical_score,
)

__all__ = [
    "Assessment",
    "AssessmentBins",
    "CrossEntropyProbability",
    "LogDecomposition",
    "MeanSpectrum",
    "ReliabilityBins",
    "RiskProfile",
    "ScoreSummary",
    "TestResult",
    "__version__",
    "assess",
    "brier_score",
    "brier_skill_score",
    "brownian_range_cdf",
    "brownian_range_log_sf",
    "brownian_range_sf",
    "brownian_sup_cdf",
    "brownian_sup_log_sf",
    "brownian_sup_sf",
    "calibration",
    "classwise_ece",
    "coupling_to_power",
    "cross_entropy_probability",
    "cumulative",
    "expected_calibration_error",
    "generalized_mean",
    "get_num_threads",
    "gini_impurity",
    "log_decomposition",
    "log_score",
    "maximum_calibration_error",
    "mean_spectrum",
    "means",
    "optimal_constant",
    "power_to_coupling",
    "reliability_bins",
    "renyi_entropy",
    "risk_profile",
    "scores",
    "set_num_threads",
    "show_config",
    "spherical_score",
    "spiegelhalter_test",
    "streaming",
    "top_label_ece",
    "tsallis_entropy",
]
