"""Scores and their parts."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import mpmath
import numpy as np
from sklearn import metrics

import calibrant
import reference
from accuracy_cases import Case, case, number, peer, row
from accuracy_cases.inputs import classes, listed, predictions, weights_of


@row(
    "Brier score, one column", covers="brier_score streaming.Scores", bound=1,
    unit="ulp or 2⁻⁸⁰", peer="scikit-learn",
)  # fmt: skip
def brier(few: bool) -> Iterator[Case]:
    for y, p, weights in predictions(few):
        found = calibrant.brier_score(y, p, sample_weight=weights)
        theirs = peer(metrics.brier_score_loss, y, p, sample_weight=weights, labels=[0, 1])
        true = reference.brier_score(y, p, listed(weights))
        yield case(found, true, least=2.0**-80, peer=theirs)


@row(
    "Brier score, k columns", covers="", bound=1, unit="ulp or (k + 2)·2⁻⁸¹", peer="NumPy",
)  # fmt: skip
def brier_of_classes(few: bool) -> Iterator[Case]:
    for y, p, weights in classes(few):
        k = p.shape[1]
        found = calibrant.brier_score(y, p, sample_weight=weights)
        theirs = np.average(((p - np.eye(k)[y]) ** 2).sum(axis=1), weights=weights)
        true = reference.brier_score(y, p, listed(weights))
        yield case(found, true, least=(k + 2) * 2.0**-81, peer=theirs)


@row("log score", covers="log_score", bound=1, unit="ulp or 2⁻⁵⁸", peer="NumPy")
def log(few: bool) -> Iterator[Case]:
    for y, p, weights in [*predictions(few), *classes(few)]:
        rows = np.arange(len(y))
        q = np.where(y == 1, p, 1 - p) if p.ndim == 1 else p[rows, y]
        found = calibrant.log_score(y, p, sample_weight=weights)
        theirs = peer(lambda q, w: -np.average(np.log(q), weights=w), q, weights)
        yield case(
            found, reference.log_score(y, p, weights=listed(weights)), least=2.0**-58, peer=theirs
        )


@row(
    "spherical score", covers="spherical_score", bound=1, unit="ulp or 2⁻⁸⁰; k·2⁻⁶⁰ of k columns",
    peer="NumPy",
)  # fmt: skip
def spherical(few: bool) -> Iterator[Case]:
    for y, p, weights in [*predictions(few), *classes(few)]:
        columns = np.stack([1 - p, p], axis=1) if p.ndim == 1 else p
        terms = columns[np.arange(len(y)), y] / np.sqrt((columns**2).sum(axis=1))
        least = 2.0**-80 if p.ndim == 1 else p.shape[1] * 2.0**-60
        yield case(
            calibrant.spherical_score(y, p, sample_weight=weights),
            reference.spherical_score(y, p, listed(weights)),
            least=least, peer=np.average(terms, weights=weights),
        )  # fmt: skip


def frequencies(y: np.ndarray, weights: np.ndarray | None, k: int) -> list[Fraction]:
    rows = list(zip(y.tolist(), map(Fraction, weights_of(y, weights).tolist()), strict=True))
    total = sum(w for _, w in rows)
    return [sum((w for label, w in rows if label == j), Fraction(0)) / total for j in range(k)]


@row(
    "class frequencies and Gini impurity", covers="optimal_constant gini_impurity", bound=1,
    peer="NumPy",
)  # fmt: skip
def labels(few: bool) -> Iterator[Case]:
    for y, p, weights in [*predictions(few), *classes(few)]:
        k = 2 if p.ndim == 1 else p.shape[1]
        share = frequencies(y, weights, k)
        theirs = np.array([np.average(y == j, weights=weights) for j in range(k)])
        found = calibrant.optimal_constant(y, n_classes=k, sample_weight=weights)
        for ours, true, their in zip(found, share, theirs, strict=True):
            yield case(ours, true, peer=their)
        impurity = sum(f * (1 - f) for f in share)
        yield case(
            calibrant.gini_impurity(y, n_classes=k, sample_weight=weights), impurity,
            peer=(theirs * (1 - theirs)).sum(),
        )  # fmt: skip


@row(
    "Brier skill score", covers="brier_skill_score", bound=1,
    unit="ulp, at least of score over reference", peer="scikit-learn",
)  # fmt: skip
def brier_skill(few: bool) -> Iterator[Case]:
    for y, p, weights in predictions(few, least=2):
        unit = frequencies(y, weights, 2)[1]
        ratio = reference.brier_score(y, p, listed(weights)) / number(unit * (1 - unit))
        found = calibrant.brier_skill_score(y, p, sample_weight=weights)
        theirs = peer(metrics.d2_brier_score, y, p, sample_weight=weights)
        least = 2.0**-80 / number(unit * (1 - unit))
        yield case(found, 1 - ratio, scale=ratio, least=least, peer=theirs)


def murphy_by_numpy(y, p, edges, weights) -> list[float]:
    w = weights_of(p, weights)
    which = np.clip(np.searchsorted(edges, p, side="right") - 1, 0, len(edges) - 2)
    n, hits, scores, squares, products = (
        np.bincount(which, x, len(edges) - 1) for x in (w, w * y, w * p, w * p * p, w * p * y)
    )
    used = n > 0
    n, hits, scores, squares, products = (x[used] for x in (n, hits, scores, squares, products))
    f, o, total = scores / n, hits / n, n.sum()
    base = hits.sum() / total
    parts = (
        n @ (f - o) ** 2, n @ (o - base) ** 2, total * base * (1 - base),
        (squares - n * f * f).sum(), 2 * (products - n * f * o).sum(),
    )  # fmt: skip
    return [float(part / total) for part in parts]


@row(
    "Murphy's parts", covers="brier_decomposition", bound=1, peer="NumPy",
)  # fmt: skip
def murphy(few: bool) -> Iterator[Case]:
    for y, p, weights in predictions(few, most=1000):
        edges = [k / 8 for k in range(9)]
        found = calibrant.brier_decomposition(y, p, n_bins=edges, sample_weight=weights)
        true = reference.murphy(y, p.tolist(), edges, listed(weights))
        parts = (
            found.reliability, found.resolution, found.uncertainty, found.within_bin_variance,
            found.within_bin_covariance,
        )  # fmt: skip
        theirs = murphy_by_numpy(y, p, edges, weights)
        for ours, truth, their in zip(parts, true, theirs, strict=False):
            yield case(ours, truth, peer=their)


@row("CORP's parts", covers="", bound=1)
def corp(few: bool) -> Iterator[Case]:
    for y, p, weights in predictions(few, most=30):
        found = calibrant.brier_decomposition(y, p, method="corp", sample_weight=weights)
        parts = found.miscalibration, found.discrimination, found.uncertainty
        true = reference.corp(y, p.tolist(), listed(weights))
        for ours, truth in zip(parts, true, strict=True):
            yield case(ours, truth)


@row(
    "parts of the log score", covers="log_decomposition", bound=1, unit="ulp, at least of 1",
)  # fmt: skip
def log_parts(few: bool) -> Iterator[Case]:
    edges = [0.0, 0.3, 0.6, 0.8, 1.0]
    for y, p, weights in predictions(few, ends=False, most=1000):
        found = peer(calibrant.log_decomposition, y, p, n_bins=edges, sample_weight=weights)
        rows = reference.pairs(y, p, weights=listed(weights))
        bins = reference.assessed_bins(rows, edges)
        source = reference.source_means([(b[4], b[3]) for b in bins if b[3]])[1]
        model = reference.risk_profile(y, p, weights=listed(weights))[1]
        for ours, truth in (
            (found.cross_entropy, -mpmath.log(model)),
            (found.entropy, -mpmath.log(source)),
            (found.divergence, -mpmath.log(model / source)),
        ):
            yield case(ours, truth, scale=1)
