"""How large prediction sets are, and how often sets of each size cover."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from calibrant.intervals._set_results import SetSummary
from calibrant.plotting._display import Display
from calibrant.plotting._style import Palette

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer
    from matplotlib.lines import Line2D

__all__ = ["SetSizesDisplay"]


class SetSizesDisplay(Display[SetSummary]):
    """The share of rows whose sets have each size, and the coverage of these rows.

    Attributes
    ----------
    bars_ : BarContainer
        The shares, by ascending size.
    points_ : Line2D
        The coverages.
    intervals_ : list of Line2D
        Their confidence intervals.
    total_ : Line2D
        The coverage of all rows.
    """

    size: ClassVar[tuple[float, float]] = (5.4, 3.5)
    bars_: BarContainer
    points_: Line2D
    intervals_: list[Line2D]
    total_: Line2D

    def _draw(self, ax: Axes, palette: Palette, name: str | None, *, level: int = 0) -> None:
        groups = self.result.by_size.levels[level].groups
        sizes = [group.least for group in groups]
        total = math.fsum(group.weight for group in groups)
        self.bars_ = ax.bar(
            sizes, [group.weight / total for group in groups], width=0.8, color=palette.neutral,
            alpha=0.35, label="share of rows",
        )  # fmt: skip
        self.intervals_ = [
            ax.plot([x, x], [g.low, g.high], color=palette.first, linewidth=2.2, alpha=0.5)[0]
            for x, g in zip(sizes, groups, strict=True)
        ]
        self.points_ = ax.plot(
            sizes, [group.coverage for group in groups], "o", color=palette.first, markersize=6,
            label="coverage",
        )[0]  # fmt: skip
        coverage = self.result.coverage
        self.total_ = ax.axhline(
            float(np.atleast_1d(coverage.value)[level]), color=palette.second, linewidth=1.4,
            label="coverage of all rows",
        )  # fmt: skip
        ax.locator_params(axis="x", integer=True)
        self._frame(ax, palette, xlabel="classes in the set", ylabel="share", ylim=(0, 1.04))
        ax.grid(visible=False, axis="x")
        self._legend(ax, palette)
        of = "" if name is None else f"{name}: "
        ci = f"{100 * coverage.ci_level:g}% intervals"
        self._count(ax, palette, f"{of}n = {coverage.n:,}, {ci}")
