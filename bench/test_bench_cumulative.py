"""Spiegelhalter's test against MAPIE's, and the laws of the KS and Kuiper statistics."""

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
