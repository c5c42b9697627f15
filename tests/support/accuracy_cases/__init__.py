"""The rows of docs/reference/accuracy.md: inputs, the true value to many digits, the bound.

A row is a function that yields cases. `docs/reference/accuracy.py` runs all of them and writes
the page, `tests/laws/test_accuracy.py` a few of each.
"""

from __future__ import annotations

import importlib
import math
import statistics
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import mpmath

import reference

# Of the truths. Sums of subnormals and of numbers near 1 need the room.
BITS = 600

# In the order of the page.
MODULES = (
    "kernels", "means", "scores", "calibration", "cumulative", "roc", "intervals",
    "dependence", "ensemble_scores", "ranks", "samples", "ensembles", "comparisons",
)  # fmt: skip


@dataclass(frozen=True)
class Case:
    """One number of ours, and the peer's, beside the truth; errors are counted in ``unit``."""

    found: float
    true: Any
    unit: Any
    peer: float | None = None

    def error(self, value: float) -> float:
        """Return how far off a value is, in units."""
        if value == self.true:  # infinities, too
            return 0.0
        if not math.isfinite(value):
            return math.inf
        return float(abs(mpmath.mpf(value) - self.true) / self.unit)


@dataclass(frozen=True)
class Row:
    """A row of the table."""

    topic: str
    name: str
    covers: tuple[str, ...]
    bound: float
    unit: str
    peer: str
    cases: Callable[[bool], Iterator[Case]] = field(repr=False)

    def measure(self, few: bool = False) -> Measured:
        """Run the cases, or a few of them."""
        with mpmath.workprec(BITS):
            cases = list(self.cases(few))
            ours = [case.error(case.found) for case in cases]
            theirs = [case.error(case.peer) for case in cases if case.peer is not None]
        numbers = [error for error in theirs if math.isfinite(error)]
        return Measured(
            self, len(cases), statistics.median(ours), max(ours),
            statistics.median(theirs) if theirs else None,
            max(numbers, default=None), len(theirs) - len(numbers),
        )  # fmt: skip


@dataclass(frozen=True)
class Measured:
    """What a row came to."""

    row: Row
    n: int
    median: float
    worst: float
    peer_median: float | None
    peer_worst: float | None  # of the numbers it gave
    peer_failures: int  # cases of which it made NaN, or an infinity where there is none

    @property
    def met(self) -> bool:
        """Whether the promise was kept."""
        return self.worst <= self.row.bound


_rows: list[Row] = []


def row(
    name: str, *, covers: str, bound: float, unit: str = "ulp", peer: str = ""
) -> Callable[[Callable[[bool], Iterator[Case]]], Callable[[bool], Iterator[Case]]]:
    """Make a row of a function that yields cases, few or many.

    ``covers`` names the public functions whose numbers these are, ``unit`` is what errors are
    counted in.
    """

    def register(cases: Callable[[bool], Iterator[Case]]) -> Callable[[bool], Iterator[Case]]:
        topic = (importlib.import_module(cases.__module__).__doc__ or "").rstrip(".\n")
        _rows.append(Row(topic, name, tuple(covers.split()), bound, unit, peer, cases))
        return cases

    return register


def rows() -> list[Row]:
    """Return all rows."""
    for module in MODULES:
        importlib.import_module(f"{__name__}.{module}")
    return list(_rows)


def number(x: Any) -> Any:
    """Return a float or a fraction as an mpf, with all its digits."""
    if isinstance(x, Fraction):
        return reference.as_mpf(x)
    return x if isinstance(x, mpmath.mpf) else mpmath.mpf(float(x))


def case(found: Any, true: Any, *, scale: Any = 0, least: Any = 0, peer: Any = None) -> Case:
    """Make a case: a unit is the ulp of the truth or, if larger, of the scale, or ``least``."""
    true = number(true)
    if not mpmath.isfinite(true):
        return Case(float(found), true, mpmath.mpf(1), None if peer is None else float(peer))
    unit = max(reference.ulp(max(abs(true), number(scale))), number(least))
    return Case(float(found), true, unit, None if peer is None else float(peer))


def peer(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Return what a peer gives, without its warnings; NaN where it fails."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return function(*args, **options)
        except (ArithmeticError, ValueError):
            return math.nan
