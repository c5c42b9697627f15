"""The pictures of a run: ratio to the peers, share of reading, growth with n, memory."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.results import Results
from bench.tables import FROM_MEMORY, pairs, size_text
from bench.task import TO_1E8
from bench.tasks import TASKS
from calibrant.plotting import style

MARKERS = "osD^v"


def peer_styles(results: Results, palette: Any) -> dict[str, dict[str, Any]]:
    """A colour and a marker by peer; ways of one library, as "NumPy, by BLAS", share theirs."""
    names = list(dict.fromkeys(
        family(peer.name) for _, peer, _ in pairs(results) if not peer.yardstick
    ))  # fmt: skip
    colours = palette.series[1:]  # the first is calibrant's
    return {
        name: {
            "color": colours[i % len(colours)],
            "marker": MARKERS[(i // len(colours)) % len(MARKERS)],
        }
        for i, name in enumerate(names)
    }


def family(name: str) -> str:
    return name.split(",")[0].split(" (")[0]


def rows_of(results: Results, value: Callable[..., float]) -> list[tuple[str, list[Any]]]:
    """Labels with (peer, value) of each task with peers, at their largest size; largest last."""
    rows: dict[str, list[Any]] = {}
    for task, peer, sizes in pairs(results):
        if not peer.yardstick:
            found = value(task.name, sizes[-1], peer.name)
            rows.setdefault(task.name, []).append((peer.name, found, sizes[-1]))
    return sorted(rows.items(), key=lambda row: -min(x for _, x, _ in row[1]))


def dots(axes: Any, rows: list[Any], styles: dict[str, Any], palette: Any) -> None:
    seen = set()
    for i, (_, points) in enumerate(rows):
        for who, x, _ in points:
            name = family(who)
            label = name if name not in seen else None
            seen.add(name)
            axes.plot(x, i, linestyle="", markersize=6, label=label, **styles[name])
    axes.set_yticks(range(len(rows)), [
        f"{name}, {size_text(max(n for *_, n in points))}" for name, points in rows
    ])  # fmt: skip
    axes.set_ylim(-0.7, len(rows) - 0.3)
    axes.set_xscale("log")
    axes.grid(axis="both", color=palette.grid, linewidth=0.7)
    axes.set_axisbelow(True)
    axes.legend(loc="lower center", bbox_to_anchor=(0.35, 1.0), ncols=5)


def ratio(results: Results, plt: Any, palette: Any) -> Any:
    rows = rows_of(results, results.ratio)
    figure, axes = plt.subplots(figsize=(9.6, 1.4 + 0.24 * len(rows)), layout="constrained")
    axes.axvline(1, color=palette.text, linewidth=1)
    dots(axes, rows, peer_styles(results, palette), palette)
    axes.set_xlabel("how many times as long as calibrant: right of 1, calibrant is faster")
    return figure


def memory(results: Results, plt: Any, palette: Any) -> Any:
    def extra(task: str, n: int, who: str = "") -> float:
        return max(results.record(task, n, who)["memory"] / 1e6, 0.01)

    rows = rows_of(results, extra)
    figure, axes = plt.subplots(figsize=(9.6, 1.4 + 0.24 * len(rows)), layout="constrained")
    ours = [extra(name, max(n for *_, n in points)) for name, points in rows]
    axes.plot(
        ours, range(len(rows)), "|", color=palette.first, markersize=11, markeredgewidth=2.5,
        label="calibrant",
    )  # fmt: skip
    dots(axes, rows, peer_styles(results, palette), palette)
    axes.set_xlabel("memory beyond the data, MB, results included")
    return figure


def reading(results: Results, plt: Any, palette: Any) -> Any:
    rate = results.bandwidth.get(str(results.most_threads), math.nan)
    rows = []
    for name in results.measured():
        n = results.sizes(name)[-1]
        record = results.record(name, n)
        if record and record["bytes"] >= FROM_MEMORY:
            share = record["bytes"] / record["seconds"] / rate
            rows.append((share, f"{name}, {size_text(n)}"))
    rows.sort()
    figure, axes = plt.subplots(figsize=(9.6, 1.0 + 0.22 * len(rows)), layout="constrained")
    axes.barh(range(len(rows)), [share for share, _ in rows], color=palette.first, height=0.7)
    axes.set_yticks(range(len(rows)), [label for _, label in rows])
    axes.set_ylim(-0.7, len(rows) - 0.3)
    axes.axvline(1, color=palette.text, linewidth=1)
    axes.set_xscale("log")
    axes.grid(axis="x", color=palette.grid, linewidth=0.7)
    axes.set_axisbelow(True)
    axes.set_xlabel(f"speed, as a share of reading memory at {rate / 1e9:.3g} GB/s")
    return figure


def growth(results: Results, plt: Any, palette: Any) -> Any:
    """Seconds against n, one panel a task."""
    tasks = [t for t in TASKS if t.sizes == TO_1E8 and len(results.sizes(t.name)) > 1]
    tasks = tasks or [t for t in TASKS if len(results.sizes(t.name)) > 1]
    tasks = tasks[:12] or [t for t in TASKS if results.sizes(t.name)][:1]
    columns = min(3, len(tasks))
    rows = math.ceil(len(tasks) / columns)
    figure, grid = plt.subplots(
        rows, columns, figsize=(3.2 * columns, 2.5 * rows), layout="constrained", squeeze=False,
        sharex=True, sharey=True,
    )  # fmt: skip
    styles = peer_styles(results, palette)
    for axes, task in zip(grid.flat, tasks, strict=False):
        for who in ["", *(peer.name for peer in task.peers)]:
            points = [(n, results.seconds_of(task.name, n, who)) for n in results.sizes(task.name)]
            points = [(n, s) for n, s in points if not math.isnan(s)]
            if not points:
                continue
            look = styles.get(family(who), {"color": palette.neutral, "linestyle": ":"})
            look = look if who else {"color": palette.first, "linewidth": 2.2}
            axes.plot(*zip(*points, strict=True), label=who or "calibrant", markersize=4, **look)
        axes.set(xscale="log", yscale="log", title=task.name)
        axes.grid(color=palette.grid, linewidth=0.7)
        axes.legend(fontsize=7, loc="upper left")
    for axes in grid.flat[len(tasks) :]:
        axes.set_axis_off()
    figure.supxlabel("rows", fontsize=10)
    figure.supylabel("seconds, all threads", fontsize=10)
    return figure


PLOTS: dict[str, tuple[Callable[[Results, Any, Any], Any], str]] = {
    "performance_ratio": (ratio, "How many times as long as calibrant the peers take"),
    "performance_reading": (reading, "Speed as a share of the speed of reading memory"),
    "performance_growth": (growth, "Time against the number of rows"),
    "performance_memory": (memory, "Memory beyond the data"),
}


def draw(results: Results, folder: Path) -> list[str]:
    """Write all pictures, and return their names; none without matplotlib or without peers."""
    try:
        import matplotlib as mpl
    except ImportError:
        return []
    mpl.use("Agg")
    from matplotlib import pyplot as plt

    if not rows_of(results, results.ratio):
        return []
    folder.mkdir(parents=True, exist_ok=True)
    light = {"svg.fonttype": "none", "svg.hashsalt": "calibrant"}  # text stays text, bytes the same
    for name, (plot, _) in PLOTS.items():
        with style() as palette, mpl.rc_context(light):
            figure = plot(results, plt, palette)
            figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
            plt.close(figure)
    return list(PLOTS)
