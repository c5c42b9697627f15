r"""Write the README's table, docs/reference/performance.md and its picture from a run's JSON.

pytest bench --sizes 1e4,1e6 --budget 0.05 --time-limit 5 --benchmark-json build/bench.json
python bench/pages.py build/bench.json
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

Entry = dict[str, Any]
#: The rows that a reader needs, at the largest size that the run has of both; one is a loss.
HEADLINES = (
    ("scorecard", "scikit-learn"),
    ("risk_profile", "NumPy"),
    ("brier_score", "scikit-learn"),
    ("ECE, 50 bins of equal count", "MAPIE"),
    ("cumulative_tests (KS and Kuiper)", "MAPIE"),
    ("roc_auc", "scikit-learn"),
    ("coverage_hsic", "MAPIE"),
    ("crps_ensemble, standard, float64", "scoringrules"),
    ("Brier and log score, 100 rows a group", "polars"),
    ("streaming.Moments, 64 dimensions", "NumPy"),
)
#: A call of so many rows at most takes microseconds, some of them for checks of its arguments.
FEW_ROWS = 10**4
FEW = "few rows: a call takes microseconds, some of them for checks that the peer does not make"


def load(path: Path) -> tuple[dict[str, Any], list[Entry]]:
    """Return the machine, and an entry for each benchmark."""
    run = json.loads(path.read_text(encoding="utf-8"))
    machine = {**run["machine_info"], "date": run["datetime"][:10], **run["commit_info"]}
    entries = [
        {**b["stats"], **b["extra_info"], "room": b["fullname"].split("/test_")[1].split(".")[0]}
        for b in run["benchmarks"]
    ]
    return machine, entries


def groups(entries: list[Entry]) -> Iterator[tuple[list[Entry], list[Entry]]]:
    """Yield calibrant's entries, those with most threads first, and the others, of each group."""
    found: dict[tuple[str, int], list[Entry]] = {}
    for entry in entries:
        found.setdefault((entry["case"], entry["n"]), []).append(entry)
    for group in found.values():
        ours = [entry for entry in group if entry["who"] == "calibrant"]
        if ours:
            ours.sort(key=lambda entry: -entry["threads"])
            yield ours, [entry for entry in group if entry["who"] != "calibrant"]


def pairs(entries: list[Entry]) -> Iterator[tuple[Entry, Entry]]:
    return ((ours[0], other) for ours, others in groups(entries) for other in others)


def ratio(ours: Entry, other: Entry) -> float:
    return other["median"] / ours["median"]


def number(x: float, digits: int = 3) -> str:
    return f"{x:,.0f}" if x >= 10 ** (digits - 1) else f"{x:.{digits}g}"


def size(n: int) -> str:
    """Return 10⁷, or 4,000."""
    power = round(math.log10(n))
    return f"10{'⁰¹²³⁴⁵⁶⁷⁸⁹'[power]}" if n == 10**power and n >= 10**4 else f"{n:,}"


def spread(entry: Entry) -> str:
    """Return the median and the interquartile range, in the unit of the median."""
    units = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9))
    unit, scale = next((u for u in units if entry["median"] >= u[1]), units[-1])
    iqr = f" ± {number(entry['iqr'] / scale, 2)}" if entry["rounds"] > 1 else ""
    return f"{number(entry['median'] / scale)}{iqr} {unit}"


def megabytes(entry: Entry) -> str:
    return "" if entry.get("memory") is None else f"{entry['memory'] / 1e6:,.1f} MB"


def name(entry: Entry) -> str:
    return f"*{entry['who']}*" if entry["yardstick"] else entry["who"]


def table(header: str, right: str, rows: Iterable[list[str]]) -> str:
    """Return a Markdown table; `right` has an r for every column that is flush right."""
    rule = " | ".join("---:" if side == "r" else "---" for side in right)
    return "\n".join(f"| {line} |" for line in (header, rule, *map(" | ".join, rows)))


def short_rows(found: Iterable[tuple[Entry, Entry]]) -> Iterator[list[str]]:
    for ours, other in found:
        beside = f"{name(other)} {spread(other)}"
        times = number(ratio(ours, other))
        yield [ours["case"], size(ours["n"]), spread(ours), beside, times]


def headlines(entries: list[Entry]) -> str:
    largest: dict[tuple[str, str], tuple[Entry, Entry]] = {}
    for ours, other in sorted(pairs(entries), key=lambda pair: pair[0]["n"]):
        largest[ours["case"], other["who"].split(" (")[0]] = (ours, other)
    rows = short_rows(largest[key] for key in HEADLINES if key in largest)
    return table("case | n | calibrant | beside | ratio", "lrrlr", rows)


