"""``calibrant report``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from calibrant.commands._table import gathered, role_options

__all__ = ["command"]


@click.command("report")
@click.argument("files", nargs=-1, metavar="[FILE...]")
@click.option("--demo", is_flag=True, help="Report on an example; no file is needed.")
@click.option(
    "-o", "--output", metavar="FILE", help="Where to write.  [default: report.html, or stdout]"
)
@click.option("--json", "as_json", is_flag=True, help="Write JSON instead of HTML.")
@click.option("--title", metavar="TEXT", help="The title of the report.")
@role_options()
@click.option("--group", metavar="COLUMN", help="Compare the groups that this column names.")
@click.option("--bins", "n_bins", default=15, show_default=True, help="Bins of equal width.")
def command(
    files: tuple[str, ...],
    *,
    demo: bool,
    output: str | None,
    as_json: bool,
    title: str | None,
    n_bins: int,
    **roles: Any,
) -> None:
    """Write a report: verdict, numbers and pictures.

    It is one HTML file that needs no network. FILE is as for calibrant score; it may also be a
    state that it saved.

    \b
    calibrant report --demo
    calibrant report predictions.parquet -o report.html --group country
    calibrant report monday.state tuesday.state --title 'This week'
    """
    from calibrant.commands._output import check_writable, echo_json, json_text, write_file
    from calibrant.evidence import EVERYTHING, Evidence
    from calibrant.report import Report

    if demo == bool(files):
        raise click.UsageError("give files, or --demo")
    if output is None and not as_json:
        output = "report.html"
    check_writable(output)
    if demo:
        from calibrant import _demo

        evidence = Evidence.of(_demo.overconfident(), group="site", n_bins=n_bins)
        title = title or _demo.TITLE
    else:
        evidence = gathered(files, roles, gather=EVERYTHING, n_bins=n_bins)
    report = Report.of(evidence, title=title or _title_of(files))
    if output is None:
        echo_json(report.to_dict())
        return
    write_file(output, json_text(report.to_dict()) + "\n" if as_json else report.to_html())
    click.echo(report.verdict.headline)
    click.echo(f"{output}: a report on {evidence.n:,} rows")


def _title_of(files: tuple[str, ...]) -> str:
    more = f" and {len(files) - 1} more" if len(files) > 1 else ""
    return f"{Path(files[0]).name}{more}"
