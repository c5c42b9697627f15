"""The command line, as a user meets it: what it prints, what it writes, how it ends."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import calibrant
from calibrant import streaming
from calibrant._accumulator.events import EventAccumulator
from calibrant.commands import calibrant as program
from calibrant.drift import drift_by_window
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
    verdict = calibrant.assess(columns["clicked"], columns["score"]).verdict.partition("; the an")[
        0
    ]
    assert done.stdout.startswith(f"{card!r}\n\n{verdict}.\nRecalibrate ")
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
    rejected = run("score", "t.csv", *roles)
    assert rejected.exit_code == 2
    assert "t.csv: missing values: 1 in 'kind'" in rejected.stderr
    done = run("score", "t.csv", *roles, "--missing", "skip")
    card = calibrant.scorecard([0, 1, np.nan], p, nan_policy="omit")
    assert done.stdout.startswith(f"{card!r}\n\ntoo few rows to tell: 2 hits where 1.25 were")


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
    assert found["source"]["settings"]["gather"] == ["assessment"]
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
    for name in ("one", "other"):
        (folder / name).write_bytes(part.to_bytes())
    assert run("merge", "one", "other", "-o", "two").exit_code == 0
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
        (
            ("merge", "profile", "scores", "-o", "x"),
            "scores: cannot merge streaming.Scores into streaming.RiskProfile",
        ),
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
    said = "These probabilities are over-confident: events given 8.0 % happened 15.2 % of the time."
    assert done.stdout == f"{said}\nreport.html: a report on 60,000 rows\n"
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


@pytest.mark.parametrize("command", ["report", "score"])
def test_files_or_the_demo(command):
    for args in ((), ("--demo", "table.parquet")):
        done = run(command, *args)
        assert done.exit_code == 2
        assert "give files, or --demo" in done.stderr


def test_report_and_score_take_the_same_options():
    from calibrant.commands import report, score

    both = [
        {option for each in command.params for option in each.opts + each.secondary_opts}
        for command in (report.command, score.command)
    ]
    assert both[0] - both[1] == {"--title"}
    assert both[1] <= both[0]


def test_both_write_json_and_a_state(folder):
    pytest.importorskip("jinja2")
    for command, schema in (("report", "calibrant.report/1"), ("score", "calibrant.scorecard/1")):
        for _ in range(2):  # its like is replaced
            done = run(command, "--demo", "-o", "out.json", "--save-state", f"{command}.state")
            assert done.exit_code == 0, done.stderr
        assert json.loads((folder / "out.json").read_text())["schema"] == schema
    assert (folder / "report.state").read_bytes() == (folder / "score.state").read_bytes()


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
    done = run("report", "--demo", "--force")
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
    out, err = process.communicate(timeout=300)
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
    assert process.wait(timeout=300) == 0
    assert b"million/s" in shown


def processor_seconds_of_children():
    times = os.times()
    return times.children_user + times.children_system


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_ctrl_c_ends_it_at_once_and_leaves_nothing(folder):
    # A few bytes a row group, and a minute of work in ten files.
    rows = pa.table({"y": np.zeros(2**20, np.int8), "p": np.full(2**20, 0.25)})
    with pq.ParquetWriter("long0.parquet", rows.schema) as writer:
        for _ in range(100):
            writer.write_table(rows)
    names = [f"long{i}.parquet" for i in range(10)]
    for name in names[1:]:
        shutil.copy(names[0], name)
    before = processor_seconds_of_children()
    process = start("score", *names, "--save-state", "out.state")
    assert process.stderr is not None
    process.stderr.readline()  # the columns are found: the work begins
    time.sleep(0.3)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=300)
    assert processor_seconds_of_children() - before < 20  # most of them to import its modules
    assert (process.returncode, out) == (130, b""), err
    assert err.splitlines()[-1] == b"calibrant: interrupted; nothing was written"
    assert b"Traceback" not in err
    assert sorted(path.name for path in folder.iterdir()) == [*names, "table.parquet"]


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
    from calibrant.commands import _demo as demo

    first, second = (Evidence.of(demo.overconfident(2_000), group="site") for _ in range(2))
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


def test_compare_rejects_other_rows(columns):
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
    rejected = run("score", "i.parquet", "--fail-if", "ece>0")
    assert (rejected.exit_code, rejected.stdout) == (2, "")
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


# --- what is written over, and what is not


def write_rows(path, n=40, seed=5, **more):
    rng = np.random.default_rng(seed)
    p = rng.random(n)
    pa.csv.write_csv(pa.table({"y": (rng.random(n) < p).astype(int), "p": p, **more}), path)
    return path


@pytest.mark.parametrize("how", ["path", "dotted", "symlink", "hard link"])
@pytest.mark.parametrize("forced", [(), ("--force",)])
def test_an_input_is_never_written_over(how, forced, folder):
    pytest.importorskip("jinja2")
    for name in ("a.csv", "b.csv"):
        write_rows(folder / name)
    (folder / "more").mkdir()
    write_rows(folder / "more" / "c.csv")
    write_rows(folder / "s.csv")
    assert run("score", "s.csv", "--save-state", "s.state").exit_code == 0
    assert run("score", "a.csv", "--save-state", "t.state").exit_code == 0

    def other_name(name):
        if how == "path":
            return name
        if how == "dotted":
            return str(folder / "more" / ".." / name)
        alias = folder / f"alias{len(list(folder.iterdir()))}"
        alias.symlink_to(folder / name) if how == "symlink" else alias.hardlink_to(folder / name)
        return alias

    for args, target in [
        (("score", "a.csv", "--save-state"), "a.csv"),
        (("score", "*.csv", "--save-state"), "b.csv"),
        (("score", "more", "--save-state"), "more/c.csv"),
        (("report", "a.csv", "-o"), "a.csv"),
        (("report", "s.state", "-o"), "s.state"),
        (("compare", "a.csv", "b.csv", "-o"), "b.csv"),
        (("merge", "s.state", "t.state", "-o"), "t.state"),
    ]:
        before = (folder / target).read_bytes()
        done = run(*args, other_name(target), *forced)
        assert (done.exit_code, done.stdout) == (2, ""), args
        assert "is an input, and would be written over" in done.stderr.splitlines()[-1]
        assert (folder / target).read_bytes() == before


def test_what_is_there_gives_way_to_its_like_or_by_force(folder):
    pytest.importorskip("jinja2")
    write_rows(folder / "a.csv")
    notes = folder / "notes.txt"
    for args, kind in [
        (("score", "a.csv", "--save-state", "notes.txt"), "state"),
        (("report", "a.csv", "-o", "notes.txt"), "report"),
        (("report", "--demo", "-o", "notes.txt"), "report"),
    ]:
        notes.write_text("mine")
        done = run(*args)
        assert (done.exit_code, done.stdout) == (2, "")
        rejected = f"notes.txt: is there already, and is no {kind} of calibrant; name another file"
        assert rejected in done.stderr
        assert "--force" in done.stderr
        assert notes.read_text() == "mine"
        assert run(*args, "--force").exit_code == 0
        assert notes.read_bytes() != b"mine"
        assert run(*args).exit_code == 0  # its like
    done = run("score", "a.csv", "--save-state", "notes.txt")  # a report is no state
    assert "is no state of calibrant" in done.stderr
    assert run("report", "a.csv", "-o", "r.json").exit_code == 0
    assert run("report", "a.csv", "-o", "r.json").exit_code == 0
    notes.write_text("")  # nothing is lost
    assert run("score", "a.csv", "--save-state", "notes.txt").exit_code == 0


def test_a_read_only_file_is_not_replaced(folder):
    pytest.importorskip("jinja2")
    write_rows(folder / "a.csv")
    assert run("score", "a.csv", "--save-state", "a.state").exit_code == 0
    before = (folder / "a.state").read_bytes()
    (folder / "a.state").chmod(0o444)
    for more in ((), ("--force",)):
        done = run("score", "table.parquet", "--save-state", "a.state", *more)
        assert done.exit_code == 2
        assert "a.state: cannot be written: the file is read-only" in done.stderr
    with pytest.raises(PermissionError, match="the file is read-only"):
        streaming.Scores().save(folder / "a.state")
    assert (folder / "a.state").read_bytes() == before
    assert sorted(path.name for path in folder.iterdir()) == ["a.csv", "a.state", "table.parquet"]


# --- tables that are not what they seem


def last_line(done):
    assert (done.exit_code, done.stdout) == (2, ""), done.output
    assert isinstance(done.exception, SystemExit)
    line = done.stderr.splitlines()[-1]
    assert line.startswith(("calibrant: ", "Error: "))
    return line


@pytest.mark.parametrize("row", ["1,0.25", "0,0.75,de", "1,1e-3", "0,1", "1, .5"])
def test_a_first_line_of_values_is_rejected(row, folder):
    (folder / "t.csv").write_text(f"{row}\n" * 10)
    said = last_line(run("score", "t.csv"))
    assert "t.csv: the first line holds values, such as '" in said
    assert "--no-header" in said


@pytest.mark.parametrize("names", ["y,p", "y,p,2024,2025", "0,1,2,3", "y,p,-"])
def test_names_that_look_like_numbers(names, folder):
    n = names.count(",") - 1
    (folder / "t.csv").write_text(names + "\n" + ("1,0.5" + ",0" * n + "\n") * 4)
    columns = names.split(",")
    done = run("score", "t.csv", "--label", columns[0], "--prob", columns[1])
    assert "Scorecard of 4 rows" in done.stdout


def test_with_and_without_a_header(folder):
    rows = "".join(f"{i % 2},{0.25 + i % 2 / 2},de\n" for i in range(10))
    (folder / "t.csv").write_text(rows)
    done = run("score", "t.csv", "--no-header", "--group", "2")
    assert done.exit_code == 0, done.output
    assert "Scorecard of 10 rows" in done.stdout
    assert "label = 0 (guessed" in done.stderr
    assert "prob = 1 (guessed" in done.stderr
    (folder / "t.csv").write_text("1,0.5\n" + "1,0.25\n" * 3)
    done = run("score", "t.csv", "--header", "--label", "1", "--prob", "0.5")
    assert "Scorecard of 3 rows" in done.stdout
    assert "said of CSV files only" in last_line(run("score", "table.parquet", "--no-header"))


@pytest.mark.parametrize("stray", [('"open', "x"), ('"open', '"open'), ('a,"b', "x")])
def test_a_stray_quote_does_not_swallow_rows(stray, folder):
    note = dict(zip((249, 300), stray, strict=True))
    rows = [f"{i % 2},0.5,{note.get(i, 'x')}" for i in range(500)]
    (folder / "t.csv").write_text("y,p,note\n" + "\n".join(rows) + "\n")
    said = last_line(run("score", "t.csv"))
    if stray[0] == '"open':
        assert "t.csv: a quote in the row that begins at line 251 is not closed" in said


def test_line_ends_and_quotes_inside_of_values(folder):
    note = ['"two\nlines"', '"say ""so"""', '5" pipe', "", "plain"]
    rows = [f"{i % 2},0.5,{note[i % 5]}" for i in range(500)]
    (folder / "t.csv").write_text("y,p,note\n" + "\n".join(rows) + "\n\n\n")
    assert "Scorecard of 500 rows" in run("score", "t.csv").stdout


