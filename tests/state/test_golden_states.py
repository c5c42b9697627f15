"""Saved states of every accumulator, as a released version wrote them.

``state/<version>/<accumulator>/<rows>.clbr`` are the bytes, ``state/<version>/results.json``
the numbers that version read off them. They are read for ever and never written again; at a
release, with its version,

    python tests/test_golden_states.py

(The states of a RiskProfile are those of test_state.py.)
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

import calibrant
from bad_input_rows import ACCUMULATORS, filled
from calibrant import streaming
from calibrant.evidence import Evidence
from calibrant.sequential import SequentialCalibrationTest

pytestmark = [pytest.mark.kernels, pytest.mark.build]

STATES = Path(__file__).parent
CLASSES = ("ant", "bee", "cat")
MAKERS = {
    "Scores": lambda: streaming.Scores(q_lim=0.001),
    "BrierAndLog": lambda: streaming.Scores(scores=("brier", "log")),
    "Reliability": lambda: streaming.Reliability(n_bins=(0.0, 0.1, 0.3, 0.3, 1.0)),
    "ScoreTable": streaming.ScoreTable,
    "Scorecard": lambda: streaming.Scorecard(n_bins=5, q_lim=0.001),
    "SequentialCalibrationTest": SequentialCalibrationTest,
    "Spiegelhalter": streaming.Spiegelhalter,
    "Windowed": lambda: streaming.Windowed(
        streaming.Scores, every=np.timedelta64(6, "h"), length=np.timedelta64(1, "D"),
        lateness=np.timedelta64(3, "D"), origin=np.datetime64("2026-01-05T03"),
    ),
    "Assessment": lambda: streaming.Assessment(n_bins=5, q_lim=0.001),
    "CoverageHSIC": lambda: streaming.CoverageHSIC(bandwidths=(0.25, 2.0), max_boxes=500),
    "Moments": lambda: streaming.Moments(3),
    "Vendi": lambda: streaming.Vendi(3),
    "Intervals": lambda: streaming.Intervals((0.5, 0.9), width_edges=(0.25, 0.75)),
    "PredictionSets": streaming.PredictionSets,
    "PairedScores": lambda: streaming.PairedScores(q_lim=0.001),
    "Ranks": lambda: streaming.Ranks(5, 2, seed=7),
    "Grouped": lambda: streaming.Grouped(lambda: streaming.Scores(q_lim=0.001)),
    "Evidence": lambda: Evidence(
        gather=("spectrum", "assessment"), levels=(0.5, 0.9), width_edges=(0.25, 0.75),
        hsic_bandwidth=0.25, sets=True, n_bins=5, q_lim=0.001, classes=CLASSES,
    ),
}  # fmt: skip


def fractions(n, step=0.6180339887498949):
    """Numbers in [0, 1) that need no random generator."""
    return np.arange(1, n + 1) * step % 1.0


def typical(n=40):
    p = np.concatenate([fractions(n - 6), [0.0, 1.0, 0.5, 0.5, 1e-20, 1 - 2.0**-40]])
    y = (fractions(n, 0.7320508075688772) < p).astype(int)
    return {"y_true": y, "y_proba": p}


def weighted():
    weights = np.resize([1.0, 0.0, 0.1, 3.0, 1e-30, 2.5e10], 40)
    return {**typical(), "sample_weight": weights}


def multiclass():
    p = fractions(60).reshape(20, 3) + 0.01
    p /= p.sum(axis=1, keepdims=True)
    p[3] = math.nan
    return {"y_true": np.arange(20) * 7 % 3, "y_proba": p, "nan_policy": "omit"}


ROWS = {
    "empty": None,
    "one_row": lambda: {"y_true": [1], "y_proba": [0.75]},
    "typical": typical,
    "weighted": weighted,
    "multiclass": multiclass,
}


def intervals(n=40, nan=False):
    """Two levels, around numbers in [0, 1)."""
    y = fractions(n, 0.7320508075688772)
    centre, half = fractions(n), np.outer([0.25, 0.5], fractions(n, 0.4142135623730951))
    bounds = np.stack([(centre - half).T, (centre + half).T], axis=1)
    if nan:
        bounds[3, 0, 0] = math.nan
    return {"y_true": y, "intervals": bounds, "nan_policy": "omit" if nan else "raise"}


def nested_intervals(shape):
    half = fractions(math.prod(shape)).reshape(shape) ** 2 * 3.0
    y = fractions(shape[0], 0.7320508075688772) * 4.0 - 1.0
    return {"y_true": y, "intervals": np.stack([-half, half], axis=1)}


def sets(n=40, levels=1):
    held = fractions(n * 3 * levels).reshape(n, 3, levels) < 0.5
    return {"y_true": np.arange(n) * 7 % 3, "sets": held}


def pairs(probabilities):
    """Two models on the same rows: the second is less sure."""
    rows = probabilities()
    first = rows.pop("y_proba")
    even = 1 / (first.shape[1] if first.ndim == 2 else 2)
    return {**rows, "first": first, "second": (first + even) / 2}


def draws(n=40, nan=False):
    """Five draws in two dimensions, without ties: those are broken by where a pair stands."""
    values = fractions(12 * n).reshape(n, 6, 2)
    if nan:
        values[3, 2, 1] = math.nan
    return {"draws": values[:, 1:], "truth": values[:, 0], "nan_policy": "omit"}


def stamped(rows):
    """An hour apart, from one pane to the next and beyond."""
    start = np.datetime64("2026-02-01T00:00")
    return {**rows, "timestamps": start + np.arange(len(rows["y_true"])) * np.timedelta64(1, "h")}


def together(n=20, weighted=False):
    """Probabilities, intervals around the codes of classes, sets and groups."""
    p = fractions(3 * n).reshape(n, 3) + 0.01
    rows = {
        "y_true": np.arange(n) * 7 % 3,
        "y_proba": p / p.sum(axis=1, keepdims=True),
        "intervals": intervals(n)["intervals"] + 0.5,
        "sets": [[name for c, name in enumerate(CLASSES) if (5 * i + c) % 4 < 2] for i in range(n)],
        "groups": np.array(["x", "y", "z"])[np.arange(n) % 3],
    }
    return {**rows, "sample_weight": 1.0 + np.arange(n) % 4} if weighted else rows


#: Of what takes no probabilities; the names are those of ROWS.
OTHER_ROWS = {
    "CoverageHSIC": {
        "empty": None,
        "one_row": lambda: {"y_true": [0.5], "intervals": [[0.0, 1.0]]},
        "typical": lambda: nested_intervals((40,)),
        "levels": lambda: nested_intervals((30, 3)),
    },
    "Intervals": {
        "empty": None,
        "one_row": lambda: intervals(1),
        "typical": intervals,
        "weighted": lambda: {**intervals(), "sample_weight": weighted()["sample_weight"]},
        "multiclass": lambda: intervals(20, nan=True),
    },
    "PredictionSets": {
        "empty": None,
        "one_row": lambda: {"y_true": [1], "sets": [[0, 1]]},
        "typical": sets,
        "weighted": lambda: {**sets(), "sample_weight": weighted()["sample_weight"]},
        "multiclass": lambda: sets(20, levels=3),
    },
}


OTHER_ROWS["Moments"] = OTHER_ROWS["Vendi"] = {
    "empty": None,
    "one_row": lambda: {"features": [[1.0, 0.1, 3.0]]},
    "typical": lambda: {"features": 1e4 + fractions(90).reshape(30, 3)},
    "far_apart": lambda: {"features": [[1e-100, 1e100, -3.0], [0.5, -1e100, 0.0]]},
}


OTHER_ROWS["PairedScores"] = {
    "empty": None,
    "one_row": lambda: {"y_true": [1], "first": [0.75], "second": [0.5]},
    "typical": lambda: pairs(typical),
    "weighted": lambda: pairs(weighted),
    "multiclass": lambda: pairs(multiclass),
}
OTHER_ROWS["Ranks"] = {
    "empty": None,
    "one_row": lambda: draws(1),
    "typical": draws,
    "missing": lambda: draws(20, nan=True),
}
OTHER_ROWS["SequentialCalibrationTest"] = {
    "empty": None,
    "one_row": lambda: {"y_true": [1], "y_proba": [0.75]},
    "typical": typical,
}
OTHER_ROWS["Windowed"] = {
    "empty": None,
    "typical": lambda: stamped(typical()),
    "weighted": lambda: stamped(weighted()),
}
OTHER_ROWS["Grouped"] = {
    "empty": None,
    "integers": lambda: {**typical(), "groups": np.arange(40) % 3 * 10**12 - 5},
    "strings": lambda: {**weighted(), "groups": np.array(["b", "", "ü"])[np.arange(40) % 3]},
    "booleans": lambda: {
        **multiclass(), "groups": [None, *(i % 2 == 0 for i in range(19))],
    },
}  # fmt: skip
OTHER_ROWS["Evidence"] = {
    "empty": None,
    "typical": together,
    "weighted": lambda: together(weighted=True),  # without HSIC
}


def rows_of(accumulator):
    return OTHER_ROWS.get(accumulator, ROWS)


def made(accumulator, rows):
    total = MAKERS[accumulator]()
    make = rows_of(accumulator)[rows]
    if make is not None:
        total.update(**make())
    return total


def result_of(total):
    """The result's fields, or what it says if there is none."""
    if isinstance(total, streaming.Ranks):
        return {"counts": total.counts, "n_omitted": total.n_omitted}
    if isinstance(total, streaming.Windowed):
        return total.to_dict()
    if isinstance(total, streaming.Grouped):
        return {str(key): result_of(total[key]) for key in total}
    try:
        fields = total.result().to_dict()
        if isinstance(total, Evidence):
            # The parts themselves are states of their own, saved beside it.
            fields["parts"] = {name: part.n for name, part in total._gathered()}
            fields["groups"] = {key: card.n for key, card in total.result().groups.items()}
            fields["left_out"] = total.left_out
    except ValueError as error:
        return str(error)
    if isinstance(total, streaming.ScoreTable) and total._state.columns == 1:
        fields["source"] = total.assess(n_bins=4).source.to_dict()
        fields["model"] = total.assess(n_bins=4).model.to_dict()
    return fields


