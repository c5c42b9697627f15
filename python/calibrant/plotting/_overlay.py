"""Several models in the same axes."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle
from typing import TYPE_CHECKING, Any, ClassVar

from calibrant.plotting._display import Display
from calibrant.plotting._style import Palette

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["OverlayDisplay"]


class OverlayDisplay(Display[Mapping[str, Display[Any]]]):
    """Displays of the same kind, by the name of the model, each in a colour of its own.

    Parameters
    ----------
    result : mapping of str to Display
        What is to be drawn; options of ``plot`` go to each of them.

    Attributes
    ----------
    displays_ : dict of Display
        As they were drawn.
    """

    size: ClassVar[tuple[float, float]] = (5.0, 4.6)
    displays_: dict[str, Display[Any]]

    def _draw(self, ax: Axes, palette: Palette, name: str | None, **options: Any) -> None:
        colours = cycle(palette.series)
        self.displays_ = {
            each: display.plot(ax, name=each, color=next(colours), **options)
            for each, display in self.result.items()
        }
        counts = {display.result.n for display in self.displays_.values() if _has_n(display)}
        shown = f"n = {counts.pop():,}" if len(counts) == 1 else ""
        self._count(ax, palette, shown if name is None else f"{name}: {shown}")


def _has_n(display: Display[Any]) -> bool:
    return hasattr(display.result, "n")
