"""Real engines on this machine: the bits of one pass, also when a worker dies half-way.

Each needs its extra, and is skipped without: pip install ".[dask,spark,ray]".
"""

from __future__ import annotations

import os
import shutil
import sys
from functools import partial as fixed
from pathlib import Path

import numpy as np
import pytest

from calibrant import distributed, streaming

pytestmark = [pytest.mark.engine, pytest.mark.filterwarnings("default")]

N = 4_000
ROLES = {"label": "y", "prob": "p", "weight": "w"}
FACTORY = fixed(streaming.Scorecard, n_bins=10)
DAYS = fixed(streaming.Windowed, streaming.Scores, every=np.timedelta64(1, "D"))
WINDOW_ROLES = {"label": "y", "prob": "p", "timestamp": "t"}

KEYS = np.array(["a", "b", "ü"])
GROUPED = fixed(streaming.Grouped, streaming.Scores)
GROUP_ROLES = {"label": "y", "prob": "p", "group": "g"}


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(11)
    p = rng.random(N)
    y = (rng.random(N) < p).astype(np.int64)
    code = rng.integers(0, 3, N)
    spans = rng.integers(0, 10**12, N).astype("timedelta64[us]")  # eleven days
    return {
        "y": y, "p": p, "w": rng.integers(0, 4, N) / 2.0, "weight": -p, "un named": p,
        "t": np.datetime64("2026-03-25T00:00") + spans, "code": code, "g": KEYS[code],
    }  # fmt: skip


@pytest.fixture(scope="module")
def alone(table):
    total = FACTORY()
    total.update(table["y"], table["p"], sample_weight=table["w"])
    return total


@pytest.fixture(scope="module")
def grouped(table):
    total = GROUPED()
    total.update(table["y"], table["p"], groups=table["g"])
    return total


@pytest.fixture(scope="module")
def three():
    """Probabilities of three classes."""
    return np.random.default_rng(12).dirichlet([1, 1, 1], N)


@pytest.fixture(scope="module")
def classes(table, three):
    total = streaming.Scores()
    total.update(table["code"], three)
    return total


@pytest.fixture(scope="module")
def by_day(table):
    """Windows of a stream in the order of time."""
    rows = np.argsort(table["t"], kind="stable")
    windows = DAYS()
    windows.update(table["y"][rows], table["p"][rows], timestamps=table["t"][rows])
    return windows


def dying_once(marker):
    """Return a function after whose first call the process is gone.

    A function inside of another, so that it is sent to workers as a whole: they cannot import
    this file.
    """

    def die_once():
        try:
            Path(marker).touch(exist_ok=False)
        except FileExistsError:
            return
        os._exit(1)

    return die_once


# --- Dask


@pytest.fixture(scope="module")
def cluster():
    pytest.importorskip("dask.dataframe", reason='pip install ".[dask]"')
    distributed_ = pytest.importorskip("distributed", reason='pip install ".[dask]"')
    with (
        distributed_.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None
        ) as local,
        distributed_.Client(local) as client,
    ):
        yield client


@pytest.mark.usefixtures("cluster")
@pytest.mark.parametrize("fan_in", [2, 16])
def test_dask_frame(table, alone, fan_in):
    import dask.dataframe as dd
    import pandas as pd

    frame = dd.from_pandas(pd.DataFrame(table), npartitions=9)
    assert distributed.dask(frame, FACTORY, fan_in=fan_in, **ROLES) == alone


@pytest.mark.usefixtures("cluster")
def test_dask_windows(table, by_day):
    import dask.dataframe as dd
    import pandas as pd

    rows = pd.DataFrame(table)
    zoned = rows.assign(t=rows["t"].dt.tz_localize("UTC").dt.tz_convert("Europe/Berlin"))
    for frame in (rows, zoned):
        parts = dd.from_pandas(frame, npartitions=5)
        assert distributed.dask(parts, DAYS, fan_in=2, **WINDOW_ROLES) == by_day


@pytest.mark.usefixtures("cluster")
def test_dask_arrays(table, alone):
    import dask.array as da

    arrays = {name: da.from_array(table[name], chunks=700) for name in ("y", "p", "w")}
    assert distributed.dask(arrays, FACTORY, **ROLES) == alone
    arrays["w"] = arrays["w"].rechunk(500)
    with pytest.raises(ValueError, match="chunks of rows must be the same"):
        distributed.dask(arrays, FACTORY, **ROLES)


@pytest.mark.usefixtures("cluster")
def test_dask_arrays_of_several_columns(table):
    import dask.array as da

    both = np.stack([1 - table["p"], table["p"]], axis=1)
    arrays = {"y": da.from_array(table["y"], chunks=900), "p": da.from_array(both, chunks=(900, 1))}
    total = streaming.Scores()
    total.update(table["y"], both)
    assert distributed.dask(arrays, streaming.Scores, label="y", prob="p") == total


