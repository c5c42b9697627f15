"""Where the drop-in layers differ from the peer: docs/reference/differences.md has the list."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

from calibrant.compat import sklearn
from calibrant.compat.mapie import calibration, classification, conditional, regression, uncertainty

nan, inf = np.nan, np.inf
Y, P = np.array([0, 1, 1, 0]), np.array([0.2, 0.9, 0.4, 0.3])
Z, PI = np.array([1.0, 2.0, 3.0, 4.0]), np.array([[0.0, 1.5], [1.0, 3.0], [2.0, 5.0], [5.0, 9.0]])
SETS = np.array([[True, False], [True, True], [False, False], [True, False]])
ERRORS = [calibration.expected_calibration_error]
TESTS = [
    calibration.kolmogorov_smirnov_statistic,
    calibration.kolmogorov_smirnov_p_value,
    calibration.kuiper_statistic,
    calibration.kuiper_p_value,
    calibration.spiegelhalter_statistic,
    calibration.spiegelhalter_p_value,
]


def spoiled(array, value):
    array = np.array(array, dtype=float)
    array[2] = value
    return array


@pytest.mark.parametrize("function", [*ERRORS, *TESTS], ids=lambda f: f.__name__)
@pytest.mark.parametrize("value", [nan, inf, 1.5, -0.5])
def test_scores_that_are_no_probabilities(function, value):
    with pytest.raises(ValueError, match=r"y_scores?.*(row 2|\[0, 1\])"):
        function(Y, spoiled(P, value))


@pytest.mark.parametrize("function", TESTS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("value", [nan, 2.0, -1.0, 0.5])
def test_labels_that_are_not_0_and_1(function, value):
    with pytest.raises(ValueError, match=r"y_true.* row 2"):
        function(spoiled(Y, value), P)


def test_one_label_that_is_neither():
    with pytest.raises(ValueError, match="two labels"):
        calibration.expected_calibration_error(np.array([2, 2, 2, 2]), P)


OF_INTERVALS = {
    "coverage": regression.regression_coverage_score,
    "width": lambda _, pi: regression.regression_mean_width_score(pi[:, :, None]),
    "by width": lambda y, pi: regression.regression_ssc(y, pi, 2),
    "hsic": regression.hsic,
    "criterion": lambda y, pi: regression.coverage_width_based(y, pi[:, 0], pi[:, 1], 1.0, 0.9),
    "winkler": lambda y, pi: regression.regression_mwi_score(y, pi[:, :, None], 0.9),
    "gap": lambda y, pi: conditional.coverage_gap(y, np.zeros(4, int), 0.9, y_intervals=pi),
}


@pytest.mark.parametrize("name", OF_INTERVALS)
@pytest.mark.parametrize("value", [nan, inf, -inf])
def test_outcomes_and_bounds_that_are_not_finite(name, value):
    with pytest.raises(ValueError, match=r"must be finite, found .* at row 2"):
        OF_INTERVALS[name](Z, spoiled(PI, value))
    if name != "width":
        with pytest.raises(ValueError, match=r"must be finite, found .* at row 2"):
            OF_INTERVALS[name](spoiled(Z, value), PI)


@pytest.mark.parametrize("name", OF_INTERVALS)
def test_no_rows_of_intervals(name):
    with pytest.raises(ValueError, match=r"row|width"):
        OF_INTERVALS[name](Z[:0], PI[:0])


def test_large_numbers_are_no_infinities():
    y, bounds = np.array([0.0, 1e308]), np.array([[-1e308, 1e308], [0.0, 1.7e308]])
    assert regression.regression_coverage_score(y, bounds)[0] == 1.0


@pytest.mark.parametrize("function", [*ERRORS, *TESTS, uncertainty.auroc, uncertainty.auarc],
                         ids=lambda f: f.__name__)  # fmt: skip
def test_no_rows(function):
    with pytest.raises(ValueError, match="at least one row"):
        function(np.zeros(0, int), np.zeros(0))


def test_more_than_two_bounds():
    with pytest.raises(ValueError, match=r"shape \(n, 2\)"):
        regression.regression_coverage_score(Z, np.zeros((4, 3)))


def test_classes_that_sets_do_not_have():
    for classes in ([0, 1, -1, 0], [0, 1, 2, 0], [0.0, 1.0, 1.0, 0.0]):
        for function in (classification.classification_coverage_score,
                         classification.classification_ssc):  # fmt: skip
            with pytest.raises(IndexError, match="y_true"):
                function(np.array(classes), SETS)


def test_sets_of_other_numbers():
    with pytest.raises(ValueError, match="truth values"):
        classification.classification_coverage_score(Y, SETS * 0.5)


def test_masks():
    masked = np.ma.masked_array(P, mask=[True, False, False, False])
    for function in (calibration.expected_calibration_error, sklearn.brier_score_loss,
                     sklearn.roc_auc_score, sklearn.calibration_curve):  # fmt: skip
        with pytest.raises(TypeError, match="masked"):
            function(Y, masked)
        with pytest.raises(TypeError, match="masked"):
            function(np.ma.masked_array(Y, mask=masked.mask), P)
    with pytest.raises(TypeError, match="masked"):
        regression.regression_coverage_score(Z, np.ma.masked_array(PI, mask=PI > 5))


@pytest.mark.parametrize("function", [sklearn.brier_score_loss, sklearn.log_loss,
                                      sklearn.roc_auc_score, sklearn.d2_brier_score],
                         ids=lambda f: f.__name__)  # fmt: skip
def test_negative_weights(function):
    with pytest.raises(ValueError, match="negative"):
        function(Y, P, sample_weight=[1.0, 2.0, -1.0, 1.0])


def test_missing_probabilities_of_the_curve():
    with pytest.raises(ValueError, match=r"y_prob .*row 2"):
        sklearn.calibration_curve(Y, spoiled(P, nan))


def test_several_labels_a_row():
    for function in (sklearn.log_loss, sklearn.d2_log_loss_score, sklearn.d2_brier_score):
        with pytest.raises(ValueError, match=r"one 1 in each row, found \[1, 1\] at row 1"):
            function([[0, 1], [1, 1]], [[0.5, 0.5], [0.5, 0.5]])


def test_lists_are_arrays():
    assert calibration.kuiper_statistic(Y.tolist(), P.tolist()) == calibration.kuiper_statistic(
        Y, P
    )
    assert regression.hsic(Z.tolist(), PI.tolist()) == regression.hsic(Z, PI)


def test_single_precision_is_computed_in_double():
    single = P.astype(np.float32)
    found = calibration.expected_calibration_error(Y, single)
    assert found == calibration.expected_calibration_error(Y, single.astype(float))
    assert sklearn.brier_score_loss(Y, single) == sklearn.brier_score_loss(Y, single.astype(float))


# coverage_gap: MAPIE's own needs a package that is not always there -------------------------------


@given(st.lists(st.tuples(st.integers(-3, 3), st.booleans()), min_size=1, max_size=30),
       st.sampled_from([0.1, 0.5, 0.9, 1.0]), st.booleans(), st.booleans())  # fmt: skip
def test_coverage_gap(rows, level, weighted, of_sets):
    groups = np.array([group for group, _ in rows])
    covered = np.array([hit for _, hit in rows])
    if of_sets:
        given_sets = {"y_sets": np.stack([covered, ~covered], axis=1)}
        y = np.zeros(len(rows), int)
    else:
        given_sets = {"y_intervals": np.stack([covered - 1.0, covered - 1.0], axis=1)}
        y = np.zeros(len(rows))
    of_group = {g: [Fraction(int(hit)) for h, hit in rows if h == g] for g, _ in rows}
    wanted = Fraction(str(level))
    gaps = {g: abs(sum(hits) / len(hits) - wanted) for g, hits in of_group.items()}
    expected = (
        sum(gaps[g] * len(hits) for g, hits in of_group.items()) / len(rows)
        if weighted
        else sum(gaps.values()) / len(gaps)
    )
    found = conditional.coverage_gap(y, groups, level, weighted=weighted, **given_sets)
    assert found == pytest.approx(float(expected), rel=1e-12, abs=1e-15)


@pytest.mark.parametrize(("change", "words"), [
    ({"groups": [0.0, 1.0, 0.0, 1.0]}, "integers"), ({"confidence_level": 1.5}, r"\[0, 1\]"),
    ({"confidence_level": 1}, "float"), ({"y_intervals": None}, "either"),
    ({"y_sets": SETS}, "either"), ({"weighted": 1}, "weighted"), ({"groups": [0, 1]}, "rows"),
    ({"y_intervals": np.zeros((4, 2, 2))}, "one confidence level"),
])  # fmt: skip
def test_coverage_gap_rejects(change, words):
    options = {"groups": [0, 0, 1, 1], "confidence_level": 0.9, "y_intervals": PI} | change
    with pytest.raises(ValueError, match=words):
        conditional.coverage_gap(Z, **options)
