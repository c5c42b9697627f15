"""Scores whose outcomes are drawn from them: every verdict against them is a false alarm."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

__all__ = ["BINARY", "CLASSES", "outcomes", "sharpened"]

Scores = Callable[[np.random.Generator, int], np.ndarray]


def _logistic(x: np.ndarray) -> np.ndarray:
    return 1.0 / (1.0 + np.exp(-x))


#: Laws of the probability of class 1, by name; each makes n of them.
BINARY: dict[str, Scores] = {
    "uniform": lambda rng, n: rng.random(n),
    "uniform, two decimals": lambda rng, n: np.round(rng.random(n), 2),
    "Beta(0.2, 0.2)": lambda rng, n: rng.beta(0.2, 0.2, n),
    "logit-normal(0, 3)": lambda rng, n: _logistic(3.0 * rng.standard_normal(n)),
    "Beta(0.5, 9.5), 5 %": lambda rng, n: rng.beta(0.5, 9.5, n),
    "Beta(0.5, 49.5), 1 %": lambda rng, n: rng.beta(0.5, 49.5, n),
    "logit-normal(-5, 1.5)": lambda rng, n: _logistic(-5.0 + 1.5 * rng.standard_normal(n)),
    "log-uniform 1e-3 to 1e-2": lambda rng, n: 10.0 ** rng.uniform(-3.0, -2.0, n),
    "log-uniform 1e-6 to 1e-4": lambda rng, n: 10.0 ** rng.uniform(-6.0, -4.0, n),
    "constant 0.3": lambda _, n: np.full(n, 0.3),
    "constant 0.01": lambda _, n: np.full(n, 0.01),
}

#: Laws of the probabilities of several classes.
CLASSES: dict[str, Scores] = {
    "4 classes, Dirichlet(1)": lambda rng, n: rng.dirichlet(np.ones(4), n),
    "10 classes, Dirichlet(0.1)": lambda rng, n: rng.dirichlet(np.full(10, 0.1), n),
    "3 classes, one rare": lambda rng, n: rng.dirichlet([5.0, 1.0, 0.05], n),
}


def outcomes(rng: np.random.Generator, p: np.ndarray) -> np.ndarray:
    """Draw what happens if the probabilities are right."""
    if p.ndim == 1:
        return (rng.random(len(p)) < p).astype(np.int64)
    above = rng.random((len(p), 1)) > p.cumsum(axis=1)
    return np.minimum(above.sum(axis=1), p.shape[1] - 1)


def sharpened(p: np.ndarray, factor: float) -> np.ndarray:
    """Multiply the logits by a factor: above 1, probabilities claim too much."""
    if p.ndim == 1:
        with np.errstate(divide="ignore"):
            return _logistic(factor * (np.log(p) - np.log1p(-p)))
    power = p**factor
    return power / power.sum(axis=1, keepdims=True)
