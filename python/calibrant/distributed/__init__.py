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

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import chain
from typing import Any

from calibrant._accumulator.states import restore
from calibrant._input.validation import checked_count
from calibrant.distributed._partitions import (
    Spec,
    combine,
    finish,
    in_worker,
    new_accumulator,
    partial,
    require_iterable,
    working_at,
)

__all__ = ["Spec", "combine", "dask", "finish", "local", "partial", "ray", "spark"]


def __dir__() -> list[str]:
    return __all__


#: States that one task merges: enough to make the tree flat, few enough to be sent at once.
FAN_IN = 16


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
        About a row that was rejected. There is no result of a part of the batches.

    Examples
    --------
    >>> from calibrant.streaming import Scores
    >>> batches = ({"y": [1, 0], "p": [0.75, 0.5]} for _ in range(3))
    >>> local(batches, Scores, label="y", prob="p").n
    6
    """
    spec = Spec(factory, roles)
    require_iterable(batches, "batches")
    workers = os.cpu_count() or 1 if n_workers is None else checked_count(n_workers, "n_workers")
    if executor is not None:
        if not hasattr(executor, "submit"):
            raise TypeError(f"executor must have submit, got {executor!r}")
        return _reduce(batches, spec, executor, workers)
    with ThreadPoolExecutor(workers) as threads:
        return _reduce(batches, spec, threads, workers)


def _reduce(batches: Iterable[Any], spec: Spec, executor: Executor, workers: int) -> Any:
    total = new_accumulator(spec)
    waiting: deque[Future[bytes]] = deque()
    try:
        for i, batch in enumerate(batches):
            waiting.append(executor.submit(in_worker, batch, spec, f"batch {i}"))
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
    empty = new_accumulator(spec)
    try:
        from dask.delayed import delayed
    except ImportError as error:
        raise ImportError('this needs dask: pip install ".[dask]"') from error
    # pure=False: two partitions with equal rows are two partitions.
    score, merge = delayed(in_worker, pure=False), delayed(combine, pure=False)
    parts = _dask_parts(collection, spec.columns, delayed)
    states = [score(part, spec, f"partition {i}") for i, part in enumerate(parts)]
    while len(states) > 1:
        states = [merge(states[i : i + fan_in]) for i in range(0, len(states), fan_in)]
    return restore(states[0].compute()) if states else empty


def _dask_parts(collection: Any, columns: Sequence[str], delayed: Any) -> list[Any]:
    # Of its class: a Delayed has whatever attribute it is asked for.
    is_frame = hasattr(type(collection), "to_delayed") and getattr(collection, "ndim", 0) == 2
    if isinstance(collection, dict) or (is_frame and hasattr(collection, "columns")):
        there = [*collection] if isinstance(collection, dict) else list(collection.columns)
        for name in columns:
            if name not in there:
                raise ValueError(f"collection has no column {name!r} (there are: {there})")
        if isinstance(collection, dict):
            return _dask_chunks({name: collection[name] for name in columns}, delayed)
        return list(collection[columns].to_delayed())
    if hasattr(type(collection), "__dask_graph__"):
        raise TypeError(
            "collection must be a dask DataFrame, a dict of dask Arrays or a list of Delayed, got "
            f"{type(collection).__name__}"
        )
    require_iterable(collection, "collection")
    return list(collection)


def _dask_chunks(arrays: dict[str, Any], delayed: Any) -> list[Any]:
    """One dict of blocks for each chunk of rows."""
    for name, array in arrays.items():
        if not hasattr(array, "chunks"):
            raise TypeError(
                f"collection[{name!r}] must be a dask Array, got {type(array).__name__}"
            )
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

    Rows do not leave their partition; states are merged by `fan_in` tasks, and what these give by
    the driver. Workers must run a Python that has calibrant: set
    ``PYSPARK_PYTHON`` if it is not the default one.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
    factory : callable
        Makes an empty accumulator.
    fan_in : int
        How many tasks merge the states of all partitions.
    **roles
        Names of columns.
    """
    spec = Spec(factory, roles)
    _check_fan_in(fan_in)
    total = new_accumulator(spec)
    if not hasattr(frame, "mapInArrow"):
        raise TypeError(f"frame must be a DataFrame of Spark, got {type(frame)}")
    # Under names of our own: mapInArrow takes dots in names for fields of structures.
    quoted = [name.replace("`", "``") for name in spec.columns]
    rows = frame.selectExpr(*(f"`{name}` AS column{i}" for i, name in enumerate(quoted)))
    states = rows.mapInArrow(lambda batches: _arrow_states(batches, spec), "state binary")
    # How many partitions there are Spark knows when it has run all that comes before them: to ask
    # would be to run it twice.
    states = states.repartition(fan_in).mapInArrow(_arrow_combine, "state binary")
    return _merge_into(total, states.toArrow()["state"].to_pylist())


def _arrow_states(batches: Iterable[Any], spec: Spec) -> Iterator[Any]:
    """In a task of Spark: one state for all batches of a partition, also if it has no rows."""
    import pyarrow as pa
    from pyspark import TaskContext

    task = TaskContext.get()
    with working_at("" if task is None else f"partition {task.partitionId()}"):
        total, first_row = new_accumulator(spec), 0
        for batch in batches:
            table = pa.Table.from_batches([batch]).rename_columns(spec.columns)
            first_row = spec.add(total, table, first_row)
    yield pa.RecordBatch.from_pydict({"state": pa.array([total.to_bytes()], pa.binary())})


def _arrow_combine(batches: Iterable[Any]) -> Iterator[Any]:
    import pyarrow as pa

    states = (state for batch in batches for state in batch["state"].to_pylist())
    first = next(states, None)
    merged = [] if first is None else [combine(chain([first], states))]
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

    Raises
    ------
    Exception
        If a block fails, also where ``max_errored_blocks`` lets others go on without it: all rows
        are in the result, or there is none.
    """
    spec = Spec(factory, roles)
    total = new_accumulator(spec)
    if not hasattr(dataset, "map_batches"):
        raise TypeError(f"dataset must be a Dataset of Ray, got {type(dataset)}")
    states = dataset.select_columns(spec.columns).map_batches(
        _ray_block, fn_args=(spec,), batch_format="pyarrow", batch_size=None
    )
    with _no_block_lost(states):
        return _merge_into(total, (row["state"] for row in states.iter_rows()))


@contextmanager
def _no_block_lost(dataset: Any) -> Iterator[None]:
    """Let a block that fails be an error: Ray may be set to go on without its rows."""
    context = getattr(dataset, "context", None)
    if context is None:  # of older versions
        from ray.data import DataContext

        context = DataContext.get_current()
    before = context.max_errored_blocks
    context.max_errored_blocks = 0
    try:
        yield
    finally:
        context.max_errored_blocks = before


def _ray_block(block: Any, spec: Spec) -> dict[str, list[bytes]]:
    return {"state": [in_worker(block, spec, "a block")]}


def _merge_into(total: Any, states: Iterable[bytes]) -> Any:
    for state in states:
        total.merge(restore(state))
    return total


def _check_fan_in(fan_in: int) -> None:
    checked_count(fan_in, "fan_in", least=2)
