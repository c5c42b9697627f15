"""The tables of a run, as Markdown: losses and bars that are not met come first."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator

from bench.bar import Bar
from bench.bars import BARS, TESTED
from bench.measure import Record
from bench.results import Results
from bench.task import Peer, Task
from bench.tasks import TASKS

#: Bytes from which on data come from memory, not from a cache, so that reading is a measure.
FROM_MEMORY = 2**26

#: Rows of the README, losses among them: a task and a peer, at the largest size that it reaches.
README_ROWS = (
    ("scorecard", "scikit-learn"),
    ("scorecard", "brier_score and equal-count ECE"),
    ("assess, 100 bins", "np.sort of the scores"),
    ("risk_profile", "NumPy"),
    ("risk_profile, weights", "NumPy"),
    ("generalized_mean(2), float32", "NumPy"),
    ("brier_score", "scikit-learn"),
    ("brier_score", "NumPy"),
    ("log_score", "scikit-learn"),
    ("ECE, 50 bins of equal width", "MAPIE"),
    ("ECE, 50 bins of equal width", "netcal"),
    ("ECE, 50 bins of equal width", "torchmetrics"),
    ("ECE, 50 bins of equal count", "MAPIE"),
    ("top_label_ece, 10 classes", "MAPIE"),
    ("cumulative_tests (KS and Kuiper)", "MAPIE"),
    ("spiegelhalter_test", "MAPIE"),
    ("roc_auc", "scikit-learn"),
    ("roc_curve", "scikit-learn"),
    ("coverage, width and score of 3 levels", "MAPIE"),
    ("set_summary, 10 classes", "MAPIE"),
    ("coverage_hsic", "MAPIE"),
    ("hsic, Gaussian", "hyppo"),
    ("sbc_ranks, 1,000 draws of float32", "NumPy"),
    ("gamma of the band, N = K", "arviz"),
    ("crps_ensemble, standard, float64", "scoringrules (numba)"),
    ("crps_ensemble, weighted draws", "scoringrules (numba)"),
    ("crps_normal", "scoringrules (numba)"),
    ("mmd, 64 dimensions", "NumPy, by BLAS"),
    ("density_coverage, 64 dimensions", "prdc"),
    ("vendi_score, 64 dimensions", "vendi-score"),
    ("ensemble_confidence, 30 votes of int8", "NumPy, by count"),
    ("Brier and log score, 100 rows a group", "polars"),
)


def size_text(n: int) -> str:
    """10⁷, or 4,000."""
    power = round(math.log10(n))
    return f"10{'⁰¹²³⁴⁵⁶⁷⁸⁹'[power]}" if n == 10**power and n >= 10**4 else f"{n:,}"


def time_text(seconds: float) -> str:
    """1.5 ms; nothing for what was not measured, here and below."""
    if math.isnan(seconds):
        return ""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= scale:
            return f"{number(seconds / scale)} {unit}"
    return f"{1e9 * seconds:.3g} ns"


def number(x: float) -> str:
    if math.isnan(x):
        return ""
    return f"{x:,.0f}" if x >= 1000 else f"{x:.3g}"


def memory_text(size: float) -> str:
    if math.isnan(size):
        return ""
    return f"{size / 1e6:,.0f} MB" if size >= 1e6 else f"{size / 1e6:.1f} MB"


def lines_of(header: str, rows: Iterable[list[str]], right: str) -> str:
    """A Markdown table; `right` has an r for every column that is flush right."""
    names = [f" {name.strip()} " for name in header.split("|")]
    rule = [" ---: " if side == "r" else " --- " for side in right]
    body = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([f"|{'|'.join(names)}|", f"|{'|'.join(rule)}|", *body])


def pairs(results: Results) -> Iterator[tuple[Task, Peer, list[int]]]:
    """Yield each task with each peer that ran, and the sizes where both did."""
    for task in TASKS:
        for peer in task.peers:
            ratios = ((n, results.ratio(task.name, n, peer.name)) for n in results.sizes(task.name))
            sizes = [n for n, ratio in ratios if not math.isnan(ratio)]
            if sizes:
                yield task, peer, sizes


def losses(results: Results) -> str:
    """Every task, size and peer where the peer is faster, the worst first."""
    found = [
        (results.ratio(task.name, n, peer.name), task, peer, n)
        for task, peer, sizes in pairs(results)
        for n in sizes
        if not peer.yardstick and results.ratio(task.name, n, peer.name) < 1
    ]
    if not found:
        return "None in this run."
    rows = [
        [task.name, size_text(n), time_text(results.seconds_of(task.name, n)), peer.name,
         time_text(results.seconds_of(task.name, n, peer.name)), f"{ratio:.2g}"]
        for ratio, task, peer, n in sorted(found, key=lambda row: row[0])
    ]  # fmt: skip
    return lines_of("task | n | calibrant | faster | its time | ratio", rows, "lrrlrr")


def raised(text: str) -> str:
    """10^7 as 10⁷."""
    return re.sub(r"10\^(\d)", lambda found: size_text(10 ** int(found[1])), text)


def figure(bar: Bar, value: float) -> str:
    return f"{number(value)} {bar.unit}".strip()


def bars(results: Results) -> str:
    """Not met first, then not measured, then met; each in the order of the list."""
    order = sorted(BARS, key=lambda bar: {False: 0, None: 1, True: 2}[bar.met(results)])
    rows = []
    for bar in order:
        met = bar.met(results)
        rows.append([
            raised(bar.what), f"{bar.sense} {figure(bar, bar.limit)}",
            "not measured" if met is None else figure(bar, bar.value(results)),
            {True: "met", False: "**not met**", None: ""}[met],
            bar.reason(results) if met is False else "",
        ])  # fmt: skip
    return lines_of("bar | required | measured | | why not", rows, "lrrll")


def tested() -> str:
    return "\n".join(f"- {what}: [{path}](../../{path})" for what, path in TESTED)


def of_reading(results: Results, record: Record) -> str:
    """The share of the speed at which all threads can read memory, where caches do not help."""
    rate = results.bandwidth.get(str(results.most_threads), math.nan)
    share = record["bytes"] / record["seconds"] / rate
    return f"{share:.0%}" if record["bytes"] >= FROM_MEMORY and not math.isnan(share) else ""


def beside_row(results: Results, task: Task, peer: Peer, n: int) -> list[str]:
    ours, theirs = results.record(task.name, n), results.record(task.name, n, peer.name)
    name = f"*{peer.name}*" if peer.yardstick else peer.name
    return [
        task.name, size_text(n), time_text(ours["seconds"]),
        time_text(results.seconds_of(task.name, n, threads=1)), f"{name} "
        + time_text(theirs["seconds"]), number(theirs["seconds"] / ours["seconds"]),
        memory_text(ours["memory"]), memory_text(theirs["memory"]), of_reading(results, ours),
        "" if peer.yardstick else theirs["answer"],
    ]  # fmt: skip


def beside(results: Results) -> str:
    """Each task with each peer, at the largest size that the peer reaches, losses first."""
    found = [(results.ratio(t.name, sizes[-1], p.name), t, p, sizes[-1])
             for t, p, sizes in pairs(results)]  # fmt: skip
    found.sort(key=lambda row: (row[2].yardstick, row[0]))
    header = (
        "task | n | calibrant | 1 thread | beside | ratio | memory | of the other | of reading "
        "| answer"
    )
    rows = (beside_row(results, *row[1:]) for row in found)
    return lines_of(header, rows, "lrrrlrrrrl")


def growth(results: Results) -> str:
    """Nanoseconds a row of calibrant, by size."""
    sizes = [10**k for k in range(3, 9)]
    rows = []
    for name in results.measured():
        found = [results.seconds_of(name, n) / n * 1e9 for n in sizes]
        if sum(not math.isnan(x) for x in found) > 3:
            rows.append([name, *("" if math.isnan(x) else number(x) for x in found)])
    header = "ns per row | " + " | ".join(size_text(n) for n in sizes)
    return lines_of(header, rows, "lrrrrrr")


def small_calls(results: Results) -> str:
    found = results.probes.get("small calls", {}).get("microseconds", {})
    rows = [[f"`{name}`", f"{value:.3g} µs"] for name, value in found.items()]
    return lines_of("100 rows | a call", rows, "lr") if rows else ""


def files(results: Results) -> str:
    """What `calibrant score` takes beside merely reading the file, each a process of its own."""
    found = results.probes.get("parquet", {})
    if not found or "failed" in found:
        return ""
    rows = [
        [name, f"{r['seconds']:.3g} s", f"{r['processor_seconds']:.3g} s", memory_text(r["bytes"])]
        for name, r in found.items()
    ]
    n = size_text(next(iter(found.values()))["rows"])
    return lines_of(f"{n} rows of Parquet | time | of all processors | memory", rows, "lrrr")


def readme(results: Results) -> str:
    largest = {(task.name, peer.name): (peer, sizes[-1]) for task, peer, sizes in pairs(results)}
    rows = []
    for task, who in README_ROWS:
        if (task, who) not in largest:
            continue
        peer, n = largest[task, who]
        ours, theirs = results.seconds_of(task, n), results.seconds_of(task, n, who)
        name = f"*{who}*" if peer.yardstick else who
        beside = f"{name} {time_text(theirs)}"
        rows.append([task, size_text(n), time_text(ours), beside, number(theirs / ours)])
    return lines_of("task | n | calibrant | beside | ratio", rows, "lrrlr")


def machine(results: Results) -> str:
    m = results.machine
    rates = ", ".join(
        f"{rate / 1e9:.3g} GB/s on {threads}" for threads, rate in results.bandwidth.items()
    )
    there = ", ".join(f"{name} {version}" for name, version in m["versions"].items() if version)
    part = "" if results.complete else " **This run was not complete.**"
    return (
        f"{m['processor']}, {m['isa']}, {results.most_threads} threads, reading {rates}; calibrant "
        f"{m['calibrant']} by {m['compiler']}, Python {m['python']}, {there}. {m['date']}, "
        f"{results.seconds / 60:.0f} minutes.{part}"
    )


def trouble(results: Results) -> str:
    """What was not there, what failed, and answers that are not as stated."""
    lines = [f"- {who}: {why}" for who, why in sorted(results.absent().items())]
    lines += [
        f"- {r['task']}, {size_text(r['n'])}, {r['who']}: {r['status']}"
        for r in results.trouble()
        if "n" in r
    ]
    lines += [f"- {name}: {p['failed']}" for name, p in results.probes.items() if "failed" in p]
    lines += [
        f"- **{r['task']}, {size_text(r['n'])}, {r['who']}: {r['answer']}**"
        for r in results.wrong()
    ]
    return "\n".join(lines) or "Nothing: all peers were there, and all answers are as stated."
