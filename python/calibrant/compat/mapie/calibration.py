"""``mapie.metrics.calibration``: calibration errors, and tests by cumulative differences.

Where equal arguments could give unequal numbers, MAPIE's are given: ``num_bins`` counts edges,
"array split" depends on the order of rows, ties are broken by a seeded noise, and p-values are
one minus a truncated series. ``docs/reference/differences.md`` has the list, and what to use
instead.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibrant import _core
from calibrant.compat._arrays import array, as_double, column, numbers, renamed, same_length
from calibrant.compat._bins import percentiles, right_closed, right_closed_edges
from calibrant.compat.mapie._checks import (
    binary_labels,
    check_number_of_bins,
    outcome_column,
    zero_one,
)
from calibrant.compat.mapie._walks import AMPLITUDE, jittered, walk, walk_range

__all__ = [
    "add_jitter",
    "cumulative_differences",
    "expected_calibration_error",
    "kolmogorov_smirnov_cdf",
    "kolmogorov_smirnov_p_value",
    "kolmogorov_smirnov_statistic",
    "kuiper_cdf",
    "kuiper_p_value",
    "kuiper_statistic",
    "length_scale",
    "sort_xy_by_y",
    "spiegelhalter_p_value",
    "spiegelhalter_statistic",
    "top_label_ece",
]

RandomState = int | np.random.RandomState | None

_STRATEGIES = ("uniform", "quantile", "array split")
#: From here on, sorting keys with what belongs to them is faster than sorting indices.
_MANY_ROWS = 4096
#: The series of the limit laws end where a term is below this.
_SERIES_END = 1e-8
#: The limit laws are 1 above this. The number of terms grows with x, so that MAPIE's own functions
#: do not end where scores of almost no variance make a statistic of 1e150.
_SURELY_BELOW = 1e4


def _check_strategy(split_strategy: str | None) -> str:
    strategy = "uniform" if split_strategy is None else split_strategy
    if strategy not in _STRATEGIES:
        raise ValueError(f"split_strategy must be one of {_STRATEGIES}, got {split_strategy!r}")
    return strategy


def _edges(score: NDArray[Any], num_bins: int, strategy: str) -> NDArray[np.float64]:
    """Return the right ends of the bins."""
    if strategy == "uniform":
        return np.linspace(0.0, 1.0, num_bins)
    if strategy == "quantile":
        return percentiles(score, np.linspace(0, 1, num_bins))
    if score.size < num_bins - 1:
        raise ValueError(f"'array split' needs {num_bins - 1} rows or more, got {score.size}")
    sizes = np.full(num_bins, score.size // num_bins)
    sizes[: score.size % num_bins] += 1
    starts = np.cumsum(sizes) - sizes
    if num_bins == 1:
        return np.array([np.inf])
    largest = np.maximum.reduceat(score[: starts[-1]], starts[:-1])  # of all parts but the last
    return np.sort(np.append(largest, np.inf))


def _error(labels: NDArray[Any], score: NDArray[Any], num_bins: int, strategy: str) -> float:
    """Return the calibration error of one column; labels are 0 and 1."""
    with renamed(y_proba="y_scores", y_true="y_true"):
        if score.size and not (score.min() >= 0.0 and score.max() <= 1.0):
            _core.Reliability([0.0, 1.0]).update(labels, score, None, False, _core.BINARY)
        edges = _edges(score, num_bins, strategy)
        if num_bins == 1 and strategy != "array split":  # one edge: what lies beyond is lost
            kept = score <= edges[0]
            labels, score = labels[kept], score[kept]
            if score.size == 0:
                return float(np.divide(0.0, 0.0))
        table = right_closed(edges)
        table.update(labels, score, None, False, _core.BINARY)
        return table.mean_gap()


def expected_calibration_error(
    y_true: ArrayLike,
    y_scores: ArrayLike,
    num_bins: int = 50,
    split_strategy: str | None = None,
    classwise: bool = False,
    class_labels: ArrayLike | None = None,
) -> float:
    """Calibration error of confidences, as MAPIE bins them.

    Parameters
    ----------
    y_true : array of shape (n,)
        Whether the prediction was right, 0 or 1; not the class. Not used if classwise.
    y_scores : array of shape (n,) or (n, k), values in [0, 1]
        Confidences; of a matrix, the largest of each row.
    num_bins : int
        The number of *edges* of "uniform" and "quantile": one bin holds just the least.
    split_strategy : {"uniform", "quantile", "array split"}
        "array split" takes the maxima of consecutive rows for edges.
    classwise : bool
        The mean over classes of the errors of their columns.
    class_labels : array of shape (n,), optional
        The classes, 0 to k - 1, if classwise.

    Examples
    --------
    >>> expected_calibration_error([1, 0, 1, 1], [0.7, 0.3, 0.6, 0.9], num_bins=3)
    0.275
    """
    strategy = _check_strategy(split_strategy)
    num_bins = check_number_of_bins(num_bins)
    scores = array(y_scores, "y_scores")
    if classwise:
        return _classwise(scores, class_labels, num_bins, strategy)
    labels = binary_labels(column(y_true, "y_true"), "y_true")
    same_length(y_true=labels, y_scores=scores)
    scores = numbers(scores, "y_scores")
    score = _largest(scores)[1] if scores.ndim == 2 else column(scores, "y_scores")
    return _error(labels, score, num_bins, strategy)


def _classwise(scores: NDArray[Any], class_labels: Any, num_bins: int, strategy: str) -> float:
    if scores.ndim != 2:
        raise ValueError(f"y_scores must have shape (n, k) if classwise, got {scores.shape}")
    if class_labels is None:
        raise ValueError("class_labels must be given if classwise")
    labels = column(class_labels, "class_labels")
    same_length(class_labels=labels, y_scores=scores)
    numbers(scores, "y_scores")
    if len(labels) == 0:
        raise ValueError("y_scores must have at least one row, got none")
    errors = [_error(labels == c, scores[:, c], num_bins, strategy) for c in range(scores.shape[1])]
    return float(sum(errors) / len(errors))


def _largest(scores: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return column and value of the largest score of each row; they are finite."""
    if scores.shape[1] == 0 or scores.shape[0] == 0:
        raise ValueError(f"y_scores must have rows and columns, got shape {scores.shape}")
    return _core.largest_columns(np.ascontiguousarray(as_double(scores)))[:2]


