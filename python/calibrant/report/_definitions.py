"""The definitions that a report links its numbers to: by name, what it is called, what it is."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["DEFINITIONS", "Definition"]


class Definition(NamedTuple):
    """A definition, and the page of the documentation that has more."""

    term: str
    text: str
    page: str


#: q is the probability that was given to what happened, p the score, y 1 for a hit and else 0.
DEFINITIONS: dict[str, Definition] = {
    "base_rate": Definition(
        "base rate",
        "The frequency of class 1; of several classes, of the largest.",
        "guide/scorecards.md",
    ),
    "hit_rate": Definition(
        "hit rate",
        "How often the class that was most probable happened; for a single probability, class 1 "
        "where p ≥ 1/2. Often called accuracy.",
        "guide/scorecards.md",
    ),
    "decisiveness": Definition(
        "decisiveness",
        "The arithmetic mean of q, the probabilities that were given to what happened "
        "(generalized mean with power m = 1).",
        "guide/means.md",
    ),
    "accuracy": Definition(
        "accuracy",
        "The geometric mean of q, exp(mean ln q): the exponential of minus the log score "
        "(m = 0). Not the share of right answers, which is the hit rate.",
        "guide/means.md",
    ),
    "robustness": Definition(
        "robustness",
        "The generalized mean (mean q^m)^(1/m) with m = −2/3: it falls fast where something "
        "happened that was called improbable.",
        "guide/means.md",
    ),
    "brier": Definition(
        "Brier score",
        "mean (p − y)², over a single probability from 0 to 1; of several classes the sum over "
        "the classes, from 0 to 2.",
        "guide/scores.md",
    ),
    "reliability": Definition(
        "reliability",
        "Σ wₖ (pₖ − oₖ)² over bins of equal width: the part of the Brier score that is due to "
        "probabilities that are off. wₖ is the bin's share of rows, pₖ its mean score, oₖ its "
        "frequency of hits.",
        "guide/scores.md",
    ),
    "resolution": Definition(
        "resolution",
        "Σ wₖ (oₖ − o)²: how far the frequencies of the bins differ from the base rate o; what "
        "the model knows.",
        "guide/scores.md",
    ),
    "uncertainty": Definition(
        "uncertainty",
        "o (1 − o): the Brier score of the base rate as a constant forecast.",
        "guide/scores.md",
    ),
    "brier_skill": Definition(
        "Brier skill",
        "1 − Brier score / that of the class frequencies as a constant forecast.",
        "guide/scores.md",
    ),
    "log": Definition("log score", "mean −ln q, in nats.", "guide/scores.md"),
    "spherical": Definition(
        "spherical score", "mean q / √Σ p², over the classes.", "guide/scores.md"
    ),
    "ece": Definition(
        "ECE",
        "Expected calibration error, Σ wₖ |oₖ − pₖ| over bins; the scorecard's have equal width. "
        "Chance alone makes it positive, the more so the fewer rows a bin holds.",
        "guide/calibration.md",
    ),
    "mce": Definition("maximum error", "The largest |oₖ − pₖ| of a bin.", "guide/calibration.md"),
    "spiegelhalter_z": Definition(
        "Spiegelhalter z",
        "Σ (y − p)(1 − 2p) / √Σ (1 − 2p)² p (1 − p): the Brier score less what the scores lead "
        "one to expect, in standard deviations. Positive: over-confident.",
        "guide/cumulative.md",
    ),
    "pvalue": Definition(
        "p-value",
        "The probability of a statistic like this or further out if the scores are right. Small "
        "values speak against them; with very many rows even harmless errors have small p-values.",
        "guide/cumulative.md",
    ),
    "source": Definition(
        "source",
        "What the data support: the generalized mean of the frequencies with which the pairs "
        "(event, class) of each bin happen.",
        "guide/assessment.md",
    ),
    "divergence": Definition(
        "model / source",
        "The model's accuracy over the source's, exp(−divergence): 1 where nothing is lost by "
        "probabilities that are off.",
        "guide/assessment.md",
    ),
    "angle": Definition(
        "angle",
        "Of the line through the points (source, model) of the three means. Above 45° the "
        "model's probabilities spread more than the data support (over-confident), below less.",
        "guide/assessment.md",
    ),
    "ks": Definition(
        "KS",
        "max |C| / σ, where C adds up (y − p) over the rows in order of their scores, and σ is "
        "its standard deviation if the scores are right. Equal scores move together.",
        "guide/cumulative.md",
    ),
    "kuiper": Definition(
        "Kuiper",
        "(max C − min C) / σ: the largest error summed over any range of scores.",
        "guide/cumulative.md",
    ),
    "band": Definition(
        "consistency band",
        "p ± z √(p (1 − p) / rows of the bin): where frequencies lie if the scores are right, as "
        "often as the confidence level says; z is 1.96 at 95%. A point is outside exactly if the "
        "Wilson interval of its frequency misses its score.",
        "guide/calibration.md",
    ),
    "auc": Definition(
        "area under the ROC curve",
        "How often a positive row scores higher than a negative one; ties count by half.",
        "guide/roc.md",
    ),
    "predicted_auc": Definition(
        "predicted area",
        "The same if each score p were p positives and 1 − p negatives: what the scores promise.",
        "guide/roc.md",
    ),
    "coverage": Definition(
        "coverage",
        "The share of rows whose interval, bounds included, holds what happened.",
        "guide/intervals.md",
    ),
    "below": Definition(
        "below, above",
        "The shares of rows in which it lies below or above the interval; central intervals "
        "promise (1 − level) / 2 each.",
        "guide/intervals.md",
    ),
    "interval_score": Definition(
        "score",
        "Winkler's: mean of the width, plus 2 / (1 − level) times how far outside it fell.",
        "guide/intervals.md",
    ),
    "criterion": Definition(
        "CWC",
        "The coverage width-based criterion: narrower is better, as long as the coverage is "
        "near the level.",
        "guide/intervals.md",
    ),
    "size_stratified_coverage": Definition(
        "worst coverage by width",
        "Rows grouped by the width of their interval: the coverage of the group with the least "
        "(size-stratified coverage, SSC).",
        "guide/intervals.md",
    ),
    "hsic": Definition(
        "HSIC",
        "Hilbert-Schmidt independence criterion with Gaussian kernels, of the width and the "
        "indicator of coverage: 0 if they are independent.",
        "guide/dependence.md",
    ),
    "set_coverage": Definition(
        "coverage of sets",
        "The share of rows whose prediction set holds the class that happened.",
        "guide/intervals.md",
    ),
    "set_size": Definition(
        "size of sets",
        "The number of classes in a prediction set; an empty set covers nothing.",
        "guide/intervals.md",
    ),
    "rank": Definition(
        "rank",
        "The number of a posterior's M draws that are below the truth (of energies: more probable "
        "than it); uniform on 0, ..., M if the posterior is right.",
        "guide/rank-calibration.md",
    ),
    "rank_gamma": Definition(
        "gamma test",
        "How improbable the number of ranks below a cut is where it is most improbable, "
        "2 min P(as few) or P(as many) over all cuts. The p-value is exact; over several "
        "dimensions it is corrected by Holm's method. It belongs to the simultaneous band.",
        "guide/rank-calibration.md",
    ),
    "rank_components": Definition(
        "bias z, dispersion z",
        "Of u = (rank + ½) / (M + 1), the means of u and of (u − ½)², less what uniform ranks "
        "have, in standard deviations.",
        "guide/rank-calibration.md",
    ),
    "expected_coverage": Definition(
        "expected coverage",
        "The share of truths in regions that hold a share of the draws: sets of ranks with "
        "probability (ranks in the set) / (M + 1), exactly.",
        "guide/rank-calibration.md",
    ),
    "interval": Definition(
        "confidence intervals",
        "Each holds the true number in as many of 100 samples as the confidence level says, each "
        "by itself: Wilson's for frequencies, normal for means, by the delta method for "
        "functions of means, by bootstrap for binned errors. A certified interval holds what all "
        "rows at once would give, without doubt.",
        "guide/scorecards.md",
    ),
}
