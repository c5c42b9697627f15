"""The CRPS of a few laws in closed form."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from calibrant import _core
from calibrant._input.columns import read_numbers
from calibrant.ensemble_scores._rows import Array, rows_of

__all__ = ["crps_exponential", "crps_laplace", "crps_logistic", "crps_normal", "crps_uniform"]


def _crps(law: str, y_true: Any, loc: Any, scale: Any) -> Array:
    named = [("y_true", y_true), ("loc", loc), ("scale", scale)]
    arrays = [read_numbers(value, name) for name, value in named]
    try:
        shape = np.broadcast_shapes(*(array.shape for array in arrays))
    except ValueError:
        raise ValueError(
            "y_true, loc and scale must broadcast against each other, got shapes "
            + ", ".join(str(array.shape) for array in arrays)
        ) from None
    rows = [rows_of(np.broadcast_to(array, shape)) for array in arrays]
    return _core.crps_of_law(law, *rows).reshape(shape)[()]


def crps_normal(y_true: ArrayLike, loc: ArrayLike = 0.0, scale: ArrayLike = 1.0) -> Array:
    r"""CRPS of normal forecasts: s (z (2 Phi(z) - 1) + 2 phi(z) - 1 / sqrt(pi)), z = (y - loc) / s.

    Parameters
    ----------
    y_true, loc, scale : arrays that broadcast against each other
        What happened, means and standard deviations.

    Returns
    -------
    array of the common shape, float64

    Examples
    --------
    >>> crps_normal(0.0)
    np.float64(0.23369497725510...)
    >>> crps_normal([1.0, 2.0], loc=1.5, scale=[0.5, 1.0])
    array([0.30122068, 0.33140353])
    """
    return _crps("normal", y_true, loc, scale)


def crps_logistic(y_true: ArrayLike, loc: ArrayLike = 0.0, scale: ArrayLike = 1.0) -> Array:
    r"""CRPS of logistic forecasts: s (\|z\| + 2 log(1 + exp(-\|z\|)) - 1), z = (y - loc) / s.

    Arguments and result are those of `crps_normal`.

    Examples
    --------
    >>> crps_logistic(0.0)
    np.float64(0.38629436111989...)
    """
    return _crps("logistic", y_true, loc, scale)


def crps_laplace(y_true: ArrayLike, loc: ArrayLike = 0.0, scale: ArrayLike = 1.0) -> Array:
    r"""CRPS of Laplace forecasts: s (\|z\| + exp(-\|z\|) - 3/4), z = (y - loc) / s.

    Arguments and result are those of `crps_normal`.

    Examples
    --------
    >>> crps_laplace(0.0)
    np.float64(0.25)
    """
    return _crps("laplace", y_true, loc, scale)


def crps_uniform(y_true: ArrayLike, loc: ArrayLike = 0.0, scale: ArrayLike = 1.0) -> Array:
    r"""CRPS of forecasts that are uniform on [loc, loc + scale].

    With z = (y - loc) / s it is s (z^2 - z + 1/3) within, and s/3 more than the distance
    without. Arguments and result are those of `crps_normal`.

    Examples
    --------
    >>> crps_uniform([0.5, 2.0])
    array([0.08333333, 1.33333333])
    """
    return _crps("uniform", y_true, loc, scale)


def crps_exponential(y_true: ArrayLike, loc: ArrayLike = 0.0, scale: ArrayLike = 1.0) -> Array:
    r"""CRPS of exponential forecasts that begin at loc and have the mean loc + scale.

    With z = (y - loc) / s it is s (z + 2 exp(-z) - 3/2) for z >= 0, and s (1/2 - z) below.
    Arguments and result are those of `crps_normal`.

    Examples
    --------
    >>> crps_exponential([0.0, -1.0])
    array([0.5, 1.5])
    """
    return _crps("exponential", y_true, loc, scale)
