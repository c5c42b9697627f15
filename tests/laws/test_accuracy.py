"""The bounds of docs/reference/accuracy.md on a few cases of each; accuracy.py there runs all."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import accuracy_cases
from accuracy_cases.public import NOT_MEASURED, public_names

ROWS = accuracy_cases.rows()
PAGE = Path(__file__).parents[2] / "docs" / "reference" / "accuracy.md"


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_promise(row):
    found = row.measure(few=True)
    assert found.n >= 3
    assert found.met, f"{found.worst:.3g} {row.unit}, promised {row.bound:g}"


def test_every_public_number_is_measured_or_has_a_reason_why_not():
    public = set(public_names())
    covered = {name for row in ROWS for name in row.covers if not name.startswith("_core.")}
    assert covered <= public, covered - public
    assert set(NOT_MEASURED) <= public
    assert not covered & set(NOT_MEASURED)
    assert public <= covered | set(NOT_MEASURED), public - covered - set(NOT_MEASURED)


def test_the_page_has_every_row():
    """Its table was written by the command; names and promises are those of today."""
    text = PAGE.read_text(encoding="utf-8")
    table = text.partition("<!-- accuracy table")[2].partition("<!-- end of accuracy table")[0]
    names = re.findall(r"^\| ([^|]+) \| [^|]+ \| [^|]+ \| [0-9]", table, re.MULTILINE)
    assert names == [row.name for row in ROWS]
    assert "not met" not in table
