"""Ctrl-C is answered during any call that takes long, whatever takes long in it."""

# ruff: noqa: E501 (a table: a line for a case)

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import calibrant
from calibrant import samples, streaming
from interrupts import assert_interrupted, needs_signals

pytestmark = needs_signals

RNG = np.random.default_rng(0)


def classes(n, k):
    """Probabilities of many classes, in one row of memory."""
    row = np.full(k, 1.0 / k)
    return np.zeros(n, np.int64), np.broadcast_to(row, (n, k))


def many(n, *shape, dtype=np.float64):
    """Rows without end, of which one is in memory."""
    return np.broadcast_to(np.full(shape, 0.5, dtype), (n, *shape))


def square(n):
    return RNG.standard_normal((n, n))


def similarities(n):
    rows = RNG.standard_normal((n, 8))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    matrix = rows @ rows.T
    np.fill_diagonal(matrix, 1.0)
    return matrix


N = 2**27
KEYS = RNG.random(3 * 10**6)
EVENTS = (KEYS > 0.5, KEYS)
DIGITS = RNG.integers(ord("0"), ord("9"), (KEYS.size, 8), np.uint32, endpoint=True)
TEXTS = DIGITS.view("U8")[:, 0]
NAMES = np.array(["no", "yes"])
LONG = {
    "classwise_ece": lambda: partial(calibrant.classwise_ece, *classes(300, 10**6)),
    "classwise_ece, few rows": lambda: partial(calibrant.classwise_ece, *classes(2, 5 * 10**7)),
    "classwise_ece, equal counts": lambda: partial(calibrant.classwise_ece, *classes(300, 10**6), strategy="quantile"),
    "classwise_ece, omit": lambda: partial(calibrant.classwise_ece, *classes(300, 10**6), nan_policy="omit"),
    "classwise_ece, many rows": lambda: partial(calibrant.classwise_ece, *classes(10**6, 10**4)),
    "brier_decomposition": lambda: partial(calibrant.brier_decomposition, *classes(300, 10**6)),
    "brier_decomposition, CORP": lambda: partial(calibrant.brier_decomposition, *classes(300, 10**6), method="corp"),
    "top_label_ece": lambda: partial(calibrant.top_label_ece, *classes(10**4, 10**6), average="pooled"),
    "assess": lambda: partial(calibrant.assess, *classes(10**4, 10**6), n_bins=3),
    "brier_score": lambda: partial(calibrant.brier_score, *classes(10**4, 10**6)),
    "scorecard": lambda: partial(calibrant.scorecard, *classes(10**4, 10**6)),
    "kuiper_test, per class": lambda: partial(calibrant.kuiper_test, *classes(300, 10**6), classes="per-class"),
    "vendi_score": lambda: partial(calibrant.vendi_score, square(4000)),
    "vendi_score, order 2": lambda: partial(calibrant.vendi_score, many(9000, 9000) + np.eye(9000), q=2),
    "vendi_score, precomputed": lambda: partial(calibrant.vendi_score, similarities(4000), kernel="precomputed"),
    "frechet_distance": lambda: partial(calibrant.frechet_distance, square(3000), square(3000)),
    "frechet_distance, moments": lambda: partial(
        calibrant.frechet_distance, *[(np.zeros(4000), similarities(4000))] * 2
    ),
    "streaming.Moments.result": lambda: moments(1500).result,
    "tarp_references": lambda: partial(calibrant.tarp_references, [0.0] * 4, [1.0] * 4, N),
    "rank_pit_values": lambda: partial(calibrant.rank_pit_values, many(N, dtype=np.int32) + 0, 9),
    "break_ties": lambda: partial(calibrant.break_ties, many(N, dtype=np.int32), many(N, dtype=np.int32) + 1),
    "pit_values": lambda: partial(calibrant.pit_values, many(N), cdf_below=many(N)),
    "tarp_ranks": lambda: partial(calibrant.tarp_ranks, many(N, 2), many(N)),
    "sbc_ranks": lambda: partial(calibrant.sbc_ranks, many(N, 4), many(N)),
    "crps_ensemble": lambda: partial(calibrant.crps_ensemble, many(2**24), many(2**24, 64)),
    "hsic": lambda: partial(calibrant.hsic, square(4000)[:, :50], square(4000)[:, :50]),
    "mmd_test": lambda: partial(calibrant.mmd_test, square(4000)[:, :9], square(4000)[:, :9], n_permutations=10**5),
    "density_coverage": lambda: partial(samples.density_coverage, RNG.random((60_000, 60)), RNG.random((60_000, 60))),
    "ks_test, text keys": lambda: partial(calibrant.ks_test, *EVENTS, groups=TEXTS),
    "ks_test, real keys": lambda: partial(calibrant.ks_test, *EVENTS, groups=KEYS),
    "scorecard, list of keys": lambda: partial(calibrant.scorecard, *EVENTS, groups=KEYS.tolist()),
    "labels": lambda: partial(calibrant.brier_score, np.broadcast_to(NAMES[1], N), many(N), labels=NAMES),
    "pos_label": lambda: partial(calibrant.brier_score, np.broadcast_to(NAMES[1], N), many(N), pos_label="yes"),
}  # fmt: skip


def moments(width):
    total = streaming.Moments(width)
    total.update(RNG.standard_normal((3, width)))
    return total


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", LONG)
def test_ctrl_c_is_answered(name):
    assert_interrupted(LONG[name](), after=0.3)
