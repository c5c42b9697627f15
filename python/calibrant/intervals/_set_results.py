"""What the functions of prediction sets return."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from calibrant._result import Result
from calibrant.intervals._confidence import ByLevel
from calibrant.intervals._coverage import Coverage, LevelsResult, SizeStratifiedCoverage

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from calibrant.plotting import SetSizesDisplay

__all__ = ["SetSize", "SetSummary"]


@dataclass(frozen=True, repr=False, eq=False)
class SetSize(LevelsResult):
    """How many classes prediction sets hold.

    Attributes
    ----------
    value : float, or array of shape (k,) for k > 1 levels
        The mean size. ``float(result)`` gives it for one level.
    empty : like value
        The share of empty sets, which cover nothing.
    largest : like value
        The size of the largest set.
    n, n_omitted : int
        Rows taken in, and rows dropped because a value was missing.
    """

    value: ByLevel
    empty: ByLevel
    largest: ByLevel
    n: int
    n_omitted: int = 0


@dataclass(frozen=True, repr=False, eq=False)
class SetSummary(Result):
    """All numbers of prediction sets.

    Attributes
    ----------
    coverage : Coverage
    size : SetSize
        With the share of empty sets.
    by_size : SizeStratifiedCoverage
        One group a size.
    """

    coverage: Coverage
    size: SetSize
    by_size: SizeStratifiedCoverage

    def plot(
        self, ax: Axes | None = None, *, name: str | None = None, **options: Any
    ) -> SetSizesDisplay:
        """Draw how large the sets are, and the coverage of each size.

        Needs matplotlib: ``pip install ".[plot]"``. The arguments are those of
        `calibrant.plotting.SetSizesDisplay`.
        """
        from calibrant.plotting import SetSizesDisplay

        return SetSizesDisplay(self).plot(ax, name=name, **options)

    def to_dict(self) -> dict[str, Any]:
        """Return the parts by name, ready for JSON."""
        return {f.name: getattr(self, f.name).to_dict() for f in fields(self)}

    def __repr__(self) -> str:
        sizes = zip(
            *map(np.atleast_1d, (self.size.value, self.size.empty, self.size.largest)), strict=True
        )
        shown = repr(self.coverage).removeprefix("Coverage").strip("()")
        lines = ["SetSummary", f"  coverage {shown.strip()}"]
        lines += [
            f"  mean size {mean:.6g}, empty {100 * empty:.6g}%, largest {largest:.0f}"
            for mean, empty, largest in sizes
        ]
        return "\n".join([*lines, *repr(self.by_size).split("\n")[1:]])
