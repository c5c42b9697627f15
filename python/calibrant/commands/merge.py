"""``calibrant merge``."""

from __future__ import annotations

import click

__all__ = ["command"]


@click.command("merge")
@click.argument("states", nargs=-1, required=True, metavar="STATE...")
@click.option("-o", "--output", required=True, metavar="FILE", help="Where to write.")
def command(states: tuple[str, ...], output: str) -> None:
    """Merge saved states of one kind; the order does not matter.

    \b
    calibrant merge monday.state tuesday.state -o week.state
    """
    from calibrant.commands._output import check_writable
    from calibrant.streaming import load

    check_writable(output)
    total = load(states[0])
    for name in states[1:]:
        state = load(name)
        try:
            total.merge(state)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{name}: {error}") from error
    total.save(output)
    click.echo(f"{output}: {total.n:,} rows")
