"""False verdicts on prediction intervals and on ranks."""

from __future__ import annotations

import numpy as np
from scipy.stats import binom
from table import Table, percent

from calibrant import interval_summary
from calibrant.ranks import rank_calibration

__all__ = ["tables"]

LEVELS = (0.5, 0.8, 0.9, 0.95, 0.99)
SIZES = (5, 10, 50, 200, 1_000, 10_000, 100_000)


def _verdicts(hits: np.ndarray, n: int, levels: tuple[float, ...]) -> list[str]:
    """The verdicts on n rows of which so many are covered at each level, as weighted rows."""
    order = np.argsort(hits)
    steps = np.diff(np.concatenate([[0], hits[order], [n]])).astype(
        float
    )  # covered from level j on
    covered = np.arange(len(steps))[:, None] <= np.argsort(order)[None, :]
    bounds = np.stack([np.where(covered, -1.0, 1.0), np.where(covered, 1.0, 2.0)], axis=1)
    found = interval_summary(
        np.zeros(len(steps)), bounds, confidence_level=levels, sample_weight=steps
    )
    return [level.verdict for level in found]


def _false_rate(n: int, level: float) -> float:
    """Of all numbers of covered rows, the probability of those with a false verdict."""

    def is_off(hits: int) -> bool:
        return _verdicts(np.array([hits]), n, (level,))[0].endswith("-covering")

    law, middle = binom(n, level), int(level * n)
    rate = 0.0
    for end, tail in ((0, law.cdf), (n, lambda hits: law.sf(hits - 1))):
        inside, outside = middle, end
        if not is_off(end):
            continue
        while abs(outside - inside) > 1:
            half = (inside + outside) // 2
            inside, outside = (inside, half) if is_off(half) else (half, outside)
        rate += float(tail(outside))
    return rate


def _one_level() -> Table:
    table = Table(
        "interval_summary: false verdicts on one level",
        "The probability, by the binomial law, that a level that is right is called under- or "
        "over-covering at 5 %.",
        ["level", *(f"{n:,}" for n in SIZES)],
    )
    for level in LEVELS:
        table.add(f"{level:g}", *(f"{100 * _false_rate(n, level):.1f} %" for n in SIZES))
    return table


def _levels(runs: int, seed: int) -> Table:
    table = Table(
        "interval_summary and the report's headline: false verdicts on all levels",
        f'Any word but "calibrated" or "too few rows to tell" about any level. {runs} runs each.',
        ["levels", *(f"{n:,}" for n in SIZES)],
    )
    for levels in ((0.5, 0.9), (0.8, 0.9, 0.99), LEVELS):
        cells = []
        for n in SIZES:
            rng = np.random.default_rng([seed, n, len(levels)])
            alarms = 0
            for _ in range(runs):
                within = np.array(levels)
                # Rows are covered at a level if at all narrower ones: as central intervals are.
                shares = np.diff(np.concatenate([[0.0], within, [1.0]]))
                hits = rng.multinomial(n, shares)[:-1].cumsum()
                alarms += any(word.endswith("-covering") for word in _verdicts(hits, n, levels))
            cells.append(percent(alarms, runs))
        table.add(", ".join(f"{level:g}" for level in levels), *cells)
    return table


def _ranks(runs: int, seed: int) -> Table:
    sizes = (10, 50, 200)
    table = Table(
        "rank_calibration: false verdicts",
        f'A verdict other than "calibrated" on uniform ranks. {runs} runs each.',
        ["draws, dimensions", *(f"{n} ranks" for n in sizes)],
    )
    for n_draws in (9, 99, 999):
        for dimensions in (1, 3):
            rates = []
            for n in sizes:
                rng = np.random.default_rng([seed, n, n_draws, dimensions])
                alarms = sum(
                    not rank_calibration(
                        rng.integers(0, n_draws + 1, (n, dimensions)), n_draws
                    ).verdict.startswith("calibrated")
                    for _ in range(runs)
                )
                rates.append(percent(alarms, runs))
            table.add(f"{n_draws}, {dimensions}", *rates)
    return table


def tables(runs: int, seed: int) -> list[Table]:
    """Return the tables of intervals and ranks."""
    return [_one_level(), _levels(runs, seed), _ranks(runs, seed)]
