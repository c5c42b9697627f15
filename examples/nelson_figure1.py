"""How many dimensions can be learned from 25 samples? Nelson (2017), figure 1.

Two Gaussians, unit variance, means one apart in each of ten dimensions. A model is fitted to 25
samples in the first d dimensions, with one covariance for both classes, and gives new points the
probability of their class by coupled Gaussians: the Gaussian itself (coupling 0), heavy tails
(0.162), compact support (-0.095). With more dimensions the model has more to go by and less to
learn it from: the accuracy of the Gaussian peaks at six, heavy tails stay honest beyond.

Prints a table beside the paper's numbers and draws nelson_figure1.png. Takes about 20 seconds for
200 samples; --seeds makes fewer. Needs pip install ".[plot]".
"""

import argparse

import numpy as np

from calibrant import CoupledGaussian, risk_profile
from calibrant.plotting import style

DIMENSIONS = (2, 4, 6, 8, 10)
TRAINING = (13, 12)  # 25 in all
TESTS_PER_CLASS = 1000
TESTS_COMPACT = 100  # a single point outside of the support makes the accuracy 0
COUPLINGS = {0.0: "Gaussian, κ = 0", 0.162: "heavy tails, κ = 0.162", -0.095: "compact, κ = −0.095"}
PAPER = {0.0: {6: 0.63}, 0.162: {6: 0.69, 8: 0.69, 10: 0.69}}


def draw_points(rng, per_class):
    """Points of each class; class 1 has mean 1 in every dimension."""
    return [rng.normal(size=(n, 10)) + c for c, n in enumerate(per_class)]


def models(training, d, kappa):
    """The two classes as they are learned: sample means, one pooled covariance."""
    parts = [points[:, :d] for points in training]
    means = [points.mean(axis=0) for points in parts]
    centred = np.concatenate([points - mean for points, mean in zip(parts, means, strict=True)])
    scale = centred.T @ centred / (len(centred) - 2)
    return [CoupledGaussian(mean, scale, kappa) for mean in means]


def true_class_probabilities(tests, d, kappa, training):
    first, second = models(training, d, kappa)
    # Where both densities are 0 the true class gets nothing: a surprise without a limit.
    of_first = first.posterior(tests[0][:, :d], second, outside=0.0)
    of_second = second.posterior(tests[1][:, :d], first, outside=0.0)
    return np.concatenate([of_first, of_second])


def one_sample(seed):
    """Means of the probabilities of the true classes, by coupling and dimension."""
    rng = np.random.default_rng(seed)
    training = draw_points(rng, TRAINING)
    tests = draw_points(rng, (TESTS_PER_CLASS, TESTS_PER_CLASS))
    found = {}
    for kappa in COUPLINGS:
        shown = [points[: TESTS_COMPACT if kappa < 0 else None] for points in tests]
        for d in DIMENSIONS:
            q = true_class_probabilities(shown, d, kappa, training)
            profile = risk_profile(np.ones(len(q), int), q)
            right = float(np.mean(q > 0.5))
            means = (profile.decisiveness, profile.accuracy, profile.robustness)
            found[kappa, d] = (*means, right)
    return found


def summary(seeds):
    runs = [one_sample(seed) for seed in range(seeds)]
    return {key: np.array([run[key] for run in runs]) for key in runs[0]}


def print_table(found, seeds):
    header = "".join(f"{f'd = {d}':>16}" for d in DIMENSIONS)
    print(f"Geometric mean of the true class's probability, mean (sd) of {seeds} samples of 25\n")
    print(f"{'':24}{header}")
    for kappa in (0.0, 0.162):
        cells = (found[kappa, d][:, 1] for d in DIMENSIONS)
        numbers = "".join(f"{f'{a.mean():.3f} ({a.std():.3f})':>16}" for a in cells)
        print(f"{COUPLINGS[kappa]:24}{numbers}")
        printed = "".join(f"{PAPER[kappa].get(d, ''):>16}" for d in DIMENSIONS)
        print(f"{'   the paper':24}{printed}")
    zero = "".join(f"{np.mean(found[-0.095, d][:, 1] == 0):16.0%}" for d in DIMENSIONS)
    print(f"{COUPLINGS[-0.095]:24}{zero}   of the samples have accuracy 0")
    right = "".join(f"{found[0.0, d][:, 3].mean():16.3f}" for d in DIMENSIONS)
    print(f"{'classified correctly':24}{right}")
    best = max(DIMENSIONS, key=lambda d: found[0.0, d][:, 1].mean())
    print(f"\nThe Gaussian is most accurate with {best} dimensions (the paper: 6).")


def draw(found, name):
    from matplotlib import pyplot as plt

    labels = ("decisiveness", "accuracy", "robustness", "classified correctly")
    with style() as palette:
        fig, axes = plt.subplots(1, 3, figsize=(11, 3.9), sharey=True, layout="constrained")
        colours = (*palette.series[:3], palette.muted)
        for ax, kappa in zip(axes, COUPLINGS, strict=True):
            for i, (label, colour) in enumerate(zip(labels, colours, strict=True)):
                runs = np.array([found[kappa, d][:, i] for d in DIMENSIONS])
                line = ax.plot(
                    DIMENSIONS, runs.mean(axis=1), "o-" if i < 3 else "--", color=colour,
                    label=label, markersize=4,
                )[0]  # fmt: skip
                if i == 1:
                    low, high = np.quantile(runs, (0.1, 0.9), axis=1)
                    ax.fill_between(
                        DIMENSIONS, low, high, color=line.get_color(), alpha=0.15, linewidth=0,
                        label="accuracy, 80% of samples",
                    )  # fmt: skip
            paper = PAPER.get(kappa, dict.fromkeys(DIMENSIONS, 0.0))
            ax.plot(
                *zip(*paper.items(), strict=True), "x", color=palette.text, markersize=7,
                label="accuracy in the paper", linestyle="none",
            )  # fmt: skip
            ax.set(title=COUPLINGS[kappa], xlabel="dimensions used", xticks=DIMENSIONS)
            ax.set_ylim(-0.02, 1.0)
        axes[0].set_ylabel("probability of the true class")
        handles, names = axes[0].get_legend_handles_labels()
        fig.legend(handles, names, fontsize="small", loc="outside lower center", ncols=6)
        fig.savefig(name, dpi=160)


def main():
    parser = argparse.ArgumentParser(description="Nelson (2017), figure 1")
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--output", default="nelson_figure1.png")
    options = parser.parse_args()
    found = summary(options.seeds)
    print_table(found, options.seeds)
    draw(found, options.output)


if __name__ == "__main__":
    main()
