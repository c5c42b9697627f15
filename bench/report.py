"""Turn a run of the benchmarks into the speed table of the README.

    pytest bench --benchmark-json=bench.json
    python bench/report.py bench.json            prints a table of all groups
    python bench/report.py bench.json README.md  puts its float64 rows there

The table has the largest size of each group.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

BEGIN = "<!-- speed table: written by bench/report.py -->"
END = "<!-- end of speed table -->"
RIVALS = {"numpy": "NumPy", "scikit_learn": "scikit-learn", "mapie": "MAPIE"}


def contender(name: str) -> str | None:
    """Who ran it: calibrant on all threads, or a rival; None for what the table leaves out."""
    function = name.split("[")[0].removeprefix("test_")
    if function == "numpy_sum_only" or "1-thread" in name:
        return None
    return next((rival for key, rival in RIVALS.items() if function.startswith(key)), "calibrant")


def seconds_by_group(run: dict) -> dict[tuple[str, int, str], dict[str, float]]:
    groups: dict[tuple[str, int, str], dict[str, float]] = {}
    for benchmark in run["benchmarks"]:
        who = contender(benchmark["name"])
        if who is None or benchmark["group"].count("-") < 2:
            continue
        task, size, dtype = benchmark["group"].rsplit("-", 2)
        key = (task, int(float(size)), dtype)
        groups.setdefault(key, {})[who] = benchmark["stats"]["min"]
    return groups


def time_text(seconds: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds:.3g} s"


def table(run: dict, dtypes: set[str]) -> str:
    lines = ["| task | rows | calibrant | rival | ratio |", "| --- | ---: | ---: | --- | ---: |"]
    groups = seconds_by_group(run)
    for (task, size, dtype), seconds in sorted(groups.items()):
        largest = max(n for t, n, d in groups if (t, d) == (task, dtype))
        ours = seconds.pop("calibrant", None)
        if ours is None or size != largest or dtype not in dtypes:
            continue
        lines += [
            f"| {task}, {dtype} | {size:.0e} | {time_text(ours)} | {rival} {time_text(theirs)} "
            f"| {theirs / ours:.3g} |"
            for rival, theirs in sorted(seconds.items())
        ]
    info = run["machine_info"]
    config = info["calibrant"]
    cpu = info.get("cpu", {}).get("brand_raw", "unknown processor")
    machine = (
        f"{cpu}, {config['isa']}, {config['num_threads']} threads; {config['compiler']}, NumPy "
        f"{config['numpy']}, Python {info['python_version']}. The best of several runs; a ratio "
        "above 1 means that calibrant is faster. `pytest bench` makes the figures, "
        "`bench/report.py` this table."
    )
    return "\n".join([*lines, "", machine])


def main() -> None:
    run = json.loads(Path(sys.argv[1]).read_text())
    print(table(run, {"float64", "float32"}))
    if len(sys.argv) > 2:
        text = table(run, {"float64"})
        page = Path(sys.argv[2])
        before, _, rest = page.read_text().partition(BEGIN)
        after = rest.partition(END)[2] if END in rest else rest
        page.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}")


if __name__ == "__main__":
    main()
