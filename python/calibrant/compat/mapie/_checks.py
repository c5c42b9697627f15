"""What several metrics of MAPIE reject, and how they read labels."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibrant.compat._arrays import column, finite

__all__ = [
    "binary_labels",
    "check_levels",
    "check_number_of_bins",
    "outcome_column",
    "zero_one",
]

#: The largest float32 or float64 arrays may be levels, but not integers or float16.
_LEVEL_TYPES = (np.float32, np.float64)


def check_number_of_bins(num_bins: Any) -> int:
    """Return it, if it is a positive integer."""
    if not isinstance(num_bins, int):
        raise ValueError(f"num_bins must be an integer, got {num_bins!r}")
    if num_bins < 1:
        raise ValueError(f"num_bins must be at least 1, got {num_bins}")
    return num_bins


def check_levels(confidence_level: Any) -> None:
    """Reject what is neither a float in [0, 1] nor a list of such; None passes, as in MAPIE."""
    if confidence_level is None:
        return
    if not isinstance(confidence_level, (float, Iterable)):
        raise ValueError(f"confidence_level must be a float or a list, got {confidence_level!r}")
    levels = np.atleast_1d(np.asarray(confidence_level))
    if levels.ndim != 1 or levels.dtype.type not in _LEVEL_TYPES:
        raise ValueError(f"confidence_level must hold floats, got {confidence_level!r}")
    if ((levels < 0) | (levels > 1)).any():
        raise ValueError(f"confidence_level must lie in [0, 1], got {confidence_level!r}")


def outcome_column(value: Any, name: str) -> NDArray[Any]:
    """Return a vector of finite real numbers."""
    values = column(value, name)
    if values.dtype.kind not in "biuf":
        raise TypeError(f"{name} must hold real numbers, got {values.dtype}")
    return finite(values, name)


def zero_one(values: NDArray[Any], name: str) -> NDArray[Any]:
    """Return labels 0 and 1 of any type; that there is nothing between, the core checks."""
    if values.dtype.kind not in "biuf":
        raise TypeError(f"{name} must hold 0 and 1, got {values.dtype}")
    if values.size == 0:
        raise ValueError(f"{name} must have at least one row, got none")
    return values


def binary_labels(values: NDArray[Any], name: str) -> NDArray[Any]:
    """Return labels 0 and 1; of two other labels, the larger is 1."""
    values = zero_one(values, name)
    if values.dtype.kind == "b":
        return values
    least, largest = values.min(), values.max()
    if least >= 0 and largest <= 1:
        return values
    is_largest = values == largest
    if least == largest or not (is_largest | (values == least)).all() or largest % 1 or least % 1:
        raise ValueError(f"{name} must hold two labels, 0 and 1")
    return np.asarray(is_largest)
