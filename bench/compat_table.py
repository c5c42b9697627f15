"""The table of the drop-in layers, from the seconds that `compat` measures."""

from __future__ import annotations

#: Where the rows are not 10^3 and 10^6.
ROWS = {
    "regression.hsic": " (10^3 and 3,000 rows)",
    "conditional.worst_slab_coverage": " (100 and 1,000 rows)",
}


def row(title: str, seconds: list[float]) -> str:
    cells = []
    for ours, theirs in zip(seconds[::2], seconds[1::2], strict=True):
        cells += [f"{1e3 * ours:.3g} ms", f"{1e3 * theirs:.3g} ms", f"{theirs / ours:.3g}"]
    return f"| {title}{ROWS.get(title, '')} | {' | '.join(cells)} |"


def table(found: dict[str, list[float]]) -> str:
    lines = ["| function | ours, 10^3 | peer | times | ours, 10^6 | peer | times |"]
    lines.append("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    return "\n".join([*lines, *(row(title, seconds) for title, seconds in found.items())])
