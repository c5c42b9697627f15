"""What changes in the windows of a stream: as a whole, so that an interrupt finds it whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

__all__ = ["KeptPanes", "Panes"]


class Panes(NamedTuple):
    """Accumulators of panes, by number, and of older rows; only `KeptPanes.update` changes one."""

    panes: dict[int, Any]
    older: Any
    #: The greatest timestamp so far; by rows, the number of rows so far.
    latest: int | float | None = None
    n_late: int = 0

    def between(self, first: int, last: int) -> list[int]:
        """Return the numbers of the panes from the first to the last, in order."""
        if last - first < len(self.panes):
            return [key for key in range(first, last + 1) if key in self.panes]
        return sorted(key for key in self.panes if first <= key <= last)

    def from_pane(self, first: int) -> Panes:
        """Return the same with all panes before the first merged into the older rows."""
        gone = sorted(key for key in self.panes if key < first)
        if not gone:
            return self
        older = self.older.copy()
        for key in gone:
            older.merge(self.panes[key])
        panes = {key: pane for key, pane in self.panes.items() if key >= first}
        return self._replace(panes=panes, older=older)


class KeptPanes:
    """The panes of now. Those who use it hold a lock."""

    __slots__ = ("_kept", "_pending")

    def __init__(self, kept: Panes) -> None:
        self._kept = kept
        #: A pane that is being updated in place, its rows before, and what is true if it has more.
        self._pending: tuple[Any, int, Panes] | None = None

    @property
    def now(self) -> Panes:
        if self._pending is not None:
            pane, rows, after = self._pending
            if _rows_of(pane) != rows:
                return after
        return self._kept

    def change(self, change: Callable[[], None]) -> None:
        """Call what changes them: all or nothing, also where a signal raises an exception."""
        self.replace(self.now)  # an interrupt may have left it pending
        change()

    def replace(self, after: Panes) -> None:
        self._kept = after
        self._pending = None

    def update(self, pane: Any, arguments: dict[str, Any], after: Panes) -> None:
        """Update one of the panes in place, which is all or nothing by itself, then replace."""
        self._pending = (pane, _rows_of(pane), after)
        pane.update(**arguments)
        self.replace(after)


def _rows_of(pane: Any) -> int:
    return int(pane.n) + int(getattr(pane, "n_omitted", 0))
