"""Threads, and what the compiled core runs with.

The environment variables ``CALIBRANT_NUM_THREADS`` and ``CALIBRANT_ISA`` (``baseline``,
``avx2`` or ``avx512``) are read when calibrant is imported; a wrong value is an
ImportError. Neither changes a result, not even in its last bit.
"""

from __future__ import annotations

from typing import SupportsIndex

import numpy as np

from calibrant import _core
from calibrant._input.validation import checked_count

__all__ = ["config", "get_num_threads", "set_num_threads", "show_config"]


def __dir__() -> list[str]:
    return __all__


_OPENMP_VERSIONS = {
    201107: "3.1",
    201307: "4.0",
    201511: "4.5",
    201811: "5.0",
    202011: "5.1",
    202111: "5.2",
    202411: "6.0",
}


def set_num_threads(n: SupportsIndex) -> None:
    """Set how many threads a call may use, in the whole process.

    Parameters
    ----------
    n : int
        From 1 to 1024. 0 goes back to the default: ``CALIBRANT_NUM_THREADS`` if it is
        set, or else ``OMP_NUM_THREADS``, or else as many as the process may use processors
        by its affinity mask and the quota of its container.

    Notes
    -----
    Results do not depend on it, and threads that the system does not let run make no call slower.
    A forked process (`os.fork`, `multiprocessing` with the start method "fork") always uses one
    thread, because the others stay behind in the parent.

    Examples
    --------
    >>> set_num_threads(2)
    >>> get_num_threads()
    2
    >>> set_num_threads(0)
    """
    _core.set_num_threads(checked_count(n, "n", least=-(2**63)))


def get_num_threads() -> int:
    """Return how many threads a call may use.

    Examples
    --------
    >>> get_num_threads() >= 1
    True
    """
    return _core.num_threads()


def config() -> dict[str, object]:
    """Return what calibrant runs with, as `show_config` prints it.

    Returns
    -------
    dict
        With the keys ``version``, ``numpy``, ``compiler``, ``flags``, ``cpp_standard``,
        ``openmp`` (None if built without), ``num_threads``, ``num_threads_source``,
        ``isa``, ``isa_source`` and ``available_isas``. The source of the number of threads is
        what decided it: ``"set_num_threads"``, ``"CALIBRANT_NUM_THREADS"``, ``"OMP_NUM_THREADS"``,
        ``"OpenMP"`` (threadpoolctl, say), ``"processors"`` (all of them), ``"affinity"``,
        ``"cgroup quota"``, ``"fork"`` or ``"work_alone"`` (a thread of `calibrant.io`).

    Examples
    --------
    >>> config()["available_isas"][0]
    'baseline'
    """
    from calibrant import __version__  # not above: the package imports this module

    found = _core.config()
    date = found["openmp_date"]
    return {
        "version": __version__,
        "numpy": np.__version__,
        "compiler": found["compiler"],
        "flags": found["flags"],
        "cpp_standard": f"C++{found['cpp_standard'] % 100}",
        "openmp": _OPENMP_VERSIONS.get(date, str(date)) if date else None,
        "num_threads": found["num_threads"],
        "num_threads_source": found["num_threads_source"],
        "isa": found["isa"],
        "isa_source": found["isa_source"],
        "available_isas": tuple(found["available_isas"]),
    }


def show_config() -> None:
    """Print what calibrant runs with; please add it to bug reports."""
    found = config()
    available = found["available_isas"]
    assert isinstance(available, tuple)
    isa_origin = f"from {found['isa_source']}; available: {', '.join(available)}"
    lines = {
        "calibrant": found["version"],
        "numpy": found["numpy"],
        "compiler": f"{found['compiler']}, {found['cpp_standard']}, {found['flags'] or 'no flags'}",
        "OpenMP": found["openmp"] or "none",
        "threads": f"{found['num_threads']} (from {found['num_threads_source']})",
        "instruction set": f"{found['isa']} ({isa_origin})",
    }
    width = max(map(len, lines))
    for name, value in lines.items():
        print(f"{name:<{width}}  {value}")  # noqa: T201  # printing is its purpose
