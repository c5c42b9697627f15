"""Can these probabilities be trusted?

calibrant scores probabilities exactly, in a stream, and to the same last bit however the
work is split.
"""

import importlib
from typing import TYPE_CHECKING, Any

from calibrant import _main_interpreter  # noqa: F401 (before the core is loaded)

# isort: split
from calibrant import (
    calibration,
    cumulative,
    dependence,
    ensemble,
    ensemble_scores,
    intervals,
    means,
    ranks,
    samples,
    scorecards,
    scores,
    streaming,
)
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
from calibrant.comparison import Comparison, compare
from calibrant.config import get_num_threads, set_num_threads, show_config
from calibrant.conventions import Conventions, conventions
from calibrant.cumulative import (
    ClasswiseTestResult,
    CumulativeDifferences,
    CumulativeTests,
    GroupwiseTestResult,
    TestResult,
    brownian_range_cdf,
    brownian_range_log_sf,
    brownian_range_sf,
    brownian_sup_cdf,
    brownian_sup_log_sf,
    brownian_sup_sf,
    cumulative_differences,
    cumulative_tests,
    ks_test,
    kuiper_test,
    spiegelhalter_test,
)
from calibrant.dependence import HSIC, HSICTest, hsic, hsic_test
from calibrant.distributions import CoupledGaussian, CoupledGaussianFit
from calibrant.ensemble import EnsembleVotes, ensemble_confidence, ensemble_votes
from calibrant.ensemble_scores import (
    SlicedEnergyScore,
    crps_ensemble,
    crps_exponential,
    crps_laplace,
    crps_logistic,
    crps_normal,
    crps_uniform,
    energy_score,
    quantile_score,
    variogram_score,
)
from calibrant.intervals import (
    Coverage,
    CoverageGap,
    CoverageHSIC,
    CoverageHSICByLevel,
    IntervalLevel,
    IntervalSummary,
    SetSize,
    SetSummary,
    SizeStratifiedCoverage,
    coverage_gap,
    coverage_hsic,
    coverage_width_criterion,
    interval_coverage,
    interval_score,
    interval_summary,
    interval_width,
    set_coverage,
    set_size,
    set_summary,
    size_stratified_coverage,
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
from calibrant.ranks import (
    RankCalibration,
    break_ties,
    draw_counts,
    energy_ranks,
    pit_values,
    rank_calibration,
    rank_pit_values,
    sbc_ranks,
    tarp_ranks,
    tarp_references,
)
from calibrant.roc import RocCurve, accuracy_rejection_auc, roc_auc, roc_curve
from calibrant.samples import (
    DensityCoverage,
    MMDTest,
    PrecisionRecall,
    SampleComparison,
    SampleMoments,
    VendiProfile,
    compare_samples,
    density_coverage,
    frechet_distance,
    median_bandwidth,
    mmd,
    mmd_test,
    precision_recall,
    vendi_profile,
    vendi_score,
)
from calibrant.scorecards import Estimate, Scorecard, scorecard
from calibrant.scores import (
    BrierDecomposition,
    CorpDecomposition,
    LogDecomposition,
    MurphyDecomposition,
    ScoreSummary,
    brier_decomposition,
    brier_score,
    brier_skill_score,
    gini_impurity,
    log_decomposition,
    log_score,
    optimal_constant,
    spherical_score,
)
from calibrant.smooth import smooth_calibration_error

if TYPE_CHECKING:
    from calibrant import compat as compat
    from calibrant import distributed as distributed
    from calibrant import drift as drift
    from calibrant import evidence as evidence
    from calibrant import io as io
    from calibrant import plotting as plotting
    from calibrant import report as report
    from calibrant import sequential as sequential
    from calibrant import telemetry as telemetry
    from calibrant._learn_plus_plus import LearnPlusPlus as LearnPlusPlus

# LearnPlusPlus is there, too, where scikit-learn is installed.
__all__ = [
    "HSIC",
    "Assessment",
    "AssessmentBins",
    "BrierDecomposition",
    "ClasswiseTestResult",
    "Comparison",
    "Conventions",
    "CorpDecomposition",
    "CoupledGaussian",
    "CoupledGaussianFit",
    "Coverage",
    "CoverageGap",
    "CoverageHSIC",
    "CoverageHSICByLevel",
    "CrossEntropyProbability",
    "CumulativeDifferences",
    "CumulativeTests",
    "DensityCoverage",
    "EnsembleVotes",
    "Estimate",
    "GroupwiseTestResult",
    "HSICTest",
    "IntervalLevel",
    "IntervalSummary",
    "LogDecomposition",
    "MMDTest",
    "MeanSpectrum",
    "MurphyDecomposition",
    "PrecisionRecall",
    "RankCalibration",
    "ReliabilityBins",
    "RiskProfile",
    "RocCurve",
    "SampleComparison",
    "SampleMoments",
    "ScoreSummary",
    "Scorecard",
    "SetSize",
    "SetSummary",
    "SizeStratifiedCoverage",
    "SlicedEnergyScore",
    "TestResult",
    "VendiProfile",
    "__version__",
    "accuracy_rejection_auc",
    "assess",
    "break_ties",
    "brier_decomposition",
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
    "compare",
    "compare_samples",
    "conventions",
    "coupling_to_power",
    "coverage_gap",
    "coverage_hsic",
    "coverage_width_criterion",
    "cross_entropy_probability",
    "crps_ensemble",
    "crps_exponential",
    "crps_laplace",
    "crps_logistic",
    "crps_normal",
    "crps_uniform",
    "cumulative",
    "cumulative_differences",
    "cumulative_tests",
    "density_coverage",
    "dependence",
    "distributions",
    "draw_counts",
    "energy_ranks",
    "energy_score",
    "ensemble",
    "ensemble_confidence",
    "ensemble_scores",
    "ensemble_votes",
    "expected_calibration_error",
    "frechet_distance",
    "generalized_mean",
    "get_num_threads",
    "gini_impurity",
    "hsic",
    "hsic_test",
    "interval_coverage",
    "interval_score",
    "interval_summary",
    "interval_width",
    "intervals",
    "ks_test",
    "kuiper_test",
    "log_decomposition",
    "log_score",
    "maximum_calibration_error",
    "mean_spectrum",
    "means",
    "median_bandwidth",
    "mmd",
    "mmd_test",
    "optimal_constant",
    "pit_values",
    "power_to_coupling",
    "precision_recall",
    "quantile_score",
    "rank_calibration",
    "rank_pit_values",
    "ranks",
    "reliability_bins",
    "renyi_entropy",
    "risk_profile",
    "roc_auc",
    "roc_curve",
    "samples",
    "sbc_ranks",
    "scorecard",
    "scorecards",
    "scores",
    "set_coverage",
    "set_num_threads",
    "set_size",
    "set_summary",
    "show_config",
    "size_stratified_coverage",
    "smooth_calibration_error",
    "spherical_score",
    "spiegelhalter_test",
    "streaming",
    "tarp_ranks",
    "tarp_references",
    "top_label_ece",
    "tsallis_entropy",
    "variogram_score",
    "vendi_profile",
    "vendi_score",
]


#: Modules that are imported when they are first asked for.
_ON_DEMAND = (
    "compat", "distributed", "drift", "evidence", "io", "plotting", "report", "sequential",
    "telemetry",
)  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _ON_DEMAND:
        return importlib.import_module(f"{__name__}.{name}")
    if name == "LearnPlusPlus":
        return ensemble.LearnPlusPlus
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_ON_DEMAND})
