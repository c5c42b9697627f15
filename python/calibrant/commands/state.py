"""``calibrant state``: looking into saved states."""

from __future__ import annotations

from typing import Any

import click

__all__ = ["command"]


@click.group("state")
def command() -> None:
    """Look into states that were saved."""


@command.command("inspect")
@click.argument("file", metavar="FILE")
def inspect(file: str) -> None:
    """Print what a saved state holds, as JSON.

    \b
    calibrant state inspect week.state
    """
    from calibrant.commands._output import echo_json
    from calibrant.streaming import load

    echo_json(_view(load(file)))


def _view(state: Any) -> dict[str, Any]:
    from calibrant.commands._coverage import coverage_content
    from calibrant.evidence import Evidence

    view: dict[str, Any] = state.to_dict()
    if isinstance(state, Evidence) and state.n:
        view |= coverage_content(state, 0.95)
    return view
