"""Labels and probabilities as scikit-learn reads them: what is rejected, what the classes are."""

from __future__ import annotations

import numbers
import sys
import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calibrant import _core
from calibrant.compat._arrays import array, column, finite

__all__ = [
    "InvalidParameterError",
    "Target",
    "array_like",
    "binary_target",
    "classes_of",
    "codes_of",
    "equals",
    "label_column",
    "multiclass_target",
    "positive_label",
    "probabilities",
    "require_labels",
    "sample_weights",
    "warn_undefined",
]


class InvalidParameterError(ValueError, TypeError):
    """An argument is of the wrong type or out of range, as scikit-learn's error of that name."""


class Target(NamedTuple):
    """What the core takes: codes 0, 1, ... and probabilities of shape (n,) or (n, k)."""

    codes: NDArray[Any]
    y_proba: NDArray[Any]
    n_classes: int


def array_like(value: Any, name: str) -> None:
    """Reject what is no array at all, as scikit-learn does before anything else."""
    if isinstance(value, (str, bytes, numbers.Number)) or not (
        hasattr(value, "__len__") or hasattr(value, "shape") or hasattr(value, "__array__")
    ):
        raise InvalidParameterError(f"{name} must be an array-like, got {value!r}")


def warn_undefined(message: str) -> None:
    """Warn by scikit-learn's own class where it is loaded."""
    exceptions = sys.modules.get("sklearn.exceptions")
    category = getattr(exceptions, "UndefinedMetricWarning", UserWarning)
    warnings.warn(message, category, stacklevel=3)


def probabilities(y_proba: Any, name: str = "y_proba") -> NDArray[Any]:
    """Return floats of shape (n,) or (n, k), at least one row; the core looks at their values."""
    if y_proba is None:
        raise ValueError(f"{name} must be an array, got None")
    values = array(y_proba, name)
    if values.dtype.kind == "c":
        raise InvalidParameterError(f"{name} must be real, got complex numbers")
    if values.dtype.kind not in "biufO":
        raise ValueError(f"{name} must hold real numbers, got dtype {values.dtype}")
    if values.dtype.kind != "f":
        values = values.astype(np.float64)
    if values.ndim not in (1, 2):
        raise ValueError(f"{name} must have shape (n,) or (n, k), got {values.shape}")
    if values.size == 0:
        raise ValueError(f"{name} must have at least one row, got shape {values.shape}")
    return values


def sample_weights(sample_weight: Any, n: int) -> NDArray[Any] | None:
    """Return weights of shape (n,): finite, not negative, and one of them positive."""
    if sample_weight is None:
        return None
    weights = array(sample_weight, "sample_weight")
    if weights.dtype.kind == "O":
        weights = weights.astype(np.float64)
    if weights.dtype.kind not in "biuf":
        raise TypeError(f"sample_weight must hold real numbers, got dtype {weights.dtype}")
    if weights.shape != (n,):
        raise ValueError(f"sample_weight must have shape ({n},), got {weights.shape}")
    finite(weights, "sample_weight")
    if weights.size and weights.min() < 0:
        raise ValueError(f"sample_weight must not be negative, found {weights.min()}")
    if not weights.any():
        raise ValueError("sample_weight must hold a number that is not zero")
    return weights


