"""Read other libraries' columns without importing them, and without a copy if there is a way.

The extension reads an exact ``np.ndarray`` by itself and comes here with everything else.
What is asked of an object is only what it offers: ``__array__``, Arrow's capsules or DLPack.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from calibrant import _core

_NUMERIC_KINDS = "biuf"
_HOST_DEVICES = frozenset({1, 3, 11, 13})  # DLPack: CPU, and memory of CUDA and ROCm it can read


def shape_of(value: Any) -> tuple[int, ...] | None:
    """Return the shape, or None where it is not plain to see; no value is looked at.

    A column of lists has two axes.
    """
    if isinstance(value, (list, tuple)):
        of_first = shape_of(value[0]) if value else ()
        return (len(value), *(of_first or ()))
    shape = getattr(value, "shape", None)
    is_dense = isinstance(getattr(value, "dtype", None), np.dtype) or len(shape or ()) == 2
    forms = () if is_dense else ("__arrow_c_array__", "__arrow_c_stream__")
    if any(hasattr(type(value), form) for form in forms):
        try:
            return _core.shape_of(value)
        except (TypeError, ValueError):  # whoever reads it says what is wrong
            return None
    return None if shape is None else tuple(shape)


def resolve(value: Any, name: str) -> Any:
    """Turn `value` into what the extension reads.

    That is an exact ndarray, the pair of capsules of ``__arrow_c_array__``, or the capsule of
    ``__arrow_c_stream__``. The extension checks dtype and shape.
    """
    if isinstance(value, (list, tuple)):
        return _from_sequence(value, name)
    if isinstance(value, (np.ndarray, np.generic)):
        return _plain(value, name)
    kind = type(value)  # protocols are looked up on the type, as Python does it
    if isinstance(getattr(value, "dtype", None), np.dtype) and hasattr(kind, "__array__"):
        return _converted(value, name)
    if _is_table(value):
        return _unmasked(_converted(value, name), value, getattr(value, "dtypes", None))
    if hasattr(kind, "__arrow_c_array__") or hasattr(kind, "__arrow_c_stream__"):
        return _from_arrow(value, name)
    if hasattr(kind, "__dlpack__"):
        return _from_dlpack(value, name)
    if hasattr(kind, "__array__"):
        array = _converted(value, name)
        return _unmasked(array, value, [getattr(value, "dtype", None)])
    if isinstance(value, (bool, int, float)) or _has_buffer(value):
        return np.asarray(value)
    raise TypeError(f"{name} must be an array of real numbers, got {_type_name(value)}")


def read_numbers(value: Any, name: str, of: str = "real numbers") -> np.ndarray:
    """Return real numbers of any shape as an array, for what is not read by the extension."""
    found = resolve(value, name)
    array = found if isinstance(found, np.ndarray) else _from_capsules(value, name)
    if array.dtype.kind not in _NUMERIC_KINDS or array.dtype.itemsize > 8:
        raise TypeError(f"{name} must hold {of}, got dtype {array.dtype}")
    return array


def read_labels(value: Any, name: str) -> np.ndarray:
    """Return labels of any kind, names too, as an array."""
    return _converted(value, name)


def reject_masked(value: Any, name: str) -> None:
    """Raise TypeError if it is a masked array, or a list or tuple of some."""
    if isinstance(value, np.ma.MaskedArray) and value is not np.ma.masked:
        raise TypeError(
            f"{name} is a masked array, whose mask would be lost; "
            f"pass {name}.filled(np.nan) or {name}.compressed()"
        )
    if isinstance(value, (list, tuple)) and value and hasattr(value[0], "__len__"):
        for row, one in enumerate(value):
            if isinstance(one, np.ma.MaskedArray):
                raise TypeError(
                    f"{name} holds a masked array at row {row}, whose mask would be lost; "
                    "pass plain arrays, with NaN for what is missing"
                )


def _plain(array: Any, name: str) -> np.ndarray:
    reject_masked(array, name)
    if isinstance(array, np.ndarray):
        return np.ndarray.view(array, np.ndarray)  # not array.view, which a subclass may change
    return np.asarray(array)


def _converted(value: Any, name: str) -> np.ndarray:
    reject_masked(value, name)
    if isinstance(value, (list, tuple)):
        return _from_sequence(value, name, "values")
    try:
        return _plain(np.asanyarray(value), name)
    except MemoryError:
        raise
    except Exception as error:
        raise TypeError(
            f"{name} of type {_type_name(value)} cannot be read as an array: {error}"
        ) from error


def _is_table(value: Any) -> bool:
    """A DataFrame or an Arrow table: rows and columns, but no common dtype."""
    kind = type(value)
    return (
        hasattr(kind, "__array__")
        and not hasattr(kind, "__dlpack__")
        and not hasattr(value, "dtype")
        and len(getattr(value, "shape", ())) == 2
    )


def _unmasked(array: np.ndarray, value: Any, dtypes: Any) -> np.ndarray:
    """Read pandas' nullable columns, which NumPy sees as objects, with NaN for NA."""
    if array.dtype != object or dtypes is None or not hasattr(value, "to_numpy"):
        return array
    if all(getattr(dtype, "kind", "O") in _NUMERIC_KINDS for dtype in dtypes):
        return np.asarray(value.to_numpy(dtype=np.float64, na_value=np.nan))
    return array  # rejected by its dtype


