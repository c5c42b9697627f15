"""Truths and draws in tables: every form of them, read, split, saved, scored and reported."""

from __future__ import annotations

import json

import numpy as np
import pytest

import calibrant
from calibrant import set_num_threads
from calibrant.evidence import Evidence
from calibrant.io import scan

pa = pytest.importorskip("pyarrow")
pl = pytest.importorskip("polars")
pq = pytest.importorskip("pyarrow.parquet")
csv = pytest.importorskip("pyarrow.csv")
testing = pytest.importorskip("click.testing")

pytestmark = pytest.mark.usefixtures("runtime_restored")

N, M = 900, 7


def rows():
    """Without ties, and so without a place that matters."""
    rng = np.random.default_rng(5)
    return rng.normal(size=(N, 2)), 0.8 * rng.normal(size=(N, M, 2))


TRUTH, DRAWS = rows()
MANY = {f"draw_{k}": DRAWS[:, k, 0] for k in range(M)}


def counts(columns=(0,)):
    found = [calibrant.sbc_ranks(DRAWS[:, :, d], TRUTH[:, d]) for d in columns]
    return [np.bincount(ranks, minlength=M + 1).tolist() for ranks in found]


def lists(values, fixed=True):
    kind = pa.list_(pa.float64(), values.shape[1]) if fixed else pa.list_(pa.float64())
    return pa.array(values.tolist(), kind)