def classes_of(y: NDArray[Any]) -> NDArray[Any]:
    """Return the different labels, sorted; integers in a small range are counted, not sorted."""
    if y.dtype.kind == "b":
        some = y.any()
        return np.array([c for c, there in ((False, not y.all()), (True, some)) if there])
    if y.dtype.kind in "iu" and y.size:
        least, largest = int(y.min()), int(y.max())
        if largest - least <= 1:
            return np.array(sorted({least, largest}), dtype=y.dtype)
        if largest - least < min(y.size, 1 << 16):
            return (np.flatnonzero(np.bincount((y - least).astype(np.intp))) + least).astype(
                y.dtype
            )
    if y.dtype.kind == "f":
        finite(y, "y_true")
        least, largest = y.min(), y.max()
        if np.count_nonzero(y == least) + np.count_nonzero(y == largest) == y.size:
            return np.unique(np.array([least, largest], dtype=y.dtype))
    if y.dtype.kind in "US" and y.size:
        is_first = equals(y, y[0])
        second = y[int(np.argmin(is_first))]
        ones = np.count_nonzero(is_first)
        if ones == y.size or ones + np.count_nonzero(equals(y, second)) == y.size:
            return np.unique(np.array([y[0], second]))
    try:
        return np.unique(y)
    except TypeError as error:
        raise TypeError(f"y_true must hold labels of one kind: {error}") from error


def equals(y: NDArray[Any], label: Any) -> NDArray[np.bool_]:
    """Return ``y == label``; texts of one width are compared byte by byte."""
    is_text = y.dtype.kind == ("U" if isinstance(label, str) else "S")
    if not is_text or not isinstance(label, (str, bytes)) or not y.dtype.itemsize:
        return np.asarray(y == label, dtype=bool)
    text = np.array([label], dtype=y.dtype)
    if text[0] != label:  # cut short, as it is longer than any of y
        return np.zeros(len(y), bool)
    rows = np.ascontiguousarray(y).view(np.uint8).reshape(len(y), y.dtype.itemsize)
    return _core.same_text(rows, text.view(np.uint8))


def _is_text(classes: NDArray[Any]) -> bool:
    return classes.dtype.kind in "OUST"


def label_column(y_true: Any) -> NDArray[Any]:
    """Return labels of shape (n,); names are compared as they are."""
    y = column(y_true, "y_true")
    if y.dtype.kind == "T":
        y = y.astype(object)
    if y.dtype.kind == "O" and y.size and not isinstance(y[0], str):
        try:
            numeric = y.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError("y_true must hold numbers or names, got other objects") from error
        finite(numeric, "y_true")
        raise ValueError("y_true must hold numbers or names, got an array of objects")
    if y.dtype.kind in "VmMS":
        raise TypeError(f"y_true must hold numbers or names, got dtype {y.dtype}")
    if y.dtype.kind == "f":
        finite(y, "y_true")
    return y


def require_labels(classes: NDArray[Any]) -> None:
    """Reject what scikit-learn calls continuous: numbers that are not whole."""
    if classes.dtype.kind == "f" and (classes % 1 != 0).any():
        raise ValueError("y_true must hold class labels, found numbers that are not whole")


def positive_label(classes: NDArray[Any], pos_label: Any, *, larger: bool) -> Any:
    """Return the positive label: 1 unless it is named. ``larger`` takes the larger of others."""
    if pos_label is not None:
        return pos_label
    known = not _is_text(classes) and classes.tolist() in ([0, 1], [-1, 1], [0], [-1], [1])
    if known:
        return 1
    if larger and not _is_text(classes):
        return classes[-1]
    raise ValueError(
        f"y_true holds {classes.tolist()}: pass pos_label to say which of them is positive"
    )


def binary_target(
    y_true: Any, y_proba: NDArray[Any], sample_weight: Any, pos_label: Any
) -> tuple[Target, NDArray[Any] | None]:
    """Return codes and probabilities of a binary problem, and the weights."""
    y = label_column(y_true)
    proba = column(y_proba, "y_proba")
    if len(y) != len(proba):
        raise ValueError(f"y_true has {len(y)} rows, y_proba {len(proba)}")
    weights = sample_weights(sample_weight, len(proba))
    classes = classes_of(y)
    require_labels(classes)
    if len(classes) > 2:
        raise ValueError(f"y_true must hold two labels for such a y_proba, found {len(classes)}")
    positive = positive_label(classes, pos_label, larger=True)
    return Target(equals(y, positive), proba, 2), weights


