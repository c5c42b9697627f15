"""Whose number is it? The calibration error of the same rows, by every library's convention.

Libraries agree on the name and differ in where bins end, how many there are, and what is binned.
The conventions of others are written here in plain NumPy, from their definitions; none of those
libraries is needed. Values are theirs to rounding, for the versions named in the documentation.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from html import escape
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from calibrant._input.columns import read_numbers
from calibrant._input.labels import event_rows
from calibrant._input.validation import MultiClass, NanPolicy, check_nan_policy
from calibrant._result import Result
from calibrant.calibration import _errors as calibration
from calibrant.calibration._smooth import smooth_calibration_error

__all__ = ["Convention", "Conventions", "conventions"]


@dataclass(frozen=True)
class Convention(Result):
    """One library's answer.

    Attributes
    ----------
    library, call : str
    value : float
    reason : str
        Why it differs from the first row of the table.
    """

    library: str
    call: str
    value: float
    reason: str


@dataclass(frozen=True, repr=False)
class Conventions(Result):
    """A table of conventions and their values; iterate over it for the rows.

    Attributes
    ----------
    rows : tuple of Convention
    n, n_bins : int
    """

    rows: tuple[Convention, ...]
    n: int
    n_bins: int

    def __iter__(self) -> Iterator[Convention]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        wide = max(len(row.library) for row in self.rows)
        call = max(len(row.call) for row in self.rows)
        lines = [f"Calibration error of {self.n} rows, {self.n_bins} bins"]
        lines += [
            f"  {row.value:.6f}  {row.library:<{wide}}  {row.call:<{call}}  {row.reason}"
            for row in self.rows
        ]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        cells = "".join(
            f"<tr><td>{row.value:.6f}</td><td>{escape(row.library)}</td>"
            f"<td><code>{escape(row.call)}</code></td><td>{escape(row.reason)}</td></tr>"
            for row in self.rows
        )
        return (
            f"<table><caption>Calibration error of {self.n} rows, {self.n_bins} bins</caption>"
            "<thead><tr><th>value</th><th>library</th><th>call</th><th>why</th></tr></thead>"
            f"<tbody>{cells}</tbody></table>"
        )


def _binned(hit: np.ndarray, score: np.ndarray, bins: np.ndarray) -> float:
    """Sum over bins of |hits - scores|, per row; rows with a negative bin are left out."""
    kept = bins >= 0
    gaps = np.bincount(bins[kept], (hit - score)[kept])
    size = np.count_nonzero(kept)
    return float(np.abs(gaps).sum() / size) if size else math.nan


def _torch_edges(n_bins: int, dtype: Any) -> np.ndarray:
    """``torch.linspace(0, 1, n_bins + 1)``: by steps from both ends; down with an fma."""
    step = Fraction(float(dtype(1) / dtype(n_bins)))
    middle = (n_bins + 1) // 2
    steps = [k * step if k < middle else 1 - (n_bins - k) * step for k in range(n_bins + 1)]
    return np.array([float(edge) for edge in steps]).astype(dtype)


def _left_closed(hit: np.ndarray, score: np.ndarray, n_bins: int) -> float:
    """[a, b) in the type of the scores, and a bin of its own for 1: torchmetrics."""
    edges = _torch_edges(n_bins, score.dtype.type)
    return _binned(hit, score.astype(float), np.searchsorted(edges, score, "right"))


def _left_closed_by_product(hit: np.ndarray, score: np.ndarray, n_bins: int) -> float:
    """[a, b) by truncating score / (1 / n), and a bin of its own for 1: relplot."""
    return _binned(hit, score, (score / (1.0 / n_bins)).astype(int))


def _last_closed(hit: np.ndarray, score: np.ndarray, n_bins: int) -> float:
    """[a, b), the last with its right end: the textbook, and netcal by NumPy's histogram."""
    bins = np.searchsorted(np.linspace(0, 1, n_bins + 1), score, "right") - 1
    return _binned(hit, score, np.minimum(bins, n_bins - 1))


def _right_closed(hit: np.ndarray, score: np.ndarray, n_bins: int) -> float:
    """(a, b], the first with 0: the textbook, scikit-learn's curve, uncertainty-calibration."""
    return _binned(hit, score, np.searchsorted(np.linspace(0, 1, n_bins + 1)[1:-1], score, "left"))


def _by_edges(hit: np.ndarray, score: np.ndarray, edges: np.ndarray) -> float:
    """MAPIE: (a, b] after each edge; what lies beyond the last is left out."""
    bins = np.digitize(score, edges, right=True)
    return _binned(hit, score, np.where(bins < len(edges), bins, -1))


