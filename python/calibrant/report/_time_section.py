"""The section that compares windows of time with the first one."""

from __future__ import annotations

from typing import Any

from calibrant._result import counted, json_key, moment_text
from calibrant.drift import drift_since_first
from calibrant.plotting import DriftDisplay
from calibrant.report._probability_sections import estimate
from calibrant.report._section import Figure, Section, Table
from calibrant.report._view import View
from calibrant.scorecards._table import column_head

__all__ = ["over_time"]

METRIC = "brier"
#: What a row of the table has room for.
COLUMNS = ("base_rate", "hit_rate", "brier", "ece")
#: Of the table, the latest ones.
MOST_ROWS = 50


def over_time(view: View) -> Section | None:
    """Window by window, in the order of time."""
    if not view.windows:
        return None
    drift = drift_since_first(view.windows, view.confidence_level)
    changed = () if drift is None else drift.drifted

    def row(window: Any) -> tuple[str, ...]:
        card = window.accumulator.result(view.confidence_level)
        numbers = (estimate(card, name).text for name in COLUMNS)
        return (
            moment_text(window.start),
            f"{window.n:,}",
            *numbers,
            "yes" if window in changed else "",
        )

    shown = view.windows[-MOST_ROWS:]
    more = len(view.windows) - len(shown)
    table = Table(
        "windows",
        ("from", "rows", *map(column_head, COLUMNS), "changed"),
        tuple(map(row, shown)),
        f"{counted(more, 'earlier window')} not shown." if more else "",
    )
    column = (view.source.get("roles") or {}).get("timestamp")
    return Section(
        "time",
        f"Over time, by {column}" if column else "Over time",
        f"{counted(len(view.windows), 'window')}. Each is compared with the first, by all numbers "
        "of the scorecard, at one error rate for all windows together. "
        + (f"{drift.verdict[0].upper()}{drift.verdict[1:]}." if drift else "There is no other."),
        figures=() if drift is None else (_figure(drift),),
        tables=(table,),
        definition="docs/production/drift.md",
    )


def _figure(drift: Any) -> Figure:
    return Figure(
        "windows",
        DriftDisplay(drift),
        f"{column_head(METRIC)} of {counted(len(drift), 'window')}, with the first as reference",
        {
            "start": [json_key(window.start) for window in drift.windows],
            METRIC: [found[METRIC].current.to_dict() for found in drift.drifts],
        },
        {"metric": METRIC},
    )