def test_a_malformed_numpy_header(folder):
    np.savez(folder / "good.npz", y=[1, 0], p=[0.5, 0.5])
    for head in (b"{'descr': ((((", b"\x00" * 70, b"{'descr': '<f8', 'shape': (2, 2)", b"[" * 3000):
        block = b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head + bytes(64)
        (folder / "t.npy").write_bytes(block)
        with zipfile.ZipFile(folder / "t.npz", "w") as archive:
            archive.writestr("y.npy", block)
            archive.writestr("p.npy", block)
        for name in ("t.npy", "t.npz"):
            said = last_line(run("score", name))
            assert f"{name}: cannot be read as an array of NumPy" in said


def test_a_line_of_json_that_is_nested_deep(folder):
    good = (
        '{"y": 1, "p": 0.5, "note": "[[[[{{{{"}\n{"y": 0, "p": 0.5, "note": "' + "[" * 5000 + '"}\n'
    )
    (folder / "good.jsonl").write_text(good * 10)
    assert "Scorecard of 20 rows" in run("score", "good.jsonl").stdout
    deep = "[" * 100_000 + "]" * 100_000
    for note in (deep, deep.replace("[", '{"a":').replace("]", "}"), "[[]," * 100_000):
        (folder / "deep.jsonl").write_text(good + '{"y": 1, "p": 0.5, "note": ' + note + "}\n")
        process = start("score", "deep.jsonl")
        out, err = process.communicate(timeout=300)
        assert (process.returncode, out) == (2, b""), err[-300:]
        assert b"deep.jsonl: row 2 has lists or objects nested more than 256 deep" in err
    (folder / "deep.json").write_text("[" + deep + "]")
    assert "cannot be read as JSON" in last_line(run("score", "deep.json"))


