"""Hypothesis strategies that favour what breaks things."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import strategies as st

TINY = 2.0**-28  # below it the core sums one by one
SUBNORMAL = 2.0**-1074

#: Where a code path, a grid or a format changes.
NASTY_PROBABILITIES = (
    0.0, -0.0, 1.0, 0.5, SUBNORMAL, 3 * SUBNORMAL, 2.0**-1022, math.nextafter(2.0**-1022, 0),
    1e-300, 2.0**-149, 2.0**-126, 1e-20, math.nextafter(TINY, 0), TINY, math.nextafter(TINY, 1),
    2.0**-57, 2.0**-53, 1e-5, 0.1, 1 / 3, math.sqrt(0.5), math.nextafter(math.sqrt(0.5), 1),
    1 - 2.0**-12, 1 - 2.0**-24, 1 - 2.0**-53,
)  # fmt: skip

#: Powers whose means are promised to the ulp; the promise ends at 1/8.
POWERS = (1.0, 0.0, -2 / 3, 2.0, -1.0, 0.5, -0.5, 1 / 8, -1 / 8, 2 / 3, -3.0, 10.0, math.pi)

#: Around the block (512 rows) and the chunk (8192 rows) of the core.
SIZES = (0, 1, 2, 511, 512, 513, 8191, 8192, 8193)

probabilities = st.sampled_from(NASTY_PROBABILITIES) | st.floats(0, 1)
positive_probabilities = probabilities.filter(bool)
weights = st.sampled_from((0.0, 1.0, 2.0, 3.0, 0.1, SUBNORMAL, 1e-300, 1e300, 1.7e308)) | st.floats(
    0, 1e6
)
powers = st.sampled_from((*POWERS, math.inf, -math.inf)) | st.floats(-20, 20)
q_lims = st.sampled_from((0.0, 2.0**-1074, 1e-300, 0.01, 0.25, math.nextafter(0.5, 0)))


@st.composite
def tables(draw, *, n_classes=None, min_rows=0, max_rows=40, weighted=None, dtype=np.float64):
    """(y_true, y_proba, sample_weight or None) as arrays; n_classes None: shape (n,)."""
    n = draw(st.integers(min_rows, max_rows))
    k = n_classes or 1
    p = draw(st.lists(probabilities, min_size=n * k, max_size=n * k))
    y = draw(st.lists(st.integers(0, (n_classes or 2) - 1), min_size=n, max_size=n))
    w = None
    if draw(st.booleans()) if weighted is None else weighted:
        w = np.array(draw(st.lists(weights, min_size=n, max_size=n)), float)
    y_proba = np.array(p, dtype)
    return np.array(y, np.int64), y_proba if n_classes is None else y_proba.reshape(n, k), w


def nasty_table(n, *, n_classes=None, seed=0, dtype=np.float64):
    """(y_true, y_proba) of a given size: ties, zeros, ones and subnormals among random rows."""
    rng = np.random.default_rng([seed, n])
    shape = (n,) if n_classes is None else (n, n_classes)
    p = np.where(rng.random(shape) < 0.5, rng.random(shape), rng.choice(NASTY_PROBABILITIES, shape))
    p = np.where(rng.random(shape) < 0.1, 10.0 ** rng.uniform(-320, 0, shape), p)
    return rng.integers(0, n_classes or 2, n), p.astype(dtype)
