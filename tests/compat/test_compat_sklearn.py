"""scikit-learn's own functions beside ours, on the same arguments."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp

from calibrant.compat import sklearn as ours
from peers import assert_equal, assert_same

metrics = pytest.importorskip("sklearn.metrics")
peer_curve = pytest.importorskip("sklearn.calibration").calibration_curve

EXAMPLES = settings(max_examples=50)
SCORES = st.sampled_from([0.0, 1.0, 0.5, 0.2, 0.4, 0.6000000000000001, 1e-17]) | st.floats(0, 1)
#: Pairs of labels, and which is positive; None where scikit-learn can tell by itself.
PAIRS = [([0, 1], None), ([-1, 1], None), ([False, True], None), ([0.0, 1.0], None),
         ([1, 2], None), ([3, 7], 3), (["ham", "spam"], "spam"), (["ham", "spam"], "ham"),
         (["ham", "spam"], None), ([0, 1], 1), ([0, 1], 0), ([0, 1], 5)]  # fmt: skip


@st.composite
def binary(draw, scores=SCORES):
    n = draw(st.integers(1, 30))
    labels, pos_label = draw(st.sampled_from(PAIRS))
    y = np.array(labels)[draw(hnp.arrays(np.int64, n, elements=st.integers(0, 1)))]
    p = np.array(draw(st.lists(scores, min_size=n, max_size=n)))
    weights = st.lists(st.sampled_from([0.0, 1.0, 2.0, 0.3]), min_size=n, max_size=n)
    w = draw(st.none() | weights.map(np.array))
    return y, p, w, pos_label


@st.composite
def multiclass(draw):
    n, k = draw(st.integers(1, 30)), draw(st.integers(2, 4))
    raw = np.array(draw(st.lists(st.integers(0, 6), min_size=n * k, max_size=n * k)), float)
    raw = raw.reshape(n, k) + (raw.reshape(n, k).sum(axis=1, keepdims=True) == 0)
    names = np.array(draw(st.sampled_from([range(4), [2, 3, 5, 9], list("abcd")])))[:k]
    y = names[draw(hnp.arrays(np.int64, n, elements=st.integers(0, k - 1)))]
    weights = st.lists(st.sampled_from([0.0, 1.0, 2.5]), min_size=n, max_size=n)
    labels = draw(st.sampled_from([None, "all", "reversed", "fewer"]))
    lists = {None: None, "all": names, "reversed": names[::-1], "fewer": names[:-1]}
    return (
        y,
        raw / raw.sum(axis=1, keepdims=True),
        draw(st.none() | weights.map(np.array)),
        lists[labels],
    )


@EXAMPLES
@given(binary(), st.sampled_from(["auto", True, False]), st.booleans())
def test_brier_score_of_two_classes(rows, scale, as_matrix):
    y, p, w, pos_label = rows
    p = p[:, None] if as_matrix else p
    assert_same(ours.brier_score_loss, metrics.brier_score_loss, y, p, sample_weight=w,
                pos_label=pos_label, scale_by_half=scale)  # fmt: skip
    if (
        w is None or len(np.unique(y[w > 0])) > 1
    ):  # of one class: 0 / 0, or what rounding makes of it
        assert_same(ours.d2_brier_score, metrics.d2_brier_score, y, p, sample_weight=w,
                    pos_label=pos_label, atol=1e-12)  # fmt: skip


@EXAMPLES
@given(multiclass(), st.sampled_from(["auto", True, False]))
def test_brier_score_of_many_classes(rows, scale):
    y, p, w, labels = rows
    assert_same(ours.brier_score_loss, metrics.brier_score_loss, y, p, sample_weight=w,
                labels=labels, scale_by_half=scale)  # fmt: skip
    if w is None or len(np.unique(y[w > 0])) > 1:
        assert_same(ours.d2_brier_score, metrics.d2_brier_score, y, p, sample_weight=w,
                    labels=labels, atol=1e-12)  # fmt: skip


@EXAMPLES
@given(binary(), multiclass(), st.booleans(), st.booleans())
def test_log_loss(of_two, of_many, normalize, is_binary):
    y, p, w, labels = (*of_two[:3], None) if is_binary else of_many
    assert_same(ours.log_loss, metrics.log_loss, y, p, normalize=normalize, sample_weight=w,
                labels=labels)  # fmt: skip
    assert_same(ours.d2_log_loss_score, metrics.d2_log_loss_score, y, p, sample_weight=w,
                labels=labels, atol=1e-12)  # fmt: skip


@pytest.mark.parametrize("name", ["log_loss", "brier_score_loss", "d2_log_loss_score",
                                  "d2_brier_score"])  # fmt: skip
@pytest.mark.parametrize("as_labels", [bool, int, float, np.ndarray.tolist])
@pytest.mark.parametrize("k", [2, 3])
def test_one_hot_labels(name, as_labels, k):
    rng = np.random.default_rng(k)
    p = rng.dirichlet(np.ones(k + 1), 30)  # the last class does not occur
    one_hot = np.eye(k + 1)[rng.integers(0, k, 30)]
    y = as_labels(one_hot) if as_labels is np.ndarray.tolist else one_hot.astype(as_labels)
    mine, theirs = getattr(ours, name), getattr(metrics, name)
    assert_same(mine, theirs, y, p)
    assert_same(mine, theirs, y, p, sample_weight=rng.random(30))


def test_weights_of_another_length_are_rejected_for_every_average():
    y, p = np.eye(3, dtype=int), np.eye(3)
    for average in ("macro", "weighted", "micro", None, "samples"):
        assert_same(ours.roc_auc_score, metrics.roc_auc_score, y, p, average=average,
                    sample_weight=np.ones(4))  # fmt: skip


def test_partial_area_is_a_float():
    assert type(ours.roc_auc_score([0, 1, 0, 1], [0.25, 0.5, 0.5, 0.75], max_fpr=0.5)) is float


@EXAMPLES
@given(binary(), st.integers(1, 12), st.sampled_from(["uniform", "quantile"]))
def test_calibration_curve(rows, n_bins, strategy):
    y, p, _, pos_label = rows
    assert_same(ours.calibration_curve, peer_curve, y, p, pos_label=pos_label, n_bins=n_bins,
                strategy=strategy)  # fmt: skip


@pytest.mark.parametrize("digits", [2, 17])
@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
def test_calibration_curve_of_many_rows(digits, strategy):
    rng = np.random.default_rng(digits)
    p = (rng.random(30_000) ** 3).round(digits)
    y = rng.random(30_000) < p
    assert_same(ours.calibration_curve, peer_curve, y, p, n_bins=37, strategy=strategy)


REALS = SCORES | st.floats(-5, 5) | st.sampled_from([1e300, -1e300, 5e-324, -2.0, 2.0])


@EXAMPLES
@given(binary(REALS), st.none() | st.sampled_from([0.1, 0.5, 1.0, 1]))
def test_area_of_two_classes(rows, max_fpr):
    y, p, w, _ = rows
    assert_same(ours.roc_auc_score, metrics.roc_auc_score, y, p, sample_weight=w,
                max_fpr=max_fpr)  # fmt: skip


@EXAMPLES
@given(multiclass(), st.sampled_from(["macro", "weighted", "micro", None, "samples"]),
       st.sampled_from(["ovr", "ovo", "raise"]))  # fmt: skip
def test_area_of_many_classes(rows, average, multi_class):
    y, p, w, labels = rows
    assert_same(ours.roc_auc_score, metrics.roc_auc_score, y, p, average=average,
                sample_weight=w, multi_class=multi_class, labels=labels)  # fmt: skip


@EXAMPLES
@given(hnp.arrays(np.int64, (8, 3), elements=st.integers(0, 1)),
       hnp.arrays(float, (8, 3), elements=st.sampled_from([0.1, 0.5, 0.9, -1.0, 3.0])),
       st.sampled_from(["macro", "weighted", "micro", None, "samples"]),
       st.sampled_from([None, 0.4]), st.booleans())  # fmt: skip
def test_area_of_several_labels_a_row(y, p, average, max_fpr, weighted):
    w = np.arange(1.0, 9.0) if weighted else None
    assert_same(ours.roc_auc_score, metrics.roc_auc_score, y, p, average=average,
                max_fpr=max_fpr, sample_weight=w)  # fmt: skip


SCORERS = ["neg_brier_score", "neg_log_loss", "roc_auc", "d2_brier_score", "d2_log_loss_score"]


@pytest.mark.parametrize("names", [[0, 1], ["no", "yes"]])
def test_scorers_in_cross_validation(names):
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV, cross_val_score

    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = np.array(names)[(X[:, 0] + rng.normal(size=200) > 0).astype(int)]
    for name in SCORERS:
        if names == ["no", "yes"] and "brier" in name:
            continue  # scikit-learn's scorer does not pass pos_label on, and fails
        found = cross_val_score(LogisticRegression(), X, y, scoring=ours.scorers[name], cv=3)
        expected = cross_val_score(LogisticRegression(), X, y, scoring=name, cv=3)
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    grid = {"C": [0.01, 1.0]}
    searches = [
        GridSearchCV(LogisticRegression(), grid, scoring=scoring, cv=3).fit(X, y)
        for scoring in (ours.scorers["neg_log_loss"], "neg_log_loss")
    ]
    assert searches[0].best_params_ == searches[1].best_params_
    if names == [0, 1]:
        scoring = ours.scorers["neg_expected_calibration_error"]
        assert (cross_val_score(LogisticRegression(), X, y, scoring=scoring, cv=3) < 0).all()


@pytest.mark.parametrize("name", ["roc_auc_ovr", "roc_auc_ovo", "roc_auc_ovr_weighted",
                                  "roc_auc_ovo_weighted"])  # fmt: skip
def test_scorers_of_many_classes(name):
    from sklearn.datasets import load_iris
    from sklearn.model_selection import cross_val_score
    from sklearn.naive_bayes import GaussianNB

    X, y = load_iris(return_X_y=True)
    model = GaussianNB()
    found = cross_val_score(model, X, y, scoring=ours.scorers[name], cv=3)
    np.testing.assert_allclose(found, cross_val_score(model, X, y, scoring=name, cv=3), rtol=1e-12)


def test_display_draws_the_same_line():
    import matplotlib as mpl

    mpl.use("Agg")
    from sklearn.calibration import CalibrationDisplay

    from calibrant.streaming import Reliability

    rng = np.random.default_rng(1)
    p = rng.random(300)
    y = (rng.random(300) < p).astype(int)
    mine = ours.CalibrationDisplay.from_predictions(y, p, n_bins=7, name="model")
    theirs = CalibrationDisplay.from_predictions(y, p, n_bins=7, name="model")
    for axis in ("get_xdata", "get_ydata"):
        assert_equal(getattr(mine.line_, axis)(), getattr(theirs.line_, axis)(), 1e-12, 0)
    assert mine.ax_.get_xlabel() == theirs.ax_.get_xlabel()
    assert mine.line_.get_label() == theirs.line_.get_label()
    state = Reliability(n_bins=7)
    state.update(y, p)
    streamed = ours.CalibrationDisplay.from_accumulator(state)
    np.testing.assert_allclose(streamed.line_.get_ydata(), mine.line_.get_ydata(), rtol=1e-12)


BAD = {
    "no rows": ([], [], {}),
    "lengths": ([0, 1], [0.5], {}),
    "above one": ([0, 1], [0.5, 1.5], {}),
    "below zero": ([0, 1], [0.5, -0.5], {}),
    "NaN label": ([0.0, np.nan], [0.5, 0.5], {}),
    "inf": ([0, 1], [0.5, np.inf], {}),
    "three dimensions": ([0, 1], np.zeros((2, 2, 2)), {}),
    "text": ([0, 1], ["a", "b"], {}),
    "complex": ([0, 1], [0.5, 0.5j], {}),
    "continuous": ([0.3, 0.8], [0.5, 0.5], {}),
    "continuous, many": ([0.3, 0.8, 0.1], [0.5, 0.5, 0.1], {}),
    "three labels": ([0, 1, 2], [0.5, 0.5, 0.5], {}),
    "a number": (1, [0.5], {}),
    "a string": ("ab", [0.5, 0.5], {}),
    "None": (None, [0.5], {}),
    "table of labels": ([[0, 1], [1, 0]], [0.5, 0.5], {}),
    "weights": ([0, 1], [0.5, 0.5], {"sample_weight": [1.0]}),
    "NaN weight": ([0, 1], [0.5, 0.5], {"sample_weight": [1.0, np.nan]}),
    "zero weights": ([0, 1], [0.5, 0.5], {"sample_weight": [0.0, 0.0]}),
    "weights of two dimensions": ([0, 1], [0.5, 0.5], {"sample_weight": [[1.0], [1.0]]}),
    "columns": ([0, 1, 2], [[0.5, 0.5], [0.5, 0.5], [0.5, 0.5]], {}),
    "sums": ([0, 1, 2], np.eye(3) * 0.9, {}),
    "pos_label": ([0, 1], [0.5, 0.5], {"pos_label": [1]}),
    "labels": ([0, 1], [0.5, 0.5], {"labels": 3}),
    "scale_by_half": ([0, 1], [0.5, 0.5], {"scale_by_half": "half"}),
    "normalize": ([0, 1], [0.5, 0.5], {"normalize": "yes"}),
    "n_bins": ([0, 1], [0.5, 0.5], {"n_bins": 0}),
    "n_bins, real": ([0, 1], [0.5, 0.5], {"n_bins": 2.5}),
    "strategy": ([0, 1], [0.5, 0.5], {"strategy": "width"}),
    "average": ([0, 1], [0.5, 0.5], {"average": "mean"}),
    "multi_class": ([0, 1], [0.5, 0.5], {"multi_class": "all"}),
    "max_fpr": ([0, 1], [0.5, 0.5], {"max_fpr": 1.5}),
}
FUNCTIONS = ["brier_score_loss", "log_loss", "calibration_curve", "roc_auc_score",
             "d2_brier_score", "d2_log_loss_score"]  # fmt: skip


@pytest.mark.gil
@pytest.mark.parametrize(
    ("name", "case"),
    [(name, case) for name in FUNCTIONS for case in BAD],
)
def test_bad_input_is_rejected_by_the_same_type(name, case):
    y, p, options = BAD[case]
    theirs = peer_curve if name == "calibration_curve" else getattr(metrics, name)
    assert_same(getattr(ours, name), theirs, y, p, **options)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_lists_and_data_frames(name):
    pd = pytest.importorskip("pandas")
    theirs = peer_curve if name == "calibration_curve" else getattr(metrics, name)
    y, p = [0, 1, 1, 0, 1], [0.2, 0.7, 0.9, 0.4, 0.3]
    for form in (list, np.array, pd.Series):
        assert_same(getattr(ours, name), theirs, form(y), form(p))


def test_old_name_of_probabilities():
    for name in ("log_loss", "d2_log_loss_score"):
        with pytest.warns(FutureWarning, match="old name"):
            found = getattr(ours, name)([0, 1, 1], y_pred=[0.2, 0.7, 0.6])
        assert found == getattr(ours, name)([0, 1, 1], [0.2, 0.7, 0.6])
        with pytest.raises(ValueError, match="not both"):
            getattr(ours, name)([0, 1], [0.2, 0.7], y_pred=[0.2, 0.7])
