"""Coverages, also by size and by groups, as functions return them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from calibrant import _core
from calibrant._result import ArraysResult, Result
from calibrant.intervals._bounds import are_equally_wide
from calibrant.intervals._confidence import ByLevel, Confidence, by_level

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from calibrant.plotting import SizeGroupsDisplay

__all__ = [
    "Coverage",
    "CoverageGap",
    "LevelsResult",
    "SizeGroup",
    "SizeGroups",
    "SizeStratifiedCoverage",
    "size_groups",
]


class LevelsResult(ArraysResult):
    """Base of results with numbers by level: ``float`` of one level is its value."""

    __slots__ = ()

    value: Any

    def __float__(self) -> float:
        if isinstance(self.value, np.ndarray):
            raise TypeError(
                f"{type(self).__name__} has {len(self.value)} levels: take one of .value"
            )
        return float(self.value)

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.array(self.value, dtype=dtype)


@dataclass(frozen=True, repr=False, eq=False)
class Coverage(LevelsResult):
    """How often intervals or sets hold what happened, with a confidence interval.

    Attributes
    ----------
    value : float, or array of shape (k,) for k > 1 levels
        The coverage. ``float(result)`` gives it for one level, ``np.asarray(result)`` always.
    low, high : like value
        The ends of its confidence interval, for each level by itself.
    n, n_omitted : int
        Rows taken in, and rows dropped because a value was missing.
    ci_level, ci_method
        As they were given.
    """

    value: ByLevel
    low: ByLevel
    high: ByLevel
    n: int
    n_omitted: int = 0
    ci_level: float = 0.95
    ci_method: str = "wilson"

    def __contains__(self, level: float) -> bool:
        """Whether a coverage lies in the confidence intervals of all levels."""
        return bool(np.all((np.asarray(self.low) <= level) & (level <= np.asarray(self.high))))

    def __repr__(self) -> str:
        rows = zip(
            np.atleast_1d(self.value),
            np.atleast_1d(self.low),
            np.atleast_1d(self.high),
            strict=True,
        )
        texts = [f"{value:.6g} ({low:.6g} to {high:.6g})" for value, low, high in rows]
        if len(texts) == 1:
            return f"Coverage({texts[0]}, n={self.n})"
        title = f"Coverage of {self.n} rows, {100 * self.ci_level:g}% intervals"
        return "\n".join([title, *(f"  level {i}  {text}" for i, text in enumerate(texts))])


@dataclass(frozen=True, repr=False)
class SizeGroup(Result):
    """The coverage of the rows whose intervals or sets are of similar size.

    Attributes
    ----------
    least, largest : float
        The sizes in the group.
    weight : float
        How many rows, or the sum of their weights.
    coverage, low, high : float
        Of these rows, with a confidence interval.
    """

    least: float
    largest: float
    weight: float
    coverage: float
    low: float
    high: float


@dataclass(frozen=True, repr=False)
class SizeGroups(Result):
    """The groups by size of one level.

    Attributes
    ----------
    groups : tuple of SizeGroup
        By ascending size; groups without rows are left out.
    worst : SizeGroup or None
        That of the least coverage; None where there is only one group.
    note : str
        Why the coverage by size says nothing, if it does; else empty.
    """

    groups: tuple[SizeGroup, ...]
    worst: SizeGroup | None
    note: str = ""

    def plot(
        self, ax: Axes | None = None, *, name: str | None = None, **options: Any
    ) -> SizeGroupsDisplay:
        """Draw the coverage of each group; ``nominal`` marks what the level promises.

        Needs matplotlib: ``pip install ".[plot]"``. The arguments are those of
        `calibrant.plotting.SizeGroupsDisplay`.
        """
        from calibrant.plotting import SizeGroupsDisplay

        return SizeGroupsDisplay(self).plot(ax, name=name, **options)


def size_groups(strata: Sequence[_core.Stratum], ci: Confidence, what: str) -> SizeGroups:
    """Read groups off the core; ``what`` is how sizes are called."""
    strata = [stratum for stratum in strata if stratum.weight > 0]
    if not strata:
        return SizeGroups((), None, "no row has weight")
    note = ""
    if are_equally_wide(strata[0].least, strata[-1].largest):
        note = f"all {what} are equal: coverage by size says nothing"
        for other in strata[1:]:
            strata[0].merge(other)
        strata = strata[:1]
    groups = tuple(SizeGroup(s.least, s.largest, s.weight, *s.coverage(*ci)) for s in strata)
    if note:
        return SizeGroups(groups, None, note)
    if len(groups) == 1:
        return SizeGroups(groups, None, f"too many {what} are equal: there is only one group")
    return SizeGroups(groups, min(groups, key=lambda group: group.coverage))


@dataclass(frozen=True, repr=False, eq=False)
class SizeStratifiedCoverage(LevelsResult):
    """Coverage by the size of intervals or sets.

    Attributes
    ----------
    value : float, or array of shape (k,) for k > 1 levels
        The coverage of the worst group; NaN where sizes do not differ, and ``note`` of the
        level says so.
    levels : tuple of SizeGroups
        One for each level.
    n_groups : int or None
        How many groups were asked for; None for one a size.
    """

    value: ByLevel
    levels: tuple[SizeGroups, ...]
    n_groups: int | None = None

    @classmethod
    def _of(
        cls, levels: Sequence[SizeGroups], n_groups: int | None = None
    ) -> SizeStratifiedCoverage:
        worst = [math.nan if level.worst is None else level.worst.coverage for level in levels]
        return cls(by_level(worst), tuple(levels), n_groups)

    def _only(self) -> SizeGroups:
        if len(self.levels) != 1:
            raise ValueError(f"there are {len(self.levels)} levels: use .levels[i]")
        return self.levels[0]

    @property
    def groups(self) -> tuple[SizeGroup, ...]:
        """The groups, where there is one level."""
        return self._only().groups

    @property
    def worst(self) -> SizeGroup | None:
        """The worst group, where there is one level."""
        return self._only().worst

    @property
    def note(self) -> str:
        """Why the coverage by size says nothing, where there is one level."""
        return self._only().note

    def __repr__(self) -> str:
        lines = ["SizeStratifiedCoverage"]
        for i, level in enumerate(self.levels):
            if len(self.levels) > 1:
                lines.append(f"  level {i}")
            lines += [
                f"  size {_span(g)}: {g.coverage:.6g} "
                f"({g.low:.6g} to {g.high:.6g}), {g.weight:.6g} rows"
                + (", worst" if g is level.worst else "")
                for g in level.groups
            ]
            lines += [f"  {level.note}"] if level.note else []
        return "\n".join(lines)


def _span(group: SizeGroup) -> str:
    if group.least == group.largest:
        return f"{group.least:.6g}"
    return f"{group.least:.6g} to {group.largest:.6g}"


@dataclass(frozen=True, repr=False, eq=False)
class CoverageGap(LevelsResult):
    """How far the coverages of groups lie from the nominal level.

    Attributes
    ----------
    value : float, or array of shape (k,) for k > 1 levels
        The mean of \\|coverage - confidence_level\\| over the groups that have weight.
    keys : tuple
        The groups, sorted.
    coverage, low, high : array of shape (g,), or (k, g) for k > 1 levels
        Of each group, with confidence intervals; NaN for a group without weight.
    weights : array of shape (g,)
        How many rows a group has, or the sum of their weights.
    weighted : bool
        Whether the mean is weighted by these.
    confidence_level : tuple of float
        The nominal levels.
    """

    value: ByLevel
    keys: tuple[Any, ...]
    coverage: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    weights: NDArray[np.float64]
    weighted: bool
    confidence_level: tuple[float, ...]

    def __repr__(self) -> str:
        coverage, low, high = map(np.atleast_2d, (self.coverage, self.low, self.high))
        lines = [f"CoverageGap over {len(self.keys)} groups"]
        for i, gap in enumerate(np.atleast_1d(self.value)):
            lines.append(f"  level {self.confidence_level[i]:g}: gap {gap:.6g}")
            if len(self.keys) > 20:
                continue
            lines += [
                f"    {key}: {coverage[i, g]:.6g} ({low[i, g]:.6g} to {high[i, g]:.6g}), "
                f"{self.weights[g]:.6g} rows"
                for g, key in enumerate(self.keys)
            ]
        return "\n".join(lines)

    @classmethod
    def _of(
        cls,
        strata: Sequence[Sequence[_core.Stratum]],
        keys: Sequence[Any],
        levels: Sequence[float],
        ci: Confidence,
        weighted: bool,
    ) -> CoverageGap:
        if len(strata) != len(levels):
            raise ValueError(
                f"confidence_level must name {len(strata)} levels, one for each, got {len(levels)}"
            )
        weights = np.array([s.weight for s in strata[0]])
        if not weights.any():
            raise ValueError("a coverage gap needs a row with positive weight in some group")
        used = [g for g in range(len(keys)) if weights[g] > 0]
        tables = np.array([[level[g].coverage(*ci) for g in used] for level in strata])
        gaps = np.abs(tables[:, :, 0] - np.array(levels)[:, None])
        shares = weights[used] if weighted else np.ones(len(used))
        means = [math.fsum(row * shares) / math.fsum(shares) for row in gaps]
        coverage, low, high = (
            tables[0, :, i] if len(levels) == 1 else tables[:, :, i] for i in range(3)
        )
        return cls(
            by_level(means),
            tuple(keys[g] for g in used),
            coverage,
            low,
            high,
            weights[used],
            weighted,
            tuple(levels),
        )
