"""Two or more models on the same rows: which is better at what, and could it be chance?"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibrant import _core, scorecards
from calibrant._input.columns import read_numbers
from calibrant._input.labels import class_codes, scored_columns
from calibrant._input.validation import MultiClass, NanPolicy, check_nan_policy
from calibrant._result import Result
from calibrant._runtime.public_module import public_in
from calibrant.scorecards._stream import Scorecard
from calibrant.scorecards._table import number_text
from calibrant.scores._differences import (
    SCORES,
    TOO_FEW_EVENTS,
    TOO_FEW_ROWS,
    Difference,
    ScoreDifferences,
    adjusted,
)
from calibrant.scores._paired_stream import PairedScores

__all__ = ["Comparison", "ComparisonSums", "Difference", "ScoreDifferences", "compare"]


def __dir__() -> list[str]:
    return __all__


@public_in("calibrant.comparison")
@dataclass(frozen=True, repr=False)
class Comparison(Result):
    """Models on the same rows.

    Attributes
    ----------
    scorecards : dict of Scorecard
        By the name of the model.
    differences : dict of ScoreDifferences
        By a pair of names. Adjusted p-values, and who is better, are for all pairs together.
    n, n_omitted : int
        Rows taken in, and rows dropped because a value was missing.
    confidence_level : float
        Of the intervals, each by itself.
    """

    scorecards: dict[str, scorecards.Scorecard]
    differences: dict[tuple[str, str], ScoreDifferences]
    n: int
    n_omitted: int
    confidence_level: float

    def to_dict(self) -> dict[str, Any]:
        """Return all as nested dicts and lists, ready for JSON."""
        return {
            "scorecards": {name: card.to_dict() for name, card in self.scorecards.items()},
            "differences": [
                {"first": first, "second": second, "score": score, **difference.to_dict()}
                for (first, second), scores in self.differences.items()
                for score, difference in scores
            ],
            **{f.name: getattr(self, f.name) for f in fields(self)[2:]},
        }

    def verdicts(self) -> list[str]:
        """Return a sentence for each pair: which model is better at what."""
        return [_verdict(pair, scores) for pair, scores in self.differences.items()]

    def __repr__(self) -> str:
        omitted = f", {self.n_omitted} omitted" if self.n_omitted else ""
        level = f"{100 * self.confidence_level:g}%"
        lines = [f"Comparison on {self.n} rows{omitted}, {level} intervals", *_values(self)]
        for (first, second), scores in self.differences.items():
            lines += ["", f"  {first} minus {second}"]
            lines += [_line(name, d, first, second) for name, d in scores]
        return "\n".join([*lines, "", *(f"  {text}" for text in self.verdicts())])


#: "Accuracy" is taken for the share of right answers.
_HEADS = {"accuracy": "geom. mean"}


def _values(comparison: Comparison) -> list[str]:
    names = ("brier", "log", "spherical", "hit_rate", "ece", "accuracy")
    cards = comparison.scorecards
    wide = max(len("model"), *map(len, cards))
    head = "".join(f"{_HEADS.get(name, name).replace('_', ' '):>11}" for name in names)
    rows = [
        f"  {name:<{wide}}" + "".join(f"{_number(getattr(card, n).value):>11}" for n in names)
        for name, card in cards.items()
    ]
    return [f"  {'model':<{wide}}{head}", *rows]


def _line(name: str, d: Difference, first: str, second: str) -> str:
    title = f"    {SCORES[name][0]:<15}"
    if d.value is None:
        return f"{title}  undefined: {d.reason}"
    if d.pvalue is None:
        return f"{title}  {_number(d.value):>9}  {d.reason}"
    interval = "no interval" if d.low is None else f"{_number(d.low)} to {_number(d.high)}"
    return f"{title}  {_number(d.value):>9}  {interval:<21}  {outcome(d, first, second)}"


def outcome(d: Difference, first: str, second: str) -> str:
    """Say which model is better, or that none is known to be."""
    if d.better:
        return f"{first if d.better == 'first' else second} is better"
    if d.low == d.high == 0.0:
        return "no difference"
    return "too few events to tell" if d.reason == TOO_FEW_EVENTS else "no clear winner"


def _number(x: float | None) -> str:
    return "undefined" if x is None else number_text(x)


def _verdict(pair: tuple[str, str], scores: ScoreDifferences) -> str:
    first, second = pair
    parts = []
    for side, better, worse in (("first", first, second), ("second", second, first)):
        won = [SCORES[score][0] for score, d in scores if d.better == side]
        if won:
            *others, last = won
            listed = f"{', '.join(others)} and {last}" if others else last
            parts.append(f"{better} is better than {worse} by {listed}")
    if parts:
        return f"{'; '.join(parts)}."
    return f"{first} and {second}: {_why_none([d for _, d in scores])}."


def _why_none(differences: list[Difference]) -> str:
    reasons = {d.reason for d in differences}
    if TOO_FEW_ROWS in reasons:
        return "too few rows to tell which is better"
    tested = [d for d in differences if d.pvalue is not None and not d.low == d.high == 0.0]
    if not tested:
        return "no score differs" if not any(reasons) else "no score can be compared"
    if any(d.reason == TOO_FEW_EVENTS for d in tested):
        return "too few events to tell which is better"
    return "chance may explain all differences"


@public_in("calibrant.comparison")
class ComparisonSums:
    """What `compare` sums up, for rows that come in batches.

    Parameters
    ----------
    models : sequence of str
        At least two names.
    n_bins, q_lim
        As for `calibrant.scorecard`.

    Examples
    --------
    >>> sums = ComparisonSums(["old", "new"])
    >>> sums.update([1, 0], {"old": [0.75, 0.5], "new": [0.75, 0.25]})
    >>> sums.result().differences["old", "new"].brier.value
    0.09375
    """

    def __init__(self, models: Any, *, n_bins: int = 15, q_lim: float = 0.0) -> None:
        if isinstance(models, str) or not hasattr(models, "__iter__"):
            raise TypeError(f"models must be a sequence of names, got {models!r}")
        names = [str(name) for name in models]
        if len(names) < 2 or len(set(names)) < len(names):
            raise ValueError(
                f"a comparison needs two models or more, of different names; got {names}"
            )
        self.scorecards = {name: Scorecard(n_bins=n_bins, q_lim=q_lim) for name in names}
        self.pairs: dict[tuple[str, str], PairedScores] = {
            pair: PairedScores(q_lim=q_lim) for pair in itertools.combinations(names, 2)
        }
        self._lock = _core.UseLock()

    def update(
        self,
        y_true: ArrayLike,
        probas: Mapping[str, ArrayLike],
        *,
        sample_weight: ArrayLike | None = None,
        pos_label: object | None = None,
        labels: ArrayLike | None = None,
        multi_class: MultiClass = "auto",
        nan_policy: NanPolicy = "raise",
    ) -> None:
        """Add a batch of rows; the arguments are those of `compare`."""
        _require_mapping(probas)
        if list(probas) != list(self.scorecards):
            raise ValueError(f"probas must be of {list(self.scorecards)}, got {list(probas)}")
        omit = check_nan_policy(nan_policy)
        probas = {
            name: scored_columns(p, multi_class, f"probas[{name!r}]") for name, p in probas.items()
        }
        first = next(iter(probas.values()))
        codes = class_codes(y_true, first, labels=labels, pos_label=pos_label)
        if omit:
            codes = without_gaps(codes, probas, sample_weight)
        batch = self.empty()
        for (one, other), pair in batch.pairs.items():
            pair._add(
                codes, probas[one], probas[other], sample_weight, omit,
                (f"probas[{one!r}]", f"probas[{other!r}]"),
            )  # fmt: skip
        for name, card in batch.scorecards.items():
            card._add(codes, probas[name], sample_weight, omit)
        self.merge(batch)

    def empty(self) -> ComparisonSums:
        """Return one like this without rows."""
        parameters: Any = next(iter(self.scorecards.values()))._parameters()
        return ComparisonSums(list(self.scorecards), **parameters)

    def merge(self, other: ComparisonSums) -> Self:
        """Add the rows of another comparison of the same models."""
        if not isinstance(other, ComparisonSums):
            raise TypeError(f"cannot merge {type(other).__name__} into ComparisonSums")
        if list(self.scorecards) != list(other.scorecards):
            raise ValueError(
                f"cannot merge models {list(other.scorecards)} into {list(self.scorecards)}"
            )
        their_cards, their_pairs = other._sums()
        with self._lock:
            # Aside, so that whatever is rejected leaves all as it was.
            cards = {name: c.copy().merge(their_cards[name]) for name, c in self.scorecards.items()}
            pairs = {pair: p.copy().merge(their_pairs[pair]) for pair, p in self.pairs.items()}
            self.scorecards, self.pairs = cards, pairs
        return self

    def _sums(self) -> tuple[dict[str, Scorecard], dict[tuple[str, str], PairedScores]]:
        """Return the scorecards and pairs of one moment; a merge puts others in their place."""
        with self._lock:
            return self.scorecards, self.pairs

    def __getstate__(self) -> dict[str, Any]:
        return dict(zip(("scorecards", "pairs"), self._sums(), strict=True))

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=_core.UseLock())

    @property
    def n(self) -> int:
        """The number of rows so far."""
        return next(iter(self.scorecards.values())).n

    def result(self, confidence_level: float = 0.95) -> Comparison:
        """Return the comparison of the rows so far.

        Raises
        ------
        ValueError
            If there is no row, or none with a positive weight.
        """
        all_cards, pairs = self._sums()
        cards = {name: card.result(confidence_level) for name, card in all_cards.items()}
        found = adjusted(
            (sums.result(confidence_level) for sums in pairs.values()), confidence_level
        )
        differences = dict(zip(pairs, found, strict=True))
        first = next(iter(all_cards.values()))
        return Comparison(cards, differences, first.n, first.n_omitted, confidence_level)


def compare(
    y_true: ArrayLike,
    probas: Mapping[str, ArrayLike],
    *,
    n_bins: int = 15,
    q_lim: float = 0.0,
    confidence_level: float = 0.95,
    sample_weight: ArrayLike | None = None,
    pos_label: object | None = None,
    labels: ArrayLike | None = None,
    multi_class: MultiClass = "auto",
    nan_policy: NanPolicy = "raise",
) -> Comparison:
    """Compare two models or more on the same rows.

    Parameters
    ----------
    y_true : array of shape (n,)
        Class codes, 0 to k - 1; or what pos_label or labels say.
    probas : dict of arrays, all of shape (n,) or all (n, k)
        The probabilities of each model, by its name.
    n_bins, q_lim, confidence_level
        As for `scorecard`.
    sample_weight, pos_label, labels, multi_class, nan_policy
        As for `brier_score`. With "omit", a row is left out if a value of any model is missing.

    Returns
    -------
    Comparison
        A scorecard for each model, and for each pair the differences of their scores, with
        intervals and p-values.

    Notes
    -----
    Differences are paired: of d_i = t_i(first) - t_i(second), the terms of row i, the mean and
    its standard error sqrt(sum w (d - mean)^2) / W are taken, W = sum w. What makes a row hard
    for both cancels. Calibration errors are no means over rows: they are in the scorecards, each
    with its own interval.

    A model is called better where chance would show such a difference in fewer than one of twenty
    comparisons of equal models, at the level of 95%, in any score of any pair. Both laws must
    leave no doubt: Student's, of the sample, and that of the outcomes if the truth were as far from
    the one model as from the other, which knows how rare events are. See docs/guide/comparison.md.

    Examples
    --------
    >>> y = [1, 0, 1, 1, 0, 0] * 5
    >>> bold, shy = [0.9, 0.1, 0.8, 0.9, 0.2, 0.1] * 5, [0.6, 0.5, 0.6, 0.5, 0.4, 0.5] * 5
    >>> compare(y, {"bold": bold, "shy": shy})
    Comparison on 30 rows, 95% intervals
      model      brier        log  spherical   hit rate        ece geom. mean
      bold     0.02000    0.14462    0.98597    1.00000    0.13333    0.86535
      shy      0.20500    0.60199    0.76958    0.66667    0.28333    0.54772
    <BLANKLINE>
      bold minus shy
        Brier score       -0.18500  -0.23164 to -0.13836   bold is better
        log score         -0.45736  -0.57924 to -0.31571   bold is better
        spherical score    0.21639  0.16276 to 0.27002     bold is better
        hit rate           0.33333  0.12920 to 0.53746     bold is better
    <BLANKLINE>
      bold is better than shy by Brier score, log score, spherical score and hit rate.
    """
    _require_mapping(probas)
    sums = ComparisonSums(probas, n_bins=n_bins, q_lim=q_lim)
    sums.update(
        y_true, {str(name): p for name, p in probas.items()}, sample_weight=sample_weight,
        pos_label=pos_label, labels=labels,
        multi_class=multi_class, nan_policy=nan_policy,
    )  # fmt: skip
    return sums.result(confidence_level)


def _require_mapping(probas: Any) -> None:
    if not isinstance(probas, Mapping):
        raise TypeError(f"probas must be a dict of arrays by model, got {type(probas).__name__}")


def without_gaps(codes: Any, probas: Mapping[str, Any], weight: Any) -> NDArray[np.float64]:
    """Labels that are missing wherever anything is, so that all models leave out the same rows."""
    labels = np.array(codes, np.float64)
    for values in (*probas.values(), weight):
        if values is not None and len(values) == len(labels):  # else the core rejects it
            gaps = np.isnan(_numbers(values))
            labels[gaps if gaps.ndim == 1 else gaps.any(axis=1)] = np.nan
    return labels


def _numbers(values: Any) -> NDArray[np.float64]:
    return read_numbers(values, "probas").astype(np.float64)
