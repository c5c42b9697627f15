"""Scorecards, comparison and drift."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import NormalDist

import mpmath
import numpy as np

import calibrant
import comparison_reference as by
from accuracy_cases import Case, case, row
from accuracy_cases.inputs import WEIGHTS, predictions, weights_of
from calibrant import streaming
from calibrant.drift import drift
from calibrant.sequential import SequentialCalibrationTest

Z = mpmath.mpf(NormalDist().inv_cdf(0.975))


def mean_and_error(terms: list, weights: np.ndarray) -> tuple[mpmath.mpf, mpmath.mpf]:
    w = [mpmath.mpf(x) for x in weights.tolist()]
    total = mpmath.fsum(w)
    mean = mpmath.fsum(a * t for a, t in zip(w, terms, strict=True)) / total
    spread = mpmath.fsum(a * (t - mean) ** 2 for a, t in zip(w, terms, strict=True))
    return mean, mpmath.sqrt(spread) / total


def scores_of(y: np.ndarray, p: np.ndarray) -> dict[str, list]:
    rows = [by.terms(label, s) for label, s in zip(y.tolist(), p.tolist(), strict=True)]
    return {name: [row[name] for row in rows] for name in ("brier", "log", "spherical")}


@row(
    "scorecard: scores", covers="scorecard streaming.Scorecard", bound=1, unit="ulp",
)  # fmt: skip
def scorecard(few: bool) -> Iterator[Case]:
    for y, p, weights in predictions(few, ends=False, least=10, most=1000):
        card = calibrant.scorecard(y, p, sample_weight=weights)
        w = weights_of(p, weights)
        for name, terms in scores_of(y, p).items():
            yield case(getattr(card, name).value, mean_and_error(terms, w)[0])


def two_models(few: bool) -> Iterator[tuple]:
    for n in (20,) if few else (10, 100, 1000):
        for j, weighing in enumerate(WEIGHTS):
            rng = np.random.default_rng([n, j])
            p = rng.random(n)
            q = np.clip(p + rng.normal(0, 0.1, n), 1e-9, 1 - 1e-9)
            yield (rng.random(n) < p).astype(int), p, q, WEIGHTS[weighing](rng, n)


@row(
    "comparison: differences of scores", covers="compare streaming.PairedScores", bound=1,
    unit="ulp or 2⁻⁵⁶", peer="NumPy",
)  # fmt: skip
def differences(few: bool) -> Iterator[Case]:
    for y, p, q, weights in two_models(few):
        found = calibrant.compare(y, {"a": p, "b": q}, sample_weight=weights).differences["a", "b"]
        true = by.by_definition(y.tolist(), p.tolist(), q.tolist(), weights_of(p, weights))
        for name, (mean, _) in true.items():
            theirs = None
            if name == "brier":
                theirs = np.average((p - y) ** 2 - (q - y) ** 2, weights=weights)
            yield case(getattr(found, name).value, mean, least=2.0**-56, peer=theirs)


@row("comparison: standard errors", covers="comparison.ComparisonSums", bound=16, peer="NumPy")
def standard_errors(few: bool) -> Iterator[Case]:
    for y, p, q, weights in two_models(few):
        found = calibrant.compare(y, {"a": p, "b": q}, sample_weight=weights).differences["a", "b"]
        w = weights_of(p, weights)
        true = by.by_definition(y.tolist(), p.tolist(), q.tolist(), w)
        for name, (_, error) in true.items():
            theirs = None
            if name == "brier":
                d = (p - y) ** 2 - (q - y) ** 2
                mean = np.average(d, weights=w)
                theirs = np.sqrt((w * (d - mean) ** 2).sum()) / w.sum()
            yield case(getattr(found, name).standard_error, error, peer=theirs)


@row(
    "drift: change and z", covers="drift.drift drift.drift_by_window", bound=16,
    unit="ulp of the scores; se and z: of themselves",
)  # fmt: skip
def welch(few: bool) -> Iterator[Case]:
    for n in (80,) if few else (80, 300, 2000):
        rng = np.random.default_rng(n)
        cards, parts = [], []
        for gap in (0.0, 0.1):
            p = rng.random(n)
            y = (rng.random(n) < np.clip(p + gap, 0, 1)).astype(int)
            cards.append(streaming.Scorecard())
            cards[-1].update(y, p)
            parts.append(scores_of(y, p))
        found = drift(*cards)
        for name in parts[0]:
            (a, e), (b, f) = (mean_and_error(part[name], np.ones(n)) for part in parts)
            change = found[name]
            yield case(change.change, b - a, scale=max(a, b))
            # Of all rows, whose variance is that of both sides and of the change.
            variance = (n * (e * e + f * f) + (b - a) ** 2 / 2) / 2
            deviation = mpmath.sqrt(variance * 4 / (2 * n - 1))
            yield case(change.statistic, (b - a) / deviation, scale=max(a, b) / deviation)


def log_wealth(y: np.ndarray, p: np.ndarray) -> mpmath.mpf:
    total = mpmath.mpf(0)
    for stake in [sign * mpmath.mpf(2) ** -k for k in range(1, 8) for sign in (1, -1)]:
        for confident in (False, True):
            capital = mpmath.mpf(1)
            for a, b in zip(y.tolist(), map(mpmath.mpf, p.tolist()), strict=True):
                capital *= 1 + stake * (2 * b - 1 if confident else 1) * (a - b)
            total += capital / 28
    return mpmath.log(total)


@row(
    "sequential test: logarithm of the wealth", covers="sequential.SequentialCalibrationTest",
    bound=2, unit="ulp of n: a rounding a row, at most",
)  # fmt: skip
def sequential(few: bool) -> Iterator[Case]:
    for n in (1, 30) if few else (1, 2, 10, 100, 1000):
        for gap in (0.0, 0.3):
            rng = np.random.default_rng(n)
            p = rng.random(n)
            y = (rng.random(n) < np.clip(p + gap, 0, 1)).astype(int)
            test = SequentialCalibrationTest()
            test.update(y, p)
            yield case(test.result().log_wealth, log_wealth(y, p), scale=n)
