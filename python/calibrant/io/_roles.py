"""Which column plays which role: as the user says, or as names and types suggest."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from calibrant.io._draw_roles import DrawRoles, given_draws
from calibrant.io._interval_roles import IntervalRoles, given_intervals, guess_intervals
from calibrant.io._parts import Kind, Source

__all__ = ["Roles", "check_names", "find_roles", "is_forecast", "known_column"]

_LABELS = (
    "y_true", "label", "labels", "y", "target", "outcome", "truth", "actual", "observed", "event",
    "class",
)  # fmt: skip
_PROBS = (
    "y_proba", "y_prob", "proba", "prob", "p", "probability", "probs", "probas", "probabilities",
    "y_score", "score", "forecast", "prediction", "pred", "y_pred", "confidence",
)  # fmt: skip
#: Of these, what the forecast of a number is called, too: beside intervals it is no probability.
_FORECASTS = ("y_score", "score", "forecast", "prediction", "pred", "y_pred", "confidence")
_SETS = ("prediction_set", "prediction_sets", "pred_set", "set", "sets")
_WEIGHTS = ("sample_weight", "weight", "weights", "w")
_NUMBERED = re.compile(r"(.*?)[_. ]?(\d+)")
_NUMBERS: tuple[Kind, ...] = ("float", "integer", "boolean")
_LISTS: tuple[Kind, ...] = ("list",)


@dataclass(frozen=True)
class Roles:
    """The columns that are read, and how each was found.

    Attributes
    ----------
    label : str
    prob : tuple of str
        One column: probabilities of class 1, or lists with one for each class. Several: one for
        each class. None: there are intervals, sets or draws only.
    intervals : IntervalRoles
    draws : DrawRoles
    weight, group, sets, timestamp : str or None
    found : dict of str
        By role: "given", or "guessed from its name" and the like.
    """

    label: str
    prob: tuple[str, ...]
    weight: str | None = None
    group: str | None = None
    sets: str | None = None
    intervals: IntervalRoles = field(default_factory=IntervalRoles)
    draws: DrawRoles = field(default_factory=DrawRoles)
    found: dict[str, str] = field(default_factory=dict)
    timestamp: str | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns that must be read, each once."""
        bounds = (*self.intervals.low, *self.intervals.high)
        named = (self.label, *self.prob, self.weight, self.group, self.sets, *bounds)
        named = (*named, *self.draws.columns, self.timestamp)
        return tuple(dict.fromkeys(name for name in named if name is not None))

    @property
    def floats(self) -> tuple[str, ...]:
        """Those that hold fractions."""
        weight = () if self.weight is None else (self.weight,)
        bounds = (*self.intervals.low, *self.intervals.high)
        return (*self.prob, *weight, *bounds, *self.draws.columns)

    def lines(self) -> Iterator[str]:
        """Say it as text, a line for each role."""
        for role in ("label", "prob", "weight", "group", "sets", "timestamp"):
            value = getattr(self, role)
            if value and role in self.found:
                names = value if isinstance(value, str) else ", ".join(value)
                yield f"{role} = {names} ({self.found[role]})"
        yield from self.intervals.lines()
        yield from self.draws.lines()

    def to_dict(self) -> dict[str, object]:
        """Return the roles by name, ready for JSON."""
        return {
            "label": self.label,
            "prob": list(self.prob),
            "weight": self.weight,
            "group": self.group,
            "sets": self.sets,
            "intervals": self.intervals.to_dict(),
            **({"draws": self.draws.to_dict()} if self.draws.truth else {}),
            **({"timestamp": self.timestamp} if self.timestamp else {}),
            "found": dict(self.found),
        }


def check_names(role: str, names: Any) -> None:
    """Reject what is neither the name of a column nor, where there may be several, of some."""
    may_be_several = role in ("prob", "low", "high", "truth", "draws")
    several = hasattr(names, "__iter__") and not isinstance(names, (bytes, Mapping))
    if names is None or isinstance(names, str) or (may_be_several and several):
        return
    raise TypeError(f"{role} must be the name of a column, got {names!r}")


