"""The C++ program of examples/cpp and Python go on from each other's checkpoints.

CALIBRANT_CPP_EXAMPLE names the program, built as examples/cpp/CMakeLists.txt says.
"""

from __future__ import annotations

import os
import subprocess

import numpy as np
import pytest

from calibrant.streaming import Scores

PROGRAM = os.environ.get("CALIBRANT_CPP_EXAMPLE")
pytestmark = pytest.mark.skipif(PROGRAM is None, reason="CALIBRANT_CPP_EXAMPLE names no program")


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(20)
    p = rng.random(7_500)
    return (rng.random(p.size) < p).astype(int), p


def run(rows, checkpoint, folder):
    lines = "".join(f"{y} {p!r}\n" for y, p in zip(rows[0].tolist(), rows[1].tolist(), strict=True))
    folder.joinpath("rows.txt").write_text(lines)
    command = [PROGRAM, str(folder / "rows.txt"), str(checkpoint)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_both_ways(rows, tmp_path):
    y, p = rows
    checkpoint = tmp_path / "scores.state"
    whole = Scores()
    whole.update(y, p)

    assert run((y[:3_300], p[:3_300]), checkpoint, tmp_path).returncode == 0
    total = Scores.load(checkpoint)  # what C++ began, Python goes on with
    assert total.n == 3_300
    total.update(y[3_300:5_000], p[3_300:5_000])
    total.save(checkpoint)
    said = run((y[5_000:], p[5_000:]), checkpoint, tmp_path)  # and C++ ends

    assert checkpoint.read_bytes() == whole.to_bytes()
    result = whole.result()
    assert said.stdout == (
        f"7500 rows, Brier score {result.brier:.17g}, log score {result.log:.17g}\n"
    )


def test_bad_rows_and_damaged_checkpoints(rows, tmp_path):
    checkpoint = tmp_path / "scores.state"
    y, p = rows[0][:1_500], rows[1][:1_500].copy()
    p[1_200] = 1.5
    said = run((y, p), checkpoint, tmp_path)
    assert said.returncode == 1
    assert "must lie in [0, 1], found 1.5 at row 200 (row 1200 of the stream)" in said.stderr
    assert not checkpoint.exists()
    checkpoint.write_bytes(b"CLBR and nothing else")
    assert run((y[:10], p[:10]), checkpoint, tmp_path).returncode == 1


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1 high", "a line is not a label and a number"),
        ("257 0.5", "must be 0 or 1, found 257 at row 1"),
    ],
)
def test_lines_that_cannot_be_rows(line, message, tmp_path):
    tmp_path.joinpath("rows.txt").write_text(f"1 0.75\n{line}\n0 0.5\n")
    command = [PROGRAM, str(tmp_path / "rows.txt"), str(tmp_path / "scores.state")]
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    assert said.returncode == 1
    assert message in said.stderr
    assert not (tmp_path / "scores.state").exists()
