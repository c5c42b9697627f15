"""What the results with more than one number share."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

__all__ = [
    "ArraysResult", "Result", "counted", "for_json", "holm", "json_key", "json_ready",
    "moment_text", "plain", "printable",
]  # fmt: skip


def _short(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else repr(value)


def printable(text: Any) -> str:
    """Return text on one line that a terminal only shows: what it would obey is escaped."""
    plain = str(text)
    if plain.isprintable():
        return plain
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in plain)


def counted(n: int, what: str) -> str:
    """Return "1 row", or "2,000 rows"."""
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def moment_text(value: Any) -> str:
    """Return a date without the zeros of its time of day, and a number as it is.

    Examples
    --------
    >>> moment_text(np.datetime64("2024-05-01T00:00:00.000000")), moment_text(60)
    ('2024-05-01', '60')
    """
    if isinstance(value, np.datetime64):
        return str(np.datetime_as_string(value, unit="auto"))
    return str(value)


def holm(pvalues: Sequence[float]) -> tuple[float, ...]:
    """Return p-values adjusted for their number by Holm's method.

    Examples
    --------
    >>> holm([0.5, 0.25, 0.125])
    (0.5, 0.5, 0.375)
    """
    adjusted = [0.0] * len(pvalues)
    largest = 0.0
    for rank, j in enumerate(sorted(range(len(pvalues)), key=pvalues.__getitem__)):
        largest = max(largest, min(1.0, (len(pvalues) - rank) * pvalues[j]))
        adjusted[j] = largest
    return tuple(adjusted)


def for_json(x: Any) -> Any:
    """Return it as JSON has it: an infinite number is the text "inf"."""
    return str(x) if isinstance(x, float) and math.isinf(x) else x


def _finite(value: Any) -> Any:
    """Return it with NaN as None and infinities as text."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_finite(item) for item in value)
    return None if isinstance(value, float) and math.isnan(value) else for_json(value)


def json_key(key: Any) -> Any:
    """Return the key of a group as JSON has it; what it has no word for becomes text."""
    return for_json(key) if isinstance(key, (bool, int, float, str)) else str(key)


def json_ready(value: Any) -> Any:
    """Return it with NaN as None, infinities as text, and keys and unknown objects as text.

    Examples
    --------
    >>> json_ready({1: (float("nan"), float("inf"), "a")})
    {'1': [None, 'inf', 'a']}
    """
    if hasattr(value, "tolist"):  # arrays and scalars of NumPy
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): json_ready(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [json_ready(item) for item in value]
    if isinstance(value, bool) or value is None or isinstance(value, (int, str)):
        return value
    if isinstance(value, float):
        return None if math.isnan(value) else str(value) if math.isinf(value) else value
    return str(value)


class Result:
    """Base of the frozen dataclasses that functions return."""

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]

    def to_dict(self) -> dict[str, Any]:
        """Return the fields by name, ready for JSON; nested results become nested dicts.

        What is undefined is None, and an infinite value the text "inf".
        """
        fields: dict[str, Any] = _finite(dataclasses.asdict(self))
        return fields

    def __repr__(self) -> str:
        # Six digits, to be read; the attributes have them all. Fields that still have
        # their default say nothing.
        kept = [f for f in dataclasses.fields(self) if f.repr]
        fields = [(f.name, getattr(self, f.name), f.default) for f in kept]
        shown = [f"{name}={_short(value)}" for name, value, default in fields if value != default]
        return f"{type(self).__name__}({', '.join(shown)})"


def plain(value: Any) -> Any:
    """Ready for JSON; what is undefined is None."""
    if isinstance(value, np.ndarray):
        return [plain(item) for item in value.tolist()]
    if isinstance(value, tuple):
        return [plain(item) for item in value]
    if isinstance(value, Result):
        return value.to_dict()
    return _finite(value)


class ArraysResult(Result):
    """Base of results that hold arrays."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the fields by name, ready for JSON; what is undefined is None."""
        return {f.name: plain(getattr(self, f.name)) for f in dataclasses.fields(self)}
