"""Probability integral transforms; public in `calibrant.ranks`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibrant import _core
from calibrant._input.columns import read_numbers
from calibrant._input.draws import checked_index, checked_seed
from calibrant._runtime.row_chunks import slices

__all__ = ["pit_values", "rank_pit_values"]

Cdf = Callable[[NDArray[Any]], ArrayLike]

#: The largest number below 1.
_BELOW_ONE = 1.0 - 2.0**-53


def pit_values(
    cdf: ArrayLike | Cdf,
    y_true: ArrayLike | None = None,
    *,
    cdf_below: ArrayLike | Cdf | None = None,
    seed: int = 0,
    first_pair: int = 0,
) -> NDArray[np.float64]:
    r"""Probability integral transform of what happened: F(y), uniform if F is calibrated.

    For outcomes that have probabilities of their own, as counts do, F(y) is not uniform; the
    randomised transform is, exactly:

    .. math:: u = F(y-) + V \, (F(y) - F(y-)), \qquad V \sim U[0, 1)

    Parameters
    ----------
    cdf : array of shape (n,), values in [0, 1], or callable
        F(y) of each outcome, or a function that gives it for `y_true`.
    y_true : array of shape (n,), optional
        What happened; for callables only.
    cdf_below : array of shape (n,), values in [0, 1], or callable, optional
        F(y-), the probability of less than y, where outcomes are discrete. For whole numbers it is
        F(y - 1).
    seed, first_pair
        Of V, as for `sbc_ranks`.

    Returns
    -------
    array of float64, shape (n,)

    Examples
    --------
    >>> pit_values(lambda y: 1 - np.exp(-y), [0.0, np.log(2.0)])
    array([0. , 0.5])

    A fair coin that fell 0, 0, 1:

    >>> pit_values([0.5, 0.5, 1.0], cdf_below=[0.0, 0.0, 0.5]).round(3)
    array([0.081, 0.142, 0.628])
    """
    if callable(y_true):
        raise TypeError("cdf and y_true look swapped: cdf comes first, got a function as y_true")
    outcomes = None if y_true is None else _outcomes(y_true)
    seed, first_pair = checked_seed(seed), checked_index(first_pair)
    upper = _probabilities(cdf, outcomes, "cdf")
    if cdf_below is None:
        return upper
    lower = _probabilities(cdf_below, outcomes, "cdf_below")
    if lower.shape != upper.shape:
        raise ValueError(f"cdf_below must have the shape of cdf, {upper.shape}, got {lower.shape}")
    noise = _noise(len(upper), 1, seed, first_pair)[:, 0]
    for rows in slices(upper.shape):
        crossed = np.flatnonzero(lower[rows] > upper[rows])
        if crossed.size:
            i = rows.start + crossed[0]
            raise ValueError(
                f"cdf_below must not be above cdf, found {lower[i]} > {upper[i]} at row {i}"
            )
        upper[rows] = lower[rows] + noise[rows] * (upper[rows] - lower[rows])
    return upper


def _outcomes(y_true: Any) -> NDArray[Any]:
    found = read_numbers(y_true, "y_true")
    bad = np.argwhere(~np.isfinite(found))
    if len(bad):
        where = f" at row {bad[0][0]}" if found.ndim else ""
        raise ValueError(f"y_true must be finite, found {found[tuple(bad[0])]}{where}")
    return found


def _probabilities(cdf: Any, outcomes: NDArray[Any] | None, name: str) -> NDArray[np.float64]:
    if callable(cdf):
        if outcomes is None:
            raise TypeError(f"y_true must be given if {name} is a function")
        found = np.asarray(cdf(outcomes), np.float64)
        if found.shape != outcomes.shape:
            raise ValueError(
                f"{name} must return numbers of shape {outcomes.shape}, got shape {found.shape}"
            )
    else:
        found = read_numbers(cdf, name)
        if outcomes is not None and found.shape != outcomes.shape:
            raise ValueError(f"{name} must have the shape of y_true, {outcomes.shape}, "
                             f"got {found.shape}")  # fmt: skip
    if found.ndim != 1:
        raise ValueError(f"{name} must have shape (n,), got shape {found.shape}")
    values = np.empty(found.shape)  # our own
    for rows in slices(found.shape):
        part = found[rows]
        bad = np.flatnonzero(~((part >= 0.0) & (part <= 1.0)))
        if bad.size:
            is_swapped = outcomes is not None and np.all((outcomes >= 0.0) & (outcomes <= 1.0))
            hint = f"; {name} and y_true look swapped: {name} comes first" if is_swapped else ""
            where = f"at row {rows.start + bad[0]}{hint}"
            raise ValueError(f"{name} must lie in [0, 1], found {part[bad[0]]} {where}")
        values[rows] = part + 0.0
    return values


def rank_pit_values(
    ranks: ArrayLike, n_draws: int, *, seed: int = 0, first_pair: int = 0
) -> NDArray[np.float64]:
    r"""Transform ranks among draws to values in [0, 1) that are exactly uniform if calibrated.

    .. math:: u = (r + V) / (M + 1), \qquad V \sim U[0, 1)

    r / M, which others use, takes M + 1 values from 0 to 1 and so is not uniform.

    Parameters
    ----------
    ranks : array of whole numbers from 0 to n_draws, shape (n,) or (n, d)
    n_draws : int
        M.
    seed, first_pair
        Of V, as for `sbc_ranks`.

    Returns
    -------
    array of float64, of the shape of ranks

    Examples
    --------
    >>> rank_pit_values([0, 2, 4], n_draws=4).round(3)
    array([0.032, 0.457, 0.851])
    """
    state = _core.Ranks(checked_index(n_draws, "n_draws"), 1, 0)
    found = read_numbers(ranks, "ranks")
    state.update_ranks(found.reshape(-1) if found.ndim == 2 else found)
    dims = found.shape[1] if found.ndim == 2 else 1
    values = _noise(len(found), dims, seed, first_pair).reshape(found.shape)
    for pairs in slices(found.shape):
        values[pairs] = np.minimum((found[pairs] + values[pairs]) / (n_draws + 1), _BELOW_ONE)
    return values


def _noise(n: int, dims: int, seed: int, first_pair: int) -> NDArray[np.float64]:
    return _core.uniforms(n, dims, "pit", checked_seed(seed), checked_index(first_pair))
