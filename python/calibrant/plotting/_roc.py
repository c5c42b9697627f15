"""The ROC curve, and the one that the scores predict."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar

from calibrant import _core
from calibrant._input.validation import check_level
from calibrant.plotting._display import PredictionDisplay
from calibrant.plotting._style import Palette
from calibrant.roc import RocCurve, roc_curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D


__all__ = ["RocDisplay"]


class RocDisplay(PredictionDisplay[RocCurve]):
    """Hits against false alarms: as they are, and dashed as the scores promise.

    The legend has the area, with its confidence interval of ``level``.

    Attributes
    ----------
    line_, predicted_line_ : Line2D
        The latter is None where the scores predict no curve.
    chance_level_ : Line2D
        The diagonal.
    """

    size: ClassVar[tuple[float, float]] = (4.8, 4.6)
    _compute = staticmethod(roc_curve)
    line_: Line2D
    predicted_line_: Line2D | None
    chance_level_: Line2D

    def _draw(
        self,
        ax: Axes,
        palette: Palette,
        name: str | None,
        *,
        predicted: bool = True,
        level: float = 0.95,
        color: str | None = None,
    ) -> None:
        curve = self.result
        of = "" if name is None else f"{name}: "
        error = curve.auc_standard_error
        reach = _core.normal_quantile(0.5 * (1.0 - check_level(level))) * error
        spread = "" if math.isnan(error) else f" \N{PLUS-MINUS SIGN} {reach:.2g}"
        self.chance_level_ = ax.plot(
            [0, 1], [0, 1], color=palette.neutral, linewidth=0.8, linestyle=(0, (1, 2))
        )[0]
        self.line_ = ax.plot(
            curve.false_positive_rates,
            curve.true_positive_rates,
            color=palette.first if color is None else color,
            linewidth=1.8,
            label=f"{of}{'actual, ' if predicted else ''}area {curve.auc:.3f}{spread}",
        )[0]
        self.predicted_line_ = None
        if predicted and not math.isnan(curve.predicted_auc):
            self.predicted_line_ = ax.plot(
                curve.predicted_false_positive_rates,
                curve.predicted_true_positive_rates,
                color=palette.second if color is None else color,
                linewidth=1.4,
                linestyle=(0, (4, 2)),
                label=f"{of}predicted, area {curve.predicted_auc:.3f}",
            )[0]
        self._frame(
            ax,
            palette,
            xlabel="false positive rate",
            ylabel="true positive rate",
            xlim=(-0.01, 1.01),
            ylim=(-0.01, 1.01),
            aspect="equal",
        )
        self._count(ax, palette, f"n = {curve.n:,}")
        self._legend(ax, palette)
