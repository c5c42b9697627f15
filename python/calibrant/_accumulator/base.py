"""The verbs that all accumulators share."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, Self, TypeVar

from calibrant._accumulator.serializable import Serializable
from calibrant._result import json_ready

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = ["Accumulator", "State", "class_name"]


class State(Protocol):
    """What an accumulator keeps its rows in: an object of the compiled core."""

    @property
    def n(self) -> int: ...
    def merge(self, other: Any, /) -> None: ...
    def to_bytes(self) -> bytes: ...
    @staticmethod
    def from_bytes(state: Buffer, /) -> Any: ...
    def copy(self) -> Any: ...


StateT = TypeVar("StateT", bound=State)


class Accumulator(Serializable, Generic[StateT]):
    """Base of everything that can be computed in one pass.

    Rows come in by ``update``, one batch after the other; accumulators of
    different batches, threads or machines are joined by `merge`; `result` may be
    asked at any time. The result is the same to the last bit however the rows
    were split, and an ``update`` or `merge` that raises leaves everything as it was.

    A subclass names its core class in ``_State``, makes one in ``__init__``, and
    brings ``update``, ``result`` and, if it has parameters, ``_parameters``. It keeps
    nothing outside ``_state``: copies and saved states would lose it. Hence the slots.
    """

    __slots__ = ("__weakref__", "_state")

    _State: ClassVar[type[Any]]
    _state: StateT

    @abstractmethod
    def result(self) -> Any:
        """What the rows so far amount to."""

    @classmethod
    def _check(cls, state: StateT) -> None:
        """Raise ValueError if the core could have such a state, but this class could not."""

    def _check_metric(self, name: str) -> None:
        """Raise ValueError if it names a number that this one does not keep, whatever its rows."""

    def _parameters(self) -> dict[str, object]:
        """What ``__init__`` was given, for `repr`; read from the state."""
        return {}

    @property
    def n(self) -> int:
        """The number of rows so far."""
        return self._state.n

    def merge(self, other: Self) -> Self:
        """Add the rows of another accumulator to this one.

        Parameters
        ----------
        other : accumulator of the same class with the same parameters
            It is left as it is. Merging an accumulator with itself counts its rows twice.

        Returns
        -------
        self
            So that merges can be chained.

        Raises
        ------
        TypeError
            If it is an accumulator of another class, or none.
        ValueError
            If its parameters differ.
        """
        if not self._is_like(other):
            raise TypeError(f"cannot merge {class_name(other)} into {class_name(self)}")
        self._state.merge(other._state)
        return self

    def to_bytes(self) -> bytes:
        """Return the state as bytes, for a file or another machine.

        Accumulators that are equal give equal bytes, on every machine.
        """
        return self._state.to_bytes()

    @classmethod
    def from_bytes(cls, state: Buffer) -> Self:
        """Return the accumulator whose `to_bytes` gave these bytes.

        Parameters
        ----------
        state : bytes-like object
            Also from another machine, or an older version of calibrant.

        Raises
        ------
        ValueError
            If they are damaged, of another class, or of a newer version. Bytes that
            have come from anywhere are safe to try.
        """
        restored = cls._State.from_bytes(state)
        cls._check(restored)
        return cls._from_state(restored)

    def to_dict(self) -> dict[str, Any]:
        """Return what it holds, ready for JSON: the class, rows, parameters and the result.

        The result is None where there is none: of no rows, or of no weight.
        """
        still = self.copy()  # as `_now`
        try:
            result = still.result()
        except ValueError:
            result = None
        view = result.to_dict() if hasattr(result, "to_dict") else result
        return {
            "kind": type(self).__name__,
            "n": still.n,
            "n_omitted": getattr(still, "n_omitted", 0),
            "parameters": json_ready(self._parameters()),
            "result": json_ready(view),
        }

    def copy(self) -> Self:
        """Return an independent accumulator with the same rows."""
        return self._from_state(self._state.copy())

    def _now(self) -> StateT:
        """Return a copy of the state: all that is read off it is of one moment.

        Other threads may add rows to the state itself between one number and the next.
        """
        copied: StateT = self._state.copy()
        return copied

    @classmethod
    def _from_state(cls, state: StateT) -> Self:
        made = cls.__new__(cls)
        made._state = state
        return made

    def _is_like(self, other: object) -> bool:
        return isinstance(other, Accumulator) and type(other._state) is type(self._state)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Accumulator) or not self._is_like(other):
            return NotImplemented
        return bool(self._state == other._state)

    __hash__ = None  # type: ignore[assignment]  # it changes with every update

    def __len__(self) -> int:
        return self.n

    def __repr__(self) -> str:
        shown = {"n": self.n, **self._parameters()}
        arguments = ", ".join(f"{name}={value!r}" for name, value in shown.items())
        return f"{class_name(self)}({arguments})"


def class_name(value: object) -> str:
    """Return what its class is called: a result may have the name of its accumulator."""
    kind = type(value)
    is_ours = isinstance(value, Accumulator) and kind.__module__.startswith("calibrant.")
    return f"streaming.{kind.__name__}" if is_ours else kind.__name__
