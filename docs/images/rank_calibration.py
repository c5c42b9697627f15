"""Draw rank_calibration.png of docs/guide/rank-calibration.md: needs pip install ".[plot]"."""

from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt

import calibrant
from calibrant import plotting

# Posteriors N(x + shift, scale^2), where N(x, 1) is right.
rng = np.random.default_rng(2022)
wrong = {
    "right": (0.0, 1.0),
    "too narrow": (0.0, 0.8),
    "too wide": (0.0, 1.3),
    "too high": (0.2, 1.0),
}
x = rng.normal(size=1000)
truth = x + rng.normal(size=1000)
ranks = [
    calibrant.sbc_ranks(x[:, None] + shift + scale * rng.normal(size=(1000, 99)), truth)
    for shift, scale in wrong.values()
]
found = calibrant.rank_calibration(np.stack(ranks, axis=1), 99, names=list(wrong))

with plotting.style("light"):
    fig, axes = plt.subplots(2, 3, figsize=(14, 8), layout="constrained")
    found.plot(axes[0, 0])
    found.plot(axes[0, 1], picture="coverage")
    for ax, dimension in zip([axes[0, 2], *axes[1]], range(4), strict=True):
        found.plot(ax, picture="histogram", dimension=dimension)
    fig.savefig(Path(__file__).with_suffix(".png"), dpi=80)
