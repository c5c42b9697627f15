"""Draw rooms.svg of docs/internals/rooms.md from the folders that there are."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CORE = re.findall(
    r"^add_subdirectory\((\w+)\)", (ROOT / "cpp/src/CMakeLists.txt").read_text(), re.M
)
#: Rooms that Python adds on top of those of the core, from the bottom to the top.
PYTHON = ["windows", "io", "evidence", "plotting", "distributed", "report", "commands"]
#: Private packages of Python that serve all rooms.
PACKAGES = {"runtime": "_runtime", "rows": "_input", "state": "_accumulator"}
FOUNDATION = CORE.index("means")  # the rooms below it know no metric

LAYERS = {
    "public headers": lambda room: [f"cpp/include/calibrant/{room}"],
    "core": lambda room: [f"cpp/src/{room}"],
    "C++ tests": lambda room: [f"cpp/tests/{room}"],
    "bindings": lambda room: [f"cpp/bindings/{room}"],
    "Python": lambda room: [f"python/calibrant/{PACKAGES.get(room, room)}"],
    "tests": lambda room: [f"tests/{room}"],
    "benchmarks": lambda room: [f"bench/test_{room}.py"],
    "guide": lambda room: [f"docs/guide/{room}.md", f"docs/production/{room}.md"],
}

LEFT, WIDTH, TOP, HEIGHT = 190, 82, 40, 21
BANDS = (
    ("Python on top", "#fdf0e6", "#d55e00", PYTHON),
    ("metrics", "#e8f6f1", "#009e73", CORE[FOUNDATION:]),
    ("foundation", "#eaf4fb", "#0072b2", CORE[:FOUNDATION]),
)


def drawn() -> str:
    """The top room comes first, as the top of a building does."""
    rows = [room for _, _, _, rooms in BANDS for room in reversed(rooms)]
    width, bottom = LEFT + WIDTH * len(LAYERS) + 20, TOP + HEIGHT * len(rows)
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {bottom + 40}" '
            'font-family="system-ui, Segoe UI, Roboto, DejaVu Sans, sans-serif" font-size="13">'
        ),
        "<title>The rooms of calibrant, and the layers in which each has a folder</title>",
        f'<rect width="{width}" height="{bottom + 40}" rx="8" fill="#fff"/>',
    ]
    top = TOP
    for name, fill, colour, rooms in BANDS:
        height, middle = HEIGHT * len(rooms), top + HEIGHT * len(rooms) // 2
        parts += [
            f'<rect x="44" y="{top}" width="{width - 64}" height="{height}" fill="{fill}"/>',
            (
                f'<text transform="translate(34 {middle}) rotate(-90)" text-anchor="middle" '
                f'font-weight="600" fill="{colour}">{name}</text>'
            ),
        ]
        for k, room in enumerate(reversed(rooms)):
            y = top + HEIGHT * k + HEIGHT / 2
            parts.append(f'<text x="56" y="{y + 4.5:g}" fill="#1d2129">{room}</text>')
            for column, paths in enumerate(LAYERS.values()):
                if any((ROOT / path).exists() for path in paths(room)):
                    x = LEFT + WIDTH * column + WIDTH // 2
                    parts.append(f'<circle cx="{x}" cy="{y:g}" r="5" fill="{colour}"/>')
        top += height
    for column, layer in enumerate(LAYERS):
        x = LEFT + WIDTH * column + WIDTH // 2
        parts.append(
            f'<text x="{x}" y="{TOP - 14}" text-anchor="middle" font-size="12" '
            f'font-weight="600" fill="#5b6472">{layer}</text>'
        )
    parts += [
        (
            f'<text x="56" y="{bottom + 24}" fill="#5b6472">A room may use its own files and those '
            "of the rooms below it. A dot is a folder or a file with the name of the room.</text>"
        ),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    Path(__file__).with_suffix(".svg").write_text(drawn(), encoding="utf-8")
