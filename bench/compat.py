"""The drop-in layers beside the peers: milliseconds of both, and how many times faster.

    python -m bench.compat                  prints the table
    python -m bench.compat --one-thread     of one thread, in processor time

`python -m bench` puts it into docs/guide/compat.md.

Each function at 10^3 and 10^6 rows; `hsic`, for which MAPIE needs n x n numbers, at 10^3 and 3,000.
The worst slab, for which MAPIE takes quadratic time, is at 100 and 1,000 rows and 100 directions,
and is there if covmetrics is, without which MAPIE has none. The results are compared. The best
of several calls, ours and the peer's in turn: by the clock, with the threads that both take by
themselves; or with --one-thread in processor time, on a busy machine.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn import calibration as sklearn_calibration, metrics as sklearn_metrics

from bench.compat_table import row
from calibrant import set_num_threads
from calibrant.compat import mapie, sklearn

SIZES = (1_000, 1_000_000)
#: Least time for each function and size, seconds.
PATIENCE = 0.4

Task = tuple[tuple[Any, ...], dict[str, Any]]


def tasks(n: int) -> dict[str, Task]:
    """Arguments by title: module, function and, after a comma, the variant."""
    rng = np.random.default_rng(7)
    p = rng.random(n)
    y = (rng.random(n) < p).astype(np.int64)
    classes, label = rng.dirichlet(np.ones(10), n), rng.integers(0, 10, n)
    names = np.array(["no", "yes"])[y]
    weight = rng.random(n)
    outcome, low = rng.normal(size=n), rng.normal(size=n) - 1
    bounds = np.stack([low, low + 2 * rng.random(n)], axis=1)[:, :, None]
    sets = rng.random((n, 10, 1)) < 0.5
    few, slab = min(n, 3_000), min(n // 10, 1_000)
    walks = ("kolmogorov_smirnov", "kuiper")
    tests = {f"calibration.{w}_{k}": ((y, p), {}) for w in walks for k in ("statistic", "p_value")}
    slabs: dict[str, Task] = {
        "conditional.worst_slab_coverage": (
            (rng.normal(size=(slab, 5)), outcome[:slab]),
            {"y_intervals": bounds[:slab], "n_directions": 100},
        )
    }
    return {
        "calibration.expected_calibration_error, uniform": ((y, p), {}),
        "calibration.expected_calibration_error, quantile": (
            (y, p),
            {"split_strategy": "quantile"},
        ),
        "calibration.expected_calibration_error, array split": (
            (y, p),
            {"split_strategy": "array split"},
        ),
        "calibration.expected_calibration_error, classwise, 10 classes": (
            (y, classes),
            {"classwise": True, "class_labels": label},
        ),
        "calibration.top_label_ece, 10 classes": ((label, classes), {}),
        "calibration.add_jitter": ((p,), {"random_state": 1}),
        "calibration.sort_xy_by_y": ((y, p), {}),
        "calibration.cumulative_differences": ((y, p), {}),
        "calibration.length_scale": ((p,), {}),
        **tests,
        "calibration.spiegelhalter_statistic": ((y, p), {}),
        "calibration.spiegelhalter_p_value": ((y, p), {}),
        "uncertainty.auroc": ((y, p), {}),
        "uncertainty.auarc": ((y, p), {}),
        "regression.regression_coverage_score": ((outcome, bounds), {}),
        "regression.regression_mean_width_score": ((bounds,), {}),
        "regression.regression_ssc": ((outcome, bounds), {}),
        "regression.regression_ssc_score": ((outcome, bounds), {}),
        "regression.hsic": ((outcome[:few], bounds[:few]), {}),
        "regression.coverage_width_based": (
            (outcome, bounds[:, 0, 0], bounds[:, 1, 0], 0.1, 0.9),
            {},
        ),
        "regression.regression_mwi_score": ((outcome, bounds, 0.9), {}),
        "classification.classification_mean_width_score": ((sets,), {}),
        "classification.classification_coverage_score": ((label, sets), {}),
        "classification.classification_ssc": ((label, sets), {"num_bins": 5}),
        "classification.classification_ssc_score": ((label, sets), {"num_bins": 5}),
        **(slabs if find_spec("covmetrics") else {}),
        "brier_score_loss": ((y, p), {}),
        "brier_score_loss, weights": ((y, p), {"sample_weight": weight}),
        "brier_score_loss, names": ((names, p), {"pos_label": "yes"}),
        "brier_score_loss, 10 classes": ((label, classes), {}),
        "log_loss": ((y, p), {}),
        "log_loss, 10 classes": ((label, classes), {}),
        "d2_brier_score": ((y, p), {}),
        "d2_log_loss_score": ((y, p), {}),
        "calibration_curve, uniform": ((y, p), {"n_bins": 15}),
        "calibration_curve, quantile": ((y, p), {"n_bins": 15, "strategy": "quantile"}),
        "roc_auc_score": ((y, p), {}),
        "roc_auc_score, weights": ((y, p), {"sample_weight": weight}),
        "roc_auc_score, any real scores": ((y, 10 * p - 5), {}),
        "roc_auc_score, max_fpr": ((y, p), {"max_fpr": 0.2}),
        "roc_auc_score, 10 classes ovr": ((label, classes), {"multi_class": "ovr"}),
        "roc_auc_score, 10 classes ovo": ((label, classes), {"multi_class": "ovo"}),
    }


def functions(title: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Ours and the peer's."""
    module, _, name = title.split(",")[0].rpartition(".")
    if module:
        peers = import_module(f"mapie.metrics.{module}")
        return getattr(getattr(mapie, module), name), getattr(peers, name)
    peer = sklearn_calibration if name == "calibration_curve" else sklearn_metrics
    return getattr(sklearn, name), getattr(peer, name)


def best_seconds(
    ours: Callable[[], Any],
    theirs: Callable[[], Any],
    clock: Callable[[], float],
    patience: float,
) -> tuple[float, float]:
    least = [np.inf, np.inf]
    end = time.perf_counter() + patience
    for rounds in range(1000):
        if time.perf_counter() > end and rounds > 1:
            break
        for i, task in enumerate((ours, theirs)):
            start = clock()
            task()
            least[i] = min(least[i], clock() - start)
    return least[0], least[1]


def compare(
    title: str, task: Task, clock: Callable[[], float], patience: float
) -> tuple[float, float]:
    ours, theirs = functions(title)
    args, options = task
    np.testing.assert_allclose(
        ours(*args, **options), theirs(*args, **options), rtol=1e-9, atol=1e-10
    )
    return best_seconds(
        lambda: ours(*args, **options), lambda: theirs(*args, **options), clock, patience
    )


def measure(*, quick: bool = False, one_thread: bool = False) -> dict[str, list[float]]:
    """Return the seconds of ours and the peer's at the first size, then at the second, by title."""
    clock = time.thread_time if one_thread else time.perf_counter
    if one_thread:
        set_num_threads(1)
    by_size = [tasks(n) for n in (SIZES[:1] if quick else SIZES)]
    patience = PATIENCE / 20 if quick else PATIENCE
    found: dict[str, list[float]] = {}
    for title in by_size[0]:
        found[title] = [x for size in by_size for x in compare(title, size[title], clock, patience)]
        print(row(title, found[title]), flush=True)
    return found


if __name__ == "__main__":
    measure(one_thread="--one-thread" in sys.argv[1:])
