"""MAPIE's own functions beside ours, on the same arguments."""

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st
from hypothesis.extra import numpy as hnp

from calibrant.compat.mapie import calibration, classification, regression, uncertainty
from peers import assert_same, outcome

peer = pytest.importorskip("mapie.metrics")

EXAMPLES = settings(max_examples=40)
#: Edges of bins, ties, and what rounding makes of them.
NASTY = st.sampled_from([0.0, 1.0, 0.5, 0.25, 0.1, 0.2, 0.30000000000000004, 1e-300, 5e-324])
SCORES = NASTY | st.floats(0.0, 1.0)


@st.composite
def scored(draw, least=1, scores=SCORES):
    n = draw(st.integers(least, 40))
    y = draw(hnp.arrays(draw(st.sampled_from([np.int64, np.float64, bool])), n,
                        elements=st.integers(0, 1)))  # fmt: skip
    return y, np.array(draw(st.lists(scores, min_size=n, max_size=n)))


@st.composite
def matrices(draw, n=None):
    n = draw(st.integers(1, 30)) if n is None else n
    k = draw(st.integers(2, 4))
    raw = np.array(draw(st.lists(st.integers(0, 8), min_size=n * k, max_size=n * k)), float)
    raw = raw.reshape(n, k) + (raw.reshape(n, k).sum(axis=1, keepdims=True) == 0)
    return draw(hnp.arrays(np.int64, n, elements=st.integers(0, k - 1))), raw / raw.sum(
        axis=1, keepdims=True
    )


STRATEGIES = st.sampled_from([None, "uniform", "quantile", "array split"])
BINS = st.integers(1, 12) | st.just(50)


@EXAMPLES
@given(scored(), BINS, STRATEGIES)
def test_expected_calibration_error(rows, num_bins, strategy):
    assert_same(calibration.expected_calibration_error, peer.calibration.expected_calibration_error,
                *rows, num_bins, strategy, rtol=0, atol=1e-14)  # fmt: skip


@EXAMPLES
@given(matrices(), BINS, STRATEGIES, st.booleans())
def test_expected_calibration_error_of_matrices(rows, num_bins, strategy, classwise):
    labels, scores = rows
    right = (labels == scores.argmax(axis=1)).astype(int)
    assert_same(calibration.expected_calibration_error, peer.calibration.expected_calibration_error,
                right, scores, num_bins=num_bins, split_strategy=strategy, classwise=classwise,
                class_labels=labels, rtol=0, atol=1e-14)  # fmt: skip


@EXAMPLES
@given(matrices(), BINS, STRATEGIES, st.sampled_from(["matrix", "classes", "argument"]))
def test_top_label_ece(rows, num_bins, strategy, form):
    labels, scores = rows
    options = {"num_bins": num_bins, "split_strategy": strategy}
    if form == "classes":
        options["classes"] = np.arange(scores.shape[1]) * 3 + 5
        labels = labels * 3 + 5
    if form == "argument":
        options["y_score_arg"], scores = scores.argmax(axis=1), scores.max(axis=1)
    assert_same(calibration.top_label_ece, peer.calibration.top_label_ece, labels, scores,
                rtol=0, atol=1e-14, **options)  # fmt: skip


@pytest.mark.parametrize("num_bins", [1, 4, 5, 6])
def test_array_split_of_as_many_rows_as_bins(num_bins):
    rows = np.array([0, 1, 1, 0, 1]), np.array([0.2, 0.9, 0.6, 0.4, 0.7])
    assert_same(calibration.expected_calibration_error, peer.calibration.expected_calibration_error,
                *rows, num_bins, "array split", rtol=0, atol=1e-14)  # fmt: skip


@pytest.mark.parametrize("labels", [[-1, 1, 1, -1], [2, 5, 5, 2], [0.0, 3.0, 0.0, 3.0]])
def test_two_other_labels_are_not_changed_in_place(labels):
    y, score = np.array(labels), np.array([0.2, 0.9, 0.6, 0.4])
    before = y.copy()
    assert_same(calibration.expected_calibration_error,
                peer.calibration.expected_calibration_error, y, score)  # fmt: skip
    calibration.expected_calibration_error(y, score)
    np.testing.assert_array_equal(y, before)


WALKS = ["kolmogorov_smirnov_statistic", "kuiper_statistic", "kolmogorov_smirnov_p_value",
         "kuiper_p_value"]  # fmt: skip