def losses(entries: list[Entry]) -> str:
    found = sorted((p for p in pairs(entries) if not p[1]["yardstick"]), key=lambda p: ratio(*p))
    found = [pair for pair in found if ratio(*pair) < 1]
    reasons = [o["why"] or (FEW if o["n"] <= FEW_ROWS else "not yet explained") for o, _ in found]
    rows = ([*row, why] for row, why in zip(short_rows(found), reasons, strict=True))
    header = "case | n | calibrant | beside | ratio | why"
    return table(header, "lrrlrl", rows) if found else "None in this run."


def all_rows(entries: list[Entry]) -> Iterator[str]:
    """Yield a title and a table for each room."""
    header = "case | n | calibrant | 1 thread | memory | beside | ratio | its memory | answer"
    for room in dict.fromkeys(entry["room"] for entry in entries):
        rows = []
        for ours, others in groups([entry for entry in entries if entry["room"] == room]):
            alone = spread(ours[-1]) if len(ours) > 1 else ""
            first = [ours[0]["case"], size(ours[0]["n"]), spread(ours[0]), alone]
            first.append(megabytes(ours[0]))
            for x in others:
                times = number(ratio(ours[0], x))
                beside = [f"{name(x)} {spread(x)}", times, megabytes(x), x["answer"]]
                rows.append([*first, *beside])
            if not others:
                rows.append([*first, "", "", "", ours[0]["answer"]])
        if rows:
            yield f"#### {room}\n\n{table(header, 'lrrrrlrrl', rows)}"


def machine_text(machine: dict[str, Any]) -> str:
    ours = machine["calibrant"]
    there = ", ".join(f"{key} {value}" for key, value in machine["versions"].items())
    return (
        f"{machine['cpu'].get('brand_raw', machine['machine'])}, {ours['isa']}, {ours['threads']} "
        f"cores; calibrant {ours['version']} at {machine['id'][:10]} by {ours['compiler']}, Python "
        f"{machine['python_version']}, {there}. {machine['date']}."
    )


def draw(entries: list[Entry], path: Path) -> None:
    """Draw how many times as long as calibrant the peers take, at the largest size of each."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    from calibrant.plotting import style

    rows: dict[str, list[tuple[str, float]]] = {}
    for ours, other in pairs(entries):
        if not other["yardstick"] and ours["room"] != "compat":
            found = rows.setdefault(f"{ours['case']}, {size(ours['n'])}", [])
            found.append((other["who"].split(",")[0].split(" (")[0], ratio(ours, other)))
    order = sorted(rows, key=lambda key: -min(x for _, x in rows[key]))
    families = list(dict.fromkeys(who for found in rows.values() for who, _ in found))
    light = {"svg.fonttype": "none", "svg.hashsalt": "calibrant"}  # text is text, same bytes
    with style() as palette, mpl.rc_context(light):
        height = 1.4 + 0.2 * len(order)
        figure, axes = plt.subplots(figsize=(9.6, height), layout="constrained")
        axes.axvline(1, color=palette.text, linewidth=1)
        for k, family in enumerate(families):
            points = [
                (x, i) for i, key in enumerate(order) for who, x in rows[key] if who == family
            ]
            colour = palette.series[1:][k % (len(palette.series) - 1)]
            look = {"color": colour, "marker": "osD^v"[k % 5], "linestyle": "", "label": family}
            axes.plot(*zip(*points, strict=True), **look)
        axes.set_yticks(range(len(order)), order, fontsize=7.5)
        axes.set(xscale="log", ylim=(-0.7, len(order) - 0.3))
        axes.set_xlabel("how many times as long as calibrant: right of 1, calibrant is faster")
        axes.legend(loc="lower center", bbox_to_anchor=(0.35, 1.0), ncols=5)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, metadata={"Date": None})


def put(page: Path, what: str, text: str) -> None:
    """Replace what is between the markers of a page; a page without them gets them at its end."""
    begin, end = f"<!-- {what}: written by bench/pages.py -->", f"<!-- end of {what} -->"
    old = page.read_text(encoding="utf-8") if page.exists() else ""
    before, found, rest = old.partition(begin)
    after = rest.partition(end)[2] if found else "\n"
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(f"{before}{begin}\n\n{text}\n\n{end}{after}", encoding="utf-8")


def write(source: Path, root: Path) -> None:
    machine, entries = load(source)
    draw(entries, root / "docs/images/performance_ratio.svg")
    parts = [
        machine_text(machine),
        "### Ten rows",
        headlines(entries),
        "### Where it loses, and why",
        losses(entries),
        "### All rows",
        "![How many times as long as calibrant the peers take](../images/performance_ratio.svg)",
        *all_rows(entries),
    ]
    put(root / "docs/reference/performance.md", "results", "\n\n".join(parts))
    put(root / "README.md", "speed table", headlines(entries))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=Path, help="what --benchmark-json wrote")
    parser.add_argument("--root", type=Path, default=Path(__file__).parents[1])
    arguments = parser.parse_args()
    write(arguments.source, arguments.root)
