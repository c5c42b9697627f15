"""Labels that are not class codes: names, or a positive class that is not 1."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from calibrant import _core
from calibrant._input.columns import read_labels, shape_of
from calibrant._input.validation import MultiClass, checked_choice

__all__ = [
    "POSITIVE_COLUMN", "class_codes", "class_names", "event_rows", "n_classes", "scored_columns",
]  # fmt: skip

#: What a result says of a y_proba of two columns.
POSITIVE_COLUMN = (
    "y_proba has two columns that sum to 1: column 1 is scored, as the probability of class 1; "
    "multi_class='top_label' scores the larger of the two"
)

#: Rows that NumPy compares in one call, between which signals are answered.
_CHUNK = 2**16


def event_rows(
    y_true: Any,
    y_proba: Any,
    *,
    labels: ArrayLike | None = None,
    pos_label: object | None = None,
    multi_class: MultiClass = "auto",
    name: str = "y_proba",
) -> tuple[Any, Any]:
    """Return the labels as class codes, and the probabilities to be scored.

    Two columns are those of ``predict_proba`` for a binary problem: the second one is scored, as
    if it had been passed alone, and a row that does not sum to 1 is rejected. With "top_label" they
    are scored like k columns.
    """
    codes = class_codes(y_true, y_proba, labels=labels, pos_label=pos_label)
    return codes, scored_columns(y_proba, multi_class, name)


def scored_columns(y_proba: Any, multi_class: MultiClass, name: str = "y_proba") -> Any:
    """Return the probabilities to be scored, as `event_rows` does."""
    checked_choice(multi_class, "multi_class", ("auto", "top_label"))
    if multi_class == "top_label" or _known_width(y_proba) not in (2, None):
        return y_proba
    positive = None if y_proba is None else _core.positive_column(y_proba, name)
    return y_proba if positive is None else positive


def _known_width(y_proba: Any) -> int | None:
    """Return how many columns there are, 1 for a vector; None where it is not plain to see."""
    shape = getattr(y_proba, "shape", None)
    if not isinstance(shape, tuple):
        return None
    return 1 if len(shape) != 2 else shape[1]


def class_codes(
    y_true: Any, y_proba: Any, *, labels: ArrayLike | None, pos_label: object | None
) -> Any:
    """Return y_true as codes 0, 1, ...; as it is when neither argument says otherwise.

    ``labels`` lists the classes in the order of the columns of y_proba; for a binary problem
    the negative class, then the positive one. ``pos_label`` names the positive class alone.
    Missing labels (NaN, None, NaT, NA) become NaN, for the core to reject or to omit.
    """
    if y_true is None:
        raise TypeError("y_true must be an array of labels, got None")
    if labels is None and pos_label is None:
        return y_true
    if labels is not None and pos_label is not None:
        raise ValueError("pass labels or pos_label, not both: labels already names the order")
    values = read_labels(y_true, "y_true")
    if values.ndim != 1:
        raise ValueError(f"y_true must have shape (n,), got shape {values.shape}")
    missing = _missing(values)
    if missing.any():
        codes = np.full(values.shape, np.nan)
        rows = np.flatnonzero(~missing)
        codes[rows] = _codes(values[rows], rows, y_proba, labels, pos_label)
        return codes
    return _codes(values, None, y_proba, labels, pos_label)


def _codes(
    values: np.ndarray, rows: np.ndarray | None, y_proba: Any, labels: Any, pos_label: object
) -> np.ndarray:
    """``rows`` are the rows of values in y_true, if some are missing."""
    n_classes = _known_classes(y_proba)
    if labels is None:
        if n_classes not in (2, None):
            raise ValueError(
                f"pos_label is for two classes, y_proba has {n_classes}: pass labels, in the "
                f"order of its columns"
            )
        return _positive(values, rows, pos_label)
    classes = class_names(labels)
    if classes.size < 2:
        raise ValueError(f"labels must list at least two classes, got {labels!r}")
    if n_classes not in (classes.size, None):
        raise ValueError(f"labels must name the {n_classes} classes of y_proba, got {classes.size}")
    return _positions(values, rows, classes)


def class_names(labels: Any) -> np.ndarray:
    """Return the names of the classes as an array, of whatever kind they are."""
    classes = read_labels(labels, "labels")
    if classes.ndim != 1:
        raise ValueError(f"labels must list at least two classes, got {labels!r}")
    for i, name in enumerate(classes if classes.dtype.kind == "O" else ()):
        try:
            hash(name)
        except TypeError as error:
            raise TypeError(
                f"labels must hold one name for each class, found {name!r} at index {i}"
            ) from error
    return classes


def _known_classes(y_proba: Any) -> int | None:
    """2 for a vector; None where it is not plain to see, or wrong in any case."""
    shape = shape_of(y_proba)
    if shape is None or len(shape) not in (1, 2):
        return None
    return 2 if len(shape) == 1 else int(shape[1])


def n_classes(y_proba: Any) -> int:
    """Return how many classes y_proba has: 2 for a vector, one a column for a table."""
    known = _known_classes(y_proba)
    if known is not None:
        return known
    shape = np.shape(y_proba)
    return shape[1] if len(shape) == 2 else 2  # other shapes are rejected when they are read


def _missing(values: np.ndarray) -> np.ndarray:
    if values.dtype.kind == "f":
        return np.asarray(np.isnan(values))
    if values.dtype.kind in "mM":
        return np.asarray(np.isnat(values))
    if values.dtype.kind == "O":
        return np.fromiter(map(_is_missing, values), bool, values.size)
    return np.zeros(values.shape, bool)


def _is_missing(label: Any) -> bool:
    if label is None:
        return True
    try:
        return bool(label != label)
    except TypeError:  # pandas.NA is neither equal to itself nor not
        return True


def _is_text(values: np.ndarray) -> bool:
    return values.dtype.kind in "UST"


def _check_comparable(values: np.ndarray, others: np.ndarray, name: str) -> None:
    known = "O" not in (values.dtype.kind, others.dtype.kind)
    if known and values.size > 0 and _is_text(values) != _is_text(others):
        raise TypeError(
            f"y_true and {name} must be of one kind, got {values.dtype} and {others.dtype}"
        )


def _row(rows: np.ndarray | None, index: int) -> int:
    return int(index if rows is None else rows[index])


def _positive(values: np.ndarray, rows: np.ndarray | None, pos_label: object) -> np.ndarray:
    if np.ndim(pos_label) == 0 and _is_missing(pos_label):  # type: ignore[arg-type]
        raise ValueError(f"pos_label must not be missing, got {pos_label!r}")
    if isinstance(pos_label, (list, dict, set)) or np.ndim(pos_label) > 0:  # type: ignore[arg-type]
        raise TypeError(f"pos_label must be one label, got {pos_label!r}")
    _check_comparable(values, np.asarray(pos_label), "pos_label")
    positive = np.empty(values.shape, bool)
    first = None  # the first row of another label
    for start in range(0, values.size, _CHUNK):
        end = start + _CHUNK
        positive[start:end] = values[start:end] == pos_label
        others = start + np.flatnonzero(~positive[start:end])
        if not others.size:
            continue
        if first is None:
            first = int(others[0])
        differing = others[values[others] != values[first : first + 1]]
        if differing.size:
            second = int(differing[0])
            raise ValueError(
                f"y_true must hold pos_label={pos_label!r} and one other label, besides it found "
                f"{_text(values[first])} at row {_row(rows, first)} and {_text(values[second])} "
                f"at row {_row(rows, second)}"
            )
    return positive


def _positions(values: np.ndarray, rows: np.ndarray | None, classes: np.ndarray) -> np.ndarray:
    if _missing(classes).any():
        raise ValueError(f"labels must not be missing, got {classes.tolist()!r}")
    _check_comparable(values, classes, "labels")
    try:
        order = np.argsort(classes, kind="stable")
        ordered = classes[order]
        same = np.flatnonzero(ordered[1:] == ordered[:-1])
        if same.size:
            raise ValueError(f"labels must be distinct, found {_text(ordered[same[0]])} twice")
        codes = np.empty(values.shape, order.dtype)
        for start in range(0, values.size, _CHUNK):
            chunk = values[start : start + _CHUNK]
            slots = np.minimum(np.searchsorted(ordered, chunk), classes.size - 1)
            unknown = np.flatnonzero(ordered[slots] != chunk)
            if unknown.size:
                index = start + int(unknown[0])
                raise ValueError(
                    f"y_true must be one of labels, found {_text(values[index])} at row "
                    f"{_row(rows, index)}"
                )
            codes[start : start + _CHUNK] = order[slots]
    except TypeError as error:
        raise TypeError(
            f"y_true and labels must be of one kind, got {values.dtype} and {classes.dtype}: "
            f"{error}"
        ) from error
    return codes


def _text(label: Any) -> str:
    return repr(label.item() if isinstance(label, np.generic) else label)
