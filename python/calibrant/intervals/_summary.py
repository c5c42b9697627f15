"""All numbers of prediction intervals, level by level, and how they look as a table."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from calibrant import _core
from calibrant._result import Result, holm, plain
from calibrant.intervals._bounds import are_equally_wide
from calibrant.intervals._confidence import Confidence
from calibrant.intervals._coverage import SizeGroups
from calibrant.scorecards import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from calibrant.plotting import IntervalCoverageDisplay

__all__ = ["IntervalLevel", "IntervalSummary"]

_METHODS = {"wilson": "Wilson", "exact": "Clopper-Pearson"}


@dataclass(frozen=True, repr=False)
class IntervalLevel(Result):
    """All numbers of the prediction intervals of one level.

    Attributes
    ----------
    confidence_level : float
        The nominal level.
    coverage : Estimate
        How often the intervals hold what happened.
    below, above : Estimate
        How often it lies below, or above; central intervals promise (1 - level) / 2 each.
    mean_width, least_width, largest_width : float
        Of the intervals.
    score : float
        The mean interval score of Winkler.
    criterion : float or None
        The coverage width-based criterion; None where all outcomes are equal.
    verdict : str
        "under-covering" or "over-covering" if the adjusted p-value is at most 1 - ``ci_level``,
        else "calibrated"; "too few rows to tell" if no coverage could have been either.
    by_width : SizeGroups or None
        Coverage by width; None from a stream without edges.
    notes : tuple of str
        What is odd about the intervals.
    pvalue : float
        Of the hypothesis that the intervals cover at the nominal level: twice the smaller binomial
        tail, in which weights count as repetitions.
    adjusted_pvalue : float
        By Holm's method, over all levels.
    """

    confidence_level: float
    coverage: Estimate
    below: Estimate
    above: Estimate
    mean_width: float
    least_width: float
    largest_width: float
    score: float
    criterion: float | None
    verdict: str
    by_width: SizeGroups | None = None
    notes: tuple[str, ...] = ()
    pvalue: float = math.nan
    adjusted_pvalue: float = math.nan


@dataclass(frozen=True, repr=False)
class IntervalSummary(Result):
    """All numbers of prediction intervals.

    Indexing and iterating gives the levels.

    Attributes
    ----------
    levels : tuple of IntervalLevel
        In the order in which they were given.
    eta, ci_level, ci_method
        As they were given.
    n, n_omitted : int
        Rows taken in, and rows dropped because a value was missing.
    """

    levels: tuple[IntervalLevel, ...]
    eta: float = 30.0
    ci_level: float = 0.95
    ci_method: str = "wilson"
    n: int = 0
    n_omitted: int = 0

    @classmethod
    def _of(
        cls,
        state: _core.Intervals,
        by_width: Sequence[SizeGroups | None],
        ci: Confidence,
        eta: float,
        ci_level: float,
        ci_method: str,
    ) -> IntervalSummary:
        nominals = state.confidence_levels
        tests = [state.coverage_test(i, nominal) for i, nominal in enumerate(nominals)]
        adjusted = holm([pvalue for pvalue, _ in tests])
        error_rate = 1.0 - ci_level
        rows = zip(nominals, tests, adjusted, by_width, strict=True)
        levels = tuple(
            _level(
                state, i, nominal, groups, ci, eta, _METHODS[ci_method], pvalue, adjusted_pvalue,
                can_tell=least * len(tests) <= error_rate, error_rate=error_rate,
            )
            for i, (nominal, (pvalue, least), adjusted_pvalue, groups) in enumerate(rows)
        )  # fmt: skip
        return cls(levels, eta, ci_level, ci_method, state.n, state.n_omitted)

    def __getitem__(self, index: int) -> IntervalLevel:
        return self.levels[index]

    def __iter__(self) -> Iterator[IntervalLevel]:
        return iter(self.levels)

    def __len__(self) -> int:
        return len(self.levels)

    def to_dict(self) -> dict[str, Any]:
        """Return all as nested dicts, ready for JSON; what is undefined is None."""
        plain = super().to_dict()
        for level, of_level in zip(self.levels, plain["levels"], strict=True):
            of_level["notes"] = list(level.notes)
        return {**plain, "levels": [_cleaned(level) for level in plain["levels"]]}

    def plot(
        self, ax: Axes | None = None, *, name: str | None = None, **options: Any
    ) -> IntervalCoverageDisplay:
        """Draw the coverage of each level against what it promises.

        Needs matplotlib: ``pip install ".[plot]"``. The arguments are those of
        `calibrant.plotting.IntervalCoverageDisplay`.
        """
        from calibrant.plotting import IntervalCoverageDisplay

        return IntervalCoverageDisplay(self).plot(ax, name=name, **options)

    def __repr__(self) -> str:
        omitted = f", {self.n_omitted} omitted" if self.n_omitted else ""
        ci = f"{100 * self.ci_level:g}% intervals by {_METHODS[self.ci_method]}"
        head = ["level", "coverage", "", "mean width", "score", "criterion", "worst by width", ""]
        rows = [head, *map(_row, self.levels)]
        widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
        lines = [
            ("  " + "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)))
            for row in rows
        ]
        notes = [
            f"  level {level.confidence_level:g}: {note}"
            for level in self.levels
            for note in level.notes
        ]
        title = f"Prediction intervals of {self.n} rows{omitted}, {ci}"
        return "\n".join([title, *(line.rstrip() for line in lines), *notes])


def _cleaned(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _cleaned(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_cleaned(item) for item in value]
    return plain(value)


def _row(level: IntervalLevel) -> list[str]:
    cover = level.coverage
    worst = level.by_width.worst if level.by_width is not None else None
    return [
        f"{level.confidence_level:g}",
        f"{cover.value:.5g}",
        f"{cover.low:.5g} to {cover.high:.5g}",
        f"{level.mean_width:.5g}",
        f"{level.score:.5g}",
        "undefined" if level.criterion is None else f"{level.criterion:.5g}",
        "" if worst is None else f"{worst.coverage:.5g}",
        level.verdict,
    ]


def _level(
    state: _core.Intervals,
    index: int,
    nominal: float,
    by_width: SizeGroups | None,
    ci: Confidence,
    eta: float,
    method: str,
    pvalue: float,
    adjusted_pvalue: float,
    *,
    can_tell: bool,
    error_rate: float,
) -> IntervalLevel:
    coverage = Estimate(*state.coverage(index, *ci), method)
    below, above = (Estimate(*found, method) for found in state.outside(index, *ci))
    least, largest = state.width_range(index)
    criterion = state.criterion(index, nominal, eta)
    notes = []
    if are_equally_wide(least, largest):
        notes.append("all intervals are equally wide: coverage by width and HSIC say nothing")
    elif by_width is not None and by_width.note:
        notes.append(by_width.note)
    if math.isnan(criterion):
        notes.append("all outcomes are equal: the criterion compares widths with their range")
    if adjusted_pvalue <= error_rate:
        assert coverage.value is not None
        verdict = "under-covering" if coverage.value < nominal else "over-covering"
    else:
        verdict = "calibrated" if can_tell else "too few rows to tell"
    return IntervalLevel(
        nominal,
        coverage,
        below,
        above,
        state.mean_width(index),
        least,
        largest,
        state.score(index, nominal),
        None if math.isnan(criterion) else criterion,
        verdict,
        by_width,
        tuple(notes),
        pvalue,
        adjusted_pvalue,
    )