def _from_arrow(value: Any, name: str) -> Any:
    try:
        if hasattr(type(value), "__arrow_c_array__"):
            return tuple(value.__arrow_c_array__())
        return value.__arrow_c_stream__()
    except Exception as error:  # pandas without pyarrow, or sparse: numbers all the same
        dtype = getattr(value, "dtype", None)
        if getattr(dtype, "kind", "O") in _NUMERIC_KINDS:
            return _unmasked(_converted(value, name), value, [dtype])
        raise TypeError(
            f"{name} of type {_type_name(value)} cannot be read through Arrow: {error}"
        ) from error


def _from_capsules(value: Any, name: str) -> np.ndarray:
    array = np.asarray(value)
    has_numbers = array.dtype.kind in _NUMERIC_KINDS
    return array if has_numbers else _core.numbers(value, name)  # lists of numbers, or with nulls


def _from_dlpack(value: Any, name: str) -> np.ndarray:
    if getattr(value, "requires_grad", False) is True:
        raise TypeError(f"{name} requires a gradient; pass {name}.detach()")
    try:
        device, _ = value.__dlpack_device__()
        if device not in _HOST_DEVICES:
            where = getattr(value, "device", f"DLPack device {int(device)}")
            raise TypeError(f"{name} is on {where}; pass a copy on the CPU, e.g. {name}.cpu()")
        return np.from_dlpack(value)
    except (BufferError, RuntimeError, ValueError) as error:
        dtype = getattr(value, "dtype", "unknown")
        raise TypeError(
            f"{name} of type {_type_name(value)} and dtype {dtype} cannot be read through DLPack: "
            f"{error}; pass a dense float32 or float64 copy"
        ) from error


def _from_sequence(value: Any, name: str, of: str = "real numbers") -> np.ndarray:
    reject_masked(value, name)
    try:
        return np.asarray(value)
    except ValueError as error:
        raise TypeError(
            f"{name} must be a rectangular list of {of}{_first_other_shape(value)}"
        ) from error


def _first_other_shape(value: Any) -> str:
    """Return where a list is not rectangular, as far as that is plain to see."""
    shapes = [shape_of(row) for row in value]
    row = next((i for i, shape in enumerate(shapes) if shape != shapes[0]), None)
    if row is None:
        return ""
    first, other = (shape or "a number" for shape in (shapes[0], shapes[row]))
    return f", found shape {first} at row 0 and {other} at row {row}"


def _has_buffer(value: Any) -> bool:
    try:
        memoryview(value)
    except TypeError:
        return False
    return True


def _type_name(value: Any) -> str:
    if value is None:
        return "None"
    kind = type(value)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
