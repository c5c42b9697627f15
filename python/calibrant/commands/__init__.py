"""The commands of `calibrant`, a module each; what a command needs is imported when it runs."""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any

import click

from calibrant import __version__
from calibrant._result import printable

__all__ = ["calibrant"]

#: By name, in the order of the help.
_COMMANDS = ("score", "report", "compare", "merge", "state", "config", "completion")


#: The exit code of a program that the end of a pipe ended; 1 is that of a condition that holds.
BROKEN_PIPE = 141


class Failure(click.ClickException):
    """What the user can mend: one line, no traceback."""

    exit_code = 2

    def show(self, file: Any = None) -> None:  # noqa: ARG002
        """Print it as other programs do."""
        click.echo(f"calibrant: {printable(self.format_message())}", err=True)


class Interrupted(Failure):
    """Ctrl-C; the exit code is that of a program that the signal ended."""

    exit_code = 130


def _let_go() -> None:
    """Send what is still to be printed to nowhere, since whoever was to read it has left."""
    try:
        handle = os.open(os.devnull, os.O_WRONLY)
        os.dup2(handle, sys.stdout.fileno())
        os.close(handle)
    except (OSError, ValueError, AttributeError):
        pass  # not a file of the system


class Commands(click.Group):
    """Imports a command when it is asked for, and turns errors into one line."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the names, in the order of the help."""
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Return the command of that name."""
        if cmd_name not in _COMMANDS:
            return None
        module = importlib.import_module(f"calibrant.commands.{cmd_name}")
        command: click.Command = module.command
        return command

    def invoke(self, ctx: click.Context) -> Any:
        """Run it."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            raise Interrupted("interrupted; nothing was written") from error
        except BrokenPipeError as error:
            _let_go()
            raise click.exceptions.Exit(BROKEN_PIPE) from error
        except OSError as error:
            where = "" if error.filename is None else f"{error.filename}: "
            raise Failure(f"{where}{error.strerror or error}") from error
        except (ValueError, TypeError, ImportError, OverflowError) as error:
            raise Failure(" ".join(str(error).split())) from error
        except MemoryError as error:
            raise Failure("there is not enough memory") from error


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
def calibrant() -> None:
    """Can these probabilities be trusted?

    \b
    calibrant report --demo                 an example, to look at
    calibrant report predictions.parquet    a report on your own predictions
    calibrant score predictions.parquet     the numbers alone, here
    """
