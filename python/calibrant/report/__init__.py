"""Reports: what the evidence says, on one page. Needs ``pip install ".[report]"``.

``calibrant.report(y_true, y_proba)`` is short for `report` in this module.

A report is a list of sections, each brought by its concept: see `SECTIONS`.
"""

from calibrant._runtime.callable_module import make_callable
from calibrant.report._comparison import comparison, comparison_report
from calibrant.report._in_memory import report
from calibrant.report._report import SCHEMA, Report
from calibrant.report._section import Figure, Number, Section, Table
from calibrant.report._sections import SECTIONS
from calibrant.report._verdict import Verdict

__all__ = [
    "SCHEMA",
    "SECTIONS",
    "Figure",
    "Number",
    "Report",
    "Section",
    "Table",
    "Verdict",
    "comparison",
    "comparison_report",
    "report",
]


def __dir__() -> list[str]:
    return __all__


make_callable(__name__)
