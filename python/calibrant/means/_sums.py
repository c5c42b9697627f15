"""Sums of powers and logarithms of probabilities, from which generalized means are read."""

from __future__ import annotations

import numbers
from collections.abc import Iterable
from typing import Any

from numpy.typing import ArrayLike

from calibrant import _core
from calibrant._input.validation import NanPolicy, check_nan_policy

__all__ = ["core_profile", "sum_probabilities"]


def core_profile(
    powers: Iterable[Any], q_lim: Any, *, first: tuple[float, ...] = ()
) -> _core.RiskProfile:
    """Make an empty accumulator of the core; say which argument is no number, if one is not."""
    if isinstance(powers, str) or not hasattr(powers, "__iter__"):
        raise TypeError(f"powers must be a sequence of real numbers, got {powers!r}")
    values = [*first, *powers]
    try:
        return _core.RiskProfile(values, q_lim)
    except TypeError:
        for name, value in [("q_lim", q_lim), *(("a power", m) for m in values)]:
            if not isinstance(value, numbers.Real):
                raise TypeError(f"{name} must be a real number, got {value!r}") from None
        raise


def sum_probabilities(
    p: ArrayLike,
    powers: Iterable[float],
    *,
    q_lim: float = 0.0,
    sample_weight: ArrayLike | None = None,
    nan_policy: NanPolicy = "raise",
    name: str = "p",
    can_omit: bool = True,
) -> _core.RiskProfile:
    """Sum up bare probabilities; not `can_omit`: the caller does not offer a nan_policy."""
    omit = check_nan_policy(nan_policy)
    state = core_profile(powers, q_lim)
    state.update_probabilities(p, sample_weight, omit, name, can_omit)
    return state
