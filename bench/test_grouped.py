"""Accumulators of many groups beside the same without.

Brier and log score of groups also beside a polars and a pandas group-by of the same two.
"""

import functools

import numpy as np

from bench.case import Case, Peer, benchmarks, binary, yardstick
from calibrant.streaming import (
    Assessment,
    Grouped,
    Intervals,
    PairedScores,
    PredictionSets,
    Ranks,
    Reliability,
    RiskProfile,
    Scorecard,
    Scores,
    ScoreTable,
    Spiegelhalter,
)

ROWS_A_GROUP = 100
#: A stream has so many rows in each group, in so many batches: more than wait for an accumulator.
ROWS_OF_STREAM, BATCHES = 30_000, 10

brier_and_log = functools.partial(Scores, scores=["brier", "log"])
ten_bins = functools.partial(Assessment, 10)


def keyed(n):
    return (*binary(n), np.random.default_rng(0).integers(0, n // ROWS_A_GROUP, n))


def by_calibrant(y, p, keys):
    groups = Grouped(brier_and_log)
    groups.update(y, p, groups=keys)
    return groups.metric("brier"), groups.metric("log")


def polars_table(y, p, keys):
    import polars as pl

    return (pl.DataFrame({"y": y, "p": p, "key": keys}),)


def by_polars(table):
    import polars as pl

    of_truth = pl.when(pl.col("y") == 1).then(pl.col("p")).otherwise(1 - pl.col("p"))
    miss = pl.col("p") - pl.col("y")
    scores = table.lazy().select("key", brier=miss * miss, log=-of_truth.log())
    means = scores.group_by("key").agg(pl.col("brier").mean(), pl.col("log").mean())
    found = means.sort("key").collect()
    return found["brier"].to_numpy(), found["log"].to_numpy()


def pandas_table(y, p, keys):
    import pandas as pd

    return (pd.DataFrame({"y": y, "p": p, "key": keys}),)


def by_pandas(frame):
    import pandas as pd

    miss, of_truth = frame.p - frame.y, np.where(frame.y == 1, frame.p, 1 - frame.p)
    scores = pd.DataFrame({"key": frame.key, "brier": miss * miss, "log": -np.log(of_truth)})
    found = scores.groupby("key").mean()
    return found["brier"].to_numpy(), found["log"].to_numpy()


def cut(rows, keys, batches):
    """Yield rows and keys in consecutive batches."""
    ends = [keys.size * i // batches for i in range(batches + 1)]
    for batch in map(slice, ends, ends[1:]):
        yield {name: column[batch] for name, column in rows.items()}, keys[batch]


def events(n):
    y, p = binary(n)
    return {"y_true": y, "y_proba": p}


def weighted(n):
    return {**events(n), "sample_weight": np.random.default_rng(1).random(n)}


def classes(n):
    rng = np.random.default_rng(1)
    return {"y_true": rng.integers(0, 3, n), "y_proba": rng.dirichlet(np.ones(3), n)}


def intervals(n):
    rng = np.random.default_rng(1)
    low = rng.normal(size=n)
    return {"y_true": rng.normal(size=n), "intervals": np.stack([low, low + 2], axis=1)}


def sets(n):
    rng = np.random.default_rng(1)
    return {"y_true": rng.integers(0, 4, n), "sets": rng.random((n, 4)) < 0.5}


def pairs(n):
    y, p = binary(n)
    return {"y_true": y, "first": p, "second": np.random.default_rng(1).random(n)}


def draws(n):
    rng = np.random.default_rng(1)
    return {"draws": rng.normal(size=(n, 20)), "truth": rng.normal(size=n)}


def grouped(name, make, rows, a_group=ROWS_A_GROUP, batches=1):
    """Any accumulator by groups, beside the same without."""

    def by_groups(rows, keys):
        groups = Grouped(make)
        for batch, its_keys in cut(rows, keys, batches):
            groups.update(**batch, groups=its_keys)
        return groups

    def without(rows, keys):
        total = make()
        for batch, _ in cut(rows, keys, batches):
            total.update(**batch)
        return total

    def as_a_selection(data, groups):
        rows, keys = data
        of_rows_alone = make()
        chosen = keys == keys[0]
        of_rows_alone.update(**{column: values[chosen] for column, values in rows.items()})
        assert groups[keys[0]] == of_rows_alone

    def keyed_rows(n):
        return rows(n), np.random.default_rng(0).integers(0, max(n // a_group, 1), n)

    return Case(
        f"Grouped({name}), {'100 rows a group' if batches == 1 else 'a long stream'}",
        keyed_rows,
        by_groups,
        (yardstick(f"{name} without groups", without),),
        check=as_a_selection,
        most=10**6 if name == "Ranks" else 10**7,
    )


ACCUMULATORS = (
    ("Scores", Scores, events),
    ("Scores, Brier and log", brier_and_log, events),
    ("RiskProfile", RiskProfile, events),
    ("Reliability", Reliability, events),
    ("Spiegelhalter", Spiegelhalter, events),
    ("Scores, 3 classes", Scores, classes),
    ("Scores, weighted", Scores, weighted),
    ("RiskProfile, weighted", RiskProfile, weighted),
    ("RiskProfile, more powers", functools.partial(RiskProfile, powers=[2.0]), events),
    ("Reliability, weighted", Reliability, weighted),
    ("Spiegelhalter, weighted", Spiegelhalter, weighted),
    ("Assessment", ten_bins, events),
    ("ScoreTable", ScoreTable, events),
    ("Scorecard", Scorecard, events),
    ("Intervals", functools.partial(Intervals, 0.9), intervals),
    ("PredictionSets", PredictionSets, sets),
    ("PairedScores", PairedScores, pairs),
    ("Ranks", functools.partial(Ranks, 20), draws),
)
STREAMS = (("Assessment", ten_bins), ("ScoreTable", ScoreTable), ("Scorecard", Scorecard))
test_grouped = benchmarks(
    Case(
        "Brier and log score, 100 rows a group",
        keyed,
        by_calibrant,
        (
            Peer("polars", by_polars, needs="polars", prepare=polars_table),
            Peer("pandas", by_pandas, needs="pandas", prepare=pandas_table),
        ),
    ),
    *(grouped(*row) for row in ACCUMULATORS),
    *(grouped(name, make, events, ROWS_OF_STREAM, BATCHES) for name, make in STREAMS),
)
