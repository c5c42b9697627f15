"""The compiled core works in the main interpreter only; elsewhere its import would hang."""

from __future__ import annotations

import importlib

__all__: list[str] = []


def _require_main_interpreter() -> None:
    """Raise ImportError in a subinterpreter, as NumPy does once the main one has it."""
    for name in ("_interpreters", "_xxsubinterpreters"):  # of Python 3.13 on, and before
        try:
            interpreters = importlib.import_module(name)
            is_main = interpreters.get_current() == interpreters.get_main()
        except (ImportError, AttributeError):
            continue
        if not is_main:
            raise ImportError(
                "calibrant works in the main interpreter only, not in a subinterpreter; "
                "with mod_wsgi, set WSGIApplicationGroup %{GLOBAL}"
            )
        return


_require_main_interpreter()
