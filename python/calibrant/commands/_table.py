"""What commands that read tables of predictions share: options, reading, a progress bar."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from calibrant._result import printable

if TYPE_CHECKING:
    from calibrant.io import Scan

__all__ = [
    "bins_option", "level_option", "merged", "once", "progress_bar", "q_lim_option",
    "reject_reading_options", "role_options", "scanned", "show_notes",
]  # fmt: skip

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")
_RANGE = re.compile(r"(.*?)(\d+)\.\.(.*?)(\d+)")


def once(*names: str, **settings: Any) -> Callable[[F], F]:
    """As `click.option`, of an option that has one value: a second one is rejected, not taken."""
    inner, default = settings.pop("callback", None), settings.pop("default", None)

    def take(ctx: click.Context, parameter: click.Parameter, values: Sequence[Any]) -> Any:
        if len(values) > 1:
            found = " and ".join(map(str, values))
            more = settings.get("more", "")
            raise click.BadParameter(f"it is given more than once, with {found}{more}")
        value = values[0] if values else default
        return inner(ctx, parameter, value) if inner is not None else value

    return click.option(
        *names, multiple=True, callback=take, default=None if default is None else [default],
        **{name: value for name, value in settings.items() if name != "more"},
    )  # fmt: skip


def _names(_ctx: click.Context, _parameter: click.Parameter, text: str | None) -> list[str] | None:
    return None if text is None else [name.strip() for name in text.split(",")]


def _columns(ctx: click.Context, parameter: click.Parameter, text: str | None) -> list[str] | None:
    """Names with commas between, of which p0..p9 are ten."""
    names = _names(ctx, parameter, text)
    if names is None:
        return None
    found: list[str] = []
    for name in names:
        match = _RANGE.fullmatch(name)
        if match is None or match[3] not in ("", match[1]):
            found.append(name)
            continue
        first, last = int(match[2]), int(match[4])
        if not first <= last <= first + MOST_CLASSES:
            raise click.BadParameter(f"{name} is no range of columns, such as p0..p9")
        width = len(match[2]) if match[2].startswith("0") else 0
        found += [f"{match[1]}{i:0{width}}" for i in range(first, last + 1)]
    return found


def _numbers(
    ctx: click.Context, parameter: click.Parameter, text: str | None
) -> list[float] | None:
    names = _names(ctx, parameter, text)
    try:
        return None if names is None else [float(name) for name in names]
    except ValueError as error:
        raise click.BadParameter("numbers with commas between, as 1,2,5") from error


_ROLES = (
    once("--label", metavar="COLUMN", help="What happened: 0 and 1, or names of classes."),
    once("--weight", metavar="COLUMN", help="How many rows a row counts for."),
    once(
        "--classes", metavar="NAMES", callback=_names,
        help="Labels in the order of the probabilities, with commas between.",
    ),
    once("--positive", metavar="NAME", help="The label of class 1, of two, such as 2 of 1 and 2."),
    once(
        "--missing", type=click.Choice(["reject", "skip"]), default="reject", show_default=True,
        help="Reject rows with missing values, or leave them out and count them.",
    ),
    once(
        "--format", metavar="FORMAT",
        help="That of the files, as csv, where their names do not say it; so for - (stdin).",
    ),
    click.option(
        "--header/--no-header", default=None,
        help="The first line of CSV files names the columns, or is a row: columns are 0, 1, ....",
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
    once(
        "--crossed", type=click.Choice(["raise", "swap"]), default="raise", show_default=True,
        help="Reject intervals whose lower bound is above the upper one, or swap the two.",
    ),
    once(
        "--width-edges", metavar="NUMBERS", callback=_numbers,
        help="Coverage by width: where to cut, as 1,2,5.  [default: quartiles of the first rows]",
    ),
    once(
        "--hsic-bandwidth", type=float, metavar="WIDTH",
        help="Differences of widths that matter to HSIC.  [default: those of the quartiles]",
    ),
)  # fmt: skip


_SETS = once(
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

bins_option = once(
    "--bins", "n_bins", type=int, default=15, show_default=True, help="Bins of equal width."
)
q_lim_option = once(
    "--q-lim", type=float, default=0.0, show_default=True,
    help="Clip the probabilities of what happened to [Q, 1 - Q], for the log score and means.",
)  # fmt: skip
_SETTINGS = (
    once("--group", metavar="COLUMN", help="Compare the groups that this column names, too."),
    bins_option,
    q_lim_option,
)


def role_options(*, prob: bool = True) -> Callable[[F], F]:
    """Add the options that say which column is what."""
    options = list(_ROLES)
    if prob:
        options[1:1] = [
            once(
                "--prob", metavar="COLUMN", help="The probability of class 1, or lists.",
                more=": columns of several classes are --probs A,B; models are compared by "
                "calibrant compare",
            ),
            once(
                "--probs", metavar="COLUMNS", callback=_columns,
                help="The probabilities of all classes, as p0,p1,p2 or p0..p9.",
            ),
            click.option(
                "--no-prob", is_flag=True,
                help="There are no probabilities: no column is to be taken for them.",
            ),
            click.option(
                "--multi-class", type=click.Choice(["auto", "top_label"]), default="auto",
                show_default=True,
                help="Score two columns that sum to 1 as class 1, or by their top label.",
            ),
            *_INTERVALS,
            _SETS,
            *_DRAWS,
        ]  # fmt: skip
        options += _SETTINGS

    def add(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return add


level_option = once(
    "--confidence",
    "confidence_level",
    type=float,
    default=0.95,
    show_default=True,
    help="Confidence level of the intervals.",
)

#: What a range of columns may have.
MOST_CLASSES = 100_000
#: Options that mean something where no table is read.
_OF_RESULTS = (
    "files", "demo", "output", "as_json", "title", "confidence_level", "conditions", "save_state",
    "force",
)  # fmt: skip


def reject_reading_options(why: str, *meant: str) -> None:
    """Reject options that say how a table is read where none is: they would change nothing."""
    ctx = click.get_current_context()
    for parameter in ctx.command.params:
        name = parameter.name or ""
        given = ctx.get_parameter_source(name) not in (None, ParameterSource.DEFAULT)
        if given and name not in _OF_RESULTS and name not in meant:
            option = "/".join((*parameter.opts[:1], *parameter.secondary_opts))
            raise click.UsageError(f"{option} says how a table is read, and {why}")


def scanned(files: Sequence[str], options: dict[str, Any]) -> Scan:
    """Find the columns, and say on stderr which they are."""
    from calibrant.io import scan

    prob, probs, none = (options.pop(name, None) for name in ("prob", "probs", "no_prob"))
    if (prob is not None) + (probs is not None) + bool(none) > 1:
        raise click.UsageError("give one of --prob, --probs and --no-prob")
    level = options.pop("level", ()) or None
    given: Any = () if none else prob if probs is None else probs
    return scan(list(files), prob=given, level=level, **options)


def show_notes(notes: Sequence[str]) -> None:
    """Say on stderr which column is what."""
    click.secho("\n".join(map(printable, notes)), dim=True, err=True)


def merged(states: Sequence[str], load: Callable[[str], T]) -> T:
    """Return the states of some files as one; each file counts once."""
    from calibrant.io._sources import check_distinct

    check_distinct(map(Path, states))
    total: Any = load(states[0])
    for name in states[1:]:
        state = load(name)
        try:
            total.merge(state)
        except (TypeError, ValueError) as error:
            raise type(error)(f"{name}: {error}") from error
    return total  # type: ignore[no-any-return]


@contextmanager
def progress_bar(n_rows: int | None) -> Iterator[Callable[[int], None] | None]:
    """Show rows so far and rows per second on stderr, if a person is looking."""
    if sys.stderr is None or not sys.stderr.isatty():
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
