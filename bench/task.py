"""What is measured: a task, made of data, calibrant's way to do it, and the ways of its peers."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

#: Arguments of a call, made before the clock starts; every way to do a task gets the same ones.
Data = tuple[Any, ...]

#: Of tasks whose cost grows with the rows; 10^8 as well where growth is shown, and with --full.
LINEAR = (10**3, 10**4, 10**5, 10**6, 10**7)
TO_1E8 = (*LINEAR, 10**8)
TO_1E6 = LINEAR[:-1]


@dataclass(frozen=True)
class Peer:
    """Another way to do the same.

    `needs` is the module without which there is none of it. `answer` makes numbers of what the call
    gives, to be compared with calibrant's, or with `expected` where the peer has a convention of
    its own, which `differs` then states. A yardstick is not another way to do the task, but what
    its cost is measured by; its answer is not compared.
    """

    name: str
    call: Callable[..., Any]
    needs: str = "numpy"
    rtol: float = 1e-9
    atol: float = 0.0
    answer: Callable[[Any], Any] = lambda result: result
    differs: str = ""
    expected: Callable[..., Any] | None = None
    prepare: Callable[..., Data] | None = None
    yardstick: bool = False


@dataclass(frozen=True)
class Task:
    """One thing to do, by calibrant and by its peers, on `make(n)`.

    `check` is given the data and calibrant's answer, where no peer has one to compare.
    `unit` says what n counts, and `limit` how far n goes with --full.
    """

    name: str
    make: Callable[[int], Data]
    ours: Callable[..., Any]
    peers: tuple[Peer, ...] = ()
    answer: Callable[[Any], Any] = lambda result: result
    check: Callable[[Data, Any], None] | None = None
    sizes: tuple[int, ...] = LINEAR
    limit: int = 10**8
    unit: str = "rows"

    def all_sizes(self) -> tuple[int, ...]:
        """Return the sizes of --full: powers of ten from the first on."""
        more = [10**k for k in range(math.ceil(math.log10(max(self.sizes)) + 1e-9), 9)]
        return (*self.sizes, *(n for n in more if max(self.sizes) < n <= self.limit))


def bytes_of(data: Data) -> int:
    """Return the bytes of all arrays, which a call has to read at least once."""
    return sum(part.nbytes for part in data if isinstance(part, np.ndarray))


def numbers(answer: Any) -> np.ndarray:
    """Return all numbers of an answer, nested as it may be, in one row."""
    if isinstance(answer, (tuple, list)):
        return np.concatenate([numbers(part) for part in answer])
    return np.asarray(answer, dtype=np.float64).ravel()


def compared(task: Task, peer: Peer, data: Data, ours: Any, theirs: Any) -> str:
    """Say how the answers compare; raise AssertionError where they do not agree as stated."""
    if peer.yardstick:
        return "not compared"
    wanted = task.answer(ours) if peer.expected is None else peer.expected(*data)
    np.testing.assert_allclose(
        numbers(peer.answer(theirs)), numbers(wanted), rtol=peer.rtol, atol=peer.atol
    )
    tolerance = f"{peer.rtol:.0e}" if peer.rtol else f"{peer.atol:.0e} absolute"
    if peer.differs:
        return f"differs: {peer.differs}" + (f" (to {tolerance})" if peer.expected else "")
    return f"equal to {tolerance}"
