"""Binary and multiclass predictions that are right on average, seeded by nothing but their size."""

from __future__ import annotations

import numpy as np


def binary(n: int, dtype: str = "float64") -> tuple[np.ndarray, np.ndarray]:
    """Outcomes, and the probabilities they were drawn with."""
    rng = np.random.default_rng(20170619)
    y_proba = rng.random(n).astype(dtype)
    return (rng.random(n) < y_proba).astype(np.int64), y_proba


def weighted(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return (*binary(n), np.random.default_rng(7).random(n))


def ten_classes(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    y_proba = rng.dirichlet(np.ones(10), n)
    chosen = (rng.random((n, 1)) > np.cumsum(y_proba, axis=1)).sum(axis=1)
    return np.minimum(chosen, 9), y_proba
