"""False verdicts of drift, their power, and the coverage of the intervals of a change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np
from table import Table, percent

from calibrant.drift import drift, drift_by_window
from calibrant.streaming import Reliability, Scorecard, ScoreTable, Windowed
from calibrated_rows import BINARY, CLASSES, outcomes, sharpened

__all__ = ["tables"]

LAWS = {**BINARY, **CLASSES}
Rows = tuple[np.ndarray, np.ndarray]
Law = Callable[[np.random.Generator, int], np.ndarray]

#: Rows of reference and window.
SIZES = [(200, 2), (200, 20), (2_000, 10), (2_000, 50), (2_000, 200), (2_000, 1_000), (20_000, 100)]
LARGE = (20_000, 10_000)
WINDOWS = [(2_000, 20), (20_000, 50), (2_000, 200)]


def _filled(rows: Rows, accumulator: type = Scorecard) -> Scorecard:
    made = accumulator()
    made.update(*rows)
    return made


def _rows(rng: np.random.Generator, law: Law, n: int, factor: float = 1.0) -> Rows:
    p = law(rng, n)
    return outcomes(rng, p), p if factor == 1.0 else sharpened(p, factor)


def _streams(runs: int, seed: int, *setting: object) -> Iterator[np.random.Generator]:
    key = [seed, *("|".join(map(str, setting))).encode()]
    return (np.random.default_rng([*key, run]) for run in range(runs))


def _false_verdicts(runs: int, seed: int) -> Iterator[Table]:
    for factor, what in ((1.0, "right"), (1.5, "over-confident, and no more than before")):
        table = Table(
            f"drift: false verdicts, scores that are {what}",
            f'Something "drifted" at the level of 5 %, though both sides are of one law. {runs} '
            f"runs each ({max(runs // 5, 1)} of {LARGE[0]:,} / {LARGE[1]:,} rows).",
            ["rows of reference / current", *(f"{a:,} / {b:,}" for a, b in [*SIZES, LARGE])],
        )
        for name, law in LAWS.items():
            rates = []
            for n_a, n_b in [*SIZES, LARGE]:
                of = runs if n_b < LARGE[1] else max(runs // 5, 1)
                alarms = sum(
                    bool(drift(*(_filled(_rows(rng, law, n, factor)) for n in (n_a, n_b))).drifted)
                    for rng in _streams(of, seed, "one", name, factor, n_a, n_b)
                )
                rates.append(percent(alarms, of))
            table.add(name, *rates)
        yield table


def _windows(runs: int, seed: int) -> Table:
    of = max(runs // 10, 1)
    table = Table(
        "drift_by_window: false verdicts on 30 windows",
        f'Any of 30 windows "drifted" at the level of 5 %, though nothing changed. {of} runs each.',
        ["rows of reference / window", *(f"{a:,} / {b:,}" for a, b in WINDOWS)],
    )
    for name, law in LAWS.items():
        rates = []
        for n_a, n_b in WINDOWS:
            alarms = 0
            for rng in _streams(of, seed, "windows", name, n_a, n_b):
                windows = Windowed(Scorecard, rows=n_b)
                windows.update(*_rows(rng, law, 30 * n_b))
                reference = _filled(_rows(rng, law, n_a))
                alarms += bool(drift_by_window(reference, windows).drifted)
            rates.append(percent(alarms, of))
        table.add(name, *rates)
    return table


def _accumulators(runs: int, seed: int) -> Table:
    table = Table(
        "drift: false verdicts of other accumulators",
        f"2,000 against 20, 50 or 200 rows of one law. {runs} runs each.",
        ["accumulator, law", "20", "50", "200"],
    )
    for accumulator in (ScoreTable, Reliability):
        for name in ("uniform", "Beta(0.2, 0.2)", "Beta(0.5, 49.5), 1 %"):
            rates = []
            for n_b in (20, 50, 200):
                alarms = 0
                for rng in _streams(runs, seed, accumulator.__name__, name, n_b):
                    sides = (_filled(_rows(rng, LAWS[name], n), accumulator) for n in (2_000, n_b))
                    alarms += bool(drift(*sides).drifted)
                rates.append(percent(alarms, runs))
            table.add(f"{accumulator.__name__}, {name}", *rates)
    return table


def _base_rate(mean: float) -> Law:
    return lambda rng, n: rng.beta(2.0 * mean, 2.0 * (1.0 - mean), n)


def _power(runs: int, seed: int) -> Table:
    of = max(runs // 5, 1)
    table = Table(
        "drift: real changes that are found",
        f"At the level of 5 %, all numbers considered. {of} runs each.",
        ["change", "found"],
    )
    uniform, classes = LAWS["uniform"], LAWS["4 classes, Dirichlet(1)"]
    low, high, rare, less_rare = map(_base_rate, (0.2, 0.3, 0.01, 0.03))
    for what, (before, n_a), (after, n_b), factor in (
        ("logits times 1.5, 2,000 / 2,000 rows", (uniform, 2_000), (uniform, 2_000), 1.5),
        ("the same, 4 classes", (classes, 2_000), (classes, 2_000), 1.5),
        ("base rate 0.2 to 0.3, 2,000 / 2,000", (low, 2_000), (high, 2_000), 1),
        ("base rate 0.2 to 0.3, 20,000 / 500", (low, 20_000), (high, 500), 1),
        ("base rate 0.01 to 0.03, 20,000 / 1,000", (rare, 20_000), (less_rare, 1_000), 1),
    ):  # fmt: skip
        found = sum(
            bool(
                drift(
                    _filled(_rows(rng, before, n_a)), _filled(_rows(rng, after, n_b, factor))
                ).drifted
            )
            for rng in _streams(of, seed, "power", what)
        )
        table.add(what, percent(found, of))
    return table


def _coverage(runs: int, seed: int) -> Iterator[Table]:
    """Of a change from right scores to scores that are sharpened, or not."""
    names = (
        "base_rate", "hit_rate", "accuracy", "brier", "reliability", "resolution", "ece", "auc",
        "ks",
    )  # fmt: skip
    of = max(runs // 2, 1)
    for factor in (1.0, 1.5):
        table = Table(
            f"drift: coverage of the intervals of a change, logits times {factor:g}",
            f"Of 95 % intervals, where they are given; none: in fewer than a tenth of {of} runs. "
            "The reference has 2,000 rows.",
            ["law, rows", *names],
        )
        for law_name in (
            "uniform",
            "Beta(0.2, 0.2)",
            "Beta(0.5, 9.5), 5 %",
            "4 classes, Dirichlet(1)",
        ):
            law = LAWS[law_name]
            rng = np.random.default_rng(seed)
            y, p = _rows(rng, law, 1_000_000)
            truth = [_truth((y, q), names) for q in (p, sharpened(p, factor))]
            for n in (50, 200, 1_000):
                hold, given = Counter[str](), Counter[str]()
                for run in _streams(of, seed, "coverage", law_name, n, factor):
                    sides = (_filled(_rows(run, law, 2_000)), _filled(_rows(run, law, n, factor)))
                    for change in drift(*sides):
                        if change.low is None or change.high is None or change.name not in names:
                            continue
                        true = truth[1][change.name] - truth[0][change.name]
                        true = 0.0 if factor == 1.0 else true
                        given[change.name] += 1
                        hold[change.name] += change.low <= true <= change.high
                table.add(
                    f"{law_name}, {n:,}",
                    *(
                        percent(hold[name], given[name]) if 10 * given[name] >= of else "none"
                        for name in names
                    ),
                )
        yield table


def _truth(rows: Rows, names: tuple[str, ...]) -> dict[str, float]:
    found = drift(*(_filled(rows) for _ in range(2)))
    return {name: found[name].reference.value or 0.0 for name in names}


def tables(runs: int, seed: int) -> list[Table]:
    """Return the tables of drift."""
    return [
        *_false_verdicts(runs, seed), _windows(runs, seed), _accumulators(runs, seed),
        _power(runs, seed), *_coverage(runs, seed),
    ]  # fmt: skip
