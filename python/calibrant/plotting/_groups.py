"""One number of a scorecard, group by group."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

from calibrant._result import printable
from calibrant.plotting._display import Display
from calibrant.plotting._style import Palette
from calibrant.scorecards import Estimate, Scorecard
from calibrant.scorecards._table import ROWS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

    from calibrant.scorecards import Estimate, Scorecard

__all__ = ["HIGHER_IS_BETTER", "GroupsDisplay", "by_worst"]

#: The others are better where they are lower.
HIGHER_IS_BETTER = frozenset(
    {
        "hit_rate", "decisiveness", "accuracy", "robustness", "resolution", "brier_skill",
        "spherical", "spiegelhalter_pvalue", "ks_pvalue", "kuiper_pvalue", "auc",
    }
)  # fmt: skip
#: Of a group's name.
MOST_CHARACTERS = 28


def _better_end(estimate: Estimate, metric: str) -> float:
    """Return the end of the interval that speaks for the group; larger is worse."""
    assert estimate.value is not None
    if metric in HIGHER_IS_BETTER:
        return -(estimate.value if estimate.high is None else estimate.high)
    return estimate.value if estimate.low is None else estimate.low


def by_worst(card: Scorecard, metric: str) -> list[tuple[Any, Scorecard]]:
    """Return the groups, the worst first, those without the number last.

    Groups are compared by the end of the interval that speaks for them, so that small groups
    do not come first by chance.
    """

    def place(item: tuple[Any, Scorecard]) -> tuple[bool, float]:
        estimate = getattr(item[1], metric)
        if estimate.value is None or math.isnan(estimate.value):
            return True, 0.0
        return False, -_better_end(estimate, metric)

    return sorted(card.groups.items(), key=place)


def short_name(key: Any) -> str:
    """Return the key of a group as text of one line, not too long."""
    text = printable(" ".join(str(key).split()) or repr(key))
    return (
        text
        if len(text) <= MOST_CHARACTERS
        else text[: MOST_CHARACTERS - 1] + "\N{HORIZONTAL ELLIPSIS}"
    )


class GroupsDisplay(Display[Scorecard]):
    """The groups of a scorecard, the worst on top, each with its interval.

    Groups are in the order of the end of their interval that speaks for them, so that small
    groups are not worst by chance. The vertical line is the number of all rows, with its interval.

    Attributes
    ----------
    keys_ : list
        Of the groups shown, from the top.
    points_ : Line2D
    intervals_ : list of Line2D
    total_ : Line2D
    """

    size: ClassVar[tuple[float, float]] = (5.6, 3.6)
    keys_: list[Any]
    points_: Line2D
    intervals_: list[Line2D]
    total_: Line2D

    def _draw(
        self,
        ax: Axes,
        palette: Palette,
        name: str | None,
        *,
        metric: str = "ece",
        most_groups: int = 20,
    ) -> None:
        if metric not in ROWS:
            raise ValueError(f"metric must be one of {', '.join(map(repr, ROWS))}, got {metric!r}")
        if not self.result.groups:
            raise ValueError("there are no groups to draw: pass groups to scorecard")
        ranked = [
            (key, card)
            for key, card in by_worst(self.result, metric)
            if _is_drawable(getattr(card, metric))
        ]
        shown = ranked[:most_groups]
        self.keys_ = [key for key, _ in shown]
        estimates = [getattr(card, metric) for _, card in shown]
        self._total(ax, palette, getattr(self.result, metric))
        self.intervals_ = [
            ax.plot([x.low, x.high], [row, row], color=palette.first, linewidth=2.2, alpha=0.5)[0]
            for row, x in enumerate(estimates)
            if x.low is not None and math.isfinite(x.low) and math.isfinite(x.high)
        ]
        self.points_ = ax.plot(
            [x.value for x in estimates], range(len(shown)), "o", color=palette.first, markersize=6
        )[0]
        labels = [f"{short_name(key)}  ({card.n:,})" for key, card in shown]
        ax.set_yticks(range(len(shown)), labels, parse_math=False)
        label = ROWS[metric][0].strip()
        better = "higher" if metric in HIGHER_IS_BETTER else "lower"
        self._frame(
            ax, palette, xlabel=f"{label} ({better} is better)",
            ylim=(max(len(shown), 1) - 0.4, -0.6),
        )  # fmt: skip
        ax.grid(visible=False, axis="y")
        ax.tick_params(axis="y", length=0)
        ax.locator_params(axis="x", nbins=6)
        more = len(self.result.groups) - len(shown)
        left_out = f", {more} more not shown" if more else ""
        level = f"{100 * self.result.confidence_level:g}% intervals"
        of = "" if name is None else f"{name}: "
        self._count(ax, palette, f"{of}{len(shown)} groups{left_out}, {level}")

    def _total(self, ax: Axes, palette: Palette, total: Estimate) -> None:
        value = math.nan if total.value is None else total.value
        if total.low is not None and total.high is not None:
            ax.axvspan(total.low, total.high, color=palette.band, alpha=0.18, linewidth=0)
        self.total_ = ax.axvline(value, color=palette.neutral, linewidth=1.0)


def _is_drawable(estimate: Estimate) -> bool:
    return estimate.value is not None and math.isfinite(estimate.value)
