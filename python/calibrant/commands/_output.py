"""Writing results: files at once or not at all, JSON, and tables for a terminal."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from calibrant._runtime.atomic_file import check_not_read_only, write_file

if TYPE_CHECKING:
    from calibrant.report import Report
    from calibrant.scorecards import Scorecard

__all__ = [
    "as_json_by_name", "check_output", "echo_json", "force_option", "json_text", "show_scorecard",
    "write_file", "write_report",
]  # fmt: skip

force_option = click.option(
    "--force", is_flag=True, help="Replace a file that is no report or state of calibrant, too."
)

_JSON_REPORT = re.compile(rb'\s*\{\s*"schema": "calibrant[.-](report|scorecard)/')
_HINTS = 50  # where the last column of the table begins


def check_output(
    path: str | None, *, inputs: Iterable[str], kind: Literal["report", "state"], force: bool
) -> None:
    """Reject a place that is not to be written to before the work is done, not after it.

    An input is never written over. What is there gives way to its like: a report to a report, a
    state to a state; all else needs ``force``.
    """
    if path is None:
        return
    target = Path(path)
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, "is a folder; name a file in it", path)
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "cannot be written: there is no such folder", path)
    if not os.access(target.parent, os.W_OK):
        raise PermissionError(errno.EACCES, "cannot be written: the folder is read-only", path)
    if not target.is_file():
        return
    for name in _files_of(inputs):
        if name.exists() and name.samefile(target):
            raise ValueError(f"{path}: is an input, and would be written over; name another file")
    try:
        check_not_read_only(target)
    except PermissionError as error:
        raise PermissionError(error.errno, f"cannot be written: {error.strerror}", path) from error
    if not force and target.stat().st_size and not _is_kind(target, kind):
        raise ValueError(
            f"{path}: is there already, and is no {kind} of calibrant; name another file, or "
            "replace it with --force"
        )


def _files_of(inputs: Iterable[str]) -> Iterator[Path]:
    """Give the files that are read; what cannot be found is reported where it is read."""
    from calibrant.io._sources import files_of

    for name in inputs:
        with suppress(OSError, ValueError):
            yield from files_of(name)


def _is_kind(path: Path, kind: str) -> bool:
    """Return whether a file begins as our reports do, or our states."""
    from calibrant._accumulator.states import is_state

    if kind == "state":
        return is_state(path)
    with path.open("rb") as file:
        head = file.read(1024)
    return b'<meta name="generator" content="calibrant ' in head or bool(_JSON_REPORT.match(head))


def as_json_by_name(output: str | None, as_json: bool) -> bool:
    """Return whether a report is to be JSON: if that is said, or if its file is one of JSON."""
    if as_json and output is not None and output.lower().endswith((".html", ".htm")):
        raise click.UsageError(f"--json, and a file of HTML: {output}; name another")
    return as_json or (output is not None and output.lower().endswith(".json"))


def write_report(output: str, report: Report, *, as_json: bool) -> None:
    """Write it as HTML, or as JSON."""
    write_file(output, json_text(report.to_dict()) + "\n" if as_json else report.to_html())


def json_text(content: Any) -> str:
    """Return JSON that every parser takes."""
    return json.dumps(content, indent=2, allow_nan=False)


def echo_json(content: Any) -> None:
    """Print JSON."""
    click.echo(json_text(content))


def show_scorecard(card: Scorecard) -> None:
    """Print the table that `repr` gives; in colour and as wide as fits if a person is looking."""
    title, *lines = repr(card).splitlines()
    watched = sys.stdout is not None and sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if watched else 0
    click.secho(title, bold=True)
    in_card = True
    for line in lines:
        in_card = in_card and bool(line)
        if 0 < width < len(line):
            line = f"{line[: width - 1]}…"
        numbers, hint = (line[:_HINTS], line[_HINTS:]) if in_card else (line, "")
        click.echo(numbers + click.style(hint, dim=True))
