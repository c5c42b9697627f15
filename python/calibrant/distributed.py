"""Accumulators on many machines, by engines that exist: Dask, Spark, Ray, process pools.

All of it is three pure functions. `partial` makes the rows of a partition into the bytes of an
accumulator, `combine` merges such bytes, in any order and any tree, and `finish` gives the result.
An engine has to call them and to move bytes; if it runs a partition twice or loses a worker, it
keeps one answer for each partition, and so no row is counted twice or lost. The accumulator that
`dask`, `spark`, `ray` and `local` return is, to the last bit, that of one machine.

Columns are named as for `calibrant.io.scan`: ``label``, ``prob``, ``weight``, ``group``, ``low``
and ``high`` with ``level``, ``sets``, ``timestamp``; labels that are no codes need ``classes``.
Columns that are not named are not looked at, since each partition would guess on its own.

`streaming.Windowed` by time takes a ``timestamp``. Partitions come in any order, so no row is late:
the windows are those of one stream whose rows come in the order of time.

In a worker each call uses one thread: engines already start a worker for each processor.
"""

from __future__ import annotations

import inspect
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass, field, fields
from typing import Any

from calibrant import _core
from calibrant._grouped import Grouped
from calibrant._settings import checked_count
from calibrant._state import restore
from calibrant._windowed import Windowed
from calibrant.io import Batch, scan
from calibrant.io._roles import check_names

__all__ = ["Spec", "combine", "dask", "finish", "local", "partial", "ray", "spark"]

#: States that one task merges: enough to make the tree flat, few enough to be sent at once.
FAN_IN = 16
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
    _require_iterable(states, "states")
    total = None
    for state in states:
        part = restore(state)
        total = part if total is None else total.merge(part)
    if total is None:
        raise ValueError("there are no states to combine")
    return total


def _in_worker(batch: Any, spec: Spec) -> bytes:
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


def local(
    batches: Iterable[Any],
    factory: Callable[[], Any],
    *,
    executor: Executor | None = None,
    n_workers: int | None = None,
    **roles: Any,
) -> Any:
    """Return the accumulator of all batches, made by the workers of one executor.

    Parameters
    ----------
    batches : iterable
        Tables, or names of files, as for `partial`; read as workers become free, so that a
        stream of any length is bounded in memory.
    factory : callable
        Makes an empty accumulator.
    executor : concurrent.futures.Executor, optional
        Such as a ProcessPoolExecutor, or the pool of a cluster that has this interface. By
        default threads: the core works without the GIL, and nothing needs to be copied.
    n_workers : int, optional
        How many batches are at work at once; the number of processors by default.
    **roles
        Names of columns.

    Raises
    ------
    ValueError, TypeError
        About a row that was refused. There is no result of a part of the batches.

    Examples
    --------
    >>> from calibrant.streaming import Scores
    >>> batches = ({"y": [1, 0], "p": [0.75, 0.5]} for _ in range(3))
    >>> local(batches, Scores, label="y", prob="p").n
    6
    """
    spec = Spec(factory, roles)
    _require_iterable(batches, "batches")
    workers = os.cpu_count() or 1 if n_workers is None else checked_count(n_workers, "n_workers")
    if executor is not None:
        if not hasattr(executor, "submit"):
            raise TypeError(f"executor must have submit, got {executor!r}")
        return _reduce(batches, spec, executor, workers)
    with ThreadPoolExecutor(workers) as threads:
        return _reduce(batches, spec, threads, workers)


def _reduce(batches: Iterable[Any], spec: Spec, executor: Executor, workers: int) -> Any:
    total = spec.factory()
    waiting: deque[Future[bytes]] = deque()
    try:
        for batch in batches:
            waiting.append(executor.submit(_in_worker, batch, spec))
            if len(waiting) > 2 * workers:
                total.merge(restore(waiting.popleft().result()))
        while waiting:
            total.merge(restore(waiting.popleft().result()))
    finally:
        for future in waiting:
            future.cancel()
    return total


def dask(collection: Any, factory: Callable[[], Any], *, fan_in: int = FAN_IN, **roles: Any) -> Any:
    """Return the accumulator of a Dask collection, reduced in a tree.

    Parameters
    ----------
    collection : dask DataFrame, dict of dask Arrays by name, or sequence of Delayed
        Arrays must have the same chunks of rows. Each Delayed gives a table, as for `partial`.
    factory : callable
        Makes an empty accumulator.
    fan_in : int
        How many states a task merges.
    **roles
        Names of columns.
    """
    spec = Spec(factory, roles)
    _check_fan_in(fan_in)
    try:
        from dask import delayed
    except ImportError as error:
        raise ImportError('this needs dask: pip install "calibrant[dask]"') from error
    # pure=False: two partitions with equal rows are two partitions.
    score, merge = delayed(_in_worker, pure=False), delayed(combine, pure=False)
    states = [score(part, spec) for part in _dask_parts(collection, spec.columns, delayed)]
    while len(states) > 1:
        states = [merge(states[i : i + fan_in]) for i in range(0, len(states), fan_in)]
    return restore(states[0].compute()) if states else factory()


