"""The verbs of what holds several states of the core, and is saved as one block."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Self

from calibrant._accumulator.container import pack, unpack
from calibrant._accumulator.serializable import Serializable, state_bytes

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = ["Composite"]


class Composite(Serializable):
    """Base of a Python object around several accumulators, with the verbs of one.

    A subclass has a magic of four bytes, a word for messages, and says what it is made of by
    ``_parts``: a head, ready for JSON, and states by name, from which ``_of_parts`` makes it
    again. All else follows from the bytes.
    """

    __slots__ = ()

    MAGIC: ClassVar[bytes]
    _WHAT: ClassVar[str]

    @abstractmethod
    def _parts(self) -> tuple[dict[str, Any], dict[str, bytes]]:
        """Return the head and the states."""

    @classmethod
    @abstractmethod
    def _of_parts(cls, head: dict[str, Any], states: dict[str, bytes]) -> Self:
        """Return what has these parts; raise ValueError if nothing could."""

    def to_bytes(self) -> bytes:
        """Return the state as bytes, for a file or another machine; equal ones give equal bytes."""
        return pack(*self._parts(), self.MAGIC)

    @classmethod
    def from_bytes(cls, state: Buffer) -> Self:
        """Return what `to_bytes` gave these bytes of, ready to go on.

        Raises
        ------
        ValueError
            If they are damaged, of another class, or of a newer version.
        """
        head, states = unpack(state_bytes(state), cls.MAGIC, cls._WHAT)
        try:
            return cls._of_parts(head, states)
        except (
            ArithmeticError, AssertionError, AttributeError, LookupError, TypeError,
        ) as error:  # fmt: skip
            raise ValueError(f"{cls._WHAT} is damaged: {error!r}") from error

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self.to_bytes() == other.to_bytes()

    __hash__ = None  # type: ignore[assignment]  # it changes with every update
