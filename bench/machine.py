"""The machine and what runs on it, and how fast it can read."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

import calibrant

#: As on the package index; each is optional.
PEERS = (
    "numpy", "scipy", "scikit-learn", "mapie", "netcal", "torch", "torchmetrics", "scoringrules",
    "numba", "hyppo", "arviz", "arviz-stats", "prdc", "vendi-score", "relplot", "covmetrics",
    "pandas", "polars", "pyarrow",
)  # fmt: skip


def cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def thread_counts(most: int | None = None) -> list[int]:
    """Return 1, 2, 4, … and all."""
    most = most or cores()
    return sorted({*(2**k for k in range(most.bit_length()) if 2**k <= most), most})


def processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or "unknown processor"


def versions() -> dict[str, str | None]:
    found: dict[str, str | None] = {}
    for name in PEERS:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = None
    return found


def read_bandwidth(threads: int, megabytes: int = 400) -> float:
    """Return bytes a second at which so many threads can add up integers from memory."""
    parts = np.array_split(np.ones(megabytes * 125_000, np.int64), threads)
    best = np.inf
    with ThreadPoolExecutor(threads) as pool:
        for _ in range(7):
            start = time.perf_counter()
            list(pool.map(np.sum, parts))
            best = min(best, time.perf_counter() - start)
    return megabytes * 1e6 / best


def describe() -> dict[str, Any]:
    config = calibrant.config.config()
    return {
        "processor": processor(),
        "cores": cores(),
        "python": platform.python_version(),
        "calibrant": calibrant.__version__,
        "isa": config["isa"],
        "compiler": config["compiler"],
        "versions": versions(),
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
    }
