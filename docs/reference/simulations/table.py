"""A table of simulated rates, as a page of the documentation shows it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

__all__ = ["Table", "percent"]


@dataclass
class Table:
    """Rates of one verdict, test or interval, over settings.

    Attributes
    ----------
    title : str
    text : str
        What was simulated, how often, and what is nominal.
    columns : sequence of str
        Heads; the first column names the setting.
    rows : list of sequences of str
    """

    title: str
    text: str
    columns: Sequence[str]
    rows: list[Sequence[str]] = field(default_factory=list)

    def add(self, *cells: object) -> None:
        """Append a row."""
        self.rows.append([str(cell) for cell in cells])

    def markdown(self) -> str:
        """Return the section of the page."""
        lines = [f"## {self.title}", "", self.text, "", "| " + " | ".join(self.columns) + " |"]
        lines.append("| --- " + "| ---: " * (len(self.columns) - 1) + "|")
        lines += ["| " + " | ".join(row) + " |" for row in self.rows]
        return "\n".join(lines)


def percent(count: int, runs: int) -> str:
    """Return a rate, such as 4.7 %."""
    return f"{100.0 * count / runs:.1f} %" if runs else "none"
