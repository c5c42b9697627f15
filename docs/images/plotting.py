"""Draw plotting.png of docs/guide/plotting.md: needs pip install ".[plot]"."""

from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt

import calibrant
from calibrant import plotting


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


# The over-confident forecaster of examples/quickstart.py, in five places.
rng = np.random.default_rng(2017)
evidence = rng.normal(0, 2, 20_000)
y_true = rng.random(evidence.size) < sigmoid(evidence)
y_proba = sigmoid(1.7 * evidence)
names, shares = ["north", "south", "east", "west", "isles"], [0.4, 0.3, 0.2, 0.08, 0.02]
places = rng.choice(names, evidence.size, p=shares)

with plotting.style("light"):
    fig, axes = plt.subplots(2, 3, figsize=(13.5, 8.6), layout="constrained")
    calibrant.assess(y_true, y_proba).plot(axes[0, 0])
    calibrant.reliability_bins(y_true, y_proba, strategy="quantile").plot(axes[0, 1])
    calibrant.roc_curve(y_true, y_proba, max_points=400).plot(axes[0, 2])
    calibrant.cumulative_differences(y_true, y_proba, max_points=800).plot(axes[1, 0])
    calibrant.mean_spectrum(np.where(y_true, y_proba, 1 - y_proba)).plot(axes[1, 1])
    calibrant.scorecard(y_true, y_proba, groups=places).plot(axes[1, 2])
    fig.savefig(Path(__file__).with_suffix(".png"), dpi=90)
