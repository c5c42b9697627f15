"""A model in service: hourly windows, a checkpoint, drift against a reference, and an alarm.

Two days of predictions in batches; on the second day the world changes. Draws watch_a_service.png.
Needs pip install ".[plot]".
"""

import textwrap

import numpy as np
from matplotlib import pyplot as plt

from calibrant import plotting, streaming
from calibrant.drift import drift_by_window
from calibrant.sequential import SequentialCalibrationTest

rng = np.random.default_rng(3)

# %% The reference
# What the model did before it went into service.
y_proba = rng.beta(2, 4, 50_000)
reference = streaming.Scorecard()
reference.update(rng.random(50_000) < y_proba, y_proba)
card = reference.result()
print(f"{card.n:,} rows, ECE {card.ece.value:.4f}, log score {card.log.value:.4f}")

# %% The service
# Batches of 250 rows, one a quarter of an hour. Each goes to the windows and to the sequential
# test; a checkpoint every two hours lets a job that was stopped go on.
start = np.datetime64("2026-03-02T00:00")
windows = streaming.Windowed(streaming.Scorecard, every=np.timedelta64(6, "h"))
alarm = SequentialCalibrationTest(alpha=0.001)
raised = None
for quarter in range(2 * 96):
    now = start + np.timedelta64(15 * quarter, "m")
    y_proba = rng.beta(2, 4, 250)
    truth = y_proba if quarter < 120 else np.clip(1.25 * y_proba, 0, 1)  # from 6 a.m. on day 2
    y_true = rng.random(250) < truth
    windows.update(y_true, y_proba, timestamps=np.full(250, now))
    alarm.update(y_true, y_proba)
    if quarter % 8 == 7:
        windows.save("service.state")
    if alarm.result().alarm and raised is None:
        raised = now
print(f"alarm at {raised}, after {alarm.result().n_at_alarm:,} rows: {alarm.result().favourite}")

# %% After a restart
# The windows are read back, and nothing is lost.
windows = streaming.load("service.state")
total = windows.total()
print(f"{total.n:,} rows in {len(windows.windows())} windows")

# %% What has changed?
# Each window against the reference, at one error rate for all of them.
found = drift_by_window(reference, windows)
for window, change in zip(found.windows, found.drifts, strict=True):
    said = textwrap.shorten(change.verdict, 72, placeholder=" …")
    print(f"{str(window.start)[5:16]}  {said}")

# %% To look at
with plotting.style():
    fig, axes = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
    found.plot(axes[0], metric="base_rate")
    found.plot(axes[1], metric="ece")
    fig.savefig("watch_a_service.png", dpi=100)
