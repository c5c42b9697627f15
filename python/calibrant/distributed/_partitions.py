"""The three functions of distribution: rows to a state, states to one, a state to a result."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from typing import Any

from calibrant import _core, streaming
from calibrant._accumulator.states import restore
from calibrant._input.batch_rows import signature_of
from calibrant.cumulative._sequential import SequentialCalibrationTest
from calibrant.grouped._grouped import Grouped
from calibrant.io import Batch, Scan, scan
from calibrant.io._roles import check_names
from calibrant.io._sources import SomeColumns
from calibrant.windows._windowed import Windowed

__all__ = [
    "Spec", "combine", "finish", "in_worker", "new_accumulator", "partial", "require_iterable",
    "working_at",
]  # fmt: skip

#: The roles that hold names of columns, with what ``update`` calls them; the others are settings.
_COLUMN_ROLES = {
    "label": "y_true", "prob": "y_proba", "weight": "sample_weight", "group": "groups",
    "low": "intervals", "high": "intervals", "sets": "sets", "timestamp": "timestamps",
}  # fmt: skip
_SETTINGS = ("level", "classes", "missing")
#: Those of `scan` that a partition cannot have, and why.
_NOT_HERE = {
    "positive": "name all classes, in order; a partition may lack one",
    "truth": "ties of ranks are broken by the place of a pair in all rows, which a partition does "
    "not know; update streaming.Ranks with first_pair, and merge",
}
_NOT_HERE["draws"] = _NOT_HERE["truth"]


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
        for role in self.roles:
            if role in _NOT_HERE:
                raise TypeError(f"roles cannot have {role}: {_NOT_HERE[role]}")
            if role not in (*_COLUMN_ROLES, *_SETTINGS):
                known = ", ".join((*_COLUMN_ROLES, *_SETTINGS))
                raise TypeError(f"roles cannot have {role!r}: there are {known}")
        for role in _COLUMN_ROLES:
            check_names(role, self.roles.get(role))
        if self.roles.get("label") is None:
            raise TypeError("roles: label is missing, the name of the column of what happened")
        # They are read once for each partition, and sent to workers.
        kept = {role: _kept(value) for role, value in self.roles.items()}
        object.__setattr__(self, "roles", kept)

    @property
    def columns(self) -> list[str]:
        """The names of all columns that are read."""
        named: list[str] = []
        for role in _COLUMN_ROLES:
            names = self.roles.get(role)
            named += [names] if isinstance(names, str) else names or []
        return list(dict.fromkeys(named))

    def add(self, total: Any, table: Any, first_row: int = 0) -> int:
        """Add the rows of a table to an accumulator; what ``update`` asks for by name it gets.

        Parameters
        ----------
        total : accumulator
        table : table
            As for `partial`.
        first_row : int
            What messages call its first row.

        Returns
        -------
        int
            The number of the row after its last.
        """
        if not hasattr(total, "update"):
            raise TypeError(f"total must be an accumulator, got {total!r}")
        given = scan(_only(table, self.columns), **self.roles)
        self._check_fit(total, given)
        update = total._take if isinstance(total, Windowed) else total.update
        for batch in given:
            arguments = _arguments(total, batch, omit=given.missing == "skip")
            try:
                update(**arguments)
            except (TypeError, ValueError) as error:
                raise given.named_error(error, given.name, first_row) from error
            first_row += batch.n
        return first_row

    def _check_fit(self, total: Any, given: Scan) -> None:
        """Reject columns that are missing or would not be looked at, and levels of others."""
        asked = signature_of(total).parameters
        named = {role for role in _COLUMN_ROLES if self.roles.get(role)}
        for name, parameter in asked.items():
            is_needed = parameter.default is parameter.empty
            if is_needed and not any(_COLUMN_ROLES[role] == name for role in named):
                raise TypeError(f"no column was named for {name} of {_named(total)}")
        for role in sorted(named - {"label"}):
            if _COLUMN_ROLES[role] not in asked:
                raise TypeError(
                    f"{role} was named, but {_named(total)} has no use for {_COLUMN_ROLES[role]}"
                )
        inner = total
        while isinstance(inner, (Grouped, Windowed)):
            inner = inner._empty
        of_evidence = getattr(inner, "intervals", None)
        intervals = inner if isinstance(inner, streaming.Intervals) else of_evidence
        if isinstance(intervals, streaming.Intervals) and given.roles.intervals.low:
            levels = tuple(intervals._state.confidence_levels)
            if levels != given.roles.intervals.levels:
                raise ValueError(
                    f"level is {given.roles.intervals.levels}, but confidence_level of "
                    f"{_named(total)} is {levels}"
                )


def _named(total: Any) -> str:
    """Return what messages call an accumulator."""
    of = getattr(total, "_empty", None)
    return type(total).__name__ + (f" of {_named(of)}" if of is not None else "")


def _kept(value: Any) -> Any:
    """Return it as it is, or as a tuple if it can be read once only, or changed."""
    several = hasattr(value, "__iter__") and not isinstance(value, (str, bytes, Mapping))
    return tuple(value) if several else value


def new_accumulator(spec: Spec) -> Any:
    """Return what the factory makes, if that is an accumulator without rows."""
    made = spec.factory()
    if not all(hasattr(made, verb) for verb in ("update", "merge", "to_bytes")):
        raise TypeError(f"factory must make an accumulator, got {made!r}")
    if isinstance(made, SequentialCalibrationTest):
        raise TypeError("a SequentialCalibrationTest depends on the order of all rows")
    if made.n or getattr(made, "n_omitted", 0):
        raise ValueError(f"factory must make an accumulator without rows, got {made!r}")
    return made


def _arguments(total: Any, batch: Batch, *, omit: bool) -> dict[str, Any]:
    """Return what ``update`` asks for by name, of what the batch has."""
    asked = signature_of(total).parameters
    rows = {part.name: getattr(batch, part.name) for part in fields(Batch)}
    kept = {name: rows[name] for name in asked if rows.get(name) is not None}
    if omit and "nan_policy" in asked:
        kept["nan_policy"] = "omit"
    return kept


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
    total = new_accumulator(spec)
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


@contextmanager
def working_at(place: str) -> Iterator[None]:
    """Leave the other processors to others, and say in errors where this is."""
    before = _core.work_alone()
    try:
        yield
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{place}: {error}") from error
    finally:
        _core.work_alone(before)


def in_worker(batch: Any, spec: Spec, place: str) -> bytes:
    """As `partial`, in a worker; ``place`` is what errors call the batch."""
    with working_at(place):
        return partial(batch, spec)


def _only(table: Any, columns: Sequence[str]) -> Any:
    """A table with these columns only, so that no other can be taken for something."""
    if isinstance(table, dict):
        for name in columns:
            if name not in table:
                raise ValueError(f"the table has no column {name!r} (there are: {[*table]})")
        return {name: table[name] for name in columns}
    if hasattr(table, "iloc") and hasattr(table, "columns") and set(columns) <= set(table.columns):
        table = table[columns]
    return SomeColumns(table, columns)


def require_iterable(value: Any, name: str) -> None:
    """Reject one table where several are asked for."""
    one = isinstance(value, (str, bytes, Mapping)) or hasattr(value, "columns")
    if one or not hasattr(value, "__iter__"):
        raise TypeError(f"{name} must be an iterable, such as a list, got {type(value).__name__}")
