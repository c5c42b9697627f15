"""A long run: a thousand million rows in constant memory, then many threads on one accumulator.

    python -m bench.soak                    # 10^9 rows, then 8 threads for a minute
    python -m bench.soak --rows 1e7 --seconds 2

Batches are slices of one block of rows, so that nothing has to be generated or kept, and what must
come out is known to the last bit: the state of the block, merged with itself as often.
"""

import argparse
import resource
import threading
import time

import numpy as np

from calibrant.streaming import Scorecard, Scores

BLOCK = 2_000_000


def block_of_rows():
    rng = np.random.default_rng(10)
    p = rng.random(BLOCK)
    return rng.random(BLOCK) < p, p


def times(accumulator, n):
    """Return the accumulator of n times its rows, by doubling."""
    total, power = type(accumulator)(), accumulator.copy()
    while n:
        if n & 1:
            total.merge(power)
        power.merge(power)
        n >>= 1
    return total


def of(cls, y, p):
    made = cls()
    made.update(y, p)
    return made


def peak_mb():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def stream(cls, rows):
    """Batches of changing sizes, in constant memory; every count and every bit must be there."""
    y, p = block_of_rows()
    expected = times(of(cls, y, p), rows // BLOCK)
    rng = np.random.default_rng(11)
    total, before, start = cls(), peak_mb(), time.perf_counter()
    for _ in range(rows // BLOCK):
        cuts = np.sort(rng.integers(0, BLOCK, 3))
        for begin, end in zip([0, *cuts], [*cuts, BLOCK], strict=True):
            total.update(y[begin:end], p[begin:end])
    seconds, more = time.perf_counter() - start, peak_mb() - before
    print(
        f"{cls.__name__}: {total.n:,} rows in {seconds:.1f} s, "
        f"{seconds / total.n * 1e9:.2f} ns a row, {more:.0f} MB more than before"
    )
    assert total.n == rows // BLOCK * BLOCK
    assert total == expected
    return {"rows": total.n, "seconds": seconds, "megabytes": more}


def many_threads(cls, n_threads, seconds):
    """Threads that update one accumulator with whatever they like, until time is up."""
    y, p = block_of_rows()
    sizes = (1, 100, 10_000, 1_000_000)
    parts = [of(cls, y[:size], p[:size]) for size in sizes]
    total, counts = cls(), np.zeros((n_threads, len(sizes)), np.int64)
    until = time.perf_counter() + seconds

    def work(thread):
        rng = np.random.default_rng(thread)
        while time.perf_counter() < until:
            i = int(rng.choice(len(sizes), p=(0.5, 0.3, 0.15, 0.05)))
            total.update(y[: sizes[i]], p[: sizes[i]])
            counts[thread, i] += 1

    threads = [threading.Thread(target=work, args=(k,)) for k in range(n_threads)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expected = cls()
    for part, n in zip(parts, counts.sum(axis=0).tolist(), strict=True):
        expected.merge(times(part, n))
    assert total == expected
    print(f"{cls.__name__}: {n_threads} threads, {counts.sum():,} updates, {total.n:,} rows: exact")
    return {"threads": n_threads, "seconds": seconds, "updates": int(counts.sum()), "rows": total.n}


def measure(*, rows=10**9, n_threads=8, seconds=60, quick=False):
    """Run all of it; what is not exact raises."""
    if quick:
        rows, seconds = 10**7, 1
    return {
        **{cls.__name__: stream(cls, rows) for cls in (Scores, Scorecard)},
        "many threads": many_threads(Scores, n_threads, seconds),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=float, default=1e9)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=60)
    options = parser.parse_args()
    measure(rows=int(options.rows), n_threads=options.threads, seconds=options.seconds)


if __name__ == "__main__":
    main()