@pytest.mark.parametrize("name", ["kolmogorov_smirnov", "kuiper"])
def test_limit_laws_end_for_huge_statistics(name):
    """The peer sums a number of terms that is proportional to the statistic, here 1e150."""
    y, score = np.array([1, 0, 1]), np.array([1e-300, 1e-300, 0.0])
    assert getattr(calibration, f"{name}_statistic")(y, score) > 1e100
    assert getattr(calibration, f"{name}_p_value")(y, score) == 0.0
    law, peers = (getattr(m, f"{name}_cdf") for m in (calibration, peer.calibration))
    assert law(1.0001e4) == pytest.approx(peers(1.0001e4), abs=1e-8)


@pytest.mark.parametrize("name", WALKS)
@EXAMPLES
@given(rows=scored())
def test_tests_by_walks(name, rows):
    statistic = name.replace("p_value", "statistic")
    huge = outcome(getattr(calibration, statistic), rows, {})[0]
    assume(not name.endswith("p_value") or huge is None or not 1e4 < huge < np.inf)
    # A p-value is one minus a sum: its error is that of the sum, not of itself.
    assert_same(getattr(calibration, name), getattr(peer.calibration, name), *rows,
                rtol=1e-10, atol=1e-10)  # fmt: skip


@pytest.mark.parametrize("digits", [1, 2, 17])
@pytest.mark.parametrize("n", [1000, 30_000])
def test_walks_of_many_rows(n, digits):
    rng = np.random.default_rng(n + digits)
    score = rng.random(n).round(digits)
    for slope in (0.6, 1.0):
        y = (rng.random(n) < slope * score).astype(int)
        for name in WALKS:
            assert_same(getattr(calibration, name), getattr(peer.calibration, name), y, score,
                        rtol=1e-10, atol=1e-10)  # fmt: skip
        assert_same(calibration.cumulative_differences, peer.calibration.cumulative_differences,
                    y, score, rtol=1e-10, atol=1e-13)  # fmt: skip
        for strategy in ("uniform", "quantile", "array split"):
            assert_same(calibration.expected_calibration_error,
                        peer.calibration.expected_calibration_error,
                        y, score, split_strategy=strategy, rtol=0, atol=1e-14)  # fmt: skip
        assert_same(calibration.spiegelhalter_statistic, peer.calibration.spiegelhalter_statistic,
                    y, score)  # fmt: skip


@EXAMPLES
@given(scored(scores=SCORES | st.floats(-3, 3)), st.sampled_from([0.0, 1e-8, 0.1]),
       st.sampled_from([1, 7, np.int64(3)]))  # fmt: skip
def test_cumulative_differences(rows, amplitude, seed):
    assert_same(calibration.cumulative_differences, peer.calibration.cumulative_differences,
                *rows, amplitude, seed, rtol=1e-10, atol=1e-13)  # fmt: skip


@pytest.mark.parametrize("seed", [0, 1, 17, None, np.random.RandomState(3)])
def test_noise_is_of_the_same_stream(seed):
    x = np.linspace(0, 4, 9)
    np.random.seed(5)  # noqa: NPY002
    found = calibration.add_jitter(x, random_state=copy_of(seed))
    np.random.seed(5)  # noqa: NPY002
    np.testing.assert_array_equal(found, peer.calibration.add_jitter(x, random_state=copy_of(seed)))


def copy_of(seed):
    import copy

    return copy.deepcopy(seed)


def test_kept_noise_is_that_of_any_length():
    for n in (5, 2000, 3, 40_000):
        x = np.linspace(0, 1, n)
        np.testing.assert_array_equal(
            calibration.add_jitter(x, random_state=1),
            peer.calibration.add_jitter(x, random_state=1),
        )


@EXAMPLES
@given(scored())
def test_spiegelhalter(rows):
    for name in ("spiegelhalter_statistic", "spiegelhalter_p_value"):
        assert_same(getattr(calibration, name), getattr(peer.calibration, name), *rows, atol=1e-10)


@EXAMPLES
@given(scored())
def test_sorting_and_scale(rows):
    assert_same(calibration.sort_xy_by_y, peer.calibration.sort_xy_by_y, *rows)
    assert_same(calibration.length_scale, peer.calibration.length_scale, rows[1], atol=1e-12)


@pytest.mark.parametrize("x", [0.3, 1, 1.0, 2.5, 7.0, 8.0, 37.0, np.float64(1.5), 0.0])
def test_laws(x):
    for name in ("kolmogorov_smirnov_cdf", "kuiper_cdf"):
        assert_same(getattr(calibration, name), getattr(peer.calibration, name), x, rtol=1e-13)


@EXAMPLES
@given(scored(scores=SCORES | st.floats(-3, 3) | st.sampled_from([-1.0, 1e300, -1e-300, 7.0])))
def test_ranking(rows):
    for name in ("auroc", "auarc"):
        assert_same(getattr(uncertainty, name), getattr(peer.uncertainty, name), *rows)


