"""Which tasks and probes to run, and at which sizes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bench.bars import BARS
from bench.measure import Record
from bench.probes import PROBES
from bench.results import Results
from bench.task import Task
from bench.tasks import TASKS

#: Sizes of a task that a quick run takes, and the rows at which it stops.
QUICK_SIZES, QUICK_ROWS = 2, 10**4


@dataclass(frozen=True)
class Plan:
    tasks: tuple[tuple[Task, tuple[int, ...]], ...]
    probes: tuple[str, ...]


class Asked(Results):
    """Results that are empty, and remember what they were asked for."""

    class Probes(dict[str, Any]):
        def __init__(self) -> None:
            super().__init__()
            self.asked: set[str] = set()

        def __missing__(self, name: str) -> Any:
            self.asked.add(name)
            raise KeyError(name)

    def __init__(self) -> None:
        super().__init__(probes=Asked.Probes())
        self.asked: set[tuple[str, int]] = set()

    def record(self, task: str, n: float, who: str = "", threads: int | None = None) -> Record:  # noqa: ARG002
        self.asked.add((task, int(n)))
        return {}


def of_bars() -> Plan:
    """Only what the bars are read from."""
    asked = Asked()
    for bar in BARS:
        bar.value(asked)
    sizes = {task: tuple(sorted(n for t, n in asked.asked if t == task.name)) for task in TASKS}
    tasks = tuple((task, found) for task, found in sizes.items() if found)
    return Plan(tasks, tuple(name for name in PROBES if name in asked.probes.asked))


def sizes_of(
    task: Task, sizes: tuple[int, ...] | None, *, quick: bool, full: bool
) -> tuple[int, ...]:
    if sizes is not None:
        return tuple(n for n in sizes if n <= task.limit)
    if quick:
        return tuple(n for n in task.sizes[:QUICK_SIZES] if n <= QUICK_ROWS) or (QUICK_ROWS,)
    return task.all_sizes() if full else task.sizes


def matches(name: str, only: list[str]) -> bool:
    return not only or any(part.lower() in name.lower() for part in only)


def make(
    only: list[str],
    sizes: tuple[int, ...] | None,
    *,
    quick: bool = False,
    full: bool = False,
    bars: bool = False,
    check: bool = False,
) -> Plan:
    """Return what to run; `only` are parts of names."""
    if bars:
        plan = of_bars()
    elif check:
        plan = Plan(tuple((task, (min(1000, task.sizes[0]),)) for task in TASKS), ())
    else:
        found = ((task, sizes_of(task, sizes, quick=quick, full=full)) for task in TASKS)
        plan = Plan(tuple((task, n) for task, n in found if n), tuple(PROBES))
    return Plan(
        tuple((task, n) for task, n in plan.tasks if matches(task.name, only)),
        tuple(name for name in plan.probes if matches(name, only)),
    )
