"""``calibrant compare``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from calibrant._result import printable
from calibrant.commands._conditions import (
    Condition,
    condition_option,
    fail_if,
    failures,
    of_comparison,
)
from calibrant.commands._output import force_option
from calibrant.commands._table import (
    bins_option,
    level_option,
    once,
    progress_bar,
    q_lim_option,
    role_options,
    show_notes,
)

if TYPE_CHECKING:
    from calibrant._input.validation import NanPolicy
    from calibrant.io import Scan

__all__ = ["command"]


@click.command("compare")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--prob", "probs", multiple=True, metavar="COLUMN",
    help="A model's probability of class 1; once for each model, if all are in one table.",
)  # fmt: skip
@role_options(prob=False)
@bins_option
@q_lim_option
@level_option
@condition_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@once(
    "-o", "--output", metavar="FILE",
    help="Write a report, too: HTML with overlaid curves, or JSON if it ends in .json.",
)  # fmt: skip
@force_option
def command(
    files: tuple[str, ...],
    *,
    probs: tuple[str, ...],
    n_bins: int,
    q_lim: float,
    confidence_level: float,
    conditions: list[Condition],
    as_json: bool,
    output: str | None,
    force: bool,
    **roles: Any,
) -> None:
    """Compare models on the same rows.

    Which is better at what? Give one table with a column for each model, or a table for each model
    with the same labels in the same order. Differences are paired, row by row.

    \b
    calibrant compare predictions.parquet --prob old --prob new
    calibrant compare old.parquet new.parquet -o comparison.html
    calibrant compare old.csv new.csv --fail-if 'new-old:log.low>0' --fail-if 'new:ece>0.1'
    """
    from calibrant._input.validation import check_level
    from calibrant.commands._output import as_json_by_name, check_output, echo_json, write_report
    from calibrant.evidence import Evidence
    from calibrant.io._pairs import side_by_side
    from calibrant.scorecards._comparison import ComparisonSums, without_gaps

    check_output(output, inputs=files, kind="report", force=force)
    scans = _scans(files, probs, roles)
    check_level(confidence_level)
    sums = ComparisonSums(scans, n_bins=n_bins, q_lim=q_lim)
    evidence = {}
    if output is not None:
        evidence = {name: Evidence(n_bins=n_bins, q_lim=q_lim) for name in scans}
    policy: NanPolicy = "omit" if roles["missing"] == "skip" else "raise"
    first = next(iter(scans.values()))
    with progress_bar(first.n_rows) as progress:
        for batch, probas, row in side_by_side(scans):
            labels, weight = batch.y_true, batch.sample_weight
            if policy == "omit":  # a row that one model lacks is left out for all
                labels = without_gaps(labels, probas, weight)
            try:
                sums.update(labels, probas, sample_weight=weight, nan_policy=policy)
                for name, each in evidence.items():
                    card = sums.scorecards[name]
                    each._add_pairs(card, labels, probas[name], weight, policy == "omit")
            except (TypeError, ValueError) as error:
                raise first.named_error(error, first.name, row) from error
            if progress is not None:
                progress(row + batch.n)
    comparison = sums.result(confidence_level)
    failed = failures(conditions, of_comparison(comparison))
    source = {name: scan.to_dict() for name, scan in scans.items()}
    if output is not None:
        from calibrant.report import comparison_report

        report = comparison_report(comparison, evidence, source=source)
        write_report(output, report, as_json=as_json_by_name(output, False))
    if as_json:
        content = {"schema": "calibrant.comparison/1", "source": source}
        echo_json({**content, "comparison": comparison.to_dict()})
    else:
        click.echo(repr(comparison))
    fail_if(failed, conditions)


def _scans(
    files: tuple[str, ...], probs: tuple[str, ...], roles: dict[str, Any]
) -> dict[str, Scan]:
    from calibrant.io import scan

    if len(probs) > 1:
        if len(set(probs)) < len(probs):
            raise click.UsageError("each --prob must name another column")
        scans = {printable(name): scan(list(files), prob=name, **roles) for name in probs}
    else:
        names = _short_names(files)
        if len(names) < 2:
            raise click.UsageError("give two files or more, or --prob for each model of one")
        prob = probs[0] if probs else None
        scans = {
            printable(name): scan(file, prob=prob, **roles)
            for name, file in zip(names, files, strict=True)
        }
    scans = {name: found.of_probabilities() for name, found in scans.items()}
    for name, found in scans.items():
        show_notes([f"{name}: {', '.join(found.notes())}"])
    return scans


def _short_names(files: tuple[str, ...]) -> list[str]:
    """The names of the files without folder and ending, if that tells them apart."""
    short = [Path(name).stem for name in files]
    return short if len(set(short)) == len(short) else list(files)
