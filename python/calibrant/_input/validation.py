"""Single arguments beside the rows, checked in one way: what must hold, and what was found."""

from __future__ import annotations

import math
import numbers
import operator
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

__all__ = [
    "MultiClass",
    "NanPolicy",
    "check_level",
    "check_nan_policy",
    "checked_callable",
    "checked_choice",
    "checked_count",
    "checked_flag",
    "checked_number",
    "checked_numbers",
    "checked_subset",
    "checked_text",
]

NanPolicy = Literal["raise", "omit"]
MultiClass = Literal["auto", "top_label"]


def checked_choice(value: Any, name: str, allowed: Sequence[Any]) -> Any:
    """Return the one of those allowed that it is equal to."""
    try:
        found = [each for each in allowed if np.ndim(value) == 0 and bool(value == each)]
    except (TypeError, ValueError):  # an array, or pandas.NA, which is neither equal nor not
        found = []
    if not found:
        *others, last = map(repr, allowed)
        expected = f"{', '.join(others)} or {last}" if others else last
        raise ValueError(f"{name} must be {expected}, got {value!r}")
    return found[0]


def checked_count(value: Any, name: str, least: int = 1, most: int = 2**63 - 1) -> int:
    """Return a whole number; neither True nor 2.0 is one."""
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, got {value!r}") from None
    if number < least:
        raise ValueError(f"{name} must be at least {least}, got {number}")
    if number > most:
        raise ValueError(f"{name} must be at most {most}, got {number}")
    return number


def checked_flag(value: Any, name: str) -> bool:
    """Return True or False; what is merely true or false, such as "no", is neither."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be True or False, got {value!r}")
    return bool(value)


def checked_number(value: Any, name: str) -> float:
    """Return a real number, which may be infinite."""
    if not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be a real number, got {value!r}")
    if math.isnan(value):
        raise ValueError(f"{name} must be a number, got nan")
    return float(value)


def checked_numbers(values: Any, name: str) -> list[float]:
    """Return a sequence of real numbers as a list."""
    if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
        raise TypeError(f"{name} must be a sequence of real numbers, got {values!r}")
    return [checked_number(value, name) for value in values]


def checked_subset(values: Any, name: str, allowed: Sequence[str]) -> tuple[str, ...]:
    """Return the names given, one at least and none twice, in the order of those allowed."""
    if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
        raise TypeError(f"{name} must be a sequence of names, got {values!r}")
    one = f"each of {name}"
    given = [checked_choice(checked_text(value, one), one, allowed) for value in values]
    if not given:
        expected = ", ".join(map(repr, allowed))
        raise ValueError(f"{name} must name one of {expected} at least, got none")
    twice = [value for value in allowed if given.count(value) > 1]
    if twice:
        raise ValueError(f"{name} must be distinct, found {twice[0]!r} twice")
    return tuple(value for value in allowed if value in given)


def checked_text(value: Any, name: str) -> str:
    """Return a text."""
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a str, got {value!r}")
    return value


def checked_callable(value: Any, name: str) -> Any:
    """Return what can be called, or None."""
    if value is not None and not callable(value):
        raise TypeError(f"{name} must be callable, got {value!r}")
    return value


def check_nan_policy(nan_policy: str) -> bool:
    """Return whether rows with missing values are to be dropped."""
    return bool(checked_choice(nan_policy, "nan_policy", ("raise", "omit")) == "omit")


def check_level(confidence_level: Any) -> float:
    """Return it as a float, or say what is wrong with it."""
    if not isinstance(confidence_level, numbers.Real):
        raise TypeError(f"confidence_level must be a real number, got {confidence_level!r}")
    level = float(confidence_level)
    if not 0.0 < level < 1.0:
        raise ValueError(f"confidence_level must lie strictly between 0 and 1, got {level}")
    return level
