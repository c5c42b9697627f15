"""One good call of every public callable, from which `test_bad_input.py` derives the bad ones.

``ROWS`` has the callables by name; what comes after a comma tells several examples of one apart.
Arguments that are spoiled from a good value need one in at least one row of the callable.
"""

# ruff: noqa: E501 (tables: a line for a case)

from __future__ import annotations

from typing import Any

import numpy as np

import calibrant
from bad_input_kinds import (
    ANYTHING,
    BANDWIDTH,
    CHOICE,
    COUNT,
    COUNT_OR_EDGES,
    EXTENDED,
    FINITE,
    FLAG,
    FRACTION,
    LABELS,
    LEVELS,
    NAN,
    NOT_NEGATIVE,
    NUMBER,
    NUMBER_LIST,
    NUMBERS,
    ORDERED,
    POINTS,
    POSITIVE,
    PROBABILITIES,
    RANKS,
    SPREAD,
    UNIT,
    Bad,
    Kind,
    cast,
    constants,
)
from bad_input_rows import (
    A_RESULT,
    A_TABLE,
    ACCUMULATORS,
    AN_ACCUMULATOR,
    AN_ESTIMATOR,
    ANOTHER,
    BOUNDS,
    CLASSES,
    CLOUD,
    CODES,
    DRAWS,
    EVENTS,
    KEYS,
    MEMBER,
    MEMBERS,
    NAMED,
    OTHER_CLOUD,
    OUTCOMES,
    PATH,
    POSITIVE_NAMED,
    PROBAS,
    REGRESSION,
    SAMPLES,
    SET_ROWS,
    TABLE,
    UPDATED,
    P,
    Row,
    W,
    Y,
    filled,
    row,
)
from calibrant import distributed, streaming
from public_api import parameters, public_callables