def find_roles(
    source: Source,
    *,
    label: str | None = None,
    prob: str | Sequence[str] | None = None,
    weight: str | None = None,
    group: str | None = None,
    sets: str | None = None,
    timestamp: str | None = None,
    low: str | Sequence[str] | None = None,
    high: str | Sequence[str] | None = None,
    level: float | Sequence[float] | None = None,
    truth: str | Sequence[str] | None = None,
    draws: str | Sequence[str] | None = None,
) -> Roles:
    """Check the columns that were named, and guess the others.

    Beside draws nothing is guessed: a table of them has columns of many numbers.
    """
    kinds = source.kinds
    if truth or draws:
        return _beside_draws(
            source, given_draws(kinds, truth or (), draws or ()), label=label, prob=prob,
            weight=weight, group=group, sets=sets, timestamp=timestamp, low=low, high=high,
            level=level,
        )  # fmt: skip
    found: dict[str, str] = {}
    given = {
        "label": label, "weight": weight, "group": group, "sets": sets, "timestamp": timestamp,
    }  # fmt: skip
    for role, name in given.items():
        if name is not None:
            known_column(source, name)
            found[role] = "given"
    intervals = _find_intervals(source, low, high, level, set(given.values()))
    probs = (prob,) if isinstance(prob, str) else tuple(prob or ())
    named = {*given.values(), *probs, *intervals.low, *intervals.high}
    if weight is None:
        weight = _by_name(kinds, _WEIGHTS, named, _NUMBERS)
        if weight is not None:
            found["weight"] = "guessed from its name"
    if sets is None:
        sets = _by_name(kinds, _SETS, {label, group, *probs}, _LISTS)
        if sets is not None:
            found["sets"] = "guessed from its name"
    others = {weight, group, sets, timestamp, *intervals.low, *intervals.high}
    if prob is not None:
        for name in probs:
            known_column(source, name)
        found["prob"] = "given"
        if not (probs or intervals.levels or sets):
            raise ValueError(
                f"{source.name}: without probabilities there is nothing to score: name the bounds "
                f"of intervals (--low, --high), sets (--set) or draws (--draws) {_listing(source)}"
            )
    else:
        needed = not intervals.levels and sets is None
        taken = {label, *others}
        if intervals.levels:
            taken |= {name for name in kinds if name.lower() in _FORECASTS}
        probs, found["prob"] = _guess_prob(source, taken, needed=needed)
    if label is None:
        is_number = not probs and bool(intervals.levels)
        label, found["label"] = _guess_label(source, {*probs, *others}, is_number=is_number)
    if label in probs:
        raise ValueError(f"{source.name}: column {label!r} cannot be label and probability at once")
    return Roles(label, probs, weight, group, sets, intervals, found=found, timestamp=timestamp)


def _beside_draws(
    source: Source,
    draws: DrawRoles,
    *,
    label: str | None,
    prob: str | Sequence[str] | None,
    low: str | Sequence[str] | None,
    high: str | Sequence[str] | None,
    level: float | Sequence[float] | None,
    **others: str | None,
) -> Roles:
    """Only what is named. Without a label, the first truth is what happened."""
    probs = (prob,) if isinstance(prob, str) else tuple(prob or ())
    intervals = given_intervals(low, high, level) if low and high else IntervalRoles()
    given = {"label": label, "prob": prob, **others}
    roles = Roles(
        draws.truth[0] if label is None else label, probs, others["weight"], others["group"],
        others["sets"], intervals, draws, {role: "given" for role, name in given.items() if name},
        others["timestamp"],
    )  # fmt: skip
    for name in roles.columns:
        known_column(source, name)
    if label is None and (probs or roles.sets):
        raise ValueError(
            f"{source.name}: name the column of labels, too, with label (--label): beside draws "
            "nothing is guessed"
        )
    return roles


def _find_intervals(
    source: Source,
    low: str | Sequence[str] | None,
    high: str | Sequence[str] | None,
    level: float | Sequence[float] | None,
    taken: Collection[str | None],
) -> IntervalRoles:
    if not low and not high:
        if not (level is None or (isinstance(level, Sequence) and not level)):
            raise ValueError(
                "level (--interval-level) is that of bounds: name them with low and high "
                f"(--low, --high) {_listing(source)}"
            )
        return guess_intervals(source.kinds, taken)
    intervals = given_intervals(low or (), high or (), level)
    for name in (*intervals.low, *intervals.high):
        known_column(source, name)
    return intervals


