"""``mapie.metrics.conditional``: coverage by group, in slabs of the features, and as a risk.

MAPIE computes these by the package covmetrics, which needs torch; here neither is needed.
"""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibrant import _core
from calibrant.compat._arrays import array, column, numbers, same_length
from calibrant.compat.mapie._checks import check_levels, outcome_column

__all__ = ["coverage_gap", "excess_risk_target_coverage", "worst_slab_coverage"]

#: So many projections are sorted at a time, at 17 bytes each. Fewer are one product of matrices,
#: as covmetrics has it, so that they are the same to the last bit.
_MOST_PROJECTIONS = 1 << 23


def _covered_by_intervals(y: Any, y_intervals: Any) -> NDArray[np.bool_]:
    outcome = outcome_column(y, "y")
    bounds = numbers(y_intervals, "y_intervals")
    if bounds.ndim == 3 and bounds.shape[2] != 1:
        raise ValueError("y_intervals must have only one confidence level")
    if bounds.ndim not in (2, 3) or bounds.shape[1] != 2:
        raise ValueError(f"y_intervals must have shape (n, 2) or (n, 2, 1), got {bounds.shape}")
    same_length(y=outcome, y_intervals=bounds)
    bounds = bounds.reshape(len(bounds), 2)
    return np.asarray((outcome >= bounds[:, 0]) & (outcome <= bounds[:, 1]))


def _covered_by_sets(y: Any, y_sets: Any) -> NDArray[np.bool_]:
    classes = column(y, "y")
    sets = np.asarray(array(y_sets, "y_sets"), dtype=bool)
    if sets.ndim == 3 and sets.shape[2] != 1:
        raise ValueError("y_sets must have only one confidence level")
    if sets.ndim not in (2, 3):
        raise ValueError(f"y_sets must have shape (n, k) or (n, k, 1), got {sets.shape}")
    same_length(y=classes, y_sets=sets)
    if classes.dtype.kind not in "iu":
        raise ValueError(f"y must hold integer class labels, got {classes.dtype}")
    if classes.size and not (classes.min() >= 0 and classes.max() < sets.shape[1]):
        raise ValueError(f"y must lie in 0 to {sets.shape[1] - 1}, the classes of y_sets")
    places = np.arange(len(sets)) * sets.shape[1] + classes
    return np.asarray(np.ascontiguousarray(sets).reshape(-1)[places])


def _covered(y: Any, y_intervals: Any, y_sets: Any) -> NDArray[np.bool_]:
    if (y_intervals is None) == (y_sets is None):
        raise ValueError("pass either y_intervals or y_sets")
    covered = (
        _covered_by_sets(y, y_sets)
        if y_intervals is None
        else _covered_by_intervals(y, y_intervals)
    )
    if covered.size == 0:
        raise ValueError("y must have at least one row, got none")
    return covered


def _alpha(confidence_level: float) -> float:
    """Return 1 - confidence_level in decimals, as MAPIE has it: 1 - 0.9 is 0.1."""
    return float(Decimal(1) - Decimal(str(confidence_level)))


def _features(x: Any) -> NDArray[Any]:
    features = numbers(x, "x")
    if features.ndim != 2:
        raise ValueError(f"x must have shape (n, features), got {features.shape}")
    return features


