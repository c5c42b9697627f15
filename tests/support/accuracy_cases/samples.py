"""Samples against samples."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import mpmath
import numpy as np
from scipy.linalg import sqrtm

import calibrant
from accuracy_cases import Case, case, number, peer, row
from calibrant import streaming
from neighbour_reference import density_coverage_precision_recall


def moments_of(x: np.ndarray) -> tuple[list, mpmath.matrix]:
    """Means and covariance over n - 1, from fractions."""
    n, d = x.shape
    columns = [[Fraction(v) for v in column] for column in x.T.tolist()]
    means = [sum(column) / n for column in columns]
    centred = [[v - m for v in c] for c, m in zip(columns, means, strict=True)]
    covariance = mpmath.matrix(d, d)
    for i in range(d):
        for j in range(d):
            products = (a * b for a, b in zip(centred[i], centred[j], strict=True))
            covariance[i, j] = number(sum(products) / (n - 1))
    return [number(m) for m in means], covariance


def features(few: bool) -> Iterator[np.ndarray]:
    for n, d in ((8, 2),) if few else ((5, 1), (8, 2), (40, 3), (30, 5)):
        x = np.random.default_rng([n, d]).normal(size=(n, d))
        yield x
        yield 1e4 + x
        yield x * 10.0 ** -np.arange(d)


@row("mean and covariance, in a stream", covers="streaming.Moments", bound=2, peer="NumPy")
def moments(few: bool) -> Iterator[Case]:
    for x in features(few):
        state = streaming.Moments(x.shape[1])
        state.update(x)
        found = state.result()
        means, covariance = moments_of(x)
        theirs = np.atleast_2d(np.cov(x, rowvar=False))
        for i, mean in enumerate(means):
            yield case(found.mean[i], mean, peer=x[:, i].mean())
            for j in range(len(means)):
                yield case(found.covariance[i, j], covariance[i, j], peer=theirs[i, j])


def trace_of_root(a: mpmath.matrix, b: mpmath.matrix) -> mpmath.mpf:
    values = mpmath.eig(a * b, left=False, right=False)
    return mpmath.fsum(mpmath.sqrt(max(mpmath.re(value), 0)) for value in values)


def frechet_by_scipy(x: np.ndarray, y: np.ndarray) -> float:
    c, d = (np.atleast_2d(np.cov(s, rowvar=False)) for s in (x, y))
    root = np.trace(np.real(sqrtm(c @ d)))
    return float(((x.mean(0) - y.mean(0)) ** 2).sum() + np.trace(c) + np.trace(d) - 2 * root)


@row(
    "Fréchet distance", covers="frechet_distance", bound=30,
    unit="ulp of both traces and the squared difference; means far from 0 add their own rounding",
    peer="SciPy",
)  # fmt: skip
def frechet(few: bool) -> Iterator[Case]:
    for x in features(few):
        for y in (x[::-1] * 1.5 + 0.25, x[1:] + 1e-3):
            with mpmath.workdps(50):
                (x_means, c), (y_means, d) = moments_of(x), moments_of(y)
                gaps = [a - b for a, b in zip(x_means, y_means, strict=True)]
                traces = mpmath.fsum(c[i, i] + d[i, i] for i in range(len(gaps)))
                squares = mpmath.fsum(gap**2 for gap in gaps)
                true = squares + traces - 2 * trace_of_root(c, d)
                largest = max(map(abs, x_means))
                rounded = largest * mpmath.mpf(2) ** -52 * mpmath.sqrt(squares)
            theirs = peer(frechet_by_scipy, x, y)
            yield case(
                calibrant.frechet_distance(x, y), true, scale=squares + traces, least=rounded,
                peer=theirs,
            )  # fmt: skip


def vendi_of(values: list, q: float) -> mpmath.mpf:
    if q == 1:
        return mpmath.exp(-mpmath.fsum(v * mpmath.log(v) for v in values))
    if q == math.inf:
        return 1 / max(values)
    return mpmath.fsum(v ** mpmath.mpf(q) for v in values) ** (1 / (1 - mpmath.mpf(q)))


def vendi_by_numpy(x: np.ndarray, q: float) -> float:
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    values = np.linalg.eigvalsh(unit @ unit.T / len(x))
    values = values[values > 0]
    if q == 1:
        return float(np.exp(-np.sum(values * np.log(values))))
    return float(1 / values.max() if q == math.inf else np.sum(values**q) ** (1 / (1 - q)))


@row("Vendi score", covers="vendi_score vendi_profile streaming.Vendi", bound=30, peer="NumPy")
def vendi(few: bool) -> Iterator[Case]:
    for x in features(few):
        if x.shape[1] == 1 or x.mean() > 100:  # one direction, but for rounding
            continue
        with mpmath.workdps(40):
            rows = [[mpmath.mpf(v) for v in line] for line in x.tolist()]
            norms = [mpmath.sqrt(mpmath.fsum(v * v for v in line)) for line in rows]
            d = x.shape[1]
            gram = mpmath.matrix(d, d)  # the products of rows have the same eigenvalues
            for i in range(d):
                for j in range(d):
                    terms = (r[i] * r[j] / s**2 for r, s in zip(rows, norms, strict=True))
                    gram[i, j] = mpmath.fsum(terms) / len(x)
            values = list(mpmath.eigsy(gram, eigvals_only=True))
        state = streaming.Vendi(d)
        state.update(x)
        for q in (0.5, 1.0, 2.0, 3.5, math.inf):
            true, theirs = vendi_of(values, q), vendi_by_numpy(x, q)
            yield case(calibrant.vendi_score(x, q=q), true, peer=theirs)
            yield case(state.result().at(q), true)


@row(
    "density, coverage, precision, recall", covers="density_coverage precision_recall", bound=1,
)  # fmt: skip
def neighbours(few: bool) -> Iterator[Case]:
    for n, d in ((6, 2),) if few else ((6, 1), (12, 2), (25, 3)):
        for k in (1, 3):
            # Squares of distances of such numbers are exact, and often equal.
            rng = np.random.default_rng([n, d])
            real, generated = rng.integers(-20, 20, (2, n, d)) / 8
            true = density_coverage_precision_recall(real.tolist(), generated.tolist(), k)
            first = calibrant.density_coverage(real, generated, k=k)
            second = calibrant.precision_recall(real, generated, k=k)
            found = first.density, first.coverage, second.precision, second.recall
            for ours, truth in zip(found, true, strict=True):
                yield case(ours, truth)
