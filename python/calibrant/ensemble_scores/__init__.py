"""Scores of ensembles: CRPS, energy score, variogram score and the pinball loss of quantiles.

Every function gives one value per row, of any leading shape; take ``.mean()`` of it.
"""

from __future__ import annotations

from typing import Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike

from calibrant import _core
from calibrant._input.columns import read_numbers
from calibrant._input.draws import checked_seed
from calibrant._input.validation import (
    NanPolicy,
    check_nan_policy,
    checked_choice,
    checked_count,
    checked_number,
)
from calibrant.ensemble_scores._closed_forms import (
    crps_exponential,
    crps_laplace,
    crps_logistic,
    crps_normal,
    crps_uniform,
)
from calibrant.ensemble_scores._rows import (
    Array,
    outcomes_and_draws,
    outcomes_and_points,
    rows_of,
)
from calibrant.ensemble_scores._sliced_energy import SlicedEnergyScore

__all__ = [
    "SlicedEnergyScore",
    "crps_ensemble",
    "crps_exponential",
    "crps_laplace",
    "crps_logistic",
    "crps_normal",
    "crps_uniform",
    "energy_score",
    "quantile_score",
    "variogram_score",
]


def __dir__() -> list[str]:
    return __all__


Estimator = Literal["standard", "fair"] | float


def _fair_share(estimator: Estimator) -> float:
    """1 for the fair estimator, 0 for the standard one, or the mix asked for."""
    if isinstance(estimator, str):
        if estimator in ("standard", "fair"):
            return float(estimator == "fair")
    elif not isinstance(estimator, bool):
        try:
            share = float(estimator)
        except (TypeError, ValueError):
            pass
        else:
            if 0.0 <= share <= 1.0:
                return share
    raise ValueError(
        f"estimator must be 'standard', 'fair' or a fair share in [0, 1], got {estimator!r}"
    )


def crps_ensemble(
    y_true: ArrayLike,
    draws: ArrayLike,
    *,
    estimator: Estimator = "standard",
    draw_weight: ArrayLike | None = None,
    axis: int = -1,
    nan_policy: NanPolicy = "raise",
) -> Array:
    r"""Continuous ranked probability score of ensembles, in O(m log m) per row.

    .. math:: \frac1m \sum_i |x_i - y| - \frac1{2k} \sum_i \sum_j |x_i - x_j|

    with k = m^2 for the standard estimator, and k = m (m - 1) for the fair one. It is 0 for an
    ensemble that lies at y, and never negative, by either estimator; smaller is better.

    Parameters
    ----------
    y_true : array of shape (...)
        What happened. It is broadcast against the leading axes of `draws`.
    draws : array of shape (..., m)
        float32 and float64 are read in place.
    estimator : {"standard", "fair"} or float
        "standard" scores the ensemble itself, taken as the forecast. "fair" is an unbiased
        estimate of the score of the law behind the draws, whatever their number, and needs
        m >= 2. A number a in [0, 1] is the mix a fair + (1 - a) standard ("almost fair").
    draw_weight : array of shape (m,) or (..., m), finite and not negative, optional
        Probabilities of the draws, up to a factor. With weights w of sum W, k becomes W^2 and
        W^2 - sum w^2.
    axis : int
        Which axis of `draws` (and of weights of the same shape) holds the draws.
    nan_policy : {"raise", "omit"}
        "omit" leaves out missing draws. A row whose outcome is missing, or with too few draws
        left, is NaN.

    Returns
    -------
    array of shape (...), float64

    Examples
    --------
    >>> crps_ensemble([2.5], [[4.0, 1.0, 3.0, 2.0]])
    array([0.375])
    >>> crps_ensemble([2.5], [[4.0, 1.0, 3.0, 2.0]], estimator="fair")
    array([0.16666667])
    >>> crps_ensemble(7.0, [0.0, 1.0, 5.0, 9.0], draw_weight=[2, 1, 1, 1])
    np.float64(2.96)
    """
    share, omit = _fair_share(estimator), check_nan_policy(nan_policy)
    y, x, weight, shape = outcomes_and_draws(y_true, draws, draw_weight, axis)
    return _core.crps_ensemble(y, x, weight, share, omit).reshape(shape)[()]


