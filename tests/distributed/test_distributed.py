"""The three pure functions of a distributed run, and the executors of the standard library."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial as fixed
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from calibrant import distributed, set_num_threads, streaming
from calibrant.config import config
from calibrant.distributed import Spec, combine, finish, partial
from calibrant.evidence import Evidence
from calibrant.sequential import SequentialCalibrationTest

N = 600
ROLES = {"label": "y", "prob": "p", "weight": "w"}


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(10)
    p = rng.random(N)
    return {
        "y": (rng.random(N) < p).astype(np.int64), "p": p, "w": rng.integers(0, 4, N) / 2.0,
        "low": p - 0.3, "high": p + 0.3, "extra": p,
    }  # fmt: skip


def rows_of(table, rows):
    return {name: values[rows] for name, values in table.items()}


def parts_of(table, n):
    return [rows_of(table, rows) for rows in np.array_split(np.arange(N), n)]


def alone(factory, table):
    total = factory()
    total.update(table["y"], table["p"], sample_weight=table["w"])
    return total


@settings(max_examples=20)
@given(
    cuts=st.lists(st.integers(0, N), max_size=6).map(sorted),
    order=st.randoms(use_true_random=False),
    fan_in=st.integers(2, 4),
)
def test_any_partitions_and_any_tree_give_the_same_bytes(table, cuts, order, fan_in):
    spec = Spec(streaming.Scorecard, ROLES)
    rows = np.split(np.arange(N), cuts)
    states = [partial(rows_of(table, part), spec) for part in rows]
    order.shuffle(states)
    while len(states) > 1:
        states = [combine(states[i : i + fan_in]) for i in range(0, len(states), fan_in)]
    whole = alone(streaming.Scorecard, table)
    assert states[0] == whole.to_bytes()
    assert finish(states[0]) == whole.result()


@pytest.mark.parametrize(
    ("factory", "roles", "arguments"),
    [
        (streaming.RiskProfile, ROLES, ("y", "p")),
        (fixed(streaming.Scorecard, n_bins=7), ROLES, ("y", "p")),
        (
            fixed(streaming.Intervals, [0.9]),
            {"label": "p", "low": "low", "high": "high", "level": 0.9, "weight": "w"},
            ("p", ("low", "high")),
        ),
    ],
)
def test_what_update_asks_for_it_gets(table, factory, roles, arguments):
    total = factory()
    given = [
        tuple(table[name] for name in names) if isinstance(names, tuple) else table[names]
        for names in arguments
    ]
    total.update(*given, sample_weight=table["w"])
    assert distributed.local(parts_of(table, 5), factory, **roles) == total


WEEK = 7 * 24 * 3600 * 10**6
BY_DAY = fixed(
    streaming.Windowed, streaming.Scores, every=np.timedelta64(1, "D"),
    length=np.timedelta64(2, "D"), lateness=np.timedelta64(1, "h"),
)  # fmt: skip
WINDOW_ROLES = {"label": "y", "prob": "p", "timestamp": "t"}


@pytest.fixture(scope="module")
def timed(table):
    """Rows of a week, in no order."""
    spans = np.random.default_rng(12).integers(0, WEEK, N).astype("timedelta64[us]")
    return {**table, "t": np.datetime64("2026-03-02T00:00") + spans}


@pytest.mark.parametrize("keep", [100, 2])
@settings(max_examples=20)
@given(
    cuts=st.lists(st.integers(0, N), max_size=6).map(sorted),
    order=st.randoms(use_true_random=False),
)
def test_windows_of_any_partitions_are_those_of_rows_in_the_order_of_time(timed, keep, cuts, order):
    spec = Spec(fixed(BY_DAY, keep=keep), WINDOW_ROLES)
    states = [partial(rows_of(timed, rows), spec) for rows in np.split(np.arange(N), cuts)]
    order.shuffle(states)
    middle = len(states) // 2
    tree = [combine(some) for some in (states[:middle], states[middle:]) if some]

    stream = BY_DAY(keep=keep)
    for rows in np.array_split(np.argsort(timed["t"], kind="stable"), 5):
        stream.update(timed["y"][rows], timed["p"][rows], timestamps=timed["t"][rows])
    assert combine(tree) == stream.to_bytes()
    assert stream.n_late == 0


@pytest.mark.parametrize("late", ["count", "raise"])
def test_no_row_of_a_table_is_late(timed, late):
    windows = distributed.local(parts_of(timed, 4), fixed(BY_DAY, late=late), **WINDOW_ROLES)
    assert (windows.n, windows.n_late) == (N, 0)
    assert len(windows.windows()) == 7
    for window in windows.windows():
        inside = (window.start <= timed["t"]) & (timed["t"] < window.end)
        scores = streaming.Scores()
        scores.update(timed["y"][inside], timed["p"][inside])
        assert window.accumulator == scores


@pytest.mark.parametrize(
    ("factory", "roles", "error", "message"),
    [
        (BY_DAY, {"label": "y", "prob": "p"}, TypeError, "no column was named for timestamps"),
        (
            fixed(streaming.Windowed, streaming.Scores, rows=10), WINDOW_ROLES,
            ValueError, "windows by row count depend on the order",
        ),
        (
            fixed(streaming.Windowed, streaming.Scores, every=60), WINDOW_ROLES,
            TypeError, "column 't' must be numbers, as every is one",
        ),
        (BY_DAY, {**WINDOW_ROLES, "timestamp": "p"}, TypeError, "column 'p' must be dates"),
    ],
)  # fmt: skip
def test_windows_that_cannot_be(timed, factory, roles, error, message):
    with pytest.raises(error, match=message):
        distributed.local([timed], factory, **roles)


def test_a_row_without_a_time_is_rejected(timed):
    parts = parts_of(timed, 3)
    parts[1]["t"][7] = np.datetime64("NaT")
    for missing in ("reject", "skip"):
        with pytest.raises(ValueError, match=r"column 't' must not be missing, .* at row 7"):
            distributed.local(parts, BY_DAY, missing=missing, **WINDOW_ROLES)


def test_evidence_is_gathered_too(table):
    roles = {"label": "y", "prob": "p"}
    found = distributed.local(parts_of(table, 4), fixed(Evidence, gather=()), **roles)
    whole = Evidence(gather=())
    whole.update(table["y"], table["p"])
    assert found.result() == whole.result()


def test_missing_values_are_skipped_and_counted(table):
    holed = {**table, "p": np.where(np.arange(N) % 7, table["p"], np.nan)}
    total = distributed.local(
        parts_of(holed, 3), streaming.Scores, label="y", prob="p", missing="skip"
    )
    assert total.n + total.n_omitted == N
    assert total.n_omitted == np.isnan(holed["p"]).sum()


def test_text_labels(table):
    named = {**table, "y": np.array(["no", "yes"])[table["y"]]}
    total = distributed.local(
        parts_of(named, 3), streaming.Scores, label="y", prob="p", classes=["no", "yes"]
    )
    whole = streaming.Scores()
    whole.update(table["y"], table["p"])
    assert total == whole


@pytest.mark.parametrize("workers", [1, 3])
def test_threads(table, workers):
    batches = iter(parts_of(table, 40))
    found = distributed.local(batches, streaming.Scorecard, n_workers=workers, **ROLES)
    assert found == alone(streaming.Scorecard, table)


def test_processes(table):
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        found = distributed.local(parts_of(table, 5), streaming.Scorecard, executor=pool, **ROLES)
    assert found == alone(streaming.Scorecard, table)


def test_files(table, tmp_path):
    for i, part in enumerate(parts_of(table, 3)):
        np.savez(tmp_path / f"part{i}.npz", **part)
    names = sorted(tmp_path.iterdir())
    found = distributed.local(names, streaming.Scorecard, **ROLES)
    assert found == alone(streaming.Scorecard, table)


def test_no_batches_is_an_empty_accumulator():
    assert distributed.local([], streaming.Scores, **ROLES) == streaming.Scores()
    with pytest.raises(ValueError, match="no states"):
        combine([])


def test_batches_are_read_as_they_are_needed(table):
    read = []

    def batches():
        for part in parts_of(table, 60):
            read.append(len(read))
            yield part

    class Watched(ThreadPoolExecutor):
        most = 0

        def submit(self, *args, **kwargs):
            Watched.most = max(Watched.most, len(read) - len(done))
            future = super().submit(*args, **kwargs)
            future.add_done_callback(lambda _: done.append(1))
            return future

    done = []
    with Watched(2) as pool:
        distributed.local(batches(), streaming.Scores, executor=pool, n_workers=2, **ROLES)
    assert Watched.most <= 2 * 2 + 2


def test_a_bad_row_in_one_batch_gives_no_result(table):
    parts = parts_of(table, 4)
    parts[2]["p"][3] = 1.5
    with pytest.raises(ValueError, match=r"column 'p' must lie in \[0, 1\], found 1.5 at row 3"):
        distributed.local(parts, streaming.Scorecard, **ROLES)


@pytest.mark.parametrize(
    ("factory", "roles", "message"),
    [
        (None, ROLES, "factory must make an accumulator"),
        (streaming.Scores, {"prob": "p"}, "label is missing"),
        (streaming.Scores, {**ROLES, "positive": "yes"}, "name all classes"),
        (fixed(streaming.Intervals, [0.9]), ROLES, "no column was named for intervals"),
        (streaming.Scores, {**ROLES, "colour": "red"}, "colour"),
    ],
)
def test_what_cannot_be(table, factory, roles, message):
    with pytest.raises(TypeError, match=message):
        distributed.local([table], factory, **roles)


def test_a_role_that_is_not_named_is_not_guessed_from_other_columns(table):
    with pytest.raises(ValueError, match="cannot tell which column holds the probabilities"):
        distributed.local([table], streaming.Scores, label="y")


def test_a_column_that_is_not_there(table):
    with pytest.raises(ValueError, match="nothing"):
        partial(table, Spec(streaming.Scores, {"label": "y", "prob": "nothing"}))


@pytest.mark.parametrize("library", ["pandas.DataFrame", "polars.DataFrame", "pyarrow.table"])
def test_a_column_that_is_not_there_in_any_kind_of_table(table, library):
    module, name = library.split(".")
    make = getattr(pytest.importorskip(module), name)
    with pytest.raises(ValueError, match=r"batch 1: the .* no column 'z'"):
        distributed.local(
            [{**table, "z": table["p"]}, make(table)], streaming.Scores, label="y", prob="z"
        )


def test_columns_of_files_that_are_not_named_are_not_looked_at(table, tmp_path):
    """A weight that nobody named would change every number."""
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = {**table, "weight": table["w"], "low_90": table["low"], "high_90": table["high"]}
    parquet.write_table(pa.table(columns), tmp_path / "rows.parquet")
    np.savez(tmp_path / "rows.npz", **columns)
    total = streaming.Scores()
    total.update(table["y"], table["p"])
    roles = {"label": "y", "prob": "p"}
    for name in ("rows.parquet", "rows.npz"):
        assert distributed.local([tmp_path / name], streaming.Scores, **roles) == total
        assert distributed.local([str(tmp_path / name)], Evidence, **roles).intervals is None
        with pytest.raises(ValueError, match="cannot tell which column holds the probabilities"):
            distributed.local([tmp_path / name], streaming.Scores, label="y")


def test_a_column_has_the_role_that_it_was_given(table):
    total = streaming.Scores()
    total.update(table["y"], table["p"])
    for name in ("w", "weight", "sample_weight"):
        rows = {"y": table["y"], name: table["p"]}
        assert distributed.local([rows], streaming.Scores, label="y", prob=name) == total


def test_whatever_scan_takes_is_a_batch(table):
    pa, duckdb = pytest.importorskip("pyarrow"), pytest.importorskip("duckdb")
    rows = pa.table({name: table[name] for name in ("y", "p", "w", "extra")})
    whole = alone(streaming.Scores, table)
    for batch in (rows, rows.to_reader(100), rows.to_batches()[0], duckdb.from_arrow(rows)):
        assert partial(batch, Spec(streaming.Scores, ROLES)) == whole.to_bytes()


def test_tensors_of_arrow_are_lists(table):
    pa = pytest.importorskip("pyarrow")
    both = np.stack([1 - table["p"], table["p"]], axis=1)
    tensors = pa.FixedShapeTensorArray.from_numpy_ndarray(both)
    total = streaming.Scores()
    total.update(table["y"], both)
    spec = Spec(streaming.Scores, {"label": "y", "prob": "p"})
    rows = pa.table({"y": table["y"], "p": tensors})
    assert combine([partial(rows[:100], spec), partial(rows[100:], spec)]) == total.to_bytes()
    pictures = pa.FixedShapeTensorArray.from_numpy_ndarray(np.zeros((N, 2, 2)))
    with pytest.raises(TypeError, match="column 'p' must hold numbers"):
        partial(pa.table({"y": table["y"], "p": pictures}), spec)


@pytest.mark.parametrize("kind", [tuple, list, iter])
def test_names_may_come_in_any_iterable(table, kind):
    both = {"y": table["y"], "no": 1 - table["p"], "yes": table["p"]}
    total = streaming.Scores()
    total.update(table["y"], np.stack([1 - table["p"], table["p"]], axis=1))
    halves = [rows_of(both, slice(0, 200)), rows_of(both, slice(200, N))]
    found = distributed.local(
        halves, streaming.Scores, label="y", prob=kind(["no", "yes"]), classes=kind([0, 1])
    )
    assert found == total


def grouped():
    return streaming.Grouped(streaming.Scores)


def test_windows_of_groups(timed):
    rows = {**timed, "g": np.array(["a", "b", "c"])[np.arange(N) % 3]}
    factory = fixed(streaming.Windowed, grouped, every=np.timedelta64(1, "D"))
    found = distributed.local(parts_of(rows, 4), factory, group="g", **WINDOW_ROLES)
    order = np.argsort(rows["t"], kind="stable")
    stream = factory()
    stream.update(
        rows["y"][order], rows["p"][order], groups=rows["g"][order], timestamps=rows["t"][order]
    )
    assert found == stream
    with pytest.raises(TypeError, match="no column was named for groups of Windowed of Grouped"):
        distributed.local(parts_of(rows, 4), factory, **WINDOW_ROLES)


@pytest.mark.parametrize(
    ("factory", "roles", "error", "message"),
    [
        (streaming.Scores, {"group": "w"}, TypeError, "group was named, but Scores has no use for"),
        (grouped, {"timestamp": "w", "group": "w"}, TypeError, "timestamp was named, but Grouped"),
        (
            fixed(streaming.Intervals, [0.9]),
            {"prob": None, "low": "low", "high": "high", "level": 0.8},
            ValueError, r"level is \(0.8,\), but confidence_level of Intervals is \(0.9,\)",
        ),
        (streaming.Scores, {"truth": "p"}, TypeError, "roles cannot have truth: ties of ranks"),
        (streaming.Scores, {"draws": "p"}, TypeError, "roles cannot have draws: ties of ranks"),
        (SequentialCalibrationTest, {}, TypeError, "depends on the order of all rows"),
        (lambda: 3, {}, TypeError, "factory must make an accumulator, got 3"),
    ],
)  # fmt: skip
def test_what_would_not_be_looked_at_is_rejected(table, factory, roles, error, message):
    with pytest.raises(error, match=message):
        distributed.local([table], factory, **{"label": "y", "prob": "p", **roles})


def test_a_factory_must_make_a_new_accumulator_each_time(table):
    """Its rows would be counted once for each partition."""
    first = alone(streaming.Scores, table)
    with pytest.raises(ValueError, match=r"without rows, got streaming.Scores\(n=600"):
        distributed.local([table], first.copy, **ROLES)
    shared = streaming.Scores()
    with pytest.raises(ValueError, match=r"batch 1: factory must make .* without rows"):
        distributed.local([table, table], lambda: shared, n_workers=1, **ROLES)


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("engine", ["local", "dask"])
def test_one_table_is_no_batches(table, library, engine):
    if engine == "dask":
        pytest.importorskip("dask")
    frame = pytest.importorskip(library).DataFrame(table)
    with pytest.raises(TypeError, match="must be an iterable, such as a list, got DataFrame"):
        getattr(distributed, engine)(frame, streaming.Scores, **ROLES)


def test_errors_name_the_batch_and_the_file(table, tmp_path):
    bad = {**table, "p": table["p"] + 0.5}
    first = int(np.flatnonzero(bad["p"] > 1)[0])
    np.savez(tmp_path / "bad.npz", **bad)
    for batch, name in ((bad, "the table"), (tmp_path / "bad.npz", "bad.npz")):
        with pytest.raises(ValueError, match=rf"batch 2: .*{name}: column 'p' .* at row {first}"):
            distributed.local([table, table, batch], streaming.Scores, **ROLES)


def test_an_empty_batch_of_text_labels(table):
    named = {"y": np.array(["no", "yes"])[table["y"]], "p": table["p"]}
    batches = [rows_of(named, slice(0, 0)), named]
    total = streaming.Scores()
    total.update(table["y"], table["p"])
    assert distributed.local(batches, streaming.Scores, label="y", prob="p") == total


class Here:
    """Runs what is submitted at once, in the thread of the caller."""

    def submit(self, function, *arguments):
        future = Future()
        future.set_result(function(*arguments))
        return future


@pytest.mark.usefixtures("runtime_restored")
def test_workers_use_one_thread_and_leave_the_callers_setting(table):
    set_num_threads(2)
    threads = []

    class Watched(streaming.Scores):
        def update(self, y_true, y_proba):
            threads.append(config()["num_threads"])
            super().update(y_true, y_proba)

    roles = {"label": "y", "prob": "p"}
    for executor in (None, Here()):
        distributed.local(parts_of(table, 3), Watched, executor=executor, **roles)
        assert config()["num_threads"] == 2
    assert threads == [1] * 6
    bad = {**table, "p": table["p"] + 1}
    with pytest.raises(ValueError, match="found 1"):
        distributed.local([bad], Watched, executor=Here(), **roles)
    assert config()["num_threads"] == 2


class Blocks:
    """As a dataset of Ray: with an allowance, blocks that fail are left out."""

    def __init__(self, blocks, allowed):
        self.blocks = blocks
        self.context = SimpleNamespace(max_errored_blocks=allowed)
        self.made = None

    def select_columns(self, columns):
        self.columns = columns
        return self

    def map_batches(self, function, fn_args, **_settings):
        self.made = lambda block: function({name: block[name] for name in self.columns}, *fn_args)
        return self

    def iter_rows(self):
        for block in self.blocks:
            try:
                made = self.made(block)
            except ValueError:
                if self.context.max_errored_blocks == 0:
                    raise
                continue
            yield {"state": made["state"][0]}


@pytest.mark.parametrize("allowed", [0, 1, -1])
def test_a_block_that_fails_is_an_error(table, allowed):
    bad = {**table, "p": table["p"] + 0.5}
    good = Blocks([table, table], allowed)
    assert distributed.ray(good, streaming.Scores, **ROLES).n == 2 * N
    dataset = Blocks([table, bad, table], allowed)
    with pytest.raises(ValueError, match=r"a block: .*column 'p'"):
        distributed.ray(dataset, streaming.Scores, **ROLES)
    assert dataset.context.max_errored_blocks == allowed
