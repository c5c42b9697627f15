"""Over- and under-confident models, model against source: Nelson (2017), figures 3 to 7.

Two classes with coupled Gaussians of coupling 1/2, means 0 and 2, scale 1, equally frequent. The
model gets one thing wrong at a time: the mean, the variance, the tail, or the prior (the
"amplitude", which the paper names and does not show). Probabilities are clipped to [0.01, 0.99].

Prints, for each model, the values of infinitely many events (by quadrature) and those of 20
samples of 5000 events a class, and draws nelson_figures_3_to_7.png. Takes about 20 seconds;
--seeds makes fewer samples. Needs pip install ".[plot]".
"""

import argparse
import warnings

import numpy as np

from calibrant import CoupledGaussian, assess
from calibrant.plotting import AssessmentDisplay, style

KAPPA = 0.5
Q_LIM = 0.01
EVENTS_PER_CLASS = 5000
BINS = 50
SOURCE = (CoupledGaussian(0.0, 1.0, KAPPA), CoupledGaussian(2.0, 1.0, KAPPA))

# The two classes and the prior of class 1, as the model has them; and what the paper says.
MODELS = {
    "perfect": (*SOURCE, 0.5, "45°"),
    "mean 1": (SOURCE[0], CoupledGaussian(1.0, 1.0, KAPPA), 0.5, "under"),
    "mean 3": (SOURCE[0], CoupledGaussian(3.0, 1.0, KAPPA), 0.5, "over"),
    "variance 0.5": (SOURCE[0], CoupledGaussian(2.0, 0.5, KAPPA), 0.5, "over"),
    "variance 2": (SOURCE[0], CoupledGaussian(2.0, 2.0, KAPPA), 0.5, "under"),
    "κ = 0, one class": (SOURCE[0], CoupledGaussian(2.0, 1.0, 0.0), 0.5, "over"),
    "κ = 0, both": (CoupledGaussian(0.0), CoupledGaussian(2.0), 0.5, "over"),
    "κ = 1, both": (CoupledGaussian(0.0, 1.0, 1.0), CoupledGaussian(2.0, 1.0, 1.0), 0.5, "under"),
    "κ = 2, one class": (SOURCE[0], CoupledGaussian(2.0, 1.0, 2.0), 0.5, "under"),
    "prior 0.7": (*SOURCE, 0.7, "not shown"),
    "prior 0.9": (*SOURCE, 0.9, "not shown"),
}
DRAWN = ("perfect", "mean 1", "mean 3", "variance 0.5", "variance 2", "κ = 0, both", "κ = 1, both",
         "prior 0.7")  # fmt: skip


def model_probability(model, x):
    """Of class 1, as the model has it."""
    first, second, prior, _ = model
    return second.posterior(x, first, prior=prior)


def population(model):
    """All events of the line, weighted by how often they happen, in bins of width 0.01."""
    u = np.linspace(-12.0, 12.0, 40001)
    x = 1.0 + np.sinh(u)
    weight = [distribution.pdf(x) * np.cosh(u) for distribution in SOURCE]
    p = model_probability(model, x)
    return assess(
        np.repeat([0, 1], len(x)), np.tile(p, 2), sample_weight=np.concatenate(weight),
        n_bins=np.linspace(0.0, 1.0, 101), q_lim=Q_LIM,
    )  # fmt: skip


def sampled(model, seed):
    rng = np.random.default_rng(seed)
    x = np.concatenate([one.rvs(EVENTS_PER_CLASS, seed=rng) for one in SOURCE])
    y = np.repeat([0, 1], EVENTS_PER_CLASS)
    return assess(y, model_probability(model, x), n_bins=BINS, q_lim=Q_LIM)


def verdict(angle):
    return "45°" if abs(angle - 45) < 0.1 else "over" if angle > 45 else "under"


def print_table(exact, samples, seeds):
    print(f"{'':21}the model's         the source's                     model/", end="")
    print(f"  the paper{'':9}{seeds} samples: angle (sd),")
    print(f"{'model':22}D     A     R         D     A     R   angle      source", end="")
    print("   says (here)       model/source (sd)")
    for name, found in exact.items():
        means = "".join(
            f"{getattr(side, mean):{'10.4f' if mean == 'decisiveness' else '6.3f'}}"
            for side in (found.model, found.source)
            for mean in ("decisiveness", "accuracy", "robustness")
        )
        angles = np.array([one.angle for one in samples[name]])
        ratios = np.array([one.divergence.accuracy for one in samples[name]])
        said = f"{MODELS[name][3]} ({verdict(found.angle)})"
        print(
            f"{name:17}{means} {found.angle:7.2f}  {found.divergence.accuracy:10.4f}   {said:18}"
            f"{angles.mean():6.1f} ({angles.std():.1f}), {ratios.mean():.4f} ({ratios.std():.4f})"
        )
    tails = exact["κ = 0, both"]
    print("\nFigure 7, a Gaussian model of a source with heavy tails: model, source, model/source")
    print("  the paper                    0.56  0.62  0.90")
    print(
        f"  here, on the whole line      {tails.model.accuracy:.2f}  {tails.source.accuracy:.2f}  "
        f"{tails.divergence.accuracy:.2f}"
    )
    print("  a source of 0.62 is out of reach: with the true posterior it is 0.6145")
    heavier = exact["κ = 2, one class"].angle
    print(f"\nOne tail made heavier turns the verdict round: angle {heavier:.1f}, over-confident.")


def draw(samples, name):
    from matplotlib import pyplot as plt

    with style():
        fig, axes = plt.subplots(2, 4, figsize=(17, 9.2), layout="constrained")
        for ax, model in zip(axes.flat, DRAWN, strict=True):
            AssessmentDisplay(samples[model][0]).plot(ax=ax, name=model)
        fig.savefig(name, dpi=130)


def main():
    parser = argparse.ArgumentParser(description="Nelson (2017), figures 3 to 7")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--output", default="nelson_figures_3_to_7.png")
    options = parser.parse_args()
    with warnings.catch_warnings():
        # The weights of the quadrature are no counts of events, about which the warning is.
        warnings.simplefilter("ignore", UserWarning)
        exact = {name: population(model) for name, model in MODELS.items()}
    samples = {
        name: [sampled(model, seed) for seed in range(options.seeds)]
        for name, model in MODELS.items()
    }
    print_table(exact, samples, options.seeds)
    draw(samples, options.output)


if __name__ == "__main__":
    main()
