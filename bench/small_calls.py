"""Microseconds of a call on 100 rows, and milliseconds that importing adds to NumPy."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from typing import Any

import numpy as np

import calibrant
from calibrant import streaming

ROWS = 100


def calls() -> dict[str, Any]:
    rng = np.random.default_rng(1)
    y, p = rng.integers(0, 2, ROWS), rng.random(ROWS)
    label, classes = rng.integers(0, 3, ROWS), rng.dirichlet(np.ones(3), ROWS)
    profile, scores = streaming.RiskProfile(), streaming.Scores()
    ece = calibrant.expected_calibration_error
    return {
        "risk_profile": lambda: calibrant.risk_profile(y, p),
        "streaming.RiskProfile.update": lambda: profile.update(y, p),
        "streaming.Scores.update": lambda: scores.update(y, p),
        "brier_score": lambda: calibrant.brier_score(y, p),
        "log_score": lambda: calibrant.log_score(y, p),
        "spherical_score": lambda: calibrant.spherical_score(y, p),
        "expected_calibration_error": lambda: ece(y, p),
        "expected_calibration_error, quantile": lambda: ece(y, p, strategy="quantile"),
        "maximum_calibration_error": lambda: calibrant.maximum_calibration_error(y, p),
        "top_label_ece": lambda: calibrant.top_label_ece(label, classes),
        "classwise_ece": lambda: calibrant.classwise_ece(label, classes),
        "smooth_calibration_error": lambda: calibrant.smooth_calibration_error(y, p),
        "roc_auc": lambda: calibrant.roc_auc(y, p),
        "ks_test": lambda: calibrant.ks_test(y, p),
        "spiegelhalter_test": lambda: calibrant.spiegelhalter_test(y, p),
    }


#: Scalar scores, which are to take 20 µs at most.
SCALAR = (
    "brier_score", "log_score", "spherical_score", "expected_calibration_error",
    "expected_calibration_error, quantile", "maximum_calibration_error", "top_label_ece",
    "classwise_ece", "smooth_calibration_error", "roc_auc",
)  # fmt: skip


def microseconds(call: Any, rounds: int) -> float:
    call()
    best = np.inf
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(100):
            call()
        best = min(best, (time.perf_counter() - start) / 100)
    return float(1e6 * best)


def import_milliseconds(rounds: int) -> float:
    """How much later a process is done with `import calibrant` after `import numpy`.

    With compiled modules, as an installation has them.
    """
    clocked = (
        "import time, numpy; start = time.perf_counter(); import calibrant; "
        "print(time.perf_counter() - start)"
    )
    command = [sys.executable, "-c", clocked]
    with tempfile.TemporaryDirectory() as cache:
        settings = {**os.environ, "PYTHONPYCACHEPREFIX": cache, "PYTHONDONTWRITEBYTECODE": ""}
        runs = [
            subprocess.run(command, capture_output=True, check=True, env=settings).stdout
            for _ in range(1 + rounds)  # the first compiles
        ]
    return 1e3 * min(float(run) for run in runs)


def measure(*, quick: bool = False) -> dict[str, Any]:
    rounds = 5 if quick else 40
    found = {name: microseconds(call, rounds) for name, call in calls().items()}
    return {"microseconds": found, "import_ms": import_milliseconds(2 if quick else 7)}


if __name__ == "__main__":
    for name, value in measure()["microseconds"].items():
        print(f"{name:40} {value:6.1f} µs")