def known_column(source: Source, name: str) -> str:
    """Return the name, or say which one may be meant."""
    if name in source.kinds:
        return name
    near = difflib.get_close_matches(name, source.kinds, n=1, cutoff=0.5)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise ValueError(f"{source.name}: no column {name!r}{hint} {_listing(source)}")


def is_forecast(names: Collection[str]) -> bool:
    """Return whether this is one column that may hold forecasts of a number."""
    return len(names) == 1 and next(iter(names)).lower() in _FORECASTS


def _listing(source: Source) -> str:
    names = list(source.kinds)
    more = f" and {len(names) - 20} more" if len(names) > 20 else ""
    return f"(there are: {', '.join(names[:20])}{more})"


def _by_name(
    kinds: Mapping[str, Kind],
    names: Sequence[str],
    taken: Collection[str | None],
    fitting: Sequence[Kind],
) -> str | None:
    lower = {name.lower(): name for name, kind in kinds.items() if kind in fitting}
    return next((lower[n] for n in names if n in lower and lower[n] not in taken), None)


def _guess_prob(
    source: Source, taken: Collection[str | None], *, needed: bool
) -> tuple[tuple[str, ...], str]:
    kinds = source.kinds
    named = _by_name(kinds, _PROBS, taken, ("float", "list"))
    if named is not None:
        return (named,), "guessed from its name"
    family = _family(kinds, taken)
    if family:
        return family, "guessed from their names"
    if not needed:
        return (), ""
    fractions = [n for n, kind in kinds.items() if kind in ("float", "list") and n not in taken]
    if len(fractions) == 1:
        return (fractions[0],), "guessed, as the only column of fractions"
    named = _by_name(kinds, _PROBS, taken, ("integer", "boolean", "text", "other"))
    if named is not None:  # most likely not what was meant, but then the error says what it holds
        return (named,), "guessed from its name"
    raise ValueError(
        f"{source.name}: cannot tell which column holds the probabilities; name it with prob "
        "(--prob), or else the bounds of intervals with low and high (--low, --high), sets with "
        f"sets (--set), or truths and draws with truth and draws (--truth, --draws) "
        f"{_listing(source)}"
    )


def _family(kinds: Mapping[str, Kind], taken: Collection[str | None]) -> tuple[str, ...]:
    """Columns like p0, p1, p2 or prob_cat, prob_dog: one for each class."""
    fractions = [name for name, kind in kinds.items() if kind == "float" and name not in taken]
    numbered: dict[str, dict[int, str]] = {}
    worded: dict[str, list[str]] = {}
    for name in fractions:
        if match := _NUMBERED.fullmatch(name):
            numbered.setdefault(match[1], {})[int(match[2])] = name
        stem, _, word = name.partition("_")
        if word and stem.lower() in _PROBS:
            worded.setdefault(stem, []).append(name)
    for stem, members in numbered.items():
        known = stem.lower().rstrip("_") in (*_PROBS, "class")
        if known and len(members) > 1 and sorted(members) == list(range(len(members))):
            return tuple(members[i] for i in range(len(members)))
    return next((tuple(members) for members in worded.values() if len(members) > 1), ())


def _guess_label(
    source: Source, taken: Collection[str | None], *, is_number: bool
) -> tuple[str, str]:
    kinds = source.kinds
    named = _by_name(kinds, _LABELS, taken, ("boolean", "integer", "text", "float"))
    if named is not None:
        return named, "guessed from its name"
    fitting: tuple[Kind, ...] = ("float", "integer") if is_number else ("boolean", "integer")
    left = [n for n, kind in kinds.items() if kind in fitting and n not in taken]
    if len(left) == 1:
        what = "numbers" if is_number else "whole numbers"
        return left[0], f"guessed, as the only column of {what}"
    raise ValueError(
        f"{source.name}: cannot tell which column holds the labels; name it with label, or "
        f"--label on the command line {_listing(source)}"
    )
