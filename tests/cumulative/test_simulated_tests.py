"""Simulated p-values of the tests of calibration: against all outcomes, and their size."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import calibrant
from calibrant import cumulative_tests, ks_test, kuiper_test, spiegelhalter_test

N_SIMULATIONS = 9999
#: Statistics that differ by less do so because 0.1 and 0.9 are not exact.
EQUAL = Fraction(1, 2**45)
ALTERNATIVES = ("two-sided", "greater", "less")


def walk_statistics(p, y):
    """KS and Kuiper's, without the common scale; p ascending, ties moving together."""
    place, places = Fraction(0), [Fraction(0)]
    for i, (s, hit) in enumerate(zip(p, y, strict=True)):
        place += int(hit) - s
        if i + 1 == len(p) or p[i + 1] != s:
            places.append(place)
    return max(map(abs, places)), max(places) - min(places)


def excess(p, y):
    return sum((int(hit) - s) * (1 - 2 * s) for s, hit in zip(p, y, strict=True))


def exact_pvalues(p, y):
    """The probability of each statistic, or one further out, over all outcomes."""
    p = [Fraction(float(s)) for s in p]
    seen_ks, seen_kuiper = walk_statistics(p, y)
    seen = excess(p, y)
    found = dict.fromkeys(("ks", "kuiper", *ALTERNATIVES), Fraction(0))
    for outcome in itertools.product((0, 1), repeat=len(p)):
        weight = math.prod(s if hit else 1 - s for s, hit in zip(p, outcome, strict=True))
        ks, kuiper = walk_statistics(p, outcome)
        z = excess(p, outcome)
        for name, is_out in (
            ("ks", ks >= seen_ks - EQUAL),
            ("kuiper", kuiper >= seen_kuiper - EQUAL),
            ("two-sided", abs(z) >= abs(seen) - EQUAL),
            ("greater", z >= seen - EQUAL),
            ("less", z <= seen + EQUAL),
        ):
            found[name] += weight if is_out else 0
    return {name: float(value) for name, value in found.items()}


@pytest.mark.parametrize(
    "p",
    [
        [0.5],
        [0.01, 0.02, 0.2],
        [0.25, 0.25, 0.5, 0.75, 0.75, 0.75],
        [0.0, 0.1, 0.3, 0.3, 0.9, 1.0],
        [2.0**-30, 0.001, 0.4, 0.6, 1 - 2.0**-20],
        np.linspace(0.05, 0.95, 10),
    ],
    ids=lambda p: f"{len(p)} rows",
)
def test_pvalues_are_those_of_all_outcomes(p):
    p = np.asarray(p, float)
    rng = np.random.default_rng(len(p))
    for y in ((rng.random(len(p)) < p).astype(int), (p > 0.3).astype(int)):
        true = exact_pvalues(p, y)
        options = {"method": "simulated", "n_simulations": N_SIMULATIONS, "seed": 3}
        both = cumulative_tests(y, p, **options)
        found = {"ks": both.ks.pvalue, "kuiper": both.kuiper.pvalue}
        for name in ALTERNATIVES:
            found[name] = spiegelhalter_test(y, p, alternative=name, **options).pvalue
        for name, value in found.items():
            spread = math.sqrt(true[name] * (1 - true[name]) / N_SIMULATIONS)
            assert abs(value - true[name]) <= 4.5 * spread + 2 / N_SIMULATIONS, name
        plain = cumulative_tests(y, p)
        assert both.ks.statistic == plain.ks.statistic
        assert both.kuiper.sigma == plain.kuiper.sigma
        assert both.ks.log_pvalue == math.log(both.ks.pvalue)


def test_the_result_says_where_its_pvalue_is_from():
    found = ks_test([0, 1], [0.25, 0.5], method="simulated", n_simulations=99)
    assert (found.method, found.n_simulations) == ("simulated", 99)
    assert found.pvalue * 100 == pytest.approx(round(found.pvalue * 100))
    assert repr(found).endswith("method='simulated', n_simulations=99)")
    plain = ks_test([0, 1], [0.25, 0.5])
    assert (plain.method, plain.n_simulations) == ("asymptotic", 0)
    assert plain == ks_test([0, 1], [0.25, 0.5], method="asymptotic", seed=5)
    each = kuiper_test(
        [0, 1, 1], [[0.5, 0.5], [0.25, 0.75], [0.5, 0.5]], classes="per-class",
        method="simulated", n_simulations=99,
    )  # fmt: skip
    assert {each.method, *(test.method for test in each.classes)} == {"simulated"}


def test_neither_order_nor_threads_nor_layout_can_be_seen():
    rng = np.random.default_rng(0)
    p = np.round(rng.random(3000), 2)
    y = (rng.random(3000) < p).astype(int)
    options = {"method": "simulated", "n_simulations": 500, "seed": 7}
    found = cumulative_tests(y, p, **options), spiegelhalter_test(y, p, **options)
    order = rng.permutation(3000)
    again = cumulative_tests(y[order], p[order], **options)
    assert (again, spiegelhalter_test(y[order], p[order], **options)) == found
    for threads in (1, 2, 5):
        calibrant.set_num_threads(threads)
        try:
            again = cumulative_tests(y, p, **options), spiegelhalter_test(y, p, **options)
        finally:
            calibrant.set_num_threads(0)
        assert again == found
    assert cumulative_tests(y.tolist(), p[::-1][::-1], **options) == found[0]
    other = cumulative_tests(y, p, **{**options, "seed": 8})
    assert other != found[0]
    assert other.ks.pvalue == pytest.approx(found[0].ks.pvalue, abs=0.15)


