"""Can these probabilities be trusted?

calibrant scores probabilities exactly, in a stream, and to the same last bit however the
work is split.
"""

import re
from importlib import import_module
from typing import Any

import calibrant._runtime.main_interpreter  # noqa: F401 (before the core is loaded)

# isort: split
from calibrant._core import __version__

# Modules are loaded when a name of theirs is first used: all of them take as long as NumPy. Which
# there are, and where, is written in __init__.pyi alone, which type checkers read, too.
_STUB = __spec__.loader.get_data(f"{__file__.rpartition('.')[0]}.pyi").decode()  # type: ignore[union-attr]
_MODULES: list[str] = []
_HOMES: dict[str, str] = {}
_home = ""
for _from, _name in re.findall(r"^from (\S+) import|(\w+) as \2", _STUB, re.MULTILINE):
    if _from:
        _home = _from.removeprefix("calibrant").lstrip(".")
    elif _home in ("", "_callables"):
        _MODULES.append(_name)
    elif _home != "_core":
        _HOMES[_name] = _home

__all__ = ["__version__", "streaming", *dict.fromkeys(_HOMES.values()), *_HOMES]
__all__.remove("LearnPlusPlus")  # there where scikit-learn is installed


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"calibrant.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"calibrant.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*_MODULES, *__all__})
