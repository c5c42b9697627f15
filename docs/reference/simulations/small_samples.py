"""Sizes of the tests of calibration where rows, or the events among them, are few."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from table import Table, percent

import calibrant
from calibrated_rows import BINARY, outcomes

__all__ = ["tables"]

N_SIMULATIONS = 999
LEVEL = 0.05

#: The law of the scores, and how many rows.
SETTINGS: tuple[tuple[str, int], ...] = (
    ("uniform", 5), ("uniform", 20), ("uniform", 100), ("Beta(0.2, 0.2)", 20),
    ("constant 0.3", 20), ("constant 0.01", 20), ("constant 0.01", 100),
    ("Beta(0.5, 49.5), 1 %", 100), ("Beta(0.5, 49.5), 1 %", 1000),
    ("log-uniform 1e-3 to 1e-2", 1000), ("log-uniform 1e-6 to 1e-4", 1000),
)  # fmt: skip
#: Sums of s (1 - s), for the condition under which the limit laws may be used.
VARIANCES = (0.1, 0.3, 1, 2, 5, 10, 20, 50)


def _pvalues(y: np.ndarray, p: np.ndarray, **how: object) -> list[float]:
    both = calibrant.cumulative_tests(y, p, **how)  # type: ignore[arg-type]
    z = [
        calibrant.spiegelhalter_test(y, p, alternative=name, **how).pvalue  # type: ignore[arg-type]
        for name in ("two-sided", "greater", "less")
    ]
    return [both.ks.pvalue, both.kuiper.pvalue, *z]


COLUMNS = ("KS", "Kuiper", "Spiegelhalter", "greater", "less")


def _rates(
    scores: Callable[[np.random.Generator], np.ndarray],
    runs: int,
    seeds: list[int],
    level: float,
    *,
    simulated: bool,
) -> list[str]:
    rejected = np.zeros(len(COLUMNS), int)
    for run in range(runs):
        rng = np.random.default_rng([*seeds, run])
        p = scores(rng)
        y = outcomes(rng, p)
        how = {"method": "simulated", "n_simulations": N_SIMULATIONS, "seed": run}
        rejected += np.array(_pvalues(y, p, **(how if simulated else {}))) <= level
    return [percent(int(count), runs) for count in rejected]


def tables(runs: int, seed: int) -> list[Table]:
    """Return the tables of this module."""
    found = [
        Table(
            "Tests of calibration of few rows",
            f"How often KS, Kuiper's and Spiegelhalter's tests reject calibrated scores at the "
            f"{LEVEL:.0%} level, in {runs} samples: by the laws of large samples, and by "
            f'`method="simulated"` with {N_SIMULATIONS} simulations.',
            ("scores, rows, p-value", *COLUMNS),
        )
    ]
    for index, (name, n) in enumerate(SETTINGS):
        for simulated in (False, True):
            rates = _rates(
                lambda rng, name=name, n=n: BINARY[name](rng, n),  # type: ignore[misc]
                runs, [seed, index], LEVEL, simulated=simulated,
            )  # fmt: skip
            found[0].add(f"{name}, {n}, {'simulated' if simulated else 'asymptotic'}", *rates)
    for level in (0.05, 0.01):
        table = Table(
            f"When the laws of large samples hold: the {level:.0%} level",
            f"The same of 10,000 rows of one score, or of scores log-uniform over two decades, "
            f"by the sum of s (1 - s), about the number of events; asymptotic p-values, {runs} "
            "samples.",
            ("sum of s (1 - s), scores", *COLUMNS),
        )
        for index, total in enumerate(VARIANCES):
            for spread in (False, True):

                def scores(
                    rng: np.random.Generator, total: float = total, spread: bool = spread
                ) -> np.ndarray:
                    p = 10.0 ** rng.uniform(-2.0, 0.0, 10_000) if spread else np.ones(10_000)
                    return p * (total / p.sum())

                rates = _rates(scores, runs, [seed, 100 + index], level, simulated=False)
                table.add(f"{total:g}, {'spread' if spread else 'one score'}", *rates)
        found.append(table)
    return found
