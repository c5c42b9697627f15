"""Conditions on what was found, such as ``ece>0.05``: what a pipeline is guarded by."""

from __future__ import annotations

import difflib
import math
import operator
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from calibrant._result import printable
from calibrant.scorecards._table import NELSON, ROWS, number_text

if TYPE_CHECKING:
    from calibrant.scorecards import Scorecard
    from calibrant.scorecards._comparison import Comparison

__all__ = ["Condition", "condition_option", "fail_if", "failures", "of_card", "of_comparison"]

_FORM = re.compile(r"\s*(?:(.*):)?\s*(\w+)(?:\.(\w+))?\s*(>=|<=|>|<)\s*(\S+)\s*", re.DOTALL)
_ENDS = ("value", "low", "high")
_COMPARE: dict[str, Callable[[float, float], bool]] = {
    ">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le,
}  # fmt: skip

#: By name, what has numbers: scorecards, or differences of scores.
Subjects = dict[str, Any]


@dataclass(frozen=True)
class Condition:
    """A number of a scorecard, or an end of its interval, compared with a bound."""

    scope: str
    name: str
    end: str
    sign: str
    bound: float

    def failures(self, subjects: Subjects) -> Iterator[str]:
        """Say of which it holds; a number that is undefined is a ValueError."""
        for whose, subject in subjects.items():
            number = self._number(subject)
            if _COMPARE[self.sign](number, self.bound):
                meant = f" ({NELSON})" if self.name == "accuracy" else ""
                where = f"{printable(whose)}: " if whose else ""
                found = f"{number_text(number)}, {self.sign} {self.bound:g}"
                yield f"{where}{self.name}{self._dotted}{meant} is {found}"

    def _number(self, subject: Any) -> float:
        estimate = getattr(subject, self.name, None)
        if estimate is None:
            raise ValueError(f"--fail-if {self}: {self.scope} has no number {self.name}")
        number: float | None = getattr(estimate, self.end)
        if number is None:
            why = estimate.reason or "it has no interval"
            raise ValueError(f"--fail-if {self}: {self.name} is undefined: {why}")
        return number

    @property
    def _dotted(self) -> str:
        return "" if self.end == "value" else f".{self.end}"

    def __str__(self) -> str:
        scope = f"{printable(self.scope)}:" if self.scope else ""
        return f"{scope}{self.name}{self._dotted}{self.sign}{self.bound:g}"


def _parsed(
    _ctx: click.Context, _parameter: click.Parameter, texts: Sequence[str]
) -> list[Condition]:
    return [parse_condition(text) for text in texts]


condition_option = click.option(
    "--fail-if", "conditions", multiple=True, metavar="CONDITION", callback=_parsed,
    help="End with exit code 1 if it holds, like 'ece>0.05', 'ece.low>0.05', or of any group "
    "'groups:ece.low>0.05'; several allowed.",
)  # fmt: skip


def parse_condition(text: str) -> Condition:
    """Read a condition, or say what is wrong with it."""
    match = _FORM.fullmatch(text)
    if match is None:
        raise ValueError(f"--fail-if {text!r}: write it like ece>0.05 or ece.low>0.05")
    scope, name, end, sign, number = (
        match[1] or "",
        match[2],
        match[3] or "value",
        *match.group(4, 5),
    )
    if name not in ROWS:
        near = difflib.get_close_matches(name, ROWS, n=1, cutoff=0.3)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise ValueError(f"--fail-if: no number {name!r}{hint} (there are: {', '.join(ROWS)})")
    if end not in _ENDS:
        raise ValueError(f"--fail-if {text!r}: after the dot comes one of {', '.join(_ENDS)}")
    try:
        bound = float(number)
    except ValueError as error:
        raise ValueError(f"--fail-if {text!r}: {number!r} is not a number") from error
    if math.isnan(bound):
        raise ValueError(f"--fail-if {text!r}: {number!r} is not a number")
    return Condition(scope.strip(), name, end, sign, bound)


def of_card(card: Scorecard | None) -> Callable[[str], Subjects]:
    """Return what a scope of a scorecard is: all rows, a group, or with "groups" each of them."""

    def find(scope: str) -> Subjects:
        if card is None:
            raise ValueError("--fail-if needs probabilities, and there are none")
        if not scope:
            return {"": card}
        if not card.groups:
            raise ValueError(f"--fail-if {scope}: there are no groups; name them with --group")
        # Of a group without weight nothing is known; a group of that name comes first.
        weighty = {
            f"group {key}": group
            for key, group in card.groups.items()
            if group.base_rate.value is not None and scope in ("groups", str(key))
        }
        named = {name: group for name, group in weighty.items() if name == f"group {scope}"}
        return _known(named or weighty, scope, map(str, card.groups))

    return find


def of_comparison(comparison: Comparison) -> Callable[[str], Subjects]:
    """Return what a scope of a comparison is: a model, a pair of them, or by default each model."""

    def find(scope: str) -> Subjects:
        pairs = {
            f"{first}-{second}": scores
            for (first, second), scores in comparison.differences.items()
        }
        every: Subjects = {**comparison.scorecards, **pairs}
        if not scope:
            return dict(comparison.scorecards)
        return _known({scope: every[scope]} if scope in every else {}, scope, every)

    return find


def _known(found: Subjects, scope: str, there: Any) -> Subjects:
    if not found:
        names = ", ".join(printable(name) for name in list(there)[:20])
        raise ValueError(f"--fail-if: there is no {printable(scope)!r} (there are: {names})")
    return found


def failures(conditions: Sequence[Condition], find: Callable[[str], Subjects]) -> list[str]:
    """Return a line for each condition that holds, and of what; before anything is printed."""
    return [line for each in conditions for line in each.failures(find(each.scope))]


def fail_if(failed: Sequence[str], conditions: Sequence[Condition]) -> None:
    """End with exit code 1 if a condition holds, and say which."""
    if any(each.name == "accuracy" for each in conditions):
        about = f"accuracy is the {NELSON}; the share of right answers is hit_rate"
        click.secho(about, dim=True, err=True)
    for line in failed:
        click.secho(f"failed: {line}", fg="red", err=True)
    if failed:
        raise click.exceptions.Exit(1)