FORMS = {
    "fixed lists": lambda: pa.table({"a": TRUTH[:, 0], "s": lists(DRAWS[:, :, 0])}),
    "lists": lambda: pa.table({"a": TRUTH[:, 0], "s": lists(DRAWS[:, :, 0], fixed=False)}),
    "polars": lambda: pl.DataFrame({"a": TRUTH[:, 0], "s": DRAWS[:, :, 0].tolist()}),
    "arrays": lambda: {"a": TRUTH[:, 0], "s": DRAWS[:, :, 0]},
    "float32": lambda: {"a": TRUTH[:, 0], "s": DRAWS[:, :, 0].astype(np.float32)},
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_forms(form):
    evidence = Evidence.of(form(), truth="a", draws="s")
    if form is not FORMS["float32"]:
        assert evidence.ranks.counts.tolist() == counts()
    assert evidence.n == N
    assert evidence.scorecard.n == 0
    assert evidence.truths == ("a",)


def write(name, tmp_path):
    path = tmp_path / f"posterior.{name}"
    table = pa.table({"a": TRUTH[:, 0], **MANY})
    if name == "parquet":
        pq.write_table(table, path, row_group_size=100)
    elif name == "csv":
        csv.write_csv(table, path)
    elif name == "npz":
        np.savez(path, a=TRUTH[:, 0], **MANY)
    return path


@pytest.mark.parametrize("name", ["parquet", "csv", "npz"])
def test_a_pattern_of_columns(name, tmp_path):
    found = scan(write(name, tmp_path), truth="a", draws="draw_*")
    assert found.notes() == ["truth = a, among 7 columns draw_0 to draw_6 (given)"]
    assert Evidence.of(found).ranks.counts.tolist() == counts()
    assert found.to_dict()["roles"]["draws"] == {"truth": ["a"], "draws": [list(MANY)]}


def test_several_truths():
    wanted = counts((0, 1))
    table = {"a": TRUTH[:, 0], "b": TRUTH[:, 1], **MANY}
    for second in (DRAWS[:, :, 1], lists(DRAWS[:, :, 1])):
        columns = {**table, "s": second}
        if not isinstance(second, np.ndarray):
            columns = pa.table(columns)
        evidence = Evidence.of(columns, truth=["a", "b"], draws=["draw_*", "s"])
        assert evidence.ranks.counts.tolist() == wanted
        assert [d.name for d in evidence.rank_calibration().dimensions] == ["a", "b"]


def test_an_axis_of_dimensions(tmp_path):
    np.savez(tmp_path / "posterior.npz", theta=TRUTH, samples=DRAWS)
    evidence = Evidence.of(tmp_path / "posterior.npz", truth="theta", draws="samples")
    assert evidence.ranks.counts.tolist() == counts((0, 1))
    assert evidence.truths == ("theta 0", "theta 1")


def test_ties_do_not_depend_on_threads_parts_or_jobs(tmp_path):
    rng = np.random.default_rng(1)
    truth, draws = rng.integers(0, 3, N), rng.integers(0, 3, (N, M))
    for i, half in enumerate((slice(0, 400), slice(400, N))):
        table = pa.table({"a": truth[half], "s": lists(draws[half])})
        for size in (50, 400):
            folder = tmp_path / str(size)
            folder.mkdir(exist_ok=True)
            pq.write_table(table, folder / f"{i}.parquet", row_group_size=size)
    found = set()
    for size in ("50", "400"):
        for threads in (1, 3):
            set_num_threads(threads)
            evidence = Evidence.of(tmp_path / size, truth="a", draws="s")
            found.add(evidence.ranks.to_bytes())
    jobs = [Evidence.of(tmp_path / "50" / f"{i}.parquet", truth="a", draws="s") for i in (1, 0)]
    found.add(jobs[0].merge(jobs[1]).ranks.to_bytes())
    assert len(found) == 1


def test_beside_probabilities_and_intervals():
    rng = np.random.default_rng(2)
    p = rng.random(N)
    table = {
        "a": TRUTH[:, 0], "s": DRAWS[:, :, 0], "p": p, "y": (rng.random(N) < p).astype(int),
        "low_90": TRUTH[:, 0] - 1, "high_90": TRUTH[:, 0] + 1,
    }  # fmt: skip
    names = {"truth": "a", "draws": "s"}
    alone = Evidence.of(table, **names)
    assert alone.scorecard.n == 0
    assert alone.intervals is None
    both = Evidence.of(table, **names, label="y", prob="p")
    assert both.ranks == alone.ranks
    assert both.result().brier == Evidence.of({"y": table["y"], "p": p}).result().brier
    bounded = Evidence.of(table, **names, low="low_90", high="high_90")
    assert bounded.intervals.n == N
    with pytest.raises(ValueError, match="name the column of labels, too, with label"):
        scan(table, **names, prob="p")
    assert scan(table, **names, label="y", prob="p").of_probabilities().roles.columns == ("y", "p")


def test_missing_values():
    table = {"a": TRUTH[:, 0].copy(), "s": DRAWS[:, :, 0].copy()}
    table["a"][3] = table["s"][5, 2] = np.nan
    with pytest.raises(ValueError, match="missing values: 1 in 'a', 1 in 's'; fill them"):
        Evidence.of(table, truth="a", draws="s")
    evidence = Evidence.of(table, truth="a", draws="s", missing="skip")
    assert (evidence.n, evidence.n_omitted) == (N - 2, 2)
    gone = pa.table({"a": [0.0, 1.0], "b": [0.0, 1.0], "s": pa.array([[1.0, 2.0], None])})
    for names in ("a", ["a", "b"]):
        draws = "s" if names == "a" else ["s", "s"]
        kept = Evidence.of(gone, truth=names, draws=draws, missing="skip")
        assert (kept.n, kept.n_omitted) == (1, 1)


def test_bad_columns():
    table = {"a": TRUTH[:, 0], "s": DRAWS[:, :, 0], "b": TRUTH[:, 1], "t": DRAWS[:, :5, 1]}
    with pytest.raises(ValueError, match=r"name as many columns with truth as with draws"):
        scan(table, truth="a", draws=["s", "t"])
    with pytest.raises(ValueError, match="no column 'x'"):
        scan(table, truth="a", draws="x")
    with pytest.raises(ValueError, match=r"no column fits the pattern 'x_\*' of draws"):
        scan(table, truth="a", draws="x_*")
    with pytest.raises(ValueError, match="all truths must have as many draws; a has 7, b has 5"):
        Evidence.of(table, truth=["a", "b"], draws=["s", "t"])
    with pytest.raises(TypeError, match=r"draws must be lists, one for each row, got shape \(900,"):
        Evidence.of(table, truth="a", draws="b")
    uneven = pa.table({"a": [0.0, 1.0], "b": [0.0, 1.0], "s": [[1.0, 2.0], [1.0]]})
    with pytest.raises(ValueError, match="s' must hold lists of one length"):
        Evidence.of(uneven, truth=["a", "b"], draws=["s", "s"])
    with pytest.raises(TypeError, match="'a' must hold numbers, it holds text"):
        Evidence.of({"a": ["x"], "s": [[1.0]]}, truth="a", draws="s")


def test_saved_and_merged():
    evidence = Evidence.of({"a": TRUTH[:, 0], "s": DRAWS[:, :, 0]}, truth="a", draws="s")
    back = Evidence.from_bytes(evidence.to_bytes())
    assert back == evidence
    assert back.merge(evidence).n == 2 * N
    other = Evidence.of({"b": TRUTH[:, 0], "s": DRAWS[:, :, 0]}, truth="b", draws="s")
    with pytest.raises(ValueError, match=r"cannot merge truths \('b',\) into \('a',\)"):
        evidence.merge(other)
    updated = evidence.empty()
    updated.update(truth=TRUTH[:100, 0], draws=DRAWS[:100, :, 0])
    updated.update(truth=TRUTH[100:, 0], draws=DRAWS[100:, :, 0])
    assert updated.ranks == evidence.ranks


# The command line


def run(*args):
    from calibrant.commands import calibrant as program

    return testing.CliRunner().invoke(program, [str(arg) for arg in args])


def test_score_and_report(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = write("parquet", tmp_path)
    names = ("--truth", "a", "--draws", "draw_*")
    expected = calibrant.rank_calibration(
        calibrant.sbc_ranks(DRAWS[:, :, 0], TRUTH[:, 0]), M, names=["a"]
    )
    done = run("score", path, *names, "--save-state", "posterior.state")
    assert done.exit_code == 0, done.output
    assert done.stdout == f"{expected}\n"
    assert done.stderr == "truth = a, among 7 columns draw_0 to draw_6 (given)\n"
    content = json.loads(run("score", "posterior.state", "--json").stdout)
    assert content["scorecard"] is None
    assert content["ranks"]["verdict"] == expected.verdict
    assert expected.verdict.startswith("under-dispersed")
    done = run("report", "posterior.state", "--json")
    report = json.loads(done.stdout)
    assert report["verdict"]["kind"] == "under-dispersed"
    assert report["verdict"]["headline"] == "These draws are too narrow."
    assert [section["name"] for section in report["sections"]] == ["ranks"]
    assert report["n"] == N
    done = run("report", path, *names, "-o", "page.html")
    assert "These draws are too narrow." in done.stdout
    assert "Ranks of truths among draws" in (tmp_path / "page.html").read_text()


def test_errors_name_file_column_and_row(tmp_path):
    draws = DRAWS[:, :, 0].tolist()
    draws[700] = draws[700][:3]
    table = pa.table({"a": TRUTH[:, 0], "s": pa.array(draws)})
    pq.write_table(table, tmp_path / "bad.parquet", row_group_size=100)
    done = run("score", tmp_path / "bad.parquet", "--truth", "a", "--draws", "s")
    assert done.exit_code == 2
    assert "bad.parquet: column 's'" in done.stderr
