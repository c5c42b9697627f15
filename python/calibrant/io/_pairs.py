"""Several tables with the same rows, read side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from calibrant.io._batches import Batch

if TYPE_CHECKING:
    from calibrant.io import Scan

__all__ = ["side_by_side"]


def side_by_side(scans: Mapping[str, Scan]) -> Iterator[tuple[Batch, dict[str, Any], int]]:
    """Give the first table's batches, the probabilities of all by name, and the first row.

    Batches of different length are cut to fit.

    Raises
    ------
    ValueError
        If labels differ, or if one table ends before another.
    """
    readers = [_Reader(scan) for scan in scans.values()]
    row = 0
    while True:
        left = [reader.rows_left() for reader in readers]
        n = min(left)
        if n == 0:
            _check_end(scans, left, row)
            return
        batches = [reader.take(n) for reader in readers]
        for name, batch in zip(scans, batches, strict=True):
            _check_labels(scans, batches[0].y_true, name, batch.y_true, row)
        yield batches[0], dict(zip(scans, (b.y_proba for b in batches), strict=True)), row
        row += n


class _Reader:
    def __init__(self, scan: Scan) -> None:
        self._batches = iter(scan)
        self._batch: Batch | None = None
        self._used = 0

    def rows_left(self) -> int:
        """Of the batch in hand, or of the next one; 0 at the end."""
        while self._batch is None or self._used == self._batch.n:
            self._batch, self._used = next(self._batches, None), 0
            if self._batch is None:
                return 0
        return self._batch.n - self._used

    def take(self, n: int) -> Batch:
        assert self._batch is not None
        rows = slice(self._used, self._used + n)
        self._used += n
        whole = self._batch
        y_true, weight = _cut(whole.y_true, rows), _cut(whole.sample_weight, rows)
        return Batch(y_true, _cut(whole.y_proba, rows), weight, n=n)


def _cut(column: Any, rows: slice) -> Any:
    if column is None:
        return None
    return column.iloc[rows] if hasattr(column, "iloc") else column[rows]


def _check_labels(
    scans: Mapping[str, Scan], labels: Any, second: str, others: Any, row: int
) -> None:
    if labels is others:
        return
    first = next(iter(scans))
    a, b = np.asarray(labels), np.asarray(others)
    differ = np.flatnonzero((a != b) & ~((a != a) & (b != b)))
    if differ.size:
        at = int(differ[0])
        mine, other = _name(scans[first], a[at]), _name(scans[second], b[at])
        raise ValueError(
            f"{first} and {second} have different labels at row {row + at}: {mine} and {other}; "
            "models are compared on the same rows, in the same order"
        )


def _name(scan: Scan, label: Any) -> Any:
    """The class that a code stands for; a missing one stays as it is."""
    return label if scan.classes is None or label != label else scan.classes[int(label)]


def _check_end(scans: Mapping[str, Scan], left: Sequence[int], row: int) -> None:
    ended = [name for name, n in zip(scans, left, strict=True) if n == 0]
    longer = [name for name, n in zip(scans, left, strict=True) if n != 0]
    if longer:
        raise ValueError(
            f"{ended[0]} has {row} rows, {longer[0]} has more; models are compared on the same rows"
        )
