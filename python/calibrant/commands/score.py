"""``calibrant score``."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from calibrant._result import counted, printable
from calibrant.commands._conditions import Condition, fail_if, failures, of_card
from calibrant.commands._evidence import evidence_options, gathered

__all__ = ["command"]


@click.command("score")
@evidence_options("Where to write: JSON.  [default: a table on stdout]")
def command(
    files: tuple[str, ...],
    *,
    demo: bool,
    output: str | None,
    as_json: bool,
    save_state: str | None,
    conditions: list[Condition],
    force: bool,
    confidence_level: float,
    n_bins: int,
    q_lim: float,
    **roles: Any,
) -> None:
    """Score tables of predictions, or states saved before.

    FILE is Parquet, Arrow IPC, CSV, JSON, JSON lines, NPY or NPZ, a folder of them, or a pattern;
    - is standard input, with --format.
    Columns that are not named are guessed, and the guesses are printed.

    \b
    calibrant score predictions.parquet
    calibrant score 'day-*.csv' --label clicked --prob score --group country
    calibrant score predictions.parquet --fail-if 'ece.low>0.02' --fail-if 'log>0.4'
    calibrant score prices.parquet --label price --low low_90 --high high_90
    calibrant score posterior.parquet --truth theta --draws samples
    calibrant score predictions.parquet --time day --every 7d
    """
    from calibrant._input.validation import check_level
    from calibrant.calibration._verdict import calibration_verdict
    from calibrant.commands._coverage import coverage_content, coverage_lines
    from calibrant.commands._output import (
        check_output,
        echo_json,
        json_text,
        show_scorecard,
        write_file,
    )
    from calibrant.commands._windows import window_lines
    from calibrant.drift import drift_since_first

    check_level(confidence_level)
    time = roles["timestamp"]
    check_output(output, inputs=files, kind="report", force=force)
    evidence, windows = gathered(
        files, roles, demo=demo, save_state=save_state, force=force, for_report=False,
        n_bins=n_bins, q_lim=q_lim,
    )  # fmt: skip
    card = evidence.result(confidence_level) if evidence.scorecard.n else None
    verdict = None
    if card is not None and evidence.table is not None:
        verdict = calibration_verdict(evidence.table._rows, q_lim=card.q_lim)
    drift = None if windows is None else drift_since_first(windows, confidence_level)
    failed = failures(conditions, of_card(card))
    if as_json or output is not None:
        content: dict[str, Any] = {"schema": "calibrant.scorecard/1", "source": evidence.source}
        content["scorecard"] = None if card is None else card.to_dict()
        content["verdict"] = None if verdict is None else asdict(verdict)
        if windows is not None:
            content["windows"] = [window.to_dict() for window in windows.windows()]
            content["drift"] = None if drift is None else drift.to_dict()
        content |= coverage_content(evidence, confidence_level)
        if output is None:
            echo_json(content)
        else:
            write_file(output, json_text(content) + "\n")
            click.echo(f"{printable(output)}: {counted(evidence.n, 'row')}")
    else:
        if card is not None:
            show_scorecard(card)
        if verdict is not None:
            click.echo(f"\n{verdict}.\n{verdict.advice}")
        if windows is not None:
            click.echo()
            for line in window_lines(windows, drift, time, confidence_level):
                click.echo(line)
        lines = list(coverage_lines(evidence, confidence_level))
        if card is not None and lines:
            click.echo()
        for line in lines:
            click.echo(line)
    fail_if(failed, conditions)
