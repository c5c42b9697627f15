"""Turn a run of the benchmarks into the speed table of the README.

pytest bench --benchmark-json=bench.json
python bench/report.py bench.json            prints the table
python bench/report.py bench.json README.md  also puts it there
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

BEGIN = "<!-- speed table: written by bench/report.py -->"
END = "<!-- end of speed table -->"


def seconds_by_group(run: dict) -> dict[str, dict[str, float]]:
    groups: dict[str, dict[str, float]] = {}
    for benchmark in run["benchmarks"]:
        name = benchmark["name"].split("[")[0].removeprefix("test_")
        if "1-thread" in benchmark["name"]:
            name += " (1 thread)"
        groups.setdefault(benchmark["group"], {})[name] = benchmark["stats"]["min"]
    return groups


def time_text(seconds: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds:.3g} s"


def table(run: dict) -> str:
    lines = [
        "| task | calibrant | NumPy | ratio |",
        "| --- | ---: | ---: | ---: |",
    ]
    for group, seconds in sorted(seconds_by_group(run).items()):
        ours = next(
            (s for n, s in seconds.items() if n in ("calibrant", "weighted", "generalized_mean")),
            None,
        )
        rival = next(
            (s for n, s in seconds.items() if n.startswith("numpy") and "sum_only" not in n), None
        )
        if ours is None or rival is None:
            continue
        task, size, dtype = group.rsplit("-", 2)
        lines.append(
            f"| `{task}`, {float(size):.0e} rows, {dtype} | {time_text(ours)} | {time_text(rival)} "
            f"| {rival / ours:.1f} |"
        )
    info = run["machine_info"]
    config = info["calibrant"]
    cpu = info.get("cpu", {}).get("brand_raw", "unknown processor")
    machine = (
        f"{cpu}, {config['isa']}, {config['num_threads']} threads; {config['compiler']}, "
        f"NumPy {config['numpy']}, Python {info['python_version']}. The best of several runs; a "
        "ratio above 1 means that calibrant is faster."
    )
    return "\n".join([*lines, "", machine])


def main() -> None:
    run = json.loads(Path(sys.argv[1]).read_text())
    text = table(run)
    print(text)
    if len(sys.argv) > 2:
        page = Path(sys.argv[2])
        before, _, rest = page.read_text().partition(BEGIN)
        after = rest.partition(END)[2] if END in rest else rest
        page.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}")


if __name__ == "__main__":
    main()
