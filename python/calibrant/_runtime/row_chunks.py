"""Arrays worked at by slices, so that signals are answered and what lies between stays small."""

from __future__ import annotations

import math
from collections.abc import Iterator

__all__ = ["slices"]

#: A few milliseconds of work for NumPy.
_VALUES = 2**20


def slices(shape: tuple[int, ...]) -> Iterator[slice]:
    """Yield slices of the rows of an array of this shape, all of them in order."""
    step = max(1, _VALUES // max(1, math.prod(shape[1:])))
    for begin in range(0, shape[0], step):
        yield slice(begin, min(begin + step, shape[0]))
