"""Ranking: the ROC curve, the area under it, and accuracy against rejection.

These see only the order of the scores; the *predicted* ROC curve compares that with what the
scores themselves promise. Equal scores are one step, and nothing depends on the order of rows.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibrant import _core
from calibrant._input.labels import class_codes, event_rows
from calibrant._input.validation import MultiClass, NanPolicy, check_nan_policy, checked_choice
from calibrant._result import Result
from calibrant.cumulative._curve import check_max_points

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from calibrant.plotting import RocDisplay

__all__ = ["RocCurve", "accuracy_rejection_auc", "roc_auc", "roc_curve"]


def __dir__() -> list[str]:
    return __all__


@dataclass(frozen=True, repr=False, eq=False)
class RocCurve(Result):
    """The trade between hits and false alarms, actual and predicted.

    Attributes
    ----------
    false_positive_rates, true_positive_rates : arrays of shape (m,)
        The shares of the negatives and of the positives with a score of at least the threshold;
        both rise from 0 to 1.
    thresholds : array of shape (m,)
        Falling; the first is infinite, where no row is called positive.
    auc : float
        The area under the curve, of all points.
    auc_standard_error : float
        Its standard error [1]_; NaN where there is only one positive or only one negative.
    predicted_false_positive_rates, predicted_true_positive_rates : arrays of shape (m,)
        The rates that the scores promise at these thresholds: those expected if each score were
        the probability of a positive. NaN where all scores are 0, or all are 1.
    predicted_auc : float
        The area under that curve. Larger than auc: the scores promise too much.
    n, n_omitted : int
        Rows taken in, and rows dropped because a value was missing.

    References
    ----------
    .. [1] E. R. DeLong, D. M. DeLong, D. L. Clarke-Pearson, "Comparing the areas under two or
       more correlated receiver operating characteristic curves", Biometrics 44, 1988.
    """

    false_positive_rates: NDArray[np.float64]
    true_positive_rates: NDArray[np.float64]
    thresholds: NDArray[np.float64]
    auc: float
    auc_standard_error: float
    predicted_false_positive_rates: NDArray[np.float64]
    predicted_true_positive_rates: NDArray[np.float64]
    predicted_auc: float
    n: int = 0
    n_omitted: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return the fields by name, ready for JSON; what is infinite or NaN is None."""
        plain = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return {
            name: [_finite(x) for x in value.tolist()]
            if isinstance(value, np.ndarray)
            else _finite(value)
            for name, value in plain.items()
        }

    def plot(
        self, ax: Axes | None = None, *, name: str | None = None, **options: Any
    ) -> RocDisplay:
        """Draw the curve, and dashed the one that the scores predict.

        Needs matplotlib: ``pip install ".[plot]"``. The arguments are those of
        `calibrant.plotting.RocDisplay`.
        """
        from calibrant.plotting import RocDisplay

        return RocDisplay(self).plot(ax, name=name, **options)

    def __len__(self) -> int:
        return len(self.thresholds)

    def __repr__(self) -> str:
        return (
            f"RocCurve of {self.n} rows, {len(self)} points: auc={self.auc:.6g} "
            f"(standard error {self.auc_standard_error:.2g}), predicted {self.predicted_auc:.6g}"
        )


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def n_columns(y_proba: Any) -> int | None:
    """Return how many columns a table of shape (n, k) has; None for what is none."""
    shape = getattr(y_proba, "shape", None)
    if shape is not None:
        return int(shape[1]) if len(shape) == 2 else None
    if not isinstance(y_proba, (list, tuple)) or len(y_proba) == 0:
        return None
    return len(y_proba[0]) if isinstance(y_proba[0], (list, tuple, np.ndarray)) else None