def test_weights_are_repetitions():
    rng = np.random.default_rng(1)
    p, k = np.round(rng.random(200), 1), rng.integers(0, 4, 200)
    y = (rng.random(200) < p).astype(int)
    options = {"method": "simulated", "n_simulations": 200}
    for test in (ks_test, kuiper_test, spiegelhalter_test):
        weighted = test(y, p, sample_weight=k, **options)
        repeated = test(np.repeat(y, k), np.repeat(p, k), **options)
        assert weighted.pvalue == repeated.pvalue
        assert test(y, p, sample_weight=2.0 * k, **options).pvalue != weighted.pvalue


def test_what_is_rejected():
    y, p = [0, 1, 1], [0.25, 0.5, 0.75]
    for test in (ks_test, spiegelhalter_test):

        def simulated(*rows, test=test, **options):
            return test(*rows, method="simulated", **options)

        with pytest.raises(ValueError, match=r"whole numbers .* found 0.5 at row 1"):
            simulated(y, p, sample_weight=[1.0, 0.5, 2.0])
        with pytest.raises(ValueError, match=r"at most 200000 rows, .* got 200001 rows"):
            simulated(np.zeros(200_001, int), np.zeros(200_001))
        with pytest.raises(ValueError, match="got too many rows"):
            simulated(y, p, sample_weight=[1e300, 1e300, 0.0])
        with pytest.raises(ValueError, match=r"2\^32 draws: rows times n_simulations"):
            simulated(y, p, n_simulations=2**32 - 1)
        with pytest.raises(ValueError, match="at least one row, got none"):
            simulated([], [])
        with pytest.raises(ValueError, match="all 3 have weight 0"):
            simulated(y, p, sample_weight=[0, 0, 0])
        with pytest.raises(
            ValueError, match="method must be 'asymptotic' or 'simulated', got 'exact'"
        ):
            test(y, p, method="exact")
        with pytest.raises(ValueError, match="n_simulations"):
            test(y, p, n_simulations=0)
        with pytest.raises(ValueError, match=r"seed must lie in \[0, 2\^64\), got -1"):
            test(y, p, seed=-1)
    for name, keys in (("subset", [True, False, True]), ("groups", ["a", "b", "a"])):
        with pytest.raises(ValueError, match=f"{name} cannot be tested with method='simulated'"):
            ks_test(y, p, method="simulated", **{name: keys})


def test_certain_scores_have_certain_outcomes():
    for test in (ks_test, kuiper_test, spiegelhalter_test):
        assert test([0, 1], [0.0, 1.0], method="simulated", n_simulations=99).pvalue == 1.0
        found = test([1, 1], [0.0, 1.0], method="simulated", n_simulations=99)
        assert found.pvalue == 0.01
        assert math.isinf(found.statistic)


SETTINGS = {
    "uniform, 5 rows": lambda rng: rng.random(5),
    "uniform, 20 rows": lambda rng: rng.random(20),
    "0.001, 100 rows": lambda _: np.full(100, 0.001),
    "0.01, 20 rows": lambda _: np.full(20, 0.01),
    "1 %, 100 rows": lambda rng: rng.beta(0.5, 49.5, 100),
}


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_size_holds_for_few_rows_and_few_events(setting):
    runs, levels = 600, np.array([0.01, 0.05])
    rejected = {name: np.zeros(2) for name in ("ks", "kuiper", *ALTERNATIVES)}
    asymptotic = {name: np.zeros(2) for name in rejected}
    for run in range(runs):
        rng = np.random.default_rng([run, 20])
        p = SETTINGS[setting](rng)
        y = (rng.random(len(p)) < p).astype(int)
        options = {"method": "simulated", "n_simulations": 399, "seed": run}
        for counts, how in ((rejected, options), (asymptotic, {})):
            both = cumulative_tests(y, p, **how)
            counts["ks"] += both.ks.pvalue <= levels
            counts["kuiper"] += both.kuiper.pvalue <= levels
            for name in ALTERNATIVES:
                pvalue = spiegelhalter_test(y, p, alternative=name, **how).pvalue
                counts[name] += pvalue <= levels
    # Four standard errors of a rate of a test of exactly that size.
    allowed = runs * levels + 4 * np.sqrt(runs * levels * (1 - levels))
    for name, counts in rejected.items():
        assert (counts <= allowed).all(), (name, counts / runs)
    if setting == "0.01, 20 rows":  # what the normal law does: 1 - 0.99^20 = 0.18
        assert asymptotic["greater"][1] / runs == pytest.approx(0.18, abs=0.06)
    if setting == "0.001, 100 rows":
        assert asymptotic["ks"][0] / runs == pytest.approx(0.095, abs=0.045)
