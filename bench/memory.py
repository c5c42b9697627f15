"""The largest memory of a call beyond what there was before it, of this process."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any

STATUS, RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def status_bytes(key: str) -> int:
    line = next(line for line in STATUS.read_text().splitlines() if line.startswith(key))
    return int(line.split()[1]) * 1024


def hand_back() -> None:
    """Give freed memory back to the system, so that the next call has to ask for its own."""
    gc.collect()
    with contextlib.suppress(AttributeError, OSError):  # not the GNU library
        ctypes.CDLL(None).malloc_trim(0)


def with_peak(call: Callable[[], Any]) -> tuple[Any, int]:
    """Return what a call gives, and the bytes it needed at most beyond what was in use."""
    hand_back()
    try:
        RESET.write_text("5")  # the high-water mark, down to what is in use
        before = status_bytes("VmRSS")
    except (OSError, StopIteration):  # not Linux: the mark of the whole process so far
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        result = call()
        return result, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before
    result = call()
    return result, max(0, status_bytes("VmHWM") - before)


def available() -> int:
    """Return the bytes that the machine can still give, or 8 GB where it does not say."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return 8 * 10**9
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))
