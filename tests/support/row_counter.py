"""The least of accumulators, for tests of what all of them share."""

from __future__ import annotations

from calibrant._accumulator.base import Accumulator
from calibrant._core import _testing


class Rows(Accumulator):
    __slots__ = ()
    _State = _testing.RowCounter

    def __init__(self, label: str = "", *, count: int = 0) -> None:
        self._state = self._State(label, count)

    def update(self, rows: int, **options: object) -> None:
        self._state.update(rows, **options)

    def result(self) -> int:
        return self.n

    def _parameters(self) -> dict[str, object]:
        return {"label": self._state.label}