def test_json(folder, columns):
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    rows = [{**row, "clicked": int(row["clicked"]), "score": float(row["score"])} for row in rows]
    (folder / "t.json").write_text(json.dumps(rows))
    expected = run("score", "table.parquet").stdout
    assert run("score", "t.json").stdout == expected
    (folder / "lines.json").write_text("\n".join(map(json.dumps, rows)))
    assert run("score", "lines.json").stdout == expected
    (folder / "no.json").write_text("[1, 2]")
    assert "must hold an array of objects" in last_line(run("score", "no.json"))


@pytest.mark.skipif(sys.platform != "linux", reason="any bytes are a name")
def test_a_name_that_is_not_utf8_is_named(folder):
    os.link(folder / "table.parquet", os.fsencode(folder) + b"/r\xe9sum\xe9.parquet")
    process = start("score", os.fsdecode(b"r\xe9sum\xe9.parquet"))
    out, err = process.communicate(timeout=300)
    assert (process.returncode, out) == (2, b"")
    assert b"b'r\\xe9sum\\xe9.parquet': the name is not UTF-8; rename the file" in err


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes of POSIX")
def test_pipes_and_standard_input(folder, columns):
    pa.csv.write_csv(pa.table(columns), "table.csv")
    expected = run("score", "table.csv").stdout
    os.mkfifo(folder / "pipe.csv")
    process = start("score", "pipe.csv")
    (folder / "pipe.csv").write_bytes((folder / "table.csv").read_bytes())
    out, err = process.communicate(timeout=300)
    assert (process.returncode, out.decode()) == (0, expected), err
    with open("table.csv", "rb") as file:  # noqa: PTH123
        process = start("score", "-", "--format", "csv", stdin=file)
        out, err = process.communicate(timeout=300)
    assert (process.returncode, out.decode()) == (0, expected), err
    process = start("score", "-", stdin=subprocess.DEVNULL)
    _, err = process.communicate(timeout=300)
    assert b"name its format (--format csv)" in err


def test_format_of_a_file(columns):
    pa.csv.write_csv(pa.table(columns), "table.txt")
    assert "cannot tell its format" in last_line(run("score", "table.txt"))
    assert run("score", "table.txt", "--format", "csv").exit_code == 0
    assert "format must be" in last_line(run("score", "table.txt", "--format", "xls"))


