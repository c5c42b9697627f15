"""The null distribution of a test of two samples."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from calibrant.calibration._verdict import pvalue_text
from calibrant.plotting._display import Display
from calibrant.plotting._style import Palette
from calibrant.samples._mmd_test import MMDTest

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D
    from matplotlib.patches import Polygon, StepPatch


__all__ = ["MMDTestDisplay"]


class MMDTestDisplay(Display[MMDTest]):
    """What the statistic would be if both samples were of one law, and what it is.

    The statistics of the splits as a histogram, or the normal law where the test is by terms. Where
    the test rejects at ``level`` is shaded.

    Attributes
    ----------
    null_ : StepPatch or Polygon
    statistic_ : Line2D
        Upright, at the statistic of the samples.
    critical_ : float
        Beyond it, the p-value is at most ``level``.
    """

    size: ClassVar[tuple[float, float]] = (5.4, 3.9)
    null_: StepPatch | Polygon
    statistic_: Line2D
    critical_: float

    def _draw(
        self,
        ax: Axes,
        palette: Palette,
        name: str | None,
        *,
        level: float = 0.05,
        bins: int | str = "auto",
        color: str | None = None,
    ) -> None:
        if not 0.0 < level < 1.0:
            raise ValueError(f"level must lie strictly between 0 and 1, got {level!r}")
        test = self.result
        if test.null is None:
            peak = self._draw_normal(ax, palette, level)
        else:
            peak = self._draw_splits(ax, palette, level, bins)
        self.statistic_ = ax.plot(
            [test.statistic] * 2,
            [0.0, peak],
            color=palette.first if color is None else color,
            linewidth=2.0,
            label=f"{name or 'these samples'}, {pvalue_text(test.pvalue, test.log_pvalue)}",
        )[0]
        left, right = ax.get_xlim()
        if self.critical_ < right:
            ax.axvspan(
                self.critical_,
                right,
                color=palette.band,
                alpha=0.12,
                linewidth=0,
                label=f"p at most {level:g}",
            )
        self._frame(ax, palette, xlabel="squared MMD", ylabel="density", yticks=[])
        ax.set(xlim=(left, right), ylim=(0.0, 1.45 * peak))  # the legend is above
        ax.locator_params(axis="x", nbins=5)
        self._count(ax, palette, f"n = {test.n:,}, m = {test.m:,}")
        self._legend(ax, palette)

    def _draw_splits(self, ax: Axes, palette: Palette, level: float, bins: int | str) -> float:
        test, null = self.result, np.sort(np.asarray(self.result.null))
        density, edges = np.histogram(null, bins=bins, density=True)
        kind = "all" if test.method == "exact" else "random"
        self.null_ = ax.stairs(
            density,
            edges,
            fill=True,
            color=palette.neutral,
            alpha=0.55,
            label=f"{null.size:,} {kind} splits",
        )
        # Rejected are those with at most so many of the splits at or beyond them.
        extra = 0 if test.method == "exact" else 1
        allowed = math.floor(level * (null.size + extra) + 1e-9) - extra
        self.critical_ = math.inf if allowed < 1 else float(null[null.size - allowed])
        return float(density.max())

    def _draw_normal(self, ax: Axes, palette: Palette, level: float) -> float:
        from statistics import NormalDist

        sd = self.result.standard_error or 0.0
        z = np.linspace(-4.0, 4.0, 201)
        self.null_ = ax.fill(
            z * sd,
            np.exp(-0.5 * z**2),
            color=palette.neutral,
            alpha=0.55,
            linewidth=0,
            label=f"normal law of the mean of {self.result.n_terms:,} terms",
        )[0]
        self.critical_ = NormalDist().inv_cdf(1.0 - level) * sd
        return 1.0
