"""The command line, as a user meets it: what it prints, what it writes, how it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import calibrant
from calibrant import streaming
from calibrant._event_accumulator import EventAccumulator
from calibrant.commands import calibrant as program
from calibrant.evidence import Evidence

N = 3_000


def run(*args):
    return CliRunner().invoke(program, [str(arg) for arg in args])


@pytest.fixture(scope="module")
def columns():
    rng = np.random.default_rng(60)
    p = rng.random(N)
    return {
        "clicked": (rng.random(N) < p**1.2).astype(np.int8),
        "score": p,
        "country": rng.choice(["de", "fr", "it"], N),
    }


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch, columns):
    monkeypatch.chdir(tmp_path)
    pq.write_table(pa.table(columns), "table.parquet", row_group_size=500)
    return tmp_path


# --- score


def test_score_prints_what_the_function_returns(columns):
    done = run("score", "table.parquet", "--group", "country", "--bins", 10, "--confidence", 0.9)
    evidence = Evidence.of(columns, group="country", n_bins=10)
    card = evidence.result(0.9)
    assert done.exit_code == 0
    assert done.stdout == f"{card!r}\n"
    assert done.stderr == (
        "label = clicked (guessed, as the only column of whole numbers)\n"
        "prob = score (guessed from its name)\ngroup = country (given)\n"
    )


def test_score_as_json(columns):
    done = run("score", "table.parquet", "--group", "country", "--json")
    found = json.loads(done.stdout)
    card = Evidence.of(columns, group="country").result()
    assert found["scorecard"] == json.loads(json.dumps(card.to_dict()))
    assert found["schema"] == "calibrant.scorecard/1"
    assert found["source"]["files"] == ["table.parquet"]
    assert found["source"]["roles"]["label"] == "clicked"
    assert found["source"]["versions"]["calibrant"] == calibrant.__version__


@pytest.mark.parametrize(
    ("conditions", "code", "failed"),
    [
        (["ece>0.9"], 0, []),
        (["ece > 0.001", "log<=9", "brier>0.9"], 1, ["ece is 0.0", "log is 0."]),
        (["ece.high>=0"], 1, ["ece.high is 0."]),
    ],
)
def test_conditions_decide_the_exit_code(conditions, code, failed):
    options = [part for condition in conditions for part in ("--fail-if", condition)]
    done = run("score", "table.parquet", *options)
    assert done.exit_code == code
    lines = [line for line in done.stderr.splitlines() if line.startswith("failed: ")]
    assert len(lines) == len(failed)
    for line, start in zip(lines, failed, strict=True):
        assert line.startswith(f"failed: {start}")
    assert done.stdout.startswith(f"Scorecard of {N} rows")


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ("ecee>1", "no number 'ecee'; did you mean 'ece'?"),
        ("ece", "write it like ece>0.05"),
        ("ece=1", "write it like ece>0.05"),
        ("ece>much", "'much' is not a number"),
        ("ece.middle>1", "after the dot comes one of value, low, high"),
        ("spiegelhalter_z.low>1", "is undefined: it has no interval"),
    ],
)
def test_conditions_that_make_no_sense(condition, message):
    done = run("score", "table.parquet", "--fail-if", condition)
    assert done.exit_code == 2
    assert message in done.stderr.splitlines()[-1]


def test_probabilities_of_classes_and_missing_values():
    p = np.array([[0.5, 0.25, 0.25], [0.125, 0.75, 0.125], [0.5, 0.5, 0.0]])
    pa.csv.write_csv(
        pa.table({"kind": ["a", "b", None], "x": p[:, 0], "z": p[:, 1], "q": p[:, 2]}), "t.csv"
    )
    roles = ["--label", "kind", "--probs", "x,z,q", "--classes", "a, b, c"]
    refused = run("score", "t.csv", *roles)
    assert refused.exit_code == 2
    assert "t.csv: missing values: 1 in 'kind'" in refused.stderr
    done = run("score", "t.csv", *roles, "--missing", "skip")
    assert done.stdout == f"{calibrant.scorecard([0, 1, np.nan], p, nan_policy='omit')!r}\n"


# --- states


def test_states_are_merged_and_scored_as_if_all_rows_were_one_file(columns):
    halves = ("a", slice(0, 1_000)), ("b", slice(1_000, None))
    for name, rows in halves:
        part = {key: values[rows] for key, values in columns.items()}
        pq.write_table(pa.table(part), f"{name}.parquet")
        saved = run(
            "score", f"{name}.parquet", "--group", "country", "--save-state", f"{name}.state"
        )
        assert saved.exit_code == 0
    merged = run("merge", "b.state", "a.state", "-o", "all.state")
    assert (merged.exit_code, merged.stdout) == (0, f"all.state: {N:,} rows\n")
    whole = run("score", "table.parquet", "--group", "country")
    assert run("score", "all.state").stdout == whole.stdout
    assert run("score", "a.state", "b.state").stdout == whole.stdout
    found = json.loads(run("state", "inspect", "all.state").stdout)
    assert (found["kind"], found["n"]) == ("Evidence", N)
    assert found["source"]["settings"]["gather"] == ["spectrum"]
    assert sorted(found["source"]["files"]) == ["a.parquet", "b.parquet"]


ACCUMULATORS = [
    getattr(streaming, name)
    for name in streaming.__all__
    if isinstance(cls := getattr(streaming, name), type) and issubclass(cls, EventAccumulator)
]


@pytest.mark.parametrize("cls", ACCUMULATORS, ids=lambda cls: cls.__name__)
def test_any_accumulator_is_merged_and_inspected(cls, folder):
    part = cls()
    part.update([1, 0, 1], [0.75, 0.5, 0.25])
    (folder / "one").write_bytes(part.to_bytes())
    assert run("merge", "one", "one", "-o", "two").exit_code == 0
    assert (folder / "two").read_bytes() == part.copy().merge(part).to_bytes()
    done = run("state", "inspect", "two")
    found = json.loads(done.stdout)
    assert (found["kind"], found["n"]) == (cls.__name__, 6)
    assert found["result"]
    assert "array" not in done.stdout


def test_states_that_do_not_fit(folder):
    (folder / "profile").write_bytes(streaming.RiskProfile().to_bytes())
    (folder / "scores").write_bytes(streaming.Scores().to_bytes())
    (folder / "text").write_text("hello")
    (folder / "cut").write_bytes(streaming.Scores().to_bytes()[:-3])
    for args, message in [
        (("merge", "profile", "scores", "-o", "x"), "scores: cannot merge Scores into RiskProfile"),
        (("merge", "profile", "text", "-o", "x"), "text: not a state saved by calibrant"),
        (("state", "inspect", "cut"), "cut: state is truncated"),
        (("state", "inspect", "none"), "none: No such file or directory"),
    ]:
        done = run(*args)
        assert (done.exit_code, done.stdout) == (2, "")
        assert done.stderr.startswith(f"calibrant: {message}")
    assert not (folder / "x").exists()


# --- report


def test_the_demo(folder):
    pytest.importorskip("jinja2")
    done = run("report", "--demo")
    assert done.exit_code == 0, done.stderr
    said = "These probabilities are over-confident.\nreport.html: a report on 60,000 rows\n"
    assert done.stdout == said
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "over-confident" in page
    assert len(page) < 2**20
    assert [path.name for path in folder.iterdir() if path.name.startswith(".")] == []


def test_report_of_a_file_and_of_its_state(folder):
    pytest.importorskip("jinja2")
    assert run("score", "table.parquet", "--save-state", "t.state").exit_code == 0
    done = run("report", "table.parquet", "--json", "--title", "clicks")
    assert done.exit_code == 0, done.stderr
    content = json.loads(done.stdout)
    from_state = json.loads(run("report", "t.state", "--json", "--title", "clicks").stdout)
    assert content["sections"] == from_state["sections"]
    assert run("report", "t.state", "--json", "-o", "out.json").exit_code == 0
    assert json.loads((folder / "out.json").read_text())["schema"] == content["schema"]


def test_report_needs_files_or_the_demo():
    for args in ((), ("--demo", "table.parquet")):
        done = run("report", *args)
        assert done.exit_code == 2
        assert "give files, or --demo" in done.stderr


# --- what can go wrong


def broken(name, content):
    with open(name, "wb") as file:  # noqa: PTH123
        file.write(content)
    return name


def truncated():
    with open("table.parquet", "rb") as file:  # noqa: PTH123
        return broken("cut.parquet", file.read()[:-50])


def damaged():
    with open("table.parquet", "rb") as file:  # noqa: PTH123
        block = bytearray(file.read())
    block[100:400] = bytes(300)
    return broken("damaged.parquet", bytes(block))


def duplicate():
    pq.write_table(pa.table([[1], [0.5], [0.5]], ["y", "p", "p"]), "two.parquet")
    return "two.parquet"


def strings():
    pq.write_table(pa.table({"y": [1], "p": ["0.5"]}), "text.parquet")
    return "text.parquet"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (truncated, "cannot be read as Parquet, it may be damaged or cut short; write it again"),
        (damaged, "cannot be read as Parquet, it may be damaged or cut short; write it again"),
        (lambda: broken("e.parquet", b""), "cannot be read as Parquet"),
        (lambda: broken("e.csv", b""), "the file is empty; its first line names columns"),
        (lambda: broken("e.npy", b""), "cannot be read as an array of NumPy"),
        (lambda: broken("e.npz", b"PK"), "cannot be read as an array of NumPy"),
        (lambda: broken("e.arrow", b"ARROW1"), "cannot be read as Arrow IPC"),
        (lambda: broken("h.csv", b"y,p\n"), "there are no rows to score"),
        (lambda: broken("l.csv", "y,p,\xe9\n1,0.5,2\n".encode("latin-1")), "not in UTF-8; save it"),
        (lambda: broken("w.csv", b"y,p\n1,0.5\n0,abc\n"), "numbers, found 'abc' at row 1"),
        (lambda: broken("r.csv", b"y,p\n1,0.5\n0,1.5\n"), "'p' must lie in [0, 1], found 1.5"),
        (lambda: broken("y.csv", b"y,p\n1,0.5\n2,0.5\n"), "column 'y' must be 0 or 1, found 2"),
        (strings, "column 'p' must hold numbers, it holds text; convert it, or name another"),
        (duplicate, "there are two columns 'p'; rename or drop one of them"),
        (lambda: "none.parquet", "No such file or directory"),
        (lambda: "table.parquet --prob skore", "no column 'skore'; did you mean 'score'?"),
        (lambda: "table.parquet --positive x", "labels are whole numbers, 'x' is none"),
        (lambda: "table.parquet --save-state no/t.state", "there is no such folder"),
        (lambda: "table.parquet --save-state .", "is a folder; name a file in it"),
        (lambda: "table.parquet --confidence 2", "must lie strictly between 0 and 1"),
        (lambda: "table.parquet --bins 0", "n_bins must lie in"),
    ],
)  # fmt: skip
def test_failures_are_one_line_with_exit_code_2(make, message, folder):
    args = make().split()
    before = sorted(path.name for path in folder.iterdir())
    done = run("score", *args)
    assert (done.exit_code, done.stdout) == (2, "")
    assert isinstance(done.exception, SystemExit)  # no traceback
    last = done.stderr.splitlines()[-1]
    assert last.startswith("calibrant: ")
    assert message in last
    assert sorted(path.name for path in folder.iterdir()) == before


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere"
)
def test_a_folder_that_is_read_only(folder):
    folder.chmod(0o555)
    try:
        done = run("report", "--demo")
        assert "cannot be written" in done.stderr
    finally:
        folder.chmod(0o755)


def test_a_report_that_fails_leaves_the_old_one(folder, monkeypatch):
    pytest.importorskip("jinja2")
    from calibrant.commands import _output

    (folder / "report.html").write_text("the old one")

    def full(_handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(_output.os, "fsync", full)
    done = run("report", "--demo")
    assert done.exit_code == 2
    assert done.stderr.splitlines()[-1] == (
        "calibrant: report.html: cannot be written: No space left on device"
    )
    assert (folder / "report.html").read_text() == "the old one"
    assert sorted(path.name for path in folder.iterdir()) == ["report.html", "table.parquet"]


# --- processes


def start(*args, **options):
    command = [sys.executable, "-m", "calibrant", *args]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)


def test_without_a_terminal_there_is_no_progress_bar_and_no_colour():
    process = start("score", "table.parquet")
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0
    assert b"\x1b" not in out + err
    assert b"rows," not in err


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_on_a_terminal_there_is_a_progress_bar():
    import pty

    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "calibrant", "score", "table.parquet"],
        stdout=subprocess.DEVNULL, stderr=follower, env={**os.environ, "TERM": "xterm"},
    )  # fmt: skip
    os.close(follower)
    shown = b""
    try:
        while block := os.read(leader, 4096):
            shown += block
    except OSError:  # the other side has gone
        pass
    finally:
        os.close(leader)
    assert process.wait(timeout=60) == 0
    assert b"million/s" in shown


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_ctrl_c_ends_it_at_once_and_leaves_nothing(folder):
    rng = np.random.default_rng(0)
    rows = pa.table({"y": np.zeros(2**20, np.int8), "p": rng.random(2**20)})
    with pq.ParquetWriter("long.parquet", rows.schema) as writer:
        for _ in range(3):
            writer.write_table(rows)
    # The same file many times: seconds of work.
    process = start("score", *["long.parquet"] * 200, "--save-state", "out.state")
    assert process.stderr is not None
    process.stderr.readline()  # the columns are found: the work begins
    time.sleep(0.3)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    pressed = time.perf_counter()
    out, err = process.communicate(timeout=30)
    assert time.perf_counter() - pressed < 5  # a fraction of a second on an idle machine
    assert (process.returncode, out) == (130, b""), err
    assert err.splitlines()[-1] == b"calibrant: interrupted; nothing was written"
    assert b"Traceback" not in err
    assert sorted(path.name for path in folder.iterdir()) == ["long.parquet", "table.parquet"]


def test_completion():
    for shell in ("bash", "zsh", "fish"):
        done = run("completion", shell)
        assert done.exit_code == 0
        assert "_CALIBRANT_COMPLETE" in done.stdout


def test_help_has_examples():
    for command in ("score", "report", "merge"):
        done = run(command, "--help")
        assert done.exit_code == 0
        assert f"calibrant {command} " in done.stdout


def test_demo_is_the_same_every_time():
    from calibrant import _demo

    first, second = (Evidence.of(_demo.overconfident(2_000), group="site") for _ in range(2))
    assert first == second
    assert first.table is not None
    assert first.table.assess().verdict.startswith("over-confident")


# --- compare


def test_compare_prints_what_the_function_returns(columns):
    rng = np.random.default_rng(7)
    noisy = np.clip(columns["score"] + rng.normal(0, 0.1, N), 0.01, 0.99)
    y = columns["clicked"]
    both = pa.table({"y": y, "old": noisy, "new": columns["score"]})
    pq.write_table(both, "both.parquet", row_group_size=700)
    pq.write_table(pa.table({"y": y, "p": noisy}), "old.parquet", row_group_size=999)
    pa.csv.write_csv(pa.table({"y": y, "p": columns["score"]}), "new.csv")
    expected = calibrant.compare(y, {"old": noisy, "new": columns["score"]})
    one = run("compare", "both.parquet", "--prob", "old", "--prob", "new")
    assert (one.exit_code, one.stdout) == (0, f"{expected!r}\n")
    two = run("compare", "old.parquet", "new.csv", "--json")
    assert json.loads(two.stdout)["comparison"] == json.loads(json.dumps(expected.to_dict()))
    assert two.stderr.startswith("old: label = y (guessed from its name), prob = p (guessed")


def test_compare_refuses_other_rows(columns):
    y = columns["clicked"]
    pq.write_table(pa.table({"y": y, "p": columns["score"]}), "a.parquet")
    pq.write_table(pa.table({"y": 1 - y, "p": columns["score"]}), "b.parquet")
    pq.write_table(pa.table({"y": y[:-1], "p": columns["score"][:-1]}), "c.parquet")
    for name, label in (("d", "spam"), ("e", "ham")):
        pq.write_table(
            pa.table({"y": ["ham", label, "spam"], "p": [0.25, 0.5, 0.5]}), f"{name}.parquet"
        )
    for args, message in [
        (("a.parquet", "b.parquet"), "a and b have different labels at row 0: 0 and 1"),
        (("d.parquet", "e.parquet", "--positive", "spam"), "at row 1: spam and ham;"),
        (("a.parquet", "c.parquet"), f"c has {N - 1} rows, a has more"),
        (("a.parquet",), "give two files or more"),
        (("a.parquet", "--prob", "p", "--prob", "p"), "each --prob must name another column"),
        (("a.parquet", "a.parquet"), "of different names"),
    ]:
        done = run("compare", *args)
        assert (done.exit_code, done.stdout) == (2, "")
        assert message in done.stderr.splitlines()[-1]


# --- intervals


def test_intervals_are_scored_and_reported(folder):
    pytest.importorskip("jinja2")
    rng = np.random.default_rng(3)
    y, width = rng.normal(size=900), rng.gamma(2.0, size=900)
    pq.write_table(
        pa.table({"price": y, "q05": y * 0.1 - width, "q95": y * 0.1 + width}), "i.parquet"
    )
    evidence = Evidence.of("i.parquet")
    hsic = evidence.coverage_hsic.result().hsic
    shown = (
        f"{evidence.intervals.result()}\n  HSIC of width and coverage at level 0.9: {hsic:.5g}\n"
    )
    done = run("score", "i.parquet")
    assert (done.exit_code, done.stdout) == (0, shown)
    assert "interval of 90% = q05 to q95 (guessed from their names)" in done.stderr
    content = json.loads(run("score", "i.parquet", "--json").stdout)
    assert (content["scorecard"], content["intervals"]["n"]) == (None, 900)
    assert [level["hsic"] for level in content["coverage_hsic"]["levels"]] == [hsic]
    assert run("report", "i.parquet", "-o", "i.html").exit_code == 0
    assert "Prediction intervals" in (folder / "i.html").read_text()
    refused = run("score", "i.parquet", "--fail-if", "ece>0")
    assert (refused.exit_code, refused.stdout) == (2, "")
    done = run("score", "i.parquet", "--low", "q05", "--high", "q95", "--interval-level", 0.8)
    assert "interval of 80% = q05 to q95 (given)" in done.stderr
    done = run("score", "i.parquet", "--hsic-bandwidth", 2, "--width-edges", "1,3", "--json")
    content = json.loads(done.stdout)
    assert content["coverage_hsic"]["levels"][0]["bandwidths"] == [2.0, 1.0]
    assert content["source"]["settings"]["width_edges"] == [1.0, 3.0]
    done = run("score", "i.parquet", "--width-edges", "1;3")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "numbers with commas between" in done.stderr


@pytest.mark.usefixtures("folder")
def test_hsic_is_left_out_and_the_rest_is_there():
    widths = np.linspace(1.0, 2.0, 70_000)
    columns = {"y": np.zeros(70_000), "low_90": -widths, "high_90": widths}
    pq.write_table(pa.table(columns), "spread.parquet")
    done = run("score", "spread.parquet", "--hsic-bandwidth", 1e-6)
    assert done.exit_code == 0
    assert "left out: the widths are spread over too many bandwidths of 1e-06" in done.stdout
    pq.write_table(pa.table({**columns, "w": np.ones(70_000)}), "weighted.parquet")
    content = json.loads(run("score", "weighted.parquet", "--json").stdout)
    assert content["intervals"]["n"] == 70_000
    reason = "rows have weights, and HSIC takes none"
    assert content["coverage_hsic"] == {"levels": [], "reason": reason}


@pytest.mark.usefixtures("folder")
def test_models_are_compared_by_their_probabilities_alone():
    y = np.arange(8) % 2
    columns = {"y": y, "low_90": y - 1.0, "high_90": y + 1.0, "set": [[0]] * 8}
    for name, p in (("a", 0.5), ("b", 0.25)):
        pq.write_table(pa.table({**columns, "p": np.full(8, p)}), f"{name}.parquet")
    done = run("compare", "a.parquet", "b.parquet")
    assert done.exit_code == 0
    assert "set" not in done.stderr
    assert "interval" not in done.stderr
    pq.write_table(pa.table(columns), "c.parquet")
    done = run("compare", "a.parquet", "c.parquet")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "c.parquet: there are no probabilities" in done.stderr
