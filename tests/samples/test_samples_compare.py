"""What is said of samples, case by case; the numbers are those of the functions named."""

from __future__ import annotations

import json

import numpy as np
import pytest

from calibrant import samples
from calibrant.ranks import rank_calibration, sbc_ranks
from calibrant.samples import compare_samples


def two_samples(scale=1.0, shift=0.0, n=300, seed=0, d=3):
    rng = np.random.default_rng(seed)
    return scale * rng.normal(size=(n, d)) + shift, rng.normal(size=(n + 20, d))


def test_many_truths():
    x, y = two_samples(0.5)
    found = compare_samples(x, y, k=4, n_permutations=99, seed=3)
    assert found.case == "many truths"
    assert (found.n, found.m) == (300, 320)
    assert found.mmd.pvalue == samples.mmd_test(x, y, n_permutations=99, seed=3).pvalue == 0.01
    assert found.frechet == samples.frechet_distance(x, y)
    assert found.density_coverage == samples.density_coverage(y, x, k=4)
    assert found.vendi.at(1) == pytest.approx(samples.vendi_score(x), rel=1e-12)
    assert found.vendi_of_truth.at(1) == pytest.approx(samples.vendi_score(y), rel=1e-12)
    assert found.ratios()["coverage"] == pytest.approx(
        found.density_coverage.coverage / found.density_coverage.expected_coverage
    )


@pytest.mark.parametrize(
    ("scale", "shift", "d", "verdict"),
    [
        (1.0, 0.0, 3, "no difference found (MMD, p = "),
        (0.4, 0.0, 3, "different (MMD, p = 0.01): misses parts of y"),
        (0.6, 0.0, 10, "different (MMD, p = 0.01): keeps to the dense parts of y"),
        (4.0, 0.0, 3, "different (MMD, p = 0.01): misses parts of y, strays from y"),
        (1.0, 0.8, 3, "different (MMD, p = 0.01)"),
    ],
)
def test_words(scale, shift, d, verdict):
    found = compare_samples(*two_samples(scale, shift, d=d), n_permutations=99)
    assert found.verdict.startswith(verdict)


def test_no_truth():
    x = two_samples()[0]
    found = compare_samples(x)
    assert (found.case, found.n, found.m, found.mmd) == ("no truth", 300, 0, None)
    assert found.vendi.at(0.5) == pytest.approx(samples.vendi_score(x, q=0.5))
    assert found.verdict.startswith(f"as diverse as {found.vendi.at(1):.4g} rows")


def test_one_truth_each():
    rng = np.random.default_rng(1)
    draws, truth = 0.5 * rng.normal(size=(400, 19, 2)), rng.normal(size=(400, 2))
    found = compare_samples(draws, truth)
    expected = rank_calibration(sbc_ranks(draws, truth), 19)
    assert found.case == "one truth each"
    assert found.verdict == expected.verdict
    assert "under-dispersed" in found.verdict
    assert found.ranks.pvalue == expected.pvalue
    of_numbers = compare_samples(rng.normal(size=(400, 19)), rng.normal(size=400))
    assert of_numbers.verdict.startswith("calibrated")


def test_numbers_have_no_angles():
    rng = np.random.default_rng(2)
    found = compare_samples(rng.normal(size=50), rng.normal(size=60), n_permutations=19)
    assert found.vendi is None
    assert list(found.ratios()) == ["density", "coverage"]
    x = rng.normal(size=(50, 2))
    x[3] = 0
    assert compare_samples(x, x, n_permutations=19).vendi is None


@pytest.mark.parametrize("case", ["many", "none", "one"])
def test_tables_and_json(case):
    rng = np.random.default_rng(3)
    x, y = {
        "many": lambda: two_samples(n=40),
        "none": lambda: (rng.normal(size=(30, 2)), None),
        "one": lambda: (rng.normal(size=(50, 9, 2)), rng.normal(size=(50, 2))),
    }[case]()
    found = compare_samples(x, y, n_permutations=19)
    assert json.loads(json.dumps(found.to_dict()))["case"] == found.case
    lines = repr(found).splitlines()
    assert lines[0].startswith(f"SampleComparison, {found.case}: ")
    assert lines[1].strip() == found.verdict
    assert len(lines) == {"many": 7, "none": 3, "one": 4}[case]


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        ([[1.0, 2.0]] * 9, [[1.0, 2.0, 3.0]] * 9, "same columns, found 2 and 3"),
        ([[1.0, 2.0]] * 9, [[1.0, 2.0]], r"for one truth each, pass draws of shape \(n, m, d\)"),
        ([1.0, 2.0, 3.0], None, "x must have at least 2 columns"),
        ([[1.0, 2.0]] * 9, [[1.0, float("nan")]] * 9, r"y has a missing value \(NaN\) at row 0"),
        ([[1.0, 2.0]] * 9, [[1.0, 2.0]] * 3, "k must be less than the number of rows"),
    ],
)
def test_rejections(x, y, message):
    with pytest.raises(ValueError, match=message):
        compare_samples(x, y)


def test_a_probability():
    with pytest.raises(ValueError, match="prob"):
        compare_samples([[1.0, 2.0]] * 9, prob=1.5)
