"""The papers' experiments: what the pages say of them holds, here with fewer samples."""

from __future__ import annotations

import importlib.util
import warnings
from pathlib import Path

import numpy as np
import pytest


def example(name):
    path = Path(__file__).parents[2] / "examples" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# Model D A R, source D A R, angle, model/source: by quadrature with other code.
POPULATION = {
    "perfect": (0.6873, 0.6145, 0.5418, 0.6873, 0.6144, 0.5418, 45.00, 1.0000),
    "mean 1": (0.6080, 0.5813, 0.5595, 0.6604, 0.5950, 0.5341, 20.98, 0.9770),
    "mean 3": (0.7024, 0.5839, 0.4546, 0.6632, 0.5975, 0.5354, 62.71, 0.9772),
    "variance 0.5": (0.7035, 0.6082, 0.5061, 0.6837, 0.6115, 0.5405, 54.05, 0.9946),
    "variance 2": (0.6663, 0.6094, 0.5547, 0.6843, 0.6119, 0.5406, 37.84, 0.9958),
    "κ = 0, one class": (0.7005, 0.5432, 0.2924, 0.6664, 0.5993, 0.5359, 72.27, 0.9064),
    "κ = 0, both": (0.7344, 0.5468, 0.2559, 0.6850, 0.6121, 0.5406, 73.22, 0.8933),
    "κ = 1, both": (0.6723, 0.6123, 0.5549, 0.6862, 0.6134, 0.5413, 39.02, 0.9982),
    "κ = 2, one class": (0.6739, 0.6015, 0.5284, 0.6749, 0.6052, 0.5381, 46.78, 0.9939),
}


@pytest.fixture(scope="module")
def nelson():
    return example("nelson_figures_3_to_7")


@pytest.mark.parametrize("name", POPULATION)
def test_nelson_figures_3_to_7_in_the_limit(nelson, name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # weights of a quadrature are no counts
        found = nelson.population(nelson.MODELS[name])
    values = [
        getattr(side, mean)
        for side in (found.model, found.source)
        for mean in ("decisiveness", "accuracy", "robustness")
    ]
    *means, angle, ratio = POPULATION[name]
    np.testing.assert_allclose(values, means, atol=2e-4)
    assert found.angle == pytest.approx(angle, abs=0.05)
    assert found.divergence.accuracy == pytest.approx(ratio, abs=2e-4)


# Mean and spread of 20 samples, of which 4 are drawn here: within 3 standard errors, and half a
# spread for the other generator.
@pytest.mark.parametrize(
    ("name", "angle", "spread", "ratio", "ratio_spread"),
    [
        ("perfect", 44.8, 0.8, 0.9990, 0.0003),
        ("mean 3", 62.4, 0.7, 0.9767, 0.0019),
        ("variance 2", 37.6, 0.9, 0.9944, 0.0009),
        ("κ = 0, both", 73.1, 0.4, 0.8930, 0.0055),
    ],
)
def test_nelson_figures_3_to_7_from_samples(nelson, name, angle, spread, ratio, ratio_spread):
    found = [nelson.sampled(nelson.MODELS[name], seed) for seed in range(4)]
    assert np.mean([one.angle for one in found]) == pytest.approx(angle, abs=2 * spread)
    ratios = [one.divergence.accuracy for one in found]
    assert np.mean(ratios) == pytest.approx(ratio, abs=2 * ratio_spread)


def test_nelson_figure_1_peaks_at_six_dimensions():
    figure = example("nelson_figure1")
    figure.TESTS_PER_CLASS = 300
    found = figure.summary(120)
    gauss = {d: found[0.0, d][:, 1].mean() for d in figure.DIMENSIONS}
    assert gauss[6] == pytest.approx(0.631, abs=0.025)  # standard error 0.083/sqrt(120)
    assert gauss[6] > gauss[2]
    assert gauss[6] > gauss[10]
    heavy = {d: found[0.162, d][:, 1].mean() for d in figure.DIMENSIONS}
    assert [heavy[d] for d in (6, 8, 10)] == pytest.approx([0.677, 0.696, 0.700], abs=0.025)
    assert np.mean(found[-0.095, 2][:, 1] == 0) > 0.7
    assert np.all(found[-0.095, 6][:, 1] == 0)
