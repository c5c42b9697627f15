"""Labels that are not class codes: names, or a positive class that is not 1."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["class_codes"]


def class_codes(y_true: Any, *, labels: ArrayLike | None, pos_label: object | None) -> Any:
    """Return y_true as codes 0, 1, ...; as it is when neither argument says otherwise.

    ``labels`` lists the classes in the order of the columns of y_proba; for a binary problem
    the negative class, then the positive one. ``pos_label`` names the positive class alone.
    """
    if labels is None and pos_label is None:
        return y_true
    values = np.asarray(y_true)
    if values.ndim != 1:
        raise ValueError(f"y_true must have shape (n,), got shape {values.shape}")
    if labels is None:
        return _positive(values, pos_label)
    if pos_label is not None:
        raise ValueError("pass labels or pos_label, not both: labels already names the order")
    return _positions(values, np.asarray(labels))


def _positive(values: np.ndarray, pos_label: object) -> np.ndarray:
    positive = np.asarray(values == pos_label)
    if positive.shape != values.shape:  # not comparable, as numbers and strings are not
        positive = np.zeros(values.shape, bool)
    others = np.unique(values[~positive])
    if others.size > 1:
        raise ValueError(
            f"y_true must hold pos_label={pos_label!r} and one other label, "
            f"found {others[0].item()!r} and {others[1].item()!r} besides it"
        )
    return positive


def _positions(values: np.ndarray, classes: np.ndarray) -> np.ndarray:
    if classes.ndim != 1 or classes.size < 2:
        raise ValueError(f"labels must list at least two classes, got shape {classes.shape}")
    order = np.argsort(classes, kind="stable")
    ordered = classes[order]
    same = np.flatnonzero(ordered[1:] == ordered[:-1])
    if same.size:
        raise ValueError(f"labels must be distinct, found {ordered[same[0]].item()!r} twice")
    try:
        slots = np.minimum(np.searchsorted(ordered, values), classes.size - 1)
        unknown = np.flatnonzero(ordered[slots] != values)
    except TypeError as error:
        raise TypeError(
            f"y_true and labels must be of one kind, got {values.dtype} and {classes.dtype}"
        ) from error
    if unknown.size:
        row = int(unknown[0])
        raise ValueError(f"y_true must be one of labels, found {values[row].item()!r} at row {row}")
    return order[slots]
