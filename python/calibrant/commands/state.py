"""``calibrant state``: looking into saved states."""

from __future__ import annotations

from typing import Any

import click

from calibrant.commands._table import level_option

__all__ = ["command"]


@click.group("state")
def command() -> None:
    """Look into states that were saved."""


@command.command("inspect")
@click.argument("file", metavar="FILE")
@level_option
def inspect(file: str, *, confidence_level: float) -> None:
    """Print what a saved state holds, as JSON.

    \b
    calibrant state inspect week.state
    """
    from calibrant._input.validation import check_level
    from calibrant.commands._output import echo_json
    from calibrant.streaming import load

    check_level(confidence_level)
    echo_json({"schema": "calibrant.state/1", **_view(load(file), confidence_level)})


def _view(state: Any, confidence_level: float) -> dict[str, Any]:
    from calibrant._result import json_ready
    from calibrant.commands._coverage import coverage_content
    from calibrant.evidence import Evidence

    view: dict[str, Any] = state.to_dict()
    if isinstance(state, Evidence) and state.n:
        view |= coverage_content(state, confidence_level)
        if state.scorecard.n:
            view["result"] = json_ready(state.result(confidence_level).to_dict())
    return view
