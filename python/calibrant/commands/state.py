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
    from calibrant.commands._states import load_state

    echo_json(_view(load_state(file)))


def _view(state: Any) -> dict[str, Any]:
    from calibrant.evidence import Evidence

    size = {"kind": type(state).__name__, "n": state.n, "n_omitted": state.n_omitted}
    if isinstance(state, Evidence):
        parts = [name for name in ("table", "spectrum") if getattr(state, name) is not None]
        about = {"gathered": parts, "classes": list(state.classes), "source": state.source}
        result = state.result().to_dict() if state.n else None
        return {**size, **about, "result": result}
    result = plain(state.result().to_dict()) if state.n else None
    return {**size, "parameters": plain(state._parameters()), "result": result}


def plain(value: Any) -> Any:
    """Return it as JSON takes it: arrays as lists, what is not finite as text."""
    if isinstance(value, dict):
        return {str(name): plain(each) for name, each in value.items()}
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if isinstance(value, float) and value - value != 0.0:
        return None if value != value else str(value)
    return value
