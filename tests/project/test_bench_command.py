"""The benchmarks as a command: it runs, compares the answers and writes what it found."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

if not (ROOT / "bench").is_dir():
    pytest.skip("there is no bench/ in a source distribution", allow_module_level=True)


@pytest.fixture(autouse=True)
def from_the_root(monkeypatch):
    monkeypatch.syspath_prepend(ROOT)


def run(*options, out):
    command = [sys.executable, "-m", "bench", *options, "--out", str(out)]
    environment = {**os.environ, "OMP_WAIT_POLICY": "passive"}
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, env=environment
    )


def records_of(folder):
    return json.loads((folder / "bench/results.json").read_text(encoding="utf-8"))["records"]


@pytest.fixture(scope="module")
def checked(tmp_path_factory):
    """All tasks on 1,000 rows or fewer, with the peers that are installed."""
    folder = tmp_path_factory.mktemp("checked")
    return run("--check", "--threads", "1", out=folder), folder


def test_all_answers(checked):
    from bench.tasks import TASKS

    done, folder = checked
    assert done.returncode == 0, done.stdout + done.stderr
    found = records_of(folder)
    assert {r["task"] for r in found if r["status"] == "ok"} == {task.name for task in TASKS}
    yardsticks = {(t.name, p.name) for t in TASKS for p in t.peers if p.yardstick}
    for record in found:
        why = record["status"]
        if why != "ok":
            assert "n" not in record
            assert why == "not installed" or why.startswith("does not load"), record
        elif record["who"] != "calibrant" and (record["task"], record["who"]) not in yardsticks:
            assert record["answer"].startswith(("equal to", "differs: ")), record


def test_what_was_not_measured_is_an_empty_cell():
    from bench import tables

    for text in (tables.time_text, tables.number, tables.memory_text):
        assert text(float("nan")) == ""
    assert tables.time_text(1.5e-3) == "1.5 ms"


def test_losses_come_first(checked):
    _, folder = checked
    page = (folder / "docs/reference/performance.md").read_text(encoding="utf-8")
    titles = ["### Where it loses", "### Bars", "### Beside the peers"]
    places = [page.index(title) for title in titles]
    assert places == sorted(places)
    assert "equal to 1e-09" in page
    assert "| scikit-learn" in (folder / "README.md").read_text(encoding="utf-8")


def test_redrawn_from_the_results(checked):
    _, folder = checked
    pages = ["docs/reference/performance.md", "README.md", "docs/images/performance_ratio.svg"]
    before = [(folder / page).read_bytes() for page in pages]
    done = run("--redraw", out=folder)
    assert done.returncode == 0, done.stderr
    assert [(folder / page).read_bytes() for page in pages] == before


def test_a_process_for_each_task(tmp_path):
    done = run("--sizes", "1e3", "--threads", "1,2", "--only", "score, weights", out=tmp_path)
    assert done.returncode == 0, done.stderr
    found = {(r["who"], r["threads"]) for r in records_of(tmp_path) if r["status"] == "ok"}
    assert found >= {("calibrant", 1), ("calibrant", 2), ("NumPy", None)}


def fail(*_):
    raise ValueError("no")


def test_what_peers_may_do_wrong():
    from bench.measure import Settings, measure
    from bench.task import Peer, Task

    task = Task(
        "sum",
        lambda n: (list(range(n)),),
        sum,
        (
            Peer("same", sum),
            Peer("wrong", lambda x: sum(x) + 1),
            Peer("failing", fail),
            Peer("missing", sum, needs="no_such_module"),
        ),
    )
    found = list(measure(task, (100, 200), Settings((1,), budget=0.001)))
    by_name = {(r["who"], r.get("n")): r for r in found}
    assert by_name["same", 200]["answer"] == "equal to 1e-09"
    assert by_name["wrong", 200]["answer"].startswith("WRONG: ")
    assert by_name["failing", 200]["status"] == "failed: ValueError: no"
    assert by_name["missing", None]["status"] == "not installed"


def test_too_slow_for_the_next_size():
    from bench.measure import Contender, Round, Settings
    from bench.task import Task

    contender = Contender("slow", fail, seen=[(10, 0.1, 0.0), (100, 10.0, 0.0)])
    assert contender.expected(1000, 1) == pytest.approx(1000)  # it grows with the square
    task = Task("nothing", lambda n: (n,), fail)
    [record] = Round(task, 1000, Settings((1,))).run([contender], lambda *_: None)
    assert record["status"] == "over 10 s"


@pytest.mark.parametrize(
    ("script", "status"),
    [("raise SystemExit('killed')", "died: killed"), ("time.sleep(60)", "over 5 s")],
)
def test_processes_that_die_or_hang(monkeypatch, script, status):
    from bench import runner
    from bench.measure import Settings
    from bench.tasks import find

    def start(_task, _sizes, settings):
        reading, writing = os.pipe()
        says = f"import os, time; w = os.fdopen({writing}, 'w')\n"
        if not settings.without:  # the second process, without the peer, is well
            says += f'print(\'{{"begin": [1000, "NumPy"]}}\', file=w, flush=True); {script}'
        process = subprocess.Popen(
            [sys.executable, "-c", says], pass_fds=(writing,), stderr=subprocess.PIPE, text=True
        )
        os.close(writing)
        return process, reading

    monkeypatch.setattr(runner, "start", start)
    monkeypatch.setattr(runner, "SILENCE", 5)  # a busy machine starts no Python in 1
    found = list(runner.run(find("brier_score"), (1000,), Settings((1,), cap=0.0)))
    assert [(r["who"], r["status"]) for r in found] == [("NumPy", status)]


def test_bars_are_read_from_what_is_there():
    from bench.bars import BARS, TESTED
    from bench.plan import of_bars
    from bench.tables import README_ROWS
    from bench.tasks import TASKS

    assert len({task.name for task in TASKS}) == len(TASKS)
    assert len({bar.id for bar in BARS}) == len(BARS)
    peers = {(task.name, peer.name.split(" (")[0]) for task in TASKS for peer in task.peers}
    assert peers.issuperset((task, who.split(" (")[0]) for task, who in README_ROWS)
    for task, sizes in of_bars().tasks:
        assert set(sizes) <= set(task.sizes), task.name
    assert all((ROOT / path).exists() for _, path in TESTED)


def test_bars_met_and_not():
    from bench.bar import Bar
    from bench.bars import BARS
    from bench.results import Results
    from bench.tables import bars

    least = Bar("a", "speed", "at least", 2, lambda _: 3)
    most = Bar("b", "cost", "at most", 2, lambda _: 3)
    absent = Bar("c", "probe", "at most", 2, lambda results: results.probes["none"])
    assert [bar.met(Results()) for bar in (least, most, absent)] == [True, False, None]
    assert all(bar.met(Results()) is None for bar in BARS)
    assert bars(Results()).count("not measured") == len(BARS)


def test_pages_keep_what_is_around_the_markers(tmp_path):
    from bench.pages import put

    page, markers = tmp_path / "page.md", ("<!-- a -->", "<!-- b -->")
    page.write_text("before\n<!-- a -->\nold\n<!-- b -->\nafter\n")
    put(page, markers, "new")
    assert page.read_text() == "before\n<!-- a -->\n\nnew\n\n<!-- b -->\nafter\n"
    put(page, markers, "newer")
    assert page.read_text() == "before\n<!-- a -->\n\nnewer\n\n<!-- b -->\nafter\n"
