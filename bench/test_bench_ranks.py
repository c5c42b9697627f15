"""Ranks against NumPy, and against what merely reading the draws takes; the answers compared.

``pytest bench/test_bench_ranks.py -s`` prints the two ratios of the last test.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import calibrant
from calibrant import streaming

N, M = 100_000, 1000
GROUP = f"sbc_ranks, {N:.0e} pairs of {M} draws, float32"


@pytest.fixture(scope="module")
def pairs():
    rng = np.random.default_rng(0)
    return rng.random((N, M), dtype=np.float32), rng.random(N, dtype=np.float32)


def numpy_ranks(draws, truth):
    """Without ties, of which there are few: float32 has 2^24 values here."""
    return (draws < truth[:, None]).sum(1)


def test_sbc_ranks(benchmark, pairs):
    benchmark.group = GROUP
    found = benchmark(lambda: calibrant.sbc_ranks(*pairs))
    less, equal = calibrant.draw_counts(*pairs)
    assert np.array_equal(less, numpy_ranks(*pairs))
    assert ((found >= less) & (found <= less + equal)).all()


def test_sbc_ranks_of_numpy(benchmark, pairs):
    benchmark.group = GROUP
    benchmark.pedantic(lambda: numpy_ranks(*pairs), rounds=3)


@pytest.mark.parametrize("layout", ["draws first", "10 dimensions last"])
def test_sbc_ranks_of_other_layouts(benchmark, pairs, layout):
    draws, truth = pairs
    if layout == "draws first":
        moved, axis, wanted = np.ascontiguousarray(draws.T), 0, calibrant.sbc_ranks(draws, truth)
    else:
        moved, axis = draws.reshape(N, M // 10, 10), 1
        truth = np.repeat(truth[:, None], 10, axis=1)
        columns = [calibrant.sbc_ranks(moved[:, :, d].copy(), truth[:, d]) for d in range(10)]
        wanted = np.stack(columns, axis=1)
    benchmark.group = f"{GROUP}, {layout}"
    found = benchmark(lambda: calibrant.sbc_ranks(moved, truth, axis=axis))
    # Ties are broken by dimension, so copies of one column agree but for them.
    assert np.count_nonzero(found != wanted) < 1e-3 * found.size


def test_streaming_ranks(benchmark, pairs):
    benchmark.group = f"streaming.Ranks, {N:.0e} pairs of {M} draws, float32"

    def update():
        total = streaming.Ranks(M)
        total.update(*pairs)
        return total

    counts = benchmark(update).counts
    assert np.array_equal(counts[0], np.bincount(calibrant.sbc_ranks(*pairs), minlength=M + 1))


def test_tarp_ranks(benchmark):
    rng = np.random.default_rng(1)
    draws, truth = rng.normal(size=(2000, 1000, 5)), rng.normal(size=(2000, 5))
    references = rng.normal(size=(2000, 5))
    benchmark.group = "tarp_ranks, 2000 pairs of 1000 draws, 5 dimensions"
    found = benchmark(lambda: calibrant.tarp_ranks(draws, truth, references))
    nearer = ((draws - references[:, None]) ** 2).sum(-1) < (
        ((truth - references) ** 2).sum(-1)[:, None]
    )
    assert np.abs(found - nearer.sum(1)).max() <= 1  # distances within rounding of each other


def test_at_the_speed_of_memory(pairs):
    """At least 2.5 times NumPy, and 60% of the rate at which two threads can add up the bytes."""
    draws, truth = pairs
    halves = np.array_split(draws.reshape(-1).view(np.int64), calibrant.get_num_threads())
    with ThreadPoolExecutor(len(halves)) as pool:
        contenders = {
            "calibrant": lambda: calibrant.sbc_ranks(draws, truth),
            "NumPy": lambda: numpy_ranks(draws, truth),
            "reading": lambda: list(pool.map(np.sum, halves)),
        }
        best = dict.fromkeys(contenders, np.inf)
        for _ in range(5):
            for name, run in contenders.items():
                start = time.perf_counter()
                run()
                best[name] = min(best[name], time.perf_counter() - start)
    faster, share = best["NumPy"] / best["calibrant"], best["reading"] / best["calibrant"]
    rate = draws.nbytes / best["reading"] / 1e9
    print(
        f"\nsbc_ranks: {faster:.1f} times NumPy, {share:.0%} of reading {rate:.1f} GB/s "
        + ", ".join(f"{name} {1e3 * seconds:.0f} ms" for name, seconds in best.items())
    )
    assert faster > 2.5
    assert share > 0.6
