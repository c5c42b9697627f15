"""Can these probabilities be trusted?

calibrant scores probabilities exactly, in a stream, and to the same last bit however the
work is split.
"""

from importlib import import_module
from typing import Any

from calibrant import _main_interpreter  # noqa: F401 (before the core is loaded)

# isort: split
from calibrant._core import __version__

# The public names of each module, which is loaded when one of them is first used: all of them take
# as long as NumPy. Type checkers read __init__.pyi instead; a test compares the two.
_NAMES = {
    "calibration": (
        "Assessment", "AssessmentBins", "Conventions", "ReliabilityBins", "assess", "classwise_ece",
        "conventions", "expected_calibration_error", "maximum_calibration_error",
        "reliability_bins", "smooth_calibration_error", "top_label_ece",
    ),
    "comparison": (
        "Comparison", "compare",
    ),
    "config": (
        "get_num_threads", "set_num_threads", "show_config",
    ),
    "cumulative": (
        "ClasswiseTestResult", "CumulativeDifferences", "CumulativeTests", "GroupwiseTestResult",
        "TestResult", "brownian_range_cdf", "brownian_range_log_sf", "brownian_range_sf",
        "brownian_sup_cdf", "brownian_sup_log_sf", "brownian_sup_sf", "cumulative_differences",
        "cumulative_tests", "ks_test", "kuiper_test", "spiegelhalter_test",
    ),
    "dependence": (
        "HSIC", "HSICTest", "hsic", "hsic_test",
    ),
    "distributions": (
        "CoupledGaussian", "CoupledGaussianFit", "class_posterior",
    ),
    "ensemble": (
        "EnsembleVotes", "ensemble_confidence", "ensemble_votes",
    ),
    "ensemble_scores": (
        "SlicedEnergyScore", "crps_ensemble", "crps_exponential", "crps_laplace", "crps_logistic",
        "crps_normal", "crps_uniform", "energy_score", "quantile_score", "variogram_score",
    ),
    "intervals": (
        "Coverage", "CoverageGap", "CoverageHSIC", "CoverageHSICByLevel", "IntervalLevel",
        "IntervalSummary", "SetSize", "SetSummary", "SizeStratifiedCoverage", "coverage_gap",
        "coverage_hsic", "coverage_width_criterion", "interval_coverage", "interval_score",
        "interval_summary", "interval_width", "set_coverage", "set_size", "set_summary",
        "size_stratified_coverage",
    ),
    "means": (
        "CrossEntropyProbability", "MeanSpectrum", "RiskProfile", "coupling_to_power",
        "cross_entropy_probability", "generalized_mean", "geometric_standard_deviation",
        "mean_spectrum", "power_to_coupling", "renyi_entropy", "risk_profile", "tsallis_entropy",
    ),
    "ranks": (
        "RankCalibration", "break_ties", "draw_counts", "energy_ranks", "pit_values",
        "rank_calibration", "rank_pit_values", "sbc_ranks", "tarp_ranks", "tarp_references",
    ),
    "roc": (
        "RocCurve", "accuracy_rejection_auc", "roc_auc", "roc_curve",
    ),
    "samples": (
        "DensityCoverage", "MMDTest", "PrecisionRecall", "SampleComparison", "SampleMoments",
        "VendiProfile", "compare_samples", "density_coverage", "frechet_distance",
        "median_bandwidth", "mmd", "mmd_test", "precision_recall", "vendi_profile", "vendi_score",
    ),
    "scorecards": (
        "Estimate", "Scorecard", "scorecard",
    ),
    "scores": (
        "BrierDecomposition", "CorpDecomposition", "LogDecomposition", "MurphyDecomposition",
        "ScoreSummary", "brier_decomposition", "brier_score", "brier_skill_score", "gini_impurity",
        "log_decomposition", "log_score", "optimal_constant", "spherical_score",
    ),
}  # fmt: skip
# Modules with names of their own; each can be had without importing it first.
_MODULES = (
    *_NAMES, "assessment", "compat", "decompositions", "distributed", "drift", "evidence", "io",
    "plotting", "report", "sequential", "smooth", "streaming", "telemetry",
)  # fmt: skip
_HOMES = {name: module for module, names in _NAMES.items() for name in names}

__all__ = ["__version__", "streaming", *_NAMES, *_HOMES]
_HOMES["LearnPlusPlus"] = "ensemble"  # where scikit-learn is installed


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"calibrant.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"calibrant.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*_MODULES, *__all__})
