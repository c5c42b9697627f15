"""Good arguments of every kind, and one of every accumulator: what the table of bad inputs is made of.

An argument's kind is that of its name in ``KINDS``, unless its row says otherwise.
"""

# ruff: noqa: E501 (tables: a line for a case)

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

import calibrant
from bad_input_kinds import (
    AXES,
    AXIS,
    CALLABLE,
    CHOICE,
    CLIP,
    COUNT,
    FINITE,
    FLAG,
    FORECASTS,
    FRACTION,
    GROUPS,
    INTERVALS,
    LABEL_NAMES,
    LABELS,
    NOT_NEGATIVE,
    NUMBER,
    NUMBER_LIST,
    NUMBERS,
    POINTS,
    POS_LABEL,
    POSITIVE,
    PROBABILITIES,
    RANKS,
    SEED,
    SETS,
    STATE,
    SUBSET,
    TEXT,
    WEIGHTS,
    Bad,
    Kind,
    always,
    constants,
)  # fmt: skip
from calibrant import comparison, distributed, evidence, io, report, sequential, streaming

#: What an argument of this name is, in all functions that do not say otherwise.
KINDS: dict[str, Kind] = {
    # rows
    "y_true": LABELS, "y_proba": FORECASTS, "first": FORECASTS, "second": FORECASTS,
    "p": PROBABILITIES, "q": PROBABILITIES, "sample_weight": WEIGHTS, "groups": GROUPS,
    "intervals": INTERVALS, "sets": SETS, "draws": NUMBERS, "truth": NUMBERS, "ranks": RANKS,
    "x": POINTS, "y": POINTS, "real": POINTS, "generated": POINTS, "features": POINTS,
    "labels": LABEL_NAMES, "pos_label": POS_LABEL,
    # names
    "nan_policy": CHOICE, "crossed": CHOICE, "strategy": CHOICE, "ci_method": CHOICE,
    "classes": CHOICE, "method": CHOICE, "estimator": CHOICE, "kernel": CHOICE, "kind": CHOICE,
    "alternative": CHOICE, "source": CHOICE, "form": CHOICE, "average": CHOICE,
    "multi_class": CHOICE, "convention": CHOICE, "combine": CHOICE, "missing": CHOICE,
    "late": CHOICE, "theme": CHOICE, "norm": CHOICE,
    # numbers
    "n_bins": COUNT, "n_classes": COUNT, "n_permutations": COUNT, "n_simulations": COUNT, "k": COUNT, "n_draws": COUNT,
    "n_features": COUNT, "n_dims": COUNT, "n_directions": COUNT, "max_rows": COUNT, "fan_in": COUNT,
    "max_boxes": COUNT, "max_iterations": COUNT, "n_groups": COUNT, "n": COUNT,
    "max_points": COUNT, "block_size": COUNT, "keep": NOT_NEGATIVE,
    "n_workers": COUNT, "first_pair": NOT_NEGATIVE, "min_rows": NOT_NEGATIVE,
    "of_class": NOT_NEGATIVE, "seed": SEED, "axis": AXIS, "size": NOT_NEGATIVE,
    "q_lim": CLIP, "confidence_level": FRACTION, "ci_level": FRACTION, "prob": FRACTION,
    "alpha": FRACTION, "prior": FRACTION, "eta": FINITE, "m": NUMBER, "order": NUMBER,
    "temperature": POSITIVE, "tolerance": POSITIVE, "beta": POSITIVE, "kappa": FINITE,
    "coupling": FINITE, "power": FINITE, "exponent": POSITIVE, "dimension": COUNT,
    "powers": NUMBER_LIST, "orders": NUMBER_LIST, "width_edges": NUMBER_LIST,
    # settings
    "per_class": FLAG, "bias_corrected": FLAG, "debias": FLAG, "events": FLAG, "weighted": FLAG,
    "path": FLAG, "subset": SUBSET, "largest": FLAG, "compare": FLAG,
    "factory": CALLABLE, "log_density": CALLABLE, "progress": CALLABLE,
    "ax": AXES, "name": TEXT, "title": TEXT, "prefix": TEXT,
    "state": STATE,
}  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Row:
    good: dict[str, Any]
    kinds: dict[str, Kind] = dataclasses.field(default_factory=dict)

    @property
    def is_incomplete(self) -> bool:
        """Something is None that only another test could make."""
        return any(value is None for value in self.good.values())

    def kind(self, argument: str) -> Kind | None:
        return self.kinds.get(argument, KINDS.get(argument))


