"""The walk of cumulative differences in MAPIE's order: by scores with a seeded noise on them."""

from __future__ import annotations

import numbers
import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibrant import _core
from calibrant.compat._arrays import as_double

__all__ = ["AMPLITUDE", "SEED", "jittered", "walk", "walk_range"]

#: MAPIE's tests take no other noise than this.
AMPLITUDE = 1e-8
SEED = 1

#: Their noise is the same in every call, so the first 2^20 factors (8 MiB) are kept.
_MOST_KEPT = 1 << 20
_kept = np.ones(0)
_keeping = threading.Lock()


def _normal(random_state: Any, n: int) -> NDArray[np.float64]:
    """Draw from NumPy's legacy generator, as the argument says."""
    if random_state is None or random_state is np.random:
        return np.random.normal(size=n)  # noqa: NPY002  # the peer's stream
    if isinstance(random_state, numbers.Integral):
        random_state = np.random.RandomState(random_state)  # type: ignore[arg-type]
    if not isinstance(random_state, np.random.RandomState):
        raise ValueError(f"random_state must be None, an integer or a RandomState: {random_state}")
    return random_state.normal(size=n)


def _factors(n: int, amplitude: float, random_state: Any) -> NDArray[np.float64]:
    global _kept
    is_usual = type(random_state) is int and random_state == SEED and amplitude == AMPLITUDE
    if not is_usual or n > _MOST_KEPT:
        return 1 + amplitude * _normal(random_state, n)
    if len(_kept) < n:
        with _keeping:
            if len(_kept) < n:  # shorter draws of a seed are the beginning of longer ones
                drawn = 1 + AMPLITUDE * _normal(SEED, min(max(2 * n, 1024), _MOST_KEPT))
                drawn.flags.writeable = False
                _kept = drawn
    return _kept[:n]


def jittered(x: Any, amplitude: float, random_state: Any) -> Any:
    """Return x times 1 + noise."""
    return x * _factors(len(x), amplitude, random_state)


def _bits(y_true: NDArray[Any], scores: NDArray[np.float64]) -> NDArray[np.uint8] | None:
    """Return labels as the core takes them; None unless they are 0 and 1 and scores >= 0."""
    if y_true.dtype.kind not in "biuf" or not y_true.size or scores.min() < 0.0:
        return None
    if y_true.dtype.kind == "b":
        return y_true.view(np.uint8) if y_true.flags.c_contiguous else y_true.astype(np.uint8)
    labels = (y_true == 1).view(np.uint8)
    zeros = y_true.size - np.count_nonzero(y_true)
    return labels if zeros + np.count_nonzero(labels) == y_true.size else None


def walk(y_true: NDArray[Any], scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the cumulative differences over n, rows in the order of the scores.

    Where equal scores have unequal labels, the order is that of NumPy's sort, as MAPIE's is.
    """
    labels = _bits(y_true, scores)
    if labels is not None:
        ordered, values, mixed = _core.sort_labelled(labels, scores)
        if not mixed:
            return _core.cumulative_walk(ordered, values)
    order = np.argsort(scores)
    return np.asarray(np.cumsum(y_true[order] - scores[order]) / len(scores))


def walk_range(y_true: NDArray[Any], y_score: NDArray[Any]) -> tuple[float, float]:
    """Return the largest and the least of the walk of MAPIE's tests."""
    scores = as_double(jittered(y_score, AMPLITUDE, SEED))
    labels = _bits(y_true, scores)
    if labels is not None:
        highest, lowest, depends_on_ties = _core.walk_range(labels, scores)
        if not depends_on_ties:
            return highest / len(scores), lowest / len(scores)
    places = walk(y_true, scores)
    return float(places.max()), float(places.min())
