"""Cumulative differences between hits and scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from calibrant import _core
from calibrant.calibration._verdict import pvalue_text
from calibrant.cumulative._curve import CumulativeDifferences, cumulative_differences
from calibrant.plotting._display import PredictionDisplay
from calibrant.plotting._style import Palette

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D
    from matplotlib.patches import Polygon, Rectangle


__all__ = ["CumulativeDifferencesDisplay", "largest_excursion"]


def largest_excursion(level: float) -> float:
    """Return x with P(max abs(B) <= x) = level, for a Brownian motion on [0, 1].

    Examples
    --------
    >>> round(largest_excursion(0.95), 4)
    2.2414
    """
    if not 0.0 < level < 1.0:
        raise ValueError(f"level must lie strictly between 0 and 1, got {level!r}")
    low, high = 0.0, 40.0
    while high - low > 1e-12:
        middle = 0.5 * (low + high)
        outside = float(_core.brownian_sup_sf([middle])[0])
        low, high = (middle, high) if outside > 1.0 - level else (low, middle)
    return low


class CumulativeDifferencesDisplay(PredictionDisplay[CumulativeDifferences]):
    """The curve C of the tests of calibration, with the band that chance keeps it in.

    If the scores are right, the whole curve stays in the band in ``level`` of all samples: it
    leaves it where the KS test rejects. The p-values of both tests are written above.

    Attributes
    ----------
    line_ : Line2D
    band_ : Rectangle or Polygon
        From -x sigma to x sigma, with x of the law of max abs(B).
    extremes_ : Line2D
        The highest and the lowest point, whose distance is Kuiper's statistic.
    ks_pvalue_, kuiper_pvalue_ : float
    """

    size: ClassVar[tuple[float, float]] = (5.6, 4.1)
    _compute = staticmethod(cumulative_differences)
    line_: Line2D
    band_: Rectangle | Polygon
    extremes_: Line2D
    ks_pvalue_: float
    kuiper_pvalue_: float

    def _draw(
        self,
        ax: Axes,
        palette: Palette,
        name: str | None,
        *,
        level: float = 0.95,
        band: bool = True,
        color: str | None = None,
    ) -> None:
        curve = self.result
        color = palette.first if color is None else color
        reach = largest_excursion(level) * curve.sigma
        self.band_ = ax.axhspan(
            -reach,
            reach,
            color=palette.band,
            alpha=0.18,
            linewidth=0,
            label=f"calibrated scores stay inside {100 * level:g}% of the time" if band else None,
            visible=band,
        )
        ax.axhline(0.0, color=palette.neutral, linewidth=0.8)
        self.line_ = ax.plot(
            curve.fractions, curve.differences, color=color, linewidth=1.5, label=name
        )[0]
        ends = [int(curve.differences.argmax()), int(curve.differences.argmin())]
        self.extremes_ = ax.plot(
            curve.fractions[ends], curve.differences[ends], "o", color=color, markersize=4
        )[0]
        self._frame(
            ax,
            palette,
            xlabel="share of rows, in order of their scores",
            ylabel="cumulative difference, hits \N{MINUS SIGN} scores",
            xlim=(0.0, 1.0),
        )
        self._tests(ax, palette, name)
        if name is None:
            self._score_ticks(ax)
        ax.margins(y=0.16)
        self._legend(ax, palette, below=52.0)

    def _tests(self, ax: Axes, palette: Palette, name: str | None) -> None:
        curve = self.result
        self.ks_pvalue_, ks = self._pvalue(
            float(np.abs(curve.differences).max()), _core.brownian_sup_sf, _core.brownian_sup_log_sf
        )
        self.kuiper_pvalue_, kuiper = self._pvalue(
            float(np.ptp(curve.differences)), _core.brownian_range_sf, _core.brownian_range_log_sf
        )
        text = f"KS {ks}, Kuiper {kuiper}, n = {curve.n:,}"
        self._count(ax, palette, text if name is None else f"{name}: {text}")

    def _pvalue(self, distance: float, law: Any, log_law: Any) -> tuple[float, str]:
        if distance == 0.0:
            statistic = 0.0
        elif self.result.sigma == 0.0:
            return 0.0, pvalue_text(0.0)
        else:
            statistic = distance / self.result.sigma
        pvalue = float(law([statistic])[0])
        return pvalue, pvalue_text(pvalue, float(log_law([statistic])[0]))

    def _score_ticks(self, ax: Axes) -> None:
        """Below each share of rows, the score up to which they are."""
        curve = self.result
        shares = np.linspace(0.0, 1.0, 6)
        at = np.minimum(np.searchsorted(curve.fractions, shares), curve.scores.size - 1)
        at[0] = min(1, at[-1])  # the first row's score; the curve starts before it
        labels = [
            f"{share:g}\n{score:.2g}" for share, score in zip(shares, curve.scores[at], strict=True)
        ]
        ax.set_xticks(shares, labels)
        ax.set_xlabel("share of rows by score; below, the score")
