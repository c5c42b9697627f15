"""The report: sections in order, as a page and as data."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from calibrant import __version__, streaming
from calibrant._input.validation import check_level, checked_text
from calibrant._result import json_ready, printable
from calibrant._runtime.atomic_file import checked_path, write_file
from calibrant.report._definitions import DEFINITIONS, Definition
from calibrant.report._section import Section
from calibrant.report._sections import SECTIONS
from calibrant.report._svg import colour_variables, inline_svg
from calibrant.report._verdict import Verdict, verdict_of
from calibrant.report._view import View

__all__ = ["SCHEMA", "Report"]

#: Of `Report.to_dict`; the number rises when a name changes its meaning.
SCHEMA = "calibrant.report/1"


@dataclass(frozen=True)
class Report:
    """What the evidence says, section by section.

    Attributes
    ----------
    title : str
    verdict : Verdict
    n, n_omitted : int
        Rows taken in, and rows dropped because a value was missing.
    sections : tuple of Section
    source : dict
        Where the rows came from, and how they were read.
    """

    title: str
    verdict: Verdict
    n: int
    n_omitted: int
    sections: tuple[Section, ...]
    source: dict[str, Any]

    @classmethod
    def of(
        cls,
        evidence: Any,
        *,
        title: str | None = None,
        confidence_level: float = 0.95,
        windows: streaming.Windowed | None = None,
    ) -> Report:
        """Return the report of evidence: the accumulators of one run over the rows.

        Parameters
        ----------
        evidence
            Has ``scorecard``, ``table`` and ``spectrum`` (accumulators of
            `calibrant.streaming`), ``groups`` (a dict of scorecards by key, may be empty) and
            ``source`` (a dict, recorded in the report), as `calibrant.evidence.Evidence` has;
            optionally ``assessment``, needed for the model against the source of several
            classes, ``intervals``, ``coverage_hsic``, ``sets``, and ``ranks`` with the names of
            the ``truths``. Where the scorecard has no rows, the report is about intervals, sets
            or draws.
        title : str, optional
        confidence_level : float
            Of the intervals.
        windows : streaming.Windowed, optional
            Of `streaming.Scorecard`, with the same rows by time: they are compared with the first.

        Raises
        ------
        ValueError
            If there is no row, or none with a positive weight.
        """
        if not hasattr(evidence, "scorecard"):
            raise TypeError(f"evidence must have a scorecard, got {evidence!r}")
        if title is not None:
            checked_text(title, "title")
        if windows is not None and not isinstance(windows, streaming.Windowed):
            raise TypeError(f"windows must be a streaming.Windowed, got {windows!r}")
        view = View(evidence, check_level(confidence_level), windows)
        found = (section(view) for section in SECTIONS)
        counted = evidence.scorecard
        if not view.has_probabilities:
            counted = getattr(evidence, view.subject)
        things = "draws" if view.subject == "ranks" else view.subject
        return cls(
            f"Can these {things} be trusted?" if title is None else title,
            verdict_of(view),
            counted.n,
            counted.n_omitted,
            tuple(section for section in found if section is not None),
            view.source,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the whole content, ready for JSON; ``schema`` names its form."""
        return {
            "schema": SCHEMA,
            "title": self.title,
            "verdict": self.verdict.to_dict(),
            "n": self.n,
            "n_omitted": self.n_omitted,
            "sections": [section.to_dict() for section in self.sections],
            "source": json_ready(self.source),
            "calibrant": __version__,
        }

    def to_json(self) -> str:
        """Return `to_dict` as text."""
        text = json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
        return text.encode("utf-8", "backslashreplace").decode("utf-8")  # lone surrogates

    def to_html(self) -> str:
        """Return one page that needs nothing else: no network, no script.

        Needs matplotlib and jinja2: ``pip install ".[report]"``. The same evidence gives
        the same text.
        """
        template = _template("report.html.jinja")  # what is not installed is missed at once
        figures = {
            figure.name: inline_svg(figure)
            for section in self.sections
            for figure in section.figures
        }
        page: str = template.render(
            report=self,
            figures=figures,
            definitions=self._definitions(),
            light=colour_variables("light"),
            dark=colour_variables("dark"),
            record=_record(self.source),
            version=__version__,
        )
        return page

    def _definitions(self) -> dict[str, Definition]:
        """Those of what is in the report."""
        used = {"interval"}
        for section in self.sections:
            used.update(number.definition or number.name for number in section.numbers)
            used.update(section.terms)
        return {name: found for name, found in DEFINITIONS.items() if name in used}

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page to a file, or its content if the name ends in ``.json``.

        The file is written beside it and then renamed: there is never half a report.
        """
        target = checked_path(path)
        text = self.to_json() if target.suffix == ".json" else self.to_html()
        write_file(target, text)
        return target

    def _repr_html_(self) -> str:
        """A frame of its own, so that its style and the notebook's do not mix."""
        from html import escape

        return (
            f'<iframe srcdoc="{escape(self.to_html(), quote=True)}" '
            'style="width:100%;height:60em;border:0"></iframe>'
        )

    def __repr__(self) -> str:
        names = ", ".join(section.name for section in self.sections)
        lines = (
            f"Report of {self.n} rows: {self.verdict.headline}",
            f"  {self.verdict.sentence}",
            f"  sections: {names}",
        )
        return "\n".join(lines)


def _template(name: str) -> Any:
    try:
        import jinja2
    except ImportError as error:
        raise ImportError('reports need jinja2: pip install ".[report]"') from error
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("calibrant.report", "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        finalize=_shown,
    )
    return environment.get_template(name)


def _shown(value: Any) -> Any:
    """Return text with what no page may hold as an escape, such as control characters.

    No-break spaces are ours.
    """
    if type(value) is not str:  # markup is a subclass
        return value
    return "\N{NO-BREAK SPACE}".join(map(printable, value.split("\N{NO-BREAK SPACE}")))


def _record(source: dict[str, Any]) -> list[tuple[str, str]]:
    """The source as rows of a table: one per entry, nested ones on lines of their own."""
    rows: list[tuple[str, str]] = []
    for name, value in source.items():
        label = str(name).replace("_", " ")
        if isinstance(value, dict):
            rows += [(f"{label}: {key}", _plain(item)) for key, item in value.items()]
        else:
            rows.append((label, _plain(value)))
    return [(label, text) for label, text in rows if text]


def _plain(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(_plain(item) for item in value)
    if isinstance(value, dict):
        shown = {key: _plain(item) for key, item in value.items()}
        return ", ".join(f"{key} {text}" for key, text in shown.items() if text)
    return str(value)
