"""Modules that can be called like the function of the same name in them."""

from __future__ import annotations

import inspect
import sys
from types import ModuleType
from typing import Any

__all__ = ["make_callable"]


class _CallableModule(ModuleType):
    """A module whose call is that of the function with its own name."""

    def __call__(self, *args: Any, **named: Any) -> Any:
        return self._function(*args, **named)

    @property
    def _function(self) -> Any:
        return self.__dict__[self.__name__.rpartition(".")[2]]

    @property
    def __signature__(self) -> inspect.Signature:
        return inspect.signature(self._function)


def make_callable(module: str) -> None:
    """Let ``calibrant.report(...)`` mean ``calibrant.report.report(...)``.

    It stays a module: imports, reloading and pickling of what is in it are as for any other.
    """
    sys.modules[module].__class__ = _CallableModule
