"""Two columns of probabilities that sum to 1 are a binary problem: column 1 is scored."""

import functools
import inspect

import numpy as np
import pytest

import calibrant
from calibrant import streaming
from calibrant._input.labels import POSITIVE_COLUMN
from calibrant.evidence import Evidence
from public_api import parameters, public_callables

RNG = np.random.default_rng(21)
P = RNG.random(600)
Y = (RNG.random(600) < P).astype(int)
TWO = np.stack([1.0 - P, P], axis=1)
OFF = np.where(np.arange(600)[:, None] == 7, [[0.25, 0.5]], TWO)
WEIGHT = RNG.choice([0.5, 1.0, 2.0], 600)

#: They read two columns as any matrix: they are of classes.
OF_CLASSES = {"classwise_ece", "top_label_ece"}
FUNCTIONS = {
    name: function
    for name, function in public_callables().items()
    if "." not in name
    and name not in OF_CLASSES
    and {"y_true", "y_proba"} <= parameters(function).keys()
}
ACCUMULATORS = {
    "Assessment": streaming.Assessment, "Reliability": streaming.Reliability,
    "RiskProfile": streaming.RiskProfile, "ScoreTable": streaming.ScoreTable,
    "Scorecard": streaming.Scorecard, "Scores": streaming.Scores,
    "Spiegelhalter": streaming.Spiegelhalter,
}  # fmt: skip
each_function = pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
each_accumulator = pytest.mark.parametrize("make", ACCUMULATORS.values(), ids=ACCUMULATORS)
SUM = r"must have rows that sum to 1, found 0\.25 \+ 0\.5 at row 7"


def plain(found):
    found = found.to_dict() if hasattr(found, "to_dict") else found
    if isinstance(found, dict):
        found = {name: value for name, value in found.items() if name != "note"}
    return str(found)


@each_function
@pytest.mark.parametrize("weighted", [False, True])
def test_column_1_is_scored(function, weighted):
    how = {"sample_weight": WEIGHT} if weighted else {}
    if "sample_weight" not in inspect.signature(function).parameters:
        how = {}
    expected = plain(function(Y, P, **how))
    assert plain(function(Y, TWO, **how)) == expected
    with pytest.raises(ValueError, match=rf"y_proba of shape \(n, 2\) {SUM}"):
        function(Y, OFF, **how)


@each_accumulator
def test_streams_and_groups(make):
    def filled(*batches):
        total = make()
        for rows, p in batches:
            total.update(Y[rows], p[rows])
        return total

    first, last = slice(None, 250), slice(250, None)
    expected = filled((slice(None), P))
    assert filled((first, TWO), (last, TWO)) == expected
    assert filled((first, P), (last, TWO)) == expected
    total = filled((first, TWO))
    before = total.to_bytes()
    with pytest.raises(ValueError, match=r"sum to 1, found 0\.5 \+ 0\.25 at row 0"):
        total.update([1], [[0.5, 0.25]])
    assert total.to_bytes() == before
    groups = np.arange(600) % 3
    grouped = streaming.Grouped(make)
    grouped.update(Y, TWO, groups=groups)
    for key in range(3):
        assert grouped[key] == filled((groups == key, P))
    windows = streaming.Windowed(make, rows=300)
    windows.update(Y, TWO)
    assert [w.accumulator for w in windows.windows()] == [
        filled((slice(0, 300), P)), filled((slice(300, 600), P)),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "layout",
    [
        lambda p: p.astype("f4"),
        np.asfortranarray,
        lambda p: p[::-1],
        lambda p: p.astype(">f8"),
        lambda p: p.tolist(),
        lambda p: np.ascontiguousarray(p.astype("f2")),
    ],
)
def test_layouts(layout):
    p = layout(TWO)
    vector = np.asarray(p)[:, 1]
    assert plain(calibrant.scorecard(Y, p)) == plain(calibrant.scorecard(Y, vector))


def test_tables_of_other_libraries():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    arrow = pytest.importorskip("pyarrow")
    expected = calibrant.brier_score(Y, P)
    lists = arrow.FixedSizeListArray.from_arrays(arrow.array(TWO.ravel()), 2)
    for table in (
        pandas.DataFrame(TWO), polars.DataFrame(TWO), lists, arrow.chunked_array([lists]),
    ):  # fmt: skip
        assert calibrant.brier_score(Y, table) == expected


