"""How often the intervals of a scorecard hold the truth, and how often there is none."""

from __future__ import annotations

import numpy as np
from table import Table, percent

import card_laws
from calibrant import scorecard

ROWS = (50, 500, 5000)
BETWEEN_RUNS = 16_000_003  # so that no two settings share a seed


def tables(runs: int, seed: int) -> list[Table]:
    """Return coverage at 95 %, for each law, distortion and number of rows."""
    return [_coverage(law, runs, seed + i * BETWEEN_RUNS) for i, law in enumerate(card_laws.LAWS)]


def _coverage(name: str, runs: int, seed: int) -> Table:
    law = card_laws.LAWS[name]
    table = Table(
        f"Scorecard: coverage, {name}",
        f"Intervals at 95 % of {runs} samples each ({max(runs // 4, 1)} of 5,000 rows): how many "
        "of those that were given hold the truth, and in brackets how many were given, if not "
        "all. Errors of bins are about the same 15 bins.",
        ("scores, rows", *card_laws.NUMBERS),
    )
    for distortion in card_laws.DISTORTIONS:
        truth = card_laws.truth(law, distortion)
        for n in ROWS:
            rng = np.random.default_rng([seed, n])
            repeats = runs if n < 5000 else max(runs // 4, 1)
            given = dict.fromkeys(card_laws.NUMBERS, 0)
            held = dict.fromkeys(card_laws.NUMBERS, 0)
            for _ in range(repeats):
                y, scores = card_laws.rows(law, distortion, n, rng)
                card_laws.count(scorecard(y, scores), truth, given, held)
            cells = [
                percent(held[k], given[k])
                + ("" if given[k] == repeats else f" ({percent(given[k], repeats)})")
                for k in card_laws.NUMBERS
            ]
            table.add(f"{distortion}, {n}", *cells)
    return table
