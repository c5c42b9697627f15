"""A report that compares models on the same rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import ArrayLike

from calibrant._labels import class_codes
from calibrant._score_differences import SCORES
from calibrant._scorecard_table import ROWS
from calibrant._settings import NanPolicy, check_nan_policy, checked_text
from calibrant.comparison import Comparison, compare, without_gaps
from calibrant.evidence import Evidence
from calibrant.plotting import (
    CumulativeDifferencesDisplay,
    Display,
    MeanSpectrumDisplay,
    OverlayDisplay,
    ReliabilityDisplay,
    RocDisplay,
)
from calibrant.report._probability_sections import MOST_POINTS, RELIABILITY_BINS, estimate
from calibrant.report._report import Report
from calibrant.report._section import Figure, Number, Section, Table
from calibrant.report._verdict import Verdict

__all__ = ["comparison", "comparison_report"]

#: What a row of the table of models has room for.
COLUMNS = ("hit_rate", "accuracy", "brier", "log", "spherical", "ece", "spiegelhalter_pvalue")


def _scorecards(compared: Comparison) -> Section:
    rows = tuple(
        (name, *(estimate(card, metric).text for metric in COLUMNS))
        for name, card in compared.scorecards.items()
    )
    return Section(
        "scorecards",
        "Scorecards",
        f"The numbers of each model on the same {compared.n:,} rows.",
        tables=(Table("models", ("model", *(ROWS[c][0].strip() for c in COLUMNS)), rows),),
        definition="docs/scorecard.md",
        terms=(*COLUMNS[:-1], "spiegelhalter_z", "pvalue"),
    )


def _differences(compared: Comparison) -> Section:
    rows = []
    notes = set()
    for (first, second), scores in compared.differences.items():
        for score, d in scores:
            found = Number(score, score, d.value, d.low, d.high)
            better = {"first": first, "second": second, "": "no clear winner"}[d.better]
            pvalue = Number("p", "p", d.pvalue, form="pvalue").text
            pair = f"{first} \N{MINUS SIGN} {second}"
            rows.append((pair, SCORES[score][0], found.text, found.interval, pvalue, better))
            if d.reason:
                notes.add(f"{pair}, {SCORES[score][0]}: {d.reason}")
    head = ("models", "score", "difference", "interval", "p-value", "better")
    return Section(
        "differences",
        "Paired differences",
        "The difference of each score, row by row: what makes a row hard for both cancels. A "
        "model is called better where the "
        f"{100 * compared.confidence_level:g}% interval leaves out 0.",
        tables=(Table("differences", head, tuple(rows)),),
        notes=tuple(sorted(notes)),
        definition="docs/scores.md",
        terms=("brier", "log", "spherical", "hit_rate", "pvalue"),
    )


def _overlay(
    name: str,
    kind: type[Display[Any]],
    results: Mapping[str, Any],
    description: str,
    **options: Any,
) -> Figure:
    displays = {model: kind(result) for model, result in results.items()}
    data = {model: result.to_dict() for model, result in results.items()}
    return Figure(name, OverlayDisplay(displays), description, data, options)


def _reliability(compared: Comparison, evidence: Mapping[str, Any]) -> Section:
    tables = {name: each.table for name, each in evidence.items()}
    bins = {
        name: table.reliability_bins(n_bins=RELIABILITY_BINS).value
        for name, table in tables.items()
    }
    return Section(
        "reliability",
        "Reliability diagrams",
        "How often what was given a probability happened, in bins of equally many rows. Filled "
        "points are further from the diagonal than chance explains.",
        tuple(_of_model(name, card, "ece") for name, card in compared.scorecards.items()),
        (
            _overlay(
                "reliability", ReliabilityDisplay, bins, "Reliability diagrams of all models",
                uncertainty=None, histogram=False,
            ),
        ),
        definition="docs/calibration.md",
        terms=("band",),
    )  # fmt: skip


def _cumulative(evidence: Mapping[str, Any]) -> Section:
    curves = {
        name: each.table.cumulative_differences(max_points=MOST_POINTS)
        for name, each in evidence.items()
    }
    numbers = []
    for name, each in evidence.items():
        test = each.table.ks()
        numbers.append(
            Number(
                f"ks_pvalue of {name}", name, test.pvalue.value, test.pvalue.low, test.pvalue.high,
                "certified", "p-value of the KS test", form="pvalue",
                log=test.log_pvalue.value, definition="ks",
            )
        )  # fmt: skip
    figure = _overlay(
        "cumulative-differences", CumulativeDifferencesDisplay, curves,
        "Cumulative differences of all models", band=False,
    )  # fmt: skip
    return Section(
        "cumulative",
        "Cumulative differences",
        "Rows in order of their scores, hits less scores added up: where a curve falls, scores "
        "are too high; where it rises, too low.",
        tuple(numbers),
        (figure,),
        definition="docs/cumulative.md",
        terms=("pvalue",),
    )


def _spectrum(compared: Comparison, evidence: Mapping[str, Any]) -> Section:
    spectra = {name: each.spectrum.result().spectrum for name, each in evidence.items()}
    figure = _overlay(
        "mean-spectrum", MeanSpectrumDisplay, spectra, "Generalized means of all models",
        annotate=False,
    )  # fmt: skip
    return Section(
        "spectrum",
        "Generalized means",
        "The means of the probabilities that were given to what happened, from cautious (left) to "
        "bold (right). Marked are robustness, accuracy and decisiveness.",
        tuple(_of_model(name, card, "accuracy") for name, card in compared.scorecards.items()),
        (figure,),
        definition="docs/means.md",
        terms=("decisiveness", "robustness"),
    )


def _roc(evidence: Mapping[str, Any]) -> Section:
    title, explanation = "ROC curves", "How well the scores of each model rank the rows."
    try:
        curves = {
            name: each.table.roc_curve(max_points=MOST_POINTS) for name, each in evidence.items()
        }
    except ValueError as error:
        return Section("roc", title, explanation, notes=(str(error),), definition="docs/roc.md")
    numbers = tuple(
        Number(
            f"auc of {name}", name, curve.auc,
            explanation=f"area; the scores promise {curve.predicted_auc:.4f}", definition="auc",
        )
        for name, curve in curves.items()
    )  # fmt: skip
    figure = _overlay("roc", RocDisplay, curves, "ROC curves of all models", predicted=False)
    return Section("roc", title, explanation, numbers, (figure,), definition="docs/roc.md")


def _of_model(name: str, card: Any, metric: str) -> Number:
    found = estimate(card, metric)
    return Number(
        f"{metric} of {name}", name, found.value, found.low, found.high, found.method,
        f"{found.label}; {found.explanation}", found.reason, found.form, definition=metric,
    )  # fmt: skip


def _verdict(compared: Comparison) -> Verdict:
    """Of two models what the comparison says; of more, who wins how often."""
    verdicts = compared.verdicts()
    if len(verdicts) == 1:
        return Verdict("comparison", verdicts[0], "")
    wins = dict.fromkeys(compared.scorecards, 0)
    for (first, second), scores in compared.differences.items():
        for _, difference in scores:
            if difference.better:
                wins[first if difference.better == "first" else second] += 1
    most = max(wins.values())
    best = [name for name, n in wins.items() if n == most]
    of = (len(wins) - 1) * len(SCORES)
    headline = "No model wins most comparisons."
    if len(best) == 1:
        headline = f"{best[0]} wins {most} of its {of} comparisons."
    return Verdict("comparison", headline, " ".join(verdicts))


def comparison_report(
    compared: Comparison,
    evidence: Mapping[str, Any],
    *,
    title: str | None = None,
    source: Mapping[str, Any] | None = None,
) -> Report:
    """Return the report of a comparison.

    Parameters
    ----------
    compared : Comparison
        As `calibrant.comparison.compare` returns it.
    evidence : dict of Evidence
        By the name of the model, of the same rows.
    title : str, optional
    source : dict, optional
        Where the rows came from; by default what the evidence of the models says.
    """
    if not isinstance(compared, Comparison):
        raise TypeError(f"compared must be a Comparison, got {compared!r}")
    if not isinstance(evidence, Mapping):
        raise TypeError(f"evidence must be a dict by model, got {evidence!r}")
    if title is not None:
        checked_text(title, "title")
    if source is None:
        source = {name: each.source for name, each in evidence.items()}
    return Report(
        "Which model is better at what?" if title is None else title,
        _verdict(compared),
        compared.n,
        compared.n_omitted,
        (
            _differences(compared),
            _scorecards(compared),
            _reliability(compared, evidence),
            _cumulative(evidence),
            _spectrum(compared, evidence),
            _roc(evidence),
        ),
        dict(source),
    )


def comparison(
    y_true: ArrayLike,
    probas: Mapping[str, ArrayLike],
    *,
    title: str | None = None,
    n_bins: int = 15,
    q_lim: float = 0.0,
    confidence_level: float = 0.95,
    sample_weight: ArrayLike | None = None,
    pos_label: object | None = None,
    labels: ArrayLike | None = None,
    nan_policy: NanPolicy = "raise",
) -> Report:
    """Compare models on the same rows, to look at: differences, and their curves overlaid.

    Parameters
    ----------
    title : str, optional
        Of the page.
    y_true, probas, n_bins, q_lim, confidence_level, sample_weight, pos_label, labels, nan_policy
        As for `calibrant.comparison.compare`.

    Returns
    -------
    Report

    Examples
    --------
    >>> y = [1, 0, 1, 1, 0, 0]
    >>> bold, shy = [0.9, 0.1, 0.8, 0.9, 0.2, 0.1], [0.6, 0.5, 0.6, 0.5, 0.4, 0.5]
    >>> comparison(y, {"bold": bold, "shy": shy}).verdict.headline
    'bold is better than shy by Brier score, log score and spherical score.'
    """
    if not isinstance(probas, Mapping):
        raise TypeError(f"probas must be a dict of arrays by model, got {type(probas).__name__}")
    probas = {str(name): values for name, values in probas.items()}
    compared = compare(
        y_true, probas, n_bins=n_bins, q_lim=q_lim, confidence_level=confidence_level,
        sample_weight=sample_weight, pos_label=pos_label, labels=labels, nan_policy=nan_policy,
    )  # fmt: skip
    omit = check_nan_policy(nan_policy)
    first = next(iter(probas.values()))
    codes = class_codes(y_true, first, labels=labels, pos_label=pos_label)
    if omit:
        codes = without_gaps(codes, probas, sample_weight)
    evidence = {name: Evidence(n_bins=n_bins, q_lim=q_lim) for name in probas}
    for name, each in evidence.items():
        each.update(codes, probas[name], sample_weight=sample_weight, nan_policy=nan_policy)
    source = {
        "models": list(probas),
        "settings": {**next(iter(evidence.values())).source["settings"], "nan_policy": nan_policy},
        "versions": next(iter(evidence.values())).source["versions"],
    }
    return comparison_report(compared, evidence, title=title, source=source)