@pytest.mark.parametrize("column", [0, 1])
def test_a_value_that_is_missing_or_none(column):
    p = TWO.copy()
    p[5, column] = np.nan
    card = calibrant.scorecard(Y, p, nan_policy="omit")
    kept = np.arange(600) != 5
    expected = calibrant.scorecard(Y[kept], P[kept])
    assert (card.n, card.n_omitted) == (599, 1)
    assert card.brier == expected.brier
    with pytest.raises(ValueError, match=r"missing value .* at row 5"):
        calibrant.scorecard(Y, p)
    p[5, column] = 1.5
    with pytest.raises(ValueError, match=r"must lie in \[0, 1\], found 1.5 at row 5"):
        calibrant.scorecard(Y, p)


def test_float32_rounding_of_the_sum_is_no_error():
    logits = RNG.normal(0, 8, (5000, 2)).astype("f4")
    raised = np.exp(logits - logits.max(axis=1, keepdims=True))
    soft = raised / raised.sum(axis=1, keepdims=True)
    assert (soft.sum(axis=1) != 1).any()
    y = RNG.integers(0, 2, 5000)
    assert calibrant.brier_score(y, soft) == calibrant.brier_score(y, soft[:, 1])


def test_the_top_label_by_name():
    top, hit = TWO.max(axis=1), TWO.argmax(axis=1) == Y
    card = calibrant.scorecard(Y, TWO, multi_class="top_label")
    assert card.n_columns == 2
    assert card.note == ""
    assert card.brier.value == pytest.approx(2 * calibrant.brier_score(Y, P), rel=1e-14)
    assert card.auc.value == calibrant.roc_auc(hit, top)
    assert card.auc.value == calibrant.roc_auc(Y, TWO, multi_class="top_label")
    assert "top-label AUC" in repr(card)
    assert plain(calibrant.ks_test(Y, TWO, classes="top-label")) == plain(
        calibrant.ks_test(hit, top)
    )
    total = streaming.Scorecard()
    total.update(Y, OFF, multi_class="top_label")
    assert total.result().n_columns == 2
    with pytest.raises(ValueError, match=r"\(n, 2\) so far, now \(n,\)"):
        total.update(Y, TWO)
    for wrong in ("ovr", None, 3):
        with pytest.raises(ValueError, match="multi_class must be 'auto' or 'top_label', got"):
            calibrant.scorecard(Y, TWO, multi_class=wrong)


def test_names_of_classes():
    names = np.array(["cat", "dog"])[Y]
    for how in ({"labels": ["cat", "dog"]}, {"pos_label": "dog"}):
        assert calibrant.roc_auc(names, TWO, **how) == calibrant.roc_auc(Y, P)


def test_the_card_and_the_report_say_so():
    card = calibrant.scorecard(Y, TWO, groups=Y)
    assert card.note == POSITIVE_COLUMN
    assert POSITIVE_COLUMN in repr(card)
    assert card.to_dict()["note"] == POSITIVE_COLUMN
    assert "note" not in calibrant.scorecard(Y, P).to_dict()
    page = calibrant.report(Y, TWO)
    section = page.sections[0]
    assert section.notes == (POSITIVE_COLUMN,)
    assert [s.name for s in page.sections] == [s.name for s in calibrant.report(Y, P).sections]
    assert page.verdict == calibrant.report(Y, P).verdict
    several = calibrant.report(Y, TWO, multi_class="top_label")
    assert several.sections[0].notes == ()
    labels = {number.name: number.label for number in several.sections[0].numbers}
    assert labels["auc"] == "top-label AUC"


@pytest.mark.parametrize("how", [{"multi_class": "auto"}, {"multi_class": "top_label"}])
def test_evidence_of_a_table(how):
    table = {"y": Y, "p0": TWO[:, 0], "p1": TWO[:, 1]}
    evidence = Evidence.of(table, **how)
    assert plain(evidence.result()) == plain(calibrant.scorecard(Y, TWO, **how)) or (
        evidence.result().brier == calibrant.scorecard(Y, TWO, **how).brier
    )
    assert evidence.result().note == (POSITIVE_COLUMN if how["multi_class"] == "auto" else "")
    assert Evidence.from_bytes(evidence.to_bytes()) == evidence


