"""The section that compares groups."""

from __future__ import annotations

from typing import Any

from calibrant._result import counted
from calibrant.plotting import GroupsDisplay
from calibrant.plotting._groups import by_worst
from calibrant.report._probability_sections import estimate
from calibrant.report._section import Figure, Section, Table
from calibrant.report._svg import WIDTH
from calibrant.report._view import View
from calibrant.scorecards import Scorecard
from calibrant.scorecards._table import column_head

__all__ = ["groups"]

METRIC = "ece"
#: What a row of the table has room for.
COLUMNS = ("base_rate", "hit_rate", "accuracy", "brier", "ece", "spiegelhalter_pvalue")
#: Of the table; of more groups, the worst are shown.
MOST_ROWS = 50
MOST_DRAWN = 20


def _row(key: Any, card: Scorecard) -> tuple[str, ...]:
    return (str(key), f"{card.n:,}", *(estimate(card, name).text for name in COLUMNS))


def groups(view: View) -> Section | None:
    """Group by group, the worst first."""
    card = view.card
    if not card.groups:
        return None
    ranked = by_worst(card, METRIC)
    shown = ranked[:MOST_ROWS]
    more = len(ranked) - len(shown)
    table = Table(
        "groups",
        ("group", "rows", *(column_head(name) for name in COLUMNS)),
        tuple(_row(key, group) for key, group in shown),
        f"{more:,} more groups, none worse than these." if more else "",
    )
    left_out, most_rows = view.groups_left_out
    small = (
        f"The {len(ranked):,} groups with the most rows are compared; {left_out:,} others have at "
        f"most {counted(most_rows, 'row')} each. calibrant score --json has all of them."
    )
    drawn = min(len(ranked), MOST_DRAWN)
    by = view.source.get("roles", {}).get("group") if view.source.get("roles") else None
    figure = Figure(
        "groups",
        GroupsDisplay(card),
        f"Expected calibration error of {len(ranked)} groups, the worst on top",
        {"order": [str(key) for key, _ in ranked], "metric": METRIC},
        {"metric": METRIC, "most_groups": MOST_DRAWN},
        (WIDTH, 1.3 + 0.24 * drawn),
    )
    return Section(
        "groups",
        f"Groups by {by}" if by else "Groups",
        f"{len(ranked):,} groups, the worst calibrated first. They are in the order of the lower "
        "end of their interval, so that a small group is not called worst by chance. Chance alone "
        "makes the error of few rows too large; intervals take that off, and may end below it. The "
        "band is that of all rows.",
        figures=(figure,),
        tables=(table,),
        notes=(
            *((small,) if left_out else ()),
            *(f"{key}: {group.ece.reason}" for key, group in shown if group.ece.value is None),
        ),
        definition="docs/guide/scorecards.md",
    )
