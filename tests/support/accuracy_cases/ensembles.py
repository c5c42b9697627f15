"""Ensembles and coupled Gaussians."""

from __future__ import annotations

from collections.abc import Iterator

import mpmath
import numpy as np
from scipy import special, stats

import calibrant
import reference
import vote_reference
from accuracy_cases import Case, case, peer, row


def softmax_by_scipy(votes: np.ndarray, weights: np.ndarray, n_classes: int) -> np.ndarray:
    sums = np.stack([(votes == j) @ weights for j in range(n_classes)], axis=1)
    return special.softmax(sums, axis=1)


@row(
    "confidence of an ensemble: softmax and share", covers="ensemble_confidence", bound=2,
    unit="ulp, and 2⁻⁶⁰ of the sum of weights over the temperature, relatively", peer="SciPy",
)  # fmt: skip
def confidence(few: bool) -> Iterator[Case]:
    for members, n_classes in ((3, 2), (9, 3)) if few else ((1, 2), (3, 2), (9, 3), (60, 10)):
        for scale in (1e-3, 1.0, 30.0):
            rng = np.random.default_rng([members, n_classes])
            votes = rng.integers(-1, n_classes, (4, members))
            weights = scale * rng.random(members)
            for combine in ("softmax", "share"):
                found = calibrant.ensemble_confidence(votes, weights, n_classes, combine=combine)
                theirs = softmax_by_scipy(votes, weights, n_classes)
                for i, line in enumerate(votes.tolist()):
                    true = vote_reference.confidence(line, weights, n_classes, combine=combine)
                    for j, truth in enumerate(true):
                        noise = truth * float(weights.sum()) * 2.0**-60 * (combine == "softmax")
                        yield case(
                            found[i, j], truth, least=reference.ulp(truth) + noise,
                            peer=theirs[i, j] if combine == "softmax" else None,
                        )  # fmt: skip


def log_density(x, mean, s, kappa) -> mpmath.mpf:
    """Of the coupled Gaussian in one dimension: a t law, a normal or one with compact support."""
    u, k = (mpmath.mpf(x) - mpmath.mpf(mean)) ** 2 / mpmath.mpf(s), mpmath.mpf(kappa)
    if kappa == 0:
        return -u / 2 - mpmath.log(2 * mpmath.pi * s) / 2
    if kappa > 0:
        nu = 1 / k
        norm = mpmath.loggamma((nu + 1) / 2) - mpmath.loggamma(nu / 2)
        norm -= mpmath.log(nu * mpmath.pi * s) / 2
        return norm - (nu + 1) / 2 * mpmath.log1p(u / nu)
    base = 1 + k * u
    if base <= 0:
        return -mpmath.inf
    shape = (-1 / k - 1) / 2 + 1
    norm = -mpmath.log(mpmath.beta(mpmath.mpf(1) / 2, shape)) + mpmath.log(-k / s) / 2
    return norm - (1 / k + 1) / 2 * mpmath.log(base)


@row(
    "coupled Gaussian: logarithm of the density", covers="CoupledGaussian", bound=12,
    unit="ulp, at least of 1, and (1 + abs(ln p)) 2⁻⁵² for x − mean", peer="SciPy",
)  # fmt: skip
def coupled_gaussian(few: bool) -> Iterator[Case]:
    for kappa in (0.0, 0.5, -0.3) if few else (0.0, 1e-9, 1e-3, 0.5, 2.0, -1e-6, -0.1, -0.3, -0.9):
        law = calibrant.CoupledGaussian(0.25, 2.0, kappa)
        for x in np.linspace(-3, 3, 7 if few else 40).tolist():
            with mpmath.workdps(60):
                true = log_density(x, 0.25, 2.0, kappa)
            theirs = None
            if kappa >= 1e-3:
                theirs = peer(stats.t.logpdf, x, 1 / kappa, 0.25, np.sqrt(2.0))
            scale = 1 + abs(true) if mpmath.isfinite(true) else 0
            yield case(law.logpdf(x), true, scale=scale, peer=theirs)


@row(
    "coupled Gaussians: posterior of several", covers="class_posterior", bound=12,
    unit="ulp, and (1 + the largest abs(ln p)) 2⁻⁵², relatively",
)  # fmt: skip
def posteriors(few: bool) -> Iterator[Case]:
    for kappa in (0.0, 0.5) if few else (0.0, 1e-3, 0.5, 2.0, -1e-6):
        parameters = [(0.25, 2.0), (-1.0, 0.5), (3.0, 1.0)]
        laws = [calibrant.CoupledGaussian(mean, scale, kappa) for mean, scale in parameters]
        for x in np.linspace(-3, 3, 4 if few else 20).tolist():
            found = calibrant.class_posterior([x], laws)[0]
            with mpmath.workdps(60):
                logs = [log_density(x, mean, scale, kappa) for mean, scale in parameters]
                densities = [mpmath.exp(log) for log in logs]
                true = [density / mpmath.fsum(densities) for density in densities]
            largest = max(abs(log) for log in logs)
            for ours, truth in zip(found, true, strict=True):
                yield case(ours, truth, least=truth * (1 + largest) * 2.0**-52)
