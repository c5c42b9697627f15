"""Scores of ensembles beside scoringrules, on its fastest backend."""

from importlib.util import find_spec

import numpy as np

import calibrant
from bench.case import Case, benchmarks, peer

DRAWS = 100
BACKEND = "numba" if find_spec("numba") else "numpy"
THEIR_NAME = f"scoringrules ({BACKEND})"
#: What scoringrules calls the number: the fastest of its estimators that give it.
THEIRS = {"standard": "qd", "fair": "pwm"}


def ensembles(n, dtype="float64"):
    rng = np.random.default_rng(20170619)
    x = rng.standard_normal((n, DRAWS)).astype(dtype)
    return rng.standard_normal(n).astype(dtype), x


def weighted(n):
    y, x = ensembles(n)
    weight = np.random.default_rng(1).random(x.shape)
    return y, x, weight / weight.sum(1, keepdims=True)


def points(n, d):
    rng = np.random.default_rng(20170619)
    return rng.standard_normal((n, d)), rng.standard_normal((n, DRAWS, d))


def normals(n):
    rng = np.random.default_rng(5)
    return rng.normal(size=n), rng.normal(size=n), rng.gamma(2.0, size=n)


def scoringrules(function, rtol=1e-9, keyword="", **options):
    path, options = f"scoringrules.{function}", {**options, "backend": BACKEND}
    return (peer(THEIR_NAME, path, options, rtol=rtol, atol=rtol, keyword=keyword),)


def crps(estimator, dtype, rtol):
    return Case(
        f"crps_ensemble, {estimator}, {dtype}",
        lambda n: ensembles(n, dtype),
        lambda y, x: calibrant.crps_ensemble(y, x, estimator=estimator),
        scoringrules("crps_ensemble", rtol, estimator=THEIRS[estimator]),
        most=10**5,
    )


test_ensemble_scores = benchmarks(
    crps("standard", "float64", 1e-9),
    crps("fair", "float64", 1e-9),
    crps("standard", "float32", 1e-4),
    Case("crps_ensemble, weighted draws", weighted,
         lambda y, x, w: calibrant.crps_ensemble(y, x, draw_weight=w),
         scoringrules("crps_ensemble", keyword="ens_w", estimator="qd"), most=10**5),
    Case("energy_score, 3 dimensions", lambda n: points(n, 3), calibrant.energy_score,
         scoringrules("es_ensemble"), most=10**4),
    Case("variogram_score, 20 dimensions", lambda n: points(n, 20), calibrant.variogram_score,
         scoringrules("vs_ensemble"), most=10**3),
    Case("crps_normal", normals, calibrant.crps_normal, scoringrules("crps_normal"), most=10**7),
)  # fmt: skip
