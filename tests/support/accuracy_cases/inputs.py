"""Rows of predictions, ordinary and adversarial; seeded."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

Rng = np.random.Generator
Rows = tuple[np.ndarray, np.ndarray, np.ndarray | None]


def with_ends(rng: Rng, n: int) -> np.ndarray:
    """Probabilities 0 and 1, and what lies next to them and to 1/2."""
    ends = [0.0, 1.0, 5e-324, 2.0**-1022, 1 - 2.0**-53, 0.5, 0.5 - 2.0**-54, 2.0**-28, 1e-17]
    return rng.choice(ends, n)


SCORES: dict[str, Callable[[Rng, int], np.ndarray]] = {
    "uniform": lambda rng, n: rng.random(n),
    "ties": lambda rng, n: rng.integers(1, 10, n) / 10,
    "rare": lambda rng, n: rng.beta(0.5, 100, n) + 1e-12,
    "tiny": lambda rng, n: 10.0 ** -rng.uniform(1, 300, n),
    "subnormal": lambda rng, n: rng.integers(1, 2**40, n) * 5e-324,
    "next to 1": lambda rng, n: 1 - rng.integers(1, 100, n) * 2.0**-53,
    "nearly equal": lambda rng, n: 0.7 + rng.integers(0, 4, n) * 2.0**-53,
}

WEIGHTS: dict[str, Callable[[Rng, int], np.ndarray | None]] = {
    "none": lambda _, __: None,
    "integers": lambda rng, n: rng.integers(1, 5, n).astype(float),
    "decimal": lambda rng, n: np.ldexp(np.rint(10.0 ** rng.uniform(0, 12, n)), -10),
    "wide": lambda rng, n: 10.0 ** rng.uniform(-8, 8, n),
}

# Within 80 binary digits, which is where sorted sums of weights are exact.
SPAN_OF_80 = ("none", "integers", "decimal")
ANY = ("none", "integers", "wide")

FEW = (1, 2, 30)
SIZES = (1, 2, 3, 10, 30, 100, 1000, 10_000)
LARGE = ("uniform", "tiny")  # 10,000 rows of these only: truths take time


def predictions(
    few: bool,
    *,
    most: int = 10_000,
    least: int = 1,
    ends: bool = True,
    weights: tuple[str, ...] = ANY,
) -> Iterator[Rows]:
    """Yield (y_true, y_proba, sample_weight) of both classes, where there are two rows."""
    scores = {**SCORES, "ends": with_ends} if ends else SCORES
    for i, (kind, draw) in enumerate(scores.items()):
        for n in FEW if few else SIZES:
            if not least <= n <= (most if kind in LARGE else min(most, 1000)):
                continue
            for j, weighing in enumerate(weights):
                rng = np.random.default_rng([n, i, j])
                p = draw(rng, n)
                y = (rng.random(n) < 0.3 + 0.4 * p).astype(np.int64)
                y[: 2 * (n > 1)] = [0, 1][: 2 * (n > 1)]
                yield y, p, WEIGHTS[weighing](rng, n)


def classes(few: bool, *, most: int = 1000) -> Iterator[Rows]:
    """Yield (y_true, y_proba, sample_weight) of 3 to 100 classes."""
    for k in (3,) if few else (3, 10, 100):
        for n in FEW if few else SIZES:
            if n * k > 10 * most:
                continue
            for j, (sharpness, weighing) in enumerate([(1.0, "none"), (0.02, "wide")]):
                rng = np.random.default_rng([n, k, j])
                p = np.maximum(rng.dirichlet(np.full(k, sharpness), n), 1e-300)
                yield rng.integers(0, k, n), p, WEIGHTS[weighing](rng, n)


def weights_of(p: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """Return the weights, ones if there are none."""
    return np.ones(len(p)) if weights is None else weights


def listed(weights: np.ndarray | None) -> list[float] | None:
    """Return the weights as the references take them."""
    return None if weights is None else weights.tolist()
