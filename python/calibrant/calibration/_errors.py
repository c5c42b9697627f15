"""Reliability tables, and the calibration errors that are read off them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from calibrant import _core
from calibrant._input.bins import Strategy, edges_or_number
from calibrant._input.columns import read_numbers, shape_of
from calibrant._input.labels import class_codes, event_rows
from calibrant._input.validation import (
    MultiClass,
    NanPolicy,
    check_nan_policy,
    checked_choice,
    checked_flag,
)
from calibrant._result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from calibrant.plotting import ReliabilityDisplay

__all__ = [
    "ReliabilityBins",
    "classwise_ece",
    "expected_calibration_error",
    "maximum_calibration_error",
    "mean_calibration_error",
    "reliability_bins",
    "top_label_ece",
]

Norm = Literal[1, 2, "max"]
LabelAverage = Literal["macro", "weighted", "pooled"]


@dataclass(frozen=True, repr=False, eq=False)
class ReliabilityBins(Result):
    """What was predicted and what happened, per bin of scores.

    Attributes
    ----------
    edges : array of shape (n_bins + 1,)
        Bin k is [edges[k], edges[k + 1]); the last also holds its right edge.
    counts : array of shape (n_bins,), int
        Rows.
    weights : array of shape (n_bins,)
        The sum of their weights; the counts where there are none.
    hits : array of shape (n_bins,)
        The sum of weights of the rows that are hits.
    mean_scores, frequencies : arrays of shape (n_bins,)
        The weighted means of scores and of hits; NaN in empty bins.
    n, n_omitted : int
        Rows taken in, and rows dropped because a value was missing.
    """

    edges: np.ndarray
    counts: np.ndarray
    weights: np.ndarray
    hits: np.ndarray
    mean_scores: np.ndarray
    frequencies: np.ndarray
    n: int = 0
    n_omitted: int = 0

    @classmethod
    def _of(cls, state: _core.Reliability) -> ReliabilityBins:
        return cls(*state.bins())

    def to_dict(self) -> dict[str, object]:
        """Return the fields by name, ready for JSON; means of empty bins are None."""
        plain = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {
            name: [None if x != x else x for x in value.tolist()]
            if isinstance(value, np.ndarray)
            else value
            for name, value in plain.items()
        }

    def plot(
        self, ax: Axes | None = None, *, name: str | None = None, **options: Any
    ) -> ReliabilityDisplay:
        """Draw the reliability diagram, with a band of chance and a histogram of the scores.

        Needs matplotlib: ``pip install ".[plot]"``. The arguments are those of
        `calibrant.plotting.ReliabilityDisplay`.
        """
        from calibrant.plotting import ReliabilityDisplay

        return ReliabilityDisplay(self).plot(ax, name=name, **options)

    def __len__(self) -> int:
        return len(self.counts)

    def __repr__(self) -> str:
        rows = [f"ReliabilityBins of {self.n} rows", "  from    to      rows  score   frequency"]
        last = len(self) - 1
        for k, count in enumerate(self.counts):
            if last > 20 and 10 <= k <= last - 10:
                if k == 10:
                    rows.append(f"  ... {last - 19} more bins")
                continue
            means = f"{self.mean_scores[k]:.4f}  {self.frequencies[k]:.4f}" if count else ""
            rows.append(
                f"  {self.edges[k]:.4f}  {self.edges[k + 1]:.4f}  {count:<8d}{means}".rstrip()
            )
        return "\n".join(rows)


def check_norm(norm: object) -> Any:
    """Return the norm, 1, 2 or "max"; raise ValueError if it is none."""
    return checked_choice(norm, "norm", (1, 2, "max"))


def _table(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    bins: int | Sequence[float] | np.ndarray,
    strategy: str,
    sample_weight: ArrayLike | None,
    nan_policy: str,
    scoring: int,
) -> _core.Reliability:
    omit = check_nan_policy(nan_policy)
    edges, number, clustered = edges_or_number(bins, strategy)
    if number:
        find = _core.clustered_edges if clustered else _core.equal_count_edges
        edges = find(y_true, y_proba, sample_weight, omit, scoring, number)
    table = _core.Reliability(edges)
    table.update(y_true, y_proba, sample_weight, omit, scoring)
    return table


def _check_error(norm: object, debias: bool) -> Any:
    found = check_norm(norm)
    if checked_flag(debias, "debias") and found != 2:
        raise ValueError(f"debias needs norm=2: no unbiased estimator is known for norm={norm!r}")
    return found


def calibration_error(table: _core.Reliability, norm: object, debias: bool) -> float:
    """Read an error off a table."""
    _check_error(norm, debias)
    if norm == 1:
        return table.mean_gap()
    return table.largest_gap() if norm == "max" else table.root_mean_square_gap(debias)


def reliability_bins(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    *,
    n_bins: int | Sequence[float] | np.ndarray = 15,
    strategy: Strategy = "uniform",
    sample_weight: ArrayLike | None = None,
    pos_label: object | None = None,
    labels: ArrayLike | None = None,
    multi_class: MultiClass = "auto",
    nan_policy: NanPolicy = "raise",
) -> ReliabilityBins:
    """Mean score and frequency of hits, per bin of scores.

    Parameters
    ----------
    y_true : array of shape (n,)
        Class codes, 0 to k - 1.
    y_proba : array of shape (n,) or (n, k), values in [0, 1]
        The score is the probability of class 1, a hit is label 1; with k columns the score is
        the largest probability of the row, and a hit that its class (the first of equals) is
        the label.
    n_bins : int, or the edges themselves
        Edges must not fall and must cover [0, 1].
    strategy : {"uniform", "quantile", "kmeans"}
        Bins of equal width; of equal count as far as ties allow; or clusters of similar scores,
        those with the least sum of squared distances from their means.
    sample_weight, pos_label, labels, multi_class, nan_policy
        As for `calibrant.risk_profile`.

    Returns
    -------
    ReliabilityBins

    Examples
    --------
    >>> reliability_bins([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], n_bins=2)
    ReliabilityBins of 4 rows
      from    to      rows  score   frequency
      0.0000  0.5000  3       0.2833  0.3333
      0.5000  1.0000  1       0.8000  1.0000
    """
    codes, y_proba = event_rows(
        y_true, y_proba, labels=labels, pos_label=pos_label, multi_class=multi_class
    )
    return ReliabilityBins._of(
        _table(codes, y_proba, n_bins, strategy, sample_weight, nan_policy, _core.EITHER)
    )


def expected_calibration_error(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    *,
    n_bins: int | Sequence[float] | np.ndarray = 15,
    strategy: Strategy = "uniform",
    norm: Norm = 1,
    debias: bool = False,
    sample_weight: ArrayLike | None = None,
    pos_label: object | None = None,
    labels: ArrayLike | None = None,
    multi_class: MultiClass = "auto",
    nan_policy: NanPolicy = "raise",
) -> float:
    """Expected calibration error of the probabilities of a binary problem.

    With f_k the frequency of label 1 in bin k, s_k its mean score and w_k its share of the
    rows: sum w_k \\|f_k - s_k\\| for norm 1, the root of sum w_k (f_k - s_k)^2 for norm 2, and
    the largest \\|f_k - s_k\\| for "max".

    Parameters
    ----------
    y_true : array of shape (n,)
        0 or 1.
    y_proba : array of shape (n,), values in [0, 1]
    n_bins, strategy, sample_weight, pos_label, labels, multi_class, nan_policy
        As for `reliability_bins`.
    norm : {1, 2, "max"}
    debias : bool
        For norm 2: take the sampling variance f_k (1 - f_k) / (n_k - 1) off each bin's square
        [1]_, n_k being its weight. Without, the error of perfect probabilities grows with the
        number of bins. Bins of a weight below 2 are left out, and a negative total gives 0.

    References
    ----------
    .. [1] A. Kumar, P. Liang, T. Ma, "Verified uncertainty calibration", NeurIPS 2019.

    Examples
    --------
    >>> expected_calibration_error([0, 0, 1, 1], [0.125, 0.375, 0.25, 0.75], n_bins=2)
    0.125
    """
    codes, y_proba = event_rows(
        y_true, y_proba, labels=labels, pos_label=pos_label, multi_class=multi_class
    )
    return calibration_error(
        _table(codes, y_proba, n_bins, strategy, sample_weight, nan_policy, _core.BINARY),
        norm,
        debias,
    )


def maximum_calibration_error(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    *,
    n_bins: int | Sequence[float] | np.ndarray = 15,
    strategy: Strategy = "uniform",
    sample_weight: ArrayLike | None = None,
    pos_label: object | None = None,
    labels: ArrayLike | None = None,
    multi_class: MultiClass = "auto",
    nan_policy: NanPolicy = "raise",
) -> float:
    """Largest gap between frequency and mean score over the bins.

    It is `expected_calibration_error` with ``norm="max"``; a bin of few rows can decide it.

    Examples
    --------
    >>> maximum_calibration_error([0, 0, 1, 1], [0.125, 0.375, 0.25, 0.75], n_bins=2)
    0.25
    """
    return expected_calibration_error(
        y_true, y_proba, n_bins=n_bins, strategy=strategy, norm="max",
        sample_weight=sample_weight, pos_label=pos_label, labels=labels,
        multi_class=multi_class, nan_policy=nan_policy,
    )  # fmt: skip


def mean_calibration_error(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: object | None = None,
    labels: ArrayLike | None = None,
    multi_class: MultiClass = "auto",
    nan_policy: NanPolicy = "raise",
) -> float:
    """Mean score less frequency of hits: are the probabilities too high, or too low, on average?

    Positive where they are too high, negative where they are too low. It is the bias of the
    forecast, and what clinical prediction calls mean calibration or calibration-in-the-large
    [1]_, with the opposite sign where that is observed less expected.

    Parameters
    ----------
    y_true : array of shape (n,)
        Class codes, 0 to k - 1.
    y_proba : array of shape (n,) or (n, k), values in [0, 1]
        The score is the probability of class 1, a hit is label 1; with k columns the score is
        the largest probability of the row, and a hit that its class is the label: then a positive
        value is overconfidence.
    sample_weight, pos_label, labels, multi_class, nan_policy
        As for `calibrant.risk_profile`.

    Notes
    -----
    With scores s, hits y and weights w it is sum w (s - y) / sum w, exact but for one rounding. Its
    magnitude is at most that of `expected_calibration_error` with whatever bins, which is equal
    where the gaps of all bins have the same sign: it is 0 also where errors of opposite sign
    cancel, and so says nothing alone.

    References
    ----------
    .. [1] B. Van Calster et al., "A calibration hierarchy for risk models was defined: from utopia
       to empirical data", Journal of Clinical Epidemiology 74, 2016.

    Examples
    --------
    >>> mean_calibration_error([0, 0, 1, 1], [0.25, 0.5, 0.75, 1.0])
    0.125
    >>> mean_calibration_error([0, 0, 1, 1], [0.25, 0.25, 0.5, 0.5])
    -0.125
    """
    codes, y_proba = event_rows(
        y_true, y_proba, labels=labels, pos_label=pos_label, multi_class=multi_class
    )
    whole = [0.0, 1.0]
    return _table(
        codes, y_proba, whole, "uniform", sample_weight, nan_policy, _core.EITHER
    ).mean_difference()


def top_label_ece(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    *,
    average: LabelAverage = "macro",
    n_bins: int | Sequence[float] | np.ndarray = 15,
    strategy: Strategy = "uniform",
    norm: Norm = 1,
    debias: bool = False,
    sample_weight: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    nan_policy: NanPolicy = "raise",
) -> float:
    """Calibration error of the confidence in the predicted label.

    The predicted label is the class with the largest probability of the row, the first of
    equals; the score is that probability, and a hit is that its class is the label.

    Parameters
    ----------
    y_true : array of shape (n,)
    y_proba : array of shape (n, k), values in [0, 1]
    average : {"macro", "weighted", "pooled"}
        "macro" computes an error for the rows of each predicted label, with bins of their own, and
        returns the plain mean of the errors, as MAPIE does. "weighted" weights them by the rows of
        the label [1]_. "pooled" computes one error of all rows, whatever label they predict: the
        confidence calibration of [2]_, with which errors of opposite sign cancel where two labels
        are predicted with like probabilities. Labels that are never predicted do not count.
    n_bins, strategy, norm, debias, sample_weight, labels, nan_policy
        As for `expected_calibration_error`.

    Notes
    -----
    With L the labels that are predicted, n_j the rows that predict j and B_ij those of them in bin
    i, "macro" with norm 1 is 1/L sum_j sum_i |B_ij| / n_j \\|acc(B_ij) - conf(B_ij)\\|.

    References
    ----------
    .. [1] C. Gupta, A. Ramdas, "Top-label calibration and multiclass-to-binary reductions", ICLR
       2022.
    .. [2] C. Guo, G. Pleiss, Y. Sun, K. Q. Weinberger, "On calibration of modern neural networks",
       ICML 2017.

    Examples
    --------
    >>> y_true, y_proba = [0, 1, 1], [[0.75, 0.25], [0.25, 0.75], [0.75, 0.25]]
    >>> top_label_ece(y_true, y_proba, n_bins=1)
    0.25
    >>> top_label_ece(y_true, y_proba, n_bins=1, average="pooled")
    0.08333333333333333
    """
    checked_choice(average, "average", ("macro", "weighted", "pooled"))
    codes = class_codes(y_true, y_proba, labels=labels, pos_label=None)
    if average == "pooled":
        return calibration_error(
            _table(codes, y_proba, n_bins, strategy, sample_weight, nan_policy, _core.TOP_LABEL),
            norm,
            debias,
        )
    omit = check_nan_policy(nan_policy)
    edges, number, clustered = edges_or_number(n_bins, strategy)
    found = _check_error(norm, debias)
    code = 0 if found == "max" else found
    macro, weighted = _core.label_errors(
        codes, y_proba, sample_weight, omit, [edges], number, clustered, code, debias, None, 0
    )
    return macro if average == "macro" else weighted


def _is_table(y_true: ArrayLike) -> bool:
    return len(shape_of(y_true) or ()) == 2


def classwise_ece(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    *,
    n_bins: int | Sequence[float] | np.ndarray = 15,
    strategy: Strategy = "uniform",
    norm: Norm = 1,
    debias: bool = False,
    average: bool = True,
    sample_weight: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    nan_policy: NanPolicy = "raise",
) -> float | np.ndarray:
    """Calibration error of each class's probability, averaged over the classes.

    Parameters
    ----------
    y_true : array of shape (n,), or (n, k) for a multilabel problem
        Class codes; or, per row and label, 0 or 1.
    y_proba : array of shape (n, k), values in [0, 1]
    average : bool
        The mean over the classes, or an array with the error of each.
    n_bins, strategy, norm, debias, sample_weight, labels, nan_policy
        As for `expected_calibration_error`.

    Examples
    --------
    >>> classwise_ece([0, 1], [[0.75, 0.25], [0.25, 0.75]], n_bins=2, average=False)
    array([0.25, 0.25])
    """
    if _is_table(y_true):
        indicators = read_numbers(y_true, "y_true")
        scores = read_numbers(y_proba, "y_proba")
        if indicators.shape != scores.shape:
            raise ValueError(
                f"y_true and y_proba must have the same shape, got {indicators.shape} "
                f"and {scores.shape}"
            )
        tables = [
            _table(y, p, n_bins, strategy, sample_weight, nan_policy, _core.BINARY)
            for y, p in zip(indicators.T, scores.T, strict=True)
        ]
        errors = np.array([calibration_error(table, norm, debias) for table in tables])
    else:
        omit = check_nan_policy(nan_policy)
        edges, number, clustered = edges_or_number(n_bins, strategy)
        found = _check_error(norm, debias)
        codes = class_codes(y_true, y_proba, labels=labels, pos_label=None)
        code = 0 if found == "max" else found
        errors = _core.classwise_errors(
            codes, y_proba, sample_weight, omit, edges, number, clustered, code, debias
        )
    return float(errors.mean()) if checked_flag(average, "average") else errors
