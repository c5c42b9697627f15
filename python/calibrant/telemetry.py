"""Results for monitoring systems: Prometheus text, OpenTelemetry attributes."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from calibrant._input.validation import checked_text
from calibrant.scorecards._table import NELSON

__all__ = ["attributes", "prometheus_text"]


def __dir__() -> list[str]:
    return __all__


_NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
_LABEL = re.compile(r"(?!__)[a-zA-Z_][a-zA-Z0-9_]*")
#: Others take it for the share of right answers.
_ACCURACY = re.compile(r"_accuracy(_value|_low|_high)?$")
#: What the parts of a list are told apart by, the first that they have; others are counted.
_TOLD_BY = (
    ("key",), ("model",), ("name",), ("first", "second", "score"), ("library", "call"), ("start",),
    ("confidence_level",),
)  # fmt: skip
#: Whose parts have the names of the whole: the scorecard of a group is a scorecard.
_LIKE_THE_WHOLE = (("key",), ("start",))


class _Leaf(NamedTuple):
    """A number or word of a result, and where it was."""

    value: float | int | str | bool
    path: tuple[str, ...]  # by names alone
    labels: dict[str, str]  # which parts of lists it is in
    full_path: tuple[str, ...]  # by both


def attributes(result: Any, *, prefix: str = "calibrant") -> dict[str, float | int | str | bool]:
    """Return the numbers and words of a result as flat attributes, as OpenTelemetry has them.

    Parameters
    ----------
    result : result or accumulator; a dict or list of them
        Anything with ``to_dict``, and what ``result`` of Grouped and Windowed gives. What is
        undefined is left out, and so are arrays. Parts of a list are named by their key, name
        or start, or else by their number.
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
    return {".".join((prefix, *leaf.full_path)): leaf.value for leaf in _leaves(_plain(result))}


def prometheus_text(
    result: Any, *, prefix: str = "calibrant", labels: Mapping[str, str] | None = None
) -> str:
    """Return the numbers of a result in the text format of Prometheus, one gauge for each.

    Write it to a file of the node exporter's textfile collector, or serve it beside the metrics
    of your own program. Words, arrays and what is undefined are left out.

    Parameters
    ----------
    result : result or accumulator; a dict or list of them
        Anything with ``to_dict``, and what ``result`` of Grouped and Windowed gives. What may be
        any text or time is a label: ``group`` of groups, ``start`` of windows, ``model`` of
        the scorecards of a comparison, ``name`` of the changes of a drift, ``confidence_level``
        of intervals; other parts of lists have their number as ``index``.
    prefix : str
        What all names begin with; parts of a name are joined by underscores.
    labels : mapping of str, optional
        Put on every sample, such as the model and its version.

    Raises
    ------
    ValueError
        If two numbers would have the same name and labels.

    Examples
    --------
    >>> from calibrant.streaming import Grouped, Scores
    >>> scores = Scores()
    >>> scores.update([1, 0], [0.75, 0.5])
    >>> print(prometheus_text(scores.result(), labels={"model": "rain"}))
    # TYPE calibrant_brier gauge
    calibrant_brier{model="rain"} 0.15625
    ...
    # TYPE calibrant_n gauge
    calibrant_n{model="rain"} 2
    ...
    >>> shops = Grouped(Scores)
    >>> shops.update([1, 0], [0.75, 0.5], groups=["north", "south"])
    >>> print(prometheus_text(shops.result()))
    # TYPE calibrant_brier gauge
    calibrant_brier{group="north"} 0.0625
    calibrant_brier{group="south"} 0.25
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
    families: dict[str, dict[str, str]] = {}
    for leaf in _leaves(_plain(result)):
        if isinstance(leaf.value, str):
            continue
        taken = sorted(fixed.keys() & leaf.labels.keys())
        if taken:
            raise ValueError(f"labels: {taken[0]!r} is what tells parts of this result apart")
        name = re.sub(r"[^a-zA-Z0-9_:]", "_", "_".join((prefix, *leaf.path)))
        shown = _braces({**fixed, **leaf.labels})
        family = families.setdefault(name, {})
        if shown in family:
            raise ValueError(f"result has two numbers that would be {name}{shown}: rename one")
        family[shown] = _number(leaf.value)
    lines = []
    for name, family in families.items():
        if _ACCURACY.search(name):
            lines.append(f"# HELP {name} {NELSON}\n")
        lines += [f"# TYPE {name} gauge\n", *(f"{name}{at} {x}\n" for at, x in family.items())]
    return "".join(lines)


def _plain(result: Any) -> Any:
    """Return something with ``to_dict``, or a dict."""
    if hasattr(result, "to_dict"):
        return result
    if isinstance(result, Mapping):
        if result and all(value is None or hasattr(value, "to_dict") for value in result.values()):
            parts = ((key, value) for key, value in result.items() if value is not None)
            return {"groups": [{"key": key, **value.to_dict()} for key, value in parts]}
        return result
    if isinstance(result, (list, tuple)) and all(hasattr(part, "to_dict") for part in result):
        return {"parts": [part.to_dict() for part in result]}  # windows, mostly
    raise TypeError(
        f"result must have to_dict, got {type(result).__name__}; or be a dict or list of such"
    )


def _leaves(view: Any) -> Iterator[_Leaf]:
    return _below(view, (), {}, ())


def _below(
    value: Any, path: tuple[str, ...], labels: dict[str, str], full_path: tuple[str, ...]
) -> Iterator[_Leaf]:
    if hasattr(value, "to_dict"):
        value = value.to_dict()
    if isinstance(value, np.generic):
        value = value.item()
    parts = _parts(path, value)
    if parts is not None:
        yield from _below_parts(parts, path, labels, full_path)
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _below(inner, (*path, str(name)), labels, (*full_path, str(name)))
    elif isinstance(value, (bool, int, float, str)) and not _says_nothing(value):
        # JSON has no word for what is infinite: results say it in text.
        found = float(value) if value in ("inf", "-inf") else value
        yield _Leaf(found, path, labels, full_path)


def _parts(path: tuple[str, ...], value: Any) -> Sequence[Mapping[str, Any]] | None:
    """Return the parts of what is a list, or a dict whose keys may be anything; else None."""
    if isinstance(value, (list, tuple)):
        return value if value and all(isinstance(part, Mapping) for part in value) else None
    if not isinstance(value, Mapping) or not value:
        return None
    if path[-1:] == ("scorecards",):
        return [{"model": model, **card} for model, card in value.items()]
    # The views of the accumulators of a Grouped, whose parameters are its own.
    if all(isinstance(part, Mapping) and "kind" in part for part in value.values()):
        said = {"kind": None, "parameters": None}
        return [{**part, **said, "key": key} for key, part in value.items()]
    return None


def _below_parts(
    parts: Sequence[Mapping[str, Any]],
    path: tuple[str, ...],
    labels: dict[str, str],
    full_path: tuple[str, ...],
) -> Iterator[_Leaf]:
    told_by = next((by for by in _TOLD_BY if all(part.keys() >= set(by) for part in parts)), ())
    for index, part in enumerate(parts):
        found = {"group" if by == "key" else by: str(part[by]) for by in told_by}
        found = found or {"index": str(index)}
        # A list in a list may be told by the same word.
        more = {f"{path[-1]}_{n}" if n in labels else n: text for n, text in found.items()}
        above = path[:-1] if told_by in _LIKE_THE_WHOLE else path
        full = (*full_path, *found.values())
        for name, inner in part.items():
            if name not in told_by:
                yield from _below(inner, (*above, name), {**labels, **more}, (*full, name))


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
