"""Winners of `calibrant.compare` that are none, winners that are, and coverage of intervals."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from table import Table, percent

from calibrant.comparison import ScoreDifferences
from calibrant.scores._differences import SCORES
from calibrant.streaming import PairedScores
from calibrated_rows import BINARY, CLASSES, outcomes, sharpened

__all__ = ["CLOSE", "WRONG", "differences", "tables", "winner"]

Model = Callable[[np.random.Generator, np.ndarray], np.ndarray]


def shifted(p: np.ndarray, by: np.ndarray | float) -> np.ndarray:
    """Add to the logits, or to the logarithms of several classes."""
    if p.ndim == 1:
        raised = p * np.exp(by)
        return np.minimum(raised / (raised + (1.0 - p)), 1.0)
    raised = p * np.exp(by)
    return raised / raised.sum(axis=1, keepdims=True)


def noisy(sd: float) -> Model:
    """Return a model with random errors of its own."""
    return lambda rng, p: shifted(p, sd * rng.standard_normal(p.shape))


def tilted(by: float) -> Model:
    """Return a model that gives too much, or too little, to class 1 and every other class."""
    return lambda _, p: shifted(p, by if p.ndim == 1 else by * (np.arange(p.shape[1]) % 2))


#: Wrong models of rows whose outcomes are drawn from p.
WRONG: dict[str, Model] = {
    "too low": tilted(-1.0),
    "too high": tilted(1.0),
    "logits x 1.5": lambda _, p: sharpened(p, 1.5),
    "logits x 0.67": lambda _, p: sharpened(p, 1 / 1.5),
    "noise": noisy(0.7),
}
#: Two models that are equally good: each is drawn for itself.
CLOSE: dict[str, Model] = {
    "noise 0.1": noisy(0.1),
    "noise 1": noisy(1.0),
    "too low, noise 0.7": lambda rng, p: tilted(-2.0)(rng, noisy(0.7)(rng, p)),
    "logits x 1.7, noise 1": lambda rng, p: noisy(1.0)(rng, sharpened(p, 1.7)),
}


def differences(y: np.ndarray, first: np.ndarray, second: np.ndarray) -> ScoreDifferences:
    """Compare two models."""
    sums = PairedScores()
    sums.update(y, first, second)
    return sums.result()


def winner(found: ScoreDifferences, side: str) -> bool:
    """Whether that model is called better by any of the four scores."""
    return any(d.better == side for _, d in found)


LAWS = {
    name: {**BINARY, **CLASSES}[name]
    for name in (
        "uniform", "Beta(0.2, 0.2)", "Beta(0.5, 9.5), 5 %", "Beta(0.5, 49.5), 1 %",
        "logit-normal(-5, 1.5)", "log-uniform 1e-3 to 1e-2", "constant 0.01",
        "4 classes, Dirichlet(1)", "3 classes, one rare",
    )
}  # fmt: skip


def tables(runs: int, seed: int) -> list[Table]:
    """Return false winners, power and coverage."""
    return [_wrong(runs, seed), _close(runs, seed), _power(runs, seed), _coverage(runs, seed)]


def _wrong(runs: int, seed: int) -> Table:
    table = Table(
        "compare: the wrong model is called better",
        f"Outcomes are drawn from the first model; how often, of {runs} samples, the second is "
        "called better by any of the four scores. Nominal is at most 5 %.",
        ("scores", "rows", *WRONG),
    )
    for law, make in LAWS.items():
        for n in (20, 50, 200, 1000):
            counts = []
            for model in WRONG.values():
                rng = np.random.default_rng([seed, n, len(counts)])
                count = 0
                for _ in range(runs):
                    p = make(rng, n)
                    count += winner(differences(outcomes(rng, p), p, model(rng, p)), "second")
                counts.append(count)
            table.add(law, n, *(percent(count, runs) for count in counts))
    return table


def _close(runs: int, seed: int) -> Table:
    table = Table(
        "compare: one of two equally good models is called better",
        f"Both models have errors of one law; how often, of {runs} samples, either is called "
        "better by any of the four scores. Nominal is at most 5 %.",
        ("scores", "rows", *CLOSE),
    )
    for law, make in LAWS.items():
        for n in (20, 50, 200, 1000):
            counts = []
            for model in CLOSE.values():
                rng = np.random.default_rng([seed, n, len(counts)])
                count = 0
                for _ in range(runs):
                    p = make(rng, n)
                    found = differences(outcomes(rng, p), model(rng, p), model(rng, p))
                    count += winner(found, "first") or winner(found, "second")
                counts.append(count)
            table.add(law, n, *(percent(count, runs) for count in counts))
    return table


def _power(runs: int, seed: int) -> Table:
    table = Table(
        "compare: the true model is called better",
        f"Outcomes are drawn from the first model; how often, of {runs} samples of 2,000 rows, it "
        "is called better than the second by any of the four scores.",
        ("scores", *WRONG),
    )
    for law, make in LAWS.items():
        counts = []
        for model in WRONG.values():
            rng = np.random.default_rng([seed, len(counts)])
            count = 0
            for _ in range(runs):
                p = make(rng, 2000)
                count += winner(differences(outcomes(rng, p), p, model(rng, p)), "first")
            counts.append(count)
        table.add(law, *(percent(count, runs) for count in counts))
    return table


#: By base rate.
RATES = {
    "0.5": BINARY["uniform"],
    "0.5, logit-normal(0, 3)": BINARY["logit-normal(0, 3)"],
    "0.05": BINARY["Beta(0.5, 9.5), 5 %"],
    "0.01": BINARY["Beta(0.5, 49.5), 1 %"],
    "0.01, constant": BINARY["constant 0.01"],
}


def _coverage(runs: int, seed: int) -> Table:
    table = Table(
        "compare: coverage of intervals",
        f"How often, of {runs} samples, the 95 % interval of a difference between the true model "
        "and the same with logits x 1.5, or shifted by -1 or 1, holds the mean over samples: the "
        "least of the three.",
        ("base rate", "rows", *(name for name, _ in SCORES.values())),
    )
    for rate, make in RATES.items():
        for n in (50, 500, 5000):
            held = [
                _held(make, model, n, runs, np.random.default_rng([seed, n]))
                for model in (WRONG["logits x 1.5"], WRONG["too low"], WRONG["too high"])
            ]
            table.add(rate, n, *(percent(min(counts), runs) for counts in zip(*held, strict=True)))
    return table


def _held(
    make: Callable[[np.random.Generator, int], np.ndarray], model: Model, n: int, runs: int,
    rng: np.random.Generator,
) -> list[int]:  # fmt: skip
    p = make(rng, 400_000)  # the mean, over outcomes exactly
    q = model(rng, p)
    sums = PairedScores()
    rows = np.concatenate([p, p]), np.concatenate([q, q])
    y = np.repeat([1, 0], len(p))
    sums.update(y, *rows, sample_weight=np.concatenate([p, 1.0 - p]))
    true = {name: d.value for name, d in sums.result()}
    held = dict.fromkeys(SCORES, 0)
    for _ in range(runs):
        p = make(rng, n)
        for name, d in differences(outcomes(rng, p), p, model(rng, p)):
            held[name] += d.low is None or d.low <= true[name] <= d.high
    return list(held.values())
