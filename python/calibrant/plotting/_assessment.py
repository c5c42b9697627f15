"""The model against the source."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from calibrant.calibration._assessment import Assessment, AssessmentBins, assess
from calibrant.plotting._display import PredictionDisplay
from calibrant.plotting._style import Palette
from calibrant.score_table._assessment_bounds import AssessmentBounds

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection
    from matplotlib.lines import Line2D


__all__ = ["AssessmentDisplay"]

#: The three means, and the marker of each.
MEANS = {"decisiveness": "^", "accuracy": "o", "robustness": "v"}
#: Of the bubble of the fullest bin, in square points.
LARGEST_BUBBLE = 260.0


class AssessmentDisplay(PredictionDisplay[Assessment | AssessmentBounds]):
    """The source's probabilities across, the model's upwards: bubbles for bins, three means.

    A bubble is a bin of pairs (event, class), as large as the number of pairs in it that
    happened, at the frequency with which they do, and at the model's probability of them: the
    geometric mean of those that happened or, from a score table, the arithmetic mean of all. On
    the diagonal, model and source agree. The line through the three means is steeper than it
    where the model is over-confident [1]_.

    Attributes
    ----------
    bubbles_ : list of PathCollection
        One for all pairs, or one per class.
    points_ : dict of Line2D
        By name: decisiveness, accuracy and robustness.
    line_ : Line2D
        Through the three.
    ref_line_ : Line2D
        The diagonal.

    References
    ----------
    .. [1] K. P. Nelson, Entropy 19(6), 286, 2017; figures 3 to 6.
    """

    size: ClassVar[tuple[float, float]] = (4.9, 5.4)
    _compute = staticmethod(assess)
    bubbles_: list[PathCollection]
    points_: dict[str, Line2D]
    line_: Line2D
    ref_line_: Line2D

    def _draw(
        self, ax: Axes, palette: Palette, name: str | None, *, color: str | None = None
    ) -> None:
        result = self.result
        self.ref_line_ = ax.plot(
            [0, 1], [0, 1], color=palette.neutral, linewidth=0.8, linestyle=(0, (1, 2))
        )[0]
        self.bubbles_ = [
            self._bubbles(ax, rows, palette.fifth if color is None else color, label)
            for rows, label in self._classes()
        ]
        for bubbles, shade in zip(self.bubbles_[1:], palette.series[3:], strict=False):
            bubbles.set_facecolor(shade)
        self._means(ax, palette, color)
        divergence = float(result.divergence.accuracy)
        angle = float(result.angle)
        of = "" if name is None else f"{name}: "
        turned = "no angle" if math.isnan(angle) else f"angle {angle:.1f}\N{DEGREE SIGN}"
        if not math.isnan(result.tolerance):
            turned += f" (calibrated: 45 \N{PLUS-MINUS SIGN} {result.tolerance:.1f}\N{DEGREE SIGN})"
        ax.set_title(
            f"{of}{turned}\nmodel / source {divergence:.4f}, n = {result.n:,}",
            loc="right", fontsize="small", color=palette.muted, parse_math=False,
        )  # fmt: skip
        self._frame(
            ax, palette, xlabel="source: observed frequency", ylabel="model: predicted probability",
            xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), aspect="equal",
        )  # fmt: skip
        self._legend(ax, palette, title="model / source", alignment="left")

    def _table(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Per bin: source, model, and how much happened."""
        bins = self.result.bins
        if isinstance(bins, AssessmentBins):
            return bins.source, bins.accuracy, bins.true_weights
        return bins.frequencies, bins.mean_scores, bins.hits

    def _classes(self) -> list[tuple[NDArray[np.bool_], str]]:
        bins = self.result.bins
        of_class = bins.classes if isinstance(bins, AssessmentBins) else np.full(len(bins), -1)
        rows = [(of_class == k, f"bins of class {k}") for k in np.unique(of_class)]
        return rows if len(rows) > 1 else [(rows[0][0], "bins, by events")]

    def _bubbles(self, ax: Axes, rows: NDArray[np.bool_], color: str, label: str) -> PathCollection:
        source, model, happened = self._table()
        shown = rows & (happened > 0)
        areas = LARGEST_BUBBLE * happened[shown] / happened.max()
        return ax.scatter(
            source[shown], model[shown], s=np.maximum(areas, 2.0), color=color, alpha=0.45,
            linewidths=0, label=label, clip_on=False,
        )  # fmt: skip

    def _means(self, ax: Axes, palette: Palette, color: str | None) -> None:
        color = palette.second if color is None else color
        places = {
            name: (float(getattr(self.result.source, name)), getattr(self.result.model, name))
            for name in MEANS
        }
        x, y = zip(*places.values(), strict=True)
        self.line_ = ax.plot(x, y, color=color, linewidth=1.4)[0]
        self.points_ = {
            name: ax.plot(
                [place[0]], [place[1]], MEANS[name], color=color, markersize=8,
                markeredgecolor=palette.background, markeredgewidth=0.8,
                label=f"{name} {place[1]:.3f} / {place[0]:.3f}",
            )[0]
            for name, place in places.items()
        }  # fmt: skip
