"""Show that cost grows in proportion to the rows: a table of nanoseconds per row.

    python bench/scaling.py                     prints the table
    python bench/scaling.py docs/performance.md puts it there

Sizes from 10^5 to 10^8 binary predictions, float64 scores and int64 labels; the best of three.
The largest needs 4 GB.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import calibrant

BEGIN = "<!-- scaling table: written by bench/scaling.py -->"
END = "<!-- end of scaling table -->"
SIZES = (10**5, 10**6, 10**7, 10**8)
TASKS: dict[str, Callable[[np.ndarray, np.ndarray], object]] = {
    "brier_score": calibrant.brier_score,
    "log_score": calibrant.log_score,
    "risk_profile": calibrant.risk_profile,
    "ECE, 50 bins of equal width": lambda y, p: calibrant.expected_calibration_error(
        y, p, n_bins=50
    ),
    "ECE, 50 bins of equal count": lambda y, p: calibrant.expected_calibration_error(
        y, p, n_bins=50, strategy="quantile"
    ),
    "assess, 100 bins": lambda y, p: calibrant.assess(y, p, n_bins=100),
    "scorecard": calibrant.scorecard,
    "np.sort(y_proba)": lambda _, p: np.sort(p),
}


def seconds(task: Callable[[], object]) -> float:
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        task()
        best = min(best, time.perf_counter() - start)
    return best


def main() -> None:
    lines = [
        "| ns per row | " + " | ".join(f"{n:.0e}" for n in SIZES) + " |",
        "| --- |" + " ---: |" * len(SIZES),
    ]
    found: dict[str, list[str]] = {name: [] for name in TASKS}
    for n in SIZES:
        rng = np.random.default_rng(0)
        p = rng.random(n)
        y = (rng.random(n) < p).astype(np.int64)
        for name, task in TASKS.items():
            per_row = seconds(lambda task=task, y=y, p=p: task(y, p)) / n * 1e9
            found[name].append(f"{per_row:.3g}")
    lines += [f"| {name} | {' | '.join(values)} |" for name, values in found.items()]
    print("\n".join(lines))
    if len(sys.argv) > 1:
        page = Path(sys.argv[1])
        before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
        after = rest.partition(END)[2] if END in rest else rest
        table = "\n".join(lines)
        page.write_text(f"{before}{BEGIN}\n\n{table}\n\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