def _dask_parts(collection: Any, columns: Sequence[str], delayed: Any) -> list[Any]:
    if isinstance(collection, dict):
        return _dask_chunks({name: collection[name] for name in columns}, delayed)
    if hasattr(collection, "to_delayed"):
        return list(collection[columns].to_delayed())
    return list(collection)


def _dask_chunks(arrays: dict[str, Any], delayed: Any) -> list[Any]:
    """One dict of blocks for each chunk of rows."""
    first, chunks = next((name, array.chunks[0]) for name, array in arrays.items())
    for name, array in arrays.items():
        if array.chunks[0] != chunks:
            raise ValueError(
                f"chunks of rows must be the same: {first!r} has {chunks[:3]}, "
                f"{name!r} has {array.chunks[0][:3]}; rechunk one of them"
            )
    blocks = {
        name: array.rechunk(dict.fromkeys(range(1, array.ndim), -1)).to_delayed().ravel()
        for name, array in arrays.items()
    }
    named = delayed(dict, pure=False)
    return [named({name: of[i] for name, of in blocks.items()}) for i in range(len(chunks))]


def spark(frame: Any, factory: Callable[[], Any], *, fan_in: int = FAN_IN, **roles: Any) -> Any:
    """Return the accumulator of a Spark DataFrame, by ``mapInArrow``.

    Rows do not leave their partition; states are merged by tasks while they are more than
    `fan_in`, and the last ones by the driver. Workers must run a Python that has calibrant: set
    ``PYSPARK_PYTHON`` if it is not the default one.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
    factory : callable
        Makes an empty accumulator.
    fan_in : int
        How many states a task merges.
    **roles
        Names of columns.
    """
    spec = Spec(factory, roles)
    _check_fan_in(fan_in)
    rows = frame.select(*(f"`{name.replace('`', '``')}`" for name in spec.columns))
    states = rows.mapInArrow(lambda batches: _arrow_states(batches, spec), "state binary")
    n = _spark_partitions(rows)
    while n > fan_in:
        n = -(-n // fan_in)
        states = states.repartition(n).mapInArrow(_arrow_combine, "state binary")
    return _merge_into(factory(), states.toArrow()["state"].to_pylist())


def _spark_partitions(frame: Any) -> int:
    try:
        return int(frame.rdd.getNumPartitions())
    except Exception:  # Spark Connect does not say: then the driver merges all
        return 0


def _arrow_states(batches: Iterable[Any], spec: Spec) -> Iterator[Any]:
    """In a task of Spark: one state for all batches of a partition, also if it has no rows."""
    import pyarrow as pa

    _core.work_alone()
    total = spec.factory()
    for batch in batches:
        spec.add(total, pa.Table.from_batches([batch]))
    yield pa.RecordBatch.from_pydict({"state": pa.array([total.to_bytes()], pa.binary())})


def _arrow_combine(batches: Iterable[Any]) -> Iterator[Any]:
    import pyarrow as pa

    states = [state for batch in batches for state in batch["state"].to_pylist()]
    merged = [combine(states)] if states else []
    yield pa.RecordBatch.from_pydict({"state": pa.array(merged, pa.binary())})


def ray(dataset: Any, factory: Callable[[], Any], **roles: Any) -> Any:
    """Return the accumulator of a Ray Dataset, by ``map_batches`` over its blocks.

    Parameters
    ----------
    dataset : ray.data.Dataset
    factory : callable
        Makes an empty accumulator.
    **roles
        Names of columns.
    """
    spec = Spec(factory, roles)
    states = dataset.select_columns(spec.columns).map_batches(
        _ray_block, fn_args=(spec,), batch_format="pyarrow", batch_size=None
    )
    return _merge_into(factory(), (row["state"] for row in states.iter_rows()))


def _ray_block(block: Any, spec: Spec) -> dict[str, list[bytes]]:
    return {"state": [_in_worker(block, spec)]}


def _merge_into(total: Any, states: Iterable[bytes]) -> Any:
    for state in states:
        total.merge(restore(state))
    return total


def _check_fan_in(fan_in: int) -> None:
    checked_count(fan_in, "fan_in", least=2)


def _require_iterable(value: Any, name: str) -> None:
    if not hasattr(value, "__iter__") or isinstance(value, (str, bytes, Mapping)):
        raise TypeError(f"{name} must be an iterable, such as a list, got {type(value).__name__}")
