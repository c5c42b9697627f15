"""``calibrant report``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from calibrant._result import counted, printable
from calibrant.commands._conditions import Condition, fail_if, failures, of_card
from calibrant.commands._evidence import evidence_options, gathered
from calibrant.commands._table import once

__all__ = ["command"]


@click.command("report")
@evidence_options(
    "Where to write: HTML, or JSON if it ends in .json.  [default: report.html, or stdout]"
)
@once("--title", metavar="TEXT", help="The title of the report.")
def command(
    files: tuple[str, ...],
    *,
    demo: bool,
    output: str | None,
    as_json: bool,
    save_state: str | None,
    title: str | None,
    conditions: list[Condition],
    force: bool,
    confidence_level: float,
    n_bins: int,
    q_lim: float,
    **roles: Any,
) -> None:
    """Write a report: verdict, numbers and pictures.

    It is one HTML file that needs no network. FILE is as for calibrant score; it may also be a
    state that it saved.

    \b
    calibrant report --demo
    calibrant report predictions.parquet -o report.html --group country
    calibrant report monday.state tuesday.state --title 'This week'
    calibrant report predictions.parquet --time day --every 7d
    """
    from calibrant._input.validation import check_level
    from calibrant.commands._demo import TITLE
    from calibrant.commands._output import as_json_by_name, check_output, echo_json, write_report
    from calibrant.report import Report

    as_json = as_json_by_name(output, as_json)
    if output is None and not as_json:
        output = "report.html"
    check_level(confidence_level)
    check_output(output, inputs=files, kind="report", force=force)
    evidence, windows = gathered(
        files, roles, demo=demo, save_state=save_state, force=force, for_report=True,
        n_bins=n_bins, q_lim=q_lim,
    )  # fmt: skip
    title = title or (TITLE if demo else _title_of(files))
    card = evidence.result(confidence_level) if conditions and evidence.scorecard.n else None
    failed = failures(conditions, of_card(card))
    report = Report.of(evidence, title=title, confidence_level=confidence_level, windows=windows)
    if output is None:
        echo_json(report.to_dict())
    else:
        write_report(output, report, as_json=as_json)
        click.echo(report.verdict.headline)
        click.echo(f"{printable(output)}: a report on {counted(evidence.n, 'row')}")
    fail_if(failed, conditions)


def _title_of(files: tuple[str, ...]) -> str:
    more = f" and {len(files) - 1} more" if len(files) > 1 else ""
    return f"{Path(files[0]).name}{more}"
