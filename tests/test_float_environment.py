"""Results do not depend on what other libraries did to the processor's floating-point mode."""

from __future__ import annotations

from contextlib import contextmanager

import pytest

import calibrant
from calibrant import _core

testing = _core._testing
pytestmark = pytest.mark.skipif(not hasattr(testing, "set_mxcsr"), reason="x86 only")

STANDARD = 0x1F80
MODES = {"flush to zero": 0x9FC0, "round down": 0x3F80, "round up": 0x5F80, "truncate": 0x7F80}
TINY = [5e-324, 3e-310, 1e-200, 0.3]


@contextmanager
def mode(mxcsr):
    saved = testing.get_mxcsr()
    testing.set_mxcsr(mxcsr)
    try:
        yield
    finally:
        testing.set_mxcsr(saved)


def means():
    return calibrant.mean_spectrum(TINY, (1, 0, -2 / 3, 2, -1, 0.5, 0.1)).means


def scores():
    total = calibrant.streaming.Scores()
    total.update([1, 0, 1, 0], TINY)
    gini = calibrant.gini_impurity([0, 1], sample_weight=[1, 5e-324])
    return total.result(), total.brier_skill_score(), gini


@pytest.mark.parametrize("name", MODES)
def test_scores_are_those_of_the_standard_mode(name):
    with mode(STANDARD):
        expected = scores()
    with mode(MODES[name]):
        found = scores()
    assert found == expected


@pytest.mark.parametrize("name", MODES)
def test_means_are_those_of_the_standard_mode(name):
    with mode(STANDARD):
        expected = means()
    with mode(MODES[name]):
        found = means()
        left = testing.get_mxcsr()
    assert found == expected
    assert left & ~0x3F == MODES[name]  # but for the sticky flags, as it was


def test_a_bad_row_is_named_while_subnormals_are_flushed():
    refusal = pytest.raises(ValueError, match="found -5e-324 at row 1")
    with mode(MODES["flush to zero"]), refusal:
        calibrant.generalized_mean([0.5, -5e-324], 1)
