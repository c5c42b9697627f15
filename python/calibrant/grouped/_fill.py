"""How the rows of a batch get into groups."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibrant import _core
from calibrant._input.batch_rows import cut_rows, n_rows, runs
from calibrant._input.draws import arranged
from calibrant._input.group_keys import kind_of

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
    if not batch.are_updated:
        _add_states(batch, rows, codes, len(keys))
        return batch
    if "draws" in rows:
        draws = arranged(rows["draws"], rows.get("axis", 1), truth=rows.get("truth"))
        if getattr(draws, "ndim", 2) == 3:  # the core asks for those of a pair side by side
            draws = np.ascontiguousarray(draws)
        rows = {**rows, "draws": draws, "axis": 1}
    state: Any = _State(lambda arguments: batch.update(codes, arguments, groups, rows_before))
    batch.empty._from_state(state).update(**rows)
    return batch


class _State:
    """In the place of an accumulator's state: the arguments of its update go to the groups."""

    n = 0

    def __init__(self, update: Callable[[tuple[Any, ...]], None]) -> None:
        self._update = update

    def update(self, *arguments: Any) -> None:
        self._update(arguments)


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
        try:
            parts[code].update(**cut_rows(rows, some))
        except ValueError:
            batch.empty.copy().update(**rows)  # says which row of all it is
            raise
    for part in parts[:-1]:
        batch.append(part._state)


def _check_can_be_saved(keys: list[str]) -> None:
    try:
        "".join(keys).encode()
    except UnicodeEncodeError as error:  # half of a surrogate pair, as in the name of a file
        half = error.object[error.start]
        key = next(key for key in keys if half in key)
        raise ValueError(f"keys must be text that UTF-8 can hold, found {key!r}") from None
