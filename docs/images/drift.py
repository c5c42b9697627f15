"""Draw drift.png of docs/production/drift.md: needs pip install ".[plot]"."""

from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt

from calibrant.drift import drift_by_window
from calibrant.plotting import style
from calibrant.streaming import Scorecard, Windowed

rng = np.random.default_rng(0)
p = rng.random(40_000)
reference = Scorecard()
reference.update(rng.random(p.size) < p, p)

day = np.sort(30 * rng.random(30_000))
p = rng.random(day.size)
frequency = np.clip(p + 0.012 * np.maximum(day - 18, 0), 0, 1)
stamps = np.datetime64("2026-03-01") + (86_400 * day).astype("timedelta64[s]")
daily = Windowed(Scorecard, every=np.timedelta64(1, "D"))
daily.update(rng.random(day.size) < frequency, p, timestamps=stamps)
found = drift_by_window(reference, daily)

with style():
    figure, axes = plt.subplots(1, 2, figsize=(11.0, 3.4), layout="constrained")
    for ax, metric in zip(axes, ("ece", "base_rate"), strict=True):
        found.plot(ax, metric=metric)
    figure.savefig(Path(__file__).with_suffix(".png"))
