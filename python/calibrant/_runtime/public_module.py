"""The module that a class is shown, documented and pickled as part of."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

__all__ = ["public_in"]

T = TypeVar("T")


def public_in(module: str) -> Callable[[type[T]], type[T]]:
    """Return a decorator that names the public module of a class, which pickles refer to."""

    def named(cls: type[T]) -> type[T]:
        cls.__module__ = module
        return cls

    return named
