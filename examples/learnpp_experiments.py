"""Does the confidence of an ensemble approach the posterior probability? Three experiments.

Muhlbaier, Topalis and Polikar (2005) train Learn++ on Gaussian classes, whose posterior
probability is known, and say that the squared error of its confidence falls with every member.
This script repeats their experiments, prints a table and draws learnpp_experiments.png: the error
dips after a few members and then rises again. docs/reference/reproductions.md tells more.

Needs pip install ".[sklearn,plot]", and about a minute for the paper's 20 repeats.
"""

import argparse
import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier
from threadpoolctl import threadpool_limits

from calibrant import CoupledGaussian, LearnPlusPlus, class_posterior, ensemble_votes
from calibrant.plotting import style

MEMBERS = 30
ROWS_PER_CLASS = 100
AXIS = np.linspace(-3, 3, 61)
GRID = np.stack(np.meshgrid(AXIS, AXIS), axis=-1).reshape(-1, 2)
CORNERS = [(-1, 0), (1, 1), (1, -1)]
EXPERIMENTS = {  # centres and variances of the classes
    1: (np.array(CORNERS), np.array([0.5, 0.5, 0.5])),
    2: (np.array(CORNERS), np.array([0.75, 0.75, 0.75])),
    3: (np.array([*CORNERS, (0, 0)]), np.array([0.5, 0.5, 0.5, 0.25])),
}
VARIANTS = {
    "softmax": {},
    "temperature 4": {"temperature": 4.0},
    "vote share": {"combine": "share"},
}


def posterior(centres, variances):
    """Probabilities of the classes on the grid, by Bayes' rule with equal priors."""
    classes = [CoupledGaussian(*class_) for class_ in zip(centres, variances, strict=True)]
    return class_posterior(GRID, classes)


def sample(centres, variances, rng):
    noise = rng.normal(size=(len(centres), ROWS_PER_CLASS, 2))
    points = centres[:, None, :] + np.sqrt(variances)[:, None, None] * noise
    return points.reshape(-1, 2), np.repeat(np.arange(len(centres)), ROWS_PER_CLASS)


def mlp(units, iterations, seed=None):
    return MLPClassifier(
        hidden_layer_sizes=(units,),
        activation="logistic",
        solver="lbfgs",
        max_iter=iterations,
        random_state=seed,
    )


def error(probabilities, bayes):
    """Mean squared difference of the largest probabilities."""
    return np.mean((probabilities.max(axis=-1) - bayes.max(axis=-1)) ** 2)


@dataclass(frozen=True)
class Run:
    errors: dict  # after each member, by variant
    single: float  # error of the single MLP
    path: np.ndarray  # confidence of the softmax on the grid after each member
    model: LearnPlusPlus


def run(experiment, repeat):
    """One ensemble and one single MLP, from new data."""
    classes = EXPERIMENTS[experiment]
    seed = 1000 * experiment + repeat
    X, y = sample(*classes, np.random.default_rng(seed))
    bayes = posterior(*classes)
    model = LearnPlusPlus(mlp(5, 30), n_estimators=MEMBERS, random_state=seed).fit(X, y)
    found = ensemble_votes(model, GRID)
    paths = {name: found.confidence(path=True, **how) for name, how in VARIANTS.items()}
    errors = {
        name: [error(path[:, t], bayes) for t in range(path.shape[1])]
        for name, path in paths.items()
    }
    single = mlp(10, 200, seed).fit(X, y).predict_proba(GRID)
    return Run(errors, error(single, bayes), paths["softmax"], model)


def repeated(experiment, repeats):
    runs = [run(experiment, repeat) for repeat in range(repeats)]
    bayes = posterior(*EXPERIMENTS[experiment])
    mean_path = np.mean([run.path for run in runs], axis=0)
    return {
        "bayes": bayes,
        "errors": {name: np.array([run.errors[name] for run in runs]) for name in VARIANTS},
        "single": np.array([run.single for run in runs]),
        "averaged": [error(mean_path[:, t], bayes) for t in range(MEMBERS)],
        "always 1": error(np.ones((len(GRID), 1)), bayes),
        "last": runs[0].path[:, -1],
        "redraws": sum(int(run.model.n_redraws_.sum()) for run in runs),
        "resets": sum(run.model.n_resets_ for run in runs),
    }


