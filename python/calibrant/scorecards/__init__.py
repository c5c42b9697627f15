"""The scorecard: all headline numbers of the same rows at once, each with an interval."""

from __future__ import annotations

import numbers
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from calibrant import _core
from calibrant._input.bins import checked_number
from calibrant._input.groups import group_codes
from calibrant._input.labels import POSITIVE_COLUMN, event_rows
from calibrant._input.validation import MultiClass, NanPolicy, check_level, check_nan_policy
from calibrant._result import Result, for_json, json_key
from calibrant.calibration._errors import ReliabilityBins
from calibrant.scorecards._table import ROWS, as_html, as_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from calibrant.plotting import GroupsDisplay, ReliabilityDisplay

__all__ = ["Estimate", "Scorecard", "scorecard"]

#: The method of an interval of chance that also holds what is not known of the number itself.
WIDENED = "DeLong, certified"


def __dir__() -> list[str]:
    return __all__


@dataclass(frozen=True)
class Estimate:
    """A number and its confidence interval.

    ``float(estimate)`` is its value; comparing it with a number, ``round`` and formatting take the
    value, too. Where it is undefined they raise ValueError, which says why. Two estimates are
    equal if all their fields are.

    Attributes
    ----------
    value : float or None
        None where it is undefined; ``reason`` says why.
    low, high : float or None
        The ends of the interval; None where there is none.
    method : str
        How the interval was found: "Wilson" (of a frequency, corrected for continuity), "CLT"
        (of a mean whose variance is proportional to its distance from a perfect score), "delta"
        (of a function of such means), "bootstrap" (of sums per bin), "Clopper-Pearson" (of the
        largest of several frequencies), "DeLong", "certified" (not of chance: the number that all
        rows at once would give lies in it), "DeLong, certified" (of chance, and widened so that
        this number lies in it, too), or "none". docs/guide/scorecards.md has the formulas.
    reason : str
        Why the value or its interval is undefined; else empty.

    Examples
    --------
    >>> brier = scorecard([1, 0, 1], [0.75, 0.25, 0.5]).brier
    >>> f"{brier:.3f}", round(brier, 2), brier < 0.2
    ('0.125', 0.12, True)
    """

    value: float | None
    low: float | None
    high: float | None
    method: str
    reason: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the fields by name, ready for JSON; an infinite value is the text "inf"."""
        return {f.name: for_json(getattr(self, f.name)) for f in fields(self)}

    def __float__(self) -> float:
        if self.value is None:
            raise ValueError(f"the estimate is undefined: {self.reason}")
        return self.value

    def __round__(self, ndigits: int | None = None) -> float:
        return round(float(self), ndigits)

    def __format__(self, spec: str) -> str:
        return format(float(self), spec) if spec else str(self)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Estimate):
            return _fields(self) == _fields(other)
        return self.value == other if isinstance(other, numbers.Real) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.value)

    def __lt__(self, other: float | Estimate) -> bool:
        return float(self) < float(other) if _is_number(other) else NotImplemented

    def __le__(self, other: float | Estimate) -> bool:
        return float(self) <= float(other) if _is_number(other) else NotImplemented

    def __gt__(self, other: float | Estimate) -> bool:
        return float(self) > float(other) if _is_number(other) else NotImplemented

    def __ge__(self, other: float | Estimate) -> bool:
        return float(self) >= float(other) if _is_number(other) else NotImplemented


def _fields(estimate: Estimate) -> tuple[Any, ...]:
    return tuple(getattr(estimate, f.name) for f in fields(estimate))


def _is_number(other: object) -> bool:
    return isinstance(other, (numbers.Real, Estimate))


@dataclass(frozen=True, repr=False)
class Scorecard(Result):
    """All headline numbers of the same rows, each with a confidence interval.

    Every number is an `Estimate`. Iterating gives (name, estimate) in the order of the table.

    Attributes
    ----------
    base_rate : Estimate
        Frequency of class 1; for shape (n, k) of the most frequent class.
    hit_rate : Estimate
        How often the class that was most probable happened; for shape (n,) that is class 1
        where p >= 1/2.
    decisiveness, accuracy, robustness : Estimate
        The means of `calibrant.risk_profile`.
    brier, log, spherical, brier_skill : Estimate
        The scores of `calibrant.scores`.
    reliability, resolution, uncertainty : Estimate
        Murphy's parts of the Brier score over ``n_bins`` bins of equal width; for shape (n, k)
        of the Brier score of the top label and its hits.
    ece, mce : Estimate
        `calibrant.expected_calibration_error` and its maximum over the same bins; for shape (n, k)
        `calibrant.top_label_ece` with ``average="pooled"``.
    spiegelhalter_z, spiegelhalter_pvalue : Estimate
        Spiegelhalter's statistic and its two-sided p-value; for shape (n, k) of the top label.
    ks, ks_pvalue, kuiper, kuiper_pvalue : Estimate
        The statistics and p-values of `calibrant.ks_test` and `calibrant.kuiper_test`. From a
        stream of more than 4,096 rows they are known within certain bounds, which are the interval.
    auc : Estimate
        `calibrant.roc_auc`; for shape (n, k) with ``multi_class="top_label"``, how well the top
        label's probability ranks its hits. From a stream of more than 4,096 rows the interval is
        widened by certain bounds.
    class_frequencies : tuple of Estimate
        Of each class.
    groups : dict of Scorecard
        By the key of the group, where groups were given.
    bins : ReliabilityBins or None
        Those of ECE, to be drawn; None where no row has weight.
    note : str
        Which column was scored, where y_proba had two that sum to 1.
    n, n_omitted : int
        Rows taken in, and rows dropped because a value was missing.
    n_columns : int
        1 for a binary problem, k for y_proba of shape (n, k).
    n_bins, q_lim, confidence_level
        As they were given.
    """

    base_rate: Estimate
    hit_rate: Estimate
    decisiveness: Estimate
    accuracy: Estimate
    robustness: Estimate
    brier: Estimate
    reliability: Estimate
    resolution: Estimate
    uncertainty: Estimate
    brier_skill: Estimate
    log: Estimate
    spherical: Estimate
    ece: Estimate
    mce: Estimate
    spiegelhalter_z: Estimate
    spiegelhalter_pvalue: Estimate
    ks: Estimate
    ks_pvalue: Estimate
    kuiper: Estimate
    kuiper_pvalue: Estimate
    auc: Estimate
    class_frequencies: tuple[Estimate, ...] = ()
    groups: dict[Any, Scorecard] = field(default_factory=dict)
    bins: ReliabilityBins | None = field(default=None, compare=False)
    note: str = ""
    n: int = 0
    n_omitted: int = 0
    n_columns: int = 1
    n_bins: int = 15
    q_lim: float = 0.0
    confidence_level: float = 0.95

    @classmethod
    def _of(cls, found: _core._ScorecardResult, **parameters: Any) -> Scorecard:
        rows, frequencies, bins, n, n_omitted, n_columns = found
        estimates: dict[str, Any] = {name: Estimate(*numbers) for name, numbers in rows.items()}
        return cls(
            **estimates,
            class_frequencies=tuple(Estimate(*numbers) for numbers in frequencies),
            bins=None if bins is None else ReliabilityBins(*bins),
            n=n, n_omitted=n_omitted, n_columns=n_columns, **parameters,
        )  # fmt: skip

    def __iter__(self) -> Iterator[tuple[str, Estimate]]:
        return ((name, getattr(self, name)) for name in ROWS)

    def to_dict(self) -> dict[str, Any]:
        """Return all as nested dicts, ready for JSON.

        An infinite log score becomes the text "inf"; groups are a list of dicts with a ``key``,
        since keys need not be text.
        """
        plain: dict[str, Any] = {name: estimate.to_dict() for name, estimate in self}
        plain["class_frequencies"] = [estimate.to_dict() for estimate in self.class_frequencies]
        plain["groups"] = [
            {"key": json_key(key), **card.to_dict()} for key, card in self.groups.items()
        ]
        if self.note:
            plain["note"] = self.note
        for name in ("n", "n_omitted", "n_columns", "n_bins", "q_lim", "confidence_level"):
            plain[name] = getattr(self, name)
        return plain

    def plot(
        self, ax: Axes | None = None, *, name: str | None = None, **options: Any
    ) -> GroupsDisplay | ReliabilityDisplay:
        """Draw one number of each group, the worst on top; without groups, the reliability diagram.

        Needs matplotlib: ``pip install ".[plot]"``. The arguments are those of
        `calibrant.plotting.GroupsDisplay`, or `calibrant.plotting.ReliabilityDisplay`.
        """
        from calibrant.plotting import GroupsDisplay, ReliabilityDisplay

        if self.bins is None or self.groups:
            return GroupsDisplay(self).plot(ax, name=name, **options)
        if self.n_columns > 1:
            options.setdefault("xlabel", "probability of the top label")
        return ReliabilityDisplay(self.bins).plot(ax, name=name, **options)

    def __repr__(self) -> str:
        return as_text(self)

    def _repr_html_(self) -> str:
        return as_html(self)


def card_parameters(n_bins: Any, q_lim: Any) -> dict[str, Any]:
    """Return the parameters of a scorecard as the core takes them."""
    if not isinstance(q_lim, numbers.Real):
        raise TypeError(f"q_lim must be a real number, got {q_lim!r}")
    return {"n_bins": checked_number(n_bins), "q_lim": float(q_lim)}


def scorecard(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    *,
    groups: Any = None,
    n_bins: int = 15,
    q_lim: float = 0.0,
    confidence_level: float = 0.95,
    sample_weight: ArrayLike | None = None,
    pos_label: object | None = None,
    labels: ArrayLike | None = None,
    multi_class: MultiClass = "auto",
    nan_policy: NanPolicy = "raise",
) -> Scorecard:
    """All headline numbers at once, each with a confidence interval.

    Parameters
    ----------
    y_true : array of shape (n,)
        Class codes, 0 to k - 1, of any integer, bool or integral float type; or what pos_label
        or labels say.
    y_proba : array of shape (n,) or (n, k), values in [0, 1]
        The probability of class 1 of a binary problem, or of each class. Two columns are a binary
        problem, see multi_class. Of more, ECE, KS, AUC and all else that needs one score per row
        are of the top label: the largest probability, and whether its class happened.
    groups : array of shape (n,), optional
        A key for each row: integers, text or any objects that can be hashed, in a list, or an
        array of NumPy, pandas, polars or Arrow. Each group gets a card of its own, in
        ``groups`` of the result, in the same pass.
    n_bins : int
        Bins of equal width for ECE and for the parts of the Brier score.
    q_lim : float, 0 <= q_lim < 0.5
        Clip the probabilities of what happened to [q_lim, 1 - q_lim], for decisiveness,
        accuracy, robustness and the log score.
    confidence_level : float
        Of the intervals, each by itself.
    sample_weight : array of shape (n,), finite and not negative, optional
        A row of weight 2 counts like two rows.
    pos_label : optional
        The label of the positive class of a binary problem, where it is not 1.
    labels : sequence, optional
        The class labels in the order of y_proba's columns, where they are not 0 to k - 1; for
        a binary problem the negative, then the positive one.
    multi_class : {"auto", "top_label"}
        How shape (n, 2) is read. "auto": as a binary problem, whose second column is scored as if
        it were passed alone; its rows must sum to 1, up to 0.001. "top_label": as k classes are.
    nan_policy : {"raise", "omit"}
        What to do with NaN or missing values: reject them, or drop their rows and count them.
        With "omit", rows without a key are left out, too.

    Returns
    -------
    Scorecard
        Its numbers are the same bits as those of `risk_profile`, `brier_score`, `log_score`,
        `spherical_score`, `brier_skill_score`, `expected_calibration_error`, `ks_test`,
        `kuiper_test` and `roc_auc`; of more than two classes, AUC is that of
        ``roc_auc(..., multi_class="top_label")``, not of one class against the rest. What is
        undefined is None, with the reason.

    See Also
    --------
    calibrant.streaming.Scorecard : the same for batches and many machines

    Notes
    -----
    Frequencies have Wilson intervals, corrected for continuity. The interval of a mean of terms
    has the variance sum w (t - mean)^2 / W^2, W = sum w, and that of one row more, which hits or
    misses: so it has a width where the sample shows no variance. A weight counts as so many rows,
    and weights that sum to 1 leave too few rows for an interval. Accuracy, robustness and skill are
    functions of such means. ECE, its maximum, reliability and resolution are found bin by bin;
    docs/guide/scorecards.md says how, and how often each interval holds the truth.

    Examples
    --------
    >>> card = scorecard([1, 0, 1, 1], [0.75, 0.25, 0.5, 0.875], n_bins=4)
    >>> card.brier.value
    0.09765625
    >>> card.hit_rate
    Estimate(value=1.0, low=0.39577..., high=1.0, method='Wilson', reason='')
    """
    parameters = card_parameters(n_bins, q_lim)
    parameters["confidence_level"] = check_level(confidence_level)
    omit = check_nan_policy(nan_policy)
    codes, scored = event_rows(
        y_true, y_proba, labels=labels, pos_label=pos_label, multi_class=multi_class
    )
    note = "" if scored is y_proba else POSITIVE_COLUMN
    rows = (codes, scored, sample_weight, omit)
    if groups is None:
        return Scorecard._of(_core.scorecard(*rows, **parameters), **parameters, note=note)
    of_row, keys = group_codes(groups, omit=omit)
    *of_groups, total = _core.scorecards_by_group(*rows, of_row, len(keys), **parameters)
    cards = (Scorecard._of(found, **parameters) for found in of_groups)
    by_key = {key: card for key, card in zip(keys, cards, strict=True) if card.n or card.n_omitted}
    return Scorecard._of(total, **parameters, note=note, groups=by_key)