@pytest.mark.usefixtures("cluster")
def test_a_dask_worker_dies_half_way(table, alone, tmp_path):
    from dask import delayed

    marker = tmp_path / "died"
    die = dying_once(marker)

    def part(rows, first):
        if first > N // 2:
            die()
        return {name: values[rows] for name, values in table.items()}

    load = delayed(part, pure=False)
    tables = [load(rows, rows[0]) for rows in np.array_split(np.arange(N), 8)]
    assert distributed.dask(tables, FACTORY, fan_in=3, **ROLES) == alone
    assert marker.exists()


@pytest.mark.usefixtures("cluster")
def test_dask_errors_name_the_row(table):
    import dask.dataframe as dd
    import pandas as pd

    p = table["p"].copy()
    p[17] = 2.0
    frame = dd.from_pandas(pd.DataFrame({**table, "p": p}), npartitions=2)
    with pytest.raises(ValueError, match=r"column 'p' must lie in \[0, 1\], found 2 at row 17"):
        distributed.dask(frame, FACTORY, **ROLES)


@pytest.mark.usefixtures("cluster")
@pytest.mark.parametrize("key", ["text", "category"])
def test_dask_groups(table, grouped, key):
    import dask.dataframe as dd
    import pandas as pd

    rows = pd.DataFrame(table)
    rows = rows if key == "text" else rows.astype({"g": "category"})
    frame = dd.from_pandas(rows, npartitions=5)
    assert distributed.dask(frame, lambda: GROUPED(), **GROUP_ROLES) == grouped
    assert distributed.dask(frame[frame["p"] > 2], GROUPED, **GROUP_ROLES) == GROUPED()


@pytest.mark.usefixtures("cluster")
def test_dask_errors_name_the_partition_and_the_column(table):
    import dask.array as da
    import dask.dataframe as dd
    import pandas as pd

    p = table["p"].copy()
    p[-1] = 2.0
    frame = dd.from_pandas(pd.DataFrame({**table, "p": p}), npartitions=4)
    with pytest.raises(ValueError, match=r"partition 3: .*column 'p' .* found 2 at row 999"):
        distributed.dask(frame, FACTORY, **ROLES)
    y = da.from_array(table["y"])
    for collection in (frame, {"y": y, "w": y}):
        with pytest.raises(ValueError, match="collection has no column 'z'"):
            distributed.dask(collection, FACTORY, label="y", prob="z")
    for collection in (y, frame["p"], frame.to_delayed()[0]):
        with pytest.raises(TypeError, match="collection must be a dask DataFrame, a dict"):
            distributed.dask(collection, FACTORY, **ROLES)
    with pytest.raises(TypeError, match=r"collection\['p'\] must be a dask Array, got ndarray"):
        distributed.dask({"y": y, "p": p}, FACTORY, label="y", prob="p")


# --- Spark


@pytest.fixture(scope="module")
def spark():
    sql = pytest.importorskip("pyspark.sql", reason='pip install ".[spark]"')
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java")
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    builder = sql.SparkSession.builder.master("local[2,3]")  # two threads, three tries
    settings = {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.session.timeZone": "UTC",
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture(scope="module")
def frame(spark, table, three):
    import pyarrow as pa

    rows = pa.table({**table, "three": three.tolist()})
    return spark.createDataFrame(rows).repartition(7)


@pytest.mark.parametrize("fan_in", [2, 16])
def test_spark_frame(frame, alone, fan_in):
    assert distributed.spark(frame, FACTORY, fan_in=fan_in, **ROLES) == alone


def test_spark_names_and_empty_frames(frame, table):
    total = streaming.Scores()
    total.update(table["y"], table["un named"])
    assert distributed.spark(frame, streaming.Scores, label="y", prob="un named") == total
    empty = frame.limit(0)
    assert distributed.spark(empty, streaming.Scores, label="y", prob="p") == streaming.Scores()


def test_spark_windows(frame, by_day):
    local = frame.withColumn("t", frame["t"].cast("timestamp_ntz"))
    for rows in (frame, local):  # moments; the same by the clock of the session, which is UTC
        assert distributed.spark(rows, DAYS, fan_in=3, **WINDOW_ROLES) == by_day


def test_spark_groups_and_arrays(frame, table, grouped, classes):
    assert distributed.spark(frame, lambda: GROUPED(), **GROUP_ROLES) == grouped
    assert distributed.spark(frame, streaming.Scores, label="code", prob="three") == classes
    dotted = frame.withColumnRenamed("p", "model.p")
    total = streaming.Scores()
    total.update(table["y"], table["p"])
    assert distributed.spark(dotted, streaming.Scores, label="y", prob="model.p") == total


def test_what_comes_before_spark_runs_once(spark, frame, alone):
    """With a shuffle in between, to ask for the number of partitions would run it again."""
    rows = spark.sparkContext.accumulator(0)

    def counted(batches):
        for batch in batches:
            rows.add(batch.num_rows)
            yield batch

    shuffled = frame.mapInArrow(counted, frame.schema).repartition(5)
    assert distributed.spark(shuffled, FACTORY, **ROLES) == alone
    assert rows.value == N


def test_spark_errors_name_the_partition_and_the_row(spark):
    rows = spark.range(0, 1_000, numPartitions=2).selectExpr("0 AS y", "id / 998 AS p")
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "100")
    try:
        with pytest.raises(Exception, match=r"partition 1: .*column 'p' .* at row 499"):
            distributed.spark(rows, streaming.Scores, label="y", prob="p")
    finally:
        spark.conf.unset("spark.sql.execution.arrow.maxRecordsPerBatch")
    with pytest.raises(TypeError, match="frame must be a DataFrame of Spark"):
        distributed.spark({"y": [1], "p": [0.5]}, streaming.Scores, label="y", prob="p")