def row(good: dict[str, Any] | None = None, **kinds: Kind) -> Row:
    return Row(good or {}, kinds)


#: A batch may have no weight, a result cannot.
UPDATED = WEIGHTS.without("all_zero")

# Good rows

Y = [0, 1, 1, 0, 1, 0]
P = [0.1, 0.7, 0.9, 0.4, 0.55, 0.2]
W = [1.0, 2.0, 0.5, 1.0, 3.0, 1.0]
CODES = [0, 2, 1, 0, 2, 1]
MATRIX = [
    [0.7, 0.2, 0.1],
    [0.3, 0.3, 0.4],
    [0.2, 0.7, 0.1],
    [0.5, 0.3, 0.2],
    [0.1, 0.1, 0.8],
    [0.25, 0.5, 0.25],
]
MEMBER = [True, False, True, True, False, True]
KEYS = ["a", "b", "a", "b", "a", "b"]
OUTCOMES = [1.0, 2.5, -0.5, 3.0, 0.25, 7.0]
BOUNDS = [[0.0, 2.0], [2.0, 2.75], [-1.0, 0.5], [3.5, 4.0], [-2.0, 1.0], [5.0, 9.0]]
MEMBERS = [
    [True, False, True],
    [False, True, True],
    [True, True, False],
    [True, True, True],
    [False, False, True],
    [False, True, False],
]
DRAWS = np.arange(24.0).reshape(6, 4) * 0.37 % 3.1
CLOUD = np.arange(24.0).reshape(12, 2) * 0.71 % 2.3
OTHER_CLOUD = np.arange(20.0).reshape(10, 2) * 0.53 % 1.9
EVENTS = {"y_true": Y, "y_proba": P, "sample_weight": W}
CLASSES = {"y_true": CODES, "y_proba": MATRIX, "sample_weight": W}
NAMED = {"y_true": ["b", "a", "a", "b", "a", "b"], "y_proba": P, "labels": ["b", "a"]}
POSITIVE_NAMED = {"y_true": ["b", "a", "a", "b", "a", "b"], "y_proba": P, "pos_label": "a"}
REGRESSION = {"y_true": OUTCOMES, "intervals": BOUNDS, "sample_weight": W}
SET_ROWS = {"y_true": CODES, "sets": MEMBERS, "sample_weight": W}
SAMPLES = {"x": CLOUD, "y": OTHER_CLOUD}
TABLE = {"y": Y, "p": P}


# Accumulators: how to make one, and good arguments of its update.

ACCUMULATORS: dict[str, tuple[Callable[[], Any], dict[str, Any]]] = {
    "streaming.Assessment": (lambda: streaming.Assessment(4), EVENTS),
    "streaming.CoverageHSIC": (streaming.CoverageHSIC, {"y_true": OUTCOMES, "intervals": BOUNDS}),
    "streaming.Grouped": (lambda: streaming.Grouped(streaming.Scores), {**EVENTS, "groups": KEYS}),
    "streaming.Intervals": (lambda: streaming.Intervals(0.9, width_edges=[1.0]), REGRESSION),
    "streaming.Moments": (lambda: streaming.Moments(2), {"features": CLOUD}),
    "streaming.PairedScores": (streaming.PairedScores, {"y_true": CODES, "first": MATRIX, "second": MATRIX[::-1], "sample_weight": W}),
    "streaming.PredictionSets": (streaming.PredictionSets, SET_ROWS),
    "streaming.Ranks": (lambda: streaming.Ranks(4), {"draws": DRAWS, "truth": OUTCOMES}),
    "streaming.Reliability": (streaming.Reliability, EVENTS),
    "streaming.RiskProfile": (streaming.RiskProfile, EVENTS),
    "streaming.ScoreTable": (streaming.ScoreTable, EVENTS),
    "streaming.Scorecard": (streaming.Scorecard, EVENTS),
    "streaming.Scores": (streaming.Scores, EVENTS),
    "streaming.Spiegelhalter": (streaming.Spiegelhalter, CLASSES),
    "streaming.Vendi": (lambda: streaming.Vendi(2), {"features": CLOUD}),
    "streaming.Windowed": (lambda: streaming.Windowed(streaming.Scores, every=10, lateness=100), {**EVENTS, "timestamps": [0, 5, 10, 15, 20, 25]}),
    "sequential.SequentialCalibrationTest": (sequential.SequentialCalibrationTest, {"y_true": Y, "y_proba": P}),
    "evidence.Evidence": (lambda: evidence.Evidence(levels=[0.9], sets=True, n_draws=4, truths=["t"]), {**EVENTS, "groups": KEYS, "intervals": BOUNDS, "sets": [[True, False]] * 6, "truth": OUTCOMES, "draws": DRAWS}),
    "comparison.ComparisonSums": (lambda: comparison.ComparisonSums(["one", "two"]), {"y_true": Y, "probas": {"one": P, "two": P[::-1]}, "sample_weight": W}),
    "streaming.Refinement": (lambda: filled("streaming.ScoreTable").refine(), EVENTS),
}  # fmt: skip


