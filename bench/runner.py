"""Every task in a process of its own, so that one that hangs or dies takes nothing with it."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

from bench.measure import Record, Settings
from bench.task import Task

ROOT = Path(__file__).parent.parent
#: Seconds without a word from a process, and calls at the cap, after which it is given up.
SILENCE, CALLS = 60, 6


def lines_of(descriptor: int) -> queue.Queue[str | None]:
    """Return a queue of the lines that come out of a pipe; None is its end."""
    lines: queue.Queue[str | None] = queue.Queue()

    def read() -> None:
        with os.fdopen(descriptor) as pipe:
            for line in pipe:
                lines.put(line)
        lines.put(None)

    threading.Thread(target=read, daemon=True).start()
    return lines


def start(task: Task, sizes: tuple[int, ...], settings: Settings) -> tuple[subprocess.Popen, int]:
    reading, writing = os.pipe()
    order = {"task": task.name, "sizes": sizes, "settings": asdict(settings)}
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.child", str(writing), json.dumps(order)],
        cwd=ROOT,
        pass_fds=(writing,),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    os.close(writing)
    return process, reading


def run_once(task: Task, sizes: tuple[int, ...], settings: Settings) -> Iterator[Record]:
    """Yield the records of one process; the last one says who hung or killed it, if anybody did."""
    process, reading = start(task, sizes, settings)
    lines, patience = lines_of(reading), SILENCE + CALLS * settings.cap
    n, who = sizes[0], "calibrant"
    try:
        while True:
            try:
                line = lines.get(timeout=patience)
            except queue.Empty:
                yield {"task": task.name, "n": n, "who": who, "status": f"over {patience:g} s"}
                return
            if line is None:
                break
            record = json.loads(line)
            if "begin" in record:
                n, who = record["begin"][0] or n, record["begin"][1]
            else:
                yield record
        errors = process.communicate(timeout=10)[1].strip().splitlines()
        if process.returncode:
            why = errors[-1] if errors else f"exit code {process.returncode}"
            yield {"task": task.name, "n": n, "who": who, "status": f"died: {why}"[:200]}
    finally:
        process.kill()
        if process.stderr is not None:
            process.stderr.close()
        process.wait()


def run(task: Task, sizes: tuple[int, ...], settings: Settings) -> Iterator[Record]:
    """Yield the records of a task; start again without a peer that hangs or dies, but once each."""
    while sizes:
        last: Record = {}
        done = []
        for record in run_once(task, sizes, settings):
            yield record
            last = record
            if record.get("status") == "ok":
                done.append(record["n"])
        if not last.get("status", "").startswith(("died", "over")) or last["who"] == "calibrant":
            return
        if "bytes" in last:  # a size that was left out as planned
            return
        settings = replace(settings, without=(*settings.without, last["who"]))
        sizes = tuple(n for n in sizes if n not in done)
