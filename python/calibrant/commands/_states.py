"""Saved states of any kind: which class reads them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

__all__ = ["load_state"]

_MAGIC = b"CLBR"


def load_state(name: str) -> Any:
    """Return the accumulator, or the evidence, whose bytes are in the file."""
    from calibrant import _evidence_bytes
    from calibrant.evidence import Evidence

    block = Path(name).read_bytes()
    try:
        if block.startswith(_evidence_bytes.MAGIC):
            return Evidence.from_bytes(block)
        if block.startswith(_MAGIC):
            return _accumulator(block)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error
    raise ValueError(f"{name}: not a state saved by calibrant")


def _accumulator(block: bytes) -> Any:
    """Try each class: all but one say that the state is of another kind."""
    from calibrant import streaming
    from calibrant._accumulator import Accumulator

    refusals = []
    for public in streaming.__all__:
        cls = getattr(streaming, public)
        if not issubclass(cls, Accumulator):
            continue
        try:
            return cls.from_bytes(block)
        except ValueError as error:
            refusals.append(str(error))
    # One may know better than "another kind": that it is damaged, or newer.
    raise ValueError(min(refusals, key=lambda text: " expected, found " in text))
