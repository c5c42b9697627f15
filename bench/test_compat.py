"""The drop-in layers beside the packages whose functions they replace."""

from functools import partial
from importlib import import_module

import numpy as np

from bench.case import Case, Peer, benchmarks, binary, ten_classes as classes, weighted
from calibrant.compat import mapie, sklearn

CALIBRATION = "calibration.expected_calibration_error"
BINS = {"n_bins": 15}


def bounds(n):
    rng = np.random.default_rng(10)
    low = rng.normal(size=n) - 1
    return rng.normal(size=n), np.stack([low, low + 2 * rng.random(n)], axis=1)[:, :, None]


def sets(n):
    rng = np.random.default_rng(11)
    return rng.integers(0, 10, n), rng.random((n, 10, 1)) < 0.5


def width_based(n):
    y, both = bounds(n)
    return y, both[:, 0, 0], both[:, 1, 0], 0.1, 0.9


def slab(n):
    return np.random.default_rng(12).normal(size=(n, 5)), *bounds(n)


def with_weight(call, y, p, w):
    return call(y, p, sample_weight=w)


def by_label(call, y, proba):
    return call(y[0], proba, classwise=True, class_labels=y[1])


def worst_slab(call, x, y, both):
    return call(x, y, y_intervals=both, n_directions=100)


#: Function, variant, data, options or a way to pass the data, and the largest size.
ROWS = (
    *((CALIBRATION, s, binary, {"split_strategy": s}) for s in ("uniform", "quantile")),
    (CALIBRATION, "array split", binary, {"split_strategy": "array split"}),
    (CALIBRATION, "classwise, 10 classes", lambda n: (
        (binary(n)[0], classes(n)[0]), classes(n)[1]), by_label),
    ("calibration.top_label_ece", "10 classes", classes, {}),
    ("calibration.add_jitter", "", lambda n: binary(n)[1:], {"random_state": 1}),
    ("calibration.sort_xy_by_y", "", binary, {}),
    ("calibration.cumulative_differences", "", binary, {}),
    ("calibration.length_scale", "", lambda n: binary(n)[1:], {}),
    *((f"calibration.{test}_{part}", "", binary, {})
      for test in ("kolmogorov_smirnov", "kuiper", "spiegelhalter")
      for part in ("statistic", "p_value")),
    ("uncertainty.auroc", "", binary, {}),
    ("uncertainty.auarc", "", binary, {}),
    ("regression.regression_coverage_score", "", bounds, {}),
    ("regression.regression_mean_width_score", "", lambda n: bounds(n)[1:], {}),
    ("regression.regression_ssc", "", bounds, {}),
    ("regression.regression_ssc_score", "", bounds, {}),
    ("regression.hsic", "", bounds, {}, 3000),
    ("regression.coverage_width_based", "", width_based, {}),
    ("regression.regression_mwi_score", "", lambda n: (*bounds(n), 0.9), {}),
    ("classification.classification_mean_width_score", "", lambda n: sets(n)[1:], {}),
    ("classification.classification_coverage_score", "", sets, {}),
    ("classification.classification_ssc", "", sets, {"num_bins": 5}),
    ("classification.classification_ssc_score", "", sets, {"num_bins": 5}),
    ("conditional.worst_slab_coverage", "", slab, worst_slab, 1000),
    ("brier_score_loss", "", binary, {}),
    ("brier_score_loss", "weights", weighted, with_weight),
    ("brier_score_loss", "names", lambda n: (np.array(["no", "yes"])[binary(n)[0]], binary(n)[1]),
     {"pos_label": "yes"}),
    ("brier_score_loss", "10 classes", classes, {}),
    ("log_loss", "", binary, {}),
    ("log_loss", "10 classes", classes, {}),
    ("d2_brier_score", "", binary, {}),
    ("d2_log_loss_score", "", binary, {}),
    ("calibration_curve", "uniform", binary, BINS),
    ("calibration_curve", "quantile", binary, {**BINS, "strategy": "quantile"}),
    ("roc_auc_score", "", binary, {}),
    ("roc_auc_score", "weights", weighted, with_weight),
    ("roc_auc_score", "any real scores", lambda n: (binary(n)[0], 10 * binary(n)[1] - 5), {}),
    ("roc_auc_score", "max_fpr", binary, {"max_fpr": 0.2}),
    ("roc_auc_score", "10 classes ovr", classes, {"multi_class": "ovr"}),
    ("roc_auc_score", "10 classes ovo", classes, {"multi_class": "ovo"}),
)  # fmt: skip


def drop_in(function, variant, data, how, most=10**6):
    module, _, name = function.rpartition(".")
    ours = getattr(getattr(mapie, module) if module else sklearn, name)
    of_sklearn = "sklearn.calibration" if name == "calibration_curve" else "sklearn.metrics"
    path = f"mapie.metrics.{module}" if module else of_sklearn
    # Without covmetrics MAPIE has no worst slab.
    needs = "covmetrics" if module == "conditional" else path

    def call(*data):
        theirs = getattr(import_module(path), name)
        return how(theirs, *data) if callable(how) else theirs(*data, **how)

    return Case(
        f"drop-in {function}" + (f", {variant}" if variant else ""),
        data,
        partial(how, ours) if callable(how) else partial(ours, **how),
        (Peer("MAPIE" if module else "scikit-learn", call, needs=needs, atol=1e-10),),
        most=most,
        why="it sorts, or reads memory once and sums exactly",
    )


test_compat = benchmarks(*(drop_in(*row) for row in ROWS))
