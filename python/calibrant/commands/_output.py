"""Writing results: files at once or not at all, JSON, and tables for a terminal."""

from __future__ import annotations

import errno
import json
import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from calibrant._files import write_file

if TYPE_CHECKING:
    from calibrant.scorecards import Scorecard

__all__ = ["check_writable", "echo_json", "json_text", "show_scorecard", "write_file"]

_HINTS = 50  # where the last column of the table begins


def check_writable(path: str | None) -> None:
    """Refuse a place that cannot be written to before the work is done, not after it."""
    if path is None:
        return
    target = Path(path)
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, "is a folder; name a file in it", path)
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "cannot be written: there is no such folder", path)
    if not os.access(target.parent, os.W_OK):
        raise PermissionError(errno.EACCES, "cannot be written: the folder is read-only", path)


def json_text(content: Any) -> str:
    """Return JSON that every parser takes."""
    return json.dumps(content, indent=2, allow_nan=False)


def echo_json(content: Any) -> None:
    """Print JSON."""
    click.echo(json_text(content))


def show_scorecard(card: Scorecard) -> None:
    """Print the table that `repr` gives; in colour and as wide as fits if a person is looking."""
    title, *lines = repr(card).splitlines()
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 0
    click.secho(title, bold=True)
    in_card = True
    for line in lines:
        in_card = in_card and bool(line)
        if 0 < width < len(line):
            line = f"{line[: width - 1]}…"
        numbers, hint = (line[:_HINTS], line[_HINTS:]) if in_card else (line, "")
        click.echo(numbers + click.style(hint, dim=True))
