"""Tables of predictions: every way to hand one over gives the same rows, and guesses are said."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import threading

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest

import calibrant
from calibrant import streaming
from calibrant.evidence import Evidence
from calibrant.io import _arrow_files, _numpy_files, _passes, scan
from cards import assert_same

N = 2_000


@pytest.fixture(scope="module")
def columns():
    rng = np.random.default_rng(6)
    p = rng.random(N)
    return {
        "y": (rng.random(N) < p).astype(np.int8),
        "p": p,
        "weight": rng.integers(1, 4, N).astype(np.float64),
        "site": rng.choice(["north", "south"], N),
        "spare": rng.random(N),
    }


@pytest.fixture(scope="module")
def expected(columns):
    return calibrant.scorecard(
        columns["y"], columns["p"], sample_weight=columns["weight"], groups=columns["site"]
    )


@pytest.fixture
def small_batches(monkeypatch):
    """So that a small table is many batches."""
    for module in (_arrow_files, _numpy_files):
        monkeypatch.setattr(module, "BATCH_ROWS", 333)


def write_parquet(columns, path):
    pq.write_table(pa.table(columns), path, row_group_size=300)


def write_ipc(columns, path):
    table = pa.table(columns)
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=300)


def write_ipc_stream(columns, path):
    table = pa.table(columns)
    with pa.ipc.new_stream(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=300)


def write_csv(columns, path):
    pa.csv.write_csv(pa.table(columns), path)


def write_semicolons(columns, path):
    pa.csv.write_csv(pa.table(columns), path, pa.csv.WriteOptions(delimiter=";"))


def write_tsv(columns, path):
    pa.csv.write_csv(pa.table(columns), path, pa.csv.WriteOptions(delimiter="\t"))


def write_json_lines(columns, path):
    lines = (json.dumps(row) + "\n" for row in pa.table(columns).to_pylist())
    path.write_text("".join(lines), encoding="utf-8")


def write_npy(columns, path):
    dtype = [(name, values.dtype) for name, values in columns.items()]
    rows = np.empty(N, dtype)
    for name, values in columns.items():
        rows[name] = values
    np.save(path, rows)


def write_npz(columns, path):
    np.savez_compressed(path, **columns)


WRITERS = {
    "table.parquet": write_parquet,
    "table.arrow": write_ipc,
    "table.arrows": write_ipc_stream,
    "table.csv": write_csv,
    "table.tsv": write_tsv,
    "semicolons.csv": write_semicolons,
    "table.jsonl": write_json_lines,
    "table.npy": write_npy,
    "table.npz": write_npz,
}


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize("name", WRITERS)
def test_files_give_the_bits_of_the_function(name, columns, expected, tmp_path):
    WRITERS[name](columns, tmp_path / name)
    assert_same(Evidence.of(tmp_path / name, group="site").result(), expected)


def test_json_lines(tmp_path):
    path = tmp_path / "lines.jsonl"
    lists = '{"y": 1, "probs": [0.25, 0.75]}\n{"probs": [1, 0], "y": 0, "new": "x"}\n'
    path.write_text(lists, encoding="utf-8")
    expected = calibrant.scorecard([1, 0], [[0.25, 0.75], [1.0, 0.0]])
    assert_same(Evidence.of(path).result(), expected)
    path.write_text('{"y": 1, "p": 1}\n{"y": 0}\n{"y": 0, "p": null}\n', encoding="utf-8")
    with pytest.raises(ValueError, match="missing values: 2 in 'p'"):
        Evidence.of(path)
    assert Evidence.of(path, missing="skip").n_omitted == 2
    for text, message in (("", "the file is empty"), ('{"y": 1, "p":\n', "as JSON lines"),
                          ('{"y": 1, "p": "a"}\n', "column 'p' must hold numbers")):  # fmt: skip
        path.write_text(text, encoding="utf-8")
        with pytest.raises((TypeError, ValueError), match=message):
            Evidence.of(path)


def test_json_lines_of_many_blocks(tmp_path):
    """Columns that come later are left alone, and whole numbers may be followed by others."""
    path = tmp_path / "lines.jsonl"
    y = np.arange(90_000) % 2
    p = np.where(np.arange(90_000) < 60_000, y, 0.25)
    pairs = zip(y.tolist(), p.tolist(), strict=True)
    rows = ({"y": a, "p": a if b == a else b, "pad": "x" * 60} for a, b in pairs)
    late = ({**row, "late": 1} if i > 80_000 else row for i, row in enumerate(rows))
    path.write_text("".join(json.dumps(row) + "\n" for row in late), encoding="utf-8")
    assert path.stat().st_size > 2**22
    assert Evidence.of(path).result().brier == calibrant.scorecard(y, p).brier


def test_a_large_row_group_is_shared_among_threads(columns, expected, tmp_path, monkeypatch):
    monkeypatch.setattr(_arrow_files, "_LARGE_GROUP", 100)
    monkeypatch.setattr(_arrow_files, "_LARGE_CHUNK", 100)
    monkeypatch.setattr(_arrow_files, "BATCH_ROWS", 64)
    path = tmp_path / "one.parquet"
    pq.write_table(pa.table(columns), path)
    found = scan(path, group="site")
    assert len(list(found._parts())) == -(-N // 64)
    assert_same(Evidence.of(found).result(), expected)


def polars_frame(columns):
    return pytest.importorskip("polars").DataFrame(columns)


def relation(columns):
    duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed")
    predictions = pa.table(columns)  # noqa: F841  # DuckDB finds it by its name
    return duckdb.sql("select * from predictions")


IN_MEMORY = {
    "dict": dict,
    "pandas": pd.DataFrame,
    "pandas with another index": lambda columns: pd.DataFrame(columns).iloc[::-1].iloc[::-1][:],
    "pandas nullable": lambda columns: pd.DataFrame(columns).convert_dtypes(),
    "polars": polars_frame,
    "arrow": pa.table,
    "arrow reader": lambda columns: pa.table(columns).to_reader(max_chunksize=77),
    "duckdb": relation,
}


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize("kind", IN_MEMORY)
def test_tables_in_memory_give_the_bits_of_the_function(kind, columns, expected):
    assert_same(Evidence.of(IN_MEMORY[kind](columns), group="site").result(), expected)


def test_pandas_is_read_without_pyarrow():
    script = """
