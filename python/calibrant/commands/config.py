"""``calibrant config``."""

from __future__ import annotations

import click

__all__ = ["command"]


@click.command("config")
def command() -> None:
    """Show how calibrant was built and what it uses on this machine."""
    from calibrant.config import show_config

    show_config()
