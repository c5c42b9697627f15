"""A report that compares models on the same rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import ArrayLike

from calibrant._input.labels import class_codes, scored_columns
from calibrant._input.validation import MultiClass, NanPolicy, check_nan_policy, checked_text
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
from calibrant.report._view import View
from calibrant.scorecards._comparison import Comparison, ComparisonSums, outcome, without_gaps
from calibrant.scorecards._table import column_head
from calibrant.scores._differences import SCORES

__all__ = ["comparison", "comparison_report"]

#: What a row of the table of models has room for.
COLUMNS = ("hit_rate", "accuracy", "brier", "log", "spherical", "ece", "spiegelhalter_pvalue")

#: Which test the p-values of the table are of.
PAIRED_TEST = "The p-values are those of a two-sided z-test of the paired differences."


def _scorecards(compared: Comparison) -> Section:
    rows = tuple(
        (name, *(estimate(card, metric).text for metric in COLUMNS))
        for name, card in compared.scorecards.items()
    )
    return Section(
        "scorecards",
        "Scorecards",
        f"The numbers of each model on the same {compared.n:,} rows.",
        tables=(Table("models", ("model", *map(column_head, COLUMNS)), rows),),
        definition="docs/guide/scorecards.md",
        terms=(*COLUMNS[:-1], "spiegelhalter_z", "pvalue"),
    )


def _differences(compared: Comparison) -> Section:
    rows = []
    notes = set()
    for (first, second), scores in compared.differences.items():
        for score, d in scores:
            found = Number(score, score, d.value, d.low, d.high)
            pvalues = (
                Number("p", "p", p, form="pvalue").text for p in (d.pvalue, d.adjusted_pvalue)
            )
            pair = f"{first} \N{MINUS SIGN} {second}"
            which = outcome(d, first, second) if d.pvalue is not None else "cannot be told"
            rows.append((pair, SCORES[score][0], found.text, found.interval, *pvalues, which))
            if d.reason:
                notes.add(f"{pair}, {SCORES[score][0]}: {d.reason}")
    head = ("models", "score", "difference", "interval", "p-value", "adjusted", "which is better")
    return Section(
        "differences",
        "Paired differences",
        "The difference of each score, row by row: what makes a row hard for both cancels. "
        "Intervals and p-values are of each difference by itself. A model is called better where "
        "the p-value, adjusted for all differences of this table, is at most "
        f"{100 * (1 - compared.confidence_level):.3g}%.",
        tables=(Table("differences", head, tuple(rows)),),
        notes=(PAIRED_TEST, *sorted(notes)),
        definition="docs/guide/scores.md",
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


def _reliability(compared: Comparison, views: Mapping[str, View]) -> Section:
    bins = {
        name: view.table.reliability_bins(n_bins=RELIABILITY_BINS).value
        for name, view in views.items()
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
                uncertainty=None, histogram=False, level=compared.confidence_level,
            ),
        ),
        definition="docs/guide/calibration.md",
        terms=("band",),
    )  # fmt: skip


def _cumulative(views: Mapping[str, View]) -> Section:
    curves = {
        name: view.table.cumulative_differences(max_points=MOST_POINTS)
        for name, view in views.items()
    }
    numbers = []
    for name, view in views.items():
        test = view.ks
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
        definition="docs/guide/cumulative.md",
        terms=("pvalue",),
    )


def _spectrum(compared: Comparison, views: Mapping[str, View]) -> Section | None:
    spectra = {name: view.spectrum.value for name, view in views.items() if view.spectrum}
    if not spectra:
        return None
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
        definition="docs/guide/means.md",
        terms=("decisiveness", "robustness"),
    )


def _roc(compared: Comparison, views: Mapping[str, View]) -> Section:
    title, explanation = "ROC curves", "How well the scores of each model rank the rows."
    try:
        curves = {
            name: view.table.roc_curve(max_points=MOST_POINTS) for name, view in views.items()
        }
    except ValueError as error:
        return Section(
            "roc", title, explanation, notes=(str(error),), definition="docs/guide/roc.md"
        )
    numbers = tuple(
        Number(
            f"auc of {name}", name, curve.auc,
            explanation=f"area; the scores promise {curve.predicted_auc:.4f}", definition="auc",
        )
        for name, curve in curves.items()
    )  # fmt: skip
    figure = _overlay(
        "roc", RocDisplay, curves, "ROC curves of all models",
        predicted=False, level=compared.confidence_level,
    )  # fmt: skip
    return Section("roc", title, explanation, numbers, (figure,), definition="docs/guide/roc.md")


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
    if most == 0:
        headline = "No model is shown to be better than another."
    elif len(best) == 1:
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
    views = {name: View(each, compared.confidence_level) for name, each in evidence.items()}
    sections = (
        _differences(compared),
        _scorecards(compared),
        _reliability(compared, views),
        _cumulative(views),
        _spectrum(compared, views),
        _roc(compared, views),
    )
    return Report(
        "Which model is better at what?" if title is None else title,
        _verdict(compared),
        compared.n,
        compared.n_omitted,
        tuple(section for section in sections if section is not None),
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
    multi_class: MultiClass = "auto",
    nan_policy: NanPolicy = "raise",
) -> Report:
    """Compare models on the same rows, to look at: differences, and their curves overlaid.

    Parameters
    ----------
    y_true : array of shape (n,)
        Class codes, 0 to k - 1; or what pos_label or labels say.
    probas : dict of arrays, all of shape (n,) or all (n, k)
        The probabilities of each model, by its name.
    title : str, optional
        Of the page.
    n_bins, q_lim, confidence_level, sample_weight, pos_label, labels
        As for `calibrant.comparison.compare`.
    multi_class, nan_policy
        As for `calibrant.comparison.compare`.

    Returns
    -------
    Report

    Examples
    --------
    >>> y = [1, 0, 1, 1, 0, 0] * 5
    >>> bold, shy = [0.9, 0.1, 0.8, 0.9, 0.2, 0.1] * 5, [0.6, 0.5, 0.6, 0.5, 0.4, 0.5] * 5
    >>> comparison(y, {"bold": bold, "shy": shy}).verdict.headline
    'bold is better than shy by Brier score, log score, spherical score and hit rate.'
    """
    if not isinstance(probas, Mapping):
        raise TypeError(f"probas must be a dict of arrays by model, got {type(probas).__name__}")
    probas = {
        str(name): scored_columns(values, multi_class, f"probas[{name!r}]")
        for name, values in probas.items()
    }
    sums = ComparisonSums(probas, n_bins=n_bins, q_lim=q_lim)
    sums.update(
        y_true, probas, sample_weight=sample_weight, pos_label=pos_label, labels=labels,
        multi_class=multi_class, nan_policy=nan_policy,
    )  # fmt: skip
    omit = check_nan_policy(nan_policy)
    first = next(iter(probas.values()))
    codes = class_codes(y_true, first, labels=labels, pos_label=pos_label)
    if omit:
        codes = without_gaps(codes, probas, sample_weight)
    evidence = {
        name: Evidence(n_bins=n_bins, q_lim=q_lim, multi_class=multi_class) for name in probas
    }
    for name, each in evidence.items():
        each._add_pairs(sums.scorecards[name], codes, probas[name], sample_weight, omit)
    source = {
        "models": list(probas),
        "settings": {**next(iter(evidence.values())).source["settings"], "nan_policy": nan_policy},
        "versions": next(iter(evidence.values())).source["versions"],
    }
    compared = sums.result(confidence_level)
    return comparison_report(compared, evidence, title=title, source=source)
