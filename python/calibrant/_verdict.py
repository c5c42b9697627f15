"""What the numbers of an assessment amount to: the angle, what chance explains, the verdict."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from calibrant.means import RiskProfile

if TYPE_CHECKING:
    from calibrant.assessment import AssessmentBins

__all__ = [
    "PairBins",
    "angle_between",
    "angle_of",
    "angle_tolerance",
    "least_divergence",
    "too_many_bins",
    "verdict_of",
]

#: Bins are too many if they alone make the source better by this much, in nats.
LARGEST_OPTIMISM = 0.01
#: True pairs that a bin must lead one to expect, to count for the tolerance.
LEAST_EXPECTED = 0.05
#: Standard deviations that an angle may differ from 45 degrees by chance.
DEVIATIONS = 1.959963984540054


@dataclass(frozen=True)
class PairBins:
    """What is needed here of an AssessmentBins."""

    weights: np.ndarray
    true_weights: np.ndarray
    mean_scores: np.ndarray

    def __len__(self) -> int:
        return len(self.weights)


def angle_of(model: RiskProfile, source: RiskProfile) -> float:
    """Return the angle of the line through the three points, in degrees; NaN for one point."""
    return angle_between(
        model.decisiveness - model.robustness, source.decisiveness - source.robustness
    )


def angle_between(rise: float, run: float) -> float:
    """Return the angle of a line, in degrees; NaN for a point."""
    if rise == 0.0 and run == 0.0:
        return math.nan
    return math.degrees(math.atan2(rise, run))


def _events(bins: AssessmentBins | PairBins) -> float:
    with np.errstate(over="ignore"):
        return float(bins.true_weights.sum())


def angle_tolerance(
    model: RiskProfile, source: RiskProfile, bins: AssessmentBins | PairBins
) -> float:
    """Return 1.96 standard deviations, in degrees, of the angle of calibrated probabilities.

    To first order in the counts of true pairs, the difference of the two spreads is the mean
    over events of -g(q) + E g(q), where g(q) = q - R^(5/3) q^(-2/3) and R is the robustness. The
    variance is taken over bins, each at its mean probability; that events differ makes it a
    little too large. Bins in which nothing is expected to happen are left out: what they could
    do, they hardly ever do.
    """
    spread = math.hypot(
        model.decisiveness - model.robustness, source.decisiveness - source.robustness
    )
    if spread == 0.0:
        return math.nan
    if not np.isfinite(bins.weights).all():
        return 0.0
    used = bins.weights * np.nan_to_num(bins.mean_scores) >= LEAST_EXPECTED
    if not used.any():
        return math.nan
    q = bins.mean_scores[used]
    probability = bins.weights[used] / bins.weights.max() * q
    probability = probability / probability.sum()
    g = q - model.robustness ** (5 / 3) * q ** (-2 / 3)
    g = g - float((probability * g).sum())
    largest = float(np.abs(g).max())
    if largest == 0.0:
        return 0.0
    # Of probabilities next to 0, the square of g would overflow.
    variance = float((probability * (g / largest) ** 2).sum()) / _events(bins)
    return math.degrees(DEVIATIONS * largest * math.sqrt(variance) / (math.sqrt(2) * spread))


def least_divergence(bins: AssessmentBins | PairBins, n_classes: int) -> float:
    """Return the model / source accuracy below which chance is an unlikely explanation.

    For calibrated probabilities 2 N ln(source / model) is close to a chi-square variable with
    as many degrees of freedom as there are free frequencies: its mean and three standard
    deviations.
    """
    free = float((bins.weights > 0).sum()) * (n_classes - 1) / n_classes
    return math.exp(-(free + 3.0 * math.sqrt(2.0 * free)) / (2.0 * _events(bins)))


def verdict_of(angle: float, tolerance: float, divergence: float, least: float) -> str:
    """Return the verdict in words."""
    if math.isnan(angle):
        return "undefined: all probabilities and all frequencies are equal, so there is no angle"
    limits = f"45\N{DEGREE SIGN} \N{PLUS-MINUS SIGN} {tolerance:.1f}\N{DEGREE SIGN}"
    shown = f"{angle:.1f}\N{DEGREE SIGN}"
    if angle > 45.0 + tolerance:
        return f"over-confident: the angle {shown} is above {limits}"
    if angle < 45.0 - tolerance:
        return f"under-confident: the angle {shown} is below {limits}"
    text = f"calibrated: the angle {shown} is within {limits}"
    if tolerance >= 45.0:
        text += ", as any would be: there are too few rows to tell"
    if divergence < least:
        text += (
            f"; but model / source {divergence:.4f} is below {least:.4f}, so the probabilities "
            f"are off in another way"
        )
    return text


def too_many_bins(bins: AssessmentBins | PairBins, n_classes: int) -> str | None:
    """Return a warning if they are."""
    events = _events(bins)
    optimism = len(bins) * (n_classes - 1) / (2.0 * n_classes * events)
    if optimism <= LARGEST_OPTIMISM:
        return None
    return (
        f"{len(bins)} bins are too many for {events:g} rows: chance alone lifts the source's "
        f"accuracy by {100 * optimism:.1f}%"
    )
