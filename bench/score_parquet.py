"""``calibrant score`` beside what pyarrow takes merely to read the same columns.

    python -m bench.score_parquet [rows]        10^8 rows by default: 0.9 GB of disk

Each contender is a process of its own, timed from start to end, best of several; its memory is
the largest resident size. The rows are a float64 score and an int8 label, in row groups of 2^20.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

ROUNDS = 5
READ_TABLE = "import sys, pyarrow.parquet as pq; pq.read_table(sys.argv[1], columns=['y', 'p'])"
READ_BATCHES = """
import sys, pyarrow.dataset as ds
for batch in ds.dataset(sys.argv[1]).to_batches(columns=["y", "p"], batch_size=2**20):
    pass
"""


def write(path: Path, rows: int) -> None:
    rng = np.random.default_rng(6)
    schema = pa.schema([("y", pa.int8()), ("p", pa.float64())])
    with pq.ParquetWriter(path, schema) as writer:
        while rows > 0:
            p = rng.random(min(rows, 2**20))
            y = (rng.random(p.size) < p).astype(np.int8)
            writer.write_table(pa.table([y, p], schema=schema))
            rows -= p.size


def run(command: list[str]) -> tuple[float, float, int]:
    """Seconds, seconds of all processors, and the largest resident size in bytes."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    if status != 0:
        raise RuntimeError(f"{command} ended with {status}")
    return seconds, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024


def measure(rows: int = 10**8, *, quick: bool = False) -> dict[str, dict[str, float]]:
    """Return seconds, seconds of all processors and bytes of each."""
    if quick:
        rows = 10**6
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "predictions.parquet")
        write(path, rows)
        contenders = {
            "pyarrow, read_table": ["-c", READ_TABLE, str(path)],
            "pyarrow, in batches": ["-c", READ_BATCHES, str(path)],
            "calibrant score": ["-m", "calibrant", "score", str(path)],
        }
        found: dict[str, list[tuple[float, float, int]]] = {name: [] for name in contenders}
        for _ in range(1 if quick else ROUNDS):  # in turn, so that a busy moment hits all
            for name, arguments in contenders.items():
                found[name].append(run([sys.executable, *arguments]))
    return {
        name: {
            "rows": rows,
            "seconds": min(r[0] for r in runs),
            "processor_seconds": min(r[1] for r in runs),
            "bytes": max(r[2] for r in runs),
        }
        for name, runs in found.items()
    }


def main() -> None:
    rows = int(float(sys.argv[1])) if len(sys.argv) > 1 else 10**8
    found = measure(rows)
    floor = found["pyarrow, read_table"]["seconds"]
    print(f"{rows:.0e} rows                wall  all processors   memory   of read_table")
    for name, r in found.items():
        times = f"{r['seconds']:8.2f} s{r['processor_seconds']:14.2f} s"
        print(f"{name:<21}{times}{r['bytes'] / 1e6:7.0f} MB{r['seconds'] / floor:12.2f}")


if __name__ == "__main__":
    main()
