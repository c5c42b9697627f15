"""The modules that can be called, as type checkers see them: see `_callable_module`."""

from types import ModuleType

from calibrant.drift import (
    Change as _drift_Change,
    Drift as _drift_Drift,
    WindowsDrift as _drift_WindowsDrift,
    drift as _drift_drift,
    drift_by_window as _drift_drift_by_window,
)
from calibrant.report import (
    SCHEMA as _REPORT_SCHEMA,
    SECTIONS as _REPORT_SECTIONS,
    Figure as _report_Figure,
    Number as _report_Number,
    Report as _report_Report,
    Section as _report_Section,
    Table as _report_Table,
    Verdict as _report_Verdict,
    comparison as _report_comparison,
    comparison_report as _report_comparison_report,
    report as _report_report,
)

class _DriftModule(ModuleType):
    __call__ = staticmethod(_drift_drift)
    Change = _drift_Change
    Drift = _drift_Drift
    WindowsDrift = _drift_WindowsDrift
    drift = staticmethod(_drift_drift)
    drift_by_window = staticmethod(_drift_drift_by_window)

class _ReportModule(ModuleType):
    __call__ = staticmethod(_report_report)
    SCHEMA = _REPORT_SCHEMA
    SECTIONS = _REPORT_SECTIONS
    Figure = _report_Figure
    Number = _report_Number
    Report = _report_Report
    Section = _report_Section
    Table = _report_Table
    Verdict = _report_Verdict
    comparison = staticmethod(_report_comparison)
    comparison_report = staticmethod(_report_comparison_report)
    report = staticmethod(_report_report)

drift: _DriftModule
report: _ReportModule