# --- options that would change nothing, and rows that would count twice


@pytest.mark.parametrize(
    "option",
    [("--bins", "10"), ("--label", "y"), ("--group", "country"), ("--missing", "skip"),
     ("--q-lim", "0.1"), ("--no-header",), ("--low", "a"), ("--no-prob",)],
)  # fmt: skip
def test_options_of_reading_are_rejected_where_nothing_is_read(option):
    assert run("score", "table.parquet", "--save-state", "t.state").exit_code == 0
    for command in ("score", "report"):
        said = last_line(run(command, "t.state", *option))
        assert f"{option[0]}" in said
        assert "a saved state has been read already" in said
    if option[0] not in ("--bins", "--q-lim"):
        assert "--demo reads none" in last_line(run("report", "--demo", *option))


@pytest.mark.parametrize(
    ("args", "option"),
    [
        (("--prob", "score", "--prob", "country"), "--probs A,B"),
        (("--label", "clicked", "--label", "country"), "--label"),
        (("--bins", "3", "--bins", "4"), "--bins"),
        (("--confidence", "0.9", "--confidence", "0.5"), "--confidence"),
    ],
)
def test_an_option_of_one_value_takes_one(args, option):
    said = last_line(run("score", "table.parquet", *args))
    assert "it is given more than once, with" in said
    assert option in said


def test_a_file_counts_once(folder):
    write_rows(folder / "a.csv")
    os.link(folder / "a.csv", folder / "same.csv")
    (folder / "sub").mkdir()
    (folder / "sub" / "link.csv").symlink_to(folder / "a.csv")
    for files in (("a.csv", "a.csv"), ("a.csv", "./a.csv"), ("a.csv", "same.csv"),
                  ("sub", "a.csv"), ("?.csv", "same.csv")):  # fmt: skip
        assert "is named twice" in last_line(run("score", *files))
    for name in ("s", "t"):
        assert run("score", "a.csv", "--save-state", name).exit_code == 0
    for args in (("score", "s", "s"), ("report", "s", "./s"), ("merge", "s", "t", "s", "-o", "x")):
        assert "is named twice" in last_line(run(*args))
    assert not (folder / "x").exists()
    with pytest.raises(ValueError, match="is named twice, so its rows would count twice"):
        calibrant.io.scan(["a.csv", "a.csv"])


def test_an_empty_name_is_no_folder():
    for args in (("score", ""), ("report", ""), ("score", "table.parquet", "")):
        assert "the name of a file is empty" in last_line(run(*args))


def test_a_report_of_json_by_its_name(folder):
    pytest.importorskip("jinja2")
    assert run("report", "table.parquet", "-o", "x.json").exit_code == 0
    found = json.loads((folder / "x.json").read_text())
    assert found["schema"] == "calibrant.report/1"
    assert run("compare", "table.parquet", "table.parquet", "--prob", "score").exit_code == 2
    assert "another" in last_line(run("report", "table.parquet", "--json", "-o", "x.html"))


# --- who reads the output


@pytest.mark.skipif(sys.platform == "win32", reason="pipes of POSIX")
@pytest.mark.parametrize("condition", [(), ("--fail-if", "ece<0")])
def test_a_pipe_that_ends_is_no_gate_that_failed(condition, columns):
    table = pa.table({**columns, "many": [f"key {i % 300}" for i in range(N)]})
    pq.write_table(table, "many.parquet")
    command = ["score", "many.parquet", "--group", "many", "--json", *condition]
    process = start(*command)
    process.stdout.close()
    err = process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=300) == 141
    assert b"Traceback" not in err
    assert b"Exception ignored" not in err


@pytest.mark.skipif(sys.platform == "win32", reason="a shell of POSIX")
def test_a_closed_output():
    base = f'"{sys.executable}" -m calibrant score table.parquet'
    for closed, condition, code in (
        (">&-", "", 0), (">&-", "--fail-if 'ece>0'", 1), ("2>&-", "", 0), (">&- 2>&-", "", 0),
    ):  # fmt: skip
        done = subprocess.run(
            f"{base} {condition} {closed}", shell=True, capture_output=True, check=False
        )
        assert done.returncode == code, done.stderr
        assert b"Traceback" not in done.stderr
        assert b"Error" not in done.stderr


# --- names that a terminal would obey

HOSTILE = ["\x1b[31mred\x1b[0m", "two\nlines", "bell\x07", "back\x08\r", "\ufeffbom", "a\u202eb"]


def test_group_names_are_shown_and_not_obeyed(folder):
    n = 30 * len(HOSTILE)
    write_rows(folder / "t.csv", n)
    table = pa.csv.read_csv("t.csv")
    pq.write_table(table.append_column("g", pa.array(HOSTILE * 30)), "t.parquet")
    done = run("score", "t.parquet", "--group", "g")
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert all(line.isprintable() for line in lines)
    head = next(i for i, line in enumerate(lines) if line.startswith("  group"))
    assert len(lines) == head + 1 + len(HOSTILE) + 3  # an empty line, the verdict and advice
    assert any("\\x1b[31mred\\x1b[0m" in line for line in lines)
    done = run("score", "t.parquet", "--group", "g", "--fail-if", "groups:ece>0")
    assert done.exit_code == 1
    assert all(line.isprintable() for line in done.stderr.splitlines())
    assert sum(line.startswith("failed: group ") for line in done.stderr.splitlines()) == len(
        HOSTILE
    )


