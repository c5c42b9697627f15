"""Results do not depend on what other libraries did to the processor's floating-point mode."""

from __future__ import annotations

import numpy as np
import pytest
from test_bad_input import is_called, outcome, plain

import calibrant
from bad_input_rows import ACCUMULATORS
from bad_input_table import ROWS
from calibrant import streaming
from float_modes import MODES, STANDARD, mode, testing
from strategies import nasty_table

pytestmark = pytest.mark.skipif(not hasattr(testing, "set_mxcsr"), reason="x86 only")

TINY = [5e-324, 3e-310, 1e-200, 0.3]


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


@pytest.mark.filterwarnings("ignore:.* bins are too many for .* rows")
@pytest.mark.parametrize("key", [key for key in ROWS if is_called(key)])
def test_every_function_gives_the_same_while_subnormals_are_flushed(key):
    with mode(STANDARD):
        expected = plain(outcome(key))
    with mode(MODES["flush to zero"]):
        found = plain(outcome(key))
    np.testing.assert_equal(found, expected)


#: Its factors are NumPy's, which rounds as the caller has it.
ROUNDED_BY_NUMPY = {"sequential.SequentialCalibrationTest"}


@pytest.mark.parametrize("name", MODES)
@pytest.mark.parametrize("kind", sorted(ACCUMULATORS.keys() - ROUNDED_BY_NUMPY))
def test_every_accumulator_has_the_state_of_the_standard_mode(kind, name):
    make, rows = ACCUMULATORS[kind]

    def state():
        total = make()
        total.update(**rows)
        return total.to_bytes() if hasattr(total, "to_bytes") else total.n

    with mode(STANDARD):
        expected = state()
    with mode(MODES[name]):
        found = state()
    assert found == expected


#: Where rows near an edge depend on how the edge was rounded.
WITH_BINS = {
    "Assessment": lambda: streaming.Assessment(7),
    "Reliability": streaming.Reliability,
    "Scorecard": streaming.Scorecard,
}


@pytest.mark.parametrize("name", MODES)
@pytest.mark.parametrize("kind", WITH_BINS)
def test_edges_of_bins_are_those_of_the_standard_mode(kind, name):
    y, p = nasty_table(1000)

    def states():
        total = WITH_BINS[kind]()
        total.update(y, p)
        back = type(total).from_bytes(total.to_bytes())
        back.update(y, p)
        return total.to_bytes(), back.to_bytes(), total.merge(back).to_bytes()

    with mode(STANDARD):
        expected = states()
    with mode(MODES[name]):
        found = states()
    assert found == expected


def test_a_bad_row_is_named_while_subnormals_are_flushed():
    rejection = pytest.raises(ValueError, match="found -5e-324 at row 1")
    with mode(MODES["flush to zero"]), rejection:
        calibrant.generalized_mean([0.5, -5e-324], 1)