def coverage_gap(
    y: ArrayLike,
    groups: ArrayLike,
    confidence_level: float,
    *,
    y_intervals: ArrayLike | None = None,
    y_sets: ArrayLike | None = None,
    weighted: bool = False,
) -> float:
    """Mean distance between the coverages of groups and the nominal level.

    Parameters
    ----------
    y : array of shape (n,)
    groups : integer array of shape (n,)
    confidence_level : float
    y_intervals, y_sets
        One of the two: bounds of shape (n, 2) or (n, 2, 1), or sets of shape (n, k) or (n, k, 1).
    weighted : bool
        Weight groups by their rows.

    Examples
    --------
    >>> y_intervals = [[0.0, 1.0], [0.0, 2.0], [1.0, 2.0], [4.0, 5.0]]
    >>> coverage_gap([0.0, 1.0, 2.0, 3.0], [0, 0, 1, 1], 0.75, y_intervals=y_intervals)
    0.25
    """
    check_levels(confidence_level)
    keys = column(groups, "groups")
    if keys.dtype.kind not in "iu":
        raise ValueError(f"groups must hold integers, got {keys.dtype}")
    covered = _covered(y, y_intervals, y_sets)
    same_length(y=covered, groups=keys)
    if not isinstance(weighted, bool):
        raise ValueError(f"weighted must be True or False, got {weighted!r}")
    rows, hits = _counts(keys, covered)
    gaps = np.abs(hits / rows - (1 - _alpha(confidence_level)))
    return float(np.sum(rows / len(keys) * gaps) if weighted else np.mean(gaps))


