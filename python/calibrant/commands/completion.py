"""``calibrant completion``."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

__all__ = ["command"]


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print a script for completion in a shell.

    \b
    calibrant completion bash > ~/.local/share/bash-completion/completions/calibrant
    calibrant completion zsh > ~/.zfunc/_calibrant
    calibrant completion fish > ~/.config/fish/completions/calibrant.fish
    """
    made = get_completion_class(shell)
    assert made is not None  # the choices are those that click has
    click.echo(made(ctx.find_root().command, {}, "calibrant", "_CALIBRANT_COMPLETE").source())
