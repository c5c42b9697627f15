"""How the rows of a batch get into groups."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibrant import _core
from calibrant._input.batch_rows import cut_rows, n_rows, runs
from calibrant._input.group_keys import kind_of
from calibrant._input.labels import event_rows
from calibrant._input.validation import check_nan_policy
from calibrant.grouped import _runs

__all__ = ["batch_of"]


def batch_of(
    groups: _core.GroupedAccumulators,
    rows: dict[str, Any],
    codes: NDArray[np.int32],
    keys: list[Any],
    rows_before: int = 0,
) -> _core.GroupedAccumulators:
    """Return groups of the rows of a batch, for ``groups.add``.

    Rows are the arguments of ``update`` by name. Codes say the key of each; rows without one have
    code -1, and are checked and left out. Messages count rows from those before on.
    """
    kind = kind_of(keys[:1])
    if kind == "str":
        _check_can_be_saved(keys)
    batch = groups.begin(keys, kind)
    if batch.takes == "events":
        batch.update(*_event_arguments(rows), codes, rows_before)
    elif batch.takes == "rows":
        state: Any = _runs.GroupsOfRows(batch, codes)
        batch.empty._from_state(state).update(**rows)
    elif batch.takes == "runs":
        _add_runs(batch, groups, rows, codes, keys)
    else:
        _add_states(batch, rows, codes, len(keys))
    return batch


def _event_arguments(rows: dict[str, Any]) -> tuple[Any, Any, Any, bool]:
    """Return what an accumulator of events gives to the core."""
    y_true, y_proba = rows["y_true"], rows["y_proba"]
    omit = check_nan_policy(rows.get("nan_policy", "raise"))
    codes, y_proba = event_rows(
        y_true, y_proba, labels=rows.get("labels"), pos_label=rows.get("pos_label"),
        multi_class=rows.get("multi_class", "auto"),
    )  # fmt: skip
    return codes, y_proba, rows.get("sample_weight"), omit


def _add_runs(
    batch: _core.GroupedAccumulators,
    groups: _core.GroupedAccumulators,
    rows: dict[str, Any],
    codes: NDArray[np.int32],
    keys: list[Any],
) -> None:
    empty = batch.empty
    by_rows_seen = isinstance(empty._state, _core.Ranks)  # ties are broken by them
    seen = groups.rows_of(keys) if by_rows_seen else np.zeros(len(keys), np.uint64)
    for run in _runs.runs(rows, codes, len(keys)):
        of_run = seen[run.first : run.first + run.starts.size - 1]
        state: Any = _runs.GroupsOfRuns(batch, run.first, run.starts, of_run)
        _update(empty._from_state(state), run.arguments, rows, empty)
        del run  # so that its memory can be used again


def _add_states(
    batch: _core.GroupedAccumulators, rows: dict[str, Any], codes: NDArray[np.int32], n: int
) -> None:
    """Update one accumulator after the other."""
    if n_rows(rows) != codes.size:
        batch.empty.copy().update(**rows)  # says if a column is too short
        raise ValueError(
            f"groups and the rows must have the same length, got {codes.size} and {n_rows(rows)}"
        )
    parts = [batch.empty.copy() for _ in range(n + 1)]  # the last one of rows without a key
    for code, some in runs(codes.astype(np.int64)):
        _update(parts[code], cut_rows(rows, some), rows, batch.empty)
    for part in parts[:-1]:
        batch.append(part._state)


def _update(part: Any, some: dict[str, Any], rows: dict[str, Any], empty: Any) -> None:
    """Update with some of the rows; if one is rejected, say which of all it is."""
    try:
        part.update(**some)
    except ValueError:
        empty.copy().update(**rows)
        raise


def _check_can_be_saved(keys: list[str]) -> None:
    try:
        "".join(keys).encode()
    except UnicodeEncodeError as error:  # half of a surrogate pair, as in the name of a file
        half = error.object[error.start]
        key = next(key for key in keys if half in key)
        raise ValueError(f"keys must be text that UTF-8 can hold, found {key!r}") from None
