"""Pictures of results. Needs matplotlib: ``pip install "calibrant[plot]"``."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from calibrant.means import MeanSpectrum

__all__ = ["mean_spectrum"]


def _axes(ax: Axes | None) -> Axes:
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot as plt
    except ImportError as error:
        raise ImportError('plots need matplotlib: pip install "calibrant[plot]"') from error
    return plt.subplots(layout="constrained")[1]


def mean_spectrum(spectrum: MeanSpectrum, *, ax: Axes | None = None) -> Axes:
    """Draw generalized means over their powers, with the three named ones marked."""
    ax = _axes(ax)
    pairs = sorted(zip(spectrum.powers, spectrum.means, strict=True))
    finite = [(m, mean) for m, mean in pairs if abs(m) != float("inf")]
    ax.plot(*zip(*finite, strict=True), color="0.35", zorder=1)
    named = {1.0: "decisiveness", 0.0: "accuracy", -2 / 3: "robustness"}
    for m, mean in finite:
        if m in named:
            ax.scatter([m], [mean], zorder=2)
            ax.annotate(
                f"{named[m]} {mean:.3f}", (m, mean), xytext=(6, -12), textcoords="offset points"
            )
    ax.set(xlabel="power m", ylabel="generalized mean of q", ylim=(0, 1))
    ax.set_title(f"n = {spectrum.n:,}", loc="right", fontsize="small")
    return ax
