"""Draw mmd.png of docs/guide/mmd.md: needs pip install ".[plot]"."""

from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt

import calibrant
from calibrant.plotting import style

rng = np.random.default_rng(0)
real = rng.normal(size=(400, 3))
made = rng.normal(0.0, 1.3, size=(500, 3))
good = rng.normal(size=(500, 3))
with style():
    figure, axes = plt.subplots(1, 2, figsize=(9.6, 3.4), layout="constrained")
    calibrant.mmd_test(real, good).plot(axes[0], name="good generator")
    calibrant.mmd_test(real, made).plot(axes[1], name="too wide")
    figure.savefig(Path(__file__).with_suffix(".png"))
