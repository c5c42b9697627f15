"""Brier and log score of many groups, against a polars and a pandas group-by of the same two.

    python bench/grouped.py [--rows 1e7] [--groups 1e5] [--rounds 5]

Contenders take turns; the best time of each counts, and answers are compared. The project's own
bars: 3 times faster than polars, 10 times than pandas, and no slower than a fifth of an
accumulator without groups. `Scores` sums the spherical score besides.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from calibrant.streaming import Grouped, Scores


def made(n, n_groups):
    rng = np.random.default_rng(0)
    p = rng.random(n)
    return (rng.random(n) < p).astype(np.int64), p, rng.integers(0, n_groups, n)


def contenders(y, p, key):
    import pandas as pd
    import polars as pl

    table = pl.DataFrame({"y": y, "p": p, "key": key})
    frame = pd.DataFrame({"y": y, "p": p, "key": key})

    def with_calibrant():
        groups = Grouped(Scores)
        groups.update(y, p, groups=key)
        return groups.metric("brier"), groups.metric("log")

    def with_polars():
        of_truth = pl.when(pl.col("y") == 1).then(pl.col("p")).otherwise(1 - pl.col("p"))
        miss = pl.col("p") - pl.col("y")
        scores = table.lazy().select("key", brier=miss * miss, log=-of_truth.log())
        means = scores.group_by("key").agg(pl.col("brier").mean(), pl.col("log").mean())
        found = means.sort("key").collect()
        return found["brier"].to_numpy(), found["log"].to_numpy()

    def with_pandas():
        miss, of_truth = frame.p - frame.y, np.where(frame.y == 1, frame.p, 1 - frame.p)
        scores = pd.DataFrame({"key": frame.key, "brier": miss * miss, "log": -np.log(of_truth)})
        found = scores.groupby("key").mean()
        return found["brier"].to_numpy(), found["log"].to_numpy()

    def without_groups():
        total = Scores()
        total.update(y, p)
        return total.result()

    return {
        "calibrant": with_calibrant,
        "polars": with_polars,
        "pandas": with_pandas,
        "without groups": without_groups,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=float, default=1e7)
    parser.add_argument("--groups", type=float, default=1e5)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    functions = contenders(*made(int(arguments.rows), int(arguments.groups)))
    best = dict.fromkeys(functions, np.inf)
    answers = {}
    for _ in range(arguments.rounds):
        for name, function in functions.items():
            start = time.perf_counter()
            answers[name] = function()
            best[name] = min(best[name], time.perf_counter() - start)
    for name in ("polars", "pandas"):
        for ours, theirs in zip(answers["calibrant"], answers[name], strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-9)
    for name, seconds in best.items():
        print(f"{name:15} {1e3 * seconds:8.1f} ms, {seconds / best['calibrant']:5.2f} times ours")


if __name__ == "__main__":
    main()