@pytest.mark.parametrize("name", ["p\u00a0x", "\ufeffp", "\x1b[1mp", "p\\1", "p\\g<0>", "p\nq"])
def test_column_names_beside_a_bad_value(name):
    pq.write_table(pa.table({"y": [1, 0], name: [0.5, 1.5]}), "t.parquet")
    said = last_line(run("score", "t.parquet", "--prob", name))
    assert "must lie in [0, 1], found 1.5 at row 1" in said
    assert said.isprintable()
    pq.write_table(pa.table({name: [1, 7], "p": [0.5, 0.5]}), "t.parquet")
    assert "must be 0 or 1, found 7" in last_line(run("score", "t.parquet", "--label", name))


# --- no probabilities


def interval_table(**more):
    rng = np.random.default_rng(3)
    y = rng.normal(size=60)
    return {"y": y, "low_90": np.full(60, -1.6), "high_90": np.full(60, 1.6), **more}


def test_a_forecast_beside_intervals_is_no_probability():
    table = interval_table(pred=np.zeros(60) + 2.0)
    pq.write_table(pa.table(table), "t.parquet")
    done = run("score", "t.parquet")
    assert done.exit_code == 0, done.output
    assert "prob" not in done.stderr
    assert "Scorecard" not in done.stdout
    pq.write_table(pa.table({**table, "prob": np.full(60, 2.0)}), "u.parquet")
    assert run("score", "u.parquet").exit_code == 2
    without = run("score", "u.parquet", "--no-prob")
    assert (without.exit_code, without.stdout) == (0, done.stdout)
    for extra in (("--prob", "prob"), ("--probs", "a,b")):
        assert "give one of --prob" in last_line(run("score", "u.parquet", "--no-prob", *extra))
    said = last_line(run("score", "table.parquet", "--no-prob"))
    assert "without probabilities there is nothing to score" in said
    evidence = Evidence.of({**table, "prob": np.full(60, 2.0)}, prob=())
    assert (evidence.scorecard.n, evidence.intervals.n) == (0, 60)


@pytest.mark.parametrize("y", [[1.5, 2.5, 0.5], [1, 0, 1]])
@pytest.mark.parametrize("name", ["pred", "score"])
def test_a_guessed_probability_that_is_none_is_an_error_that_says_what_to_do(y, name):
    table = pa.table(
        {"y": y, name: [1.2, 2.2, 0.7], "from": [0.0, 0.0, 0.0], "to": [1.0, 2.0, 3.0]}
    )
    pq.write_table(table, "t.parquet")
    said = last_line(run("score", "t.parquet"))
    assert f"if '{name}' holds no probabilities, say so with prob=() (--no-prob), and name" in said
    given = last_line(run("score", "t.parquet", "--prob", name))
    assert "must" in given
    assert "--no-prob" not in given
    bounds = ("--low", "from", "--high", "to", "--interval-level", "0.9")
    done = run("score", "t.parquet", "--no-prob", *bounds)
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("Prediction intervals of 3 rows")


# --- roles


@pytest.mark.parametrize(
    ("labels", "positive"), [([-1, 1], "1"), ([1, 2], "2"), ([-1.0, 1.0], "1"), ([1.0, 2.0], "2")]
)
def test_labels_of_two_other_numbers(labels, positive):
    y, p = np.array(labels * 50), np.linspace(0.01, 0.99, 100)
    pq.write_table(pa.table({"y": y, "p": p}), "t.parquet")
    said = last_line(run("score", "t.parquet", "--label", "y"))
    assert f"if {positive} is the label of class 1, say so with positive (--positive " in said
    done = run("score", "t.parquet", "--label", "y", "--positive", positive)
    expected = calibrant.scorecard((y == labels[1]).astype(int), p)
    assert done.stdout.splitlines()[1:16] == repr(expected).splitlines()[1:16]


@pytest.mark.parametrize(
    ("names", "given"),
    [
        (["p0", "p1", "p2"], "p0..p2"),
        (["p0", "p1", "p2"], "p0..2"),
        (["c08", "c09", "c10"], "c08..c10"),
        (["a", "p1", "p2"], "a,p1..p2"),
    ],
)
def test_ranges_of_columns(names, given):
    p = np.random.default_rng(1).dirichlet(np.ones(3), 30)
    pq.write_table(
        pa.table({"y": [0, 1, 2] * 10, **dict(zip(names, p.T, strict=True))}), "t.parquet"
    )
    listed = run("score", "t.parquet", "--probs", ",".join(names))
    assert listed.exit_code == 0, listed.output
    assert run("score", "t.parquet", "--probs", given).stdout == listed.stdout
    assert "is no range of columns" in last_line(run("score", "t.parquet", "--probs", "p9..p0"))


