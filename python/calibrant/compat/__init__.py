"""Drop-in layers: the names, signatures and numbers of other libraries, computed by calibrant.

``calibrant.compat.mapie`` mirrors ``mapie.metrics``, ``calibrant.compat.sklearn`` the scores of
``sklearn.metrics``; neither needs the other library. ``calibrant.compat.torchmetrics`` gives any
accumulator the verbs of torchmetrics. `patch` swaps the functions of a running program.

Nothing here is imported with ``calibrant`` itself.
"""

from __future__ import annotations

import importlib
from typing import Any

from calibrant.compat._patch import Patch, patch

__all__ = ["Patch", "mapie", "patch", "sklearn", "torchmetrics"]


def __dir__() -> list[str]:
    return __all__


_MODULES = ("mapie", "sklearn", "torchmetrics")


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
