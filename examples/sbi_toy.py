"""Calibrated is not the same as sharp: the toy example of the notes on validating posteriors.

On day t the mean of the weather is mu_t ~ N(0, 1), and Y_t ~ N(mu_t, 1) happens. Four forecasters
give 99 draws a day: one knows mu_t, one gives the climate N(0, 2) every day, one knows mu_t and is
too sure of itself, one is biased. Ranks tell right from wrong; both of the first two are right.
Which is better only a proper score tells: CRPS, 1/sqrt(pi) against sqrt(2/pi) on average.

Prints a table and draws sbi_toy.png. Takes a few seconds. Needs pip install ".[plot]".
"""

import argparse
import math

import numpy as np

from calibrant import crps_ensemble, energy_ranks, rank_calibration, sbc_ranks
from calibrant.plotting import RankEcdfDisplay, RankHistogramDisplay, style

DAYS = 4000
DRAWS = 99
SEED = 0
# By name: the mean and the standard deviation of the forecast on days with these means, and the
# CRPS to be expected, where it has a simple form.
FORECASTERS = {
    "knows the day": (lambda mu: mu, 1.0, 1 / math.sqrt(math.pi)),
    "climate": (lambda mu: 0.0 * mu, math.sqrt(2), math.sqrt(2 / math.pi)),
    "too sure": (lambda mu: mu, 0.6, None),
    "biased": (lambda mu: mu + 0.3, 1.0, None),
}


def forecasts(rng, name, mu):
    centre, spread, _ = FORECASTERS[name]
    return centre(mu)[:, None] + spread * rng.normal(size=(len(mu), DRAWS))


def energy(values, name, mu):
    """-log density of the forecast, but for what is the same all day."""
    centre, spread, _ = FORECASTERS[name]
    return ((values.T - centre(mu)) ** 2).T / (2 * spread**2)


def score(seed=SEED, days=DAYS):
    rng = np.random.default_rng(seed)
    mu = rng.normal(size=days)
    truth = mu + rng.normal(size=days)
    found = {}
    for name in FORECASTERS:
        draws = forecasts(rng, name, mu)
        by_energy = energy_ranks(energy(draws, name, mu), energy(truth, name, mu))
        found[name] = {
            "ranks": rank_calibration(sbc_ranks(draws, truth), DRAWS),
            "energy": rank_calibration(by_energy, DRAWS, kind="energy"),
            "crps": crps_ensemble(truth, draws, estimator="fair"),
        }
    return found


def print_table(found):
    print(f"{'forecaster':15}{'CRPS':>8} (se)     expected     p-value  verdict of the ranks")
    for name, result in found.items():
        crps = result["crps"]
        error = crps.std() / math.sqrt(len(crps))
        expected = FORECASTERS[name][2]
        said = "" if expected is None else f"{expected:.4f}"
        pvalue, verdict = result["ranks"].gamma_test.pvalue, result["ranks"].verdict
        print(f"{name:15}{crps.mean():8.4f} ({error:.4f}) {said:>8}   {pvalue:9.2g}  {verdict}")
    print("\nEnergy ranks, of the joint density (0: the most probable):")
    for name, result in found.items():
        print(f"{name:15}{result['energy'].verdict}")


def draw(found, name):
    from matplotlib import pyplot as plt

    with style():
        fig, axes = plt.subplots(2, 4, figsize=(16, 7), layout="constrained")
        for column, (forecaster, result) in zip(axes.T, found.items(), strict=True):
            RankHistogramDisplay(result["ranks"]).plot(ax=column[0])
            RankEcdfDisplay(result["ranks"]).plot(ax=column[1])
            title = f"{forecaster}, CRPS {result['crps'].mean():.3f}"
            column[0].set_title("", loc="right")
            column[0].set_title(title, loc="left", fontweight="bold")
        fig.savefig(name, dpi=130)


def main():
    parser = argparse.ArgumentParser(description="Calibrated is not the same as sharp")
    parser.add_argument("--output", default="sbi_toy.png")
    options = parser.parse_args()
    found = score()
    print_table(found)
    draw(found, options.output)


if __name__ == "__main__":
    main()
