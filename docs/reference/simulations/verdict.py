"""The verdict of `assess`, reports and streams."""

from __future__ import annotations

import warnings

import numpy as np
from table import Table, percent

import calibrant
from calibrant import streaming
from calibrant.calibration._verdict import calibration_verdict
from calibrant.report import report
from calibrated_rows import BINARY, CLASSES, outcomes, sharpened

ROWS = (20, 50, 200, 1_000, 3_000, 10_000, 30_000)
LAWS = {**BINARY, **CLASSES}


def _kinds(law: str, n: int, factor: float, runs: int, seed: int) -> dict[str, int]:
    rng = np.random.default_rng([seed, n, round(1000 * factor), *law.encode()])
    kinds: dict[str, int] = {}
    for _ in range(runs):
        truth = LAWS[law](rng, n)
        table = streaming.ScoreTable()
        table.update(outcomes(rng, truth), truth if factor == 1 else sharpened(truth, factor))
        kind = calibration_verdict(table._state).kind
        kinds[kind] = kinds.get(kind, 0) + 1
    return kinds


def _false_alarms(runs: int, seed: int) -> Table:
    table = Table(
        "False verdicts on calibrated probabilities",
        f"{runs} samples each; how many have a verdict against their probabilities. Nominal: 5 % "
        "at most. In brackets: “too few rows to tell”.",
        ["scores", *(f"{n:,} rows" for n in ROWS)],
    )
    for law in LAWS:
        cells = []
        for n in ROWS:
            kinds = _kinds(law, n, 1, runs, seed)
            few = kinds.get("too few rows", 0)
            against = runs - kinds.get("calibrated", 0) - few - kinds.get("undefined", 0)
            cells.append(percent(against, runs) + (f" ({percent(few, runs)})" if few else ""))
        table.add(law, *cells)
    return table


def _power(runs: int, seed: int) -> Table:
    factors = (1.3, 1 / 1.3, 1.1)
    table = Table(
        "Power of the verdict",
        f"{runs} samples of 2,000 rows each; how many have a verdict against probabilities whose "
        "logits are too large by a factor (several classes: logarithms).",
        ["scores", *(f"factor {factor:.2f}" for factor in factors)],
    )
    for law in LAWS:
        if law.startswith(("constant", "log-uniform")):
            continue
        cells = []
        for factor in factors:
            kinds = _kinds(law, 2_000, factor, runs, seed)
            cells.append(
                percent(runs - kinds.get("calibrated", 0) - kinds.get("too few rows", 0), runs)
            )
        table.add(law, *cells)
    return table


def _fitted() -> dict[str, np.ndarray]:
    """Probabilities that models of scikit-learn gave, out of fold."""
    from sklearn.datasets import load_breast_cancer, load_digits, make_classification
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_predict
    from sklearn.naive_bayes import GaussianNB
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    logistic = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2_000))
    digits = load_digits(return_X_y=True)
    cancer = load_breast_cancer(return_X_y=True)
    rows = make_classification(20_000, 20, random_state=0)

    def out_of_fold(model: object, data: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        found = cross_val_predict(model, *data, method="predict_proba")
        return found[:, 1] if found.shape[1] == 2 else found

    return {
        "digits, 1,797 rows of 10 classes, logistic regression": out_of_fold(logistic, digits),
        "breast cancer, 569 rows, logistic regression": out_of_fold(logistic, cancer),
        "breast cancer, 569 rows, random forest": out_of_fold(
            RandomForestClassifier(random_state=0), cancer
        ),
        "20,000 rows, naive Bayes": out_of_fold(GaussianNB(), rows),
    }


def _real_models(runs: int, seed: int) -> Table:
    table = Table(
        "False verdicts on the probabilities of fitted models",
        f"{runs} samples each of outcomes drawn from the probabilities themselves: of `assess`, "
        "and of the headline of `report`, which must agree. Nominal: 5 % at most.",
        ["model", "assess", "report"],
    )
    for name, p in _fitted().items():
        rng = np.random.default_rng([seed, *name.encode()])
        against = [0, 0]
        for _ in range(runs):
            y = outcomes(rng, p)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # too many bins
                of_assess = calibrant.assess(y, p).verdict
            of_report = report(y, p).verdict.headline
            against[0] += not of_assess.startswith(("calibrated", "too few"))
            against[1] += not of_report.startswith(("These probabilities look", "There are too"))
        table.add(name, *(percent(count, runs) for count in against))
    return table


def _angles(runs: int, seed: int) -> Table:
    sizes = (200, 2_000, 20_000)
    table = Table(
        "The angle of calibrated probabilities",
        f"{runs} samples each: mean angle of `assess`, and how many angles are within the "
        "tolerance. Nominal: 95 %. The verdict does not use the angle.",
        ["scores", *(f"{n:,} rows" for n in sizes)],
    )
    for law in LAWS:
        cells = []
        for n in sizes:
            rng = np.random.default_rng([seed, n, *law.encode()])
            angles, inside = [], 0
            for _ in range(runs):
                p = LAWS[law](rng, n)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # too many bins
                    found = calibrant.assess(outcomes(rng, p), p)
                angles.append(found.angle)
                inside += abs(found.angle - 45.0) <= found.tolerance
            cells.append(f"{np.nanmean(angles):.1f}°, {percent(inside, runs)}")
        table.add(law, *cells)
    return table


def tables(runs: int, seed: int) -> list[Table]:
    """Return the tables of this module."""
    fewer = max(runs // 5, 20)
    return [
        _false_alarms(runs, seed),
        _real_models(fewer, seed),
        _power(fewer, seed),
        _angles(fewer, seed),
    ]
