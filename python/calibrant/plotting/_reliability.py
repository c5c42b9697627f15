"""The reliability diagram."""

from __future__ import annotations

from statistics import NormalDist
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from calibrant.calibration import ReliabilityBins, reliability_bins
from calibrant.plotting._display import PredictionDisplay
from calibrant.plotting._style import Palette
from calibrant.score_table._bounds import ReliabilityBounds

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection
    from matplotlib.container import BarContainer, ErrorbarContainer
    from matplotlib.lines import Line2D


__all__ = ["ReliabilityDisplay", "consistency_margin", "wilson_interval"]

Uncertainty = Literal["consistency", "wilson"]
#: Of the band.
POINTS = 201


def quantile(level: float) -> float:
    """Return how many standard deviations hold so much of a normal law, symmetrically."""
    if not 0.0 < level < 1.0:
        raise ValueError(f"level must lie strictly between 0 and 1, got {level!r}")
    return -NormalDist().inv_cdf(0.5 * (1.0 - level))


def consistency_margin(
    score: NDArray[np.float64], rows: NDArray[np.float64], level: float
) -> NDArray[np.float64]:
    """Return how far the frequency of so many rows strays from the score they all have."""
    return quantile(level) * np.sqrt(score * (1.0 - score) / rows)


def wilson_interval(
    frequency: NDArray[np.float64], rows: NDArray[np.float64], level: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return Wilson's interval of a frequency: the scores from which it strays no further."""
    square = quantile(level) ** 2 / rows
    middle = (frequency + 0.5 * square) / (1.0 + square)
    half = np.sqrt(square * (frequency * (1.0 - frequency) + 0.25 * square)) / (1.0 + square)
    return middle - half, middle + half


class ReliabilityDisplay(PredictionDisplay[ReliabilityBins | ReliabilityBounds]):
    """How often what was given a probability happened, per bin; above, where the rows are.

    The uncertainty is either a band around the diagonal, in which the frequency of a bin of
    that many rows lies with probability ``level`` if the scores are right ("consistency"), or
    Wilson's interval around each frequency ("wilson"). They are the same test: a point lies
    outside the band where its interval misses its score. Such points are filled, others hollow.

    Attributes
    ----------
    line_ : Line2D
        The frequencies over the mean scores of the bins that hold rows.
    outside_ : Line2D
        Those that chance does not explain.
    ref_line_ : Line2D
        The diagonal.
    band_ : PolyCollection, ErrorbarContainer or None
    histogram_ax_ : Axes or None
    bars_ : BarContainer or None
        Rows per unit of score.
    """

    size: ClassVar[tuple[float, float]] = (4.8, 4.9)
    _compute = staticmethod(reliability_bins)
    line_: Line2D
    outside_: Line2D
    ref_line_: Line2D
    band_: PolyCollection | ErrorbarContainer | None
    histogram_ax_: Axes | None
    bars_: BarContainer | None

    def _draw(
        self,
        ax: Axes,
        palette: Palette,
        name: str | None,
        *,
        uncertainty: Uncertainty | None = "consistency",
        level: float = 0.95,
        histogram: bool | ReliabilityBins = True,
        xlabel: str = "predicted probability",
        color: str | None = None,
    ) -> None:
        if uncertainty not in ("consistency", "wilson", None):
            raise ValueError(
                f"uncertainty must be 'consistency', 'wilson' or None, got {uncertainty!r}"
            )
        bins = self.bins
        color = palette.first if color is None else color
        used = bins.weights > 0
        score, frequency, rows = bins.mean_scores[used], bins.frequencies[used], bins.weights[used]
        self.ref_line_ = ax.plot(
            [0, 1], [0, 1], color=palette.neutral, linewidth=0.8, linestyle=(0, (1, 2))
        )[0]
        self.band_ = None
        if uncertainty == "consistency":
            self._band(ax, palette, level)
        elif uncertainty == "wilson":
            self._bars(ax, level, color)
        self.line_ = ax.plot(
            score, frequency, "o-", color=color, markerfacecolor=palette.background,
            markersize=5.5, linewidth=1.2, label=name,
        )[0]  # fmt: skip
        far = np.abs(frequency - score) > consistency_margin(score, rows, level)
        self.outside_ = ax.plot(score[far], frequency[far], "o", color=color, markersize=5.5)[0]
        self._frame(
            ax, palette, xlabel=xlabel, ylabel="observed frequency",
            xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), aspect="equal",
        )  # fmt: skip
        self._legend(ax, palette)
        count = f"n = {bins.n:,}"
        self.histogram_ax_ = self.bars_ = None
        if histogram is False:
            self._count(ax, palette, count)
        else:
            shown = bins if histogram is True else histogram
            self._histogram(ax, palette, shown, count)

    @property
    def bins(self) -> ReliabilityBins:
        """The table that is drawn: of bounds, the likely one."""
        if isinstance(self.result, ReliabilityBins):
            return self.result
        return self.result.value

    def _band(self, ax: Axes, palette: Palette, level: float) -> None:
        # In one piece: exact at the mean scores, where it is a test; the spread of the frequency
        # changes evenly from one of them to the next.
        bins = self.bins
        used = bins.weights > 0
        score, rows = bins.mean_scores[used], bins.weights[used]
        if not score.size:
            return
        x = np.union1d(np.linspace(0.0, 1.0, POINTS), score)
        margin = consistency_margin(x, np.interp(x, score, rows**-0.5) ** -2.0, level)
        self.band_ = ax.fill_between(
            x, np.maximum(x - margin, 0.0), np.minimum(x + margin, 1.0), color=palette.band,
            alpha=0.22, linewidth=0, label=f"{100 * level:g}% consistency band",
        )  # fmt: skip

    def _bars(self, ax: Axes, level: float, color: str) -> None:
        bins = self.bins
        used = bins.weights > 0
        frequency = bins.frequencies[used]
        low, high = wilson_interval(frequency, bins.weights[used], level)
        arms = np.maximum([frequency - low, high - frequency], 0.0)
        self.band_ = ax.errorbar(
            bins.mean_scores[used], frequency, yerr=arms, fmt="none", ecolor=color, elinewidth=1.2,
            label=f"{100 * level:g}% Wilson intervals",
        )  # fmt: skip

    def _histogram(self, ax: Axes, palette: Palette, bins: ReliabilityBins, count: str) -> None:
        above = ax.inset_axes((0.0, 1.02, 1.0, 0.15), sharex=ax)
        widths = np.diff(bins.edges)
        wide = widths > 0
        # A bin without width is one value: a bar as high as fits would hide all others.
        heights = bins.weights[wide] / widths[wide]
        self.bars_ = above.bar(
            bins.edges[:-1][wide], heights, width=widths[wide], align="edge",
            color=palette.neutral, linewidth=0,
        )  # fmt: skip
        above.set_axis_off()
        above.set_ylim(0.0, None)
        self._count(above, palette, count)
        self.histogram_ax_ = above
