"""Generalized means over their powers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar

from calibrant.means import MeanSpectrum
from calibrant.plotting._display import Display
from calibrant.plotting._style import Palette

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D


__all__ = ["MeanSpectrumDisplay"]

#: Named powers, and the marker of each.
NAMED = {-2 / 3: ("robustness", "v"), 0.0: ("accuracy", "o"), 1.0: ("decisiveness", "^")}


class MeanSpectrumDisplay(Display[MeanSpectrum]):
    """The generalized means, a curve that rises with the power, with the named ones marked.

    Attributes
    ----------
    line_ : Line2D
        The curve, of the finite powers.
    points_ : dict of Line2D
        By name, those of the three named means that the spectrum holds.
    """

    size: ClassVar[tuple[float, float]] = (5.4, 3.7)
    line_: Line2D
    points_: dict[str, Line2D]

    def _draw(
        self,
        ax: Axes,
        palette: Palette,
        name: str | None,
        *,
        annotate: bool = True,
        color: str | None = None,
    ) -> None:
        pairs = zip(self.result.powers, self.result.means, strict=True)
        finite = sorted((m, mean) for m, mean in pairs if math.isfinite(m))
        powers, means = [m for m, _ in finite], [mean for _, mean in finite]
        color = palette.first if color is None else color
        self.line_ = ax.plot(powers, means, color=color, linewidth=1.8, label=name)[0]
        self.points_ = {}
        for m, mean in finite:
            if m not in NAMED:
                continue
            called, marker = NAMED[m]
            ax.axvline(m, color=palette.grid, linewidth=0.8, zorder=0)
            self.points_[called] = ax.plot([m], [mean], marker, color=color, markersize=7)[0]
            if not annotate:
                continue
            # The curve rises: its free sides are above to the left and below to the right.
            left, above = called != "accuracy", called != "accuracy" or mean < 0.1
            ax.annotate(
                f"{called} {mean:.3f}",
                (m, mean),
                xytext=(-7 if left else 7, 4 if above else -4),
                textcoords="offset points",
                ha="right" if left else "left",
                va="bottom" if above else "top",
                fontsize="small",
                color=palette.text,
            )
        self._frame(ax, palette, xlabel="power m", ylabel="generalized mean of q", ylim=(0.0, 1.0))
        self._count(ax, palette, f"n = {self.result.n:,}")
        self._legend(ax, palette)
