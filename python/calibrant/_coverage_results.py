"""What the functions of intervals and sets return, and how coverages get their intervals."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from dataclasses import dataclass, fields
from statistics import NormalDist
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calibrant import _core
from calibrant._result import Result

__all__ = [
    "CiMethod",
    "Confidence",
    "Coverage",
    "CoverageGap",
    "SetSize",
    "SetSummary",
    "SizeGroup",
    "SizeGroups",
    "SizeStratifiedCoverage",
    "by_level",
    "confidence",
    "nominal_levels",
    "size_groups",
]

CiMethod = Literal["wilson", "exact"]

#: One number for one level, an array of shape (k,) for k levels.
ByLevel = float | NDArray[np.float64]


class Confidence(NamedTuple):
    """How the interval of a coverage is found, as the core takes it."""

    exact: bool
    tail: float
    normal_quantile: float


def _checked_level(level: Any, name: str) -> float:
    if isinstance(level, bool) or not isinstance(level, numbers.Real):
        raise TypeError(f"{name} must be a real number, got {level!r}")
    if not 0.0 < float(level) < 1.0:
        raise ValueError(f"{name} must lie strictly between 0 and 1, got {float(level)}")
    return float(level)


def confidence(ci_level: Any, ci_method: Any) -> Confidence:
    """Check both arguments."""
    level = _checked_level(ci_level, "ci_level")
    if ci_method not in ("wilson", "exact"):
        raise ValueError(f"ci_method must be 'wilson' or 'exact', got {ci_method!r}")
    tail = 0.5 * (1.0 - level)
    return Confidence(ci_method == "exact", tail, -NormalDist().inv_cdf(tail))


def nominal_levels(confidence_level: Any) -> list[float]:
    """Return the nominal levels as a list; a number stands for one level."""
    if isinstance(confidence_level, numbers.Real):
        return [_checked_level(confidence_level, "confidence_level")]
    if isinstance(confidence_level, str) or not hasattr(confidence_level, "__iter__"):
        raise TypeError(
            f"confidence_level must be a number, or one a level, got {confidence_level!r}"
        )
    levels = [_checked_level(level, "confidence_level") for level in confidence_level]
    if not levels:
        raise ValueError("confidence_level must name at least one level, got none")
    return levels


def by_level(values: Sequence[float]) -> ByLevel:
    """Return the number of one level, the array of several."""
    return values[0] if len(values) == 1 else np.array(values, dtype=np.float64)


def _plain(value: Any) -> Any:
    """Ready for JSON."""
    if isinstance(value, np.ndarray):
        return [_plain(item) for item in value.tolist()]
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Result):
        return value.to_dict()
    return None if isinstance(value, float) and math.isnan(value) else value


class LevelsResult(Result):
    """Base of results with numbers by level: ``float`` of one level is its value."""

    __slots__ = ()

    value: Any

    def to_dict(self) -> dict[str, Any]:
        """Return the fields by name, ready for JSON; what is undefined is None."""
        return {f.name: _plain(getattr(self, f.name)) for f in fields(self)}

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


def size_groups(strata: Sequence[_core.Stratum], ci: Confidence, what: str) -> SizeGroups:
    """Read groups off the core; ``what`` is how sizes are called."""
    groups = tuple(
        SizeGroup(s.least, s.largest, s.weight, *s.coverage(*ci)) for s in strata if s.weight > 0
    )
    if not groups:
        return SizeGroups((), None, "no row has weight")
    if groups[0].least == groups[-1].largest:
        note = f"all {what} are equal: coverage by size says nothing"
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
