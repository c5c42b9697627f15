"""Labels that are not class codes: names, or a positive class that is not 1."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["class_codes"]


def class_codes(
    y_true: Any, y_proba: Any, *, labels: ArrayLike | None, pos_label: object | None
) -> Any:
    """Return y_true as codes 0, 1, ...; as it is when neither argument says otherwise.

    ``labels`` lists the classes in the order of the columns of y_proba; for a binary problem
    the negative class, then the positive one. ``pos_label`` names the positive class alone.
    Missing labels (NaN, None) become NaN, which is refused or omitted later on.
    """
    if labels is None and pos_label is None:
        return y_true
    if isinstance(y_true, np.ma.MaskedArray):
        raise TypeError("y_true must not be a masked array: its mask would be lost")
    values = np.asarray(y_true)
    if values.ndim != 1:
        raise ValueError(f"y_true must have shape (n,), got shape {values.shape}")
    n_classes = _n_classes(y_proba)
    missing = _missing(values)
    codes = np.full(values.shape, np.nan)
    if labels is None:
        if n_classes != 2:
            raise ValueError(f"pos_label is for binary problems; y_proba has {n_classes} columns")
        codes[~missing] = _positive(values[~missing], pos_label)
        return codes
    if pos_label is not None:
        raise ValueError("pass labels or pos_label, not both: labels already names the order")
    classes = np.asarray(labels)
    if classes.shape != (n_classes,):
        raise ValueError(
            f"labels must list the {n_classes} classes of y_proba, got shape {classes.shape}"
        )
    codes[~missing] = _positions(values[~missing], classes, np.flatnonzero(~missing))
    return codes


def _n_classes(y_proba: Any) -> int:
    shape = np.shape(y_proba)
    return shape[1] if len(shape) == 2 else 2


def _missing(values: np.ndarray) -> np.ndarray:
    if values.dtype.kind == "f":
        return np.asarray(np.isnan(values))
    if values.dtype.kind == "O":
        return np.array([v is None or v != v for v in values], bool)
    return np.zeros(values.shape, bool)


def _positive(values: np.ndarray, pos_label: object) -> np.ndarray:
    positive = np.asarray(values == pos_label)
    if positive.shape != values.shape:  # not comparable, as numbers and strings are not
        positive = np.zeros(values.shape, bool)
    others = np.unique(values[~positive])
    if others.size > 1:
        first, second = others[:2].tolist()
        raise ValueError(
            f"y_true must hold pos_label={pos_label!r} and one other label, "
            f"found {first!r} and {second!r} besides it"
        )
    return positive


def _positions(values: np.ndarray, classes: np.ndarray, rows: np.ndarray) -> np.ndarray:
    order = np.argsort(classes, kind="stable")
    ordered = classes[order]
    same = np.flatnonzero(ordered[1:] == ordered[:-1])
    if same.size:
        raise ValueError(f"labels must be distinct, found {ordered.tolist()[same[0]]!r} twice")
    try:
        slots = np.minimum(np.searchsorted(ordered, values), classes.size - 1)
        unknown = np.flatnonzero(ordered[slots] != values)
    except TypeError as error:
        raise TypeError(
            f"y_true and labels must be of one kind, got {values.dtype} and {classes.dtype}"
        ) from error
    if unknown.size:
        found = values[unknown[:1]].tolist()[0]
        raise ValueError(f"y_true must be one of labels, found {found!r} at row {rows[unknown[0]]}")
    return order[slots]
