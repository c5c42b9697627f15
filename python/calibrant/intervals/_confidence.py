"""How coverages get their confidence intervals, and numbers by level."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from statistics import NormalDist
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calibrant._input.validation import checked_choice

__all__ = [
    "ByLevel",
    "CiMethod",
    "Confidence",
    "by_level",
    "checked_eta",
    "checked_level",
    "confidence",
    "nominal_levels",
]

CiMethod = Literal["wilson", "exact"]

#: One number for one level, an array of shape (k,) for k levels.
ByLevel = float | NDArray[np.float64]


class Confidence(NamedTuple):
    """How the interval of a coverage is found, as the core takes it."""

    exact: bool
    tail: float
    normal_quantile: float


def checked_level(level: Any, name: str) -> float:
    """Return it as a float strictly between 0 and 1, or say what is wrong with it."""
    if isinstance(level, bool) or not isinstance(level, numbers.Real):
        raise TypeError(f"{name} must be a real number, got {level!r}")
    if not 0.0 < float(level) < 1.0:
        raise ValueError(f"{name} must lie strictly between 0 and 1, got {float(level)}")
    return float(level)


def confidence(ci_level: Any, ci_method: Any) -> Confidence:
    """Check both arguments."""
    level = checked_level(ci_level, "ci_level")
    checked_choice(ci_method, "ci_method", ("wilson", "exact"))
    tail = 0.5 * (1.0 - level)
    return Confidence(ci_method == "exact", tail, -NormalDist().inv_cdf(tail))


def nominal_levels(confidence_level: Any) -> list[float]:
    """Return the nominal levels as a list; a number stands for one level."""
    if isinstance(confidence_level, numbers.Real):
        return [checked_level(confidence_level, "confidence_level")]
    if isinstance(confidence_level, str) or not hasattr(confidence_level, "__iter__"):
        raise TypeError(
            f"confidence_level must be a number, or one a level, got {confidence_level!r}"
        )
    levels = [checked_level(level, "confidence_level") for level in confidence_level]
    if not levels:
        raise ValueError("confidence_level must name at least one level, got none")
    return levels


def checked_eta(eta: Any) -> float:
    """Return it as a float, or say what is wrong with it."""
    if not isinstance(eta, numbers.Real):
        raise TypeError(f"eta must be a real number, got {eta!r}")
    if not math.isfinite(float(eta)):
        raise ValueError(f"eta must be finite, got {float(eta)}")
    return float(eta)


def by_level(values: Sequence[float]) -> ByLevel:
    """Return the number of one level, the array of several."""
    return values[0] if len(values) == 1 else np.array(values, dtype=np.float64)
