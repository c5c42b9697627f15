"""The rooms of calibrant: the same folders in every layer, each built on those before it."""

from __future__ import annotations

import re
from pathlib import Path

#: By which CMake builds the core, one room after the other, from the bottom to the top.
BUILD = Path(__file__).parents[2] / "cpp" / "src" / "CMakeLists.txt"
CORE = (
    tuple(re.findall(r"^\s*add_subdirectory\((\w+)\)", BUILD.read_text(), re.MULTILINE))
    if BUILD.exists()
    else (
        "runtime", "kernels", "state", "numeric", "rows", "ordering", "partition", "means",
        "calibration", "scores", "cumulative", "roc", "score_table", "assessment", "scorecards",
        "intervals", "dependence", "ranks", "ensemble_scores", "ensemble", "samples", "drift",
        "grouped", "compat",
    )
)  # fmt: skip
#: What Python is built on, in folders of its own.
FOUNDATION = ("_runtime", "_input", "_accumulator")
#: What Python adds on top. `drift` has sums in the core, but compares windows here.
TOP = ("windows", "drift", "io", "evidence", "plotting", "distributed", "report", "commands")

ROOMS = (*(room for room in CORE if room not in TOP), *TOP)
