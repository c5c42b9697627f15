"""Many groups: against polars and pandas, and against the same accumulator without groups.

    python bench/grouped.py [--rows 1e7] [--groups 1e5] [--rounds 5] [--kinds-rows 1e6]

First Brier and log score of all groups beside a group-by of the same two (`Scores` sums the
spherical score besides); then, of every kind of accumulator, how long groups of 100 rows take
beside no groups at all. Contenders take turns; the best time of each counts, and answers are
compared. The project's own bars: 3 times faster than polars, 10 times than pandas, and at least a
fifth of the speed without groups. Besides the time by the clock there is that of the processor on
one thread, which other processes disturb less.
"""

from __future__ import annotations

import argparse
import functools
import time

import numpy as np

import calibrant
from calibrant import streaming
from calibrant.streaming import Grouped, Scores

ROWS_PER_GROUP = 100


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


def kinds(n):
    """Of each kind: what makes one, and rows for it."""
    rng = np.random.default_rng(0)
    y, p, _ = made(n, 1)
    events, weighted = {"y_true": y, "y_proba": p}, {"sample_weight": rng.random(n)}
    classes = {"y_true": rng.integers(0, 3, n), "y_proba": rng.dirichlet(np.ones(3), n)}
    low = rng.normal(size=n)
    intervals = {"y_true": rng.normal(size=n), "intervals": np.stack([low, low + 2], axis=1)}
    sets = {"y_true": rng.integers(0, 4, n), "sets": rng.random((n, 4)) < 0.5}
    draws = {"draws": rng.normal(size=(n, 20)), "truth": rng.normal(size=n)}
    risk = functools.partial(streaming.RiskProfile, powers=[2.0])
    return {
        "Scores": (Scores, events),
        "Scores, weighted": (Scores, events | weighted),
        "Scores, 3 classes": (Scores, classes),
        "RiskProfile": (streaming.RiskProfile, events),
        "RiskProfile, weighted": (streaming.RiskProfile, events | weighted),
        "RiskProfile, more powers": (risk, events),
        "Reliability": (streaming.Reliability, events),
        "Reliability, weighted": (streaming.Reliability, events | weighted),
        "Spiegelhalter": (streaming.Spiegelhalter, events),
        "Spiegelhalter, weighted": (streaming.Spiegelhalter, events | weighted),
        "Assessment, 10 bins": (functools.partial(streaming.Assessment, 10), events),
        "ScoreTable": (streaming.ScoreTable, events),
        "Scorecard": (streaming.Scorecard, events),
        "Intervals": (functools.partial(streaming.Intervals, 0.9), intervals),
        "PredictionSets": (streaming.PredictionSets, sets),
        "PairedScores": (
            streaming.PairedScores,
            {"y_true": y, "first": p, "second": rng.random(n)},
        ),
        "Ranks": (functools.partial(streaming.Ranks, 20), draws),
    }


def best_times(functions, rounds):
    """(by the clock, of the processor) of each, taking turns; and their answers."""
    best = dict.fromkeys(functions, (np.inf, np.inf))
    answers = {}
    for _ in range(rounds):
        for name, function in functions.items():
            clock, processor = time.perf_counter(), time.process_time()
            answers[name] = function()
            spent = time.perf_counter() - clock, time.process_time() - processor
            best[name] = tuple(min(pair) for pair in zip(best[name], spent, strict=True))
    return best, answers


def against_others(n, n_groups, rounds):
    functions = contenders(*made(n, n_groups))
    best, answers = best_times(functions, rounds)
    for name in ("polars", "pandas"):
        for ours, theirs in zip(answers["calibrant"], answers[name], strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-9)
    calibrant.set_num_threads(1)
    alone, _ = best_times({name: functions[name] for name in functions if name != "polars"}, rounds)
    calibrant.set_num_threads(0)
    print(f"{n:.0e} rows, {n_groups:.0e} groups")
    ours, ours_alone = best["calibrant"][0], alone["calibrant"][1]
    for name, (clock, _) in best.items():
        shown = f"{name:15} {1e3 * clock:8.1f} ms, {clock / ours:5.2f} times ours"
        if name in alone:
            processor = alone[name][1]
            shown += f"; one thread {1e3 * processor:8.1f} ms, {processor / ours_alone:5.2f} times"
        print(shown)


def grouped_and_not(factory, rows, key):
    def with_groups():
        groups = Grouped(factory)
        groups.update(**rows, groups=key)
        return groups

    def without_groups():
        total = factory()
        total.update(**rows)
        return total

    return {"grouped": with_groups, "not": without_groups}


def against_no_groups(n, rounds):
    key = np.random.default_rng(1).integers(0, n // ROWS_PER_GROUP, n)
    calibrant.set_num_threads(1)
    print(f"\n{n:.0e} rows, {ROWS_PER_GROUP} a group: ns a row on one thread")
    for name, (factory, rows) in kinds(n).items():
        best, answers = best_times(grouped_and_not(factory, rows, key), rounds)
        for group in (0, int(key[-1])):  # the answer is that of the rows alone
            alone = factory()
            alone.update(**{column: values[key == group] for column, values in rows.items()})
            assert answers["grouped"][group] == alone, name
        grouped, plain = best["grouped"][1], best["not"][1]
        print(
            f"{name:26} {1e9 * plain / n:7.1f} without groups, {1e9 * grouped / n:7.1f} with: "
            f"{plain / grouped:.2f} of the speed"
        )
    calibrant.set_num_threads(0)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=float, default=1e7)
    parser.add_argument("--groups", type=float, default=1e5)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--kinds-rows", type=float, default=1e6)
    arguments = parser.parse_args()
    against_others(int(arguments.rows), int(arguments.groups), arguments.rounds)
    against_no_groups(int(arguments.kinds_rows), arguments.rounds)


if __name__ == "__main__":
    main()