def test_compare():
    shy = 0.5 + 0.5 * (P - 0.5)
    expected = calibrant.compare(Y, {"a": P, "b": shy})
    two = {"a": TWO, "b": np.stack([1 - shy, shy], axis=1)}
    assert calibrant.compare(Y, two).differences == expected.differences
    assert calibrant.compare(Y, {"a": P, "b": two["b"]}).differences == expected.differences
    with pytest.raises(ValueError, match=rf"probas\['b'\] of shape \(n, 2\) {SUM}"):
        calibrant.compare(Y, {"a": P, "b": OFF})


def test_drift():
    before, after = streaming.Scorecard(), streaming.Scorecard()
    before.update(Y, TWO)
    after.update(Y, P)
    assert before == after
    assert calibrant.drift(before, after).drifted == ()


def test_what_is_of_all_classes_stays_so():
    assert calibrant.top_label_ece(Y, TWO) != calibrant.expected_calibration_error(Y, P)
    assert len(calibrant.classwise_ece(Y, TWO, average=False)) == 2
    assert len(calibrant.ks_test(Y, TWO, classes="per-class").classes) == 2
    assert len(calibrant.roc_auc(Y, TWO, average=None)) == 2


@pytest.mark.parametrize("k", [3, 5])
@pytest.mark.parametrize("average", ["macro", "weighted"])
def test_one_against_the_rest_as_scikit_learn_has_it(k, average):
    metrics = pytest.importorskip("sklearn.metrics")
    p = RNG.dirichlet(np.ones(k), 800)
    y = RNG.permutation(np.arange(800) % k)
    expected = metrics.roc_auc_score(y, p, multi_class="ovr", average=average)
    found = calibrant.roc_auc(y, p, multi_class="ovr", average=average)
    assert found == pytest.approx(expected, rel=1e-13)
    card = calibrant.scorecard(y, p)
    assert card.auc.value == calibrant.roc_auc(y, p, multi_class="top_label")


def test_scikit_learn_has_the_same_of_two_columns():
    metrics = pytest.importorskip("sklearn.metrics")
    card = calibrant.scorecard(Y, TWO)
    assert card.brier.value == pytest.approx(metrics.brier_score_loss(Y, TWO), rel=1e-13)
    assert card.auc.value == pytest.approx(metrics.roc_auc_score(Y, TWO[:, 1]), rel=1e-13)


def test_large_tables_are_read_by_several_threads():
    p = RNG.random(200_000)
    two = np.stack([1 - p, p], axis=1)
    assert calibrant._core.positive_column(two).base is not None
    two[150_123] = [0.5, 0.25]
    with pytest.raises(ValueError, match="at row 150123"):
        calibrant._core.positive_column(two)
    two[150_123] = [np.nan, 0.25]
    column = calibrant._core.positive_column(functools.reduce(np.append, [two]).reshape(-1, 2))
    assert np.isnan(column[150_123])
    assert np.array_equal(np.delete(column, 150_123), np.delete(p, 150_123))


def test_the_command_line(tmp_path):
    testing = pytest.importorskip("click.testing")
    from calibrant.commands import calibrant as program

    file = tmp_path / "rows.csv"
    np.savetxt(file, np.column_stack([Y, TWO]), "%.17g", ",", header="y,p0,p1", comments="")
    runner = testing.CliRunner()
    done = runner.invoke(program, ["score", str(file)])
    assert done.exit_code == 0, done.output
    assert "column 1 is scored" in done.output
    card = calibrant.scorecard(Y, P)
    assert f"{card.brier.value:.5f}" in done.output
    done = runner.invoke(program, ["score", str(file), "--multi-class", "top_label"])
    assert "column 1" not in done.output
    assert f"{calibrant.brier_score(Y, TWO, multi_class='top_label'):.5f}" in done.output
    assert "top-label AUC" in done.output
