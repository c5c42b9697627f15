"""Tables of predictions, wherever they are: files of any size, data frames, Arrow streams.

`scan` says which column is what and reads nothing yet; the rows come in batches, so that memory
does not grow with the table. Files other than NPY and NPZ need pyarrow:
``pip install ".[arrow]"``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Literal, Self, TypeVar

from calibrant._input.groups import group_codes
from calibrant._input.validation import checked_callable, checked_choice, checked_flag
from calibrant.intervals._bounds import Crossed, check_crossed
from calibrant.io._batches import Batch, Reading, choose_classes, count_missing
from calibrant.io._draw_roles import DrawRoles
from calibrant.io._interval_roles import IntervalRoles
from calibrant.io._parts import Columns, Source
from calibrant.io._passes import Mergeable, reduce_parts
from calibrant.io._roles import Roles, check_names, find_roles, is_forecast
from calibrant.io._sets import check_sets
from calibrant.io._sources import FORMATS, open_source
from calibrant.io._timestamps import check_timestamps

__all__ = ["Batch", "Missing", "Roles", "Scan", "scan"]


def __dir__() -> list[str]:
    return __all__


Missing = Literal["reject", "skip"]
T = TypeVar("T", bound=Mergeable)

_PAIR = re.compile(r"\bpair (\d+)(?: \(pair \d+ of all\))?")
_OTHER_CODES = re.compile(r"must be 0 or 1, found (-?[\w.+]+) at")
_ROW = re.compile(r"\brow (\d+)((?:, column \d+)?)(?: \(row \d+ of the stream\))?")


class Scan:
    """A table and the roles of its columns, to be read as often as the source allows.

    Attributes
    ----------
    roles : Roles
    classes : tuple or None
        The labels in the order of their codes, where they are not codes themselves.
    missing : {"reject", "skip"}
    crossed : {"raise", "swap"}
    """

    def __init__(
        self, source: Source, roles: Roles, classes: tuple[tuple[Any, ...] | None, str],
        missing: Missing, crossed: Crossed = "raise",
    ) -> None:  # fmt: skip
        self._source = source
        self.roles = roles
        self.classes, self._classes_found = classes
        self.missing = missing
        self.crossed = crossed
        self.reading = Reading(roles, self.classes, missing == "skip")

    @property
    def n_rows(self) -> int | None:
        """The number of rows, where the source knows it beforehand."""
        return self._source.n_rows

    @property
    def can_be_read_again(self) -> bool:
        """Whether the rows may be read more than once."""
        return self._source.can_be_read_again

    @property
    def name(self) -> str:
        """What messages call the source."""
        return self._source.name

    @property
    def has_classes(self) -> bool:
        """Whether the probabilities are of more classes than one."""
        prob = self.roles.prob
        return len(prob) > 1 or (len(prob) == 1 and self._source.kinds[prob[0]] == "list")

    def of_probabilities(self) -> Scan:
        """Return it without prediction intervals, sets and draws, which then are not read."""
        if not self.roles.prob:
            raise ValueError(f"{self.name}: there are no probabilities; name them with --prob")
        roles = replace(self.roles, sets=None, intervals=IntervalRoles(), draws=DrawRoles())
        classes = (self.classes, self._classes_found)
        return Scan(self._source, roles, classes, self.missing, self.crossed)

    def notes(self) -> list[str]:
        """Return a line for each role: which column, and how it was found."""
        lines = list(self.roles.lines())
        if self.classes is not None:
            lines.append(f"classes = {', '.join(map(str, self.classes))} ({self._classes_found})")
        return lines

    def to_dict(self) -> dict[str, Any]:
        """Return what is read and how, ready for JSON."""
        return {
            "files": list(self._source.files),
            "roles": self.roles.to_dict(),
            "classes": None if self.classes is None else list(self.classes),
            "missing_values": self.missing,
            **({"crossed_bounds": self.crossed} if self.crossed != "raise" else {}),
        }

    def __iter__(self) -> Iterator[Batch]:
        """Give the rows in order, as batches of arguments for ``update``."""
        return map(self.reading.batch, self.columns())

    def columns(self) -> Iterator[Columns]:
        """Give the rows in order, as columns by name."""
        for part in self._parts():
            yield from part.read()

    def _parts(self) -> Iterator[Any]:
        return self._source.parts(self.roles.columns, self.roles.floats)

    def reduce(self, make: Callable[[], T], progress: Callable[[int], None] | None = None) -> T:
        """Read all rows by several threads, each into an accumulator of its own, and merge them.

        Parameters
        ----------
        make : callable
            Makes an empty accumulator, with ``take(columns, place)`` and ``merge(other)``.
        progress : callable, optional
            Called about ten times a second with the number of rows so far.

        Raises
        ------
        ValueError, TypeError
            About the first bad row, with its file, column and place. Missing values are counted
            first, if they are rejected and the source can be read again.
        """
        checked_callable(progress, "progress")
        try:
            return reduce_parts(self._parts(), make, name_error=self.named_error, progress=progress)
        except ValueError as error:
            if "missing value" in str(error) and self._source.can_be_read_again:
                raise self._rejection(progress) from error
            raise

    def _rejection(self, progress: Callable[[int], None] | None) -> ValueError:
        total = reduce_parts(
            self._parts(), lambda: MissingCounts(self.roles), name_error=self.named_error,
            progress=progress,
        )  # fmt: skip
        counts = ", ".join(f"{n} in {name!r}" for name, n in total.counts.items() if n)
        return ValueError(
            f"{self.name}: missing values: {counts}; fill them, or leave such rows out and count "
            'them with missing="skip" (--missing skip)'
        )

    def named_error(self, error: Exception, file: str, first_row: int) -> Exception:
        """Return the error in terms of the file: its name, its columns, its rows."""
        text = str(error)
        roles = self.roles
        bounds = roles.intervals
        for end, names in (
            ("[0]", bounds.low),
            ("[1]", bounds.high),
            ("", (*bounds.low, *bounds.high)),
        ):
            text = text.replace(f"intervals{end}", f"column {', '.join(names)!r}")
        prob = ", ".join(roles.prob)
        arguments = {"y_true": roles.label, "y_proba": prob, "sample_weight": roles.weight}
        arguments |= {"groups": roles.group, "sets": roles.sets, "timestamps": roles.timestamp}
        for argument, column in arguments.items():
            text = _replaced(rf"\b{argument}\b", f"column {column!r}", text)
        text = _replaced(r"^truth\b", f"column {', '.join(roles.draws.truth)!r}", text)
        drawn = ", ".join(dict.fromkeys(name for names in roles.draws.draws for name in names))
        text = _replaced(r"^draws\b", f"column {drawn!r}", text)
        text = _PAIR.sub(lambda match: f"row {first_row + int(match[1])}", text)
        text = _ROW.sub(lambda match: f"row {first_row + int(match[1])}{match[2]}", text)
        text = text.replace('nan_policy="omit"', 'missing="skip" (--missing skip)')
        text = text.replace('crossed="swap"', 'crossed="swap" (--crossed swap)')
        other = _OTHER_CODES.search(text) if self.classes is None else None
        if other is not None:
            one = "1" if other[1].startswith("-") else other[1]
            text += f"; if {one} is the label of class 1, say so with positive (--positive {one})"
        is_other = other is not None or f"column {prob!r} must lie in [0, 1]" in text
        guessed = roles.found.get("prob", "").startswith("guessed")
        if is_other and guessed and is_forecast(roles.prob):
            text += (
                f"; if {prob!r} holds no probabilities, say so with prob=() (--no-prob), and name "
                "the bounds of intervals with low and high (--low, --high)"
            )
        kind = TypeError if isinstance(error, TypeError) else ValueError
        return kind(f"{file}: {text}")


def _replaced(pattern: str, word: str, text: str) -> str:
    """As `re.sub`, with a word that may hold anything."""
    return re.sub(pattern, lambda _: word, text)


class MissingCounts:
    """How many values are missing, by column."""

    def __init__(self, roles: Roles) -> None:
        self.counts = dict.fromkeys(roles.columns, 0)
        self._group = roles.group

    def take(self, columns: Columns, _place: int) -> int:
        """Count those of a batch, and return its rows."""
        n = 0
        for name in self.counts:
            column = columns[name]
            n = len(column)
            if name == self._group:
                self.counts[name] += int((group_codes(column, omit=True)[0] < 0).sum())
            else:
                self.counts[name] += count_missing(column)
        return n

    def merge(self, other: Self) -> None:
        """Add those of another thread."""
        for name, n in other.counts.items():
            self.counts[name] += n


def scan(
    table: Any,
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
    classes: Sequence[Any] | None = None,
    positive: Any = None,
    missing: Missing = "reject",
    crossed: Crossed = "raise",
    format: str | None = None,  # noqa: A002  # the word that readers of tables have
    header: bool | None = None,
) -> Scan:
    """Find the columns of a table of predictions; the rows are read later, in batches.

    Parameters
    ----------
    table : path, list of paths, data frame, dict of arrays, or Arrow stream
        A Parquet, Arrow IPC, CSV, JSON, JSON lines, NPY or NPZ file, a folder of them or a pattern
        with ``*``; ``"-"``, which is standard input; a pandas or polars DataFrame, a DuckDB
        relation, an Arrow table, or anything else with ``__arrow_c_stream__``.
    label : str, optional
        The column of what happened. Columns that are not named are guessed from names and types;
        `Scan.notes` says how.
    prob : str or sequence of str, optional
        The column of the probability of class 1, or of lists with one for each class; or several
        columns, one for each class. ``()`` where there are none, and none is to be guessed.
    weight : str, optional
        The column of weights.
    group : str, optional
        The column of keys of groups; never guessed.
    sets : str, optional
        The column of prediction sets: lists of classes, or whole numbers in which bit c stands
        for class c.
    timestamp : str, optional
        The column of the time of each row, for `calibrant.streaming.Windowed`: dates, which are
        taken in UTC where they have a time zone, or numbers; never guessed.
    low, high : str or sequence of str, optional
        The columns of lower and of upper bounds of prediction intervals, one for each level.
    level : float or sequence of float, optional
        The nominal levels of the intervals; read off names like low_90 and high_90, if it can be.
    truth, draws : str or sequence of str, optional
        The columns of true values and, for each of them, of the draws that it is ranked among:
        a column of lists, all of one length, or a pattern like ``draw_*`` of columns that have a
        draw each. Never guessed; beside them nothing else is.
    classes : sequence, optional
        The labels in the order of the probabilities, where they are not codes 0, 1, ...
    positive : optional
        The label of class 1 of two.
    missing : {"reject", "skip"}
        What to do with rows in which a value is missing.
    crossed : {"raise", "swap"}
        What to do with intervals whose lower bound is above the upper one.
    format : str, optional
        That of the files, such as "csv" or "parquet", where their names do not end in it; always
        for standard input.
    header : bool, optional
        Whether the first line of CSV files names the columns; if not, they are 0, 1, .... By
        default it does, and one that holds numbers is rejected.

    Examples
    --------
    >>> found = scan({"y": [1, 0, 1], "p": [0.75, 0.25, 0.5]})
    >>> found.notes()
    ['label = y (guessed from its name)', 'prob = p (guessed from its name)']
    >>> [batch.n for batch in found]
    [3]
    """
    checked_choice(missing, "missing", ("reject", "skip"))
    check_crossed(crossed)
    if format is not None:
        checked_choice(format, "format", FORMATS)
    if header is not None:
        checked_flag(header, "header")
    roles_given: dict[str, Any] = {
        "label": label, "prob": prob, "weight": weight, "group": group, "sets": sets,
        "timestamp": timestamp, "low": low, "high": high, "truth": truth, "draws": draws,
    }  # fmt: skip
    for role, names in roles_given.items():
        check_names(role, names)
    _check_classes(classes)
    source = open_source(table, file_format=format, header=header)
    roles = find_roles(source, level=level, **roles_given)
    if level is not None and not roles.intervals.low:
        raise ValueError("level is that of intervals, and there are no columns low and high")
    _check_kinds(source, roles)
    if roles.timestamp is not None:
        check_timestamps(source, roles.timestamp)
    if roles.sets is not None:
        check_sets(source, roles.sets)
    return Scan(source, roles, choose_classes(source, roles, classes, positive), missing, crossed)


def _check_classes(classes: Any) -> None:
    if classes is not None and (isinstance(classes, str) or not hasattr(classes, "__iter__")):
        raise TypeError(
            f"classes must list the labels, in the order of their codes, got {classes!r}"
        )


def _check_kinds(source: Source, roles: Roles) -> None:
    for name in roles.floats:
        kind = source.kinds[name]
        fitting = ("float", "integer", "boolean") + (("list",) if (name,) == roles.prob else ())
        if (name,) in roles.draws.draws or name in roles.draws.truth:
            fitting += ("list", "other")  # arrays have an axis of dimensions, too
        if kind in fitting or any(file.endswith((".csv", ".tsv")) for file in source.files):
            continue  # CSV: text here may be one bad row, which the reader will name
        raise TypeError(
            f"{source.name}: column {name!r} must hold numbers, it holds "
            f"{'text' if kind == 'text' else 'something else'}; convert it, or name another"
        )
