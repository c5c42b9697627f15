"""The three functions of distribution: rows to a state, states to one, a state to a result."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from calibrant import _core
from calibrant._grouped import Grouped
from calibrant._state import restore
from calibrant._windowed import Windowed
from calibrant.io import Batch, scan
from calibrant.io._roles import check_names

__all__ = ["Spec", "combine", "finish", "in_worker", "partial", "require_iterable"]

#: The roles that hold names of columns; the others are settings.
_COLUMN_ROLES = ("label", "prob", "weight", "group", "low", "high", "sets", "timestamp")


@dataclass(frozen=True)
class Spec:
    """What to make of a partition: an accumulator, and which column is what.

    Parameters
    ----------
    factory : callable
        Makes an empty accumulator: a class such as `streaming.Scorecard`, or a
        ``functools.partial`` of one. It is sent to the workers, so it must be picklable.
    roles : dict
        As the keywords of `calibrant.io.scan`; ``label`` must be there.
    """

    factory: Callable[[], Any]
    roles: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not callable(self.factory):
            raise TypeError(f"factory must make an accumulator, got {self.factory!r}")
        if not isinstance(self.roles, Mapping):
            raise TypeError(f"roles must be a dict, got {self.roles!r}")
        if "label" not in self.roles:
            raise TypeError("roles: label is missing, the name of the column of what happened")
        for role in _COLUMN_ROLES:
            check_names(role, self.roles.get(role))
        if "positive" in self.roles:
            raise TypeError(
                "roles cannot have positive: name all classes, in order; a partition may lack one"
            )

    @property
    def columns(self) -> list[str]:
        """The names of all columns that are read."""
        named: list[str] = []
        for role in _COLUMN_ROLES:
            names = self.roles.get(role)
            named += [names] if isinstance(names, str) else names or []
        return list(dict.fromkeys(named))

    def add(self, total: Any, table: Any) -> None:
        """Add the rows of a table to an accumulator; what ``update`` asks for by name it gets."""
        if not hasattr(total, "update"):
            raise TypeError(f"total must be an accumulator, got {total!r}")
        given = scan(_only(table, self.columns), **self.roles)
        first_row = 0
        update = total._take if isinstance(total, Windowed) else total.update
        for batch in given:
            arguments = _arguments(total, batch, omit=given.missing == "skip")
            try:
                update(**arguments)
            except (TypeError, ValueError) as error:
                raise given.named_error(error, given.name, first_row) from error
            first_row += batch.n


def _arguments(total: Any, batch: Batch, *, omit: bool) -> dict[str, Any]:
    """Return what ``update`` asks for by name, of what the batch has."""
    asked = total._asked() if isinstance(total, (Grouped, Windowed)) else _parameters(total)
    rows = {part.name: getattr(batch, part.name) for part in fields(Batch)}
    kept = {name: rows[name] for name in asked if rows.get(name) is not None}
    for name, parameter in asked.items():
        if parameter.default is parameter.empty and name not in kept:
            raise TypeError(f"no column was named for {name} of {type(total).__name__}")
    if omit and "nan_policy" in asked:
        kept["nan_policy"] = "omit"
    return kept


def _parameters(total: Any) -> Mapping[str, inspect.Parameter]:
    return inspect.signature(total.update).parameters


def partial(batch: Any, spec: Spec) -> bytes:
    """Return the state of an accumulator of these rows: what a worker does.

    Parameters
    ----------
    batch : table
        A pandas or polars DataFrame, an Arrow table or record batch, a dict of arrays, the name
        of a file: whatever `calibrant.io.scan` takes.
    spec : Spec

    Examples
    --------
    >>> from calibrant.streaming import Scores
    >>> spec = Spec(Scores, {"label": "y", "prob": "p"})
    >>> states = [partial({"y": [1], "p": [0.75]}, spec), partial({"y": [0], "p": [0.5]}, spec)]
    >>> finish(combine(states)).brier
    0.15625
    """
    if not isinstance(spec, Spec):
        raise TypeError(f"spec must be a Spec, got {spec!r}")
    total = spec.factory()
    spec.add(total, batch)
    state: bytes = total.to_bytes()
    return state


def combine(states: Iterable[bytes]) -> bytes:
    """Return the state of all rows; of accumulators of one kind, in any order.

    Examples
    --------
    >>> from calibrant.streaming import Scores
    >>> left, right = Scores(), Scores()
    >>> left.update([1], [0.75])
    >>> right.update([0], [0.5])
    >>> combine([left.to_bytes(), right.to_bytes()]) == left.merge(right).to_bytes()
    True
    """
    merged: bytes = _merged(states).to_bytes()
    return merged


def finish(state: bytes) -> Any:
    """Return the result of a state.

    Examples
    --------
    >>> from calibrant.streaming import Scores
    >>> scores = Scores()
    >>> scores.update([1, 0], [0.75, 0.5])
    >>> finish(scores.to_bytes()).brier
    0.15625
    """
    return restore(state).result()


def _merged(states: Iterable[bytes]) -> Any:
    require_iterable(states, "states")
    total = None
    for state in states:
        part = restore(state)
        total = part if total is None else total.merge(part)
    if total is None:
        raise ValueError("there are no states to combine")
    return total


def in_worker(batch: Any, spec: Spec) -> bytes:
    """As `partial`, in a worker that leaves the other processors to others."""
    _core.work_alone()
    return partial(batch, spec)


def _only(table: Any, columns: Sequence[str]) -> Any:
    """A table with these columns only, so that no other can be taken for something."""
    if isinstance(table, dict):
        for name in columns:
            if name not in table:
                raise ValueError(f"the table has no column {name!r} (there are: {[*table]})")
        return {name: table[name] for name in columns}
    if isinstance(table, (str, os.PathLike)):
        return table
    if not hasattr(table, "__getitem__") or isinstance(table, (list, tuple, bytes)):
        raise TypeError(f"a table must have columns by name, got {type(table).__name__}")
    try:
        return table.select(columns) if hasattr(table, "select") else table[columns]
    except KeyError as error:
        raise ValueError(f"the table lacks a column: {error}") from error


def require_iterable(value: Any, name: str) -> None:
    """Refuse one table where several are asked for."""
    if not hasattr(value, "__iter__") or isinstance(value, (str, bytes, Mapping)):
        raise TypeError(f"{name} must be an iterable, such as a list, got {type(value).__name__}")
