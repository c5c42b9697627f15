"""Saved states, whatever they are of: which class reads them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from calibrant import _core
from calibrant._accumulator.serializable import read_state, state_bytes

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
    streaming.Spiegelhalter(n=0)
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
    from calibrant.evidence import Evidence
    from calibrant.sequential import SequentialCalibrationTest
    from calibrant.streaming import Windowed

    return {kind.MAGIC: kind for kind in (Evidence, Windowed, SequentialCalibrationTest)}


def _accumulator(block: bytes) -> Any:
    """Let the class read it that its header names."""
    from calibrant import streaming

    kind = int.from_bytes(block[6:8], "little")
    name = _core.state_kinds.get(kind)
    if name is not None and name in streaming.__all__:
        return getattr(streaming, name).from_bytes(block)
    try:
        return streaming.Scores.from_bytes(block)  # says if it is damaged, or cut short
    except ValueError as error:
        if " expected, found " not in str(error):
            raise
    raise ValueError(f"state of kind {kind}, which this calibrant does not know; a newer one may")