def codes_of(y: NDArray[Any], classes: NDArray[Any]) -> NDArray[Any]:
    """Return the position of each label among the sorted classes, which hold all of them."""
    if y.dtype.kind in "biu" and classes.dtype.kind in "biu":
        if np.array_equal(classes, np.arange(len(classes))):
            return y
        if len(classes) == 2:
            return np.asarray(y == classes[1])
    if len(classes) == 2 and y.dtype.kind in "US":
        return equals(y, classes[1])
    return np.searchsorted(classes, y)


def _declared(y: NDArray[Any], labels: Any) -> NDArray[Any]:
    """Return the classes that labels lists, sorted; it must hold all of y."""
    given = column(labels, "labels")
    classes = np.unique(given)
    if not np.array_equal(classes, given):
        warnings.warn(
            f"labels are taken in sorted order, {classes.tolist()}, not as passed; the columns of "
            f"y_proba must be in that order",
            UserWarning,
            stacklevel=4,
        )
    if len(classes) < 2:
        raise ValueError(f"labels must list at least two classes, got {classes.tolist()}")
    known = np.isin(classes_of(y), classes)
    if not known.all():
        raise ValueError(
            f"y_true holds {classes_of(y)[~known].tolist()}, which labels does not list"
        )
    return classes


def multiclass_target(
    y_true: Any, y_proba: NDArray[Any], sample_weight: Any, labels: Any
) -> tuple[Target, NDArray[Any] | None]:
    """Return codes and probabilities of any classification, and the weights."""
    indicators = array(y_true, "y_true")
    is_one_hot = labels is None and indicators.ndim == 2 and indicators.shape[1] > 1
    y = _hot_columns(indicators) if is_one_hot else label_column(y_true)
    if len(y) != len(y_proba):
        raise ValueError(f"y_true has {len(y)} rows, y_proba {len(y_proba)}")
    weights = sample_weights(sample_weight, len(y))
    if is_one_hot:
        classes = np.arange(indicators.shape[1])
    elif labels is None:
        classes = classes_of(y)
        require_labels(classes)
        if len(classes) == 1:
            raise ValueError(
                f"y_true holds one label only, {classes[0]!r}: pass labels, the list of all"
            )
    else:
        classes = _declared(y, labels)
    if y_proba.ndim == 2 and y_proba.shape[1] == 1:
        y_proba = y_proba.reshape(-1)
    n_columns = 2 if y_proba.ndim == 1 else y_proba.shape[1]
    if y_proba.ndim == 2:
        _warn_of_sums(y_proba)
    if len(classes) != n_columns:
        source = "y_true" if labels is None else "labels"
        raise ValueError(f"{source} has {len(classes)} classes, y_proba {n_columns}")
    return Target(codes_of(y, classes), y_proba, n_columns), weights


def _hot_columns(indicators: NDArray[Any]) -> NDArray[Any]:
    """Return the column of the one 1 in each row."""
    hot = np.asarray(indicators == 1)
    if not (hot | (indicators == 0)).all():
        raise ValueError("y_true of shape (n, k) must hold 0 and 1")
    wrong = np.flatnonzero(hot.sum(axis=1) != 1)
    if wrong.size:
        raise ValueError(
            f"y_true of shape (n, k) must have one 1 in each row, found "
            f"{indicators[wrong[0]].tolist()} at row {wrong[0]}"
        )
    return np.asarray(hot.argmax(axis=1))


def _warn_of_sums(y_proba: NDArray[Any]) -> None:
    sums = y_proba @ np.ones(y_proba.shape[1], dtype=y_proba.dtype)
    tolerance = float(np.sqrt(np.finfo(y_proba.dtype).eps)) + 1e-8
    if max(float(sums.max()) - 1.0, 1.0 - float(sums.min())) > tolerance:
        warnings.warn("the rows of y_proba do not sum to one", UserWarning, stacklevel=4)
