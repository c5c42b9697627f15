"""Rows for scorecards, and scorecards of a stream beside those of all rows at once."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

#: What needs the order of scores.
ORDERED = ("ks", "ks_pvalue", "kuiper", "kuiper_pvalue", "auc")


def binary(n, seed=0, bend=1.5):
    """Labels whose frequency is p^bend, and p."""
    rng = np.random.default_rng(seed)
    p = rng.random(n)
    return (rng.random(n) < p**bend).astype(int), p


def classes(n, k, seed=0):
    rng = np.random.default_rng(seed)
    return rng.integers(0, k, n), rng.dirichlet(np.ones(k), n)


def assert_same(found, exact):
    """The same bits, but for what needs the order of scores: that is close."""
    for name, estimate in exact:
        mine = getattr(found, name)
        if name not in ORDERED or estimate.value is None:
            assert mine == estimate, name
        else:
            # A p-value in the tail may be off by more than a statistic.
            assert mine.value == pytest.approx(estimate.value, rel=0.05, abs=2e-3), name
    assert (found.n, found.n_omitted) == (exact.n, exact.n_omitted)
    assert found.class_frequencies == exact.class_frequencies
    assert list(found.groups) == list(exact.groups)
    for key, group in exact.groups.items():
        assert_same(found.groups[key], group)


def check_stream(streamed, whole):
    """All the same, but what needs order, which lies within the bounds."""
    for name, estimate in whole:
        found = getattr(streamed, name)
        if name not in ORDERED or found.value is None or found.method == "none":
            assert found == estimate, name
            continue
        assert found.low <= estimate.value <= found.high, name
        assert found.low <= found.value <= found.high, name
    without = dict.fromkeys(ORDERED, None)
    assert dataclasses.replace(streamed, **without) == dataclasses.replace(whole, **without)
