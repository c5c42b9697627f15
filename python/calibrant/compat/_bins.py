"""Bins that are closed on the right, and the order statistics that quantiles need."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibrant import _core

__all__ = ["order_statistics", "percentiles", "right_closed", "right_closed_edges"]

#: Below, NumPy's partition is as fast as looking where the ranks are.
_FEW_ROWS = 20_000
_CELLS = 1 << 14


def right_closed_edges(edges: NDArray[np.float64]) -> list[float]:
    """Return the core's edges of bins (a, b] over [0, 1]: all up to the first, ..., the rest.

    The core's bins are [a, b): a score is at most an edge if it is below the next double.
    """
    cuts = np.nextafter(np.unique(edges), 2.0)
    inner = cuts[(cuts > 0.0) & (cuts < 1.0)]
    return [0.0, *inner.tolist(), 1.0]


def right_closed(edges: NDArray[np.float64]) -> _core.Reliability:
    """Return an empty table of the same bins."""
    return _core.Reliability(right_closed_edges(edges))


def order_statistics(values: NDArray[np.float64], ranks: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the values of these ranks, from 0; values are finite and not negative."""
    if values.size < _FEW_ROWS:
        return np.sort(values)[ranks]
    top = float(values.max())
    scale = _CELLS / top if top > 0.0 else np.inf
    if not np.isfinite(scale):
        return np.partition(values, ranks)[ranks]
    cells = (values * scale).astype(np.int32)  # rises with the value, so cells are in order
    ends = np.cumsum(np.bincount(cells, minlength=_CELLS + 1))
    wanted = np.searchsorted(ends, ranks, side="right")
    of_interest = np.zeros(len(ends), bool)
    of_interest[wanted] = True
    rows = np.diff(ends, prepend=0)
    if rows[of_interest].sum() > values.size // 4:
        return np.partition(values, ranks)[ranks]
    kept = np.sort(values[of_interest[cells]])
    below = np.cumsum(np.where(of_interest, 0, rows))  # left out, up to and with a cell
    return np.asarray(kept[ranks - below[wanted]])


def percentiles(values: NDArray[Any], quantiles: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what ``np.percentile(values, quantiles * 100)`` returns, for probabilities."""
    values = values.astype(np.float64, copy=False)
    places = (values.size - 1) * (quantiles * 100 / 100)
    low = np.floor(places).astype(np.intp)
    high = np.minimum(low + 1, values.size - 1)
    ranks, index = np.unique(np.concatenate([low, high]), return_inverse=True)
    found = order_statistics(values, ranks)[index]
    below, above = found[: low.size], found[low.size :]
    share, step = places - low, above - below
    return np.where(share >= 0.5, above - step * (1 - share), below + step * share)
