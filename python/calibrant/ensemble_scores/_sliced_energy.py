"""What the sliced energy score gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant._result import Result
from calibrant.ensemble_scores._rows import Array

__all__ = ["SlicedEnergyScore"]


@dataclass(frozen=True, repr=False, eq=False)
class SlicedEnergyScore(Result):
    """Energy scores estimated along random directions.

    Attributes
    ----------
    score : array of shape (...)
        ``np.asarray(result)`` is the same.
    standard_error : array of shape (...)
        Of each score, from the spread over the directions.
    n_directions : int
    """

    score: Array
    standard_error: Array
    n_directions: int

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.array(self.score, dtype=dtype, copy=copy)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields by name, ready for JSON; arrays become lists."""
        return {
            "score": np.asarray(self.score).tolist(),
            "standard_error": np.asarray(self.standard_error).tolist(),
            "n_directions": self.n_directions,
        }

    def __repr__(self) -> str:
        with np.printoptions(precision=6, threshold=6, edgeitems=2):
            score, error = (
                f"{float(x):.6g}" if np.ndim(x) == 0 else str(x)
                for x in (self.score, self.standard_error)
            )
        return (
            f"SlicedEnergyScore(score={score}, standard_error={error}, "
            f"n_directions={self.n_directions})"
        )
