"""Which columns are truths, and which are the draws that each is ranked among."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from calibrant.io._parts import Kind

__all__ = ["DrawRoles", "given_draws"]


@dataclass(frozen=True)
class DrawRoles:
    """Truths, and for each of them a column of lists, or a column for each draw."""

    truth: tuple[str, ...] = ()
    draws: tuple[tuple[str, ...], ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """All of them."""
        return (*self.truth, *(name for names in self.draws for name in names))

    def lines(self) -> list[str]:
        """Say it as text, a line for each truth."""
        return [
            f"truth = {truth}, among {_short(names)} (given)"
            for truth, names in zip(self.truth, self.draws, strict=True)
        ]

    def to_dict(self) -> dict[str, object]:
        """Return the columns, ready for JSON."""
        return {"truth": list(self.truth), "draws": [list(names) for names in self.draws]}


def _short(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{len(names)} columns {names[0]} to {names[-1]}"


def given_draws(
    kinds: Mapping[str, Kind], truth: str | Sequence[str], draws: str | Sequence[str]
) -> DrawRoles:
    """Return what was named; ``draw_*`` are all columns of such names, in their order."""
    truths = (truth,) if isinstance(truth, str) else tuple(truth)
    patterns = (draws,) if isinstance(draws, str) else tuple(draws)
    if len(truths) != len(patterns):
        raise ValueError(
            f"name as many columns with truth as with draws, got {truths} and {patterns}"
        )
    return DrawRoles(truths, tuple(_columns(kinds, pattern) for pattern in patterns))


def _columns(kinds: Mapping[str, Kind], pattern: str) -> tuple[str, ...]:
    """The column of that name, whether there is one or not; or those that fit a pattern."""
    if pattern in kinds or "*" not in pattern:
        return (pattern,)
    found = tuple(name for name in kinds if fnmatchcase(name, pattern))
    if not found:
        raise ValueError(f"no column fits the pattern {pattern!r} of draws")
    return found
