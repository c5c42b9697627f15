"""One number, window by window, beside its reference."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from calibrant.drift import Change, Drift, WindowsDrift
from calibrant.plotting._display import Display
from calibrant.plotting._style import Palette
from calibrant.scorecards._table import ROWS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

__all__ = ["DriftDisplay"]


class DriftDisplay(Display[Drift | WindowsDrift]):
    """One number of each window with its interval, and the reference as a band.

    Where all tests together say that it has changed, the point is filled with the second colour.

    Attributes
    ----------
    points_ : Line2D
        Of windows without a change.
    drifted_ : Line2D
        Of windows with one.
    intervals_ : list of Line2D
    reference_ : Line2D
    """

    size: ClassVar[tuple[float, float]] = (6.4, 3.7)
    points_: Line2D
    drifted_: Line2D
    intervals_: list[Line2D]
    reference_: Line2D

    def _draw(
        self, ax: Axes, palette: Palette, name: str | None, *, metric: str | None = None
    ) -> None:
        of_windows = isinstance(self.result, WindowsDrift)
        drifts = self.result.drifts if isinstance(self.result, WindowsDrift) else (self.result,)
        if not drifts:
            raise ValueError("there are no windows to draw")
        metric = _drawable(drifts[0], metric)
        changes = [found[metric] for found in drifts]
        self._band(ax, palette, changes[0])
        at = self._places()
        shown = [(x, c.current) for x, c in zip(at, changes, strict=True)]
        self.intervals_ = [
            ax.plot([x, x], [e.low, e.high], color=palette.first, linewidth=2.2, alpha=0.5)[0]
            for x, e in shown
            if e.low is not None and e.high is not None and math.isfinite(e.high - e.low)
        ]
        has_drift = [metric in found.drifted for found in drifts]
        self.points_ = self._points(ax, shown, has_drift, False, palette.first, "no change seen")
        self.drifted_ = self._points(ax, shown, has_drift, True, palette.second, "changed")
        label = ROWS[metric][0].strip()
        self._frame(ax, palette, ylabel=label)
        if of_windows:
            self._time_axis(ax)
        else:
            ax.set_xticks([0.0], ["current"])
            ax.set_xlim(-1.0, 1.0)
        level = f"{100 * drifts[0].confidence_level:g}% intervals"
        of = "" if name is None else f"{name}: "
        windows = f"{len(drifts)} windows, " if of_windows else f"{drifts[0].n_current:,} rows, "
        self._count(
            ax, palette, f"{of}{windows}reference of {drifts[0].n_reference:,} rows, {level}"
        )
        self._legend(ax, palette)

    def _band(self, ax: Axes, palette: Palette, change: Change) -> None:
        reference = change.reference
        if reference.low is not None and reference.high is not None:
            ax.axhspan(reference.low, reference.high, color=palette.band, alpha=0.18, linewidth=0)
        value = math.nan if reference.value is None else reference.value
        self.reference_ = ax.axhline(value, color=palette.neutral, linewidth=1.0, label="reference")

    def _places(self) -> Any:
        """Where windows are: at their ends."""
        if not isinstance(self.result, WindowsDrift):
            return np.zeros(1)
        return np.array([window.end for window in self.result.windows])

    def _time_axis(self, ax: Axes) -> None:
        assert isinstance(self.result, WindowsDrift)
        ax.set_xlabel("end of the window")
        if isinstance(self.result.windows[0].end, np.datetime64):
            from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

            locator = AutoDateLocator()  # type: ignore[no-untyped-call]
            ax.xaxis.set_major_locator(locator)
            ax.xaxis.set_major_formatter(
                ConciseDateFormatter(locator)  # type: ignore[no-untyped-call]
            )

    def _points(
        self, ax: Axes, shown: Any, has_drift: Any, wanted: bool, color: Any, label: str
    ) -> Line2D:
        kept = [
            (x, estimate.value)
            for (x, estimate), found in zip(shown, has_drift, strict=True)
            if found == wanted and estimate.value is not None and math.isfinite(estimate.value)
        ]
        return ax.plot(
            [x for x, _ in kept], [y for _, y in kept], "D" if wanted else "o", color=color,
            markersize=6, label=label if kept else None,
        )[0]  # fmt: skip


def _drawable(found: Drift, metric: str | None) -> str:
    """Return the metric, or the first of those one looks at first."""
    names = [change.name for change in found.changes if change.name in ROWS]
    if metric is None:
        return next(name for name in ("ece", "brier", *names) if name in names)
    if metric not in names:
        raise ValueError(f"metric must be one of {', '.join(map(repr, names))}, got {metric!r}")
    return metric