@overload
def roc_auc(
    y_true: ArrayLike, y_proba: ArrayLike, *, average: Literal["macro", "weighted"] = ...,
    multi_class: Literal["ovr", "top_label"] = ..., sample_weight: ArrayLike | None = ...,
    pos_label: object | None = ..., labels: ArrayLike | None = ..., nan_policy: NanPolicy = ...,
) -> float: ...  # fmt: skip
@overload
def roc_auc(
    y_true: ArrayLike, y_proba: ArrayLike, *, average: None,
    multi_class: Literal["ovr", "top_label"] = ..., sample_weight: ArrayLike | None = ...,
    pos_label: object | None = ..., labels: ArrayLike | None = ..., nan_policy: NanPolicy = ...,
) -> float | NDArray[np.float64]: ...  # fmt: skip
def roc_auc(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    *,
    average: Literal["macro", "weighted"] | None = "macro",
    multi_class: Literal["ovr", "top_label"] = "ovr",
    sample_weight: ArrayLike | None = None,
    pos_label: object | None = None,
    labels: ArrayLike | None = None,
    nan_policy: NanPolicy = "raise",
) -> float | NDArray[np.float64]:
    """Area under the ROC curve: how often a positive scores higher than a negative.

    The share of all pairs of a positive and a negative row in which the positive has the higher
    score; ties count by half. 1 is a perfect ranking, 1/2 is none. Each pair counts the product of
    its weights. The share is a quotient of integers, rounded once.

    Parameters
    ----------
    y_true : array of shape (n,)
        Class codes, 0 to k - 1; class 1 is positive.
    y_proba : array of shape (n,) or (n, k), values in [0, 1]
        The probability of class 1, or of each class.
    average : {"macro", "weighted"} or None
        Of k classes, each against the rest: the plain mean, the mean weighted by the classes'
        weight, or all k of them.
    multi_class : {"ovr", "top_label"}
        Of k columns: each class against the rest; or how the largest probability of a row ranks
        the rows in which its class is right over those in which it is wrong, as in a scorecard.
        Two columns are a binary problem, as for `calibrant.risk_profile`, unless "top_label" or
        ``average=None`` asks for both.
    sample_weight : array of shape (n,), finite and not negative, optional
        A row of weight 2 counts like two rows.
    pos_label, labels, nan_policy
        As for `calibrant.risk_profile`.

    Raises
    ------
    ValueError
        If there are no positives or no negatives; of k classes, if one has no rows or all.

    See Also
    --------
    calibrant.streaming.ScoreTable.roc_auc : from a stream, with certain bounds

    Notes
    -----
    Nothing is sorted: pairs of scores far apart are decided by counts.

    Examples
    --------
    >>> roc_auc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.75
    >>> roc_auc([0, 2, 1, 1], [[0.6, 0.2, 0.2], [0.3, 0.4, 0.3], [0.3, 0.6, 0.1], [0.7, 0.3, 0.0]],
    ...         average=None)
    array([0.66666667, 0.75      , 1.        ])
    """
    checked_choice(average, "average", ("macro", "weighted", None))
    checked_choice(multi_class, "multi_class", ("ovr", "top_label"))
    omit = check_nan_policy(nan_policy)
    if multi_class == "ovr" and average is None:
        codes = class_codes(y_true, y_proba, labels=labels, pos_label=pos_label)
    else:
        codes, y_proba = event_rows(
            y_true, y_proba, labels=labels, pos_label=pos_label,
            multi_class="auto" if multi_class == "ovr" else "top_label",
        )  # fmt: skip
    if multi_class == "top_label":
        return _core.roc_auc(codes, y_proba, sample_weight, omit, _core.EITHER)[0]
    classes = n_columns(y_proba)
    if classes is None:
        return _core.roc_auc(codes, y_proba, sample_weight, omit, _core.BINARY)[0]
    areas, weights = _areas(codes, y_proba, sample_weight, omit, classes)
    if average is None:
        return np.array(areas)
    if average == "macro":
        return math.fsum(areas) / classes
    return math.fsum(a * w for a, w in zip(areas, weights, strict=True)) / math.fsum(weights)


def _areas(
    codes: Any, y_proba: Any, sample_weight: Any, omit: bool, classes: int
) -> tuple[list[float], list[float]]:
    areas, weights = [], []
    for k in range(max(classes, 1)):
        try:
            area, weight = _core.roc_auc(codes, y_proba, sample_weight, omit, k)
        except ValueError as error:
            if "not defined" in str(error):
                raise ValueError(f"{error} (class {k} against the rest)") from None
            raise
        areas.append(area)
        weights.append(weight)
    return areas, weights


