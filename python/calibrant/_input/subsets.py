"""A part of the rows, as codes for the core."""

from __future__ import annotations

from typing import Any

import numpy as np

from calibrant._input.columns import read_labels

__all__ = ["LEFT_OUT", "subset_codes"]

#: Of rows that belong to the population, but to no group; and of rows that do not even do that.
IN_NONE, LEFT_OUT = -1, -2


def subset_codes(subset: Any) -> np.ndarray:
    """Return code 0 for the rows of the subset, and that of no group for all others."""
    members = read_labels(subset, "subset")
    if members.dtype != bool:
        raise TypeError(f"subset must be an array of booleans, got dtype {members.dtype}")
    if members.ndim != 1:
        raise ValueError(f"subset must have shape (n,), got shape {members.shape}")
    return np.where(members, np.int32(0), np.int32(IN_NONE))
