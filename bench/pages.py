"""Put the tables and pictures of a run where readers look: between the markers of the pages."""

from __future__ import annotations

from pathlib import Path

from bench import compat_table, tables
from bench.plots import PLOTS, draw
from bench.results import Results

SPEED = ("<!-- speed table: written by python -m bench -->", "<!-- end of speed table -->")
PERFORMANCE = ("<!-- results: written by python -m bench -->", "<!-- end of results -->")
DROP_IN = (
    "<!-- table of the drop-in layers: written by python -m bench -->",
    "<!-- end of table -->",
)


def put(page: Path, markers: tuple[str, str], text: str) -> None:
    """Replace what is between the markers; a page without them gets both, at its end."""
    begin, end = markers
    old = page.read_text(encoding="utf-8") if page.exists() else ""
    before, found, rest = old.partition(begin)
    after = rest.partition(end)[2] if found else "\n"
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(f"{before}{begin}\n\n{text}\n\n{end}{after}", encoding="utf-8")


def performance(results: Results, pictures: list[str]) -> str:
    shown = {name: f"![{PLOTS[name][1]}](../images/{name}.svg)" for name in pictures}
    parts = [
        tables.machine(results),
        "### Where it loses",
        tables.losses(results),
        "### What did not run, or not as stated",
        tables.trouble(results),
        "### Bars",
        tables.bars(results),
        "Bars that are no figures are tests:",
        tables.tested(),
        "### Beside the peers",
        shown.get("performance_ratio", ""),
        tables.beside(results),
        "### Beside reading memory",
        shown.get("performance_reading", ""),
        "### Growth with the rows",
        shown.get("performance_growth", ""),
        tables.growth(results),
        "### Memory",
        shown.get("performance_memory", ""),
        "### Small calls, and files",
        tables.small_calls(results),
        tables.files(results),
    ]
    return "\n\n".join(part for part in parts if part)


def speed(results: Results) -> str:
    m = results.machine
    note = (
        f"{m['processor']}, {m['isa']}, {results.most_threads} threads; {m['compiler']}, NumPy "
        f"{m['versions']['numpy']}, Python {m['python']}. The best of several runs, in turns; a "
        "ratio above 1 means that calibrant is faster. In italics what a task is measured by. "
        "`python -m bench` makes the figures and this table."
    )
    return f"{tables.readme(results)}\n\n{note}"


def write(results: Results, root: Path) -> list[Path]:
    """Write the pages and pictures under a folder, and return what was written."""
    pictures = draw(results, root / "docs/images")
    put(root / "docs/reference/performance.md", PERFORMANCE, performance(results, pictures))
    put(root / "README.md", SPEED, speed(results))
    written = [root / "docs/reference/performance.md", root / "README.md"]
    drop_in = results.probes.get("drop-in", {})
    if drop_in and "failed" not in drop_in:
        put(root / "docs/guide/compat.md", DROP_IN, compat_table.table(drop_in))
        written.append(root / "docs/guide/compat.md")
    return written + [root / f"docs/images/{name}.svg" for name in pictures]