ROWS: dict[str, Row] = {
    # means
    "risk_profile": row(EVENTS),
    "risk_profile, classes": row(CLASSES),
    "risk_profile, labels": row(NAMED, y_true=ANYTHING, y_proba=ANYTHING),
    "risk_profile, pos_label": row(POSITIVE_NAMED, y_true=ANYTHING, y_proba=ANYTHING),
    "generalized_mean": row({"p": P, "m": -1, "sample_weight": W}),
    "geometric_standard_deviation": row({"p": P, "sample_weight": W}),
    "mean_spectrum": row({"p": P, "sample_weight": W}),
    "renyi_entropy": row({"p": [0.5, 0.25, 0.25], "order": 2}),
    "tsallis_entropy": row({"p": [0.5, 0.25, 0.25], "order": 2}),
    "cross_entropy_probability": row({"p": [0.5, 0.25, 0.25], "q": [0.25, 0.25, 0.5]}),
    "cross_entropy_probability, events": row({"p": P, "q": P[::-1], "sample_weight": W, "events": True}),
    "coupling_to_power": row({"coupling": 0.5}),
    "power_to_coupling": row({"power": 0.5}),
    # calibration
    "assess": row({**EVENTS, "n_bins": 2}, n_bins=COUNT_OR_EDGES),
    "assess, isotonic": row({**CLASSES, "source": "isotonic", "per_class": True}, n_bins=ANYTHING),
    "log_decomposition": row({**EVENTS, "n_bins": 2}, n_bins=COUNT_OR_EDGES),
    "reliability_bins": row(EVENTS, n_bins=COUNT_OR_EDGES, sample_weight=UPDATED),
    "expected_calibration_error": row(EVENTS, n_bins=COUNT_OR_EDGES),
    "maximum_calibration_error": row(EVENTS, n_bins=COUNT_OR_EDGES),
    "mean_calibration_error": row(EVENTS),
    "top_label_ece": row({**CLASSES, "strategy": "quantile", "n_bins": 2}, n_bins=COUNT_OR_EDGES),
    "top_label_ece, clusters": row({**CLASSES, "strategy": "kmeans", "n_bins": 2}, n_bins=COUNT_OR_EDGES),
    "classwise_ece": row(CLASSES, y_true=LABELS.without("one_column"), n_bins=COUNT_OR_EDGES, average=FLAG),
    "smooth_calibration_error": row(EVENTS, scale=CHOICE, bandwidth=POSITIVE),
    "conventions": row({"y_true": Y, "y_proba": P, "n_bins": 2}),
    # scores
    "brier_score": row(EVENTS),
    "log_score": row(EVENTS),
    "spherical_score": row(CLASSES),
    "brier_skill_score": row(EVENTS, reference=UNIT.without("0-d")),
    "brier_skill_score, reference": row({**EVENTS, "reference": P[::-1]}, y_proba=PROBABILITIES.without("one row short", "no rows"), reference=UNIT.without("0-d")),
    "gini_impurity": row({"y_true": CODES, "n_classes": 3, "sample_weight": W}),
    "optimal_constant": row({"y_true": CODES, "n_classes": 3, "sample_weight": W}),
    "brier_decomposition": row(EVENTS, n_bins=COUNT_OR_EDGES),
    "brier_decomposition, CORP": row({**CLASSES, "method": "corp"}, n_bins=ANYTHING),
    "scorecard": row({**EVENTS, "groups": KEYS}),
    "compare": row({"y_true": Y, "probas": {"one": P, "two": P[::-1]}, "sample_weight": W}, probas=PROBAS),
    # cumulative
    "spiegelhalter_test": row(EVENTS),
    "spiegelhalter_test, simulated": row({**EVENTS, "sample_weight": [1.0] * len(Y), "method": "simulated", "n_simulations": 9}),
    "ks_test": row({**EVENTS, "groups": KEYS}),
    "ks_test, simulated": row({"y_true": Y, "y_proba": P, "method": "simulated", "n_simulations": 9}),
    "ks_test, subset": row({**EVENTS, "subset": MEMBER}),
    "kuiper_test": row({**CLASSES, "classes": "per-class"}),
    "kuiper_test, groups": row({**EVENTS, "groups": KEYS}),
    "kuiper_test, subset": row({**EVENTS, "subset": MEMBER}),
    "cumulative_tests": row({**EVENTS, "subset": MEMBER}),
    "cumulative_tests, groups": row({**EVENTS, "groups": KEYS}),
    "cumulative_differences": row({**EVENTS, "subset": MEMBER}),
    "roc_auc": row(EVENTS, average=CHOICE.without("None")),
    "roc_curve": row(EVENTS),
    "accuracy_rejection_auc": row(CLASSES),
    **{f"brownian_{law}_{form}": row({"x": OUTCOMES[:2]}, x=EXTENDED) for law in ("sup", "range") for form in ("cdf", "sf", "log_sf")},
    # intervals
    "interval_coverage": row(REGRESSION, y_true=NUMBERS),
    "interval_width": row({"intervals": BOUNDS, "sample_weight": W}),
    "interval_score": row({**REGRESSION, "confidence_level": 0.9}, y_true=NUMBERS, confidence_level=LEVELS),
    "interval_summary": row({**REGRESSION, "confidence_level": 0.9}, y_true=NUMBERS, confidence_level=LEVELS),
    "coverage_width_criterion": row({**REGRESSION, "confidence_level": 0.9}, y_true=NUMBERS, confidence_level=LEVELS),
    "coverage_hsic": row({"y_true": OUTCOMES, "intervals": BOUNDS}, y_true=NUMBERS, bandwidths=NUMBER_LIST),
    "coverage_gap": row({**REGRESSION, "groups": KEYS, "confidence_level": 0.9}, y_true=NUMBERS, confidence_level=LEVELS),
    "coverage_gap, sets": row({**SET_ROWS, "groups": KEYS, "confidence_level": 0.9}, confidence_level=LEVELS),
    "size_stratified_coverage": row(REGRESSION, y_true=NUMBERS),
    "size_stratified_coverage, sets": row(SET_ROWS),
    "set_coverage": row(SET_ROWS),
    "set_size": row({"sets": MEMBERS, "sample_weight": W}),
    "set_summary": row(SET_ROWS),
    # dependence and samples
    "hsic": row({"x": OUTCOMES, "y": P}, x=NUMBERS, y=NUMBERS, bandwidth=BANDWIDTH),
    "hsic_test": row({"x": OUTCOMES, "y": P}, x=NUMBERS, y=NUMBERS, bandwidth=BANDWIDTH),
    "mmd": row(SAMPLES, bandwidth=BANDWIDTH),
    "mmd_test": row({**SAMPLES, "n_permutations": 20}, bandwidth=BANDWIDTH),
    "median_bandwidth": row(SAMPLES),
    "frechet_distance": row(SAMPLES),
    "density_coverage": row({"real": CLOUD, "generated": OTHER_CLOUD}),
    "precision_recall": row({"real": CLOUD, "generated": OTHER_CLOUD}),
    "compare_samples": row({**SAMPLES, "n_permutations": 20}),
    "vendi_score": row({"x": CLOUD, "sample_weight": [1.0] * 12}, q=NUMBER),
    "vendi_profile": row({"x": CLOUD, "sample_weight": [1.0] * 12}),
    "VendiProfile.at": row({"q": 1.0}, q=NUMBER),
    # ranks
    "sbc_ranks": row({"draws": DRAWS, "truth": OUTCOMES}, draws=ORDERED, truth=ORDERED),
    "draw_counts": row({"draws": DRAWS, "truth": OUTCOMES}, draws=ORDERED, truth=ORDERED),
    "tarp_ranks": row({"draws": DRAWS, "truth": OUTCOMES, "references": OUTCOMES[::-1]}, draws=ORDERED, references=NUMBERS),
    "tarp_references": row({"low": [0.0, 1.0], "high": [1.0, 2.0], "n": 3}, n=NOT_NEGATIVE, low=NUMBERS.without("0-d"), high=NUMBERS.without("0-d")),
    "energy_ranks": row({"draw_energy": DRAWS, "true_energy": OUTCOMES}, draw_energy=ORDERED, true_energy=ORDERED),
    "pit_values": row({"cdf": P, "cdf_below": [0.0] * 6}, cdf=UNIT, cdf_below=UNIT, y_true=ANYTHING),
    "pit_values, callable": row({"cdf": lambda y: np.full(y.shape, 0.5), "y_true": OUTCOMES}, cdf=ANYTHING, cdf_below=ANYTHING, y_true=NUMBERS.without("0-d", "many axes", "one row short", "no rows")),
    "rank_pit_values": row({"ranks": [0, 1, 2, 3, 4, 2], "n_draws": 4}),
    "rank_calibration": row({"ranks": [0, 1, 2, 3, 4, 2], "n_draws": 4}, n_bins=COUNT, names=ANYTHING),
    "break_ties": row({"less": [0, 1, 2], "equal": [0, 1, 0]}, less=RANKS.without("too_large"), equal=RANKS.without("too_large")),
    "RankCalibration.coverage_of": row({"dimension": None}, dimension=ANYTHING),
    "RankCalibration.plot": row(picture=CHOICE),
    # ensembles and laws
    "crps_ensemble": row({"y_true": OUTCOMES, "draws": DRAWS, "draw_weight": [1.0, 2.0, 1.0, 0.5]}, y_true=SPREAD, draws=NUMBERS.without("many axes"), draw_weight=UPDATED.without("one_column", "nan", "inf", "negative", "just_negative", "negative_int").with_(negative=Bad(lambda good: [*good[:-1], -1.0], "found -1 at row 0, column {1}"), nan=Bad(lambda good: [*good[:-1], NAN], "NaN"))),
    **{f"crps_{law}": row({"y_true": OUTCOMES, "loc": OUTCOMES[::-1], "scale": W}, y_true=SPREAD, loc=SPREAD, scale=SPREAD) for law in ("exponential", "laplace", "logistic", "normal", "uniform")},
    "energy_score": row({"y_true": [[1.0, 2.0]] * 3, "draws": DRAWS.reshape(3, 4, 2)}, y_true=SPREAD, scale=NUMBER_LIST),
    "variogram_score": row({"y_true": [[1.0, 2.0]] * 3, "draws": DRAWS.reshape(3, 4, 2), "weights": [[0.0, 1.0], [1.0, 0.0]]}, y_true=SPREAD, weights=UPDATED.without("one_column", "nan", "negative", "negative_int").with_(nan=Bad(lambda good: np.array(good) * NAN, "nan at row 0"), negative=Bad(lambda good: -np.array(good), "found -1.0 at row 0, column 1")), p=POSITIVE),
    "quantile_score": row({"y_true": OUTCOMES, "quantiles": np.sort(DRAWS), "levels": [0.2, 0.4, 0.6, 0.8]}, y_true=SPREAD, quantiles=NUMBERS.without("many axes"), levels=UNIT),
    "ensemble_confidence": row({"votes": [[0, 0, 1], [1, 2, 0]], "weights": [1.0, 0.5, 2.0], "n_classes": 3}, votes=LABELS.without("one_column", "one row short", "no rows", "negative", "unknown"), weights=ORDERED),
    "ensemble_votes": row({"estimator": None, "X": CLOUD}, estimator=AN_ESTIMATOR, X=ANYTHING),
    "EnsembleVotes.confidence": row(),
    "CoupledGaussian": row({"mean": 0.0}, mean=FINITE.without("[0.1, 0.2]"), scale=POSITIVE),
    "CoupledGaussian.cdf": row({"x": OUTCOMES}, x=EXTENDED),
    "CoupledGaussian.pdf": row({"x": OUTCOMES}, x=EXTENDED),
    "CoupledGaussian.logpdf": row({"x": OUTCOMES}, x=EXTENDED),
    "CoupledGaussian.posterior": row({"x": OUTCOMES, "other": calibrant.CoupledGaussian(1.0)}, x=EXTENDED, other=A_RESULT, outside=FINITE),
    "class_posterior": row({"x": OUTCOMES, "classes": [calibrant.CoupledGaussian(1.0), calibrant.CoupledGaussian(0.0)], "priors": [0.5, 0.5]}, x=EXTENDED, classes=ANYTHING, priors=POSITIVE.without("[0.1, 0.2]"), outside=FINITE.without("[0.1, 0.2]")),
    "CoupledGaussian.fit": row({"x": OUTCOMES}),
    "CoupledGaussian.rvs": row({"size": 3, "seed": 1}),
    # config
    "set_num_threads": row({"n": 0}, n=NOT_NEGATIVE),
}  # fmt: skip

