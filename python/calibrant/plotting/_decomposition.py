"""The parts of the Brier score."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from calibrant.plotting._display import Display
from calibrant.plotting._style import Palette
from calibrant.scores._decompositions import (
    BrierDecomposition,
    CorpDecomposition,
    MurphyDecomposition,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer


__all__ = ["BrierDecompositionDisplay"]


class BrierDecompositionDisplay(Display[BrierDecomposition]):
    """From the uncertainty down to the score: what is won by telling rows apart, and lost.

    Attributes
    ----------
    bars_ : BarContainer
        Uncertainty, then what the forecast wins, what it loses by miscalibration, the score.
    """

    size: ClassVar[tuple[float, float]] = (5.6, 2.6)
    bars_: BarContainer

    def _draw(self, ax: Axes, palette: Palette, name: str | None) -> None:
        parts = self.result
        if isinstance(parts, MurphyDecomposition):
            names = ("resolution", "reliability")
            won, lost = parts.generalized_resolution, parts.reliability
        else:
            assert isinstance(parts, CorpDecomposition)
            names = ("discrimination", "miscalibration")
            won, lost = parts.discrimination, parts.miscalibration
        start = parts.uncertainty
        steps = [
            ("uncertainty", 0.0, start, start, palette.neutral),
            (f"\N{MINUS SIGN} {names[0]}", start - won, won, -won, palette.third),
            (f"+ {names[1]}", start - won, lost, lost, palette.second),
            ("= Brier score", 0.0, parts.score, parts.score, palette.first),
        ]
        self.bars_ = ax.barh(
            [step[0] for step in steps],
            [step[2] for step in steps],
            left=[step[1] for step in steps],
            color=[step[4] for step in steps],
            height=0.62,
        )
        for row, (_, left, width, value, _) in enumerate(steps):
            ax.annotate(
                f"{value:+.4f}" if 0 < row < 3 else f"{value:.4f}",
                (max(left, left + width), row), xytext=(5, 0), textcoords="offset points",
                va="center", fontsize="small", color=palette.text,
            )  # fmt: skip
        ax.invert_yaxis()
        self._frame(ax, palette, xlabel="Brier score")
        ax.grid(visible=False, axis="y")
        ax.tick_params(axis="y", length=0)
        ax.margins(x=0.14)
        of = "" if name is None else f"{name}: "
        self._count(ax, palette, f"{of}n = {parts.n:,}")