@overload
def energy_score(
    y_true: ArrayLike,
    draws: ArrayLike,
    *,
    estimator: Estimator = ...,
    beta: float = ...,
    scale: ArrayLike | None = ...,
    method: Literal["exact"] = ...,
) -> Array: ...


@overload
def energy_score(
    y_true: ArrayLike,
    draws: ArrayLike,
    *,
    estimator: Estimator = ...,
    beta: float = ...,
    scale: ArrayLike | None = ...,
    method: Literal["sliced"],
    n_directions: int = ...,
    seed: int = ...,
) -> SlicedEnergyScore: ...


def energy_score(
    y_true: ArrayLike,
    draws: ArrayLike,
    *,
    estimator: Estimator = "standard",
    beta: float = 1.0,
    scale: ArrayLike | None = None,
    method: Literal["exact", "sliced"] = "exact",
    n_directions: int = 128,
    seed: int = 0,
) -> Array | SlicedEnergyScore:
    r"""Energy score: the CRPS of several coordinates at once.

    .. math:: \frac1m \sum_i \|x_i - y\|^\beta - \frac1{2k} \sum_i \sum_j \|x_i - x_j\|^\beta

    with the Euclidean norm, and k as for `crps_ensemble`. A coordinate in smaller units counts
    more: see `scale`.

    Parameters
    ----------
    y_true : array of shape (..., d)
    draws : array of shape (..., m, d)
    estimator : {"standard", "fair"} or float
        As for `crps_ensemble`. For beta > 1 a fair score can be negative.
    beta : float, 0 < beta < 2
    scale : array of shape (d,), positive, optional
        Coordinates are divided by it. Take it from what is known before the outcomes, such as
        their standard deviations in the past: a scale that the forecaster can move is not proper.
    method : {"exact", "sliced"}
        "exact" adds up all m (m - 1) / 2 distances, with no m x m array. "sliced" is the mean of
        the CRPS along random directions, an unbiased estimate of the score with beta = 1 in
        O(m log m) for each direction.
    n_directions : int, at least 2
    seed : int, 0 <= seed < 2^64
        Directions are a function of seed and d alone: all rows share them, so that their errors
        go together.

    Returns
    -------
    array of shape (...), float64, or SlicedEnergyScore

    Examples
    --------
    >>> members = [[0.0, 0.0], [3.0, 4.0], [6.0, 8.0]]
    >>> energy_score([0.0, 0.0], members)
    np.float64(2.7777777777777777)
    >>> energy_score([0.0, 0.0], members, estimator="fair")
    np.float64(1.6666666666666667)
    >>> energy_score([0.0, 0.0], members, method="sliced", n_directions=1000)
    SlicedEnergyScore(score=2.79..., standard_error=0.04..., n_directions=1000)
    """
    share = _fair_share(estimator)
    if not 0.0 < checked_number(beta, "beta") < 2.0:
        raise ValueError(f"beta must lie in (0, 2), got {beta!r}")
    y, x, d, shape = outcomes_and_points(y_true, draws)
    factors = _scale(scale, d)
    checked_choice(method, "method", ("exact", "sliced"))
    n_directions = checked_count(n_directions, "n_directions", least=2, most=2**24)
    seed = checked_seed(seed)
    if method == "exact":
        return _core.energy_score(y, x, d, factors, beta, share).reshape(shape)[()]
    if beta != 1.0:
        raise ValueError(f"method 'sliced' needs beta = 1, got {beta!r}")
    score, error = _core.sliced_energy_score(y, x, d, factors, share, n_directions, seed)
    return SlicedEnergyScore(score.reshape(shape)[()], error.reshape(shape)[()], n_directions)


def _scale(scale: ArrayLike | None, d: int) -> list[float]:
    if scale is None:
        return []
    values = read_numbers(scale, "scale")
    if values.shape != (d,):
        raise ValueError(f"scale must have shape ({d},), got shape {values.shape}")
    for k, value in enumerate(values):
        if not 0.0 < value < np.inf:
            raise ValueError(f"scale must be positive and finite, found {value} at coordinate {k}")
    return [float(value) for value in values]