# Accumulators, as they are made, filled, asked, saved and merged

TIME = Kind(constants("soon", 0, -1, NAN, 1j, [], {}))
STAMPS = Kind(
    {
        **{
            name: NUMBERS.bad[name]
            for name in ("None", "0-d", "one row short", "no rows", "nan", "inf")
        },
        "strings": Bad(cast(str), "must be numbers", TypeError),
    },
    needs_example=True,
)
CONSTRUCTORS = {
    "streaming.Assessment": row(n_bins=COUNT_OR_EDGES),
    "streaming.CoverageHSIC": row(bandwidths=NUMBER_LIST),
    "streaming.Grouped": row({"factory": streaming.Scores}),
    "streaming.Intervals": row({"confidence_level": 0.9}, confidence_level=LEVELS),
    "streaming.Moments": row({"n_features": 2}),
    "streaming.PairedScores": row(),
    "streaming.Ranks": row({"n_draws": 4}),
    "streaming.Reliability": row(n_bins=COUNT_OR_EDGES),
    "streaming.ScoreTable": row({"pairs": True}, pairs=FLAG),
    "streaming.RiskProfile": row(),
    "streaming.Scorecard": row(),
    "streaming.Scores": row(scores=Kind(constants(3, None, "brier", [], ["no such name"], ["log", "log"], ["log", None], [["log"]]))),
    "streaming.Vendi": row({"n_features": 2}),
    "streaming.Windowed": row({"factory": streaming.Scores, "every": 10}, rows=ANYTHING, every=TIME, length=TIME, lateness=TIME.without("0"), origin=TIME.without("0", "-1"), keep=NOT_NEGATIVE.without("None")),
    "streaming.Windowed, rows": row({"factory": streaming.Scores, "rows": 10}, rows=COUNT, every=ANYTHING, length=COUNT, lateness=ANYTHING, origin=ANYTHING, keep=NOT_NEGATIVE.without("None")),
    "streaming.Refinement": row({"table": None, "max_rows": 10}, table=ANYTHING),
    "sequential.SequentialCalibrationTest": row(),
    "evidence.Evidence": row(gather=NUMBER_LIST.without("[nan]"), levels=NUMBER_LIST, hsic_bandwidth=POSITIVE, sets=FLAG, n_draws=NOT_NEGATIVE, truths=ANYTHING, classes=ANYTHING),
    "comparison.ComparisonSums": row({"models": ["one", "two"]}, models=Kind(constants(3, None, [], ["one"], ["one", "one"], "one"))),
}  # fmt: skip
UPDATES = {
    "streaming.Moments": {"features": POINTS.without("no rows")},
    "streaming.Vendi": {"features": POINTS.without("no rows")}, "streaming.Ranks": {"draws": ORDERED, "truth": ORDERED},
    "evidence.Evidence": {"draws": ORDERED, "truth": ORDERED},
    "streaming.CoverageHSIC": {"y_true": NUMBERS}, "streaming.Intervals": {"y_true": NUMBERS},
    "streaming.Windowed": {"timestamps": STAMPS}, "comparison.ComparisonSums": {"probas": PROBAS},
}  # fmt: skip