def plain(fields):
    """As JSON gives it back; words may change."""
    if isinstance(fields, dict):
        return {name: plain(value) for name, value in fields.items()}
    if isinstance(fields, (list, tuple, np.ndarray)):
        return [plain(value) for value in fields]
    if isinstance(fields, (str, type(None))):
        return type(fields).__name__
    return float(fields)


#: A later version may have better logarithms. Eigenvalues are NumPy's: those of the typical rows
#: are 1e-10 of the largest, and their last digits differ between processors.
RELATIVE = {"Vendi": 1e-6}


def assert_same(found, expected, where="", rel=2.0**-46):
    """Fields that were there are there; a later version may have more of them."""
    if isinstance(expected, dict):
        for name, value in expected.items():
            assert_same(found[name], value, f"{where}.{name}", rel)
    elif isinstance(expected, list):
        assert len(found) == len(expected), where
        for i, value in enumerate(expected):
            assert_same(found[i], value, f"{where}[{i}]", rel)
    elif isinstance(expected, str):
        assert found == expected, where
    else:
        assert found == pytest.approx(expected, rel=rel, abs=2.0**-50, nan_ok=True), where


def saved_paths(version="*"):
    return sorted(STATES.glob(f"{version}/*/*.clbr"))


saved_files = pytest.mark.parametrize(
    "path", saved_paths(), ids=lambda path: "-".join([*path.parts[-3:-1], path.stem])
)