import sys
sys.modules["pyarrow"] = None
import pandas as pd
from calibrant import streaming
from calibrant.evidence import Evidence
frame = pd.DataFrame({"y": [1, 0], "p": [0.75, 0.5]})
print(Evidence.of(frame).result().brier.value)
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script], capture_output=True, text=True, check=False
    )
    assert done.stdout == "0.15625\n", done.stderr


def test_files_name_the_extra_without_pyarrow(tmp_path):
    (tmp_path / "table.parquet").touch()
    script = f"""
import sys
sys.modules["pyarrow"] = None
from calibrant.io import scan
scan({str(tmp_path)!r})
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert 'needs pyarrow: pip install ".[arrow]"' in done.stderr


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.usefixtures("small_batches", "runtime_restored")
def test_threads_cannot_be_seen(threads, columns, expected, tmp_path):
    write_parquet(columns, tmp_path / "table.parquet")
    calibrant.set_num_threads(threads)
    assert_same(Evidence.of(tmp_path / "table.parquet", group="site").result(), expected)


def test_folders_patterns_and_lists(columns, expected, tmp_path, monkeypatch):
    folder = tmp_path / "days"
    for day, rows in enumerate(np.array_split(np.arange(N), 3)):
        part = {name: values[rows] for name, values in columns.items()}
        where = folder / f"day={day}"
        where.mkdir(parents=True)
        write_parquet(part, where / "part.parquet")
        (where / "_SUCCESS").touch()
    names = sorted(str(path) for path in folder.rglob("*.parquet"))
    monkeypatch.chdir(tmp_path)
    for table in (folder, str(folder), "days/*/*.parquet", "days/**/p*.parquet", names):
        evidence = Evidence.of(table, group="site")
        assert_same(evidence.result(), expected)
    assert evidence.source["files"] == names
    assert scan(folder).n_rows == N


def test_only_the_columns_that_are_needed_are_read(columns, tmp_path):
    write_parquet(columns, tmp_path / "table.parquet")
    (part, *_) = scan(tmp_path / "table.parquet")._parts()
    (batch,) = part.read()
    assert sorted(batch) == ["p", "weight", "y"]


CLASSES = ["cat", "dog", "owl"]


def three_classes():
    rng = np.random.default_rng(3)
    p = rng.dirichlet([1, 1, 1], 500)
    return rng.integers(0, 3, 500), p


def of_columns(names):
    y, p = three_classes()
    return pa.table({"y": y, **{name: p[:, j] for j, name in enumerate(names)}})


def of_lists(kind):
    y, p = three_classes()
    return pa.table({"y": y, "probs": pa.array(p.tolist(), kind)})


def of_names(*, encoded=False):
    y, p = three_classes()
    names = pa.array([CLASSES[i] for i in y])
    names = names.dictionary_encode() if encoded else names
    return pa.table({"kind": names, **{f"p_{c}": p[:, j] for j, c in enumerate(CLASSES)}})


@pytest.mark.parametrize(
    ("table", "roles"),
    [
        (of_columns(["p0", "p1", "p2"]), {}),
        (of_columns(["prob_0", "prob_1", "prob_2"]), {}),
        (of_columns(["a", "b", "c"]), {"prob": ["a", "b", "c"]}),
        (of_lists(pa.list_(pa.float64())), {}),
        (of_lists(pa.list_(pa.float64(), 3)), {}),
        (of_names(), {"label": "kind"}),
        (of_names(encoded=True), {"label": "kind"}),
        (of_names().to_pandas(), {"label": "kind"}),
    ],
    ids=["p0", "prob_0", "given", "list", "fixed list", "names", "dictionary", "pandas names"],
)  # fmt: skip
def test_many_classes(table, roles):
    assert_same(Evidence.of(table, **roles).result(), calibrant.scorecard(*three_classes()))


@pytest.mark.parametrize(
    ("names", "label", "prob"),
    [
        (["y", "p"], "y", "p"),
        (["Label", "Score"], "Label", "Score"),
        (["clicked", "estimate"], "clicked", "estimate"),
        (["y_true", "y_proba"], "y_true", "y_proba"),
    ],
)
def test_guesses(names, label, prob):
    found = scan(dict(zip(names, ([0, 1], [0.25, 0.5]), strict=True)))
    assert (found.roles.label, found.roles.prob) == (label, (prob,))
    assert all("guessed" in line for line in found.notes())


def test_what_is_given_is_not_called_a_guess():
    found = scan({"y": [0, 1], "p": [0.25, 0.5], "w": [1.0, 2.0]}, label="y", prob="p")
    assert found.notes() == [
        "label = y (given)", "prob = p (given)", "weight = w (guessed from its name)",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("labels", "options", "notes"),
    [
        (["no", "yes", "yes"], {}, "classes = no, yes (guessed from the labels)"),
        (["FALSE", "TRUE", "TRUE"], {}, "classes = FALSE, TRUE (guessed from the labels)"),
        (["dog", "cat", "cat"], {"positive": "cat"}, "classes = dog, cat (given)"),
        (["dog", "cat", "cat"], {"classes": ["dog", "cat"]}, "classes = dog, cat (given)"),
        ([1, 2, 2], {"classes": ["1", "2"]}, "classes = 1, 2 (given)"),
        ([1, 2, 2], {"positive": 2}, "classes = 1, 2 (given)"),
    ],
)
@pytest.mark.parametrize("make", [pa.table, pd.DataFrame, polars_frame])
def test_labels_that_are_no_codes(labels, options, notes, make):
    p = [0.25, 0.5, 0.75]
    found = scan(make({"y": labels, "p": p}), **options)
    assert found.notes()[-1] == notes
    assert_same(Evidence.of(found).result(), calibrant.scorecard([0, 1, 1], p))


def test_missing_values_are_counted_before_they_are_rejected():
    p = [0.5, None, 0.25, float("nan")] * 100
    table = pa.table({"y": pa.array([1, 0, None, 1] * 100), "p": pa.array(p)})
    with pytest.raises(ValueError, match=r"100 in 'y', 200 in 'p'; .*--missing skip"):
        Evidence.of(table)
    evidence = Evidence.of(table, missing="skip")
    assert (evidence.n, evidence.n_omitted) == (100, 300)
    assert evidence.source["missing"] == {"y": 100, "p": 200}
    expected = calibrant.scorecard(
        [1.0, 0.0, np.nan, 1.0] * 100, np.array(p, float), nan_policy="omit"
    )
    assert_same(evidence.result(), expected)


@pytest.mark.parametrize("make", [pa.table, pd.DataFrame, polars_frame])
def test_missing_labels_and_keys(make):
    table = make({"y": ["no", "yes", None, "no"], "p": [0.5] * 4, "k": ["a", None, "a", "b"]})
    with pytest.raises(ValueError, match="missing values: 1 in 'y', 1 in 'k'"):
        Evidence.of(table, group="k")
    evidence = Evidence.of(table, group="k", missing="skip")
    assert (evidence.n, evidence.n_omitted) == (2, 2)


def test_a_bad_row_is_named_by_file_column_and_place(tmp_path):
    path = tmp_path / "bad.parquet"
    p = np.full(5_000, 0.5)
    p[[1_234, 4_321]] = 1.5, 2.5
    pq.write_table(pa.table({"y": np.zeros(5_000, np.int8), "p": p}), path, row_group_size=100)
    for _ in range(5):  # whichever thread is first
        with pytest.raises(ValueError, match="column 'p' must lie in") as caught:
            Evidence.of(path)
        expected = f"{path}: column 'p' must lie in [0, 1], found 1.5 at row 1234"
        assert str(caught.value) == expected


@pytest.mark.parametrize(
    ("table", "options", "kind", "message"),
    [
        ({"y": [1], "p": [0.5]}, {"prob": "q"}, ValueError, r"no column 'q' \(there are: y, p\)"),
        ({"y": [1], "prob": [0.5]}, {"prob": "prb"}, ValueError, "did you mean 'prob'?"),
        ({"a": [0.5], "b": [0.5]}, {}, ValueError, "cannot tell which column holds the prob"),
        ({"a": [1], "b": [1], "p": [0.5]}, {}, ValueError, "which column holds the labels"),
        ({"y": [1], "p": ["x"]}, {}, TypeError, "column 'p' must hold numbers, it holds text"),
        ({"y": ["cat"], "p": [0.5]}, {}, ValueError, "holds text, such as 'cat'; say which"),
        ({"y": [1], "p": [0.5]}, {"missing": "drop"}, ValueError, "'reject' or 'skip', got 'drop'"),
        ({"y": [1, 0], "p": [0.5]}, {}, ValueError, "arrays of the same length"),
        ({"y": [1], "p": [0.5]}, {"label": "p"}, ValueError, "cannot tell which"),
        (pa.table([[1], [0.5], [0.5]], ["y", "p", "p"]), {}, ValueError, "two columns 'p'; rename"),
        (3, {}, TypeError, "a table must be a file, a data frame"),
        ([3], {}, TypeError, "a list of sources must hold names of files"),
        ("table.xlsx", {}, FileNotFoundError, "No such file"),
        ("*.parquet", {}, FileNotFoundError, "No file fits"),
    ],
)  # fmt: skip
def test_rejections(table, options, kind, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(kind, match=message):
        scan(table, **options)


def test_an_interrupt_while_threads_start_leaves_none_behind(columns, monkeypatch):
    start, started = threading.Thread.start, []

    def interrupted(thread):
        start(thread)
        started.append(thread)
        if len(started) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(_passes._core, "num_threads", lambda: 3)
    monkeypatch.setattr(threading.Thread, "start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        Evidence.of(columns)
    assert len(started) == 2
    for thread in started:
        thread.join(5)  # at its last lines
        assert not thread.is_alive()


def test_a_state_is_not_called_a_table(tmp_path):
    for i, state in enumerate((streaming.Scores(), streaming.Windowed(streaming.Scores, rows=2))):
        state.save(tmp_path / f"{i}.state")
        with pytest.raises(ValueError, match=r"state: a saved state, .*state inspect takes any"):
            scan(tmp_path / f"{i}.state")


def test_a_lazy_frame_is_rejected():
    with pytest.raises(TypeError, match=r"pass table.collect\(\)"):
        scan(polars_frame({"y": [1]}).lazy())


def test_unknown_formats_and_empty_folders(tmp_path):
    (tmp_path / "table.xlsx").touch()
    with pytest.raises(ValueError, match=r"cannot tell its format; known are .parquet"):
        scan(tmp_path / "table.xlsx")
    with pytest.raises(ValueError, match="no file in this folder can be read"):
        scan(tmp_path)


def test_files_of_two_tables_are_told_apart(tmp_path):
    pq.write_table(pa.table({"y": [1], "p": [0.5]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"y": [1], "q": [0.5]}), tmp_path / "b.parquet")
    with pytest.raises(ValueError, match=r"b.parquet: no column 'p', which .*a.parquet has"):
        Evidence.of(tmp_path)


def test_a_plain_vector_says_what_is_needed(tmp_path):
    np.save(tmp_path / "p.npy", np.zeros(3))
    with pytest.raises(ValueError, match="need a structured array or a matrix"):
        scan(tmp_path / "p.npy")


def test_a_matrix_has_numbered_columns(tmp_path):
    np.save(tmp_path / "rows.npy", np.array([[1, 0.75], [0, 0.5]]))
    evidence = Evidence.of(tmp_path / "rows.npy", label="0", prob="1")
    assert evidence.result().brier.value == 0.15625


def test_npz_of_unequal_lengths(tmp_path):
    np.savez(tmp_path / "t.npz", y=[1, 0], p=[0.5])
    with pytest.raises(ValueError, match="y has 2, p has 1"):
        Evidence.of(tmp_path / "t.npz")


def test_a_scan_gives_batches_in_order(columns):
    batches = list(itertools.chain(scan(columns, prob="p")))
    assert sum(batch.n for batch in batches) == N
    np.testing.assert_array_equal(np.concatenate([b.y_proba for b in batches]), columns["p"])


# --- prediction intervals


def intervals(n=400):
    rng = np.random.default_rng(9)
    width = rng.gamma(2.0, size=n)
    middle = rng.normal(size=n)
    table = {"price": middle + 0.4 * width * rng.normal(size=n), "noise": rng.normal(size=n)}
    for level, factor in ((90, 1.0), (50, 0.4)):
        table[f"low_{level}"] = middle - factor * width
        table[f"high_{level}"] = middle + factor * width
    return table


def test_intervals_are_those_of_the_accumulator(tmp_path):
    table = intervals()
    pq.write_table(pa.table(table), tmp_path / "t.parquet", row_group_size=60)
    evidence = Evidence.of(tmp_path / "t.parquet", label="price")
    notes = scan(table, label="price").notes()
    assert notes[1:] == [
        "interval of 50% = low_50 to high_50 (guessed from their names)",
        "interval of 90% = low_90 to high_90 (guessed from their names)",
    ]
    edges = evidence.source["settings"]["width_edges"]
    assert len(edges) == 3
    expected = streaming.Intervals([0.5, 0.9], width_edges=edges)
    low, high = (np.stack([table[f"{end}_{k}"] for k in (50, 90)], 1) for end in ("low", "high"))
    expected.update(table["price"], (low, high))
    assert evidence.intervals == expected
    assert (evidence.n, evidence.scorecard.n, evidence.table) == (400, 0, None)
    assert Evidence.from_bytes(evidence.to_bytes()) == evidence


@pytest.mark.parametrize(
    ("low", "high", "level"),
    [
        ("low_90", "high_90", 0.9),
        ("Lower90", "Upper90", 0.9),
        ("y_lo_0.8", "y_hi_0.8", 0.8),
        ("lower_97.5", "upper_97.5", 0.975),
        ("q05", "q95", 0.9),
        ("pred_q_25", "pred_q_75", 0.5),
        ("q0.1", "q0.9", 0.8),
    ],
)
def test_levels_are_read_off_the_names(low, high, level):
    found = scan({"y": [0.5, 1.5], low: [0.0, 1.0], high: [1.0, 2.0], "prices": [3.0, 4.0]})
    assert found.roles.intervals.low == (low,)
    assert found.roles.intervals.high == (high,)
    assert found.roles.intervals.levels == (pytest.approx(level),)
    assert found.roles.prob == ()


def test_intervals_beside_probabilities():
    table = {"y": [1, 0, 1], "p": [0.75, 0.25, 0.5], "a": [0.0, 0.0, 2.0], "b": [1.0, 1.0, 3.0]}
    evidence = Evidence.of(table, low="a", high="b", level=0.9)
    assert_same(evidence.result(), calibrant.scorecard(table["y"], table["p"]))
    assert evidence.intervals.n == 3
    assert Evidence.of(table).intervals is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"low": "a", "high": "b"}, r"say the level of each interval with level"),
        ({"low": "a"}, "as many columns with low as with high"),
        ({"low": "a", "high": "c", "level": 0.9}, "no column 'c'"),
        ({"level": 0.9}, r"name them with low and high \(--low, --high\) \(there are: y, a, b\)"),
    ],
)
def test_intervals_that_are_not_complete(options, message):
    with pytest.raises(ValueError, match=message):
        scan({"y": [1.0], "a": [0.0], "b": [1.0]}, **options)


def test_groups_without_probabilities_are_rejected():
    table = {"y": [1.0], "low_90": [0.0], "high_90": [1.0], "site": ["north"]}
    with pytest.raises(ValueError, match=r"groups are compared by their prob.*leave out group"):
        Evidence.of(table, group="site")


def test_crossed_bounds_are_named_by_their_columns():
    table = {"y": [1.0, 2.0], "low_90": [0.0, 3.0], "high_90": [1.0, 2.0]}
    with pytest.raises(
        ValueError, match=r"column 'low_90, high_90' must have lower <= upper.*row 1"
    ):
        Evidence.of(table)