def verbs(total: Any) -> dict[str, Row]:
    return {
        "merge": row({"other": total}, other=ANOTHER),
        "from_bytes": row({"state": total.to_bytes() if hasattr(total, "to_bytes") else b""}),
        "load": row({"path": "state"}, path=PATH),
        "save": row({"path": "state"}, path=PATH),
    }


OTHER_METHODS = {
    "streaming.Assessment.result": row(),
    "streaming.CoverageHSIC.result": row(),
    "streaming.Grouped.metric": row({"metric": "brier"}, metric=CHOICE),
    "streaming.Grouped.worst": row({"k": 1}, k=NOT_NEGATIVE, metric=CHOICE),
    "streaming.Intervals.result": row(),
    "streaming.PairedScores.result": row(),
    "streaming.PredictionSets.result": row(),
    "streaming.Ranks.result": row(n_bins=COUNT, names=ANYTHING),
    "streaming.Ranks.update_ranks": row({"ranks": [0, 4, 2]}),
    "streaming.Reliability.expected_calibration_error": row(),
    "streaming.ScoreTable.assess": row({"n_bins": 2}, n_bins=COUNT_OR_EDGES, rows=Kind(constants(3, "rows", [], [None]))),
    "streaming.ScoreTable.cumulative_differences": row(),
    "streaming.ScoreTable.expected_calibration_error": row({"n_bins": 2}, n_bins=COUNT_OR_EDGES),
    "streaming.ScoreTable.refine": row(),
    "streaming.ScoreTable.reliability_bins": row({"n_bins": 2}, n_bins=COUNT_OR_EDGES),
    "streaming.ScoreTable.roc_curve": row(),
    "streaming.Scorecard.result": row(),
    "streaming.Spiegelhalter.result": row(),
    "evidence.Evidence.rank_calibration": row(prob=ANYTHING),
    "evidence.Evidence.result": row(),
    "evidence.Evidence.of": row({"table": TABLE}, table=A_TABLE, gather=NUMBER_LIST, width_edges=NUMBER_LIST, hsic_bandwidth=POSITIVE),
    "comparison.ComparisonSums.result": row(),
    "streaming.load": row({"path": "state"}, path=PATH),
    "streaming.restore": row({"state": filled("streaming.Scores").to_bytes()}),
}  # fmt: skip


