"""Call a function of the drop-in layers and the peer's own side by side."""

import copy
import warnings
from typing import Any

import numpy as np

BUILTIN_ERRORS = (ValueError, TypeError, IndexError, ZeroDivisionError, OverflowError)


def outcome(function, args, kwargs) -> tuple[Any, Exception | None, list[type[Warning]]]:
    """Return the result, or the error, and the warnings; arguments are copied first."""
    args, kwargs = copy.deepcopy((args, kwargs))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result, error = function(*args, **kwargs), None
        except Exception as raised:
            result, error = None, raised
    return result, error, [w.category for w in caught]


def assert_same(ours, theirs, *args, rtol=1e-12, atol=1e-14, **kwargs) -> Any:
    """Require equal numbers, shapes and types; or an error of the peer's type.

    Returns our result, None where both raise.
    """
    found, our_error, our_warnings = outcome(ours, args, kwargs)
    expected, their_error, their_warnings = outcome(theirs, args, kwargs)
    if their_error is not None:
        assert our_error is not None, f"peer raises {their_error!r}, we return {found!r}"
        for kind in BUILTIN_ERRORS:
            if isinstance(their_error, kind):
                assert isinstance(our_error, kind), f"{their_error!r} became {our_error!r}"
        return None
    if our_error is not None:
        raise AssertionError(f"peer returns {expected!r}, we raise") from our_error
    assert_equal(found, expected, rtol, atol)
    ours_undefined = {w for w in our_warnings if issubclass(w, (RuntimeWarning, UserWarning))}
    theirs_undefined = {w for w in their_warnings if issubclass(w, (RuntimeWarning, UserWarning))}
    assert ours_undefined == theirs_undefined
    return found


def assert_equal(found, expected, rtol, atol) -> None:
    if isinstance(expected, tuple):
        assert isinstance(found, tuple)
        assert len(found) == len(expected)
        for a, b in zip(found, expected, strict=True):
            assert_equal(a, b, rtol, atol)
        return
    if isinstance(expected, np.ndarray):
        assert type(found) is np.ndarray
        assert found.shape == expected.shape
        assert found.dtype == expected.dtype
    else:
        assert isinstance(found, (int, float))
        assert isinstance(found, float) == isinstance(expected, float)
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=atol)