def test_crossed_bounds(folder):
    table = interval_table()
    table["low_90"][7], table["high_90"][7] = 1.6, -1.6
    pq.write_table(pa.table(table), "t.parquet")
    said = last_line(run("score", "t.parquet"))
    assert "at row 7" in said
    assert 'crossed="swap" (--crossed swap)' in said
    done = run("score", "t.parquet", "--crossed", "swap", "--json")
    pq.write_table(pa.table(interval_table()), "u.parquet")
    straight = run("score", "u.parquet", "--json")
    found, expected = json.loads(done.stdout), json.loads(straight.stdout)
    assert found["intervals"] == expected["intervals"]
    assert found["coverage_hsic"] == expected["coverage_hsic"]
    assert found["source"]["crossed_bounds"] == "swap"
    assert run("score", "t.parquet", "--crossed", "swap", "--save-state", "t.state").exit_code == 0
    assert (folder / "t.state").exists()


def test_windows_of_time(columns):
    days = np.datetime64("2024-05-02") + np.arange(N) * np.timedelta64(60, "D") // N
    p = np.where(days < np.datetime64("2024-06-13"), columns["score"], 0.5 * columns["score"])
    rows = {"y": columns["clicked"], "p": p}
    pq.write_table(pa.table({**rows, "day": days}), "t.parquet", row_group_size=700)
    weekly = streaming.Windowed(streaming.Scorecard, every=np.timedelta64(14, "D"), keep=None)
    weekly.update(rows["y"], p, timestamps=days)
    first, *others = weekly.windows()
    drift = drift_by_window(first, others)
    done = run("score", "t.parquet", "--time", "day", "--every", "2w")
    assert done.exit_code == 0
    lines = done.stdout.partition(f"{len(others) + 1} windows by day\n")[2].splitlines()
    for line, window in zip(lines[1:], [first, *others], strict=False):
        card = window.result
        assert line.split()[:2] == [str(window.start)[:10], f"{window.n:,}"]
        assert f"{card.brier.value:.5f}" in line
        assert line.endswith("changed") == (window in drift.drifted)
    assert drift.drifted
    assert lines[-1] == drift.verdict
    content = json.loads(
        run("score", "t.parquet", "--time", "day", "--every", "14d", "--json").stdout
    )
    assert len(content["windows"]) == len(others) + 1
    assert content["drift"] == json.loads(json.dumps(drift.to_dict()))