def roc_curve(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    *,
    of_class: int | None = None,
    max_points: int | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: object | None = None,
    labels: ArrayLike | None = None,
    nan_policy: NanPolicy = "raise",
) -> RocCurve:
    """ROC curve, and the curve that the scores themselves predict.

    At the threshold t, the rates are those of the positives and of the negatives with s >= t. The
    predicted rates take each score s as s positives and 1 - s negatives [1]_:

        sum of s over s >= t / sum of s,    sum of (1 - s) over s >= t / sum of (1 - s).

    For calibrated scores the two agree; a predicted curve above the actual one tells of scores
    that promise too much (overconfident), below it of scores that promise too little.

    Parameters
    ----------
    y_true : array of shape (n,)
        Class codes, 0 to k - 1; class 1 is positive.
    y_proba : array of shape (n,) or (n, k), values in [0, 1]
        The probability of class 1, or of each class.
    of_class : int, optional
        Which class is positive, the rest being negative; needed for more than two columns, and
        only for columns. By default class 1 of two.
    max_points : int, at least 4, optional
        Keep no more: the ends, and along the whole curve the points furthest above and below the
        diagonal. By default all are kept, one for each score that occurs. The areas are always
        those of all points.
    sample_weight, pos_label, labels, nan_policy
        As for `calibrant.risk_profile`.

    Returns
    -------
    RocCurve

    References
    ----------
    .. [1] K. P. Nelson, "Assessing probabilistic inference by comparing the generalized mean of
       the model and source probabilities", Entropy 19 (6), 2017; figures 3 and 4.

    Examples
    --------
    >>> curve = roc_curve([0, 0, 1, 1], [0.125, 0.375, 0.375, 0.75])
    >>> curve.true_positive_rates, curve.false_positive_rates
    (array([0. , 0.5, 1. , 1. ]), array([0. , 0. , 0.5, 1. ]))
    >>> curve.auc, curve.thresholds
    (0.875, array([  inf, 0.75 , 0.375, 0.125]))
    >>> curve
    RocCurve of 4 rows, 4 points: auc=0.875 (standard error 0.18), predicted 0.742915
    """
    omit = check_nan_policy(nan_policy)
    check_max_points(max_points)
    classes = n_columns(y_proba)
    if classes is None and of_class is not None:
        raise ValueError("of_class is for y_proba of shape (n, k); pass pos_label for shape (n,)")
    known = of_class is not None and 0 <= of_class < (classes or 0)
    is_binary = classes == 2 and of_class is None
    if classes is not None and classes >= 2 and not known and not is_binary:
        raise ValueError(
            f"of_class must be a column of y_proba, 0 to {classes - 1}, got {of_class!r}"
        )
    codes, y_proba = event_rows(
        y_true, y_proba, labels=labels, pos_label=pos_label,
        multi_class="auto" if of_class is None else "top_label",
    )  # fmt: skip
    scoring = _core.BINARY if of_class is None else int(of_class)
    return RocCurve(**_core.roc_curve(codes, y_proba, sample_weight, omit, scoring, max_points))


def accuracy_rejection_auc(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: object | None = None,
    labels: ArrayLike | None = None,
    multi_class: MultiClass = "auto",
    nan_policy: NanPolicy = "raise",
) -> float:
    """Area under the curve of accuracy against rejection: is confidence worth acting upon?

    Reject the least confident rows first: the accuracy of the rows kept, averaged over all shares
    of rows rejected [1]_. Equal confidences are rejected together, so it is the mean over the rows
    of the accuracy among all rows that are at least as confident,

        sum over i of w_i acc({j: c_j >= c_i}) / sum of w_i.

    The confidence c is the largest probability of the row, and accurate is a row whose label is
    its class (the first of equals). 1 means that all is accurate, the accuracy itself that
    confidence says nothing.

    Parameters
    ----------
    y_true : array of shape (n,)
        Class codes, 0 to k - 1.
    y_proba : array of shape (n,) or (n, k), values in [0, 1]
        Of shape (n,), the larger of p and 1 - p, rounded to a double, is the confidence, and
        class 1 is meant from p = 1/2 on.
    sample_weight, pos_label, labels, multi_class, nan_policy
        As for `calibrant.risk_profile`.

    Notes
    -----
    Without ties this is MAPIE's ``auarc(y_true == prediction, confidence)``; that takes equal
    confidences in the order of the rows, so there shuffled rows have another area.

    References
    ----------
    .. [1] M. S. A. Nadeem, J.-D. Zucker, B. Hanczar, "Accuracy-rejection curves (ARCs) for
       comparing classification methods with a reject option", PMLR 8, 2009.

    Examples
    --------
    >>> accuracy_rejection_auc([1, 1, 0, 1], [0.9, 0.8, 0.7, 0.6])
    0.8541666666666666
    """
    omit = check_nan_policy(nan_policy)
    codes, y_proba = event_rows(
        y_true, y_proba, labels=labels, pos_label=pos_label, multi_class=multi_class
    )
    return _core.accuracy_rejection_auc(codes, y_proba, sample_weight, omit)