def test_a_spark_task_fails_half_way(frame, alone, tmp_path):
    die = dying_once(tmp_path / "died")

    def dying(batches):
        for batch in batches:
            yield batch
            die()

    assert distributed.spark(frame.mapInArrow(dying, frame.schema), FACTORY, **ROLES) == alone
    assert (tmp_path / "died").exists()


# --- Ray


@pytest.fixture(scope="module")
def ray():
    ray = pytest.importorskip("ray", reason='pip install ".[ray]"')
    pytest.importorskip("ray.data", reason='pip install ".[ray]"')
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    ray.data.DataContext.get_current().enable_progress_bars = False
    yield ray
    ray.shutdown()


def test_ray_dataset(ray, table, alone):
    import pyarrow as pa

    dataset = ray.data.from_arrow(pa.table(table)).repartition(5)
    assert distributed.ray(dataset, FACTORY, **ROLES) == alone


def test_ray_windows(ray, table, by_day):
    import pyarrow as pa

    dataset = ray.data.from_arrow(pa.table(table)).repartition(5)
    assert distributed.ray(dataset, DAYS, **WINDOW_ROLES) == by_day


def test_ray_groups_and_tensors(ray, table, three, grouped, classes):
    import pyarrow as pa

    dataset = ray.data.from_arrow(pa.table(table)).repartition(5)
    assert distributed.ray(dataset, lambda: GROUPED(), **GROUP_ROLES) == grouped
    code = table["code"]
    tensors = ray.data.range(N, override_num_blocks=3).map_batches(
        lambda batch: {"y": code[batch["id"]], "p": three[batch["id"]]}
    )
    assert distributed.ray(tensors, streaming.Scores, label="y", prob="p") == classes
    with pytest.raises(TypeError, match="dataset must be a Dataset of Ray"):
        distributed.ray([1], streaming.Scores, label="y", prob="p")


def test_ray_empty_dataset(ray, table):
    import pyarrow as pa

    empty = ray.data.from_arrow(pa.table(table).slice(0, 0))
    assert distributed.ray(empty, FACTORY, **ROLES) == FACTORY()


def test_a_ray_worker_dies_half_way(ray, table, alone, tmp_path):
    import pyarrow as pa

    die = dying_once(tmp_path / "died")

    def dying(block):
        die()
        return block

    dataset = ray.data.from_arrow(pa.table(table)).repartition(4)
    fragile = dataset.map_batches(dying, batch_format="pyarrow", batch_size=None)
    assert distributed.ray(fragile, FACTORY, **ROLES) == alone
    assert (tmp_path / "died").exists()


@pytest.mark.parametrize("where", ["here", "before"])
def test_ray_loses_no_block_that_fails(ray, table, where):
    import pyarrow as pa

    before = ray.data.DataContext.get_current().max_errored_blocks
    rows = {**table, "p": table["p"] * np.where(np.arange(N) == N - 1, 3.0, 1.0)}
    if where == "before":
        rows = table

    def failing(batch):
        if table["p"][-1] in batch["p"]:
            raise RuntimeError("of the user")
        return batch

    try:
        ray.data.DataContext.get_current().max_errored_blocks = -1
        dataset = ray.data.from_arrow(pa.table(rows)).repartition(5)
        if where == "before":
            dataset = dataset.map_batches(failing)
        with pytest.raises(Exception, match=r"of the user|must lie in"):
            distributed.ray(dataset, FACTORY, **ROLES)
        assert ray.data.DataContext.get_current().max_errored_blocks == -1
    finally:
        ray.data.DataContext.get_current().max_errored_blocks = before
