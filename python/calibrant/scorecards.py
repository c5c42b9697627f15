"""The scorecard: all headline numbers of the same rows at once, each with an interval."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from calibrant import _core, _scorecard_table
from calibrant._bins import checked_number
from calibrant._groups import group_codes
from calibrant._labels import class_codes
from calibrant._result import Result, for_json, json_key
from calibrant._scorecard_table import ROWS
from calibrant._settings import NanPolicy, check_nan_policy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from calibrant.plotting import GroupsDisplay

__all__ = ["Estimate", "Scorecard", "scorecard"]

NOROWS = "no row of this group has weight"


@dataclass(frozen=True)
class Estimate:
    """A number and its confidence interval.

    Attributes
    ----------
    value : float or None
        None where it is undefined; ``reason`` says why.
    low, high : float or None
        The ends of the interval; None where there is none.
    method : str
        How the interval was found: "Wilson", "CLT", "delta", "bootstrap", "DeLong", "certified"
        (not of chance: the number that all rows at once would give lies in it), or "none".
    reason : str
        Why the value or its interval is undefined; else empty.
    """

    value: float | None
    low: float | None
    high: float | None
    method: str
    reason: str = ""

    @classmethod
    def _of(cls, numbers: tuple[float, float, float, str], method: str) -> Estimate:
        value, low, high, reason = numbers
        if math.isnan(low):
            method = "none"
        return cls(_or_none(value), _or_none(low), _or_none(high), method, reason)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields by name, ready for JSON; an infinite value is the text "inf"."""
        return {f.name: for_json(getattr(self, f.name)) for f in fields(self)}


def _or_none(x: float) -> float | None:
    return None if math.isnan(x) else x


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
        `calibrant.expected_calibration_error` and its maximum over the same bins.
    spiegelhalter_z, spiegelhalter_pvalue : Estimate
        Spiegelhalter's statistic and its two-sided p-value; for shape (n, k) of the top label.
    ks, ks_pvalue, kuiper, kuiper_pvalue : Estimate
        The statistics and p-values of `calibrant.ks_test` and `calibrant.kuiper_test`. From a
        stream they are known within certain bounds, which are the interval.
    auc : Estimate
        `calibrant.roc_auc`; for shape (n, k) that of the top label's probability and hit. From
        a stream the interval is widened by the bounds.
    class_frequencies : tuple of Estimate
        Of each class.
    groups : dict of Scorecard
        By the key of the group, where groups were given.
    n, n_omitted : int
        Rows taken in, and rows dropped because a value was missing.
    n_columns : int
        1 for y_proba of shape (n,), k for shape (n, k).
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
    n: int = 0
    n_omitted: int = 0
    n_columns: int = 1
    n_bins: int = 15
    q_lim: float = 0.0
    confidence_level: float = 0.95

    @classmethod
    def _of(
        cls,
        state: _core.Scorecard,
        confidence_level: float,
        ordered: dict[str, tuple[float, float, float, str]],
    ) -> Scorecard:
        quantile = normal_quantile(confidence_level)
        named = {
            "n": state.n,
            "n_omitted": state.n_omitted,
            "n_columns": state.columns,
            "n_bins": state.n_bins,
            "q_lim": state.q_lim,
            "confidence_level": confidence_level,
        }
        if not state.has_weight:
            nothing = Estimate(None, None, None, "none", NOROWS)
            return cls(**dict.fromkeys(ROWS, nothing), **named)  # type: ignore[arg-type]
        found = {**state.estimates(confidence_level, quantile), **ordered}
        estimates = {
            name: Estimate._of(found[name], method)
            for name, (_, method, _) in ROWS.items()
            if name in found
        }
        estimates["spiegelhalter_pvalue"] = _pvalue(estimates["spiegelhalter_z"])
        frequencies = tuple(
            Estimate._of(numbers, "Wilson") for numbers in state.class_frequencies(quantile)
        )
        return cls(**estimates, class_frequencies=frequencies, **named)  # type: ignore[arg-type]

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
        for name in ("n", "n_omitted", "n_columns", "n_bins", "q_lim", "confidence_level"):
            plain[name] = getattr(self, name)
        return plain

    def plot(
        self, ax: Axes | None = None, *, name: str | None = None, **options: Any
    ) -> GroupsDisplay:
        """Draw one number of each group with its interval, the worst on top.

        Needs matplotlib: ``pip install "calibrant[plot]"``. The arguments are those of
        `calibrant.plotting.GroupsDisplay`.
        """
        from calibrant.plotting import GroupsDisplay

        return GroupsDisplay(self).plot(ax, name=name, **options)

    def __repr__(self) -> str:
        return _scorecard_table.as_text(self)

    def _repr_html_(self) -> str:
        return _scorecard_table.as_html(self)


