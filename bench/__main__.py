"""calibrant beside its peers, on the same data in the same run, with the answers compared.

    python -m bench                     everything, some 12 minutes; writes the pages of the docs
    python -m bench --quick             a look, about a minute; nothing above 10^4 rows
    python -m bench --check             only the answers, a few seconds
    python -m bench --bars              only what the bars are read from
    python -m bench --only hsic crps    tasks and probes with these words in their names
    python -m bench --redraw            tables and pictures again, from the results of the last run

Peers that are not installed are left out and listed. Run it from the root of the repository.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Iterable
from pathlib import Path

from bench import machine, pages, plan, probes, tables
from bench.measure import Record, Settings, measure
from bench.memory import available
from bench.results import Results
from bench.runner import ROOT, run


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--quick", action="store_true", help="few rows, few turns, all in one process")
    add("--full", action="store_true", help="up to 10^8 rows wherever time and memory allow")
    add("--bars", action="store_true", help="only what the bars are read from")
    add("--check", action="store_true", help="only the answers, of 1,000 rows or fewer")
    add("--only", nargs="+", default=[], metavar="WORD", help="parts of the names of tasks, probes")
    add("--sizes", type=numbers, help="such as 1e3,1e5; the sizes of each task if not given")
    add("--threads", type=numbers, help="such as 1,2,4; powers of two up to all cores by default")
    add("--cap", type=float, help="seconds a call may take, 10 by default; larger n are left out")
    add("--out", type=Path, help="folder to write to: the repository, or build/bench for a part")
    add("--keep", action="store_true", help="keep the results there of tasks that do not run now")
    add(
        "--redraw", action="store_true", help="run nothing, write the pages from bench/results.json"
    )
    add("--list", action="store_true", help="list tasks, sizes and probes")
    return parser.parse_args()


def numbers(text: str) -> tuple[int, ...]:
    return tuple(int(float(part)) for part in text.split(","))


def say(record: Record) -> None:
    """One line of progress."""
    who = record["who"] + (f", {record['threads']} threads" if record.get("threads") else "")
    if record["status"] != "ok":
        n = tables.size_text(record["n"]) if record.get("n") else ""
        print(f"    {n:>8}  {who:32} {record['status']}", flush=True)
        return
    answer = record["answer"] if record["answer"] != "itself" else ""
    print(
        f"    {tables.size_text(record['n']):>8}  {who:32} "
        f"{tables.time_text(record['seconds']):>9}  {tables.memory_text(record['memory']):>9}  "
        f"{answer}",
        flush=True,
    )


def run_all(work: plan.Plan, settings: Settings, results: Results, file: Path, quick: bool) -> None:
    """Run the plan; every task that is done is saved."""
    results.machine = machine.describe()
    counts = sorted(set(settings.threads))
    results.bandwidth = {str(t): machine.read_bandwidth(t, 40 if quick else 400) for t in counts}
    for i, (task, sizes) in enumerate(work.tasks):
        print(f"[{i + 1}/{len(work.tasks)}] {task.name}", flush=True)
        results.drop(task.name)
        records: Iterable[Record] = (measure if quick else run)(task, sizes, settings)
        for record in records:
            results.add(record)
            say(record)
        results.save(file)
    for name in work.probes:
        print(f"[{name}]", flush=True)
        results.probes[name] = probes.run(name, quick=quick)
        results.save(file)
    results.complete = True


def settings_of(options: argparse.Namespace) -> Settings:
    threads = options.threads or tuple(machine.thread_counts())
    if options.quick:
        return Settings(threads, budget=0.0 if options.check else 0.01, cap=options.cap or 0.3)
    return Settings(threads, cap=options.cap or 10.0, memory=0.6 * available())


def main() -> int:
    options = arguments()
    options.quick = options.quick or options.check
    work = plan.make(
        options.only,
        options.sizes,
        quick=options.quick,
        full=options.full,
        bars=options.bars,
        check=options.check,
    )
    if options.list:
        for task, sizes in work.tasks:
            print(f"{task.name:45} {', '.join(tables.size_text(n) for n in sizes)}")
        print("probes:", ", ".join(work.probes))
        return 0
    part = options.quick or options.bars or options.only or options.sizes
    root = options.out or (ROOT / "build/bench" if part and not options.keep else ROOT)
    file = root / "bench/results.json"
    results = (
        Results.load(file) if options.redraw or (options.keep and file.exists()) else Results()
    )
    if not options.redraw:
        warnings.simplefilter("ignore")  # of peers
        start, before = time.perf_counter(), results.seconds
        results.complete = False
        try:
            run_all(work, settings_of(options), results, file, options.quick)
        except KeyboardInterrupt:
            print("interrupted: what there is will be written", flush=True)
        finally:
            results.seconds = before + time.perf_counter() - start
            results.save(file)
    results = Results.load(file)  # as a redraw would have it
    written = pages.write(results, root)
    print("\nWhere it loses:\n" + tables.losses(results))
    print("\nBars:\n" + tables.bars(results))
    print("\nWhat did not run, or not as stated:\n" + tables.trouble(results))
    print("\nwrote " + ", ".join(str(path) for path in [file, *written]))
    return 0 if results.complete and not results.wrong() else 1


if __name__ == "__main__":
    sys.exit(main())