def _counts(
    keys: NDArray[Any], covered: NDArray[np.bool_]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the rows of each group, and how many of them are covered."""
    least = int(keys.min())
    if int(keys.max()) - least < max(len(keys), 1 << 16):
        codes = (keys - least).astype(np.intp)
    else:
        codes = np.unique(keys, return_inverse=True)[1]
    rows = np.bincount(codes)
    hits = np.bincount(codes[covered], minlength=len(rows))
    return rows[rows > 0], hits[rows > 0]


def worst_slab_coverage(
    x: ArrayLike,
    y: ArrayLike,
    *,
    y_intervals: ArrayLike | None = None,
    y_sets: ArrayLike | None = None,
    delta: Any = 0.1,
    n_directions: Any = 1000,
    random_state: int = 42,
) -> float:
    """Least coverage of a slab of the features, over random directions.

    A slab is what lies between two parallel planes and holds at least a share ``delta`` of the
    rows: rows that follow each other when sorted by their projection on the direction.

    Parameters
    ----------
    x : array of shape (n, features)
    y : array of shape (n,)
    y_intervals, y_sets
        As for `coverage_gap`.
    delta : float in (0, 1)
    n_directions : int
    random_state : int
        Seed of the directions, drawn from the stream of ``np.random.RandomState``.

    Examples
    --------
    >>> y_intervals = [[0.0, 1.0], [0.0, 2.0], [1.0, 2.0], [4.0, 5.0]]
    >>> worst_slab_coverage(
    ...     [[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 2.0, 3.0], y_intervals=y_intervals,
    ...     delta=0.5, n_directions=5,
    ... )
    0.5
    """
    features = _features(x)
    if not isinstance(delta, (float, int)) or not 0 < delta < 1:
        raise ValueError(f"delta must be a number in (0, 1), got {delta!r}")
    if not isinstance(n_directions, int) or n_directions < 1:
        raise ValueError(f"n_directions must be an integer of at least 1, got {n_directions!r}")
    covered = _covered(y, y_intervals, y_sets)
    same_length(x=features, y=covered)
    directions = np.random.RandomState(random_state).randn(n_directions, features.shape[1])
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    hits, rows = 1, 1
    at_once = max(_MOST_PROJECTIONS // len(covered), 1)
    for first in range(0, n_directions, at_once):
        projections = (features @ directions[first : first + at_once].T).T
        order = np.argsort(projections, axis=1)  # ties as NumPy leaves them
        slabs = covered.view(np.uint8)[order]
        hits, rows = _core.worst_slab(slabs, math.ceil(delta * len(covered)), hits, rows)
    return hits / rows


Loss = Callable[..., Any]


def excess_risk_target_coverage(
    x: ArrayLike,
    y: ArrayLike,
    confidence_level: float,
    *,
    y_intervals: ArrayLike | None = None,
    y_sets: ArrayLike | None = None,
    model_cls: type | None = None,
    model_kwargs: dict[str, Any] | None = None,
    n_splits: Any = 5,
    random_state: int = 42,
    loss: Loss | None = None,
    fit_kwargs: dict[str, Any] | None = None,
) -> float:
    """How much better a classifier foretells coverage from the features than the nominal level.

    The mean over folds of loss(level) - loss(classifier), on rows the classifier has not seen. Its
    training takes the time, so this is as fast as MAPIE's. Needs scikit-learn:
    ``pip install ".[sklearn]"``.

    Parameters
    ----------
    x : array of shape (n, features)
        Predictions are rounded to its type, as MAPIE does: pass floats.
    y, confidence_level, y_intervals, y_sets
        As for `coverage_gap`.
    model_cls : class, optional
        With ``fit`` and ``predict_proba``; by default ``HistGradientBoostingClassifier``.
    model_kwargs, fit_kwargs : dict, optional
        Arguments of the class, and of ``fit``.
    n_splits : int
        Folds.
    random_state : int
        Seed of the folds, and of the default classifier.
    loss : callable, optional
        ``loss(prediction, covered)``, or with a third argument ``alpha``. By default, the distance
        between coverage and level, with the sign that the prediction gives it.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> y = np.arange(12.0)
    >>> y_intervals = np.column_stack((y - 0.1, y + 0.1))
    >>> y_intervals[1::2, 0] = y[1::2] + 1.0
    >>> risk = excess_risk_target_coverage(
    ...     y[:, None], y, 0.5, y_intervals=y_intervals, model_cls=DummyClassifier,
    ...     model_kwargs={"strategy": "prior"}, n_splits=2,
    ... )
    >>> print(round(risk, 12))
    -0.166666666667
    """
    check_levels(confidence_level)
    features = _features(x)
    if not isinstance(n_splits, int) or n_splits < 2:
        raise ValueError(f"n_splits must be an integer of at least 2, got {n_splits!r}")
    covered = _covered(y, y_intervals, y_sets).astype(int)
    same_length(x=features, y=covered)
    try:
        from sklearn.ensemble import HistGradientBoostingClassifier
        from sklearn.model_selection import KFold
    except ImportError as error:
        raise ImportError(
            'excess_risk_target_coverage needs scikit-learn: pip install ".[sklearn]"'
        ) from error
    model_cls = model_cls or HistGradientBoostingClassifier
    model_kwargs = dict(model_kwargs or {})
    if model_cls is HistGradientBoostingClassifier:
        model_kwargs.setdefault("random_state", random_state)
    risk = _excess_risk(loss or _signed_distance, _alpha(confidence_level))
    risks = []
    folds = KFold(n_splits=n_splits, shuffle=True, random_state=random_state)
    for seen, unseen in folds.split(features):
        model = model_cls(**model_kwargs)
        model.fit(features[seen], covered[seen], **(fit_kwargs or {}))
        risks.append(risk(_foretold(model, features[unseen]), covered[unseen]))
    return float(np.mean(risks))


def _foretold(model: Any, x: NDArray[Any]) -> NDArray[Any]:
    if hasattr(model, "predict_proba"):
        return np.array(model.predict_proba(x)[:, 1], dtype=x.dtype)
    warnings.warn("the classifier has no predict_proba: predict is used", UserWarning, stacklevel=3)
    return np.array(np.clip(model.predict(x), 1e-5, 1 - 1e-5), dtype=x.dtype)


def _excess_risk(loss: Loss, alpha: float) -> Callable[[Any, Any], Any]:
    given = {"alpha": alpha} if "alpha" in inspect.signature(loss).parameters else {}

    def mean_loss(prediction: Any, covered: Any) -> Any:
        return np.mean(np.asarray(loss(prediction, covered, **given), dtype=float))

    return lambda prediction, covered: (
        mean_loss(1 - alpha, covered) - mean_loss(prediction, covered)
    )


def _signed_distance(prediction: Any, covered: NDArray[Any], alpha: float) -> NDArray[Any]:
    level = 1 - alpha
    return np.asarray(np.sign(prediction - level) * (level - covered))
