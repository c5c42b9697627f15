"""What a report is made of: sections with numbers, figures and tables."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Literal

from calibrant._result import json_ready
from calibrant.calibration._verdict import pvalue_text
from calibrant.plotting import Display
from calibrant.scorecards._table import number_text

__all__ = ["Figure", "Number", "Section", "Table"]

Form = Literal["number", "count", "pvalue", "angle", "text"]


@dataclass(frozen=True)
class Number:
    """A number, and how to read it.

    Attributes
    ----------
    name, label : str
        As in the JSON, and as readers see it.
    value, low, high : float, int, str or None
        None where it is undefined, or has no interval.
    method : str
        How the interval was found; "certified" if the value is certain to lie in it.
    explanation : str
        One line.
    reason : str
        Why it is undefined.
    form : {"number", "count", "pvalue", "angle", "text"}
    log : float, optional
        Of a p-value, its logarithm.
    definition : str
        Under which name it is defined, if not its own.
    """

    name: str
    label: str
    value: float | int | str | None
    low: float | None = None
    high: float | None = None
    method: str = ""
    explanation: str = ""
    reason: str = ""
    form: Form = "number"
    log: float | None = None
    definition: str = ""

    @property
    def text(self) -> str:
        """The value, to be read; one that is not exact is marked."""
        about = "~" if self.method.endswith(", certified") else ""
        return f"{about}{self._shown(self.value)}"

    @property
    def interval(self) -> str:
        """The interval, to be read; empty if it has none, or is narrower than the digits."""
        if self.low is None or self.high is None or math.isnan(self.low):
            return ""
        low, high = self._shown(self.low), self._shown(self.high)
        if low == high == self._shown(self.value):
            return ""
        return f"{'surely ' if self.method == 'certified' else ''}{low} to {high}"

    def _shown(self, value: float | int | str | None) -> str:
        if value is None or (isinstance(value, float) and math.isnan(value)):
            return "undefined"
        if isinstance(value, str):
            return value
        if self.form == "count":
            return f"{value:,.0f}"
        if self.form == "angle":
            return f"{value:.1f}\N{DEGREE SIGN}"
        if self.form == "pvalue":
            return pvalue_text(value, self.log).removeprefix("p ").removeprefix("= ")
        if math.isinf(value):
            return "\N{INFINITY}" if value > 0 else "\N{MINUS SIGN}\N{INFINITY}"
        return number_text(value).replace("-", "\N{MINUS SIGN}")

    def to_dict(self) -> dict[str, Any]:
        """Return what readers see and all digits, ready for JSON."""
        names = ("name", "label", "value", "low", "high", "method", "explanation", "reason")
        return {name: json_ready(getattr(self, name)) for name in names}


@dataclass(frozen=True)
class Figure:
    """A display to be drawn, and its numbers.

    Attributes
    ----------
    name : str
        Unique in the report.
    display : Display
    description : str
        What is to be seen, for those who cannot.
    data : dict
        The numbers that are drawn, ready for JSON.
    options : dict
        Of the display's ``plot``.
    size : tuple of float, optional
        Inches; by default the width of the report and the height of the display.
    """

    name: str
    display: Display[Any]
    description: str
    data: dict[str, Any]
    options: dict[str, Any] = field(default_factory=dict)
    size: tuple[float, float] | None = None


@dataclass(frozen=True)
class Table:
    """Rows of text under a head; the first column names the row, the others are numbers."""

    name: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


@dataclass(frozen=True)
class Section:
    """What one concept has to say.

    Attributes
    ----------
    name, title, explanation : str
        The explanation is one paragraph.
    numbers, figures, tables : tuple
    notes : tuple of str
        What could not be computed, and why; what to read with care.
    definition : str
        The page of the documentation.
    terms : tuple of str
        Names of definitions that are needed besides those of the numbers.
    """

    name: str
    title: str
    explanation: str
    numbers: tuple[Number, ...] = ()
    figures: tuple[Figure, ...] = ()
    tables: tuple[Table, ...] = ()
    notes: tuple[str, ...] = ()
    definition: str = ""
    terms: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return all of it by name, ready for JSON; a figure is its numbers."""
        return {
            "name": self.name,
            "title": self.title,
            "explanation": self.explanation,
            "definition": self.definition,
            "numbers": [number.to_dict() for number in self.numbers],
            "figures": {figure.name: json_ready(figure.data) for figure in self.figures},
            "tables": {
                table.name: [dict(zip(table.head, row, strict=True)) for row in table.rows]
                for table in self.tables
            },
            "notes": list(self.notes),
        }
