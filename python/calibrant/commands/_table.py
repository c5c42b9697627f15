"""What commands that read tables of predictions share: options, reading, a progress bar."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from calibrant.evidence import Evidence
    from calibrant.io import Scan

__all__ = ["gathered", "level_option", "progress_bar", "role_options", "scanned", "show_notes"]

F = TypeVar("F", bound=Callable[..., Any])


def _names(_ctx: click.Context, _parameter: click.Parameter, text: str | None) -> list[str] | None:
    return None if text is None else [name.strip() for name in text.split(",")]


def _numbers(
    ctx: click.Context, parameter: click.Parameter, text: str | None
) -> list[float] | None:
    names = _names(ctx, parameter, text)
    try:
        return None if names is None else [float(name) for name in names]
    except ValueError as error:
        raise click.BadParameter("numbers with commas between, as 1,2,5") from error


_ROLES = (
    click.option("--label", metavar="COLUMN", help="What happened: 0 and 1, or names of classes."),
    click.option("--weight", metavar="COLUMN", help="How many rows a row counts for."),
    click.option(
        "--classes", metavar="NAMES", callback=_names,
        help="Labels in the order of the probabilities, with commas between.",
    ),
    click.option("--positive", metavar="NAME", help="The label of class 1, of two."),
    click.option(
        "--missing", type=click.Choice(["refuse", "skip"]), default="refuse", show_default=True,
        help="Refuse rows with missing values, or leave them out and count them.",
    ),
)  # fmt: skip


_INTERVALS = (
    click.option(
        "--low", multiple=True, metavar="COLUMN",
        help="Lower bound of prediction intervals; once for each level.",
    ),
    click.option("--high", multiple=True, metavar="COLUMN", help="Upper bound, likewise."),
    click.option(
        "--interval-level", "level", multiple=True, type=float, metavar="LEVEL",
        help="Nominal level, likewise; not needed for names like low_90.",
    ),
    click.option(
        "--width-edges", metavar="NUMBERS", callback=_numbers,
        help="Coverage by width: where to cut, as 1,2,5.  [default: quartiles of the first rows]",
    ),
    click.option(
        "--hsic-bandwidth", type=float, metavar="WIDTH",
        help="Differences of widths that matter to HSIC.  [default: those of the quartiles]",
    ),
)  # fmt: skip


_SETS = click.option(
    "--set", "sets", metavar="COLUMN",
    help="Prediction sets: lists of classes, or whole numbers with a bit for each class.",
)  # fmt: skip


_DRAWS = (
    click.option(
        "--truth", multiple=True, metavar="COLUMN",
        help="True values, to be ranked among draws; once for each parameter.",
    ),
    click.option(
        "--draws", multiple=True, metavar="COLUMN",
        help="The draws for each: a column of lists, or a pattern of columns, as 'draw_*'.",
    ),
)  # fmt: skip


def role_options(*, prob: bool = True) -> Callable[[F], F]:
    """Add the options that say which column is what."""
    options = list(_ROLES)
    if prob:
        options[1:1] = [
            click.option("--prob", metavar="COLUMN", help="The probability of class 1, or lists."),
            click.option(
                "--probs", metavar="COLUMNS", callback=_names,
                help="The probabilities of all classes, as p0,p1,p2.",
            ),
            *_INTERVALS,
            _SETS,
            *_DRAWS,
        ]  # fmt: skip

    def add(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return add


level_option = click.option(
    "--confidence",
    "confidence_level",
    type=float,
    default=0.95,
    show_default=True,
    help="Confidence level of the intervals.",
)


def scanned(files: Sequence[str], options: dict[str, Any]) -> Scan:
    """Find the columns, and say on stderr which they are."""
    from calibrant.io import scan

    prob, probs = options.pop("prob", None), options.pop("probs", None)
    if prob is not None and probs is not None:
        raise click.UsageError("give --prob or --probs, not both")
    level = options.pop("level", ()) or None
    return scan(list(files), prob=prob if probs is None else probs, level=level, **options)


def show_notes(notes: Sequence[str]) -> None:
    """Say on stderr which column is what."""
    click.secho("\n".join(notes), dim=True, err=True)


def gathered(
    files: Sequence[str], options: dict[str, Any], *, gather: Sequence[str], n_bins: int
) -> Evidence:
    """Read tables, or states that were saved, into one evidence."""
    from calibrant.evidence import Evidence

    states = [name for name in files if _is_state(name)]
    if states:
        if len(states) < len(files):
            raise click.UsageError("give tables or saved states, not both")
        first, *others = (Evidence.load(name) for name in states)
        for other in others:
            first.merge(other)
        return first
    widths = {name: options.pop(name, None) for name in ("width_edges", "hsic_bandwidth")}
    rows = scanned(files, options)
    show_notes(rows.notes())
    with progress_bar(rows.n_rows) as progress:
        return Evidence.of(rows, gather=gather, n_bins=n_bins, progress=progress, **widths)


def _is_state(name: str) -> bool:
    from calibrant._evidence_bytes import MAGIC

    path = Path(name)
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


@contextmanager
def progress_bar(n_rows: int | None) -> Iterator[Callable[[int], None] | None]:
    """Show rows so far and rows per second on stderr, if a person is looking."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        ProgressColumn,
        Task,
        TextColumn,
        TimeElapsedColumn,
    )
    from rich.text import Text

    class Speed(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text(f"{task.completed:,.0f} rows, {(task.speed or 0) / 1e6:.1f} million/s")

    columns = (TextColumn("reading"), BarColumn(), Speed(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=n_rows)
        yield lambda rows: bar.update(task, completed=rows)
