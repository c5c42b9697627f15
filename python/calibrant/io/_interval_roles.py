"""Which columns are the bounds of prediction intervals, and of what level."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from calibrant.io._parts import Kind

__all__ = ["IntervalRoles", "given_intervals", "guess_intervals"]

#: What lower and upper bounds are called, before or after the level: low_90, lower_0.9.
_ENDS = (("low", "high"), ("lower", "upper"), ("lo", "hi"))
_LOWER = re.compile(rf"(.*?)({'|'.join(low for low, _ in _ENDS)})[_.]?(\d+(?:[._]\d+)?)", re.I)
_QUANTILE = re.compile(r"(.*?q)[_]?(\d+(?:\.\d+)?)", re.I)


@dataclass(frozen=True)
class IntervalRoles:
    """The lower and upper bounds, and their nominal level, one of each for every level."""

    low: tuple[str, ...] = ()
    high: tuple[str, ...] = ()
    levels: tuple[float, ...] = ()
    found: str = ""

    def to_dict(self) -> dict[str, object]:
        """Return the columns and levels, ready for JSON."""
        return {
            "low": list(self.low),
            "high": list(self.high),
            "levels": list(self.levels),
            "found": self.found,
        }

    def lines(self) -> list[str]:
        """Say it as text, a line for each level."""
        pairs = zip(self.levels, self.low, self.high, strict=True)
        return [
            f"interval of {100 * level:g}% = {low} to {high} ({self.found})"
            for level, low, high in pairs
        ]


def given_intervals(
    low: str | Sequence[str], high: str | Sequence[str], level: float | Sequence[float] | None
) -> IntervalRoles:
    """Return what was named; levels may be read off the names."""
    lows = (low,) if isinstance(low, str) else tuple(low)
    highs = (high,) if isinstance(high, str) else tuple(high)
    if len(lows) != len(highs):
        raise ValueError(f"name as many columns with low as with high, got {lows} and {highs}")
    if level is None:
        found = [_level_of(a, b) for a, b in zip(lows, highs, strict=True)]
        levels = tuple(each for each in found if each is not None)
    else:
        is_one = isinstance(level, (int, float)) or not hasattr(level, "__iter__")
        levels = (level,) if is_one else tuple(level)  # type: ignore[arg-type, assignment]
    if len(levels) != len(lows):
        raise ValueError(
            f"say the level of each interval with level (--interval-level), got {len(levels)} for "
            f"{len(lows)}"
        )
    return IntervalRoles(lows, highs, levels, "given")


def guess_intervals(kinds: Mapping[str, Kind], taken: Collection[str | None]) -> IntervalRoles:
    """Return pairs whose names give the level: low_90 and high_90, or q05 and q95."""
    free = [n for n, kind in kinds.items() if kind in ("float", "integer") and n not in taken]
    lower = {name.lower(): name for name in free}
    pairs = []
    for name in free:
        for other in _partners(name):
            level = _level_of(name, lower.get(other, ""))
            if level is not None:
                pairs.append((level, name, lower[other]))
    pairs.sort()
    if not pairs:
        return IntervalRoles()
    levels, lows, highs = zip(*pairs, strict=True)
    return IntervalRoles(lows, highs, levels, "guessed from their names")


def _partners(name: str) -> list[str]:
    """What the upper bound may be called if this is the lower."""
    partners = []
    if match := _LOWER.fullmatch(name):
        upper = dict(_ENDS)[match[2].lower()]
        partners.append((match[1] + upper + name[match.end(2) :]).lower())
    if match := _QUANTILE.fullmatch(name):
        number = float(match[2])
        whole = 1.0 if "." in match[2] else 100.0
        if 0 < number < whole / 2:
            other = f"{whole - number:g}".zfill(len(match[2]))
            partners.append((name[: match.start(2)] + other).lower())
    return partners


def _level_of(low: str, high: str) -> float | None:
    """The level that two names agree on, or None."""
    a, b = _LOWER.fullmatch(low), low and high
    if a and b and high.lower() in _partners(low):
        number = float(a[3].replace("_", "."))
        level = number if number < 1 else number / 100
        return level if 0 < level < 1 else None
    a = _QUANTILE.fullmatch(low)
    if a and high and high.lower() in _partners(low):
        number = float(a[2])
        part = number if "." in a[2] else number / 100
        return round(1 - 2 * part, 12)
    return None
