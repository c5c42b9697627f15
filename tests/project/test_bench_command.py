"""`pytest bench`: it runs, compares the answers, and the pages are written from its JSON."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]

if not (ROOT / "bench").is_dir():
    pytest.skip("there is no bench/ in a source distribution", allow_module_level=True)
pytest.importorskip("pytest_benchmark")

#: Without those that start slowly or compile; they take part in every run of the benchmarks.
PEERS = "scikit-learn,mapie,numpy,pandas,polars"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Run all cases once on 100 rows at most, with the peers of the tests."""
    folder = tmp_path_factory.mktemp("bench")
    source = folder / "run.json"
    options = ["--sizes", "100", "--budget", "0", "--peers", PEERS, f"--benchmark-json={source}"]
    quiet = ["-q", "-p", "no:cacheprovider", "--benchmark-columns=median"]
    command = [sys.executable, "-m", "pytest", "bench", *options, *quiet]
    # In a process of pytest-xdist the plugin would measure nothing.
    outside = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, env=outside
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]
    return source


def test_every_case_runs_beside_its_peers(run):
    infos = [b["extra_info"] for b in json.loads(run.read_text(encoding="utf-8"))["benchmarks"]]
    found = {(info["case"], info["who"]) for info in infos}
    assert ("brier_score", "scikit-learn") in found
    assert ("brier_score", "NumPy") in found
    assert {case for case, who in found if who == "calibrant"} == {case for case, _ in found}
    for info in infos:
        assert info["n"] <= 100
        assert info["threads"] >= 1
        assert {"bytes", "memory", "yardstick"} <= set(info)


def test_pages_are_written_from_the_json(run, tmp_path):
    (tmp_path / "README.md").write_text(
        "before\n<!-- speed table: written by bench/pages.py -->\nold\n<!-- end of speed table -->"
        "\nafter\n"
    )
    command = [sys.executable, "bench/pages.py", str(run), "--root", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True)
    readme = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert readme.startswith("before\n")
    assert readme.endswith("\nafter\n")
    assert "old" not in readme
    assert "| brier_score | 100 |" in readme
    page = (tmp_path / "docs/reference/performance.md").read_text(encoding="utf-8")
    places = [page.index(f"### {title}") for title in ("Ten rows", "Where it loses", "All rows")]
    assert places == sorted(places)
    assert "#### scores" in page
    assert (tmp_path / "docs/images/performance_ratio.svg").exists()


def test_ratios_are_of_medians_and_losses_have_reasons(monkeypatch):
    monkeypatch.syspath_prepend(ROOT)
    from bench import pages

    common = {"n": 10**6, "threads": 2, "rounds": 5, "iqr": 1e-4, "yardstick": False, "room": "a"}
    ours = {**common, "case": "sum", "who": "calibrant", "median": 2e-3, "min": 9e-3, "why": "x"}
    fast = {**common, "case": "sum", "who": "fast", "median": 1e-3, "min": 9e-3}
    slow = {**fast, "who": "slow", "median": 4e-3}
    text = pages.losses([ours, fast, slow])
    assert "| sum | 10⁶ | 2 ± 0.1 ms | fast 1 ± 0.1 ms | 0.5 | x |" in text
    assert "slow" not in text
    assert pages.losses([ours, slow]) == "None in this run."


def test_a_wrong_answer_fails(monkeypatch):
    monkeypatch.syspath_prepend(ROOT)
    from bench.case import Case, Contender, Peer, compare

    right, wrong = Peer("right", np.sum), Peer("wrong", lambda x: x.sum() * (1 + 1e-6))
    case = Case("sum", lambda n: (np.arange(n),), np.sum, (right, wrong))
    data = case.data(10)
    compare(Contender(case, 10, right), data, case.ours(*data), right.call(*data))
    with pytest.raises(AssertionError, match="sum-10-wrong"):
        compare(Contender(case, 10, wrong), data, case.ours(*data), wrong.call(*data))


@pytest.mark.parametrize(
    ("options", "sizes"), [({}, [10, 1000]), ({"most": 100}, [10, 100]), ({"sizes": (50,)}, [50])]
)
def test_sizes_of_a_case(monkeypatch, options, sizes):
    monkeypatch.syspath_prepend(ROOT)
    from bench.case import Case

    case = Case("sum", lambda n: (n,), sum, large=(10**8,), **options)
    assert case.sizes_of((10, 1000), long=False) == sizes
    assert case.sizes_of((10, 1000), long=True) == [*sizes, 10**8]