def _mapie_uniform(hit: np.ndarray, score: np.ndarray, n_bins: int) -> float:
    return _by_edges(hit, score, np.linspace(0.0, 1.0, n_bins))


def _mapie_quantile(hit: np.ndarray, score: np.ndarray, n_bins: int) -> float:
    return _by_edges(hit, score, np.percentile(score, np.linspace(0, 1, n_bins) * 100))


def _mapie_array_split(hit: np.ndarray, score: np.ndarray, n_bins: int) -> float:
    parts = np.array_split(score, n_bins)[:-1]
    return _by_edges(hit, score, np.sort([*(part.max() for part in parts), np.inf]))


def _mapie_top_label(hit: np.ndarray, score: np.ndarray, top: np.ndarray, n_bins: int) -> float:
    of_class = [
        _mapie_uniform(hit[top == label], score[top == label], n_bins) for label in np.unique(top)
    ]
    return float(np.mean(of_class))


def _equal_count(hit: np.ndarray, score: np.ndarray, n_bins: int) -> float:
    """Sorted rows cut into parts of equal count, ties by order of rows."""
    order = np.argsort(score, kind="stable")
    parts = np.array_split(order, n_bins)
    gaps = [abs(float((hit - score)[part].sum())) for part in parts]
    return float(np.sum(gaps) / score.size)


def _of_scores(
    hit: np.ndarray, score: np.ndarray, n_bins: int, *, single: bool
) -> list[Convention]:
    """What all libraries can do with one score a row; `single`: which came as float32."""
    found: dict[str, Any] = {"y_true": hit, "y_proba": score, "n_bins": n_bins}
    ours = calibration.expected_calibration_error
    rows = [
        ("calibrant", "expected_calibration_error", ours(**found), "n bins [a, b), 1 in the last"),
        ("textbook", "[a, b)", _last_closed(hit, score, n_bins), "edges of NumPy's linspace"),
        ("textbook", "(a, b]", _right_closed(hit, score, n_bins), "scores on an edge go left"),
        (
            "scikit-learn",
            "calibration_curve(strategy='uniform')",
            _right_closed(hit, score, n_bins),
            "(a, b], weighted by the bins' rows",
        ),
        (
            "uncertainty-calibration",
            "get_ece",
            _right_closed(hit, score, n_bins),
            "(a, b]",
        ),
        (
            "torchmetrics",
            "BinaryCalibrationError(norm='l1')",
            _left_closed(hit, score.astype(np.float32) if single else score, n_bins),
            "[a, b) with torch's edges, and 1 in a hidden extra bin",
        ),
        ("netcal", "ECE", _last_closed(hit, score, n_bins), "[a, b), 1 in the last"),
        (
            "relplot",
            "binnedECE",
            _left_closed_by_product(hit, score, n_bins),
            "[a, b) by division, and 1 in an extra bin",
        ),
        (
            "MAPIE",
            "expected_calibration_error('uniform')",
            _mapie_uniform(hit, score, n_bins),
            "n edges: n - 1 bins (a, b], and one for 0",
        ),
        (
            "MAPIE",
            "expected_calibration_error('quantile')",
            _mapie_quantile(hit, score, n_bins),
            "n - 1 equal counts, and a bin for the least score",
        ),
        (
            "MAPIE",
            "expected_calibration_error('array split')",
            _mapie_array_split(hit, score, n_bins),
            "parts of unsorted rows: depends on their order",
        ),
        (
            "calibrant",
            "strategy='quantile'",
            ours(**found, strategy="quantile"),
            "equal counts, ties never split",
        ),
        (
            "netcal",
            "ECE(equal_intervals=False)",
            _equal_count(hit, score, n_bins),
            "equal counts, ties split by order of rows",
        ),
        (
            "calibrant",
            "norm=2, debias=True",
            ours(**found, norm=2, debias=True),
            "root mean square, less the noise of the bins",
        ),
        (
            "calibrant",
            "smooth_calibration_error",
            smooth_calibration_error(hit, score),
            "no bins: a kernel (relplot's smECE)",
        ),
    ]
    return [Convention(*row) for row in rows]


