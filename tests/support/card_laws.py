"""Laws of probabilities, scores made of them, and the numbers of a scorecard of all rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from calibrated_rows import outcomes, sharpened

__all__ = ["DISTORTIONS", "LAWS", "NUMBERS", "Law", "count", "rows", "truth"]

NUMBERS = (
    "base_rate", "hit_rate", "decisiveness", "accuracy", "robustness", "brier", "reliability",
    "resolution", "uncertainty", "brier_skill", "log", "spherical", "ece", "mce", "auc",
    "class_frequencies",
)  # fmt: skip


@dataclass(frozen=True)
class Law:
    """Draws probabilities; n of them."""

    draw: Callable[[np.random.Generator, int], np.ndarray]
    most: int = 4_000_000  # rows that stand for all


def _logistic(x: np.ndarray) -> np.ndarray:
    return 1.0 / (1.0 + np.exp(-x))


LAWS: dict[str, Law] = {
    "uniform": Law(lambda rng, n: rng.random(n)),
    "Beta(0.2, 0.2)": Law(lambda rng, n: rng.beta(0.2, 0.2, n)),
    "logit-normal(0, 1)": Law(lambda rng, n: _logistic(rng.standard_normal(n))),
    "Beta(0.5, 9.5), 5 %": Law(lambda rng, n: rng.beta(0.5, 9.5, n)),
    "logit-normal(-3.5, 1), 4.5 %": Law(lambda rng, n: _logistic(-3.5 + rng.standard_normal(n))),
    "Beta(0.5, 49.5), 1 %": Law(lambda rng, n: rng.beta(0.5, 49.5, n)),
    "logit-normal(-5.5, 1.3), 0.9 %": Law(
        lambda rng, n: _logistic(-5.5 + 1.3 * rng.standard_normal(n))
    ),
    "Beta(2, 198), 1 %": Law(lambda rng, n: rng.beta(2.0, 198.0, n)),
    "4 classes, Dirichlet(1)": Law(lambda rng, n: rng.dirichlet(np.ones(4), n), 1_000_000),
    "3 classes, one rare": Law(lambda rng, n: rng.dirichlet([5.0, 1.0, 0.05], n), 1_000_000),
    "10 classes, Dirichlet(0.3)": Law(lambda rng, n: rng.dirichlet(np.full(10, 0.3), n), 400_000),
}


def _shifted(p: np.ndarray, by: float) -> np.ndarray:
    """Add to the logit, of the first class if there are several."""
    odds = np.exp(by)
    if p.ndim == 1:
        return p * odds / (1.0 - p + p * odds)
    moved = p * np.array([odds] + [1.0] * (p.shape[1] - 1))
    return moved / moved.sum(axis=1, keepdims=True)


DISTORTIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "calibrated": lambda p: p,
    "sharpened 1.5": lambda p: sharpened(p, 1.5),
    "flattened 0.7": lambda p: sharpened(p, 0.7),
    "shifted up": lambda p: _shifted(p, 0.7),
    "shifted down": lambda p: _shifted(p, -0.7),
}


def _inside(p: np.ndarray) -> np.ndarray:
    """Away from 0 and 1, where the log score would be infinite."""
    if p.ndim == 1:
        return np.clip(p, 1e-300, 1.0 - 2.0**-53)
    p = np.maximum(p, 1e-300)
    return p / p.sum(axis=1, keepdims=True)


def rows(
    law: Law, distortion: str, n: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Draw outcomes, and the scores that are given to them."""
    p = _inside(law.draw(rng, n))
    return outcomes(rng, p), _inside(DISTORTIONS[distortion](p))


def truth(law: Law, distortion: str, n_bins: int = 15) -> dict[str, float | np.ndarray]:
    """Return what a scorecard of infinitely many rows says: expectations, given many scores."""
    p = _inside(law.draw(np.random.default_rng(77), law.most))
    scores = _inside(DISTORTIONS[distortion](p))
    if p.ndim == 1:
        top, hit = scores, p
        columns, chances = np.stack([1 - scores, scores], 1), np.stack([1 - p, p], 1)
        right = np.where(scores >= 0.5, p, 1 - p)
    else:
        columns, chances = scores, p
        label = scores.argmax(axis=1)
        top, hit = scores[np.arange(len(p)), label], p[np.arange(len(p)), label]
        right = hit
    half = 0.5 if p.ndim == 1 else 1.0

    def mean(of_class: np.ndarray) -> float:
        return float((chances * of_class).sum(axis=1).mean())

    squares = (columns**2).sum(axis=1, keepdims=True)
    frequencies = chances.mean(axis=0)
    result: dict[str, float | np.ndarray] = {
        "base_rate": frequencies[1] if p.ndim == 1 else frequencies.max(),
        "hit_rate": right.mean(),
        "decisiveness": mean(columns),
        "log": -mean(np.log(columns)),
        "robustness": mean(columns ** (-2 / 3)) ** -1.5,
        "brier": half * mean(squares + 1 - 2 * columns),
        "spherical": mean(columns / np.sqrt(squares)),
        "class_frequencies": frequencies,
    }
    result["accuracy"] = np.exp(-result["log"])
    result["brier_skill"] = 1 - result["brier"] / (half * (1 - (frequencies**2).sum()))
    o = hit.mean()
    result["uncertainty"] = o * (1 - o)
    bins = np.minimum((top * n_bins).astype(int), n_bins - 1)
    weight, hits, sums = (np.bincount(bins, x, n_bins) for x in (np.ones(len(p)), hit, top))
    some = weight > 0
    share = weight[some] / weight.sum()
    gap = np.abs(hits - sums)[some] / weight[some]
    distance = hits[some] / weight[some] - o
    result |= {
        "ece": share @ gap, "mce": gap.max(), "reliability": share @ gap**2,
        "resolution": share @ distance**2,
    }  # fmt: skip
    order = np.argsort(top)
    misses = 1 - hit[order]
    below = misses.cumsum() - misses / 2
    result["auc"] = (hit[order] @ below) / hit.sum() / misses.sum()
    return result


def count(card, truth: dict, given: dict[str, int], held: dict[str, int]) -> None:
    """Count the intervals of a card, and those that hold the truth; of classes all at once."""
    for name in NUMBERS:
        estimate = getattr(card, name)
        if name == "class_frequencies":
            given[name] += 1
            held[name] += np.mean(
                [e.low <= t <= e.high for e, t in zip(estimate, truth[name], strict=True)]
            )
        elif estimate.low is not None:
            given[name] += 1
            held[name] += estimate.low <= truth[name] <= estimate.high