def normal_quantile(confidence_level: float) -> float:
    """Return how many standard errors an interval reaches to either side."""
    return -NormalDist().inv_cdf(0.5 * (1.0 - confidence_level))


def _pvalue(z: Estimate) -> Estimate:
    """Two-sided, of a standard normal statistic."""
    if z.value is None:
        return z
    return Estimate(float(_core.normal_two_sided([z.value])[0]), None, None, "none")


def check_level(confidence_level: Any) -> float:
    """Return it as a float, or say what is wrong with it."""
    if not isinstance(confidence_level, numbers.Real):
        raise TypeError(f"confidence_level must be a real number, got {confidence_level!r}")
    level = float(confidence_level)
    if not 0.0 < level < 1.0:
        raise ValueError(f"confidence_level must lie strictly between 0 and 1, got {level}")
    return level


def core_card(n_bins: Any, q_lim: Any, *, with_table: bool) -> _core.Scorecard:
    """Make an empty accumulator of the core; with a table, for what needs order in a stream."""
    if not isinstance(q_lim, numbers.Real):
        raise TypeError(f"q_lim must be a real number, got {q_lim!r}")
    return _core.Scorecard(checked_number(n_bins), float(q_lim), with_table)


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
    nan_policy: NanPolicy = "raise",
) -> Scorecard:
    """All headline numbers at once, each with a confidence interval.

    Parameters
    ----------
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
    y_true, y_proba, sample_weight, pos_label, labels, nan_policy
        As for `brier_score`. With "omit", rows without a key are left out, too.

    Returns
    -------
    Scorecard
        Its numbers are the same bits as those of `risk_profile`, `brier_score`, `log_score`,
        `spherical_score`, `brier_skill_score`, `expected_calibration_error`, `ks_test`,
        `kuiper_test` and `roc_auc`. What is undefined is None, with the reason.

    See Also
    --------
    calibrant.streaming.Scorecard : the same for batches and many machines

    Notes
    -----
    Frequencies have Wilson intervals. A mean of terms t has the interval mean +- z s, where
    s^2 = sum w (t - mean)^2 / W^2 and W = sum w: a weight counts as so many rows, so weights
    that sum to 1 make intervals as wide as one row would. Accuracy, robustness and skill are
    functions of such means (delta method; the first two on the scale of logarithms). ECE, its
    maximum, reliability and resolution are bootstrapped, bin by bin; docs/scorecard.md says how.

    Examples
    --------
    >>> card = scorecard([1, 0, 1, 1], [0.75, 0.25, 0.5, 0.875], n_bins=4)
    >>> card.brier.value
    0.09765625
    >>> card.hit_rate
    Estimate(value=1.0, low=0.51010..., high=1.0, method='Wilson', reason='')
    """
    level = check_level(confidence_level)
    omit = check_nan_policy(nan_policy)
    codes = class_codes(y_true, y_proba, labels=labels, pos_label=pos_label)
    state = core_card(n_bins, q_lim, with_table=False)
    rows = (codes, y_proba, sample_weight, omit)
    if groups is None:
        state.update(*rows)
        state.require_weight()
        return Scorecard._of(state, level, _core.order_statistics(*rows, normal_quantile(level)))
    of_row, keys = group_codes(groups, omit=omit)
    states = state.by_group(*rows, of_row, len(keys))
    for part in states:
        state.merge(part)
    state.require_weight()
    quantile = normal_quantile(level)
    ordered = _core.order_statistics_by_group(*rows, of_row, len(keys), quantile)
    if of_row.size and of_row.min() < 0:  # rows without a key do not count
        with_key = np.minimum(of_row, 0)
        (total,) = _core.order_statistics_by_group(*rows, with_key, 1, quantile)
    else:
        total = _core.order_statistics(*rows, quantile)
    card = Scorecard._of(state, level, total)
    card.groups.update(
        (key, Scorecard._of(part, level, numbers))
        for key, part, numbers in zip(keys, states[:-1], ordered, strict=True)
        if part.n or part.n_omitted
    )
    return card