def top_label_ece(
    y_true: ArrayLike,
    y_scores: ArrayLike,
    y_score_arg: ArrayLike | None = None,
    num_bins: int = 50,
    split_strategy: str | None = None,
    classes: ArrayLike | None = None,
) -> float:
    """Calibration error of each predicted class, and the plain mean over these classes.

    Parameters
    ----------
    y_true : array of shape (n,)
        The classes.
    y_scores : array of shape (n, k), or (n,) with y_score_arg
        Probabilities, or the largest of each row.
    y_score_arg : array of shape (n,), optional
        The predicted classes.
    num_bins, split_strategy
        As for `expected_calibration_error`.
    classes : array of shape (k,), optional
        What the columns are called.

    Examples
    --------
    >>> top_label_ece([0, 1, 1], [[0.75, 0.25], [0.25, 0.75], [0.75, 0.25]], num_bins=2)
    0.25
    """
    strategy = _check_strategy(split_strategy)
    num_bins = check_number_of_bins(num_bins)
    labels, scores = outcome_column(y_true, "y_true"), numbers(y_scores, "y_scores")
    same_length(y_true=labels, y_scores=scores)
    if y_score_arg is not None:
        predicted = outcome_column(y_score_arg, "y_score_arg")
        same_length(y_true=labels, y_score_arg=predicted)
        score = column(scores, "y_scores")
    else:
        if scores.ndim != 2:
            raise np.exceptions.AxisError(1, scores.ndim, "y_scores without y_score_arg")
        predicted, score = _largest(scores)
        if classes is not None:
            predicted = array(classes, "classes")[predicted]
    return _label_error(labels == predicted, predicted, score, num_bins, strategy)


def _label_error(
    hits: NDArray[Any], predicted: NDArray[Any], score: NDArray[Any], num_bins: int, strategy: str
) -> float:
    """Return the mean over predicted labels of the errors of their rows."""
    if predicted.size == 0:
        raise ValueError("y_true must have at least one row, got none")
    codes, n_labels = _label_codes(predicted)
    with renamed(y_proba="y_scores", y_true="y_true"):
        if not (score.min() >= 0.0 and score.max() <= 1.0):
            _core.Reliability([0.0, 1.0]).update(hits, score, None, False, _core.BINARY)
        if strategy == "uniform":
            edges = [_edges(score, num_bins, strategy)]
        else:
            order = np.argsort(codes, kind="stable")
            ends = np.cumsum(np.bincount(codes, minlength=n_labels))[:-1]
            edges = [_edges(part, num_bins, strategy) for part in np.split(score[order], ends)]
        if num_bins == 1 and strategy != "array split":  # one edge: what lies beyond is lost
            last = np.array([edge[0] for edge in edges])[codes if len(edges) > 1 else 0]
            kept = score <= last
            if np.unique(codes[kept]).size < n_labels:  # a label of which nothing is left
                return float(np.divide(0.0, 0.0))
            hits, score, codes = hits[kept], score[kept], codes[kept]
        closed = [right_closed_edges(of_label) for of_label in edges]
        codes = codes.astype(np.int32)
        return _core.label_errors(
            hits, score, None, False, closed, 0, False, 1, False, codes, n_labels
        )[0]