@st.composite
def intervals(draw, least=1):
    n, levels = draw(st.integers(least, 25)), draw(st.integers(1, 3))
    value = st.integers(-8, 8).map(lambda i: i / 4) | st.floats(-10, 10)
    y = np.array(draw(st.lists(value, min_size=n, max_size=n)))
    bounds = draw(st.lists(value, min_size=2 * n * levels, max_size=2 * n * levels))
    bounds = np.array(bounds).reshape(n, 2, levels)
    if draw(st.booleans()):
        bounds.sort(axis=1)
    return y, bounds


@EXAMPLES
@given(intervals(), st.booleans(), st.booleans())
def test_coverage_and_width(rows, flat, many_outcomes):
    y, bounds = rows
    if many_outcomes:
        y = np.stack([y] * bounds.shape[2], axis=1)
    if flat:
        bounds = bounds[:, :, 0]
        y = y if y.ndim == 1 else y[:, 0]
    assert_same(regression.regression_coverage_score, peer.regression.regression_coverage_score,
                y, bounds, rtol=0, atol=1e-14)  # fmt: skip
    assert_same(regression.regression_mean_width_score, peer.regression.regression_mean_width_score,
                bounds, rtol=1e-14, atol=1e-14)  # fmt: skip


@EXAMPLES
@given(intervals(least=3), st.integers(1, 5))
def test_coverage_by_width(rows, num_bins):
    for name in ("regression_ssc", "regression_ssc_score"):
        assert_same(getattr(regression, name), getattr(peer.regression, name), *rows, num_bins)


@pytest.mark.parametrize("digits", [2, 17])
@pytest.mark.parametrize("num_bins", [3, 30])
def test_coverage_by_width_of_many_rows(digits, num_bins):
    rng = np.random.default_rng(digits)
    y, low = rng.normal(size=25_000), rng.normal(size=25_000)
    bounds = np.stack([low, low + rng.random(25_000).round(digits)], axis=1)
    assert_same(regression.regression_ssc, peer.regression.regression_ssc, y, bounds, num_bins)


@EXAMPLES
@given(intervals(least=2), st.floats(0.0, 0.99), st.floats(-2, 30))
def test_winkler_and_criterion(rows, level, eta):
    y, bounds = rows
    assert_same(regression.regression_mwi_score, peer.regression.regression_mwi_score,
                y, bounds, level, atol=1e-11)  # fmt: skip
    assert_same(regression.coverage_width_based, peer.regression.coverage_width_based,
                y, bounds[:, 0, 0], bounds[:, 1, 0], eta, level)  # fmt: skip


@EXAMPLES
@given(intervals(least=2), st.sampled_from([(1, 1), (0.5, 3.0), [20.0, 0.1]]))
def test_hsic(rows, sizes):
    found, _, _ = outcome(regression.hsic, rows, {"kernel_sizes": sizes})
    expected, _, _ = outcome(peer.regression.hsic, rows, {"kernel_sizes": sizes})
    assert found.shape == expected.shape
    # Of what is 0, MAPIE has the root of a rounding error, or NaN.
    np.testing.assert_allclose(found**2, np.nan_to_num(expected) ** 2, rtol=1e-11, atol=1e-14)


@st.composite
def prediction_sets(draw):
    n, k, levels = (draw(st.integers(1, top)) for top in (25, 5, 3))
    sets = draw(hnp.arrays(bool, (n, k, levels)))
    return draw(hnp.arrays(np.int64, n, elements=st.integers(0, k - 1))), sets


@EXAMPLES
@given(prediction_sets(), st.booleans(), st.booleans(), st.sampled_from([bool, int, float]))
def test_sets(rows, flat, many_outcomes, dtype):
    y, sets = rows
    sets = sets.astype(dtype)
    if many_outcomes:
        y = np.stack([y] * sets.shape[2], axis=1)
    if flat:
        sets, y = sets[:, :, 0], y if y.ndim == 1 else y[:, 0]
    assert_same(classification.classification_coverage_score,
                peer.classification.classification_coverage_score, y, sets,
                rtol=0, atol=1e-14)  # fmt: skip
    assert_same(classification.classification_mean_width_score,
                peer.classification.classification_mean_width_score, sets,
                rtol=1e-14, atol=0)  # fmt: skip


@EXAMPLES
@given(prediction_sets(), st.none() | st.integers(1, 4))
def test_coverage_by_size(rows, num_bins):
    for name in ("classification_ssc", "classification_ssc_score"):
        assert_same(getattr(classification, name), getattr(peer.classification, name),
                    *rows, num_bins)  # fmt: skip
