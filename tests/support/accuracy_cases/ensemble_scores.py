"""Scores of ensembles and laws."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import mpmath
import numpy as np
import scoringrules

import calibrant
from accuracy_cases import Case, case, number, peer, row
from ensemble_reference import crps_by_definition

Change = Callable[[np.ndarray], np.ndarray]

SHAPES: dict[str, Change] = {
    "as drawn": lambda x: x,
    "far from 0": lambda x: 1e8 + x,
    "ties": lambda x: np.round(2 * x) / 2,
    "tiny": lambda x: 1e-300 * x,
    "nearly equal": lambda x: 1 + 2.0**-50 * np.round(4 * x),
    "wide": lambda x: np.sign(x) * 10.0 ** (20 * np.abs(x) - 20),
}


def forecasts(few: bool) -> Iterator[tuple[float, np.ndarray]]:
    """Yield an outcome and its draws."""
    for i, change in enumerate(SHAPES.values()):
        for m in (2, 9) if few else (2, 3, 10, 33, 100):
            for repeat in range(1 if few else 4):
                x = np.random.default_rng([i, m, repeat]).normal(size=m + 1)
                x[0] *= 1 if repeat else 3
                x = change(x)
                yield float(x[0]), x[1:]


@row(
    "CRPS of draws, standard and fair", covers="crps_ensemble", bound=2, peer="scoringrules",
)  # fmt: skip
def crps(few: bool) -> Iterator[Case]:
    for y, x in forecasts(few):
        for estimator, name in (("standard", "nrg"), ("fair", "fair")):
            true = crps_by_definition(y, x, estimator)
            theirs = peer(scoringrules.crps_ensemble, y, x, estimator=name)
            yield case(calibrant.crps_ensemble(y, x, estimator=estimator), true, peer=theirs)


@row(
    "CRPS of draws with weights", covers="", bound=4, unit="ulp, at least of the mean distance"
)  # fmt: skip
def weighted_crps(few: bool) -> Iterator[Case]:
    for y, x in forecasts(few):
        w = np.random.default_rng(len(x)).random(len(x)) + 0.1
        distance = np.average(np.abs(x - y), weights=w)
        for estimator in ("standard", "fair"):
            yield case(
                calibrant.crps_ensemble(y, x, estimator=estimator, draw_weight=w),
                crps_by_definition(y, x, estimator, w),
                scale=distance if estimator == "fair" else 0,
            )  # fmt: skip


def vectors(few: bool) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    for i, (kind, change) in enumerate(SHAPES.items()):
        if kind in ("tiny", "wide"):  # squares of distances would leave the doubles
            continue
        for m, d in ((3, 2),) if few else ((2, 1), (3, 2), (10, 3), (25, 9)):
            x = change(np.random.default_rng([i, m, d]).normal(size=(m + 1, d)))
            yield x[0], x[1:]


def distance(a, b, beta) -> mpmath.mpf:
    squares = mpmath.fsum(
        (mpmath.mpf(s) - mpmath.mpf(t)) ** 2 for s, t in zip(a.tolist(), b.tolist(), strict=True)
    )
    return squares ** (mpmath.mpf(beta) / 2) if squares else mpmath.mpf(0)


@row(
    "energy score", covers="energy_score", bound=4, unit="ulp of the mean distance to the outcome",
    peer="scoringrules",
)  # fmt: skip
def energy(few: bool) -> Iterator[Case]:
    for y, x in vectors(few):
        m = len(x)
        for beta in (1.0, 0.5):
            first = mpmath.fsum(distance(row, y, beta) for row in x) / m
            pairs = mpmath.fsum(distance(x[i], x[j], beta) for i in range(m) for j in range(i))
            theirs = peer(scoringrules.es_ensemble, y, x) if beta == 1 else None
            yield case(
                calibrant.energy_score(y, x, beta=beta), first - pairs / m**2, scale=first,
                peer=theirs,
            )  # fmt: skip
            yield case(
                calibrant.energy_score(y, x, beta=beta, estimator="fair"),
                first - pairs / (m * (m - 1)), scale=first,
            )  # fmt: skip


@row(
    "variogram score", covers="variogram_score", bound=6,
    unit="ulp of the sum of squares before subtraction", peer="scoringrules",
)  # fmt: skip
def variogram(few: bool) -> Iterator[Case]:
    for y, x in vectors(few):
        m, d = x.shape
        rows = [[mpmath.mpf(v) for v in row] for row in [y.tolist(), *x.tolist()]]
        for p in (0.5, 1.0):
            true = scale = mpmath.mpf(0)
            for i in range(d):
                for j in range(d):
                    first, *rest = (abs(row[i] - row[j]) ** mpmath.mpf(p) for row in rows)
                    mean = mpmath.fsum(rest) / m
                    true += (first - mean) ** 2
                    scale += (first + mean) ** 2
            theirs = peer(scoringrules.vs_ensemble, y, x, p=p)
            yield case(calibrant.variogram_score(y, x, p=p), true, scale=scale, peer=theirs)


@row("quantile score", covers="quantile_score", bound=2, peer="scoringrules")
def quantile(few: bool) -> Iterator[Case]:
    levels = np.array([1e-9, 0.1, 0.5, 0.9])
    for y, x in forecasts(few):
        if len(x) < 4:
            continue
        found = calibrant.quantile_score(y, x[:4], levels=levels)
        for ours, q, level in zip(found.ravel(), x.tolist(), levels.tolist(), strict=False):
            u = number(y) - number(q)
            true = u * level if u >= 0 else u * (number(level) - 1)
            yield case(ours, true, peer=scoringrules.quantile_score(y, q, level))


def standardized(few: bool) -> list[float]:
    near = [s * 10.0**-k for k in range(1, 16, 3) for s in (-1, 1)]
    return [0.0, *near, *np.linspace(-9, 9, 7 if few else 200).tolist(), 40.0, -40.0, 1e5]


def normal(z):
    density = mpmath.exp(-z * z / 2) / mpmath.sqrt(2 * mpmath.pi)
    return z * mpmath.erf(z / mpmath.sqrt(2)) + 2 * density - 1 / mpmath.sqrt(mpmath.pi)


def logistic(z):
    return z + 2 * mpmath.log1p(mpmath.exp(-z)) - 1 if z >= 0 else logistic(-z)


def laplace(z):
    return abs(z) + mpmath.exp(-abs(z)) - mpmath.mpf(3) / 4


def exponential(z):
    return abs(z) - 2 * (1 - mpmath.exp(-max(z, 0))) + mpmath.mpf(1) / 2


def uniform(z):
    inside = min(max(z, 0), 1)
    return abs(z - inside) + inside**2 - inside + mpmath.mpf(1) / 3


@row(
    "CRPS of laws: normal, logistic, Laplace, exponential, uniform",
    covers="crps_normal crps_logistic crps_laplace crps_exponential crps_uniform", bound=5,
    peer="scoringrules",
)  # fmt: skip
def of_laws(few: bool) -> Iterator[Case]:
    for law in (normal, logistic, laplace, exponential, uniform):
        name = f"crps_{law.__name__}"
        for z in standardized(few):
            if law is uniform:
                theirs = scoringrules.crps_uniform(z, 0.0, 1.0)
            elif law is exponential:
                theirs = scoringrules.crps_exponential(z, 1.0)
            else:
                theirs = getattr(scoringrules, name)(z, 0.0, 1.0)
            found = getattr(calibrant, name)([z])[0]
            yield case(found, law(mpmath.mpf(z)), peer=theirs if z >= 0 or law is normal else None)
