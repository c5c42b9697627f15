"""Draw mean_spectrum.png of docs/guide/means.md: needs pip install ".[plot]"."""

from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt

from calibrant import mean_spectrum


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


# The forecasters of examples/quickstart.py.
rng = np.random.default_rng(2017)
evidence = rng.normal(0, 2, 100_000)
y_true = rng.random(evidence.size) < sigmoid(evidence)

fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for m, name in ((-2 / 3, "robustness"), (0, "accuracy"), (1, "decisiveness")):
    ax.axvline(m, color="0.85", zorder=0)
    ax.annotate(f" {name}", (m, 0.98), rotation=90, va="top", ha="right", color="0.5", size="small")
for name, boldness, colour in (
    ("over-confident", 2, "#d95f02"),
    ("calibrated", 1, "#1b9e77"),
    ("under-confident", 0.5, "#7570b3"),
):
    y_proba = sigmoid(boldness * evidence)
    spectrum = mean_spectrum(np.where(y_true, y_proba, 1 - y_proba))
    ax.plot(spectrum.powers, spectrum.means, color=colour, label=name)
    named = [spectrum.powers.index(m) for m in (-2 / 3, 0, 1)]
    ax.plot(spectrum.powers, spectrum.means, "o", color=colour, markevery=named)
ax.set(xlabel="power m", ylabel="generalized mean of q", xlim=(-3, 3), ylim=(0, 1))
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False, loc="lower right")
fig.savefig(Path(__file__).with_suffix(".png"), dpi=120)
