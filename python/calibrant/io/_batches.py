"""From columns as they were read to what an accumulator takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant._input.labels import class_codes
from calibrant.io._draws import as_draws
from calibrant.io._matrices import side_by_side
from calibrant.io._parts import Columns, Source
from calibrant.io._roles import Roles
from calibrant.io._sets import as_sets
from calibrant.io._timestamps import as_timestamps

__all__ = ["Batch", "Reading", "choose_classes", "count_missing"]

#: Words for no and yes that need no explanation.
_PAIRS = (("no", "yes"), ("false", "true"), ("negative", "positive"), ("n", "y"), ("0", "1"))


@dataclass(frozen=True)
class Batch:
    """Rows ready to be scored: the arguments of ``update``."""

    y_true: Any
    y_proba: Any
    sample_weight: Any = None
    groups: Any = None
    intervals: Any = None
    sets: Any = None
    n: int = 0
    truth: Any = None
    draws: Any = None
    timestamps: Any = None


@dataclass(frozen=True)
class Reading:
    """How columns become a batch.

    Attributes
    ----------
    roles : Roles
    classes : tuple or None
        The labels in the order of their codes; None where labels are codes already.
    skip_missing : bool
    """

    roles: Roles
    classes: tuple[Any, ...] | None
    skip_missing: bool

    def batch(self, columns: Columns) -> Batch:
        """Return the rows as arguments of ``update``; what can stay in place does."""
        roles = self.roles
        label = columns[roles.label]
        y_proba = side_by_side(columns, roles.prob)
        if self.classes is not None:
            label = _codes(label, self.classes, len(roles.prob))
        weight = None if roles.weight is None else columns[roles.weight]
        group = None if roles.group is None else columns[roles.group]
        bounds = roles.intervals
        low, high = (side_by_side(columns, names) for names in (bounds.low, bounds.high))
        intervals = None if low is None else (low, high)
        sets = None if roles.sets is None else as_sets(columns[roles.sets])
        truth, draws = as_draws(columns, roles.draws) if roles.draws.truth else (None, None)
        n = len(columns[roles.label])
        stamps = None if roles.timestamp is None else as_timestamps(columns[roles.timestamp])
        return Batch(label, y_proba, weight, group, intervals, sets, n, truth, draws, stamps)


def _codes(label: Any, classes: tuple[Any, ...], n_columns: int) -> Any:
    """Labels as codes; each distinct label of an Arrow array is looked at once only."""
    shape = np.empty((0, n_columns)) if n_columns > 1 else None  # only the width is looked at
    if not hasattr(label, "dictionary_encode"):
        return class_codes(label, shape, labels=list(classes), pos_label=None)
    encoded = label if hasattr(label, "indices") else label.dictionary_encode()
    names = np.empty(len(encoded.dictionary), object)
    names[:] = encoded.dictionary.to_pylist()
    try:
        codes = class_codes(names, shape, labels=_objects(classes), pos_label=None)
    except ValueError:  # say at which row: the dictionary does not know
        rows = np.empty(len(label), object)
        rows[:] = label.to_pylist()
        return class_codes(rows, shape, labels=_objects(classes), pos_label=None)
    codes = np.append(np.asarray(codes, np.float64), np.nan)  # the last one: missing
    return codes[encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)]


def _objects(values: Sequence[Any]) -> np.ndarray:
    array = np.empty(len(values), object)
    array[:] = values
    return array


def count_missing(column: Any) -> int:
    """Return how many values are null or NaN; a list counts once, for what is in it."""
    if hasattr(column, "null_count"):
        values = column
        if hasattr(values, "flatten") and hasattr(values.type, "value_field"):
            return int(values.null_count) + count_missing(values.flatten())
        nulls = int(values.null_count)
        if "float" not in str(values.type) and "double" not in str(values.type):
            return nulls
        return int(np.isnan(values.to_numpy(zero_copy_only=False)).sum())
    if hasattr(column, "isna"):
        return int(column.isna().sum())
    values = np.asarray(column)
    return int(np.isnan(values).sum()) if values.dtype.kind == "f" else 0


def choose_classes(
    source: Source, roles: Roles, classes: Sequence[Any] | None, positive: Any
) -> tuple[tuple[Any, ...] | None, str]:
    """Return the labels in the order of their codes, and how that order was found."""
    kind = source.kinds[roles.label]
    if classes is not None and positive is not None:
        raise ValueError("pass classes or positive, not both: classes already names the order")
    if classes is not None:
        return tuple(_like(kind, name) for name in classes), "given"
    if positive is not None:
        return _two_classes(source, roles, _like(kind, positive)), "given"
    if kind != "text" or not roles.prob:
        return None, ""
    if len(roles.prob) > 1:
        stem = _common_stem(roles.prob)
        return tuple(name[stem:] for name in roles.prob), "guessed from the columns"
    seen = set(_first_labels(source, roles))
    if not seen:  # of no rows: any names will do
        return _PAIRS[0], "there are no labels"
    for pair in _PAIRS:
        for spelled in (pair, tuple(map(str.capitalize, pair)), tuple(map(str.upper, pair))):
            if seen <= set(spelled):
                return spelled, "guessed from the labels"
    example = next(iter(sorted(seen)), "")
    raise ValueError(
        f"{source.name}: column {roles.label!r} holds text, such as {example!r}; say which class "
        "the probability is of with positive (--positive), or name all with classes (--classes)"
    )


def _like(kind: str, name: Any) -> Any:
    """A name from the command line as a label of this kind."""
    if kind in ("integer", "float") and isinstance(name, str):
        try:
            return int(name) if kind == "integer" else float(name)
        except ValueError as error:
            what = "whole numbers" if kind == "integer" else "numbers"
            raise ValueError(f"labels are {what}, {name!r} is none") from error
    return name


def _two_classes(source: Source, roles: Roles, positive: Any) -> tuple[Any, ...]:
    others = sorted({name for name in _first_labels(source, roles) if name != positive})
    if len(others) != 1:
        raise ValueError(
            f"{source.name}: besides {positive!r} column {roles.label!r} has "
            f"{', '.join(map(repr, others[:5])) or 'no label'} in its first rows, where one other "
            "is needed; name both with classes (--classes)"
        )
    return others[0], positive


def _first_labels(source: Source, roles: Roles) -> list[Any]:
    if not source.can_be_read_again:
        raise ValueError(f"{source.name} can be read once only: name the labels with classes")
    for part in source.parts([roles.label], ()):
        for columns in part.read():
            column = columns[roles.label]
            values = column.to_pylist() if hasattr(column, "to_pylist") else column.tolist()
            return list({value for value in values if value is not None and value == value})
    return []


def _common_stem(names: Sequence[str]) -> int:
    """The length of prob_ in prob_cat, prob_dog."""
    stem = names[0]
    while not all(name.startswith(stem) for name in names):
        stem = stem[:-1]
    return stem.rfind("_") + 1
