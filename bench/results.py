"""The results of a run: read, kept, asked."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from bench.measure import Record
from bench.tasks import TASKS


@dataclass
class Results:
    """What a run found; everything that is written is written from this, or from its file."""

    machine: dict[str, Any] = field(default_factory=dict)
    bandwidth: dict[str, float] = field(default_factory=dict)  # bytes a second, by threads
    records: list[Record] = field(default_factory=list)
    probes: dict[str, dict[str, Any]] = field(default_factory=dict)
    seconds: float = 0.0
    complete: bool = False

    @classmethod
    def load(cls, path: Path) -> Results:
        return cls(**json.loads(path.read_text(encoding="utf-8")))

    def save(self, path: Path) -> None:
        """One record a line, so that two runs can be compared."""
        path.parent.mkdir(parents=True, exist_ok=True)
        fields = asdict(self)
        records = ",\n".join(json.dumps(rounded(record)) for record in fields.pop("records"))
        rest = json.dumps(rounded(fields), indent=1)[:-2]
        path.write_text(f'{rest},\n "records": [\n{records}\n]}}\n', encoding="utf-8")

    def add(self, record: Record) -> None:
        self.records.append(record)
        self.__dict__.pop("table", None)

    def drop(self, task: str) -> None:
        """Forget a task, which is to be measured again."""
        self.records = [record for record in self.records if record["task"] != task]
        self.__dict__.pop("table", None)

    @cached_property
    def table(self) -> dict[tuple[str, int, str, int | None], Record]:
        return {
            (r["task"], r["n"], r["who"], r["threads"]): r
            for r in self.records
            if r["status"] == "ok"
        }

    @property
    def most_threads(self) -> int:
        return max((r["threads"] for r in self.table.values() if r["threads"]), default=1)

    def record(self, task: str, n: float, who: str = "", threads: int | None = None) -> Record:
        """Return one record, by default calibrant's on all threads, or an empty one."""
        if not who:
            who, threads = "calibrant", threads or self.most_threads
        return self.table.get((task, int(n), who, threads), {})

    def seconds_of(self, task: str, n: float, who: str = "", threads: int | None = None) -> float:
        return self.record(task, n, who, threads).get("seconds", float("nan"))

    def ratio(self, task: str, n: float, who: str) -> float:
        """Return how many times as long as calibrant it took, or NaN."""
        return self.seconds_of(task, n, who) / self.seconds_of(task, n)

    def sizes(self, task: str) -> list[int]:
        return sorted({n for name, n, _, _ in self.table if name == task})

    def measured(self) -> list[str]:
        """Return the names of the tasks, in the order of the list of tasks."""
        there = {name for name, *_ in self.table}
        return [task.name for task in TASKS if task.name in there]

    def wrong(self) -> list[Record]:
        return [r for r in self.records if r.get("answer", "").startswith("WRONG")]

    def trouble(self) -> list[Record]:
        """Return what failed, died or hung, which is not the same as what was left out."""
        return [r for r in self.records if r["status"].startswith(("failed", "died", "stopped"))]

    def absent(self) -> dict[str, str]:
        """Return why a peer did not take part, by its name."""
        return {r["who"]: r["status"] for r in self.records if "n" not in r}


def rounded(value: Any) -> Any:
    """Return the same with four digits to a number: no clock has more."""
    if isinstance(value, float):
        return float(f"{value:.4g}")
    if isinstance(value, dict):
        return {key: rounded(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [rounded(part) for part in value]
    return value
