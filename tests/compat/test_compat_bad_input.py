"""The drop-in names on bad input: rejected, or the same as the peer's, never something else.

Every name that a peer's module has must be in ``GOOD``, with a call from which the bad ones are
derived as in test_bad_input.py.
"""

# ruff: noqa: E501 (tables: a line for a case)

from __future__ import annotations

import warnings

import numpy as np
import pytest

from bad_input_kinds import NUMBERS, constants
from bad_input_rows import BOUNDS, CLOUD, CODES, KEYS, MATRIX, MEMBERS, OUTCOMES, P, W, Y
from peers import outcome
from public_api import public_callables

pytest.importorskip("mapie")
pytest.importorskip("sklearn")

A = np.array
TABLE = {"y_true": A(Y), "y_score": A(P)}
SETS = A(MEMBERS)[:, :, None]
INTERVALS = A(BOUNDS)[:, :, None]
GOOD = {
    "mapie.calibration.add_jitter": {"x": A(P), "noise_amplitude": 1e-8, "random_state": 1},
    "mapie.calibration.cumulative_differences": {**TABLE, "noise_amplitude": 1e-8, "random_state": 1},
    "mapie.calibration.expected_calibration_error": {"y_true": A(Y), "y_scores": A(P), "num_bins": 3, "split_strategy": "uniform"},
    "mapie.calibration.kolmogorov_smirnov_cdf": {"x": 1.0},
    "mapie.calibration.kolmogorov_smirnov_p_value": TABLE,
    "mapie.calibration.kolmogorov_smirnov_statistic": TABLE,
    "mapie.calibration.kuiper_cdf": {"x": 1.0},
    "mapie.calibration.kuiper_p_value": TABLE,
    "mapie.calibration.kuiper_statistic": TABLE,
    "mapie.calibration.length_scale": {"s": A(P)},
    "mapie.calibration.sort_xy_by_y": {"x": A(P), "y": A(OUTCOMES)},
    "mapie.calibration.spiegelhalter_p_value": TABLE,
    "mapie.calibration.spiegelhalter_statistic": TABLE,
    "mapie.calibration.top_label_ece": {"y_true": A(CODES), "y_scores": A(MATRIX), "num_bins": 3, "split_strategy": "uniform"},
    "mapie.classification.classification_coverage_score": {"y_true": A(CODES), "y_pred_set": SETS},
    "mapie.classification.classification_mean_width_score": {"y_pred_set": SETS},
    "mapie.classification.classification_ssc": {"y_true": A(CODES), "y_pred_set": SETS, "num_bins": 2},
    "mapie.classification.classification_ssc_score": {"y_true": A(CODES), "y_pred_set": SETS, "num_bins": 2},
    "mapie.conditional.coverage_gap": {"y": A(OUTCOMES), "groups": A(KEYS), "confidence_level": 0.9, "y_intervals": A(BOUNDS)},
    "mapie.conditional.excess_risk_target_coverage": {"x": CLOUD[:6], "y": A(OUTCOMES), "confidence_level": 0.9, "y_intervals": A(BOUNDS), "n_splits": 2},
    "mapie.conditional.worst_slab_coverage": {"x": CLOUD[:6], "y": A(OUTCOMES), "y_intervals": A(BOUNDS), "delta": 0.5, "n_directions": 5},
    "mapie.regression.coverage_width_based": {"y_true": A(OUTCOMES), "y_pred_low": A(BOUNDS)[:, 0], "y_pred_up": A(BOUNDS)[:, 1], "eta": 1.0, "confidence_level": 0.9},
    "mapie.regression.hsic": {"y_true": A(OUTCOMES), "y_intervals": INTERVALS, "kernel_sizes": A([1.0, 1.0])},
    "mapie.regression.regression_coverage_score": {"y_true": A(OUTCOMES), "y_intervals": INTERVALS},
    "mapie.regression.regression_mean_width_score": {"y_intervals": INTERVALS},
    "mapie.regression.regression_mwi_score": {"y_true": A(OUTCOMES), "y_pis": INTERVALS, "confidence_level": 0.9},
    "mapie.regression.regression_ssc": {"y_true": A(OUTCOMES), "y_intervals": INTERVALS, "num_bins": 2},
    "mapie.regression.regression_ssc_score": {"y_true": A(OUTCOMES), "y_intervals": INTERVALS, "num_bins": 2},
    "mapie.uncertainty.auarc": {"correctness": A(Y), "confidence": A(P)},
    "mapie.uncertainty.auroc": {"correctness": A(Y), "confidence": A(P)},
    "sklearn.brier_score_loss": {"y_true": A(Y), "y_proba": A(P), "sample_weight": A(W)},
    "sklearn.calibration_curve": {"y_true": A(Y), "y_prob": A(P), "n_bins": 2},
    "sklearn.d2_brier_score": {"y_true": A(Y), "y_proba": A(P), "sample_weight": A(W)},
    "sklearn.d2_log_loss_score": {"y_true": A(Y), "y_proba": A(P), "sample_weight": A(W)},
    "sklearn.log_loss": {"y_true": A(Y), "y_proba": A(P), "sample_weight": A(W)},
    "sklearn.roc_auc_score": {"y_true": A(Y), "y_score": A(P), "sample_weight": A(W)},
}  # fmt: skip
#: What swaps functions has its own tests: test_compat_patch.py.
ELSEWHERE = {"compat.Patch", "compat.patch"}
#: Anything that is no array: for numbers, choices and seeds alike.
SINGLE = constants("no such name", None, -1, 0, 1.5, float("nan"), float("inf"), 1j, [], {})


