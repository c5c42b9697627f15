"""The verdict on probabilities, the same for `assess`, reports and streams; the angle."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from calibrant import _core
from calibrant.means import RiskProfile

if TYPE_CHECKING:
    from calibrant.calibration._assessment import AssessmentBins
    from calibrant.score_table._bounds import Bounds

__all__ = [
    "CalibrationVerdict",
    "PairBins",
    "angle_between",
    "angle_of",
    "angle_text",
    "angle_tolerance",
    "calibration_verdict",
    "pvalue_text",
    "too_many_bins",
]

#: Bins are too many if they alone make the source better by this much, in nats.
LARGEST_OPTIMISM = 0.01
#: A joint p-value up to this is a verdict against the probabilities.
SIGNIFICANT = 0.05
#: Errors are of one sign if the mean gap is this much of the mean of the gaps' sizes; of top
#: labels, most of them.
ONE_SIDED, MOSTLY = 0.9, 0.5
#: An odds ratio of exp(DETECTABLE / sqrt(sum of s(1 - s))) is found four times out of five: the
#: normal quantiles of 1 - 0.05 / 4 and of 0.8.
DETECTABLE = 2.2414027276 + 0.8416212336
#: Rows that cannot tell odds that are off by this factor are too few.
LARGEST_ODDS_RATIO = 2.0
#: Rows given 0 or 1 that would probably show one mistake in 20.
CERTAIN_ROWS = 60

NOTHING_TO_DO = "Nothing needs to be done; watch for drift."


@dataclass(frozen=True)
class PairBins:
    """What is needed here of an AssessmentBins."""

    weights: np.ndarray
    true_weights: np.ndarray
    mean_scores: np.ndarray

    def __len__(self) -> int:
        return len(self.weights)


@dataclass(frozen=True)
class CalibrationVerdict:
    """What Spiegelhalter's test and the KS test together say of probabilities.

    Attributes
    ----------
    kind : str
        "over-confident", "under-confident", "miscalibrated", "calibrated", "too few rows" or
        "undefined".
    words : str
        The kind, or "too low" or "too high" where nearly all errors have that sign.
    size : str
        What it is about: the probabilities and how often the events happened; or the reason.
    tests : str
        The p-values.
    advice : str
        What to do next.
    pvalue : float
        Of both tests together; 0 if something happened that was given a probability of 0.
    """

    kind: str
    words: str
    size: str
    tests: str
    advice: str
    pvalue: float

    def __str__(self) -> str:
        return f"{self.words}: {self.size}" + (f" ({self.tests})" if self.tests else "")


def pvalue_text(pvalue: float, log_pvalue: float | None = None) -> str:
    """Return a p-value to be read: three digits, or its power of ten.

    Examples
    --------
    >>> pvalue_text(0.0312), pvalue_text(3e-9), pvalue_text(0.0, -45005.9)
    ('p = 0.031', 'p = 3e-09', 'p = 1e-19546')
    """
    if pvalue >= 0.001:
        return f"p = {pvalue:.2g}" if pvalue < 0.1 else f"p = {pvalue:.2f}"
    if pvalue > 1e-300:
        return f"p = {pvalue:.0e}"
    if log_pvalue is None or log_pvalue == float("-inf"):
        return "p < 1e-300"
    return f"p = 1e{log_pvalue / 2.302585092994046:.0f}"


def calibration_verdict(rows: _core.ScoreTable, *, q_lim: float = 0.0) -> CalibrationVerdict:
    """Return the verdict on the rows of a table; one row at least has weight.

    Parameters
    ----------
    q_lim : float
        If positive, probabilities of 0 and 1 stand for this and one minus it.
    """
    found = _core.joint_test(rows)
    binary = rows.columns == 1
    tests = f"Spiegelhalter's and the KS test together: {pvalue_text(found.pvalue)}"
    impossible = found.impossible and q_lim == 0.0
    if found.pvalue <= SIGNIFICANT or impossible:
        return _against(found, tests, binary=binary, impossible=impossible)
    if found.variance == 0.0 and found.weight >= CERTAIN_ROWS:
        return CalibrationVerdict(
            "calibrated", "calibrated", "all probabilities are 0 or 1, and all came true", "",
            NOTHING_TO_DO, found.pvalue,
        )  # fmt: skip
    if found.variance == 0.0:
        return CalibrationVerdict(
            "too few rows", "too few rows to tell",
            "all probabilities are 0 or 1 and came true, which so few rows may by chance", "",
            f"Collect {CERTAIN_ROWS} rows before you judge these probabilities.", found.pvalue,
        )  # fmt: skip
    ratio = math.exp(min(DETECTABLE / math.sqrt(found.variance), 700.0))
    if ratio > LARGEST_ODDS_RATIO:
        needed = found.weight * (DETECTABLE / math.log(LARGEST_ODDS_RATIO)) ** 2 / found.variance
        return CalibrationVerdict(
            "too few rows", "too few rows to tell",
            f"{_count(found.hits, 'event' if binary else 'hit')} where {found.expected:.3g} were "
            f"expected; about {_rounded_up(needed)} such rows would show odds that are off by a "
            f"factor of {LARGEST_ODDS_RATIO:g}",
            pvalue_text(found.pvalue),
            f"Collect about {_rounded_up(needed)} rows before you judge these probabilities.",
            found.pvalue,
        )  # fmt: skip
    size = (
        "chance explains the differences; odds that are off by a factor of "
        f"{max(ratio, 1.01):.3g} would probably have been seen"
    )
    if found.least_pvalue <= SIGNIFICANT:
        size += "; not certain, because this table knows the KS statistic within bounds only"
    return CalibrationVerdict(
        "calibrated", "calibrated", size, tests,
        NOTHING_TO_DO, found.pvalue,
    )  # fmt: skip


def _against(
    found: _core.JointTest, tests: str, *, binary: bool, impossible: bool
) -> CalibrationVerdict:
    groups = found.groups
    gap = found.hits - found.expected
    error = sum(weight * abs(frequency - score) for weight, score, frequency in groups)
    rejected = found.pvalue <= SIGNIFICANT
    side = ""
    if rejected and abs(gap) >= ONE_SIDED * error:
        side = "too low" if gap > 0.0 else "too high"
    kind, words = "miscalibrated", side or "miscalibrated"
    # More events than promised where they are unlikely, and fewer where they are likely.
    toward_half = 0.0
    if not binary:
        if rejected and abs(gap) >= MOSTLY * error:
            kind = words = "over-confident" if gap < 0.0 else "under-confident"
    elif found.spiegelhalter_pvalue <= 0.5 * SIGNIFICANT and not side:
        toward_half = math.copysign(1.0, found.spiegelhalter)
        kind = words = "over-confident" if toward_half > 0.0 else "under-confident"

    def shows_it(score: float, frequency: float) -> bool:
        excess = frequency - score
        if toward_half:
            return excess * (0.5 - score) * toward_half > 0.0
        return gap * excess > 0.0 or not (side or kind != "miscalibrated")

    shown = [group for group in groups if shows_it(*group[1:])] or groups
    _, score, frequency = max(shown, key=lambda group: group[0] * abs(group[2] - group[1]))
    promised, happened = _percentages(score, frequency)
    if binary:
        size = f"events given {promised} happened {happened} of the time"
    else:
        size = f"top labels given {promised} were right {happened} of the time"
    pvalue = found.pvalue
    if impossible:
        zero = "a probability of 0 was given to something that happened"
        size = f"{size}, and {zero}" if rejected else zero
        # The tests sum over all rows, in which one such row may be lost.
        pvalue = 0.0
        tests = f"impossible if the probabilities are right: p = 0; {tests}"
    advice = (
        "Recalibrate on rows that were not used for training, for example with scikit-learn's "
        "CalibratedClassifierCV, and judge the result on other rows."
    )
    if impossible and not rejected:
        advice = "Do not give probabilities of 0 or 1: clip them, or smooth what they come from."
    return CalibrationVerdict(kind, words, size, tests, advice, pvalue)


def _percentages(*shares: float) -> tuple[str, ...]:
    """Return shares with as many digits as tell them apart, two at least of small ones."""
    texts: tuple[str, ...] = ()
    for digits in range(12):
        texts = tuple(f"{100.0 * share:.{digits}f} %" for share in shares)
        # Shares of 0 and 1 need no digits; others keep one that is not 0, and not 9.
        exact = all(share in (0.0, 1.0) or _precise(share, digits) >= 0.995 for share in shares)
        if exact and (len(set(texts)) == len(texts) or shares[0] == shares[-1]):
            break
    return texts


def _precise(share: float, digits: int) -> float:
    """Return how many units of the last digit the smaller of share and rest holds, up to 1."""
    return min(1.0, 100.0 * min(share, 1.0 - share) * 10.0**digits / 9.5 + 1e-12)


def _count(number: float, what: str) -> str:
    return f"{number:.6g} {what}" + ("" if number == 1.0 else "s")


def _rounded_up(number: float) -> str:
    """Return a number of rows with two digits."""
    if not number < 1e15:
        return "1e15"
    unit = 10.0 ** max(math.floor(math.log10(max(number, 1.0))) - 1, 0)
    return f"{math.ceil(number / unit) * unit:,.0f}"


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


def angle_text(angle: float | Bounds, tolerance: float, n_bins: int) -> str:
    """Return the angle, or its bounds, beside what it is if the probabilities are right."""
    if math.isnan(float(angle)):
        return "no angle: all that happened had the same probability and the same frequency"
    ends = (angle, angle) if isinstance(angle, float) else (angle.low, angle.high)
    low, high = (f"{end:.1f}\N{DEGREE SIGN}" for end in ends)
    text = f"the angle over {n_bins} bins is "
    text += low if low == high else f"between {low} and {high}"
    if math.isnan(tolerance):
        return text
    expected = f"45\N{DEGREE SIGN} \N{PLUS-MINUS SIGN} {tolerance:.1f}\N{DEGREE SIGN}"
    return f"{text}, {expected} if calibrated"


def _events(bins: AssessmentBins | PairBins) -> float:
    with np.errstate(over="ignore"):
        return float(bins.true_weights.sum())


def angle_tolerance(model: RiskProfile, bins: AssessmentBins | PairBins) -> float:
    """Return how far from 45 degrees the angle is in 95 of 100 samples, if scores are right.

    The true pairs of each bin are simulated by the core, with the optimism of a source of many
    bins and few events.
    """
    deviation = _core.angle_deviation(
        bins.weights, np.nan_to_num(bins.mean_scores), bins.true_weights,
        model.decisiveness - model.robustness, 0.95,
    )  # fmt: skip
    return math.degrees(math.atan(deviation))


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