def variogram_score(
    y_true: ArrayLike,
    draws: ArrayLike,
    *,
    p: float = 0.5,
    weights: ArrayLike | None = None,
    estimator: Estimator = "standard",
) -> Array:
    r"""Variogram score (Scheuerer and Hamill 2015): are the coordinates related as they should be?

    .. math:: \sum_k \sum_l w_{kl} \Bigl(|y_k - y_l|^p - \frac1m \sum_i |x_{ik} - x_{il}|^p\Bigr)^2

    over all ordered pairs of coordinates. It does not see what all coordinates have in common,
    such as a bias: use it beside the energy score.

    Parameters
    ----------
    y_true : array of shape (..., d)
    draws : array of shape (..., m, d)
    p : float, 0 < p <= 10
    weights : array of shape (d, d), finite and not negative, optional
        1 for all pairs without it.
    estimator : {"standard", "fair"} or float
        The fair one is less the variance of the mean over draws, which makes it unbiased; it can
        be negative, and needs m >= 2.

    Returns
    -------
    array of shape (...), float64

    Examples
    --------
    >>> variogram_score([0.0, 1.0], [[0.0, 4.0], [2.0, 2.0]], p=1.0)
    np.float64(2.0)
    >>> variogram_score([0.0, 1.0], [[0.0, 4.0], [2.0, 2.0]], p=1.0, estimator="fair")
    np.float64(-6.0)
    """
    share = _fair_share(estimator)
    if not 0.0 < checked_number(p, "p") <= 10.0:
        raise ValueError(f"p must lie in (0, 10], got {p!r}")
    y, x, d, shape = outcomes_and_points(y_true, draws)
    table = _pair_weights(weights, d)
    return _core.variogram_score(y, x, d, table, p, share).reshape(shape)[()]


def _pair_weights(weights: ArrayLike | None, d: int) -> list[float]:
    if weights is None:
        return []
    table = read_numbers(weights, "weights")
    if table.shape != (d, d):
        raise ValueError(f"weights must have shape ({d}, {d}), got shape {table.shape}")
    bad = np.argwhere(~((table >= 0) & (table < np.inf)))
    if len(bad):
        k, j = bad[0]
        raise ValueError(
            f"weights must be finite and not negative, found {table[k, j]} at row {k}, column {j}"
        )
    return [float(w) for w in table.ravel()]


def quantile_score(y_true: ArrayLike, quantiles: ArrayLike, *, levels: ArrayLike) -> Array:
    r"""Pinball loss of predicted quantiles, :math:`(\tau - 1(y < q)) (y - q)`.

    Twice its mean over levels spread evenly over (0, 1) is close to the CRPS.

    Parameters
    ----------
    y_true : array of shape (...)
    quantiles : array of shape (..., q)
    levels : array of shape (q,), in (0, 1)
        What the quantiles claim to be; in any order.

    Returns
    -------
    array of shape (..., q), float64
        One loss per quantile: take the mean over the last axis for one value per row.

    Examples
    --------
    >>> quantile_score([3.0, 0.0], [[1.0, 2.0], [1.0, 2.0]], levels=[0.5, 0.75])
    array([[1.  , 0.75],
           [0.5 , 0.5 ]])
    """
    y, q, _, shape = outcomes_and_draws(y_true, quantiles, None, -1, name="quantiles")
    taus: Any = read_numbers(levels, "levels")
    if taus.shape != (q.shape[1],):
        raise ValueError(f"levels must have shape ({q.shape[1]},), got shape {taus.shape}")
    for k, tau in enumerate(taus):
        if not 0.0 < tau < 1.0:
            raise ValueError(f"levels must lie in (0, 1), found {tau} at index {k}")
    losses = _core.quantile_score(rows_of(y), q, [float(tau) for tau in taus])
    return losses.reshape((*shape, q.shape[1]))
