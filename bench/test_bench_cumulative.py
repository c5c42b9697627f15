"""Tests of calibration against MAPIE's, and the laws of the KS and Kuiper statistics."""

from __future__ import annotations

import math

import numpy as np
import pytest

import calibrant


@pytest.fixture
def dtype():
    return "float64"


def mapie_calibration():
    return pytest.importorskip("mapie.metrics.calibration")


def bytes_per_row(predictions):
    return predictions.y_true.itemsize + predictions.y_proba.itemsize


@pytest.mark.usefixtures("threads")
def test_calibrant(measure, predictions):
    y, p = predictions.y_true, predictions.y_proba
    found = measure(
        lambda: calibrant.spiegelhalter_test(y, p, alternative="greater"),
        group="spiegelhalter_test",
        bytes_per_row=bytes_per_row(predictions),
    )
    z = np.sum((y - p) * (1 - 2 * p)) / math.sqrt(np.sum((1 - 2 * p) ** 2 * p * (1 - p)))
    assert found.statistic == pytest.approx(z, rel=1e-9)


def test_mapie(measure, predictions):
    peer = mapie_calibration()
    y, p = predictions.y_true, predictions.y_proba
    pvalue = measure(
        lambda: peer.spiegelhalter_p_value(y, p),
        group="spiegelhalter_test",
        bytes_per_row=bytes_per_row(predictions),
    )
    ours = calibrant.spiegelhalter_test(y, p, alternative="greater").pvalue
    assert pvalue == pytest.approx(ours, rel=1e-9)


@pytest.mark.parametrize("law", ["sup", "range"])
@pytest.mark.parametrize("contender", ["calibrant", "MAPIE"])
def test_one_pvalue(benchmark, law, contender):
    benchmark.group = f"p-value of max |B| or of the range: {law}"
    if contender == "calibrant":
        call = {"sup": calibrant.brownian_sup_cdf, "range": calibrant.brownian_range_cdf}[law]
    else:
        peer = mapie_calibration()
        call = {"sup": peer.kolmogorov_smirnov_cdf, "range": peer.kuiper_cdf}[law]
    expected = {"sup": 0.908999476153633751, "range": 0.818505660605812687}[law]
    assert benchmark(lambda: call(2.0)) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("name", ["brownian_sup_sf", "brownian_range_sf"])
def test_a_million_pvalues(benchmark, name):
    benchmark.group = "a million p-values"
    x = np.random.default_rng(1).uniform(0.05, 40, 10**6)
    function = getattr(calibrant, name)
    values = benchmark.pedantic(lambda: function(x), rounds=3, warmup_rounds=1)
    assert values[0] == function(float(x[0]))


# KS and Kuiper together, against MAPIE's two calls and against one sort of the scores.

TOGETHER = "cumulative_tests"


def pvalues(tests):
    return tests.ks.pvalue, tests.kuiper.pvalue


@pytest.mark.usefixtures("threads")
def test_calibrant_ks_and_kuiper(measure, predictions):
    y, p = predictions.y_true, predictions.y_proba
    found = measure(
        lambda: calibrant.cumulative_tests(y, p),
        group=TOGETHER,
        bytes_per_row=bytes_per_row(predictions),
    )
    assert pvalues(found) == (calibrant.ks_test(y, p).pvalue, calibrant.kuiper_test(y, p).pvalue)


def test_mapie_ks_and_kuiper(measure, predictions):
    peer = mapie_calibration()
    y, p = predictions.y_true, predictions.y_proba
    found = measure(
        lambda: (peer.kolmogorov_smirnov_p_value(y, p), peer.kuiper_p_value(y, p)),
        group=TOGETHER,
        bytes_per_row=bytes_per_row(predictions),
    )
    assert found == pytest.approx(pvalues(calibrant.cumulative_tests(y, p)), abs=1e-3)


def test_numpy_sort(measure, predictions):
    p = predictions.y_proba
    measure(lambda: np.sort(p), group=TOGETHER, bytes_per_row=p.itemsize)


@pytest.mark.usefixtures("threads")
def test_calibrant_groups(measure, predictions):
    y, p = predictions.y_true, predictions.y_proba
    keys = np.random.default_rng(8).integers(0, 100, p.size)
    found = measure(
        lambda: calibrant.cumulative_tests(y, p, groups=keys),
        group="cumulative_tests of 100 groups",
        bytes_per_row=bytes_per_row(predictions) + keys.itemsize,
    )
    assert found.ks.groups[7] == calibrant.ks_test(y, p, subset=keys == 7)


@pytest.mark.parametrize("scores", ["three decimals", "one cell", "near 0", "clusters"])
@pytest.mark.parametrize("way", ["walk_tests", "sorted_walk_tests"])
def test_adversarial_scores(benchmark, scores, way):
    """Never more than 1.5 times as long as sorting all."""
    benchmark.group = f"ks and kuiper of 1e+06 rows: {scores}"
    rng = np.random.default_rng(1)
    p = rng.random(10**6)
    p = {
        "three decimals": p.round(3),
        "one cell": 0.25 + p * 2.0**-20,
        "near 0": 10 ** (-40 * p),
        "clusters": np.where(p < 0.9, 2.0**-30 * (1 + 2.0**-20 * p), p),
    }[scores]
    y = (rng.random(10**6) < p).astype(int)
    core = getattr(calibrant._core, way)
    rows = (y, p, None, False, calibrant._core.EITHER)
    found = benchmark.pedantic(lambda: core(*rows), rounds=5, warmup_rounds=1)
    assert found == calibrant._core.sorted_walk_tests(*rows)
