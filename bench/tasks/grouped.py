"""Brier and log score of many groups, beside a polars and a pandas group-by of the same two.

`Scores` sums the spherical score besides.
"""

from __future__ import annotations

import numpy as np

from bench.task import Peer, Task
from bench.tasks.predictions import binary
from calibrant.streaming import Grouped, Reliability, RiskProfile, Scores, Spiegelhalter

ROWS_A_GROUP = 100


def keyed(n):
    return (*binary(n), np.random.default_rng(0).integers(0, n // ROWS_A_GROUP, n))


def by_calibrant(y, p, keys):
    groups = Grouped(Scores)
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


def without_groups(make):
    def call(y, p, keys):  # noqa: ARG001
        total = make()
        total.update(y, p)
        return total

    return call


def of_each(make):
    """Any accumulator by groups, beside the same without."""

    def by_groups(y, p, keys):
        groups = Grouped(make)
        groups.update(y, p, groups=keys)
        return groups

    def as_a_selection(data, groups):
        y, p, keys = data
        alone = make()
        alone.update(y[keys == 3], p[keys == 3])
        assert groups[3] == alone

    return Task(
        f"Grouped({make.__name__}), 100 rows a group",
        keyed,
        by_groups,
        (Peer(f"{make.__name__} without groups", without_groups(make), yardstick=True),),
        check=as_a_selection,
        sizes=(10**3, 10**5, 10**7),
    )


TASKS = (
    Task(
        "Grouped(Scores), 100 rows a group",
        keyed,
        by_calibrant,
        (
            Peer("polars", by_polars, needs="polars", prepare=polars_table),
            Peer("pandas", by_pandas, needs="pandas", prepare=pandas_table),
            Peer("Scores without groups", without_groups(Scores), yardstick=True),
        ),
    ),
    *(of_each(make) for make in (RiskProfile, Reliability, Spiegelhalter)),
)