class Forecaster:
    """What displays take for a classifier."""

    classes_ = (0, 1)

    def predict_proba(self, _):
        return np.stack([1.0 - np.array(P), P], axis=1)


def plots() -> dict[str, Row]:
    """Whatever can be drawn is drawn into axes, under a name; a display is of a result."""
    found = {}
    for name, thing in public_callables().items():
        if name.endswith(".plot") and name not in ROWS:
            found[name] = row()
        elif name.startswith("plotting.") and list(parameters(thing)) == ["result"]:
            found[name] = row({"result": None}, result=ANYTHING)
        elif name.endswith(".from_predictions"):
            found[name] = row({"y_true": Y, "y_proba": P, "name": None})
        elif name.endswith(".from_estimator"):
            found[name] = row(
                {"estimator": Forecaster(), "X": CLOUD, "y": Y, "name": None},
                estimator=AN_ESTIMATOR,
                X=ANYTHING,
                y=ANYTHING,
            )
    return found


def streams() -> dict[str, Row]:
    found = {**CONSTRUCTORS, **OTHER_METHODS}
    for name, (_, rows) in ACCUMULATORS.items():
        kinds = {"sample_weight": UPDATED, **UPDATES.get(name, {})}
        found[f"{name}.update"] = Row(rows, kinds)
        total = filled(name)
        found |= {f"{name}.{verb}": of for verb, of in verbs(total).items() if hasattr(total, verb)}
    return found