def _label_codes(values: NDArray[Any]) -> tuple[NDArray[Any], int]:
    """Return labels as codes without gaps, of 16 bits if few, which sort fast; their number."""
    if values.dtype.kind in "iu" and int(values.max()) - int(values.min()) < 1 << 16:
        codes = (values - values.min()).astype(np.uint16)
        counts = np.bincount(codes)
        if counts.all():
            return codes, len(counts)
        return (np.cumsum(counts > 0) - 1).astype(np.uint16)[codes], int((counts > 0).sum())
    labels, codes = np.unique(values, return_inverse=True)
    return codes, len(labels)


def add_jitter(
    x: NDArray[Any], noise_amplitude: float = AMPLITUDE, random_state: RandomState = None
) -> NDArray[Any]:
    """Return x times 1 + a normal noise, from the stream of ``np.random.RandomState``.

    Examples
    --------
    >>> add_jitter(np.arange(3), random_state=1)
    array([0.        , 0.99999999, 1.99999999])
    """
    return np.asarray(jittered(array(x, "x"), noise_amplitude, random_state))


def sort_xy_by_y(x: NDArray[Any], y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return both in ascending order of y; ties as NumPy's default sort leaves them.

    Examples
    --------
    >>> sort_xy_by_y([1, 2, 3], [0.3, 0.1, 0.2])
    (array([2, 3, 1]), array([0.1, 0.2, 0.3]))
    """
    x, y = column(x, "x"), column(y, "y")
    is_word = x.dtype.itemsize == 8 and x.dtype.kind in "iuf"
    if len(x) == len(y) >= _MANY_ROWS and is_word and y.dtype == np.float64:
        values = np.ascontiguousarray(x).view(np.uint64)
        keys, ordered, tied = _core.sort_pairs(np.ascontiguousarray(y), values)
        if not tied:
            return ordered.view(x.dtype), keys
    order = np.argsort(y)
    return x[order], y[order]


def cumulative_differences(
    y_true: NDArray[Any],
    y_score: NDArray[Any],
    noise_amplitude: float = AMPLITUDE,
    random_state: RandomState = 1,
) -> NDArray[np.float64]:
    """Return the sums of y_true - y_score over the lowest scores, by n.

    Ties are broken by a noise on the scores, which depends on the order of rows.

    Examples
    --------
    >>> cumulative_differences([1, 0, 0], [0.7, 0.3, 0.6])
    array([-0.1, -0.3, -0.2])
    """
    labels, score = numbers(y_true, "y_true"), numbers(y_score, "y_score")
    same_length(y_true=labels, y_score=score)
    scores = column(jittered(score, noise_amplitude, random_state), "y_score")
    return walk(column(labels, "y_true"), as_double(scores))


def length_scale(s: NDArray[Any]) -> float:
    """Return the root of the sum of s (1 - s), by n: what cumulative differences may come to.

    Examples
    --------
    >>> length_scale([0.5, 0.5, 0.5, 0.5])
    0.25
    """
    s = array(s, "s")
    if s.dtype == np.float64 and s.ndim == 1 and s.size:
        total = _core.score_variance(s)
        return (math.sqrt(total) if total >= 0.0 else float(np.sqrt(total))) / len(s)
    return float(np.sqrt(np.sum(s * (1 - s))) / len(s))


def _tested(y_true: Any, y_score: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Read what the tests compare: labels 0 and 1, and probabilities."""
    labels = zero_one(column(y_true, "y_true"), "y_true")
    score = column(y_score, "y_score")
    same_length(y_true=labels, y_score=score)
    if score.dtype.kind not in "biuf":
        raise TypeError(f"y_score must hold real numbers, got {score.dtype}")
    return labels, score


def _walk_statistic(y_true: Any, y_score: Any, *, of_range: bool) -> float:
    labels, score = _tested(y_true, y_score)
    if not (score.min() >= 0.0 and score.max() <= 1.0) or not _is_zero_one(labels):
        with renamed(y_proba="y_score"):  # names what is wrong, and where
            _core.Spiegelhalter().update(labels, score, None, False)
    highest, lowest = walk_range(labels, score)
    distance = highest - lowest if of_range else max(highest, -lowest)
    return float(np.float64(distance) / length_scale(score))


def _is_zero_one(labels: NDArray[Any]) -> bool:
    """Whether integers are; of floats, the walk falls back to MAPIE's own sums, so look."""
    if labels.dtype.kind == "b":
        return True
    if labels.dtype.kind in "iu":
        return bool(labels.min() >= 0 and labels.max() <= 1)
    return bool(((labels == 0) | (labels == 1)).all())


def kolmogorov_smirnov_statistic(y_true: NDArray[Any], y_score: NDArray[Any]) -> float:
    """Largest distance of the cumulative differences from 0, by `length_scale`.

    Examples
    --------
    >>> print(round(kolmogorov_smirnov_statistic([0, 1, 1], [0.25, 0.5, 0.75]), 6))
    0.632456
    """
    return _walk_statistic(y_true, y_score, of_range=False)


def kolmogorov_smirnov_cdf(x: float) -> float:
    """Law of the largest distance of a Brownian motion from 0; the series as MAPIE ends it.

    Examples
    --------
    >>> print(round(kolmogorov_smirnov_cdf(1), 4))
    0.3708
    """
    if _SURELY_BELOW < x < np.inf:
        return 1.0
    terms = np.ceil(
        0.5 + x * np.sqrt(2) / np.pi * np.sqrt(np.log(4 / (np.pi * np.float64(_SERIES_END))))
    )
    total = 0.0
    for k in range(int(terms)):
        half = k + 0.5
        total += (-1) ** k / half * np.exp(-(half**2) * np.pi**2 / (2 * x**2))
    return total * (2 / np.pi)


def kolmogorov_smirnov_p_value(y_true: NDArray[Any], y_score: NDArray[Any]) -> float:
    """One minus the law at the statistic; below 1e-10 it is noise, of either sign.

    Examples
    --------
    >>> y_true, y_score = [1, 0, 1, 0, 1, 0], [0.8, 0.3, 0.5, 0.5, 0.7, 0.1]
    >>> print(round(kolmogorov_smirnov_p_value(y_true, y_score), 4))
    0.7857
    """
    return 1 - kolmogorov_smirnov_cdf(kolmogorov_smirnov_statistic(y_true, y_score))


def kuiper_statistic(y_true: NDArray[Any], y_score: NDArray[Any]) -> float:
    """Range of the cumulative differences, by `length_scale`; their start, 0, is not in it.

    Examples
    --------
    >>> print(round(kuiper_statistic([0, 1, 1], [0.25, 0.5, 0.75]), 6))
    0.948683
    """
    return _walk_statistic(y_true, y_score, of_range=True)


def kuiper_cdf(x: float) -> float:
    """Law of the range of a Brownian motion; the series as MAPIE ends it.

    Examples
    --------
    >>> print(round(kuiper_cdf(1), 4))
    0.0634
    """
    if _SURELY_BELOW < x < np.inf:
        return 1.0
    end = np.log(4 / (np.sqrt(2 * np.pi) * np.float64(_SERIES_END)) * (1 / x + x / np.pi**2))
    terms = np.ceil(0.5 + x / (np.pi * np.sqrt(2)) * np.sqrt(end))
    total = 0.0
    for k in range(int(terms)):
        half = k + 0.5
        total += (8 / x**2 + 2 / half**2 / np.pi**2) * np.exp(-2 * half**2 * np.pi**2 / x**2)
    return total


def kuiper_p_value(y_true: NDArray[Any], y_score: NDArray[Any]) -> float:
    """One minus the law at the statistic.

    Examples
    --------
    >>> y_true, y_score = [1, 0, 1, 0, 1, 0], [0.8, 0.3, 0.5, 0.5, 0.7, 0.1]
    >>> print(round(kuiper_p_value(y_true, y_score), 4))
    0.9684
    """
    return 1 - kuiper_cdf(kuiper_statistic(y_true, y_score))


def spiegelhalter_statistic(y_true: NDArray[Any], y_score: NDArray[Any]) -> float:
    """Spiegelhalter's z; NaN, with a warning, where no score leaves anything open.

    Examples
    --------
    >>> print(round(spiegelhalter_statistic([0, 1, 0, 1, 0], [0.1, 0.9, 0.21, 0.9, 0.5]), 3))
    -0.757
    """
    labels, score = _tested(y_true, y_score)
    state = _core.Spiegelhalter()
    with renamed(y_proba="y_score"):
        state.update(labels, score, None, False)
        found = state.statistic()
    if found == 0.0 or math.isinf(found):  # perhaps by 0 / 0 or x / 0, which MAPIE leaves undefined
        away = 1 - 2 * as_double(score)
        spread = np.sqrt(np.sum(away**2 * score * (1 - score)))
        return float(np.sum((labels - as_double(score)) * away) / spread)
    return found


def spiegelhalter_p_value(y_true: NDArray[Any], y_score: NDArray[Any]) -> float:
    """One-sided: the probability of a larger z. Too little confidence gives 1.

    Examples
    --------
    >>> y_true, y_score = [1, 0, 1, 0, 1, 0], [0.8, 0.3, 0.5, 0.5, 0.7, 0.1]
    >>> print(round(spiegelhalter_p_value(y_true, y_score), 4))
    0.8486
    """
    return 1 - 0.5 * math.erfc(-spiegelhalter_statistic(y_true, y_score) / math.sqrt(2))