def peer_of(name: str):
    *path, function = name.split(".")
    if path[0] == "mapie":
        modules = [f"mapie.metrics.{path[1]}"]
    else:
        modules = ["sklearn.metrics", "sklearn.calibration"]
    for module in map(pytest.importorskip, modules):
        if hasattr(module, function):
            return getattr(module, function)
    return None


def test_every_name_of_a_peer_is_here():
    ours = {name for name in public_callables() if name.startswith("compat.")} - ELSEWHERE
    assert {f"compat.{name}" for name in GOOD} == ours


def spoiled(good):
    return (NUMBERS.bad if isinstance(good, np.ndarray) else SINGLE).items()


def same(found, expected) -> bool:
    try:
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    except (AssertionError, TypeError):
        return repr(found) == repr(expected)  # what is no number is handed through
    return True


@pytest.mark.gil
@pytest.mark.parametrize("name", GOOD)
@pytest.mark.filterwarnings("ignore")
def test_rejected_or_as_the_peer_has_it(name):
    ours = public_callables()[f"compat.{name}"]
    theirs = peer_of(name)
    if theirs is None:
        pytest.skip("this release of the peer has no such function")
    wrong = []
    for argument in GOOD[name]:
        good = GOOD[name][argument]
        for how, bad in spoiled(good):
            if argument == "random_state" and how == "None":
                continue  # any result will do
            arguments = {**GOOD[name], argument: bad.spoil(good)}
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found, error, _ = outcome(ours, (), arguments)
                if error is not None and isinstance(error, (TypeError, ValueError)):
                    continue
                expected, their_error, _ = outcome(theirs, (), arguments)
            if error is not None:
                if their_error is None:
                    wrong.append(f"{argument} [{how}] raises {error!r}, theirs {expected!r:.60}")
            elif isinstance(their_error, AttributeError):
                continue  # an accident of theirs
            elif their_error is not None:
                wrong.append(
                    f"{argument} [{how}] returns {found!r:.60}, theirs {their_error!r:.80}"
                )
            elif not same(found, expected):
                wrong.append(f"{argument} [{how}] returns {found!r:.60}, theirs {expected!r:.60}")
    assert not wrong, "\n".join(wrong)
