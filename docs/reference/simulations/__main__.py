"""Run all simulations and write docs/reference/simulations.md.

python docs/reference/simulations [--runs N] [--only NAME ...]
"""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT / "tests" / "support"))  # the laws of scores are those of the tests

#: Each has `tables(runs, seed)`, which returns a list of Table; and what share of the samples is
#: worth its time.
MODULES = {
    "verdict": 1.0,
    "small_samples": 1.0,
    "card": 0.4,
    "compare": 1.0,
    "intervals": 0.2,
    "drift": 0.07,
}

PAGE = ROOT / "docs" / "reference" / "simulations.md"
HEAD = """# Simulated false alarm rates, power and coverage

Verdicts, p-values and intervals are tested here on rows whose truth is known. The tables are
written by `python docs/reference/simulations`. Shorter, seeded versions are
in the tests."""


def main() -> None:
    """Run what is asked for; the page is written when all of it has run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=300, help="samples for each setting")
    parser.add_argument("--seed", type=int, default=20260101)
    parser.add_argument("--only", nargs="*", default=list(MODULES), choices=list(MODULES))
    arguments = parser.parse_args()
    sections = [HEAD]
    for name in arguments.only:
        start = time.perf_counter()
        module = importlib.import_module(name)
        runs = max(round(arguments.runs * MODULES[name]), 10)
        for table in module.tables(runs, arguments.seed):
            sections.append(table.markdown())
            print(sections[-1], flush=True)
        print(f"{name}: {time.perf_counter() - start:.0f} s", file=sys.stderr)
    if arguments.only == list(MODULES):
        PAGE.parent.mkdir(exist_ok=True)
        PAGE.write_text("\n\n".join(sections) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
