"""``calibrant score``."""

from __future__ import annotations

from typing import Any

import click

from calibrant.commands._table import gathered, level_option, role_options

__all__ = ["command"]


@click.command("score")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@role_options()
@click.option("--group", metavar="COLUMN", help="A scorecard for each key of this column, too.")
@click.option("--bins", "n_bins", default=15, show_default=True, help="Bins of equal width.")
@level_option
@click.option(
    "--fail-if", "conditions", multiple=True, metavar="CONDITION",
    help="End with exit code 1 if it holds, like 'ece>0.05' or 'ece.low>0.05'; several allowed.",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option(
    "--save-state", metavar="FILE",
    help="Save all that a report needs, to be merged or reported later; takes longer.",
)  # fmt: skip
def command(
    files: tuple[str, ...],
    *,
    conditions: tuple[str, ...],
    as_json: bool,
    save_state: str | None,
    confidence_level: float,
    n_bins: int,
    **roles: Any,
) -> None:
    """Score tables of predictions, or states saved before.

    FILE is Parquet, Arrow IPC, CSV, JSON lines, NPY or NPZ, a folder of them, or a pattern.
    Columns that are not named are guessed, and the guesses are printed.

    \b
    calibrant score predictions.parquet
    calibrant score 'day-*.csv' --label clicked --prob score --group country
    calibrant score predictions.parquet --fail-if 'ece.low>0.02' --fail-if 'log>0.4'
    calibrant score prices.parquet --label price --low low_90 --high high_90
    calibrant score posterior.parquet --truth theta --draws samples
    """
    from calibrant.commands._conditions import parse_condition
    from calibrant.commands._coverage import coverage_content, coverage_lines
    from calibrant.commands._output import (
        check_writable,
        echo_json,
        show_scorecard,
        write_file,
    )
    from calibrant.evidence import EVERYTHING
    from calibrant.scorecards import check_level

    checks = [parse_condition(text) for text in conditions]
    check_level(confidence_level)
    check_writable(save_state)
    gather = () if save_state is None else EVERYTHING
    evidence = gathered(files, roles, gather=gather, n_bins=n_bins)
    if save_state is not None:
        write_file(save_state, evidence.to_bytes())
    card = evidence.result(confidence_level) if evidence.scorecard.n else None
    if checks and card is None:
        raise ValueError("--fail-if needs probabilities, and there are none")
    if as_json:
        content: dict[str, Any] = {"schema": "calibrant.scorecard/1", "source": evidence.source}
        content["scorecard"] = None if card is None else card.to_dict()
        echo_json({**content, **coverage_content(evidence, confidence_level)})
    else:
        if card is not None:
            show_scorecard(card)
        lines = list(coverage_lines(evidence, confidence_level))
        if card is not None and lines:
            click.echo()
        for line in lines:
            click.echo(line)
    failed = [check.found(card) for check in checks if card is not None and check.holds(card)]
    for line in failed:
        click.secho(f"failed: {line}", fg="red", err=True)
    if failed:
        raise click.exceptions.Exit(1)