def filled(name: str) -> Any:
    """An accumulator with the good rows."""
    make, rows = ACCUMULATORS[name]
    total = make()
    total.update(**rows)
    return total


MAKERS: dict[str, Callable[[], Any]] = {
    **{name: functools.partial(filled, name) for name in ACCUMULATORS},
    "streaming.Refinement": lambda: filled("streaming.ScoreTable").refine(),
    "EnsembleVotes": lambda: calibrant.EnsembleVotes(
        np.array([[0, 1]], np.int32), np.ones(2), np.arange(2)
    ),
    "RankCalibration": lambda: calibrant.rank_calibration([0, 1, 2], 2),
    "VendiProfile": lambda: calibrant.vendi_profile(CLOUD),
    "report.Report": lambda: report.Report("", report.Verdict("calibrated", "", ""), 0, 0, (), {}),
    "SampleComparison": lambda: calibrant.compare_samples(CLOUD),
    "CoupledGaussian": lambda: calibrant.CoupledGaussian(0.0, 1.0, 0.5),
    "distributed.Spec": lambda: distributed.Spec(streaming.Scores, {"label": "y", "prob": "p"}),
    "io.Scan": lambda: io.scan(TABLE),
}

PROBAS = Kind(
    {
        "None": Bad(always(None), "", TypeError),
        "a list": Bad(lambda good: list(good.values()), "", TypeError),
        "no models": Bad(always({}), "", ValueError),
        "one model": Bad(lambda good: dict([*good.items()][:1]), "", ValueError),
        "one row short": Bad(
            lambda good: {name: p[:-1] for name, p in good.items()}, "", ValueError
        ),
        "not in [0, 1]": Bad(
            lambda good: {name: [*p[:-1], 1.5] for name, p in good.items()},
            "found 1.5 at row 5",
            ValueError,
        ),
    },
    needs_example=True,
)
A_RESULT = Kind(constants(3, None, "result", [1]))
AN_ACCUMULATOR = Kind(constants(3, None, "accumulator", b"state"))
ANOTHER = Kind(
    {
        **AN_ACCUMULATOR.bad,
        "another class": Bad(
            lambda good: filled(
                "streaming.Scores"
                if type(good) is not streaming.Scores
                else "streaming.Spiegelhalter"
            )
        ),
    },
    needs_example=True,
    is_named=False,
)
A_TABLE = Kind(
    {
        **constants(3, None, {}, [], {"y": [1]}, {"y": [1], "p": [0.5, 0.6]}),
        "masked": Bad(lambda good: {**good, "p": np.ma.array(good["p"])}, "masked", TypeError),
        "a bad row": Bad(lambda good: {**good, "p": [*good["p"][:-1], 1.5]}, "found 1.5 at row 5"),
    },
    needs_example=True,
)
PATH = Kind(
    {
        **constants(3.5, None, [], error=TypeError),
        "no such folder": Bad(always("no/such/file"), "no/such/file", FileNotFoundError),
    },
    is_named=False,
)
AN_ESTIMATOR = Kind(constants(3, None, "forest"))
