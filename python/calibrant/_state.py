"""Saved states, whatever they are of: which class reads them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from calibrant._saved import read_state, state_bytes

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = ["is_state", "load", "restore"]

_MAGIC = b"CLBR"


def load(path: str | os.PathLike[str]) -> Any:
    """Return the accumulator, or the evidence, that was saved in a file.

    Parameters
    ----------
    path : path
        Of a file that ``save`` wrote, of whatever accumulator.

    Raises
    ------
    ValueError
        If it is damaged, cut short, of a newer version, or no state at all.

    Examples
    --------
    >>> from calibrant.streaming import Scores
    >>> scores = Scores()
    >>> scores.update([1, 0], [0.75, 0.5])
    >>> scores.save("scores.state")
    >>> load("scores.state") == scores
    True
    """
    return read_state(path, restore)


def restore(state: Buffer) -> Any:
    """Return the accumulator, or the evidence, whose ``to_bytes`` gave these bytes.

    Raises
    ------
    ValueError
        If they are damaged, cut short, of a newer version, or no state at all.

    Examples
    --------
    >>> from calibrant.streaming import Spiegelhalter
    >>> restore(Spiegelhalter().to_bytes())
    Spiegelhalter(n=0)
    """
    block = state_bytes(state)
    kinds = _kinds()
    if block[:4] in kinds:
        return kinds[block[:4]].from_bytes(block)
    if block.startswith(_MAGIC):
        return _accumulator(block)
    raise ValueError("not a state saved by calibrant")


def is_state(path: str | os.PathLike[str]) -> bool:
    """Return whether a file begins as a state does, of whatever class."""
    with open(path, "rb") as file:  # noqa: PTH123  # any path
        return file.read(4) in (_MAGIC, *_kinds())


def _kinds() -> dict[bytes, Any]:
    """Return the classes whose states are no accumulator of the core, by what they begin with."""
    from calibrant import _evidence_bytes
    from calibrant._windowed import Windowed
    from calibrant.evidence import Evidence
    from calibrant.sequential import SequentialCalibrationTest

    return {
        _evidence_bytes.MAGIC: Evidence,
        Windowed.MAGIC: Windowed,
        SequentialCalibrationTest.MAGIC: SequentialCalibrationTest,
    }


def _accumulator(block: bytes) -> Any:
    """Try each class: all but one say that the state is of another kind."""
    from calibrant import streaming
    from calibrant._accumulator import Accumulator

    refusals = []
    for public in streaming.__all__:
        cls = getattr(streaming, public)
        if not (isinstance(cls, type) and issubclass(cls, Accumulator)):
            continue
        try:
            return cls.from_bytes(block)
        except ValueError as error:
            refusals.append(str(error))
    # One may know better than "another kind": that it is damaged, or newer.
    raise ValueError(min(refusals, key=lambda text: " expected, found " in text))
