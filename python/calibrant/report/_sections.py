"""The registry of sections, in the order of the report.

A section is a function that takes a `View` of the evidence and returns a `Section`, or None
where the evidence has nothing for it. A concept joins by adding its function to the list.
"""

from __future__ import annotations

from collections.abc import Callable

from calibrant.report._group_section import groups
from calibrant.report._probability_sections import (
    assessment,
    cumulative,
    reliability,
    roc,
    scorecard,
    spectrum,
)
from calibrant.report._section import Section
from calibrant.report._view import View

__all__ = ["SECTIONS"]

SECTIONS: list[Callable[[View], Section | None]] = [
    scorecard,
    assessment,
    reliability,
    cumulative,
    spectrum,
    roc,
    groups,
]
