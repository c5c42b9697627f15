"""Measure every statistic against many digits: a table of errors in ulp, and a picture.

    python docs/reference/accuracy.py                    prints the table
    python docs/reference/accuracy.py docs/reference/accuracy.md
        writes it into that page, and the picture into docs/images/accuracy.svg

Rows, inputs and truths are those of tests/support/accuracy_cases. It takes some minutes and needs
pip install ".[test]".
"""

from __future__ import annotations

import sys
from itertools import groupby
from pathlib import Path

from matplotlib import pyplot as plt

from calibrant.plotting import style

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "support"))
from accuracy_cases import Measured, rows

BEGIN = "<!-- accuracy table: written by docs/reference/accuracy.py -->"
END = "<!-- end of accuracy table -->"
NO_DIGIT = 2.0**52  # an error of so many ulp leaves none
HEAD = (
    "| | promised | in units of | cases | median | worst | met | peer: median, worst |\n"
    "| --- | ---: | --- | ---: | ---: | ---: | --- | --- |"
)
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def short(x: float) -> str:
    """Two digits, as people write them."""
    if x < 0.005:
        return "0.00" if x else "0"
    if x < 1000:
        return f"{x:.2f}" if x < 10 else f"{x:.0f}"
    digits, exponent = f"{x:.0e}".split("e")
    return f"{digits}·10{str(int(exponent)).translate(SUPERSCRIPTS)}"


def peer_cell(found: Measured) -> str:
    if found.peer_worst is None or found.peer_median is None:
        return ""
    worst = "no digit right" if found.peer_worst >= NO_DIGIT else short(found.peer_worst)
    failed = f", no number in {found.peer_failures}" if found.peer_failures else ""
    return f"{found.row.peer}: {short(found.peer_median)}, {worst}{failed}"


def line(found: Measured) -> str:
    cells = (
        found.row.name, f"{found.row.bound:g}", found.row.unit, f"{found.n:,}",
        short(found.median), short(found.worst), "yes" if found.met else "**not met**",
        peer_cell(found),
    )  # fmt: skip
    return "| " + " | ".join(cells) + " |"


def tables(results: list[Measured]) -> str:
    """One for each topic."""
    parts = []
    for topic, found in groupby(results, key=lambda result: result.row.topic):
        parts.append("\n".join([f"**{topic}**\n", HEAD, *map(line, found)]))
    return "\n\n".join(parts)


def draw(results: list[Measured], path: Path) -> None:
    """Our worst error and the peer's on a line for each row that has one."""
    compared = [found for found in results if found.peer_worst is not None]
    places = range(len(compared), 0, -1)

    def drawn(errors: list[float]) -> list[float]:
        return [min(max(error, 0.01), NO_DIGIT) for error in errors]

    ours = drawn([found.worst for found in compared])
    usual = drawn([found.peer_median or 0.0 for found in compared])
    theirs = drawn(
        [NO_DIGIT if found.peer_failures else found.peer_worst or 0.0 for found in compared]
    )
    plt.rcParams.update({"svg.hashsalt": "accuracy", "svg.fonttype": "none"})
    with style() as palette:
        figure, ax = plt.subplots(figsize=(8.6, 0.6 + 0.21 * len(compared)), layout="constrained")
        for place, a, b in zip(places, ours, theirs, strict=True):
            ax.plot([a, b], [place, place], color=palette.grid, linewidth=1.5, zorder=1)
        ax.plot(ours, places, "o", color=palette.first, label="calibrant", markersize=5)
        ax.plot(theirs, places, "D", color=palette.second, label="the peer", markersize=4.5)
        ax.plot(
            usual, places, "D", color=palette.second, fillstyle="none", markersize=3.5,
            label="the peer's median",
        )  # fmt: skip
        ax.axvline(1.0, color=palette.neutral, linewidth=0.8, linestyle="--")
        ax.set_xscale("log")
        ax.set_xticks([10.0**k for k in range(-2, 11, 4)] + [NO_DIGIT])
        ax.set_xticklabels(["0.01", "100", "10⁶", "10¹⁰", "no digit\nor number"])
        ax.set_xlabel("worst error, in ulp (or the unit of the table)")
        ax.set_yticks(list(places))
        ax.set_yticklabels([f"{found.row.name} · {found.row.peer}" for found in compared])
        ax.tick_params(axis="y", labelsize=7.5)
        ax.set_ylim(0.3, len(compared) + 0.7)
        ax.legend(loc="lower right")
        figure.savefig(path, metadata={"Date": None})


def main() -> None:
    results = []
    for row in rows():
        results.append(row.measure())
        print(line(results[-1]), flush=True)
    if len(sys.argv) > 1:
        page = Path(sys.argv[1])
        before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
        after = rest.partition(END)[2] if END in rest else rest
        page.write_text(f"{before}{BEGIN}\n\n{tables(results)}\n\n{END}{after}", encoding="utf-8")
        draw(results, page.parents[1] / "images" / "accuracy.svg")
    if not all(found.met for found in results):
        sys.exit("not all promises are met")


if __name__ == "__main__":
    main()
