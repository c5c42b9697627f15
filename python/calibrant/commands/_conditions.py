"""Conditions on a scorecard, such as ``ece>0.05``: what a pipeline is guarded by."""

from __future__ import annotations

import difflib
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from calibrant._scorecard_table import ROWS

if TYPE_CHECKING:
    from calibrant.scorecards import Scorecard

__all__ = ["Condition", "parse_condition"]

_FORM = re.compile(r"\s*(\w+)(?:\.(\w+))?\s*(>=|<=|>|<)\s*(\S+)\s*")
_ENDS = ("value", "low", "high")
_COMPARE: dict[str, Callable[[float, float], bool]] = {
    ">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le,
}  # fmt: skip


@dataclass(frozen=True)
class Condition:
    """A number of the scorecard, or an end of its interval, compared with a bound."""

    name: str
    end: str
    sign: str
    bound: float

    def holds(self, card: Scorecard) -> bool:
        """Return whether it does; a number that is undefined is a ValueError."""
        return _COMPARE[self.sign](self._number(card), self.bound)

    def _number(self, card: Scorecard) -> float:
        estimate = getattr(card, self.name)
        number: float | None = getattr(estimate, self.end)
        if number is None:
            why = estimate.reason or "it has no interval"
            raise ValueError(f"--fail-if {self}: {self.name} is undefined: {why}")
        return number

    def found(self, card: Scorecard) -> str:
        """Say what was found, and what the bound is."""
        return f"{self.name}{self._dotted} is {self._number(card):.6g}, {self.sign} {self.bound:g}"

    @property
    def _dotted(self) -> str:
        return "" if self.end == "value" else f".{self.end}"

    def __str__(self) -> str:
        return f"{self.name}{self._dotted}{self.sign}{self.bound:g}"


def parse_condition(text: str) -> Condition:
    """Read a condition, or say what is wrong with it."""
    match = _FORM.fullmatch(text)
    if match is None:
        raise ValueError(f"--fail-if {text!r}: write it like ece>0.05 or ece.low>0.05")
    name, end, sign, number = match[1], match[2] or "value", match[3], match[4]
    if name not in ROWS:
        near = difflib.get_close_matches(name, ROWS, n=1, cutoff=0.3)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise ValueError(f"--fail-if: no number {name!r}{hint} (there are: {', '.join(ROWS)})")
    if end not in _ENDS:
        raise ValueError(f"--fail-if {text!r}: after the dot comes one of {', '.join(_ENDS)}")
    try:
        return Condition(name, end, sign, float(number))
    except ValueError as error:
        raise ValueError(f"--fail-if {text!r}: {number!r} is not a number") from error
