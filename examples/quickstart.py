"""Three forecasters of the same events, and one result however the work is split."""

import hashlib
import sys

import numpy as np

import calibrant
from calibrant.streaming import RiskProfile

WIDTH = 44  # of a bar from 0 to 1
UNICODE = "utf" in (sys.stdout.encoding or "").lower()
LEFT, LINE, MIDDLE, RIGHT, DOT = "├─●┤·" if UNICODE else "[-o]."


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def bar(*means):
    """Draw robustness, accuracy and decisiveness on a line from 0 to 1."""
    at = [round(mean * (WIDTH - 1)) for mean in means]
    cells = [LINE if at[0] < i < at[2] else DOT for i in range(WIDTH)]
    for i, mark in zip(at, (LEFT, MIDDLE, RIGHT), strict=True):
        cells[i] = mark
    return "".join(cells)


def digest(accumulator):
    return hashlib.sha256(accumulator.to_bytes()).hexdigest()[:12]


def of(y_true, y_proba):
    accumulator = RiskProfile()
    accumulator.update(y_true, y_proba)
    return accumulator


# %% Three forecasters
# A hundred thousand yes/no events. Everybody sees the same evidence; the over-confident
# forecaster makes too much of it, the under-confident one too little.
rng = np.random.default_rng(2017)
n = 100_000
evidence = rng.normal(0, 2, n)
y_true = rng.random(n) < sigmoid(evidence)
forecasts = {
    "calibrated": sigmoid(evidence),
    "over-confident": sigmoid(2 * evidence),
    "under-confident": sigmoid(0.5 * evidence),
}

print(f"calibrant {calibrant.__version__}: can these probabilities be trusted?\n")
print(f"  {n:,} events, the probability given to what happened, averaged in three ways\n")
print(f"  {'':<16}robustness  accuracy  decisiveness   0{'':{WIDTH - 2}}1")
for name, y_proba in forecasts.items():
    profile = calibrant.risk_profile(y_true, y_proba)
    r, a, d = profile.robustness, profile.accuracy, profile.decisiveness
    print(f"  {name:<16}{r:10.3f}{a:10.3f}{d:14.3f}   {bar(r, a, d)}")
print(f"""
  {MIDDLE} accuracy is the geometric mean: in the long run nobody beats the calibrated forecaster.
  {RIGHT} decisiveness rises with bold forecasts, right or wrong.
  {LEFT} robustness falls when bold forecasts were wrong.
  A bar that stretches both ways is over-confident, one that shrinks is under-confident.
""")

# %% One result
# The same rows, split and put together again in every way we can think of.
y_proba = forecasts["calibrated"]
whole = of(y_true, y_proba)
ways = {"one call": whole}

cuts = np.sort(rng.integers(0, n, 36))
pieces = zip(np.split(y_true, cuts), np.split(y_proba, cuts), strict=True)
batches = [of(*piece) for piece in pieces]
merged = RiskProfile()
for i in rng.permutation(len(batches)):
    merged.merge(batches[i])
ways[f"{len(batches)} batches, merged in random order"] = merged

shuffled = rng.permutation(n)
ways["rows shuffled"] = of(y_true[shuffled], y_proba[shuffled])
for threads in (1, 2, 7):
    calibrant.set_num_threads(threads)
    ways[f"{threads} thread{'s' * (threads > 1)}"] = of(y_true, y_proba)
calibrant.set_num_threads(0)
ways["saved as bytes, and read back"] = RiskProfile.from_bytes(whole.to_bytes())

print(f"  {'The same rows as':<38}SHA-256 of the state")
for name, accumulator in ways.items():
    print(f"  {name:<38}{digest(accumulator)}  {'same' if accumulator == whole else 'DIFFERENT'}")

sys.exit(any(accumulator != whole for accumulator in ways.values()))
