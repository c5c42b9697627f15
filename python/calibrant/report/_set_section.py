"""The section about prediction sets."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from calibrant.intervals._coverage import SizeGroup, SizeGroups
from calibrant.intervals._set_results import SetSummary
from calibrant.plotting import SetSizesDisplay
from calibrant.report._section import Figure, Number, Section, Table
from calibrant.report._svg import WIDTH
from calibrant.report._view import View

__all__ = ["sets"]

#: Of sizes in the table, and of levels that are drawn.
MOST_ROWS = 20
MOST_FIGURES = 3


def _numbers(found: SetSummary, level: int, suffix: str) -> tuple[Number, ...]:
    coverage, size = found.coverage, found.size

    def at(values: Any) -> float:
        return float(np.atleast_1d(values)[level])

    return (
        Number(
            f"set_coverage{suffix}", f"coverage{suffix}", at(coverage.value), at(coverage.low),
            at(coverage.high), "Wilson", "how often the set holds what happened",
            definition="set_coverage",
        ),
        Number(
            f"set_size{suffix}", f"mean size{suffix}", at(size.value),
            explanation="classes in a set; of equal coverage, smaller is better",
            definition="set_size",
        ),
        Number(
            f"empty_sets{suffix}", f"empty sets{suffix}", at(size.empty),
            explanation="share of rows without any class: these never cover",
            definition="set_size",
        ),
        Number(
            f"largest_set{suffix}", f"largest set{suffix}", at(size.largest),
            explanation="classes", form="count", definition="set_size",
        ),
    )  # fmt: skip


def _row(group: SizeGroup, total: float) -> tuple[str, ...]:
    covered = Number("", "", group.coverage, group.low, group.high)
    share = Number("", "", group.weight / total)
    return f"{group.least:g}", f"{group.weight:,.6g}", share.text, covered.text, covered.interval


def _table(level: SizeGroups, suffix: str) -> Table:
    total = math.fsum(group.weight for group in level.groups)
    more = len(level.groups) - MOST_ROWS
    return Table(
        f"sizes{suffix}",
        ("classes", "rows", "share", "coverage", "interval"),
        tuple(_row(group, total) for group in level.groups[:MOST_ROWS]),
        f"{more:,} more sizes, all larger." if more > 0 else "",
    )


def sets(view: View) -> Section | None:
    """Coverage, sizes, and coverage by size."""
    found = view.sets
    if found is None:
        return None
    levels = found.by_size.levels
    suffixes = [""] if len(levels) == 1 else [f" {i}" for i in range(len(levels))]
    numbers = [_numbers(found, i, suffix) for i, suffix in enumerate(suffixes)]
    figures = tuple(
        Figure(
            f"set-sizes{suffix.replace(' ', '-')}",
            SetSizesDisplay(found),
            "How large the prediction sets are, and how often sets of each size cover",
            level.to_dict(),
            {"level": i},
            (WIDTH, SetSizesDisplay.size[1]),
        )
        for i, (suffix, level) in enumerate(zip(suffixes, levels, strict=True))
    )
    return Section(
        "sets",
        "Prediction sets",
        "How often the sets hold the class that happened, and how many classes they name. Sets "
        "can cover as promised on average, and too seldom where they are small.",
        tuple(number for of_level in numbers for number in of_level),
        figures[:MOST_FIGURES],
        tuple(_table(level, suffix) for level, suffix in zip(levels, suffixes, strict=True)),
        notes=tuple(level.note for level in levels if level.note),
        definition="docs/guide/intervals.md",
    )
