"""Ranks: their histogram, the difference of their ECDF from the diagonal, and coverage."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from calibrant.calibration._verdict import pvalue_text
from calibrant.plotting._display import Display
from calibrant.plotting._style import Palette
from calibrant.ranks._results import RankCalibration, RankDimension

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection
    from matplotlib.container import BarContainer
    from matplotlib.lines import Line2D
    from matplotlib.patches import StepPatch

__all__ = ["RankCoverageDisplay", "RankEcdfDisplay", "RankHistogramDisplay"]


def _colours(result: RankCalibration, palette: Palette) -> list[tuple[str, str | None]]:
    """Return colour and label of each dimension: where they are many, the worst stand out."""
    dimensions, series = result.dimensions, palette.series
    if len(dimensions) == 1:
        return [(series[0], None)]
    worst = sorted(range(len(dimensions)), key=lambda i: dimensions[i].gamma_test.log_pvalue)
    named = sorted(worst[: len(series)])
    return [
        (series[named.index(i)], dimension.name) if i in named else (palette.muted, None)
        for i, dimension in enumerate(dimensions)
    ]


def _count_text(result: RankCalibration, name: str | None) -> str:
    of = "" if name is None else f"{name}: "
    return f"{of}n = {result.n:,}, {result.n_draws:,} draws"


class RankEcdfDisplay(Display[RankCalibration]):
    """The ECDF of the ranks less the diagonal, times the root of their number, with bands.

    Calibrated ranks stay in the wide band everywhere, in ``prob`` of all samples; in the narrow
    one at a single t only. A curve that rises first means too many low ranks; one that rises,
    falls and rises again too many at both ends.

    Attributes
    ----------
    lines_ : list of Line2D
        A curve a dimension.
    band_ : PolyCollection
        The simultaneous band.
    pointwise_ : list of Line2D
        Both bounds of the pointwise band.
    """

    size: ClassVar[tuple[float, float]] = (5.6, 4.2)
    lines_: list[Line2D]
    band_: PolyCollection
    pointwise_: list[Line2D]

    def _draw(
        self, ax: Axes, palette: Palette, name: str | None, *, pointwise: bool = True
    ) -> None:
        result = self.result
        ecdf = result.dimensions[0].ecdf  # the bands of all
        t = _with_ends(ecdf.t, 1.0)
        percent = f"{100 * result.prob:g}%"
        self.band_ = ax.fill_between(
            t, _with_ends(ecdf.low), _with_ends(ecdf.high), color=palette.band, alpha=0.2,
            linewidth=0, label=f"holds the whole curve, {percent}",
        )  # fmt: skip
        bounds = (ecdf.pointwise_low, ecdf.pointwise_high)
        self.pointwise_ = [
            ax.plot(
                t, _with_ends(bound), color=palette.neutral, linewidth=0.9, linestyle=(0, (4, 2)),
                label=f"holds a single point, {percent}" if i == 0 else None, visible=pointwise,
            )[0]
            for i, bound in enumerate(bounds)
        ]  # fmt: skip
        ax.axhline(0.0, color=palette.neutral, linewidth=0.8)
        self.lines_ = [
            ax.plot(t, _with_ends(d.ecdf.differences), color=colour, linewidth=1.5, label=label)[0]
            for d, (colour, label) in zip(result.dimensions, _colours(result, palette), strict=True)
        ]
        self._frame(
            ax, palette, xlabel="t = rank / (draws + 1)",
            ylabel="\N{SQUARE ROOT}N (ECDF \N{MINUS SIGN} t)", xlim=(0, 1),
        )  # fmt: skip
        self._legend(ax, palette)
        log = result.dimensions[0].gamma_test.log_pvalue if len(result.dimensions) == 1 else None
        text = pvalue_text(result.pvalue, log)
        self._count(ax, palette, f"{_count_text(result, name)}, {text}")


def _with_ends(values: np.ndarray, last: float = 0.0) -> np.ndarray:
    return np.concatenate([[0.0], values, [last]])


class RankHistogramDisplay(Display[RankCalibration]):
    """The ranks in bins, over what is expected of each, with the band that chance keeps all in.

    A hump means that the posterior is too wide, a U that it is too narrow, a slope that it lies
    to one side of the truth.

    Attributes
    ----------
    bars_ : BarContainer
    band_ : StepPatch
    """

    size: ClassVar[tuple[float, float]] = (5.6, 3.6)
    bars_: BarContainer
    band_: StepPatch

    def _draw(self, ax: Axes, palette: Palette, name: str | None, *, dimension: int = 0) -> None:
        result = self.result
        found: RankDimension = result.dimensions[dimension]
        histogram = found.histogram
        edges = histogram.edges / (result.n_draws + 1)
        self.bars_ = ax.bar(
            edges[:-1], histogram.heights, width=np.diff(edges), align="edge",
            color=palette.first, alpha=0.75, edgecolor=palette.background, linewidth=0.8,
        )  # fmt: skip
        self.band_ = ax.stairs(
            histogram.high / histogram.expected, edges,
            baseline=histogram.low / histogram.expected, fill=True, color=palette.band,
            alpha=0.35, linewidth=0, label=f"holds all bars, {100 * result.prob:g}%",
        )  # fmt: skip
        ax.axhline(1.0, color=palette.text, linewidth=0.8)
        self._frame(
            ax, palette, xlabel="rank / (draws + 1)", ylabel="ranks / expected", xlim=(0, 1)
        )
        ax.grid(visible=False, axis="x")
        top = max(
            float(histogram.heights.max()), float((histogram.high / histogram.expected).max())
        )
        ax.set_ylim(0, 1.22 * top)  # room for the legend
        self._legend(ax, palette)
        title = found.name if name is None and len(result.dimensions) > 1 else name
        chi_square = pvalue_text(histogram.chi_square.pvalue, histogram.chi_square.log_pvalue)
        self._count(ax, palette, f"{_count_text(result, title)}, chi-square {chi_square}")


class RankCoverageDisplay(Display[RankCalibration]):
    """How often regions of each level hold the truth.

    Above the diagonal regions hold it more often than they promise: the posterior is too wide.

    Attributes
    ----------
    lines_ : list of Line2D
        A curve a dimension.
    intervals_ : list of PolyCollection
        The Clopper-Pearson intervals, point by point.
    """

    size: ClassVar[tuple[float, float]] = (4.6, 4.8)
    lines_: list[Line2D]
    intervals_: list[PolyCollection]

    def _draw(self, ax: Axes, palette: Palette, name: str | None) -> None:
        result = self.result
        ax.plot([0, 1], [0, 1], color=palette.neutral, linewidth=1.0, linestyle=(0, (4, 2)))
        self.lines_, self.intervals_ = [], []
        for d, (colour, label) in zip(result.dimensions, _colours(result, palette), strict=True):
            curve = result.coverage_of(d)
            if len(result.dimensions) <= 3:
                self.intervals_.append(
                    ax.fill_between(
                        curve.levels, curve.low, curve.high, color=colour, alpha=0.18, linewidth=0
                    )
                )
            self.lines_.append(
                ax.plot(
                    _with_ends(curve.levels, 1.0), _with_ends(curve.coverage, 1.0), color=colour,
                    linewidth=1.5, label=label,
                )[0]
            )  # fmt: skip
        regions = {
            "marginal": "central intervals",
            "energy": "regions of highest density",
            "tarp": "balls around the references",
        }[result.kind]
        self._frame(
            ax, palette, xlabel=f"level of {regions}", ylabel="share of truths inside",
            xlim=(0, 1), ylim=(0, 1),
        )  # fmt: skip
        ax.set_aspect("equal")
        self._legend(ax, palette)
        self._count(ax, palette, _count_text(result, name))
