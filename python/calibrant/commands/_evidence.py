"""What the commands that read predictions once share: all of their options, and the reading."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from calibrant.commands._conditions import condition_option
from calibrant.commands._output import force_option
from calibrant.commands._table import (
    level_option,
    merged,
    once,
    progress_bar,
    reject_reading_options,
    role_options,
    scanned,
    show_notes,
)
from calibrant.commands._windows import read_windows, time_options

if TYPE_CHECKING:
    from calibrant.evidence import Evidence
    from calibrant.io import Scan
    from calibrant.streaming import Windowed

__all__ = ["evidence_options", "gathered"]

F = TypeVar("F", bound=Callable[..., Any])
#: Options of `Evidence.of`; the others are those of `calibrant.io.scan`.
OF_EVIDENCE = ("width_edges", "hsic_bandwidth", "multi_class")


def evidence_options(output: str) -> Callable[[F], F]:
    """Add the options, whatever is made of the predictions."""
    options = (
        click.argument("files", nargs=-1, metavar="[FILE...]"),
        click.option("--demo", is_flag=True, help="Take an example; no file is needed."),
        once("-o", "--output", metavar="FILE", help=output),
        click.option("--json", "as_json", is_flag=True, help="Write JSON."),
        once(
            "--save-state", metavar="FILE",
            help="Save all that a report needs, to be merged or reported later.",
        ),
        role_options(),
        time_options,
        level_option,
        condition_option,
        force_option,
    )  # fmt: skip

    def add(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return add


def gathered(
    files: Sequence[str], options: dict[str, Any], *, demo: bool, save_state: str | None,
    force: bool, for_report: bool, **settings: Any,
) -> tuple[Evidence, Windowed | None]:  # fmt: skip
    """Read the example, tables or saved states into one evidence, and tables into windows, too."""
    from calibrant.commands._output import check_output, write_file
    from calibrant.evidence import EVERYTHING

    if demo == bool(files):
        raise click.UsageError("give files, or --demo")
    check_output(save_state, inputs=files, kind="state", force=force)
    gather = EVERYTHING if for_report or save_state is not None else ()
    evidence, windows = (
        _demo(settings) if demo else _read(files, options, gather=gather, **settings)
    )
    if save_state is not None:
        write_file(save_state, evidence.to_bytes())
    return evidence, windows


def _demo(settings: dict[str, Any]) -> tuple[Evidence, None]:
    from calibrant.commands._demo import overconfident
    from calibrant.evidence import Evidence

    reject_reading_options("--demo reads none", "n_bins", "q_lim")
    return Evidence.of(overconfident(), group="site", **settings), None


def _read(
    files: Sequence[str], options: dict[str, Any], *, gather: Sequence[str], **settings: Any
) -> tuple[Evidence, Windowed | None]:
    """Read tables, or states that were saved, into one evidence, and tables into windows, too."""
    from calibrant.evidence import Evidence

    states = [name for name in files if _is_state(name)]
    if states:
        if len(states) < len(files):
            raise click.UsageError("give tables or saved states, not both")
        reject_reading_options("a saved state has been read already")
        return merged(states, Evidence.load), None
    widths = {name: options.pop(name, None) for name in OF_EVIDENCE}
    every = options.pop("every", None)
    if (every is None) != (options.get("timestamp") is None):
        raise click.UsageError("--time and --every go together: --time day --every 7d")
    rows = scanned(files, options)
    if every is not None:
        _check_windows(rows)
    show_notes(rows.notes())
    with progress_bar(rows.n_rows) as progress:
        evidence = Evidence.of(rows, gather=gather, progress=progress, **settings, **widths)
    if every is None:
        return evidence, None
    with progress_bar(rows.n_rows) as progress:
        multi_class = widths["multi_class"] or "auto"
        windows = read_windows(rows, every, multi_class=multi_class, progress=progress, **settings)
    return evidence, windows


def _check_windows(rows: Scan) -> None:
    """Reject what cannot be compared by windows before it is read."""
    if not rows.roles.prob:
        raise click.UsageError("--time compares probabilities, and there are none")
    if not rows.can_be_read_again:
        raise click.UsageError(f"--time reads the rows twice, and {rows.name} can be read once")


def _is_state(name: str) -> bool:
    from calibrant.evidence import Evidence

    path = Path(name)
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(Evidence.MAGIC)) == Evidence.MAGIC
