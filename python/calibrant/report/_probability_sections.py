"""The sections about probabilities."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from calibrant.calibration._assessment import Assessment
from calibrant.plotting import (
    AssessmentDisplay,
    CumulativeDifferencesDisplay,
    MeanSpectrumDisplay,
    ReliabilityDisplay,
    RocDisplay,
)
from calibrant.plotting._reliability import consistency_margin
from calibrant.report._section import Figure, Number, Section
from calibrant.report._view import View
from calibrant.score_table._assessment_bounds import AssessmentBounds
from calibrant.score_table._bounds import Bounds, TestBounds
from calibrant.scorecards import Scorecard
from calibrant.scorecards._table import NELSON, ROWS, hint, label

__all__ = ["assessment", "cumulative", "reliability", "roc", "scorecard", "spectrum"]

#: Of curves: more cannot be seen.
MOST_POINTS = 400
#: Of the histogram above the reliability diagram, which shows more than the bins.
HISTOGRAM_BINS = 40
RELIABILITY_BINS = 15

#: Where the table's own are clear by their place only.
LABELS = {
    "accuracy": NELSON,
    "spiegelhalter_pvalue": "Spiegelhalter p-value",
    "ks_pvalue": "KS p-value",
    "kuiper_pvalue": "Kuiper p-value",
}

CERTAIN_AND_WRONG = (
    "A probability of 0 was given to something that happened: all means with power 0 or below "
    "are 0, and the log score is infinite. q_lim clips such probabilities."
)


def estimate(card: Scorecard, name: str) -> Number:
    """Return a number of the scorecard."""
    found = getattr(card, name)
    return Number(
        name,
        LABELS.get(name, label(card, name).strip()),
        found.value,
        found.low,
        found.high,
        "" if found.method == "none" else found.method,
        hint(card, name),
        found.reason,
        "pvalue" if name.endswith("pvalue") else "number",
        definition="pvalue" if name.endswith("pvalue") else name,
    )


def certified(name: str, label: str, bounds: Bounds, explanation: str, **more: Any) -> Number:
    """Return a number that is certain to lie in an interval."""
    return Number(
        name, label, bounds.value, bounds.low, bounds.high, "certified", explanation, **more
    )


def scorecard(view: View) -> Section:
    """All headline numbers."""
    level = f"{100 * view.card.confidence_level:g}%"
    return Section(
        "scorecard",
        "Scorecard",
        f"All numbers of the same {view.card.n:,} rows, each with its {level} confidence interval. "
        "Binned numbers use "
        f"{view.card.n_bins} bins of equal width.",
        tuple(estimate(view.card, name) for name in ROWS),
        notes=(view.card.note,) if view.card.note else (),
        definition="docs/guide/scorecards.md",
    )


def assessment(view: View) -> Section | None:
    """The model against the source."""
    found = view.assessment
    if found is None:
        return None
    numbers = [
        *(
            Number(
                f"{part}_{name}",
                f"{name}, {part}",
                float(getattr(getattr(found, part), name)),
                explanation=f"{of}; m = {power}",
                definition=name if part == "model" else "source",
            )
            for name, power in (("decisiveness", "1"), ("accuracy", "0"), ("robustness", "−2/3"))
            for part, of in (("model", "mean of q"), ("source", "mean of the frequencies"))
        ),
        _maybe_certified(
            "divergence", "model / source", found.divergence.accuracy,
            "of the accuracies; 1: nothing lost",
        ),
        _angle(found),
    ]  # fmt: skip
    figure = Figure(
        "model-versus-source",
        AssessmentDisplay(found),
        f"Model against source, a bubble per bin: {found.verdict}",
        found.to_dict(),
    )
    return Section(
        "assessment",
        "Model against source",
        "Each bubble is a bin of probabilities: across, how often they came true; upwards, what "
        "the model said. On the diagonal both agree. The three means sum it up; the line through "
        "them is steeper than the diagonal where the model claims to know more than the data show.",
        tuple(numbers),
        (figure,),
        notes=() if found.warning is None else (found.warning,),
        definition="docs/guide/assessment.md",
    )


def _angle(found: Assessment | AssessmentBounds) -> Number:
    limits = "above 45°: over-confident"
    if not math.isnan(found.tolerance):
        limits = f"calibrated within 45° ± {found.tolerance:.1f}°; above: over-confident"
    reason = found.verdict.partition(": ")[2] if math.isnan(float(found.angle)) else ""
    return _maybe_certified("angle", "angle", found.angle, limits, form="angle", reason=reason)


def _maybe_certified(
    name: str, label: str, value: Bounds | float, explanation: str, **more: Any
) -> Number:
    if isinstance(value, Bounds) and not math.isnan(value.value):
        return certified(name, label, value, explanation, **more)
    return Number(name, label, float(value), explanation=explanation, **more)


def reliability(view: View) -> Section:
    """The reliability diagram."""
    table = view.table
    bins = table.reliability_bins(n_bins=RELIABILITY_BINS)
    counted = table.reliability_bins(n_bins=HISTOGRAM_BINS, strategy="uniform").value
    used = bins.value.weights > 0
    score, frequency = bins.value.mean_scores[used], bins.value.frequencies[used]
    level = view.confidence_level
    margin = consistency_margin(score, bins.value.weights[used], level)
    outside = int((np.abs(frequency - score) > margin).sum())
    error = table.expected_calibration_error(n_bins=RELIABILITY_BINS)
    largest = table.expected_calibration_error(n_bins=RELIABILITY_BINS, norm="max")
    numbers = (
        certified(
            "equal_count_ece",
            "ECE, equal-count bins",
            error,
            "mean gap; 0 is calibrated",
            definition="ece",
        ),
        estimate(view.card, "ece"),
        certified(
            "equal_count_mce", "largest gap", largest, "of an equal-count bin", definition="mce"
        ),
        Number(
            "bins_outside",
            "bins outside the band",
            outside,
            explanation=f"of {int(used.sum())}; chance puts {100 * (1 - level):.3g}% there",
            form="count",
            definition="band",
        ),
    )
    figure = Figure(
        "reliability",
        ReliabilityDisplay(bins),
        f"Reliability diagram of {RELIABILITY_BINS} equal-count bins: {outside} of "
        f"{int(used.sum())} points lie outside the band of chance",
        {"bins": bins.to_dict(), "histogram": counted.to_dict()},
        {"histogram": counted, "xlabel": view.score, "level": level},
    )
    return Section(
        "reliability",
        "Reliability diagram",
        "How often what was given a probability happened, in bins of equally many rows. Filled "
        "points lie outside the band: chance does not explain them. Below the diagonal, "
        "probabilities are too high; above it, too low. The histogram shows where the rows are.",
        numbers,
        (figure,),
        definition="docs/guide/calibration.md",
    )


def _test(name: str, label: str, test: TestBounds) -> tuple[Number, Number]:
    return (
        certified(name, label, test.statistic, "in standard deviations of chance"),
        certified(
            f"{name}_pvalue",
            f"{label} p-value",
            test.pvalue,
            "small: not calibrated",
            form="pvalue",
            log=test.log_pvalue.value,
            definition="pvalue",
        ),
    )


def cumulative(view: View) -> Section:
    """The cumulative differences, and the tests."""
    curve = view.table.cumulative_differences(max_points=MOST_POINTS)
    figure = Figure(
        "cumulative-differences",
        CumulativeDifferencesDisplay(curve),
        "Cumulative differences between hits and scores, with the band in which chance keeps them",
        curve.to_dict(),
        {"level": view.confidence_level},
    )
    return Section(
        "cumulative",
        "Cumulative differences",
        "Rows in order of their scores, hits less scores added up. Where the curve falls, scores "
        "are too high; where it rises, too low; its slope is by how much. No bins are chosen. "
        "Calibrated scores keep the whole curve inside the band in "
        f"{100 * view.confidence_level:g}% of all samples.",
        (
            *_test("ks", "KS", view.ks),
            *_test("kuiper", "Kuiper", view.kuiper),
            estimate(view.card, "spiegelhalter_z"),
            estimate(view.card, "spiegelhalter_pvalue"),
        ),
        (figure,),
        definition="docs/guide/cumulative.md",
    )


def spectrum(view: View) -> Section | None:
    """The generalized means over their powers."""
    bounds = view.spectrum
    if bounds is None:
        return None
    found = bounds.value
    zero = any(mean == 0.0 for m, mean in zip(found.powers, found.means, strict=True) if m <= 0)
    figure = Figure(
        "mean-spectrum",
        MeanSpectrumDisplay(found),
        "Generalized means of the probabilities of what happened, over their powers",
        bounds.to_dict(),
    )
    return Section(
        "spectrum",
        "Generalized means",
        "The means of q, the probabilities that were given to what happened, from cautious "
        "(left) to bold (right). A steep fall to the left tells of confident mistakes.",
        tuple(estimate(view.card, name) for name in ("decisiveness", "accuracy", "robustness")),
        (figure,),
        notes=(CERTAIN_AND_WRONG,) if zero else (),
        definition="docs/guide/means.md",
    )


def roc(view: View) -> Section:
    """The ROC curve, actual and predicted."""
    title, page = "ROC curve, actual and predicted", "docs/guide/roc.md"
    explanation = (
        "How well the scores rank the rows, and dashed, how well they promise to. A promised "
        "curve above the actual one is over-confidence; where both agree, the scores keep their "
        "word."
    )
    if not view.is_binary:
        explanation += (
            " A positive is a row whose top label was right: the area is not that of one class "
            "against the rest, which roc_auc gives."
        )
    table = view.table
    try:
        curve = table.roc_curve(max_points=MOST_POINTS)
    except ValueError as error:
        return Section("roc", title, explanation, notes=(str(error),), definition=page)
    apart = getattr(table, "_state", None)
    promised = "what the scores promise"
    if apart is not None and not apart.lists_scores:
        promised += "; approximate, from a table of scores"
    numbers = (
        replace(estimate(view.card, "auc"), label="area"),
        Number(
            "predicted_auc", "predicted area", curve.predicted_auc, explanation=promised,
            reason="all scores are 0, or all are 1" if math.isnan(curve.predicted_auc) else "",
        ),
    )  # fmt: skip
    figure = Figure(
        "roc",
        RocDisplay(curve),
        f"ROC curve with area {numbers[0].text}; promised by the scores: {numbers[1].text}",
        curve.to_dict(),
        {"level": view.confidence_level},
    )
    return Section("roc", title, explanation, numbers, (figure,), definition=page)
