"""What all that is saved as bytes has in common: files, copies and pickles."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self, TypeVar

from calibrant._runtime.atomic_file import checked_path, write_file

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = ["Serializable", "read_state", "state_bytes"]

T = TypeVar("T")


def read_state(path: str | os.PathLike[str], from_bytes: Callable[[bytes], T]) -> T:
    """Return what `from_bytes` makes of a file; a rejection names the file."""
    block = checked_path(path).read_bytes()
    try:
        return from_bytes(block)
    except ValueError as error:
        raise ValueError(f"{os.fspath(path)}: {error}") from error


def state_bytes(state: Any) -> bytes:
    """Return a state as bytes; bytes(3) would make three of a number."""
    try:
        return bytes(memoryview(state))
    except TypeError:
        kind = type(state).__name__
        raise TypeError(f"state must be a bytes-like object, got {kind}") from None


class Serializable(ABC):
    """Base of what has ``to_bytes`` and ``from_bytes``; the rest follows from these."""

    __slots__ = ()

    @abstractmethod
    def to_bytes(self) -> bytes:
        """Return the state as bytes; equal ones give equal bytes."""

    @classmethod
    @abstractmethod
    def from_bytes(cls, state: Buffer) -> Self:
        """Return what `to_bytes` gave these bytes of; raise ValueError if nothing could."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write `to_bytes` to a file, so that a crash leaves the old file or the new one.

        The bytes go to another name and to the disk before they take the place of the file.
        """
        write_file(path, self.to_bytes())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Return what `save` wrote; errors name the file.

        `calibrant.streaming.load` reads a file of any class.

        Raises
        ------
        ValueError
            As `from_bytes`.
        """
        return read_state(path, cls.from_bytes)

    def copy(self) -> Self:
        """Return an independent one with the same rows."""
        return self.from_bytes(self.to_bytes())

    def __copy__(self) -> Self:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self.copy()

    def __reduce__(self) -> tuple[Any, ...]:
        # A pickle holds the documented bytes and nothing of how we keep them in memory,
        # so it can be read for as long as they can.
        return type(self).from_bytes, (self.to_bytes(),)
