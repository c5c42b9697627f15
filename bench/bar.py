"""What a bar is, and how its figure is read from the results."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from bench.results import Results
from bench.task import TO_1E8
from bench.tasks import TASKS

MB = 2**20
OPEN = "open: not yet explained"


@dataclass(frozen=True)
class Bar:
    """A bound on one figure; `why` says in a sentence what stands in the way of it."""

    id: str
    what: str
    sense: Literal["at least", "at most"]
    limit: float
    measure: Callable[[Results], float]
    unit: str = "times"
    why: str | Callable[[Results], str] = OPEN

    def value(self, results: Results) -> float:
        """Return the figure, or NaN if this run did not measure it."""
        try:
            return float(self.measure(results))
        except (KeyError, ValueError):  # a probe that did not run
            return math.nan

    def met(self, results: Results) -> bool | None:
        value = self.value(results)
        if math.isnan(value):
            return None
        return value >= self.limit if self.sense == "at least" else value <= self.limit

    def reason(self, results: Results) -> str:
        return self.why if isinstance(self.why, str) else self.why(results)


def ratio(task: str, n: float, who: str) -> Callable[[Results], float]:
    """How many times as long as calibrant a peer takes."""
    return lambda results: results.ratio(task, n, who)


def cost(task: str, n: float, yardstick: str) -> Callable[[Results], float]:
    """How many times as long as a yardstick calibrant takes."""
    return lambda results: 1 / results.ratio(task, n, yardstick)


def fastest(task: str, n: float, peers: tuple[str, ...]) -> Callable[[Results], float]:
    """How many times as long as calibrant the fastest of some peers takes."""
    return lambda results: min(results.ratio(task, n, who) for who in peers)


def memory(task: str, n: float) -> Callable[[Results], float]:
    return lambda results: results.record(task, n).get("memory", math.nan) / MB


def speedup(task: str, n: float) -> Callable[[Results], float]:
    return lambda results: results.seconds_of(task, n, threads=1) / results.seconds_of(task, n)


def small(*names: str) -> Callable[[Results], float]:
    """The slowest of some calls on 100 rows, in microseconds."""
    return lambda results: max(results.probes["small calls"]["microseconds"][x] for x in names)


def growth(results: Results) -> float:
    """The time per row at the most rows over that at 10^6, of the task where it is largest."""
    worst = math.nan
    for task in TASKS:
        if task.sizes != TO_1E8:
            continue
        found = 1e-2 * results.seconds_of(task.name, 1e8) / results.seconds_of(task.name, 1e6)
        worst = found if math.isnan(worst) else max(worst, found)
    return worst


def drop_in(results: Results, size: int) -> dict[str, float]:
    """How many times faster each drop-in function is, at the first size (0) or the second (1)."""
    rows = results.probes["drop-in"]
    if "failed" in rows:
        raise KeyError("drop-in")
    return {
        name: row[2 * size + 1] / row[2 * size] for name, row in rows.items() if row[2 * size :]
    }


def slow_drop_ins(results: Results) -> str:
    slow = {name: x for name, x in drop_in(results, 1).items() if x < 10}
    names = ", ".join(f"`{name}` {x:.1f}" for name, x in sorted(slow.items(), key=lambda i: i[1]))
    return (
        f"{len(slow)} of {len(drop_in(results, 1))} are below, since they sort, or read memory "
        f"once and sum exactly: {names}"
    )


def file_ratio(results: Results) -> float:
    rows = results.probes["parquet"]
    if rows["calibrant score"]["rows"] < 10**8:
        raise KeyError("a smaller file")
    return rows["calibrant score"]["seconds"] / rows["pyarrow, read_table"]["seconds"]


def file_memory(results: Results) -> float:
    file_ratio(results)
    return results.probes["parquet"]["calibrant score"]["bytes"] / MB


def soak_memory(results: Results) -> float:
    rows = [results.probes["soak"][name] for name in ("Scores", "Scorecard")]
    if any(row["rows"] < 10**9 for row in rows):
        raise KeyError("fewer rows")
    return max(row["megabytes"] for row in rows)


def soak_threads(results: Results) -> float:
    run = results.probes["soak"]["many threads"]
    if run["seconds"] < 60:
        raise KeyError("less than a minute")
    return run["threads"]