# What is built on them

COLUMN = Kind(constants("no such column", 3, ["no", "such"]))
SPEC = distributed.Spec(streaming.Scores, {"label": "y", "prob": "p"})
ROWS |= streams()
ROWS |= plots()
ROWS |= {
    "drift.drift": row({"reference": filled("streaming.Scorecard"), "current": filled("streaming.Scorecard")}, reference=AN_ACCUMULATOR, current=AN_ACCUMULATOR),
    "drift.drift_by_window": row({"reference": filled("streaming.Scores"), "windows": filled("streaming.Windowed")}, reference=AN_ACCUMULATOR, windows=AN_ACCUMULATOR),
    "telemetry.attributes": row({"result": {"a": 1.0}}, result=A_RESULT),
    "telemetry.prometheus_text": row({"result": {"a": 1.0}}, result=A_RESULT, labels=Kind(constants(3, {"a b": "x"}, {1: "x"}, ["a"]))),
    "distributed.Spec": row({"factory": streaming.Scores, "roles": {"label": "y"}}, roles=Kind(constants({}, None, {"positive": 1}))),
    "distributed.Spec.add": row({"total": streaming.Scores(), "table": TABLE}, total=AN_ACCUMULATOR, table=A_TABLE, first_row=ANYTHING),
    "distributed.partial": row({"batch": TABLE, "spec": SPEC}, batch=A_TABLE, spec=A_RESULT),
    "distributed.combine": row({"states": [filled("streaming.Scores").to_bytes()]}, states=Kind(constants(None, 3, [], [b""], [3], b"CLBR"))),
    "distributed.finish": row({"state": filled("streaming.Scores").to_bytes()}),
    "distributed.local": row({"batches": [TABLE], "factory": streaming.Scores, "label": "y", "prob": "p"}, batches=Kind(constants(3, None, [3], [{"y": [1]}])), executor=Kind(constants(3, "pool")), label=COLUMN, prob=COLUMN),
    "distributed.dask": row({"collection": [], "factory": streaming.Scores, "label": "y"}, collection=ANYTHING, label=ANYTHING),
    "distributed.spark": row({"frame": None, "factory": streaming.Scores, "label": "y"}, frame=ANYTHING, label=ANYTHING),
    "distributed.ray": row({"dataset": None, "factory": streaming.Scores, "label": "y"}, dataset=ANYTHING, label=ANYTHING),
    "io.scan": row({"table": TABLE}, table=A_TABLE.without("a bad row"), label=COLUMN, prob=COLUMN, weight=COLUMN, group=COLUMN, sets=COLUMN, timestamp=COLUMN, low=COLUMN, high=COLUMN, truth=COLUMN, draws=COLUMN, level=FRACTION, classes=Kind(constants(3, ["a"], ["a", "a"])), positive=Kind(constants("no such class")), format=Kind(constants("no such name", "", 3.5, ["csv"])), header=Kind(constants("no", 2, NAN, []))),
    "io.Scan": row({"source": None}, source=ANYTHING, roles=ANYTHING, classes=ANYTHING, crossed=ANYTHING),
    "io.Scan.reduce": row({"make": None}, make=ANYTHING),
    "io.Scan.named_error": row({"error": None}, error=ANYTHING, file=ANYTHING, first_row=ANYTHING),
    "report.report": row({**EVENTS, "groups": KEYS}),
    "report.comparison": row({"y_true": Y, "probas": {"one": P, "two": P[::-1]}, "sample_weight": W}, probas=PROBAS),
    "report.comparison_report": row({"compared": calibrant.compare(Y, {"one": P, "two": P[::-1]}), "evidence": {}}, compared=A_RESULT, evidence=Kind(constants(3, None, "x")), source=ANYTHING),
    "report.Report.of": row({"evidence": filled("evidence.Evidence")}, evidence=A_RESULT, windows=Kind(constants(3, "windows", [], error=TypeError))),
    "report.Report.save": row({"path": "report.html"}, path=PATH.without("no such folder")),
    "plotting.style": row(theme=ANYTHING),
}  # fmt: skip
