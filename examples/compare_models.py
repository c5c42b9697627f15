"""Two models on the same rows: which is better, by how much, at what, and for whom?

An old model that is calibrated and knows little, and a new one that knows more and is too sure of
itself. Draws compare_models.png. Needs pip install ".[plot]".
"""

import numpy as np
from matplotlib import pyplot as plt

import calibrant
from calibrant import plotting


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


# %% The data
# Some rows are of a group for which the new model has learned nothing.
rng = np.random.default_rng(5)
n = 40_000
seen, unseen = rng.normal(0, 1.2, n), rng.normal(0, 1.2, n)
group = rng.choice(["home", "abroad"], n, p=[0.8, 0.2])
y_true = rng.random(n) < sigmoid(seen + unseen)
old = sigmoid(0.8 * seen)
new = sigmoid(np.where(group == "home", 1.6 * (seen + unseen), 1.6 * seen))

# %% Which is better?
# Differences are taken row by row, so what makes a row hard for both does not count. A positive
# difference of Brier or log score means that the first model is worse.
result = calibrant.compare(y_true, {"old": old, "new": new})
for verdict in result.verdicts():
    print(verdict)
for name, found in result.differences["old", "new"]:
    print(f"  {name:10}{found.value:9.4f}  {found.low:.4f} to {found.high:.4f}")

# %% Why?
# The new model ranks better and is over-confident: there is more to gain, without new evidence.
for name, y_proba in {"old": old, "new": new}.items():
    found = calibrant.assess(y_true, y_proba)
    auc, log = calibrant.roc_auc(y_true, y_proba), calibrant.log_score(y_true, y_proba)
    print(f"{name}: AUC {auc:.3f}, log score {log:.3f}, {found.verdict}")
milder = sigmoid(np.log(new / (1 - new)) / 1.6)
print(f"new, less sure: log score {calibrant.log_score(y_true, milder):.3f}")

# %% For whom?
# The average hides that it is worse abroad.
for name in ("home", "abroad"):
    rows = group == name
    found = calibrant.compare(y_true[rows], {"old": old[rows], "new": new[rows]})
    print(f"{name}: {found.verdicts()[0]}")

# %% To look at
# Both in the same axes, and what the groups of the new model look like.
with plotting.style():
    fig, axes = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
    models = {"old": old, "new": new}
    curves = {
        name: plotting.RocDisplay(calibrant.roc_curve(y_true, y_proba, max_points=400))
        for name, y_proba in models.items()
    }
    plotting.OverlayDisplay(curves).plot(axes[0])
    calibrant.scorecard(y_true, new, groups=group).plot(axes[1], metric="log")
    fig.savefig("compare_models.png", dpi=100)
