"""`calibrant score` on a Parquet file beside what pyarrow takes to read the same columns.

Each contender is a process of its own, timed from its start to its end.
"""

import json
import sys
import tempfile
from pathlib import Path

import numpy as np

import calibrant
from bench.case import Case, benchmarks, binary, run, yardstick

READ_TABLE = "import sys, pyarrow.parquet as pq; pq.read_table(sys.argv[1], columns=['y', 'p'])"
FOLDER = tempfile.TemporaryDirectory()


def parquet(n):
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = Path(FOLDER.name, f"{n}.parquet")
    schema = pa.schema([("y", pa.int8()), ("p", pa.float64())])
    with pq.ParquetWriter(path, schema) as writer:
        for begin in range(0, n, 10**6):
            y, p = binary(min(n - begin, 10**6))
            writer.write_table(pa.table([y.astype(np.int8), p], schema=schema))
    return (str(path),)


def python(*command):
    return lambda path: run([sys.executable, *command, path])


def same_card(data, found):
    import pyarrow.parquet as pq

    rows = pq.read_table(*data)
    brier = calibrant.brier_score(rows["y"].to_numpy(), rows["p"].to_numpy())
    assert repr(brier) in found.out, json.loads(found.out)


test_commands = benchmarks(
    Case("calibrant score, Parquet", parquet, python("-m", "calibrant", "score", "--json"),
         (yardstick("pyarrow, read_table", python("-c", READ_TABLE), needs="pyarrow"),),
         check=same_card, most=10**6, large=(10**8,), threads=False),
)  # fmt: skip
