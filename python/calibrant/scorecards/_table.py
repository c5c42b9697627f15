"""How a scorecard looks: as text, and as HTML for a notebook."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from calibrant._result import printable

if TYPE_CHECKING:
    from calibrant.scorecards import Estimate, Scorecard

__all__ = [
    "NELSON", "ROWS", "as_html", "as_text", "column_head", "hint", "label",
    "number_text",
]  # fmt: skip

#: What `Scorecard.accuracy` is called beside a share of right answers.
NELSON = "geometric mean (Nelson's accuracy)"

#: Of a number with such an interval.
APPROXIMATE = "approximate, from a table of scores; the exact value surely lies in the interval"

#: Per field: what it is called in the table, and how to read it.
ROWS = {
    "base_rate": ("base rate", "frequency of class 1"),
    "hit_rate": ("hit rate", "right at p >= 1/2; 1 is perfect"),
    "decisiveness": ("decisiveness", "mean of q, the probability of what happened"),
    "accuracy": ("geometric mean", "of q (Nelson's accuracy); 1 is perfect"),
    "robustness": ("robustness", "-2/3 mean of q; 1 is perfect"),
    "brier": ("Brier score", "0 is perfect"),
    "reliability": ("  reliability", "0 is calibrated"),
    "resolution": ("  resolution", "higher is better"),
    "uncertainty": ("  uncertainty", "of the outcomes alone"),
    "brier_skill": ("Brier skill", "1 is perfect, 0 a constant"),
    "log": ("log score", "0 is perfect"),
    "spherical": ("spherical score", "1 is perfect"),
    "ece": ("ECE", "0 is calibrated"),
    "mce": ("maximum error", "largest gap of a bin"),
    "spiegelhalter_z": ("Spiegelhalter z", "0 is calibrated"),
    "spiegelhalter_pvalue": ("  p-value", "small: not calibrated"),
    "ks": ("KS", "0 is calibrated"),
    "ks_pvalue": ("  p-value", "small: not calibrated"),
    "kuiper": ("Kuiper", "0 is calibrated"),
    "kuiper_pvalue": ("  p-value", "small: not calibrated"),
    "auc": ("AUC", "1 ranks perfectly, 1/2 not at all"),
}
_OF_CLASSES = {
    "base_rate": "frequency of the largest class",
    "hit_rate": "right by the top label; 1 is perfect",
    "brier": "0 is perfect; sum over classes",
    "reliability": "of the top label; 0 is calibrated",
    "resolution": "of the top label; higher is better",
    "uncertainty": "of the top label's hits",
    "ece": "of the top label; 0 is calibrated",
    "mce": "of the top label; largest gap of a bin",
    "spiegelhalter_z": "of the top label; 0 is calibrated",
    "ks": "of the top label; 0 is calibrated",
    "kuiper": "of the top label; 0 is calibrated",
    "auc": "how its probability ranks its hits",
}
#: What one line per group has room for.
_SHORT = ("base_rate", "hit_rate", "accuracy", "brier", "log", "ece", "spiegelhalter_pvalue")
#: Below it, a p-value is shown as less than it; the results of tests have its logarithm.
_LEAST_PVALUE = 1e-300
#: Of more groups, the first and the last are shown.
_MOST_GROUPS = 40

_TABLE = "border-collapse:collapse;text-align:right;color:inherit;background:none"
_LINE = "border-bottom:1px solid color-mix(in srgb,currentColor 25%,transparent)"


def as_text(card: Scorecard) -> str:
    """Return an aligned table, with what is undefined explained below."""
    lines = [_title(card), *([f"  {card.note}"] if card.note else [])]
    cells = {name: _digits(name, estimate) for name, estimate in card}
    width = max(len(interval) for _, interval in cells.values())
    for name, (value, interval) in cells.items():
        line = f"  {label(card, name):<15}  {value:>9}  {interval:<{width}}  {hint(card, name)}"
        lines.append(line.rstrip())
    lines += [f"    {why}" for why in _notes(card)]
    if card.groups:
        table = _group_rows(card)
        widths = [max(len(row[i]) for row in table) for i in range(len(table[0]))]
        lines += ["", *(_aligned(row, widths) for row in table)]
    return "\n".join(lines)


def as_html(card: Scorecard) -> str:
    """Return a table that takes its colours from the page, be it light or dark."""
    rows = [["", "value", "interval", ""]]
    rows += [
        [label(card, name), *_digits(name, estimate), hint(card, name)] for name, estimate in card
    ]
    notes = "".join(f"<li>{html.escape(why)}</li>" for why in _notes(card))
    parts = [
        '<div style="font-variant-numeric:tabular-nums;line-height:1.5">',
        f'<div style="font-weight:600;margin-bottom:.3em">{html.escape(_title(card))}</div>',
        f'<div style="opacity:.7">{html.escape(card.note)}</div>' if card.note else "",
        _html_table(rows),
        f'<ul style="opacity:.7;margin:.3em 0">{notes}</ul>' if notes else "",
        f'<div style="margin-top:.8em">{_html_table(_group_rows(card))}</div>'
        if card.groups
        else "",
        "</div>",
    ]
    return "".join(parts)


def _title(card: Scorecard) -> str:
    shape = f", {card.n_columns} classes" if card.n_columns > 1 else ""
    omitted = f", {card.n_omitted} omitted" if card.n_omitted else ""
    level = f"{100 * card.confidence_level:g}%"
    rows = "row" if card.n == 1 else "rows"
    return f"Scorecard of {card.n} {rows}{shape}{omitted}, {level} intervals"


def column_head(name: str) -> str:
    """Return what a number is called where the test that a p-value belongs to is not beside it."""
    return "Spiegelhalter p" if name == "spiegelhalter_pvalue" else ROWS[name][0].strip()


def label(card: Scorecard, name: str) -> str:
    """Return what a number of this card is called in a table."""
    return "top-label AUC" if name == "auc" and card.n_columns > 1 else ROWS[name][0]


def hint(card: Scorecard, name: str) -> str:
    """Return how to read a number of this card."""
    usual = ROWS[name][1]
    return _OF_CLASSES.get(name, usual) if card.n_columns > 1 else usual


def _notes(card: Scorecard) -> list[str]:
    """Why something is undefined or approximate: each reason once, with the names it holds for."""
    names: dict[str, list[str]] = {}
    for name, estimate in card:
        if estimate.reason:
            names.setdefault(estimate.reason, []).append(label(card, name).strip())
        elif estimate.method.endswith(", certified"):
            names.setdefault(APPROXIMATE, []).append(label(card, name).strip())
    return [f"{', '.join(names)}: {why}" for why, names in names.items()]


def _group_rows(card: Scorecard) -> list[list[str]]:
    """The head, and a row for each group."""
    heads = ["group", "rows", *(column_head(name) for name in _SHORT)]
    shown = list(card.groups.items())
    gap: list[list[str]] = []
    if len(shown) > _MOST_GROUPS:
        gap = [[f"... {len(shown) - _MOST_GROUPS} more"] + [""] * (len(heads) - 1)]
        shown = shown[: _MOST_GROUPS // 2] + shown[-_MOST_GROUPS // 2 :]
    table = [
        [printable(key), str(group.n), *(_digits(name, getattr(group, name))[0] for name in _SHORT)]
        for key, group in shown
    ]
    half = _MOST_GROUPS // 2
    return [heads, *table[:half], *gap, *table[half:]]


def _digits(name: str, estimate: Estimate) -> tuple[str, str]:
    """Value and interval as text, to be read; the attributes have all digits.

    A certified interval has no confidence level. It is shown where its ends look different.
    """
    value = "undefined" if estimate.value is None else number_text(estimate.value)
    if estimate.method.endswith(", certified"):
        value = f"~{value}"
    if name.endswith("pvalue") and estimate.value is not None and estimate.value < _LEAST_PVALUE:
        return f"< {_LEAST_PVALUE:g}", ""
    if estimate.low is None or estimate.high is None:
        return value, ""
    low, high = number_text(estimate.low), number_text(estimate.high)
    if estimate.method != "certified":
        return value, f"{low} to {high}"
    return value, "" if low == high else f"surely {low} to {high}"


def number_text(x: float) -> str:
    """Return a number to be read."""
    return f"{x:.5f}" if x == 0 or 1e-4 <= abs(x) < 1e3 else f"{x:.3g}"


def _aligned(row: list[str], widths: list[int]) -> str:
    cells = [row[0].ljust(widths[0])]
    cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
    return ("  " + "  ".join(cells)).rstrip()


def _html_table(rows: list[list[str]]) -> str:
    """The first column and words to the left, numbers to the right; the first row is the head."""
    head = "".join(f'<th style="padding:.1em .6em">{html.escape(text)}</th>' for text in rows[0])
    body = "".join(
        "<tr>" + "".join(_html_cell(text, i == 0) for i, text in enumerate(row)) + "</tr>"
        for row in rows[1:]
    )
    return (
        f'<table style="{_TABLE}"><thead style="{_LINE}"><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table>"
    )


def _html_cell(text: str, is_name: bool) -> str:
    indent = "1.8em" if text.startswith(" ") else ".6em"
    numbers = text.removeprefix("surely ").replace(" to ", "").replace("e", "")
    is_words = any(c.isalpha() for c in numbers)
    align = "left" if is_name or (is_words and text not in ("undefined", "inf")) else "right"
    style = f"padding:.1em .6em .1em {indent};text-align:{align}"
    return f'<td style="{style}">{html.escape(text.strip())}</td>'
