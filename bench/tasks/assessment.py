"""assess beside one sort of the scores, which nothing that bins by rank seems to do without."""

from __future__ import annotations

import numpy as np

import calibrant
from bench.task import TO_1E6, TO_1E8, Peer, Task
from bench.tasks.predictions import binary

SORT = Peer("np.sort of the scores", lambda y, p: np.sort(p), yardstick=True)  # noqa: ARG005


def is_calibrated(data, found):
    """The labels were drawn with these probabilities: 45 degrees, but for chance."""
    np.testing.assert_allclose(found.angle, 45.0, rtol=0, atol=4 * found.tolerance)
    np.testing.assert_equal(found.n, len(data[0]))


def by_source(source):
    return Task(
        f"assess, {source}",
        binary,
        lambda y, p: calibrant.assess(y, p, n_bins=100, source=source),
        (SORT,),
        check=is_calibrated,
        sizes=TO_1E6,
    )


TASKS = (
    Task(
        "assess, 100 bins",
        binary,
        lambda y, p: calibrant.assess(y, p, n_bins=100),
        (SORT,),
        check=is_calibrated,
        sizes=TO_1E8,
    ),
    *(by_source(source) for source in ("isotonic", "knn", "kernel")),
)
