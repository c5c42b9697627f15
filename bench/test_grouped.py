"""Accumulators of many groups beside the same without.

Brier and log score of groups also beside a polars and a pandas group-by of the same two.
"""

import functools
import importlib

import numpy as np

from bench.case import Case, Peer, benchmarks, binary, yardstick
from calibrant import streaming

ROWS_A_GROUP = 100
#: A stream has so many rows in each group, in so many batches: more than wait for an accumulator.
ROWS_OF_STREAM, BATCHES = 30_000, 10

STREAMS = ("Assessment", "ScoreTable", "Scorecard")

brier_and_log = functools.partial(streaming.Scores, scores=["brier", "log"])
ten_bins = functools.partial(streaming.Assessment, 10)


def keyed(n):
    return (*binary(n), np.random.default_rng(0).integers(0, n // ROWS_A_GROUP, n))


def by_calibrant(y, p, keys):
    groups = streaming.Grouped(brier_and_log)
    groups.update(y, p, groups=keys)
    return groups.metric("brier"), groups.metric("log")


def frame_of(module):
    """Make the data frame of a peer before the clock starts."""

    def prepare(y, p, keys):
        return (importlib.import_module(module).DataFrame({"y": y, "p": p, "key": keys}),)

    return prepare


def by_polars(table):
    import polars as pl

    of_truth = pl.when(pl.col("y") == 1).then(pl.col("p")).otherwise(1 - pl.col("p"))
    miss = pl.col("p") - pl.col("y")
    scores = table.lazy().select("key", brier=miss * miss, log=-of_truth.log())
    means = scores.group_by("key").agg(pl.col("brier").mean(), pl.col("log").mean())
    found = means.sort("key").collect()
    return found["brier"].to_numpy(), found["log"].to_numpy()


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


def rows_of(kind, n):
    """Return the arguments of `update`, by name."""
    (y, p), rng = binary(n), np.random.default_rng(1)
    low = rng.normal(size=n)
    return {
        "events": lambda: {"y_true": y, "y_proba": p},
        "weighted": lambda: {"y_true": y, "y_proba": p, "sample_weight": rng.random(n)},
        "pairs": lambda: {"y_true": y, "first": p, "second": rng.random(n)},
        "classes": lambda: {
            "y_true": rng.integers(0, 3, n), "y_proba": rng.dirichlet(np.ones(3), n)},
        "intervals": lambda: {
            "y_true": rng.normal(size=n), "intervals": np.stack([low, low + 2], axis=1)},
        "sets": lambda: {"y_true": rng.integers(0, 4, n), "sets": rng.random((n, 4)) < 0.5},
        "draws": lambda: {"draws": rng.normal(size=(n, 20)), "truth": low},
    }[kind]()  # fmt: skip


def grouped(name, make, kind, a_group=ROWS_A_GROUP, batches=1):
    """Any accumulator by groups, beside the same without."""

    def by_groups(rows, keys):
        groups = streaming.Grouped(make)
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
        return rows_of(kind, n), np.random.default_rng(0).integers(0, max(n // a_group, 1), n)

    return Case(
        f"Grouped({name}), {'100 rows a group' if batches == 1 else 'a long stream'}",
        keyed_rows,
        by_groups,
        (yardstick(f"{name} without groups", without),),
        check=as_a_selection,
        most=10**6 if name == "Ranks" else 10**7,
    )


ACCUMULATORS = (
    ("Scores", streaming.Scores, "events"),
    ("Scores, Brier and log", brier_and_log, "events"),
    ("RiskProfile", streaming.RiskProfile, "events"),
    ("Reliability", streaming.Reliability, "events"),
    ("Spiegelhalter", streaming.Spiegelhalter, "events"),
    ("Scores, 3 classes", streaming.Scores, "classes"),
    ("Scores, weighted", streaming.Scores, "weighted"),
    ("RiskProfile, weighted", streaming.RiskProfile, "weighted"),
    ("RiskProfile, more powers", functools.partial(streaming.RiskProfile, powers=[2.0]), "events"),
    ("Reliability, weighted", streaming.Reliability, "weighted"),
    ("Spiegelhalter, weighted", streaming.Spiegelhalter, "weighted"),
    ("Assessment", ten_bins, "events"),
    ("ScoreTable", streaming.ScoreTable, "events"),
    ("Scorecard", streaming.Scorecard, "events"),
    ("Intervals", functools.partial(streaming.Intervals, 0.9), "intervals"),
    ("PredictionSets", streaming.PredictionSets, "sets"),
    ("PairedScores", streaming.PairedScores, "pairs"),
    ("Ranks", functools.partial(streaming.Ranks, 20), "draws"),
)
test_grouped = benchmarks(
    Case("Brier and log score, 100 rows a group", keyed, by_calibrant,
         (Peer("polars", by_polars, needs="polars", prepare=frame_of("polars")),
          Peer("pandas", by_pandas, needs="pandas", prepare=frame_of("pandas")))),
    *(grouped(*row) for row in ACCUMULATORS),
    *(grouped(name, make, "events", ROWS_OF_STREAM, BATCHES) for name, make, _ in ACCUMULATORS
      if name in STREAMS),
)  # fmt: skip
