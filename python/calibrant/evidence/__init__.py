"""All that one pass over a table of predictions gathers, to be scored, reported or merged."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any, Self, TypeVar

import numpy as np

from calibrant import _core, scorecards, streaming
from calibrant._accumulator.base import Accumulator
from calibrant._accumulator.composite import Composite
from calibrant._core import __version__
from calibrant._input.validation import (
    MultiClass,
    NanPolicy,
    checked_callable,
    checked_choice,
    checked_count,
    checked_flag,
    checked_number,
    checked_numbers,
)
from calibrant._result import json_ready
from calibrant.evidence._reading import Reader, bandwidth_of, draws_of, edges_of, width_quartiles
from calibrant.evidence._rows import add_batch
from calibrant.io import Missing, Scan, scan
from calibrant.io._batches import Batch
from calibrant.means import SPECTRUM_POWERS
from calibrant.ranks._results import RankCalibration

__all__ = ["EVERYTHING", "Evidence"]


def __dir__() -> list[str]:
    return __all__


T = TypeVar("T")

#: What a report needs besides the scorecard.
EVERYTHING = ("assessment",)
#: Which class each accumulator but the scorecards is of.
_PARTS: dict[str, type[Accumulator[Any]]] = {
    "spectrum": streaming.RiskProfile,
    "assessment": streaming.ScoreTable,
    "intervals": streaming.Intervals,
    "coverage_hsic": streaming.CoverageHSIC,
    "sets": streaming.PredictionSets,
    "ranks": streaming.Ranks,
}
#: Of these, what a caller may ask for; the others follow from the columns.
_OPTIONAL = ("spectrum", "assessment")
#: Settings that mean nothing without intervals.
_OF_INTERVALS = ("levels", "width_edges", "hsic_bandwidth")


class Evidence(Composite):
    """The accumulators of one pass over a table, filled together.

    Parameters
    ----------
    gather : collection of str
        What to gather besides the scorecard: "assessment", the pairs of all classes where there
        are several, for a report; "spectrum", the exact generalized means of many powers. None
        where the scorecard is all that is wanted.
    levels : sequence of float
        The nominal levels of prediction intervals, if there are some.
    width_edges : sequence of float
        As for `streaming.Intervals`.
    hsic_bandwidth : float
        Of the widths, as for `streaming.CoverageHSIC`.
    sets : bool
        Whether there are prediction sets.
    n_draws : int
        The number of draws that each truth is ranked among, if there are some.
    truths : sequence of str
        The names of the truths, one for each dimension of the draws.
    n_bins, q_lim
        As for `calibrant.scorecard`.
    classes : sequence, optional
        The labels in the order of their codes, to be shown.
    multi_class : {"auto", "top_label"}
        As for `calibrant.scorecard`.

    Attributes
    ----------
    scorecard : streaming.Scorecard
        Of all rows; without rows where the table has no probabilities.
    spectrum : streaming.RiskProfile or None
        With the powers of `calibrant.mean_spectrum`.
    assessment : streaming.ScoreTable or None
        Of pairs; without rows where the probabilities are of one class.
    intervals : streaming.Intervals or None
    groups : dict of streaming.Scorecard
        By key, where there are groups; those of ``streaming.Grouped(streaming.Scorecard)``.
    coverage_hsic : streaming.CoverageHSIC or None
        Where there are intervals, unless it had to be left out.
    sets : streaming.PredictionSets or None
    ranks : streaming.Ranks or None
    truths : tuple of str
    left_out : dict of str
        Why a part had to be left out, by its name: HSIC takes no weights, and bounded memory
        has no room for widths over too many bandwidths.
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

    MAGIC = b"CLEV"
    _WHAT = "evidence"

    def __init__(
        self,
        *,
        gather: Collection[str] = EVERYTHING,
        levels: Sequence[float] = (),
        width_edges: Sequence[float] = (),
        hsic_bandwidth: float = 1.0,
        sets: bool = False,
        n_draws: int = 0,
        truths: Sequence[str] = (),
        n_bins: int = 15,
        q_lim: float = 0.0,
        classes: Sequence[Any] = (),
        multi_class: MultiClass = "auto",
    ) -> None:
        if isinstance(gather, str) or not hasattr(gather, "__iter__"):
            raise TypeError(f"gather must be a sequence of names, got {gather!r}")
        levels = checked_numbers(levels, "levels")
        width_edges = checked_numbers(width_edges, "width_edges")
        if not 0.0 < checked_number(hsic_bandwidth, "hsic_bandwidth") < math.inf:
            raise ValueError(f"hsic_bandwidth must be positive and finite, got {hsic_bandwidth!r}")
        checked_flag(sets, "sets")
        checked_choice(multi_class, "multi_class", ("auto", "top_label"))
        n_draws = checked_count(n_draws, "n_draws", least=0)
        if set(gather) - set(_OPTIONAL):
            raise ValueError(f"gather must hold {sorted(_OPTIONAL)}, found {sorted(gather)}")
        self.scorecard = streaming.Scorecard(n_bins=n_bins, q_lim=q_lim)
        self.spectrum = self.assessment = self.intervals = self.coverage_hsic = None
        self.sets = streaming.PredictionSets() if sets else None
        self.ranks = streaming.Ranks(n_draws, len(truths)) if n_draws else None
        self.truths = tuple(truths)
        if "spectrum" in gather:
            self.spectrum = streaming.RiskProfile(powers=SPECTRUM_POWERS, q_lim=q_lim)
        if "assessment" in gather:
            self.assessment = streaming.ScoreTable(pairs=True, q_lim=q_lim)
        if levels:
            self.intervals = streaming.Intervals(list(levels), width_edges=width_edges)
            self.coverage_hsic = streaming.CoverageHSIC(bandwidths=(hsic_bandwidth, 1.0))
        self._lock = _core.UseLock()
        self.left_out: dict[str, str] = {}
        self.groups: dict[Any, streaming.Scorecard] = {}
        self.classes = tuple(classes)
        self._settings: dict[str, Any] = {
            "gather": [name for name in _PARTS if name in gather],
            "levels": list(levels), "width_edges": list(width_edges),
            "hsic_bandwidth": hsic_bandwidth, "sets": sets,
            "n_bins": n_bins, "q_lim": q_lim,
        }  # fmt: skip
        if n_draws:  # else the bytes are those of versions that know of none
            self._settings |= {"n_draws": n_draws, "truths": list(truths)}
        if multi_class != "auto":  # likewise
            self._settings["multi_class"] = multi_class
        self.source: dict[str, Any] = {
            "files": [],
            "missing": {},
            "settings": {
                name: value
                for name, value in self._settings.items()
                if name != "sets" and (levels or name not in _OF_INTERVALS)
            },
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
        multi_class: MultiClass = "auto",
        width_edges: Sequence[float] | None = None,
        hsic_bandwidth: float | None = None,
        progress: Callable[[int], None] | None = None,
        missing: Missing = "reject",
        **roles: Any,
    ) -> Self:
        """Read a table in one pass, by several threads.

        Parameters
        ----------
        table : as for `calibrant.io.scan`, or what it returned
        gather, n_bins, q_lim, multi_class
            As for the class. Intervals and sets are gathered where there are some.
        width_edges, hsic_bandwidth : optional
            As for the class; by default the quartiles of the widths of the first rows, at the
            first level, and the distance from the first quartile to the third. What is to be
            merged with the evidence of other tables needs the same in all.
        progress : callable, optional
            Called about ten times a second with the number of rows so far.
        missing, **roles
            As for `calibrant.io.scan`.
        """
        checked_callable(progress, "progress")
        rows = table if isinstance(table, Scan) else scan(table, missing=missing, **roles)
        if rows.roles.group is not None and not rows.roles.prob:
            raise ValueError(
                f"{rows.name}: groups are compared by their probabilities, and there are none; "
                "leave out group (--group), or name the probabilities"
            )
        if isinstance(gather, str) or not hasattr(gather, "__iter__"):
            raise TypeError(f"gather must be a sequence of names, got {gather!r}")
        if width_edges is None or hsic_bandwidth is None:
            quartiles = width_quartiles(rows)
            width_edges = edges_of(quartiles) if width_edges is None else width_edges
            hsic_bandwidth = bandwidth_of(quartiles) if hsic_bandwidth is None else hsic_bandwidth
        n_draws, truths = draws_of(rows)
        empty = cls(
            gather=gather if rows.roles.prob else (), n_bins=n_bins, q_lim=q_lim,
            levels=rows.roles.intervals.levels, width_edges=width_edges,
            hsic_bandwidth=hsic_bandwidth, sets=rows.roles.sets is not None,
            n_draws=n_draws, truths=truths,
            classes=rows.classes or (), multi_class=multi_class,
        )  # fmt: skip
        found = rows.reduce(lambda: Reader(empty.empty(), rows), progress).evidence
        if found.n + found.n_omitted == 0:
            raise ValueError(f"{rows.name}: there are no rows to score")
        found.groups = _in_order(found.groups)  # whichever thread came first
        found.source.update(rows.to_dict())
        return found

    @property
    def _counted(
        self,
    ) -> streaming.Scorecard | streaming.Intervals | streaming.PredictionSets | streaming.Ranks:
        found = (self.scorecard, self.intervals, self.sets, self.ranks)
        return max((part for part in found if part is not None), key=lambda part: part.n)

    @property
    def n(self) -> int:
        """The number of rows so far."""
        return self._counted.n

    @property
    def n_omitted(self) -> int:
        """The number of rows dropped because a value was missing."""
        return self._counted.n_omitted

    @property
    def table(self) -> streaming.ScoreTable | None:
        """A copy of the scorecard's table of scores; None where there are no probabilities."""
        return self.scorecard.table if self.scorecard.n else None

    def _gathered(self) -> Iterator[tuple[str, Accumulator[Any]]]:
        """What there is besides the scorecards."""
        for name in _PARTS:
            part = getattr(self, name)
            if part is not None:
                yield name, part

    def update(
        self,
        y_true: Any = None,
        y_proba: Any = None,
        *,
        intervals: Any = None,
        sets: Any = None,
        truth: Any = None,
        draws: Any = None,
        sample_weight: Any = None,
        groups: Any = None,
        nan_policy: NanPolicy = "raise",
    ) -> None:
        """Add a batch of rows to all accumulators, or to none if a row is rejected.

        The arguments are those of `calibrant.scorecard`, with labels as codes 0, 1, ..., of
        `streaming.Intervals`, and of `streaming.PredictionSets`; where there are ``classes``,
        sets hold these, or bits. ``truth`` and ``draws`` are those of `streaming.Ranks`.
        """
        rows = self.empty()
        batch = Batch(
            y_true, y_proba, sample_weight, groups, intervals, sets, truth=truth, draws=draws
        )
        seen = 0 if self.ranks is None else self.ranks.n + self.ranks.n_omitted
        add_batch(rows, batch, nan_policy, seen)
        with self._lock:
            self._merge(rows, ends=True)

    def _add_pairs(
        self, card: streaming.Scorecard, y_true: Any, y_proba: Any, weight: Any, omit: bool
    ) -> None:
        """Add the pairs of rows that the scorecard has; it becomes that of this evidence."""
        self.scorecard = card
        if self.assessment is not None and card._state.columns > 1:
            self.assessment._add(y_true, y_proba, weight, omit)

    def _leave_out(self, name: str, reason: str) -> None:
        setattr(self, name, None)
        # Of several reasons the same one whatever came first.
        self.left_out[name] = min(reason, self.left_out.get(name, reason))

    @property
    def _too_many_boxes(self) -> str:
        bandwidth = self._settings["hsic_bandwidth"]
        return f"the widths are spread over too many bandwidths of {bandwidth:g}; choose a larger"

    def _add_group(self, key: Any, card: streaming.Scorecard) -> None:
        """Add the rows of a group; the card stays here."""
        known = self.groups.get(key)
        self.groups[key] = card if known is None else known.merge(card)

    def empty(self) -> Self:
        """Return one like this without rows."""
        return type(self)(classes=self.classes, **self._settings)

    def merge(self, other: Self) -> Self:
        """Add the rows of another; both must have gathered the same with the same settings."""
        if not isinstance(other, Evidence):
            raise TypeError(f"cannot merge {type(other).__name__} into Evidence")
        if self.classes != other.classes:
            raise ValueError(f"cannot merge classes {other.classes} into {self.classes}")
        if self.truths != other.truths:
            raise ValueError(f"cannot merge truths {other.truths} into {self.truths}")
        other = other._still()
        with self._lock:
            self._merge(other)
        return self

    def _still(self) -> Self:
        """Return one with the accumulators of this moment; a merge puts others in their place."""
        made = type(self).__new__(type(self))
        with self._lock:
            made.__dict__.update(self.__dict__)
        return made

    def _merge(self, other: Self, *, ends: bool = False) -> None:
        """Merge another, whose groups are copied unless it ends here: they may be very many."""
        mine, others = dict(self._gathered()), dict(other._gathered())
        left_out = {**other.left_out, **self.left_out}
        for name in sorted((mine.keys() ^ others.keys()) - left_out.keys()):
            raise ValueError(f"cannot merge: only one of the two has gathered the {name}")
        self._check_widths(other)
        # Aside, so that whatever is rejected leaves all as it was.
        scorecard = self.scorecard.copy().merge(other.scorecard)
        merged = {}
        for name in mine.keys() - left_out.keys():
            try:
                merged[name] = mine[name].copy().merge(others[name])
            except ValueError:
                if name != "coverage_hsic":
                    raise
                left_out[name] = self._too_many_boxes
        for name, reason in left_out.items():
            known = (reason, self.left_out.get(name, reason), other.left_out.get(name, reason))
            left_out[name] = min(known)  # the same one whatever came first
        groups = dict(self.groups)
        for key, group in other.groups.items():
            if key in groups:
                groups[key] = groups[key].copy().merge(group)
            else:
                groups[key] = group if ends else group.copy()
        changed = {
            "scorecard": scorecard, **merged, **dict.fromkeys(left_out),
            "left_out": left_out, "groups": _in_order(groups),
            "source": self._merged_source(other.source),
        }  # fmt: skip
        self.__dict__.update(changed)  # at once, so that a signal finds all rows or none

    def _absorb(self, other: Self) -> None:
        """As `merge`, of one that ends here: its groups move, and are not held twice."""
        groups, other.groups = other.groups, {}
        self.merge(other)
        while groups:
            self._add_group(*groups.popitem())

    def _check_widths(self, other: Self) -> None:
        """What is chosen from the first rows of a table may differ from that of another."""
        for name in ("width_edges", "hsic_bandwidth"):
            mine, others = self._settings[name], other._settings[name]
            if mine != others:
                raise ValueError(
                    f"cannot merge: {name} is {mine} here and {others} there; "
                    f"read all tables with the same (--{name.replace('_', '-')})"
                )

    def _merged_source(self, other: dict[str, Any]) -> dict[str, Any]:
        files = self.source["files"]
        files = [*files, *(name for name in other["files"] if name not in files)]
        missing = dict(self.source["missing"])
        for column, n in other["missing"].items():
            missing[column] = missing.get(column, 0) + n
        return {**other, **self.source, "files": files, "missing": missing}

    def result(self, confidence_level: float = 0.95) -> scorecards.Scorecard:
        """Return the scorecard of the rows so far, with those of the groups."""
        still = self._still()
        card = still.scorecard.result(confidence_level)
        card = replace(card, note=still.source.get("y_proba", ""))
        for key in sorted_keys(still.groups):
            card.groups[key] = still.groups[key]._card(confidence_level)
        return card

    def rank_calibration(self, prob: float = 0.95) -> RankCalibration | None:
        """Return what the ranks of the truths say; None where there are none."""
        if self.ranks is None or self.ranks.n == 0:
            return None
        return self.ranks.result(prob=prob, names=self.truths)

    def to_dict(self) -> dict[str, Any]:
        """Return what it holds, ready for JSON: rows, classes, their source and the scorecard.

        The result is None where there is none: of no rows, or of no weight.
        """
        still = self._still()
        try:
            result = still.result().to_dict()
        except ValueError:
            result = None
        return {
            "kind": "Evidence",
            "n": still.n,
            "n_omitted": still.n_omitted,
            "classes": json_ready(still.classes),
            "source": json_ready(still.source),
            "result": json_ready(result),
        }

    def _parts(self) -> tuple[dict[str, Any], dict[str, bytes]]:
        still = self._still()
        states = {"scorecard": still.scorecard.to_bytes()}
        states |= {name: part.to_bytes() for name, part in still._gathered()}
        keys = sorted_keys(still.groups)
        states |= {f"group {i}": still.groups[key].to_bytes() for i, key in enumerate(keys)}
        head = {
            "settings": still._settings,
            "classes": list(still.classes),
            "groups": keys,
            "left_out": still.left_out,
            "source": still.source,
        }
        return head, states

    @classmethod
    def _of_parts(cls, head: dict[str, Any], states: dict[str, bytes]) -> Self:
        _check_head(head)
        made = cls(classes=head["classes"], **head["settings"])
        made.scorecard = streaming.Scorecard.from_bytes(states["scorecard"])
        for name, reason in head["left_out"].items():
            made._leave_out(name, reason)
        for name, part in made._gathered():
            found = type(part).from_bytes(states[name])
            if name == "assessment" and found._parameters() != part._parameters():
                raise ValueError("evidence is damaged: the assessment is not one of pairs")
            setattr(made, name, found)
        for i, key in enumerate(head["groups"]):
            made.groups[key] = streaming.Scorecard.from_bytes(states[f"group {i}"])
        made.source = dict(head["source"])
        return made

    def __repr__(self) -> str:
        groups = f", {len(self.groups)} groups" if self.groups else ""
        return f"Evidence(n={self.n}{groups})"


def _check_head(head: dict[str, Any]) -> None:
    """Raise ValueError for a head that no evidence has."""
    one = (str, int, float, bool)
    source = head.get("source")
    is_one = [
        isinstance(head.get("settings"), dict),
        _is_list_of(head.get("classes"), (*one, type(None))),
        _is_list_of(head.get("groups"), one) and len(set(head["groups"])) == len(head["groups"]),
        _is_dict_of(head.get("left_out"), str) and set(head["left_out"]) <= set(_PARTS),
        isinstance(source, dict)
        and _is_list_of(source.get("files"), str)
        and _is_dict_of(source.get("missing"), int),
    ]
    if not all(is_one):
        raise ValueError("evidence is damaged: its head is not that of any")


def _is_list_of(value: Any, kinds: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, kinds) for item in value)


def _is_dict_of(value: Any, kinds: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(item, kinds) for item in value.values())


def _in_order(groups: dict[Any, T]) -> dict[Any, T]:
    return {key: groups[key] for key in sorted_keys(groups)}


def sorted_keys(keys: Collection[Any]) -> list[Any]:
    """Return the keys in order; of several kinds, kind by kind."""
    return sorted(keys, key=lambda key: (type(key).__name__, key))