def test_windows_of_time_in_a_report(folder, columns):
    pytest.importorskip("jinja2")
    rows = {"y": columns["clicked"], "p": columns["score"], "hour": np.arange(N) // 100}
    pq.write_table(pa.table(rows), "t.parquet")
    assert run("report", "t.parquet", "--time", "hour", "--every", 4).exit_code == 0
    page = (folder / "report.html").read_text()
    assert "Over time, by hour" in page
    assert "no drift seen" in page.lower()
    report = json.loads(run("report", "t.parquet", "--time", "hour", "--every", 4, "--json").stdout)
    section = next(section for section in report["sections"] if section["name"] == "time")
    assert [int(row["from"]) for row in section["tables"]["windows"]] == [*range(0, N // 100, 4)]
    assert section["figures"]["windows"]["start"] == [*range(4, N // 100, 4)]
    alone = run("report", "t.parquet", "--time", "hour", "--every", 10**6, "--json")
    sections = {section["name"]: section for section in json.loads(alone.stdout)["sections"]}
    assert not sections["time"]["figures"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--time", "hour"], "--time and --every go together"),
        (["--every", "7d"], "--time and --every go together"),
        (["--time", "hour", "--every", "7x"], "7x is no length of time"),
        (["--time", "hour", "--every", "7d"], "column 'hour' must be dates"),
        (["--time", "hour", "--every", "0"], "every must be positive"),
        (["--time", "hour", "--every", "0.001"], "at most 1,000 windows, found 19,000"),
        (["--time", "no", "--every", "7d"], "no column 'no'"),
        (["--time", "word", "--every", "7d"], "column 'word' must hold dates or numbers"),
        (["--time", "hour", "--every", "4", "--no-prob", "--low", "low", "--high", "high",
          "--interval-level", "0.5"], "--time compares probabilities"),
    ],
)  # fmt: skip
def test_windows_that_make_no_sense(options, message):
    rows = {"y": [0, 1] * 10, "p": [0.5] * 20, "hour": range(20), "word": ["a"] * 20}
    rows |= {"low": [0.0] * 20, "high": [1.0] * 20}
    pq.write_table(pa.table({name: list(column) for name, column in rows.items()}), "t.parquet")
    done = run("score", "t.parquet", *options)
    assert done.exit_code == 2
    assert message in done.stderr


def test_q_lim_and_confidence(columns):
    rows = columns["clicked"], np.where(columns["clicked"] == 1, 0.0, columns["score"])
    pq.write_table(pa.table({"y": rows[0], "p": rows[1]}), "t.parquet")
    done = run("score", "t.parquet", "--q-lim", "0.01")
    expected = Evidence.of({"y": rows[0], "p": rows[1]}, q_lim=0.01)
    assert done.stdout.startswith(f"{expected.result()!r}\n\n")
    assert "q_lim" in last_line(run("score", "t.parquet", "--q-lim", "0.7"))
    pq.write_table(pa.table({"y": rows[0], "p": rows[1], "q": rows[1] / 2}), "two.parquet")
    both = {"p": rows[1], "q": rows[1] / 2}
    options = ("--prob", "p", "--prob", "q", "--q-lim", "0.01", "--confidence", "0.9")
    compared = calibrant.compare(rows[0], both, q_lim=0.01, confidence_level=0.9)
    assert run("compare", "two.parquet", *options).stdout == f"{compared!r}\n"
    pytest.importorskip("jinja2")
    for level in (0.5, 0.99):
        report = json.loads(run("report", "table.parquet", "--json", "--confidence", level).stdout)
        assert f"its {100 * level:g}% confidence interval" in report["sections"][0]["explanation"]
    assert run("score", "table.parquet", "--save-state", "s").exit_code == 0
    wide = json.loads(run("state", "inspect", "s", "--confidence", "0.99").stdout)
    assert wide["schema"] == "calibrant.state/1"
    assert wide["result"]["confidence_level"] == 0.99


def test_draws_and_sets_are_named_where_nothing_was_found():
    draws = np.random.default_rng(1).normal(size=(10, 4))
    pq.write_table(pa.table({"theta": draws[:, 0], "samples": list(draws)}), "t.parquet")
    said = last_line(run("score", "t.parquet", "--label", "theta"))
    pq.write_table(pa.table({"a": draws[:, 0], "b": draws[:, 1]}), "t.parquet")
    said = last_line(run("score", "t.parquet"))
    for option in ("--prob", "--low", "--set", "--truth, --draws"):
        assert option in said


# --- gates


def test_gates_of_groups():
    pytest.importorskip("jinja2")
    roles = ("table.parquet", "--group", "country")
    for command in (("score", *roles), ("report", *roles, "-o", "r.html")):
        for condition, code, failed in [
            ("groups:ece>0.9", 0, 0),
            ("groups:ece>0", 1, 3),
            ("de:ece>0", 1, 1),
            ("groups: ece.low > 0.9", 0, 0),
            ("ece>0", 1, 1),
        ]:
            done = run(*command, "--fail-if", condition)
            assert done.exit_code == code, done.output
            lines = [line for line in done.stderr.splitlines() if line.startswith("failed: ")]
            assert len(lines) == failed
            if "de:" in condition:
                assert lines[0].startswith("failed: group de: ece is 0.")
        said = last_line(run(*command, "--fail-if", "nowhere:ece>0"))
        assert "there is no 'nowhere' (there are: de, fr, it)" in said
    assert "name them with --group" in last_line(
        run("score", "table.parquet", "--fail-if", "groups:ece>0")
    )
    done = run("score", *roles, "--fail-if", "groups:auc>0")  # bounds of a stream gate, too
    assert done.exit_code == 1
    assert done.stderr.count("failed: group") == 3


def test_a_gate_of_what_is_no_number():
    assert "'nan' is not a number" in last_line(
        run("score", "table.parquet", "--fail-if", "ece>nan")
    )


def test_gates_of_a_comparison(columns):
    pytest.importorskip("jinja2")
    worse = {**columns, "worse": 1 - columns["score"]}
    pq.write_table(pa.table(worse), "two.parquet")
    base = ("compare", "two.parquet", "--prob", "score", "--prob", "worse", "--label", "clicked")
    for condition, code, failed in [
        ("ece>0.9", 0, []),
        ("ece>0", 1, ["failed: score: ece is ", "failed: worse: ece is "]),
        ("worse:brier>0.3", 1, ["failed: worse: brier is 0."]),
        ("score:brier>0.3", 0, []),
        ("score-worse:brier.high>0", 0, []),
        ("score-worse:brier.high<0", 1, ["failed: score-worse: brier.high is -0."]),
    ]:
        done = run(*base, "--fail-if", condition)
        assert done.exit_code == code, done.output
        lines = [line for line in done.stderr.splitlines() if line.startswith("failed: ")]
        assert [line[: len(start)] for line, start in zip(lines, failed, strict=True)] == failed
    assert "there is no 'other' (there are: score, worse, score-worse)" in last_line(
        run(*base, "--fail-if", "other:ece>0")
    )
    assert "has no number ece" in run(*base, "--fail-if", "score-worse:ece>0").stderr


def test_which_accuracy_is_meant():
    done = run("score", "table.parquet", "--fail-if", "accuracy<0.9")
    said = "failed: accuracy (geometric mean (Nelson's accuracy)) is 0."
    assert said in done.stderr
    assert "the share of right answers is hit_rate" in done.stderr
    line = next(line for line in done.stdout.splitlines() if "geometric mean" in line)
    assert "Nelson's accuracy" in line
    passed = run("score", "table.parquet", "--fail-if", "accuracy<0.1")
    assert "accuracy is the geometric mean (Nelson's accuracy)" in passed.stderr


def test_one_row_is_a_row(folder):
    pytest.importorskip("jinja2")
    (folder / "t.csv").write_text("y,p\n1,0.5\n")
    assert run("score", "t.csv", "--save-state", "a").stdout.startswith("Scorecard of 1 row,")
    assert run("report", "t.csv").stdout.endswith("report.html: a report on 1 row\n")
    (folder / "e").write_bytes(Evidence().to_bytes())
    assert run("merge", "a", "e", "-o", "b").stdout == "b: 1 row\n"


def test_of_many_groups_the_largest_are_compared(monkeypatch):
    pytest.importorskip("jinja2")
    from calibrant.report import _view

    rng = np.random.default_rng(4)
    sizes = np.arange(1, 41)
    keys = np.repeat([f"g{n}" for n in sizes], sizes)
    rows = {"y": rng.integers(0, 2, len(keys)), "p": rng.random(len(keys)), "g": keys}
    pq.write_table(pa.table(rows), "t.parquet")
    command = ("report", "t.parquet", "--group", "g", "--json")

    def section():
        content = json.loads(run(*command).stdout)
        return next(each for each in content["sections"] if each["name"] == "groups")

    everything = section()
    monkeypatch.setattr(_view, "MOST_GROUPS", 10)
    some = section()
    assert not any("others have at most" in note for note in everything["notes"])
    assert some["notes"][0].startswith(
        "The 10 groups with the most rows are compared; 30 others have at most 30 rows each."
    )
    largest = {f"g{n}" for n in range(31, 41)}
    assert {row["group"] for row in some["tables"]["groups"]} == largest
    ranked = [row for row in everything["tables"]["groups"] if row["group"] in largest]
    assert some["tables"]["groups"] == ranked


def test_groups_of_several_threads_are_those_of_one(runtime_restored):  # noqa: ARG001
    rng = np.random.default_rng(4)
    keys = rng.integers(0, 50, 4_000)
    rows = {"y": rng.integers(0, 2, 4_000), "p": rng.random(4_000), "g": keys}
    pq.write_table(pa.table(rows), "t.parquet", row_group_size=100)
    found = []
    for threads in (1, 2, 4):
        calibrant.set_num_threads(threads)
        found.append(Evidence.of("t.parquet", group="g").to_bytes())
    assert found[0] == found[1] == found[2]


# --- what is approximate says so


def report_numbers(*args):
    content = json.loads(run("report", *args, "--json").stdout)
    return {
        (section["name"], number["name"]): number
        for section in content["sections"]
        for number in section["numbers"]
    }


def test_few_rows_give_what_the_functions_give(columns):
    """569 rows: 0.98536 was shown for 0.98525."""
    pytest.importorskip("jinja2")
    exact = calibrant.scorecard(columns["clicked"], columns["score"])
    found = json.loads(run("score", "table.parquet", "--json").stdout)["scorecard"]
    assert found["auc"] == exact.auc.to_dict()
    assert found == {**exact.to_dict(), "groups": []}
    numbers = report_numbers("table.parquet")
    for section in ("scorecard", "roc"):
        number = numbers[section, "auc"]
        assert (number["value"], number["low"], number["high"], number["method"]) == (
            exact.auc.value, exact.auc.low, exact.auc.high, "DeLong",
        )  # fmt: skip


def test_bounds_of_many_rows_are_marked(folder):
    pytest.importorskip("jinja2")
    rng = np.random.default_rng(8)
    p = rng.random(20_000)
    rows = {"y": (rng.random(p.size) < p).astype(int), "p": p}
    pq.write_table(pa.table(rows), "many.parquet")
    exact = calibrant.scorecard(rows["y"], p).auc
    found = json.loads(run("score", "many.parquet", "--json").stdout)["scorecard"]["auc"]
    assert found["method"] == "DeLong, certified"
    assert found["value"] != exact.value
    assert found["low"] < exact.low < exact.high < found["high"]
    shown = run("score", "many.parquet").stdout
    line = next(line for line in shown.splitlines() if line.startswith("  AUC"))
    assert "~0.8" in line
    assert "AUC: approximate, from a table of scores; the exact value surely lies in" in shown
    numbers = report_numbers("many.parquet")
    roc, card = numbers["roc", "auc"], numbers["scorecard", "auc"]
    for name in ("value", "low", "high", "method"):
        assert roc[name] == card[name] == found[name]
    assert "approximate" in numbers["roc", "predicted_auc"]["explanation"]
    run("report", "many.parquet", "-o", "r.html")
    assert (folder / "r.html").read_text(encoding="utf-8").count("~0.8") == 3


def test_the_same_digits_everywhere(columns):
    pytest.importorskip("jinja2")
    card = calibrant.scorecard(columns["clicked"], columns["score"])
    digits = f"{card.brier.value:.5f}"
    pq.write_table(pa.table({**columns, "other": columns["score"] / 2}), "two.parquet")
    models = ("two.parquet", "--label", "clicked", "--prob", "score", "--prob", "other")
    assert digits in run("score", "table.parquet").stdout
    assert digits in run("compare", *models).stdout
    assert f"brier is {digits}" in run("score", "table.parquet", "--fail-if", "brier>0").stderr
    assert run("report", "table.parquet").exit_code == 0
    with open("report.html", encoding="utf-8") as file:  # noqa: PTH123
        assert digits in file.read()
