"""The registry of sections, in the order of the report.

A section is a function that takes a `View` of the evidence and returns a `Section`, or None
where the evidence has nothing for it. A concept joins by adding its function to the list.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

from calibrant.report._group_section import groups
from calibrant.report._interval_sections import by_width, hsic, intervals
from calibrant.report._probability_sections import (
    assessment,
    cumulative,
    reliability,
    roc,
    scorecard,
    spectrum,
)
from calibrant.report._rank_section import rank_section
from calibrant.report._section import Section
from calibrant.report._set_section import sets
from calibrant.report._time_section import over_time
from calibrant.report._view import View

__all__ = ["SECTIONS"]

SectionFunction = Callable[[View], Section | None]


def of_probabilities(section: SectionFunction) -> SectionFunction:
    """Return a section that is left out where there are no probabilities."""

    @wraps(section)
    def found(view: View) -> Section | None:
        return section(view) if view.has_probabilities else None

    return found


def ranks(view: View) -> Section | None:
    """Where truths lie among draws."""
    return None if view.ranks is None else rank_section(view.ranks)


SECTIONS: list[SectionFunction] = [
    *map(of_probabilities, (scorecard, reliability, assessment, cumulative, spectrum, roc, groups)),
    over_time,
    intervals,
    by_width,
    hsic,
    sets,
    ranks,
]
