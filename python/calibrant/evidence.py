"""All that one pass over a table of predictions gathers, to be scored, reported or merged."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

import numpy as np

from calibrant import _evidence_bytes, scorecards
from calibrant._core import __version__
from calibrant._groups import group_codes
from calibrant._scorecard_stream import Scorecard
from calibrant.io import Missing, Scan, scan
from calibrant.io._batches import Batch, count_missing
from calibrant.means import SPECTRUM_POWERS, NanPolicy
from calibrant.streaming import RiskProfile, ScoreTable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from typing_extensions import Buffer

    from calibrant.io._parts import Columns

__all__ = ["Evidence"]

#: What is gathered besides the scorecard, for a report.
EVERYTHING = ("table", "spectrum")


class Evidence:
    """The accumulators of one pass over a table, filled together.

    Parameters
    ----------
    gather : collection of str
        What to gather besides the scorecard: "table" and "spectrum"; both for a report, none
        where the scorecard is all that is wanted.
    n_bins, q_lim
        As for `calibrant.scorecard`.
    classes : sequence, optional
        The labels in the order of their codes, to be shown.

    Attributes
    ----------
    scorecard : streaming.Scorecard
        Of all rows.
    table : streaming.ScoreTable or None
    spectrum : streaming.RiskProfile or None
        With the powers of `calibrant.mean_spectrum`.
    groups : dict of streaming.Scorecard
        By key, where there are groups.
    classes : tuple
    source : dict
        What the rows were read from and how; the versions; ready for JSON.

    Examples
    --------
    >>> evidence = Evidence.of({"y": [1, 0, 1], "p": [0.75, 0.25, 0.5]})
    >>> evidence.scorecard.result().brier.value
    0.125
    >>> Evidence.from_bytes(evidence.to_bytes()) == evidence
    True
    """

    def __init__(
        self,
        *,
        gather: Collection[str] = EVERYTHING,
        n_bins: int = 15,
        q_lim: float = 0.0,
        classes: Sequence[Any] = (),
    ) -> None:
        unknown = set(gather) - set(EVERYTHING)
        if unknown:
            raise ValueError(f"gather must hold {EVERYTHING}, found {sorted(unknown)}")
        self.scorecard = Scorecard(n_bins=n_bins, q_lim=q_lim)
        self.table = ScoreTable() if "table" in gather else None
        self.spectrum = None
        if "spectrum" in gather:
            self.spectrum = RiskProfile(powers=SPECTRUM_POWERS, q_lim=q_lim)
        self.groups: dict[Any, Scorecard] = {}
        self.classes = tuple(classes)
        self.source: dict[str, Any] = {
            "files": [],
            "missing": {},
            "settings": {"n_bins": n_bins, "q_lim": q_lim},
            "versions": {"calibrant": __version__, "numpy": np.__version__},
        }

    @classmethod
    def of(
        cls,
        table: Any,
        *,
        gather: Collection[str] = EVERYTHING,
        n_bins: int = 15,
        q_lim: float = 0.0,
        progress: Callable[[int], None] | None = None,
        missing: Missing = "refuse",
        **roles: Any,
    ) -> Self:
        """Read a table in one pass, by several threads.

        Parameters
        ----------
        table : as for `calibrant.io.scan`, or what it returned
        progress : callable, optional
            Called about ten times a second with the number of rows so far.
        missing, **roles
            As for `calibrant.io.scan`.
        """
        rows = table if isinstance(table, Scan) else scan(table, missing=missing, **roles)
        empty = cls(gather=gather, n_bins=n_bins, q_lim=q_lim, classes=rows.classes or ())
        found = rows.reduce(lambda: _Reader(empty.empty(), rows), progress).evidence
        if found.scorecard.n + found.scorecard.n_omitted == 0:
            raise ValueError(f"{rows.name}: there are no rows to score")
        found.source.update(rows.to_dict())
        return found

    @property
    def n(self) -> int:
        """The number of rows so far."""
        return self.scorecard.n

    @property
    def n_omitted(self) -> int:
        """The number of rows dropped because a value was missing."""
        return self.scorecard.n_omitted

    def update(
        self,
        y_true: Any,
        y_proba: Any,
        *,
        sample_weight: Any = None,
        groups: Any = None,
        skip_missing: bool = False,
    ) -> None:
        """Add a batch of rows to all accumulators, or to none if a row is refused.

        The arguments are those of `calibrant.scorecard`; labels are codes 0, 1, ...
        """
        batch = self.empty()
        batch._add(y_true, y_proba, sample_weight, groups, skip_missing)
        self.merge(batch)

    def _add(self, y_true: Any, y_proba: Any, weight: Any, groups: Any, omit: bool) -> None:
        state = self.scorecard._state
        if groups is None:
            state.update(y_true, y_proba, weight, omit)
        else:
            codes, keys = group_codes(groups, omit=omit)
            parts = state.by_group(y_true, y_proba, weight, omit, codes, len(keys))
            for part in parts:
                state.merge(part)
            for key, part in zip(keys, parts[:-1], strict=True):
                if part.n or part.n_omitted:
                    self._add_group(_plain_key(key), Scorecard._from_state(part))
        policy: NanPolicy = "omit" if omit else "raise"
        for other in (self.table, self.spectrum):
            if other is not None:
                other.update(y_true, y_proba, sample_weight=weight, nan_policy=policy)

    def _add_group(self, key: Any, card: Scorecard) -> None:
        known = self.groups.setdefault(key, card)
        if known is not card:
            known.merge(card)

    def empty(self) -> Self:
        """Return one like this without rows."""
        settings = self.source["settings"]
        gather = [name for name in EVERYTHING if getattr(self, name) is not None]
        return type(self)(gather=gather, classes=self.classes, **settings)

    def merge(self, other: Self) -> Self:
        """Add the rows of another; both must have gathered the same with the same settings."""
        if not isinstance(other, Evidence):
            raise TypeError(f"cannot merge {type(other).__name__} into Evidence")
        if self.classes != other.classes:
            raise ValueError(f"cannot merge classes {other.classes} into {self.classes}")
        for name in EVERYTHING:
            if (getattr(self, name) is None) != (getattr(other, name) is None):
                raise ValueError(f"cannot merge: only one of the two has gathered the {name}")
        card = self.scorecard.copy().merge(other.scorecard)  # refused, if at all, here
        for name in EVERYTHING:
            if getattr(self, name) is not None:
                getattr(self, name).merge(getattr(other, name))
        self.scorecard = card
        for key, group in other.groups.items():
            self._add_group(key, group.copy())
        files = self.source["files"]
        files.extend(name for name in other.source["files"] if name not in files)
        for column, n in other.source["missing"].items():
            self.source["missing"][column] = self.source["missing"].get(column, 0) + n
        for name, value in other.source.items():
            self.source.setdefault(name, value)
        return self

    def result(self, confidence_level: float = 0.95) -> scorecards.Scorecard:
        """Return the scorecard of the rows so far, with those of the groups."""
        card = self.scorecard.result(confidence_level)
        for key in sorted_keys(self.groups):
            state = self.groups[key]._state
            card.groups[key] = scorecards.Scorecard._of(state, confidence_level)
        return card

    def to_bytes(self) -> bytes:
        """Return all accumulators as bytes, each with its own checksum."""
        states = {"scorecard": self.scorecard, "table": self.table, "spectrum": self.spectrum}
        keys = sorted_keys(self.groups)
        parts = {name: each.to_bytes() for name, each in states.items() if each is not None}
        parts.update((f"group {i}", self.groups[key].to_bytes()) for i, key in enumerate(keys))
        head = {"groups": keys, "classes": list(self.classes), "source": self.source}
        return _evidence_bytes.pack(head, parts)

    @classmethod
    def from_bytes(cls, state: Buffer) -> Self:
        """Return what `to_bytes` made bytes of.

        Raises
        ------
        ValueError
            If they are damaged, or of a newer version. Bytes from anywhere are safe to try.
        """
        head, parts = _evidence_bytes.unpack(bytes(state))
        try:
            made = cls(gather=[name for name in EVERYTHING if name in parts])
            made.scorecard = Scorecard.from_bytes(parts["scorecard"])
            if made.table is not None:
                made.table = ScoreTable.from_bytes(parts["table"])
            if made.spectrum is not None:
                made.spectrum = RiskProfile.from_bytes(parts["spectrum"])
            for i, key in enumerate(head["groups"]):
                made.groups[key] = Scorecard.from_bytes(parts[f"group {i}"])
            made.classes = tuple(head["classes"])
            made.source = dict(head["source"])
        except (KeyError, TypeError) as error:
            raise ValueError(f"malformed evidence: {error!r} is not as it should be") from error
        return made

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> Self:
        """Return the evidence whose bytes are in a file; errors name it."""
        try:
            return cls.from_bytes(Path(path).read_bytes())
        except ValueError as error:
            raise ValueError(f"{os.fspath(path)}: {error}") from error

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Evidence):
            return NotImplemented
        return self.to_bytes() == other.to_bytes()

    __hash__ = None  # type: ignore[assignment]  # it changes with every update

    def __repr__(self) -> str:
        groups = f", {len(self.groups)} groups" if self.groups else ""
        return f"Evidence(n={self.n}{groups})"


def sorted_keys(keys: Collection[Any]) -> list[Any]:
    """Return the keys in order; of several kinds, kind by kind."""
    return sorted(keys, key=lambda key: (isinstance(key, str), json.dumps(type(key).__name__), key))


def _plain_key(key: Any) -> Any:
    return key if isinstance(key, (bool, int, float, str)) else str(key)


E = TypeVar("E", bound=Evidence)


class _Reader(Generic[E]):
    """Evidence that takes columns as they were read."""

    def __init__(self, evidence: E, rows: Scan) -> None:
        self.evidence = evidence
        self._rows = rows

    def take(self, columns: Columns) -> int:
        reading = self._rows.reading
        batch: Batch = reading.batch(columns)
        if reading.skip_missing:
            missing = self.evidence.source["missing"]
            for name in self._rows.roles.columns:
                missing[name] = missing.get(name, 0) + count_missing(columns[name])
        self.evidence._add(
            batch.y_true, batch.y_proba, batch.sample_weight, batch.groups, reading.skip_missing
        )
        return batch.n

    def merge(self, other: Self) -> None:
        self.evidence.merge(other.evidence)
