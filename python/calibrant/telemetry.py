"""Results for monitoring systems: Prometheus text, OpenTelemetry attributes."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from calibrant._settings import checked_text

__all__ = ["attributes", "prometheus_text"]

_NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
_LABEL = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")


def attributes(result: Any, *, prefix: str = "calibrant") -> dict[str, float | int | str | bool]:
    """Return the numbers and words of a result as flat attributes, as OpenTelemetry has them.

    Parameters
    ----------
    result : result, accumulator or dict
        Anything with ``to_dict``. What is undefined is left out, and so are arrays.
    prefix : str
        What all names begin with; parts of a name are joined by points.

    Examples
    --------
    >>> from calibrant.streaming import Scores
    >>> scores = Scores()
    >>> scores.update([1, 0], [0.75, 0.5])
    >>> attributes(scores.result())["calibrant.brier"]
    0.15625
    """
    checked_text(prefix, "prefix")
    named = (((prefix, *path), value) for path, value in _leaves(_as_dict(result)))
    return {".".join(path): value for path, value in named}


def prometheus_text(
    result: Any, *, prefix: str = "calibrant", labels: Mapping[str, str] | None = None
) -> str:
    """Return the numbers of a result in the text format of Prometheus, one gauge for each.

    Write it to a file of the node exporter's textfile collector, or serve it beside the metrics
    of your own program. Words, arrays and what is undefined are left out.

    Parameters
    ----------
    result : result, accumulator or dict
        Anything with ``to_dict``. The scorecards of groups become samples with the label
        ``group``.
    prefix : str
        What all names begin with; parts of a name are joined by underscores.
    labels : mapping of str, optional
        Put on every sample, such as the model and its version.

    Examples
    --------
    >>> from calibrant.streaming import Scores
    >>> scores = Scores()
    >>> scores.update([1, 0], [0.75, 0.5])
    >>> print(prometheus_text(scores.result(), labels={"model": "rain"}))
    # TYPE calibrant_brier gauge
    calibrant_brier{model="rain"} 0.15625
    ...
    # TYPE calibrant_n gauge
    calibrant_n{model="rain"} 2
    ...
    """
    if labels is not None and not isinstance(labels, Mapping):
        raise TypeError(f"labels must be a mapping of str, got {labels!r}")
    fixed = dict(labels or {})
    for name in fixed:
        if not _LABEL.fullmatch(checked_text(name, "labels")):
            raise ValueError(f"labels: {name!r} is not a name that Prometheus takes")
    if not _NAME.fullmatch(checked_text(prefix, "prefix")):
        raise ValueError(f"prefix {prefix!r} is not a name that Prometheus takes")
    samples: dict[str, list[str]] = {}
    for group, path, value in _samples(_as_dict(result)):
        if isinstance(value, str):
            continue
        name = re.sub(r"[^a-zA-Z0-9_:]", "_", "_".join((prefix, *path)))
        shown = fixed if group is None else {**fixed, "group": group}
        samples.setdefault(name, []).append(f"{name}{_braces(shown)} {_number(value)}\n")
    return "".join(f"# TYPE {name} gauge\n{''.join(lines)}" for name, lines in samples.items())


def _as_dict(result: Any) -> Mapping[str, Any]:
    if isinstance(result, Mapping):
        return result
    if not hasattr(result, "to_dict"):
        raise TypeError(f"result must have to_dict, got {type(result).__name__}")
    view: Mapping[str, Any] = result.to_dict()
    return view


def _samples(view: Mapping[str, Any]) -> Iterator[tuple[str | None, tuple[str, ...], Any]]:
    """Give (group or None, path, value): groups are told apart by a label, not by the name."""
    groups = view.get("groups", ())
    for part in groups:
        for path, value in _leaves({name: part[name] for name in part if name != "key"}):
            yield str(part["key"]), path, value
    yield from ((None, *leaf) for leaf in _leaves({**view, "groups": None}))


def _leaves(view: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, value in view.items():
        if isinstance(value, (list, tuple)) and value and _is_keyed(value[0]):
            value = {part["key"]: {n: part[n] for n in part if n != "key"} for part in value}
        if isinstance(value, Mapping):
            yield from (((str(name), *path), leaf) for path, leaf in _leaves(value))
        elif isinstance(value, (bool, int, float, str)) and not _says_nothing(value):
            # JSON has no word for what is infinite: results say it in text.
            yield (str(name),), float(value) if value in ("inf", "-inf") else value


def _is_keyed(part: Any) -> bool:
    return isinstance(part, Mapping) and "key" in part


def _says_nothing(value: Any) -> bool:
    return value == "" or (isinstance(value, float) and math.isnan(value))


def _number(value: float) -> str:
    if isinstance(value, bool):
        return str(int(value))
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    return repr(value)


def _braces(labels: Mapping[str, str]) -> str:
    if not labels:
        return ""
    escaped = (
        (name, str(value).replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n"))
        for name, value in labels.items()
    )
    return "{" + ",".join(f'{name}="{value}"' for name, value in escaped) + "}"
