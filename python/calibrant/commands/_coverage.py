"""What `calibrant score` says about intervals, sets and draws: as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from calibrant.evidence import Evidence

__all__ = ["coverage_content", "coverage_lines"]


def coverage_content(evidence: Evidence, confidence_level: float) -> dict[str, Any]:
    """Return all of it, ready for JSON; what there is not is None."""
    from calibrant._result import json_ready

    bounds, ranks = evidence.intervals, evidence.rank_calibration(confidence_level)
    return {
        "intervals": None
        if bounds is None
        else json_ready(bounds.result(ci_level=confidence_level).to_dict()),
        "coverage_hsic": None if bounds is None else json_ready(_hsic(evidence)),
        "sets": None
        if evidence.sets is None
        else json_ready(evidence.sets.result(ci_level=confidence_level).to_dict()),
        "ranks": None if ranks is None else json_ready(ranks.to_dict()),
    }


def coverage_lines(evidence: Evidence, confidence_level: float) -> Iterator[str]:
    """Give all of it as text."""
    if evidence.intervals is not None:
        yield str(evidence.intervals.result(ci_level=confidence_level))
        hsic = _hsic(evidence)
        if hsic["reason"]:
            yield f"  HSIC of width and coverage is left out: {hsic['reason']}"
        for level in hsic["levels"]:
            value = level["reason"] or f"{level['hsic']:.5g}"
            yield f"  HSIC of width and coverage at level {level['level']:g}: {value}"
    if evidence.sets is not None:
        if evidence.intervals is not None:
            yield ""
        _, numbers = str(evidence.sets.result(ci_level=confidence_level)).split("\n", 1)
        yield f"Prediction sets of {evidence.sets.n} rows, {100 * confidence_level:g}% intervals"
        yield numbers
    ranks = evidence.rank_calibration(confidence_level)
    if ranks is not None:
        if evidence.intervals is not None or evidence.sets is not None:
            yield ""
        yield str(ranks)


def _hsic(evidence: Evidence) -> dict[str, Any]:
    """Level by level, or the reason why not."""
    found: dict[str, Any] = {"levels": [], "reason": evidence.left_out.get("coverage_hsic")}
    if evidence.coverage_hsic is None or evidence.intervals is None:
        return found
    try:
        result: Any = evidence.coverage_hsic.result()
    except ValueError as error:
        return {**found, "reason": str(error)}
    levels = getattr(result, "levels", (result,))
    nominal = (level.confidence_level for level in evidence.intervals.result())
    found["levels"] = [
        {"level": name, **level.to_dict()} for name, level in zip(nominal, levels, strict=True)
    ]
    return found
