"""Pictures of sample sets."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from calibrant.calibration._verdict import pvalue_text
from calibrant.plotting._display import Display
from calibrant.plotting._style import Palette
from calibrant.samples._comparison import SampleComparison
from calibrant.samples._vendi import VendiProfile

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

__all__ = ["SampleComparisonDisplay", "VendiProfileDisplay"]


class VendiProfileDisplay(Display[VendiProfile]):
    """The effective number of different rows, a curve that falls with the order.

    Attributes
    ----------
    line_ : Line2D
        The curve, of orders from 0 to `most_order`.
    point_ : Line2D
        The score of order 1, marked.
    limit_ : Line2D
        The score of infinite order, which the curve falls to.
    """

    size: ClassVar[tuple[float, float]] = (5.4, 3.9)
    line_: Line2D
    point_: Line2D
    limit_: Line2D

    def _draw(
        self,
        ax: Axes,
        palette: Palette,
        name: str | None,
        *,
        most_order: float = 5.0,
        annotate: bool = True,
        color: str | None = None,
    ) -> None:
        profile = self.result
        color = palette.first if color is None else color
        orders = np.linspace(0.0, most_order, 201)
        scores = [profile.at(q) for q in orders]
        self.line_ = ax.plot(orders, scores, color=color, linewidth=1.8, label=name)[0]
        one, limit = profile.at(1.0), profile.at(math.inf)
        self.point_ = ax.plot([1.0], [one], "o", color=color, markersize=6)[0]
        self.limit_ = ax.axhline(limit, color=color, linewidth=1.0, linestyle=":", alpha=0.8)
        if annotate:
            ax.annotate(
                f"{one:.4g} at q = 1",
                (1.0, one),
                xytext=(7, 5),
                textcoords="offset points",
                fontsize="small",
                color=palette.text,
            )
        self._frame(ax, palette, xlabel="order q", ylabel="effective number of rows")
        ax.set_ylim(0.0, max(ax.get_ylim()[1], 1.12 * max(scores)))  # others may be there
        self._count(ax, palette, f"n = {profile.n:,}")
        self._legend(ax, palette)


class SampleComparisonDisplay(Display[SampleComparison]):
    """Density, coverage and diversity of samples, each over what equal laws give on average.

    Attributes
    ----------
    points_ : Line2D
        One for each ratio, from the top.
    expected_ : Line2D
        Upright, at 1.
    """

    size: ClassVar[tuple[float, float]] = (5.4, 2.8)
    points_: Line2D
    expected_: Line2D

    def _draw(
        self, ax: Axes, palette: Palette, name: str | None, *, color: str | None = None
    ) -> None:
        found = self.result
        ratios = found.ratios()
        color = palette.first if color is None else color
        places = np.arange(len(ratios))[::-1]
        values = np.array(list(ratios.values()))
        self.expected_ = ax.axvline(1.0, color=palette.neutral, linewidth=1.2)
        ax.hlines(places, 1.0, values, color=color, linewidth=1.4, alpha=0.6)
        self.points_ = ax.plot(values, places, "o", color=color, markersize=7, label=name)[0]
        for place, value in zip(places, values, strict=True):
            ax.annotate(
                f"{value:.3g}",
                (value, place),
                xytext=(0, 7),
                textcoords="offset points",
                ha="center",
                fontsize="small",
                color=palette.text,
            )
        self._frame(ax, palette, xlabel="over what is expected of one law")
        ax.set_yticks(places, list(ratios))
        ax.set_ylim(-0.6, len(ratios) - 0.3)
        ax.set_xlim(0.0, max(1.5, ax.get_xlim()[1], 1.15 * float(values.max())))
        if found.mmd is not None:
            text = pvalue_text(found.mmd.pvalue, found.mmd.log_pvalue)
            ax.set_title(f"MMD {text}", loc="left", fontsize="small", color=palette.muted)
        self._count(ax, palette, f"n = {found.n:,}, m = {found.m:,}")
        self._legend(ax, palette)
