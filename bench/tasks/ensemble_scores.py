"""Scores of ensembles beside scoringrules, on its fastest backend."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np

import calibrant
from bench.task import Peer, Task

DRAWS = 100
SIZES = (10**3, 10**4, 10**5)
BACKEND = "numba" if find_spec("numba") else "numpy"
NAME = f"scoringrules ({BACKEND})"
#: What scoringrules calls the number: the fastest of its estimators that give it.
THEIRS = {"standard": "qd", "fair": "pwm"}


def ensembles(n, dtype="float64", draws=DRAWS):
    rng = np.random.default_rng(20170619)
    x = rng.standard_normal((n, draws)).astype(dtype)
    return rng.standard_normal(n).astype(dtype), x


def weighted(n):
    y, x = ensembles(n)
    weight = np.random.default_rng(1).random(x.shape)
    return y, x, weight / weight.sum(1, keepdims=True)


def points(d):
    def make(n):
        rng = np.random.default_rng(20170619)
        return rng.standard_normal((n, d)), rng.standard_normal((n, DRAWS, d))

    return make


def normals(n):
    rng = np.random.default_rng(5)
    return rng.normal(size=n), rng.normal(size=n), rng.gamma(2.0, size=n)


def scoringrules(function, rtol=1e-9, **options):
    def call(*data):
        import scoringrules

        return getattr(scoringrules, function)(*data, backend=BACKEND, **options)

    return Peer(NAME, call, needs="scoringrules", rtol=rtol, atol=rtol)


def weighted_peer(y, x, weight):
    import scoringrules

    return scoringrules.crps_ensemble(y, x, ens_w=weight, estimator="qd", backend=BACKEND)


def crps(estimator, dtype, rtol):
    return Task(
        f"crps_ensemble, {estimator}, {dtype}",
        lambda n: ensembles(n, dtype),
        lambda y, x: calibrant.crps_ensemble(y, x, estimator=estimator),
        (scoringrules("crps_ensemble", rtol, estimator=THEIRS[estimator]),),
        sizes=SIZES,
        limit=10**6,
    )


TASKS = (
    crps("standard", "float64", 1e-9),
    crps("fair", "float64", 1e-9),
    crps("standard", "float32", 1e-4),
    Task(
        "crps_ensemble, weighted draws",
        weighted,
        lambda y, x, w: calibrant.crps_ensemble(y, x, draw_weight=w),
        (Peer(NAME, weighted_peer, needs="scoringrules", atol=1e-9),),
        sizes=SIZES,
        limit=10**6,
    ),
    Task(
        "energy_score, 3 dimensions",
        points(3),
        calibrant.energy_score,
        (scoringrules("es_ensemble"),),
        sizes=(100, 1000, 10**4),
        limit=10**5,
    ),
    Task(
        "variogram_score, 20 dimensions",
        points(20),
        calibrant.variogram_score,
        (scoringrules("vs_ensemble"),),
        sizes=(10, 100, 1000),
        limit=10**4,
    ),
    Task(
        "crps_normal",
        normals,
        calibrant.crps_normal,
        (scoringrules("crps_normal"),),
    ),
)
