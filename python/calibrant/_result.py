"""What the results with more than one number share."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

__all__ = ["Result"]


def _short(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else repr(value)


class Result:
    """Base of the frozen dataclasses that functions return."""

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]

    def to_dict(self) -> dict[str, Any]:
        """Return the fields by name, ready for JSON; nested results become nested dicts."""
        return dataclasses.asdict(self)

    def __repr__(self) -> str:
        # Six digits, to be read; the attributes have them all. Fields that still have
        # their default say nothing.
        fields = [(f.name, getattr(self, f.name), f.default) for f in dataclasses.fields(self)]
        shown = [f"{name}={_short(value)}" for name, value, default in fields if value != default]
        return f"{type(self).__name__}({', '.join(shown)})"