@saved_files
def test_states_of_released_versions(path):
    """Read, written back as they are, with the numbers of then, and good for more."""
    accumulator, rows = path.parent.name, path.stem
    saved = path.read_bytes()
    back = type(MAKERS[accumulator]()).from_bytes(saved)
    assert back.to_bytes() == saved
    results = json.loads(path.parents[1].joinpath("results.json").read_text())
    rel = RELATIVE.get(accumulator, 2.0**-46)
    assert_same(plain(result_of(back)), results[accumulator][rows], rel=rel)
    total = made(accumulator, rows)
    assert repr(back) == repr(total)
    if rows != "empty":
        back.merge(total).update(**rows_of(accumulator)[rows]())
        # Scores that were saved by whole cells stay so, with all that is merged with them.
        by_cells = accumulator in ("ScoreTable", "Scorecard", "Evidence")
        more = type(total).from_bytes(saved) if by_cells else made(accumulator, rows)
        total.merge(made(accumulator, rows)).merge(more)
    assert_same(plain(result_of(back)), plain(result_of(total)))


def test_there_are_saved_states_of_all_accumulators():
    expected = {(accumulator, rows) for accumulator in MAKERS for rows in rows_of(accumulator)}
    assert {(path.parent.name, path.stem) for path in saved_paths("0.1.0")} == expected


def test_every_class_that_can_be_saved_is_among_them():
    names = {name.split(".")[-1] for name in ACCUMULATORS if hasattr(filled(name), "to_bytes")}
    assert names == {type(make()).__name__ for make in MAKERS.values()} | {"RiskProfile"}


def write(folder):
    results = {}
    for accumulator in MAKERS:
        folder.joinpath(accumulator).mkdir(parents=True)
        for rows in rows_of(accumulator):
            total = made(accumulator, rows)
            folder.joinpath(accumulator, f"{rows}.clbr").write_bytes(total.to_bytes())
            results.setdefault(accumulator, {})[rows] = plain(result_of(total))
    folder.joinpath("results.json").write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    write(STATES / calibrant.__version__)
