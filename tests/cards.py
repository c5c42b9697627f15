"""Scorecards of a stream beside those of all rows at once."""

from __future__ import annotations

import pytest

from calibrant._scorecard_table import ORDERED


def assert_same(found, exact):
    """The same bits, but for what needs the order of scores: that is close, or not there."""
    for name, estimate in exact:
        mine = getattr(found, name)
        if name not in ORDERED:
            assert mine == estimate, name
        elif mine.value is not None:
            # A p-value in the tail may be off by more than a statistic.
            assert mine.value == pytest.approx(estimate.value, rel=0.05, abs=2e-3), name
    assert (found.n, found.n_omitted) == (exact.n, exact.n_omitted)
    assert found.class_frequencies == exact.class_frequencies
    assert list(found.groups) == list(exact.groups)
    for key, group in exact.groups.items():
        assert_same(found.groups[key], group)
