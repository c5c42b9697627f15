"""``calibrant merge``."""

from __future__ import annotations

import click

from calibrant._result import counted, printable
from calibrant.commands._output import force_option
from calibrant.commands._table import merged, once

__all__ = ["command"]


@click.command("merge")
@click.argument("states", nargs=-1, required=True, metavar="STATE...")
@once("-o", "--output", required=True, metavar="FILE", help="Where to write.")
@force_option
def command(states: tuple[str, ...], output: str, *, force: bool) -> None:
    """Merge saved states of one kind; the order does not matter.

    \b
    calibrant merge monday.state tuesday.state -o week.state
    """
    from calibrant.commands._output import check_output
    from calibrant.streaming import load

    check_output(output, inputs=states, kind="state", force=force)
    total = merged(states, load)
    total.save(output)
    click.echo(f"{printable(output)}: {counted(total.n, 'row')}")
