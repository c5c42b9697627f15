"""Prediction sets in all their forms, their coverage and their size."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from calibrant import _core
from calibrant._input.columns import read_labels
from calibrant._input.labels import _is_missing, class_codes, class_names
from calibrant._input.validation import NanPolicy, check_nan_policy
from calibrant.intervals._confidence import CiMethod, by_level, confidence
from calibrant.intervals._coverage import Coverage, SizeStratifiedCoverage, size_groups
from calibrant.intervals._set_results import SetSize, SetSummary

__all__ = [
    "class_sets",
    "set_coverage",
    "set_size",
    "set_summary",
    "summary_of",
    "update_coded_sets",
    "update_sets",
]

#: What has a length, but is no list of classes: its items are characters, bytes, keys.
_NOT_SETS = (str, bytes, bytearray, Mapping, np.ma.MaskedArray)

#: (form, arrays, codes of y_true, rows without a set), as the core takes them.
_Sets = tuple[str, list[Any], Any, "np.ndarray | None"]


def set_coverage(
    y_true: ArrayLike,
    sets: Any,
    *,
    ci_level: float = 0.95,
    ci_method: CiMethod = "wilson",
    sample_weight: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    nan_policy: NanPolicy = "raise",
) -> Coverage:
    """How often the prediction sets hold the class that happened.

    Parameters
    ----------
    y_true : array of shape (n,)
        Class codes from 0 on, or names, if ``labels`` or ``sets`` name the classes.
    sets : one of
        - boolean array of shape (n, k_classes) or (n, k_classes, levels);
        - a list with a list of classes for each row, or an Arrow array of lists; classes are
          numbers or names;
        - uint64 array of shape (n,) or (n, words): class c is bit c % 64, from the least
          significant, of word c // 64.
    ci_level, ci_method, sample_weight, nan_policy
        As for `interval_coverage`.
    labels : array of shape (k,), optional
        The names of the classes, in the order of the columns or bits.

    Returns
    -------
    Coverage
        Empty sets count as not covering; `set_size` says how many there are.

    Examples
    --------
    >>> float(set_coverage([0, 1, 2, 1], [[0, 1], [1], [0], []]))
    0.5
    >>> float(set_coverage(["cat", "dog"], [[True, False], [True, True]], labels=["cat", "dog"]))
    1.0
    """
    state = class_sets(y_true, sets, sample_weight, labels, nan_policy)
    return summary_of(state, ci_level, ci_method).coverage


def set_size(
    sets: Any,
    *,
    sample_weight: ArrayLike | None = None,
    nan_policy: NanPolicy = "raise",
) -> SetSize:
    """Mean number of classes in the prediction sets, and how many sets are empty.

    Parameters
    ----------
    sets, sample_weight, nan_policy
        As for `set_coverage`.

    Returns
    -------
    SetSize
        ``float(result)`` is the mean size.

    Examples
    --------
    >>> set_size([[0, 1], [1], [0], []])
    SetSize(value=1, empty=0.25, largest=2, n=4)
    """
    state = _core.PredictionSets()
    update_sets(state, None, sets, sample_weight, None, nan_policy)
    state.require_weight()
    return _sizes_of(state)


def set_summary(
    y_true: ArrayLike,
    sets: Any,
    *,
    ci_level: float = 0.95,
    ci_method: CiMethod = "wilson",
    sample_weight: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    nan_policy: NanPolicy = "raise",
) -> SetSummary:
    """Coverage, size and coverage by size of prediction sets, from one pass.

    Parameters
    ----------
    y_true, sets, ci_level, ci_method, sample_weight, labels, nan_policy
        As for `set_coverage`.

    See Also
    --------
    calibrant.streaming.PredictionSets : the same for batches and many machines

    Examples
    --------
    >>> set_summary([0, 1, 2, 1], [[0, 1], [1], [0], []])
    SetSummary
      coverage 0.5 (0.150039 to 0.849961), n=4
      mean size 1, empty 25%, largest 2
      size 0: 0 (0 to 0.793451), 1 rows, worst
      size 1: 0.5 (0.0945312 to 0.905469), 2 rows
      size 2: 1 (0.206549 to 1), 1 rows
    """
    state = class_sets(y_true, sets, sample_weight, labels, nan_policy)
    return summary_of(state, ci_level, ci_method)


def summary_of(state: _core.PredictionSets, ci_level: Any, ci_method: Any) -> SetSummary:
    """Read all numbers off the core."""
    ci = confidence(ci_level, ci_method)
    state.require_weight()
    levels = range(state.n_levels)
    found = [state.total(level).coverage(*ci) for level in levels]
    value, low, high = (by_level(numbers) for numbers in zip(*found, strict=True))
    by_size = [size_groups(state.by_size(level), ci, "sizes") for level in levels]
    return SetSummary(
        Coverage(value, low, high, state.n, state.n_omitted, float(ci_level), ci_method),
        _sizes_of(state),
        SizeStratifiedCoverage._of(by_size),
    )


def _sizes_of(state: _core.PredictionSets) -> SetSize:
    levels = range(state.n_levels)
    tables = [state.by_size(level) for level in levels]
    return SetSize(
        by_level([state.mean_size(level) for level in levels]),
        by_level([table[0].weight / state.total(i).weight for i, table in enumerate(tables)]),
        by_level([float(len(table) - 1) for table in tables]),
        state.n,
        state.n_omitted,
    )


def class_sets(
    y_true: Any,
    sets: Any,
    sample_weight: Any,
    labels: Any,
    nan_policy: NanPolicy,
    *,
    groups: tuple[np.ndarray, int] | None = None,
) -> Any:
    """Return the accumulator of the core; with groups, the coverage by group of each level."""
    if y_true is None:
        raise TypeError("y_true must be an array of labels, got None")
    if groups is None:
        state = _core.PredictionSets()
        update_sets(state, y_true, sets, sample_weight, labels, nan_policy)
        return state
    omit = check_nan_policy(nan_policy)
    form, arrays, codes, missing = _read(y_true, sets, labels, omit)
    rows, n_groups = groups
    if missing is not None and missing.shape == rows.shape:
        rows = np.where(missing, np.int32(-1), rows)
    return _core.set_coverage_by_group(codes, form, arrays, sample_weight, rows, omit, n_groups)


def update_sets(
    state: _core.PredictionSets,
    y_true: Any,
    sets: Any,
    sample_weight: Any,
    labels: Any,
    nan_policy: NanPolicy,
) -> None:
    """Add rows to an accumulator of the core."""
    omit = check_nan_policy(nan_policy)
    form, arrays, codes, missing = _read(y_true, sets, labels, omit)
    state.update(codes, form, arrays, sample_weight, _without(missing), omit)


def update_coded_sets(
    state: _core.PredictionSets, codes: Any, sets: Any, sample_weight: Any, labels: Any, omit: bool
) -> None:
    """Add rows whose outcomes are codes already, of sets that hold names."""
    form, arrays, _, missing = _read(None, sets, labels, omit)
    state.update(codes, form, arrays, sample_weight, _without(missing), omit)


def _without(missing: np.ndarray | None) -> np.ndarray | None:
    """Rows as the core takes groups: -1 for those to be left out, else 0."""
    return None if missing is None else -missing.astype(np.int32)


def _read(y_true: Any, sets: Any, labels: Any, omit: bool) -> _Sets:
    if hasattr(type(sets), "to_arrow"):  # polars
        sets = sets.to_arrow()
    if hasattr(sets, "combine_chunks"):
        sets = sets.combine_chunks()
    if hasattr(sets, "offsets") and hasattr(sets, "flatten"):
        return _from_arrow(y_true, sets, labels, omit)
    if isinstance(sets, (list, tuple)) and not _is_table_of_truth(sets):
        return _from_lists(y_true, sets, labels, omit)
    array = read_labels(sets, "sets")
    if array.dtype.kind == "O" and array.ndim == 1:
        return _from_lists(y_true, array.tolist(), labels, omit)
    codes = None if y_true is None else class_codes(y_true, None, labels=labels, pos_label=None)
    if array.dtype == np.uint64 and array.ndim in (1, 2):
        return "masks", [array.reshape(len(array), -1)], codes, None
    if array.dtype != np.bool_ or array.ndim not in (2, 3):
        raise TypeError(
            f"sets must be boolean of shape (n, k) or (n, k, levels), lists of classes, or uint64 "
            f"words of bits, got {array.dtype} of shape {array.shape}"
        )
    n_names = array.shape[1] if labels is None else class_names(labels).size
    if n_names != array.shape[1]:
        raise ValueError(f"labels must name the {array.shape[1]} classes, got {n_names}")
    cube = array if array.ndim == 3 else array[:, :, None]
    return "indicators", [cube[:, :, level] for level in range(cube.shape[2])], codes, None


def _is_table_of_truth(sets: Any) -> bool:
    """Whether lists hold truth values and not classes; classes may be 0 and 1, not False."""
    first = next((row for row in sets if np.size(row) > 0), None)
    return first is not None and np.asarray(first).dtype == np.bool_


def _from_arrow(y_true: Any, sets: Any, labels: Any, omit: bool) -> _Sets:
    missing = np.asarray(sets.is_null().to_numpy(zero_copy_only=False), dtype=bool)
    _check_missing(missing, omit)
    sizes = sets.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    flat = sets.flatten()  # without what null lists may hide
    if flat.null_count:
        raise ValueError("sets must not hold missing classes, found a null in a list")
    values = flat.to_numpy(zero_copy_only=False)
    return _from_flat(y_true, values, np.asarray(sizes), missing, labels)


def _from_lists(y_true: Any, sets: Any, labels: Any, omit: bool) -> _Sets:
    missing = np.fromiter((_is_no_set(row) for row in sets), bool, len(sets))
    _check_missing(missing, omit)
    rows = [() if gone else row for row, gone in zip(sets, missing, strict=True)]
    wrong = tuple(kind for kind in set(map(type, rows)) if issubclass(kind, _NOT_SETS))
    if wrong:
        row = next(i for i, row in enumerate(rows) if isinstance(row, wrong))
        raise TypeError(
            f"sets must hold a list of classes for each row, found {rows[row]!r} at row {row}"
        )
    try:
        sizes = np.fromiter(map(len, rows), np.int64, len(rows))
    except TypeError as error:
        row = next(i for i, row in enumerate(rows) if not hasattr(row, "__len__"))
        raise TypeError(
            f"sets must hold a list of classes for each row, found {rows[row]!r} at row {row}"
        ) from error
    flat = list(itertools.chain.from_iterable(rows))
    return _from_flat(y_true, flat, sizes, missing, labels)


def _is_no_set(row: Any) -> bool:
    return row is None or (isinstance(row, float) and row != row)


def _check_missing(missing: np.ndarray, omit: bool) -> None:
    if not omit and missing.any():
        raise ValueError(
            f"sets has a missing value (None) at row {int(np.flatnonzero(missing)[0])}; "
            f'pass nan_policy="omit" to drop and count such rows'
        )


def _from_flat(
    y_true: Any, flat: Any, sizes: np.ndarray, missing: np.ndarray, labels: Any
) -> _Sets:
    offsets = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    values = np.asarray(flat) if len(flat) else np.zeros(0, np.int64)
    gone = missing if missing.any() else None
    numbers = values.dtype.kind in "iu" and labels is None
    if numbers:
        too_large = np.flatnonzero((values > 2**31 - 2) | (values < -(2**31)))
        if too_large.size:
            row = int(np.searchsorted(offsets, too_large[0], side="right")) - 1
            raise ValueError(
                f"sets must hold class numbers below 2147483647, found "
                f"{int(values[too_large[0]])} at row {row}"
            )
        return "lists", [offsets, values.astype(np.int32)], y_true, gone
    if values.dtype.kind == "b":
        raise TypeError(
            "sets must hold classes, found truth values in lists; pass a boolean array of shape "
            "(n, k), without missing rows"
        )
    if values.dtype.kind == "f" and labels is None:
        raise TypeError("sets must hold integer class numbers, or names, got real numbers")
    names = values.tolist()
    known = (
        {} if labels is None else {name: i for i, name in enumerate(class_names(labels).tolist())}
    )
    codes = np.empty(len(names), np.int32)
    for i, name in enumerate(names):
        code = known.setdefault(name, len(known)) if labels is None else known.get(name, -1)
        if code < 0 or _is_missing(name):
            row = int(np.searchsorted(offsets, i, side="right")) - 1
            raise ValueError(f"sets must hold classes of labels, found {name!r} at row {row}")
        codes[i] = code
    return "lists", [offsets, codes], _named_codes(y_true, known, labels), gone


def _named_codes(y_true: Any, known: dict[Any, int], labels: Any) -> Any:
    """Codes of the names in y_true, after those of the sets."""
    if y_true is None:
        return None
    if labels is not None:
        return class_codes(y_true, None, labels=labels, pos_label=None)
    values = read_labels(y_true, "y_true")
    if values.ndim != 1:
        raise ValueError(f"y_true must have shape (n,), got shape {values.shape}")
    codes = [
        np.nan if _is_missing(name) else known.setdefault(name, len(known))
        for name in values.tolist()
    ]
    return np.array(codes, dtype=np.float64)