# Errors of the softmax under the same protocol, computed with other code
# (docs/reference/reproductions.md).
EXPECTED = {1: (0.020, 0.025), 2: (0.030, 0.038), 3: (0.027, 0.036)}


def print_table(results, repeats):
    shown = (1, 2, 3, 5, 10, 20, 30)
    print(f"Mean squared error of the largest probability, {repeats} repeats of the softmax\n")
    print("members   " + "".join(f"{t:>8}" for t in shown) + "   (sd)    single MLP   always 1")
    for experiment, result in results.items():
        errors = result["errors"]["softmax"]
        means = errors.mean(axis=0)
        cells = "".join(f"{means[t - 1]:8.4f}" for t in shown)
        spread = f"{errors[:, -1].std():.4f}"
        single = f"{result['single'].mean():.4f}"
        print(f"exp. {experiment}    {cells}   {spread}  {single:>10}  {result['always 1']:9.4f}")
    print("\nThe paper says: falling, exponentially and rather monotonically, to 30 members.")
    names = "".join(f"{name:>15}" for name in VARIANTS)
    print(f"\n30 members        {names}   averaged first")
    for experiment, result in results.items():
        cells = "".join(f"{e[:, -1].mean():15.4f}" for e in result["errors"].values())
        print(f"exp. {experiment}            {cells}{result['averaged'][-1]:17.4f}")
    print()
    for experiment, result in results.items():
        means = result["errors"]["softmax"].mean(axis=0)
        low, high = EXPECTED[experiment]
        print(
            f"exp. {experiment}: least after {means.argmin() + 1} members; "
            f"after 30 {means[-1]:.4f}, expected {low} to {high} for 20 repeats; "
            f"{result['redraws']} redraws, {result['resets']} resets"
        )


def draw(results, name):
    from matplotlib import pyplot as plt

    with style() as palette:
        fig, axes = plt.subplots(3, 3, figsize=(11, 9.6), layout="constrained")
        for (experiment, result), row in zip(results.items(), axes, strict=True):
            draw_errors(row[0], palette, result, f"experiment {experiment}")
            for ax, title, values in (
                (row[1], "Bayes", result["bayes"]),
                (row[2], "Learn++, 30 members, one run", result["last"]),
            ):
                surface = values.max(axis=1).reshape(len(AXIS), -1)
                image = ax.pcolormesh(
                    AXIS, AXIS, surface, vmin=0.25, vmax=1, cmap="viridis", rasterized=True
                )
                ax.set(xlabel="feature 1", ylabel="feature 2", aspect="equal", title=title)
            fig.colorbar(image, ax=row[1:], label="largest probability", shrink=0.9)
        fig.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=5)
        fig.savefig(name, dpi=100)


def draw_errors(ax, palette, result, title):
    members = np.arange(1, MEMBERS + 1)
    for colour, (name, errors) in zip(palette.series, result["errors"].items(), strict=False):
        mean, spread = errors.mean(axis=0), errors.std(axis=0)
        ax.plot(members, mean, color=colour, label=name)
        ax.fill_between(members, mean - spread, mean + spread, color=colour, alpha=0.15, lw=0)
    ax.axhline(result["single"].mean(), color=palette.text, ls=":", label="single MLP")
    ax.axhline(result["always 1"], color=palette.neutral, ls="--", label="always 1")
    ax.set(xlabel="members", ylabel="mean squared error", title=title, xlim=(1, MEMBERS))
    ax.set_ylim(0, 0.065)
    ax.grid(visible=True, color=palette.grid, linewidth=0.8)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--figure", default="learnpp_experiments.png")
    arguments = parser.parse_args()
    # Members are meant to be weak: they stop after 30 iterations.
    warnings.filterwarnings("ignore", category=ConvergenceWarning)
    with threadpool_limits(1):  # threads cost more than they gain with networks of 5 units
        results = {e: repeated(e, arguments.repeats) for e in EXPERIMENTS}
    print_table(results, arguments.repeats)
    draw(results, arguments.figure)


if __name__ == "__main__":
    main()
