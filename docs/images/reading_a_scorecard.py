"""Draw the pictures of docs/start/reading-a-scorecard.md: needs pip install ".[plot]"."""

import warnings
from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt

import calibrant
from calibrant import plotting


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def draw(name, y_true, y_proba, n_bins):
    fig, axes = plt.subplots(1, 3, figsize=(12.9, 4.9), layout="constrained")
    calibrant.reliability_bins(y_true, y_proba, n_bins=n_bins, strategy="quantile").plot(axes[0])
    calibrant.cumulative_differences(y_true, y_proba, max_points=800).plot(axes[1])
    calibrant.assess(y_true, y_proba, n_bins=n_bins).plot(axes[2])
    picture = Path(__file__).with_name(f"reading_{name}.png")
    fig.savefig(picture, dpi=90, bbox_inches="tight", pad_inches=0.12)
    plt.close(fig)


# The rows of the page, in the same order.
rng = np.random.default_rng(7)
evidence = rng.normal(0, 2, 20_000)
y_true = rng.random(evidence.size) < sigmoid(evidence)
tiny = slice(100, 150)

with plotting.style("light"), warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of few rows: that is what the last picture is about
    draw("calibrated", y_true, sigmoid(evidence), 15)
    draw("over_confident", y_true, sigmoid(2 * evidence), 15)
    draw("shifted", y_true, sigmoid(evidence + 0.5), 15)
    draw("tiny", y_true[tiny], sigmoid(evidence)[tiny], 8)
