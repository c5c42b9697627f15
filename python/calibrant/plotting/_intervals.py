"""Coverage of prediction intervals: level by level, and by their size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from calibrant.intervals._coverage import SizeGroups
from calibrant.intervals._summary import IntervalSummary
from calibrant.plotting._display import Display
from calibrant.plotting._style import Palette

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

__all__ = ["IntervalCoverageDisplay", "SizeGroupsDisplay"]

#: Value, low and high.
Covered = tuple[float, float, float]


def draw_rows(
    ax: Axes, palette: Palette, labels: Sequence[str], covered: Sequence[Covered]
) -> tuple[Line2D, list[Line2D]]:
    """Draw a point and an interval per row, from the top."""
    intervals = [
        ax.plot([low, high], [row, row], color=palette.first, linewidth=2.2, alpha=0.5)[0]
        for row, (_, low, high) in enumerate(covered)
    ]
    points = ax.plot(
        [value for value, _, _ in covered], range(len(covered)), "o", color=palette.first,
        markersize=6,
    )[0]  # fmt: skip
    ax.set_yticks(range(len(covered)), labels, parse_math=False)
    ax.set_ylim(len(covered) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    ax.locator_params(axis="x", nbins=5)  # coverages have many digits
    return points, intervals


class IntervalCoverageDisplay(Display[IntervalSummary]):
    """How often the intervals of each level hold what happened, against what they promise.

    Attributes
    ----------
    points_ : Line2D
        The coverage, from the top in the order of the levels.
    intervals_ : list of Line2D
        Their confidence intervals.
    nominal_ : Line2D
        What the levels promise.
    """

    size: ClassVar[tuple[float, float]] = (5.4, 2.6)
    points_: Line2D
    intervals_: list[Line2D]
    nominal_: Line2D

    def _draw(self, ax: Axes, palette: Palette, name: str | None) -> None:
        levels = self.result.levels
        covered = [(x.coverage.value, x.coverage.low, x.coverage.high) for x in levels]
        labels = [f"{100 * x.confidence_level:g}%, mean width {x.mean_width:.4g}" for x in levels]
        self.points_, self.intervals_ = draw_rows(ax, palette, labels, covered)  # type: ignore[arg-type]
        self.nominal_ = ax.plot(
            [x.confidence_level for x in levels], range(len(levels)), "|", color=palette.second,
            markersize=16, markeredgewidth=2,
        )[0]  # fmt: skip
        self._frame(ax, palette, xlabel="coverage; upright marks: what is promised")
        ax.grid(visible=False, axis="y")
        ax.margins(x=0.08)
        of = "" if name is None else f"{name}: "
        ci = f"{100 * self.result.ci_level:g}% intervals"
        self._count(ax, palette, f"{of}n = {self.result.n:,}, {ci}")


class SizeGroupsDisplay(Display[SizeGroups]):
    """Coverage of narrow and of wide intervals, or of sets by their size.

    Attributes
    ----------
    points_ : Line2D
    intervals_ : list of Line2D
    nominal_ : Line2D or None
        What the level promises, where it was given.
    """

    size: ClassVar[tuple[float, float]] = (5.4, 3.0)
    points_: Line2D
    intervals_: list[Line2D]
    nominal_: Line2D | None

    def _draw(
        self, ax: Axes, palette: Palette, name: str | None, *, nominal: float | None = None
    ) -> None:
        groups = self.result.groups
        labels = [f"{_span(x.least, x.largest)}  ({x.weight:,.6g})" for x in groups]
        covered = [(x.coverage, x.low, x.high) for x in groups]
        self.points_, self.intervals_ = draw_rows(ax, palette, labels, covered)
        self.nominal_ = None
        if nominal is not None:
            self.nominal_ = ax.axvline(nominal, color=palette.second, linewidth=1.4)
        label = "coverage" if nominal is None else "coverage; upright line: what is promised"
        self._frame(ax, palette, xlabel=label, ylabel="size  (rows)")
        ax.grid(visible=False, axis="y")
        ax.margins(x=0.08)
        self._count(ax, palette, "" if name is None else name)


def _span(least: float, largest: float) -> str:
    return f"{least:.4g}" if least == largest else f"{least:.4g} to {largest:.4g}"
