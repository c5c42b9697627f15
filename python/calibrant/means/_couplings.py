"""Nonlinear couplings, and the powers of generalized means that belong to them."""

from __future__ import annotations

import math
from typing import Literal

from calibrant._input.validation import checked_choice, checked_count, checked_number

__all__ = ["coupling_to_power", "power_to_coupling"]

Convention = Literal["score", "shape"]


def coupling_to_power(
    coupling: float, *, dimension: int = 1, exponent: float = 2.0, convention: Convention = "score"
) -> float:
    """Power of the generalized mean that belongs to a nonlinear coupling k.

    With the convention "score", m = -a k / (1 + d k): the power under which the coupled
    Gaussian of coupling k is scored, so 1/2 gives -2/3 and -1/3 gives 1. With "shape",
    m = a k / (1 + d k) = q - 1 as printed in Nelson 2017, eq. 11: the Tsallis parameter of
    the distribution's own shape. They differ in sign.

    Parameters
    ----------
    coupling : float, 1 + dimension * coupling > 0
        0 is the exponential family, above it heavy tails, below it compact support.
    dimension : int, positive
        d, of the distribution.
    exponent : float, positive
        a: 2 generalizes the Gaussian, 1 the exponential distribution.
    convention : {"score", "shape"}

    Examples
    --------
    >>> coupling_to_power(0.5)
    -0.6666666666666666
    >>> coupling_to_power(0.5, convention="shape")
    0.6666666666666666
    """
    sign = _sign(convention)
    _check_scale(dimension, exponent)
    if not math.isfinite(checked_number(coupling, "coupling")) or 1 + dimension * coupling <= 0:
        raise ValueError(
            f"coupling must be finite and exceed -1/dimension = {-1 / dimension}, got {coupling!r}"
        )
    return sign * exponent * (coupling / (1 + dimension * coupling)) + 0.0  # not -0


def power_to_coupling(
    power: float, *, dimension: int = 1, exponent: float = 2.0, convention: Convention = "score"
) -> float:
    """Nonlinear coupling that belongs to a power: the inverse of `coupling_to_power`.

    Examples
    --------
    >>> power_to_coupling(1)
    -0.3333333333333333
    >>> power_to_coupling(0.5, convention="shape")
    0.3333333333333333
    """
    sign = _sign(convention)
    _check_scale(dimension, exponent)
    shape_power = sign * checked_number(power, "power")
    if not math.isfinite(power) or exponent - dimension * shape_power <= 0:
        side = "exceed" if convention == "score" else "be below"
        limit = sign * exponent / dimension
        raise ValueError(f"power must be finite and {side} {limit!r}, got {power!r}")
    return shape_power / (exponent - dimension * shape_power) + 0.0  # not -0


def _sign(convention: str) -> int:
    checked_choice(convention, "convention", ("score", "shape"))
    return -1 if convention == "score" else 1


def _check_scale(dimension: int, exponent: float) -> None:
    checked_count(dimension, "dimension")
    if not 0 < checked_number(exponent, "exponent") < math.inf:
        raise ValueError(f"exponent must be positive and finite, got {exponent!r}")
