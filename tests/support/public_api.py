"""Every public callable of calibrant, by name: what a table of all of them must cover."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from typing import Any

import calibrant

#: Modules whose callables are met another way.
ELSEWHERE = {
    "calibrant.commands": "read the words of a command line; test_commands.py",
    "calibrant.cli": "starts the commands; test_cli.py",
    "calibrant.compat.torchmetrics": "asks for torch; test_compat_patch.py",
}


def public_modules() -> Iterator[Any]:
    """Give calibrant and each module below it whose name has no underscore."""
    yield calibrant
    for found in pkgutil.walk_packages(calibrant.__path__, "calibrant."):
        hidden = any(part.startswith("_") for part in found.name.split("."))
        elsewhere = any(f"{found.name}.".startswith(f"{name}.") for name in ELSEWHERE)
        if not hidden and not elsewhere:
            yield importlib.import_module(found.name)


def public_callables() -> dict[str, Callable[..., Any]]:
    """Return functions, constructors and methods that take arguments, by their shortest name.

    Results are made by the library, so their constructors are left out, and so are exceptions.
    """
    found: dict[str, Callable[..., Any]] = {}
    seen: set[int] = set()
    for module in sorted(public_modules(), key=lambda module: module.__name__.count(".")):
        prefix = module.__name__.removeprefix("calibrant").lstrip(".")
        for name in module.__all__:
            thing = getattr(module, name)
            if id(thing) in seen or not callable(thing) or not _is_ours(thing):
                continue
            seen.add(id(thing))
            path = f"{prefix}.{name}" if prefix else name
            found |= _methods(path, thing) if inspect.isclass(thing) else {path: thing}
    return {name: thing for name, thing in found.items() if parameters(thing)}


def _is_ours(thing: Any) -> bool:
    if inspect.isclass(thing) and issubclass(thing, Exception):
        return False
    return getattr(thing, "__module__", "").startswith("calibrant")


def _methods(path: str, cls: type) -> dict[str, Callable[..., Any]]:
    made_by_users = not dataclasses.is_dataclass(cls) or path in ("distributed.Spec",)
    found: dict[str, Callable[..., Any]] = {path: cls} if made_by_users else {}
    for name in dir(cls):
        if not name.startswith("_") and inspect.isroutine(getattr(cls, name)):
            found[f"{path}.{name}"] = getattr(cls, name)
    return found


def parameters(thing: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """Return what can be passed to it by name, or is required; without self."""
    given = inspect.signature(thing).parameters
    several = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return {
        name: parameter
        for name, parameter in given.items()
        if name != "self" and parameter.kind not in several
    }
