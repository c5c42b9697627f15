"""The sections about prediction intervals."""

from __future__ import annotations

import math
from typing import Any

from calibrant.intervals._summary import IntervalLevel
from calibrant.plotting import IntervalCoverageDisplay, SizeGroupsDisplay
from calibrant.report._section import Figure, Number, Section, Table
from calibrant.report._svg import WIDTH
from calibrant.report._view import View

__all__ = ["by_width", "hsic", "intervals"]

#: Of levels, and of groups by width, that are drawn.
MOST_FIGURES = 3


def _percent(level: float) -> str:
    return f"{100 * level:g}%"


def _coverage(level: IntervalLevel) -> Number:
    found = level.coverage
    return Number(
        f"coverage_{level.confidence_level:g}",
        f"coverage at {_percent(level.confidence_level)}",
        found.value,
        found.low,
        found.high,
        found.method,
        level.verdict,
        found.reason,
        definition="coverage",
    )


def _row(level: IntervalLevel) -> tuple[str, ...]:
    numbers = (
        level.coverage.value, level.below.value, level.above.value, level.mean_width, level.score,
        level.criterion,
    )  # fmt: skip
    shown = (Number("", "", number).text for number in numbers)
    return (_percent(level.confidence_level), *shown, level.verdict)


def intervals(view: View) -> Section | None:
    """Coverage and width, level by level."""
    found = view.intervals
    if found is None:
        return None
    table = Table(
        "levels",
        ("level", "coverage", "below", "above", "mean width", "score", "CWC", "verdict"),
        tuple(map(_row, found.levels)),
    )
    figure = Figure(
        "interval-coverage",
        IntervalCoverageDisplay(found),
        "Coverage of prediction intervals against what their levels promise",
        found.to_dict(),
        size=(WIDTH, 1.3 + 0.26 * len(found)),
    )
    return Section(
        "intervals",
        "Prediction intervals",
        "How often the intervals hold what happened, against the level they promise, and how "
        "wide they are. Of two models that keep their promise, the one with the narrower "
        "intervals, and the lower score, knows more.",
        tuple(map(_coverage, found.levels)),
        (figure,),
        (table,),
        notes=tuple(
            f"{_percent(level.confidence_level)}: {note}"
            for level in found.levels
            for note in level.notes
        ),
        definition="docs/guide/intervals.md",
        terms=("below", "interval_score", "criterion"),
    )


def by_width(view: View) -> Section | None:
    """Coverage of narrow and of wide intervals."""
    if view.intervals is None:
        return None
    levels = [x for x in view.intervals.levels if x.by_width is not None and x.by_width.worst]
    if not levels:
        return None
    numbers, figures = [], []
    for level in levels:
        assert level.by_width is not None
        worst = level.by_width.worst
        assert worst is not None
        name = _percent(level.confidence_level)
        numbers.append(
            Number(
                f"size_stratified_coverage_{level.confidence_level:g}",
                f"worst coverage at {name}",
                worst.coverage,
                worst.low,
                worst.high,
                "Wilson",
                f"of the {worst.weight:,.6g} rows with widths from {worst.least:.4g} to "
                f"{worst.largest:.4g}",
                definition="size_stratified_coverage",
            )
        )
        figures.append(
            Figure(
                f"coverage-by-width-{level.confidence_level:g}".replace(".", "-"),
                SizeGroupsDisplay(level.by_width),
                f"Coverage by width of the intervals of level {name}",
                level.by_width.to_dict(),
                {"nominal": level.confidence_level, "name": f"level {name}"},
                (WIDTH, 1.4 + 0.26 * len(level.by_width.groups)),
            )
        )
    return Section(
        "by_width",
        "Coverage by width",
        "Intervals can keep their promise on average and break it where they are narrow. Here "
        "rows are grouped by the width of their interval.",
        tuple(numbers),
        tuple(figures[:MOST_FIGURES]),
        definition="docs/guide/intervals.md",
    )


def hsic(view: View) -> Section | None:
    """Does coverage depend on width?"""
    accumulator = getattr(view.evidence, "coverage_hsic", None)
    if accumulator is None:
        reason = getattr(view.evidence, "left_out", {}).get("coverage_hsic")
        return None if reason is None else _hsic_section((), (f"It is left out: {reason}.",))
    try:
        found: Any = accumulator.result()
    except ValueError as error:
        return _hsic_section((), (str(error),))
    levels = getattr(found, "levels", (found,))
    assert view.intervals is not None  # the same rows
    numbers = tuple(
        Number(
            f"hsic_{nominal.confidence_level:g}",
            f"HSIC at {_percent(nominal.confidence_level)}",
            None if math.isnan(level.hsic) else level.hsic,
            explanation="0: coverage does not depend on width; "
            f"bandwidth of the widths {level.bandwidths[0]:.4g}",
            reason=level.reason or "",
            definition="hsic",
        )
        for nominal, level in zip(view.intervals.levels, levels, strict=True)
    )
    return _hsic_section(numbers, ())


def _hsic_section(numbers: tuple[Number, ...], notes: tuple[str, ...]) -> Section:
    return Section(
        "hsic",
        "Dependence of coverage on width",
        "The Hilbert-Schmidt independence criterion between the width of an interval and whether "
        "it covers. It needs no groups, and sees dependence of any form between widths that "
        "differ by about the bandwidth or more.",
        numbers,
        notes=notes,
        definition="docs/guide/dependence.md",
    )