def _of_classes(y: np.ndarray, proba: np.ndarray, n_bins: int) -> list[Convention]:
    top = proba.argmax(axis=1)
    score = proba.max(axis=1)
    hit = (y == top).astype(float)
    k = proba.shape[1]
    classwise = [_mapie_uniform((y == j).astype(float), proba[:, j], n_bins) for j in range(k)]
    ours = {
        average: calibration.top_label_ece(y, proba, n_bins=n_bins, average=average)
        for average in ("macro", "weighted", "pooled")
    }
    rows = [
        (
            "calibrant",
            "top_label_ece",
            ours["macro"],
            "unweighted mean over the predicted classes, [a, b)",
        ),
        (
            "calibrant",
            "top_label_ece(average='weighted')",
            ours["weighted"],
            "mean over the predicted classes by their rows (Gupta and Ramdas)",
        ),
        (
            "calibrant",
            "top_label_ece(average='pooled')",
            ours["pooled"],
            "largest probability, all classes pooled, [a, b)",
        ),
        (
            "torchmetrics",
            "MulticlassCalibrationError(norm='l1')",
            _left_closed(hit, score.astype(np.float32), n_bins),
            "pooled, [a, b) in float32, and 1 in a hidden extra bin",
        ),
        (
            "uncertainty-calibration",
            "get_ece(mode='top-label')",
            _right_closed(hit, score, n_bins),
            "pooled, (a, b]",
        ),
        ("netcal", "ECE", _last_closed(hit, score, n_bins), "pooled, [a, b), 1 in the last"),
        (
            "MAPIE",
            "expected_calibration_error(y_true == top)",
            _mapie_uniform(hit, score, n_bins),
            "pooled, n edges: n - 1 bins (a, b], and one for 0",
        ),
        (
            "MAPIE",
            "top_label_ece",
            _mapie_top_label(hit, score, top, n_bins),
            "unweighted mean over the predicted classes, n edges",
        ),
        (
            "calibrant",
            "classwise_ece",
            float(calibration.classwise_ece(y, proba, n_bins=n_bins)),
            "each class's own probability, then their mean",
        ),
        (
            "MAPIE",
            "expected_calibration_error(classwise=True)",
            float(np.mean(classwise)),
            "the same with n - 1 bins (a, b], and one for 0",
        ),
        (
            "calibrant",
            "smooth_calibration_error",
            smooth_calibration_error(y, proba),
            "no bins: a kernel over the pooled top labels",
        ),
    ]
    if k == 2:
        of_one = _last_closed((y == 1).astype(float), proba[:, 1], n_bins)
        rows.append(
            ("textbook", "probability of class 1", of_one, "not the confidence: [0, 1], not [½, 1]")
        )
    return [Convention(*row) for row in rows]


def conventions(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    *,
    n_bins: int = 10,
    pos_label: object | None = None,
    labels: ArrayLike | None = None,
    multi_class: MultiClass = "auto",
    nan_policy: NanPolicy = "raise",
) -> Conventions:
    """Which library's convention gives which value, on your own data.

    "ECE with 10 bins" is not one number: libraries close bins on different sides, give 1 a bin of
    its own, take 10 edges for 10 bins, or average over predicted classes. This evaluates them
    all, without needing any of them.

    Parameters
    ----------
    y_true : array of shape (n,)
    y_proba : array of shape (n,) or (n, k), values in [0, 1]
    n_bins : int
    pos_label, labels, multi_class, nan_policy
        As for `calibrant.risk_profile`.

    Returns
    -------
    Conventions

    Examples
    --------
    >>> table = conventions([0, 1, 1, 0], [0.2, 0.5, 1.0, 0.4], n_bins=2)
    >>> for row in list(table)[:3]:
    ...     print(f"{row.value:.3f} {row.library}: {row.reason}")
    0.275 calibrant: n bins [a, b), 1 in the last
    0.275 textbook: edges of NumPy's linspace
    0.025 textbook: scores on an edge go left
    """
    codes, y_proba = event_rows(
        y_true, y_proba, labels=labels, pos_label=pos_label, multi_class=multi_class
    )
    omit = check_nan_policy(nan_policy)
    calibration.reliability_bins(  # checks
        codes, y_proba, n_bins=n_bins, multi_class="top_label", nan_policy=nan_policy
    )
    y = read_numbers(codes, "y_true")
    proba = read_numbers(y_proba, "y_proba").astype(float)
    if omit:
        kept = ~(np.isnan(y.astype(float)) | np.isnan(proba.reshape(len(y), -1)).any(axis=1))
        y, proba = y[kept], proba[kept]
    if len(y) < n_bins:
        raise ValueError(f"conventions needs at least n_bins = {n_bins} rows, got {len(y)}")
    if proba.ndim == 1:
        single = getattr(y_proba, "dtype", None) == np.float32
        rows = _of_scores(y.astype(float), proba, n_bins, single=single)
    else:
        rows = _of_classes(y.astype(int), proba, n_bins)
    return Conventions(tuple(rows), len(y), n_bins)
