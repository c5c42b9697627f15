"""Has anything changed since then? A reference against the current rows, or each window.

``calibrant.drift(reference, current)`` is short for `drift` in this module.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from calibrant import scorecards, streaming
from calibrant._accumulator.base import class_name
from calibrant._input.validation import check_level
from calibrant._result import Result, holm, json_key
from calibrant._runtime.callable_module import make_callable
from calibrant.drift._changes import Change, Side, changes_of, side_of
from calibrant.scorecards._table import ROWS, number_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from calibrant.plotting import DriftDisplay

__all__ = ["Change", "Drift", "WindowsDrift", "drift", "drift_by_window"]


def __dir__() -> list[str]:
    return __all__


make_callable(__name__)

_COMPARABLE = (
    streaming.Scorecard, streaming.ScoreTable, streaming.Scores, streaming.RiskProfile,
    streaming.Reliability,
)  # fmt: skip


@dataclass(frozen=True, repr=False)
class Drift(Result):
    """What has changed between a reference and the current rows.

    Iterating gives the changes; ``drift["brier"]`` is one of them.

    Attributes
    ----------
    changes : tuple of Change
    n_reference, n_current : int
        Rows.
    confidence_level : float
        Of the intervals, each by itself; one minus it is the error rate of the verdict.
    can_tell : bool
        Whether hits alone could have shown a change, if the smaller side had had them all, or none.
    """

    changes: tuple[Change, ...]
    n_reference: int
    n_current: int
    confidence_level: float = 0.95
    can_tell: bool = True

    def __iter__(self) -> Iterator[Change]:
        return iter(self.changes)

    def __getitem__(self, name: str) -> Change:
        for change in self.changes:
            if change.name == name:
                return change
        raise KeyError(f"{name!r}; there are {', '.join(c.name for c in self.changes)}")

    @property
    def drifted(self) -> tuple[str, ...]:
        """The names of what has changed by more than chance explains, all tests considered."""
        alpha = 1.0 - self.confidence_level
        return tuple(
            change.name
            for change in self.changes
            if change.adjusted_pvalue is not None and change.adjusted_pvalue <= alpha
        )

    @property
    def verdict(self) -> str:
        """The drift in words."""
        if not any(change.pvalue is not None for change in self.changes):
            return "open: these accumulators keep too little to tell a change from chance"
        if not self.drifted:
            if not self.can_tell:
                return "too few rows to tell: chance explains all changes of so few rows, or events"
            return "no drift seen: chance explains all changes"
        return "drift: " + ", ".join(_words(self[name]) for name in self.drifted)

    def to_dict(self) -> dict[str, Any]:
        """Return all as nested dicts, ready for JSON."""
        return {
            "changes": [change.to_dict() for change in self.changes],
            "drifted": list(self.drifted),
            "verdict": self.verdict,
            "can_tell": self.can_tell,
            "n_reference": self.n_reference,
            "n_current": self.n_current,
            "confidence_level": self.confidence_level,
        }

    def plot(
        self, ax: Axes | None = None, *, name: str | None = None, **options: Any
    ) -> DriftDisplay:
        """Draw one number with its interval beside the band of the reference.

        Needs matplotlib: ``pip install ".[plot]"``. The arguments are those of
        `calibrant.plotting.DriftDisplay`.
        """
        from calibrant.plotting import DriftDisplay

        return DriftDisplay(self).plot(ax, name=name, **options)

    def __repr__(self) -> str:
        level = f"{100 * self.confidence_level:g}%"
        head = f"Drift of {self.n_current} rows from {self.n_reference}, {level} intervals"
        columns = f"{'reference':>9}  {'current':>9}  {'change':>9}  {'interval':<20}  Holm's p"
        lines = [head, f"  {'':<15}  {columns}"]
        lines += [_line(change, change.name in self.drifted) for change in self.changes]
        return "\n".join([*lines, f"  {self.verdict}"])


@dataclass(frozen=True, repr=False)
class WindowsDrift(Result):
    """The drift of each window from one reference.

    Attributes
    ----------
    windows : tuple of streaming.Window
    drifts : tuple of Drift
        One for each window. Holm's p-values are over the numbers of all windows, so that the
        error rate is that of all of them together.
    """

    windows: tuple[streaming.Window, ...] = field(repr=False)
    drifts: tuple[Drift, ...]

    @property
    def drifted(self) -> tuple[streaming.Window, ...]:
        """The windows in which something has changed."""
        pairs = zip(self.windows, self.drifts, strict=True)
        return tuple(window for window, found in pairs if found.drifted)

    @property
    def verdict(self) -> str:
        """The drift in words."""
        if self.drifted:
            return f"drift: something changed in {len(self.drifted)} of {len(self.windows)} windows"
        if not any(found.can_tell for found in self.drifts):
            return "too few rows to tell: chance explains all changes of so few rows, or events"
        return "no drift seen: chance explains all changes"

    def to_dict(self) -> dict[str, Any]:
        """Return all as nested dicts, ready for JSON."""
        return {
            "windows": [
                {"start": json_key(w.start), "end": json_key(w.end), "n": w.n, **found.to_dict()}
                for w, found in zip(self.windows, self.drifts, strict=True)
            ]
        }

    def plot(
        self, ax: Axes | None = None, *, name: str | None = None, **options: Any
    ) -> DriftDisplay:
        """Draw one number, window by window; as `Drift.plot`."""
        from calibrant.plotting import DriftDisplay

        return DriftDisplay(self).plot(ax, name=name, **options)

    def __len__(self) -> int:
        return len(self.windows)

    def __repr__(self) -> str:
        lines = [f"Drift of {len(self.windows)} windows"]
        lines += [
            f"  {window.start!s} to {window.end!s}, {window.n} rows: {found.verdict}"
            for window, found in zip(self.windows, self.drifts, strict=True)
        ]
        return "\n".join(lines)


def drift(reference: Any, current: Any, *, confidence_level: float = 0.95) -> Drift:
    """Compare the rows of two accumulators of one class, number by number.

    Parameters
    ----------
    reference, current : accumulators, or windows of `streaming.Windowed`
        Two of streaming.Scorecard, which has standard errors of all; or of ScoreTable, Scores,
        RiskProfile or Reliability, which have those of some or none. With the same parameters,
        and without rows in common.
    confidence_level : float
        Of the intervals; the verdict errs with probability one minus it.

    Returns
    -------
    Drift

    See Also
    --------
    calibrant.sequential.SequentialCalibrationTest : may be looked at after every batch

    Notes
    -----
    If nothing has changed, all splits of the rows of both sides into sides of these sizes are as
    likely as the one that was seen. All p-values follow from this: those of means by the moments of
    all rows together, the others from random splits of the accumulators' cells, always the same
    ones. KS and Kuiper are compared as extremes of the cumulative differences, not divided by their
    sigma, which falls with the number of rows. ``curve`` tests whether frequency minus score has
    changed in any bin. docs/production/drift.md has all of it.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.streaming import Scorecard
    >>> p = np.tile([0.25, 0.75], 1000)
    >>> before, after = Scorecard(), Scorecard()
    >>> before.update(np.tile([0, 1, 0, 1, 1, 0, 0, 1], 250), p)
    >>> after.update(np.tile([0, 1, 1, 0], 500), p)
    >>> found = drift(before, after)
    >>> found["brier"].change
    0.125
    >>> found["base_rate"].pvalue
    1.0
    >>> "brier" in found.drifted, "base_rate" in found.drifted
    (True, False)
    """
    level = check_level(confidence_level)
    first = _accumulator(reference, "reference")
    return _adjusted([_compared(first, side_of(first, level), current)])[0]


def _listed(windows: Any) -> list[streaming.Window]:
    if isinstance(windows, streaming.Windowed):
        return windows.windows()
    if not isinstance(windows, Sequence) or isinstance(windows, (str, bytes)):
        raise TypeError(f"windows must be a Windowed, or its windows, got {windows!r}")
    return list(windows)


def drift_by_window(
    reference: Any,
    windows: streaming.Windowed | Sequence[streaming.Window],
    *,
    confidence_level: float = 0.95,
) -> WindowsDrift:
    """Compare each window with the reference, at one error rate for all of them.

    Parameters
    ----------
    reference : accumulator, or window
        As for `drift`.
    windows : streaming.Windowed, or its windows
        If they overlap, so do their rows; each comparison is right, and Holm's p-values too.
    confidence_level : float

    Examples
    --------
    >>> from calibrant.streaming import Reliability, Windowed
    >>> reference = Reliability()
    >>> reference.update([0, 1] * 50, [0.5] * 100)
    >>> weekly = Windowed(Reliability, rows=20)
    >>> weekly.update([0, 1] * 20 + [1] * 20, [0.5] * 60)
    >>> found = drift_by_window(reference, weekly)
    >>> [(window.start, window.end) for window in found.drifted]
    [(40, 60)]
    """
    level = check_level(confidence_level)
    listed = _listed(windows)
    first = _accumulator(reference, "reference")
    side = side_of(first, level)
    found = [_compared_window(first, side, window) for window in listed]
    return WindowsDrift(tuple(listed), tuple(_adjusted(found)))


def drift_since_first(windows: Any, confidence_level: float) -> WindowsDrift | None:
    """Compare all windows but the first with that one; None where there are no others."""
    first, *others = _listed(windows)
    if not others:
        return None
    return drift_by_window(first, others, confidence_level=confidence_level)


def _accumulator(given: Any, name: str) -> Any:
    accumulator = given.accumulator if isinstance(given, streaming.Window) else given
    if not isinstance(accumulator, _COMPARABLE):
        raise TypeError(
            f"{name} must be a calibrant.streaming.Scorecard, ScoreTable, Scores, RiskProfile or "
            f"Reliability, got {_what(accumulator)}"
        )
    return accumulator


def _what(given: Any) -> str:
    if isinstance(given, scorecards.Scorecard):
        return (
            "the result calibrant.Scorecard, which keeps no rows: fill a "
            "calibrant.streaming.Scorecard with them"
        )
    return class_name(given)


def _compared(first: Any, side: Side, current: Any) -> tuple[Drift, float]:
    """Return the drift, and the least p-value that the hits of the smaller side could have had."""
    second = _accumulator(current, "current")
    if type(first) is not type(second):
        raise TypeError(
            f"cannot compare a {class_name(second)} with a {class_name(first)} as reference"
        )
    changes, least = changes_of(side, side_of(second, side.level))
    return Drift(changes, first.n, second.n, side.level), least


def _compared_window(first: Any, side: Side, window: Any) -> tuple[Drift, float]:
    try:
        return _compared(first, side, window)
    except ValueError as error:
        if not isinstance(window, streaming.Window):
            raise
        raise ValueError(f"window from {window.start} to {window.end}: {error}") from error


def _adjusted(found: Sequence[tuple[Drift, float]]) -> list[Drift]:
    """Return the drifts with p-values adjusted over all of them."""
    tested = [c.pvalue for drift, _ in found for c in drift if c.pvalue is not None]
    adjusted = iter(holm(tested))

    def with_adjusted(change: Change) -> Change:
        return change if change.pvalue is None else replace(change, adjusted_pvalue=next(adjusted))

    return [
        replace(
            drift,
            changes=tuple(map(with_adjusted, drift)),
            can_tell=least * len(tested) <= 1.0 - drift.confidence_level,
        )
        for drift, least in found
    ]


def _label(name: str) -> str:
    return {"curve": "curve by bins"}.get(name) or ROWS[name][0].strip()


def _words(change: Change) -> str:
    if change.change is None:
        return f"{_label(change.name)} changed"
    return f"{_label(change.name)} {'rose' if change.change > 0 else 'fell'}"


def _line(change: Change, is_drift: bool) -> str:
    a, b = (
        "" if x is None else number_text(x) for x in (change.reference.value, change.current.value)
    )
    moved = "" if change.change is None else number_text(change.change)
    interval = ""
    if change.low is not None and change.high is not None:
        interval = f"{number_text(change.low)} to {number_text(change.high)}"
    p = "" if change.adjusted_pvalue is None else f"{change.adjusted_pvalue:.2g}"
    mark = " *" if is_drift else ""
    label = _label(change.name)
    return f"  {label:<15}  {a:>9}  {b:>9}  {moved:>9}  {interval:<20}  {p}{mark}".rstrip()
