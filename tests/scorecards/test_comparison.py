"""Paired differences, against their definition in numbers of many digits."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
import scipy.stats

import calibrant
from calibrant import _core, streaming
from calibrant._core import _testing
from calibrant._result import holm
from calibrant.comparison import ComparisonSums
from calibrated_rows import BINARY, CLASSES, outcomes, sharpened
from cards import assert_same
from comparison_reference import by_definition, judged

pytestmark = pytest.mark.kernels


def two_models(n, n_classes=None, seed=5):
    rng = np.random.default_rng(seed)
    if n_classes is None:
        p = rng.random(n)
        return (
            (rng.random(n) < p).astype(int),
            p,
            np.clip(p + rng.normal(0, 0.1, n), 1e-9, 1 - 1e-9),
        )
    p = rng.dirichlet(np.ones(n_classes), n)
    q = 0.6 * p + 0.4 * rng.dirichlet(np.ones(n_classes), n)
    return rng.integers(0, n_classes, n), p, q


@pytest.mark.parametrize("n_classes", [None, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_by_definition(n_classes, weighted):
    y, p, q = two_models(400, n_classes)
    weights = np.random.default_rng(1).random(400) if weighted else np.ones(400)
    options = {"sample_weight": weights} if weighted else {}
    found = calibrant.compare(y, {"a": p, "b": q}, **options).differences["a", "b"]
    for name, both in by_definition(y, p, q, weights).items():
        mean, error = map(float, both)
        difference = getattr(found, name)
        assert difference.value == pytest.approx(mean, rel=1e-13, abs=1e-18)
        assert difference.standard_error == pytest.approx(error, rel=1e-10)
    for name, (pvalue, low, high) in judged(y, p, q, weights, 0.95).items():
        difference = getattr(found, name)
        assert difference.pvalue == pytest.approx(pvalue, rel=1e-6)
        assert difference.low == pytest.approx(low, rel=1e-7, abs=1e-12)
        assert difference.high == pytest.approx(high, rel=1e-7, abs=1e-12)


@pytest.mark.parametrize("df", [1, 2, 2.5, 7, 40, 130.25, 1e4, 1e6, 1e9])
def test_student_law(df):
    for t in (0.01, 0.1, 0.7, 1.0, 2.0, 5.0, 12.0, 30.0):
        expected = 2 * scipy.stats.t.sf(t, df)
        if expected > 1e-200:
            assert _core.student_two_sided(-t, df) == pytest.approx(expected, rel=1e-10)
    for level in (1e-9, 0.001, 0.05, 0.3, 0.999):
        expected = scipy.stats.t.isf(level / 2, df)
        assert _core.student_quantile(level, df) == pytest.approx(expected, rel=1e-9)


def test_holm():
    pvalues = [0.04, 0.01, 0.9, 0.02]
    assert holm(pvalues) == pytest.approx((0.08, 0.04, 0.9, 0.06))
    assert holm([0.03, 0.03]) == (0.06, 0.06)
    assert holm([]) == ()


def test_the_difference_is_that_of_the_scores():
    y, p, q = two_models(10_000)
    result = calibrant.compare(y, {"a": p, "b": q})
    for name, score in [("brier", calibrant.brier_score), ("log", calibrant.log_score)]:
        value = getattr(result.differences["a", "b"], name).value
        assert value == pytest.approx(score(y, p) - score(y, q), abs=2.0**-52)
    assert_same(result.scorecards["a"], calibrant.scorecard(y, p))


def test_the_standard_error_is_the_usual_one():
    y, p, q = two_models(5_000)
    found = calibrant.compare(y, {"a": p, "b": q}).differences["a", "b"].brier
    d = (p - y) ** 2 - (q - y) ** 2
    assert found.standard_error == pytest.approx(scipy.stats.sem(d, ddof=0), rel=1e-10)


def test_intervals_cover_as_they_say():
    """Two equally good models: nine in ten intervals of 90% hold 0."""
    rng = np.random.default_rng(12)
    held = 0
    for _ in range(300):
        p = rng.random(200)
        y = rng.random(200) < p
        noise = rng.normal(0, 0.1, (2, 200))
        a, b = np.clip(p + noise, 0.01, 0.99)
        found = calibrant.compare(y, {"a": a, "b": b}, confidence_level=0.9)
        d = found.differences["a", "b"].brier
        held += d.low <= 0 <= d.high
    assert 255 <= held <= 285  # 270 +- 3 standard deviations


def test_which_is_better():
    y, p, _ = two_models(20_000)
    bold = np.clip(1.6 * (p - 0.5) + 0.5, 0.001, 0.999)
    result = calibrant.compare(y, {"good": p, "bold": bold})
    d = result.differences["good", "bold"]
    assert (d.brier.better, d.log.better, d.spherical.better) == ("first",) * 3
    assert (d.hit_rate.value, d.hit_rate.better, d.hit_rate.pvalue) == (0.0, "", 1.0)
    assert result.verdicts() == [
        "good is better than bold by Brier score, log score and spherical score."
    ]
    swapped = calibrant.compare(y, {"bold": bold, "good": p}).differences["bold", "good"]
    assert (swapped.brier.better, swapped.brier.value) == ("second", -d.brier.value)
    same = calibrant.compare(y, {"a": p, "b": p})
    assert same.verdicts() == ["a and b: no score differs."]
    assert all((d.low, d.high, d.pvalue) == (0.0, 0.0, 1.0) for _, d in same.differences["a", "b"])
    assert "no difference" in repr(same)


def test_a_winner_needs_evidence():
    """What once named winners: one row, rows without an event, weights of less than two rows."""
    one = calibrant.compare([1], {"a": [0.9], "b": [0.4]})
    assert one.verdicts() == ["a and b: too few rows to tell which is better."]
    for _, d in one.differences["a", "b"]:
        assert (d.low, d.high, d.pvalue, d.better) == (None, None, None, "")
        assert d.reason == "too few rows: their weights sum to less than 2"
    assert one.differences["a", "b"].brier.value == pytest.approx(0.01 - 0.36)
    assert "too few rows" in repr(one)
    light = calibrant.compare([1] * 9, {"a": [0.9] * 9, "b": [0.4] * 9}, sample_weight=[0.1] * 9)
    assert light.verdicts() == one.verdicts()
    none = calibrant.compare(np.zeros(50), {"a": np.full(50, 0.01), "b": np.full(50, 0.002)})
    assert none.verdicts() == ["a and b: too few events to tell which is better."]
    for name, d in none.differences["a", "b"]:
        assert d.low < d.high
        assert d.low <= 0 <= d.high, name
    # Where the loser would have had many events, there is no doubt.
    clear = calibrant.compare(np.zeros(50), {"a": np.full(50, 0.01), "b": np.full(50, 0.4)})
    assert clear.verdicts() == ["a is better than b by Brier score, log score and spherical score."]


def test_weights_are_repetitions():
    y, p, q = two_models(60)
    times = np.random.default_rng(3).integers(0, 4, 60)
    found = calibrant.compare(y, {"a": p, "b": q}, sample_weight=times).differences["a", "b"]
    y, p, q = (np.repeat(values, times) for values in (y, p, q))
    expected = calibrant.compare(y, {"a": p, "b": q}).differences["a", "b"]
    for name, d in expected:
        assert getattr(found, name).to_dict() == d.to_dict(), name


def test_two_columns_are_one():
    y, p, q = two_models(500)
    one = calibrant.compare(y, {"a": p, "b": q}).differences["a", "b"]
    two = calibrant.compare(
        y, {"a": np.column_stack([1 - p, p]), "b": np.column_stack([1 - q, q])}
    ).differences["a", "b"]
    for name, d in one:
        other = getattr(two, name)
        scale = 1.0  # two columns are the binary problem
        assert other.pvalue == pytest.approx(d.pvalue, rel=1e-9), name
        assert other.low == pytest.approx(scale * d.low, rel=1e-9), name


def test_nothing_bounds_the_log_score_where_a_model_gave_0():
    y, p, q = two_models(300)
    q[np.flatnonzero(y == 0)[0]] = 0.0
    for both in (
        {"a": p, "b": q},
        {"a": np.column_stack([1 - p, p]), "b": np.column_stack([1 - q, q])},
    ):
        found = calibrant.compare(y, both).differences["a", "b"]
        assert found.log.value is not None
        assert (found.log.low, found.log.high) == (None, None)
        assert found.log.pvalue >= min(1.0, 2 * math.exp(-300 * abs(found.log.value)))
        assert "could have happened" in found.log.reason
        assert found.brier.low is not None
        clipped = calibrant.compare(y, both, q_lim=1e-6).differences["a", "b"]
        assert clipped.log.low is not None
    both_zero = calibrant.compare([0, 1, 1], {"a": [0.0, 0.6, 0.7], "b": [0.0, 0.5, 0.5]})
    assert both_zero.differences["a", "b"].log.low is not None


def test_a_model_that_gives_0_does_not_win_without_an_event():
    """Its gain in the log score is as likely as its likelihood ratio says."""
    none = streaming.PairedScores()
    none.update(np.zeros(100), np.zeros(100), np.full(100, 0.01))
    d = none.result().log
    assert (d.better, d.pvalue, d.low) == ("", 1.0, None)
    y, p, _ = two_models(2000)
    p, rare = np.append(p, np.full(9, 1e-9)), np.append(sharpened(p, 1.6), np.zeros(9))
    found = calibrant.compare(np.append(y, np.zeros(9)), {"a": p, "b": rare})
    d = found.differences["a", "b"].log
    assert (d.better, d.low) == ("first", None)
    assert "no interval" in repr(found)


def test_states_without_moments_are_rejected():
    payload = streaming.PairedScores().to_bytes()[20:-4]
    sealed = _testing.seal(20, 1, payload)
    with pytest.raises(ValueError, match="PairedScores of payload version 1"):
        streaming.PairedScores.from_bytes(sealed)


def false_winners(law, n, make, seed, runs=300):
    """How often a side is called better by any score, if outcomes are drawn from the law."""
    rng = np.random.default_rng(seed)
    counts = {"first": 0, "second": 0}
    for _ in range(runs):
        p = law(rng, n)
        pair = streaming.PairedScores()
        pair.update(outcomes(rng, p), *make(rng, p))
        for side in counts:
            counts[side] += any(d.better == side for _, d in pair.result())
    return counts


def noisy(rng, p):
    return tilted(p, np.exp(rng.standard_normal(p.shape)))


def tilted(p, by):
    if p.ndim == 2:
        return p * by / (p * by).sum(axis=1, keepdims=True)
    return np.minimum(p * by / (p * by + (1 - p)), 1.0)


SETTINGS = [
    ("Beta(0.5, 49.5), 1 %", 50), ("Beta(0.5, 49.5), 1 %", 200), ("constant 0.01", 50),
    ("log-uniform 1e-3 to 1e-2", 200), ("uniform", 20), ("Beta(0.2, 0.2)", 20),
    ("uniform", 200), ("3 classes, one rare", 30), ("4 classes, Dirichlet(1)", 20),
]  # fmt: skip


@pytest.mark.parametrize(("law", "n"), SETTINGS)
def test_the_wrong_model_is_not_called_better(law, n):
    make = {**BINARY, **CLASSES}[law]
    for factor in (1.5, 0.67):
        counts = false_winners(make, n, lambda _, p, by=factor: (p, sharpened(p, by)), 1)
        assert counts["second"] <= 15  # 5 %
    for factor in (0.4, 2.5):
        if make(np.random.default_rng(0), 1).ndim == 1:
            counts = false_winners(make, n, lambda _, p, by=factor: (p, tilted(p, by)), 2)
            assert counts["second"] <= 15


@pytest.mark.parametrize(("law", "n"), SETTINGS)
def test_of_two_equally_good_models_none_is_called_better(law, n):
    make = {**BINARY, **CLASSES}[law]
    counts = false_winners(make, n, lambda rng, p: (noisy(rng, p), noisy(rng, p)), 3)
    assert sum(counts.values()) <= 18  # 6 %


def test_what_differs_is_found():
    counts = false_winners(BINARY["uniform"], 2000, lambda _, p: (p, sharpened(p, 1.5)), 4, 200)
    assert (counts["first"] >= 180, counts["second"]) == (True, 0)
    counts = false_winners(
        CLASSES["4 classes, Dirichlet(1)"], 2000, lambda _, p: (p, sharpened(p, 1.5)), 5, 50
    )
    assert (counts["first"] >= 45, counts["second"]) == (True, 0)


RARER = [
    ("uniform", 50), ("Beta(0.5, 9.5), 5 %", 50), ("Beta(0.5, 49.5), 1 %", 50),
    ("Beta(0.5, 49.5), 1 %", 500), ("constant 0.01", 500),
]  # fmt: skip


@pytest.mark.parametrize(("law", "n"), RARER)
def test_intervals_hold_the_mean_difference(law, n):
    rng = np.random.default_rng(7)
    make, runs, held = BINARY[law], 400, 0
    p = make(rng, 200_000)
    q = sharpened(p, 1.5)
    mean = np.mean(p * ((p - 1) ** 2 - (q - 1) ** 2) + (1 - p) * (p**2 - q**2))
    for _ in range(runs):
        p = make(rng, n)
        pair = streaming.PairedScores()
        pair.update(outcomes(rng, p), p, sharpened(p, 1.5))
        d = pair.result().brier
        assert d.low < d.high
        held += d.low <= mean <= d.high
    assert held >= 0.92 * runs


def test_a_certain_error_leaves_the_log_score_undefined():
    result = calibrant.compare([1, 0], {"a": [0.0, 0.5], "b": [0.5, 0.5]})
    found = result.differences["a", "b"].log
    assert (found.value, found.pvalue) == (None, None)
    assert found.reason == "a model gave probability 0 to what happened"
    assert "undefined: a model gave" in repr(result)
    clipped = calibrant.compare([1, 0], {"a": [0.0, 0.5], "b": [0.5, 0.5]}, q_lim=0.25)
    assert clipped.differences["a", "b"].log.value == pytest.approx(math.log(2) / 2)


def test_three_models_make_three_pairs():
    y, p, q = two_models(500)
    result = calibrant.compare(y, {"a": p, "b": q, "c": np.full(500, 0.5)})
    every = [d for scores in result.differences.values() for _, d in scores]
    assert tuple(d.adjusted_pvalue for d in every) == holm([d.pvalue for d in every])
    assert [bool(d.better) for d in every] == [d.adjusted_pvalue <= 0.05 for d in every]
    assert list(result.differences) == [("a", "b"), ("a", "c"), ("b", "c")]
    plain = result.to_dict()
    json.dumps(plain, allow_nan=False)
    assert len(plain["differences"]) == 12
    assert plain["differences"][0]["first"] == "a"


def test_a_row_that_is_missing_for_one_model_is_left_out_for_all():
    y, p, q = two_models(300)
    p[7], q[9], q[11] = np.nan, np.nan, np.nan
    good = np.delete(np.arange(300), [7, 9, 11])
    models = {"a": p, "b": q, "c": np.full(300, 0.25)}
    found = calibrant.compare(y, models, nan_policy="omit")
    expected = calibrant.compare(y[good], {name: values[good] for name, values in models.items()})
    assert (found.n, found.n_omitted) == (297, 3)
    for pair, differences in expected.differences.items():
        assert list(found.differences[pair]) == list(differences)
    for name, card in expected.scorecards.items():
        assert list(found.scorecards[name]) == list(card)
        assert found.scorecards[name].n_omitted == 3
    pair = streaming.PairedScores()
    pair.update(y, p, q, nan_policy="omit")
    for name, d in pair.result():  # adjusted for one pair, not for three
        other = getattr(found.differences["a", "b"], name)
        assert (d.value, d.pvalue, d.low) == (other.value, other.pvalue, other.low)


def test_names_as_labels():
    y, p, q = two_models(50)
    named = np.where(y == 1, "yes", "no")
    found = calibrant.compare(named, {"a": p, "b": q}, labels=["no", "yes"])
    assert found == calibrant.compare(y, {"a": p, "b": q})


def test_batches_and_merges():
    y, p, q = two_models(1_000)
    total, parts = ComparisonSums(["a", "b"]), []
    for rows in np.array_split(np.random.default_rng(2).permutation(1_000), 5):
        part = total.empty()
        part.update(y[rows], {"a": p[rows], "b": q[rows]})
        parts.append(part)
    for part in reversed(parts):
        total.merge(part)
    assert total.result() == calibrant.compare(y, {"a": p, "b": q})


@pytest.mark.parametrize(
    ("probas", "message"),
    [
        ({"a": [0.5]}, "needs two models or more"),
        ({}, "needs two models or more"),
        ({"a": [0.5], "b": [0.5, 0.5]}, "must have the same length"),
        ({"a": [0.5], "b": [[0.5, 0.5, 0.0]]}, "same number of columns, got 1 and 3"),
        (
            {"a": [0.5], "b": [[0.5, 0.3]]},
            r"probas\['b'\] of shape \(n, 2\) must have rows that sum",
        ),
        ({"a": [0.5], "b": [1.5]}, r"probas\['b'\] must lie in \[0, 1\], found 1.5 at row 0"),
        ({"a": [-1.0], "b": [1.5]}, r"probas\['a'\] must lie in \[0, 1\], found -1.* at row 0"),
        ({"a": [0.5], "b": [np.nan]}, r"probas\['b'\] has a missing value"),
    ],
)
def test_rejections(probas, message):
    with pytest.raises(ValueError, match=message):
        calibrant.compare([1], probas)


def test_the_first_bad_row_of_either_model_in_many():
    y, p, q = two_models(200_000)
    q[123_456] = 2.0
    pair = streaming.PairedScores()
    with pytest.raises(ValueError, match=r"second must lie in .* found 2.* at row 123456"):
        pair.update(y, p, q)
    assert pair == streaming.PairedScores()


def test_models_that_differ_are_not_merged():
    with pytest.raises(ValueError, match="cannot merge models"):
        ComparisonSums(["a", "b"]).merge(ComparisonSums(["a", "c"]))
    with pytest.raises(ValueError, match="probas must be of"):
        ComparisonSums(["a", "b"]).update([1], {"a": [0.5], "c": [0.5]})
    with pytest.raises(ValueError, match=r"q_lim 0\.1 into one with q_lim 0"):
        streaming.PairedScores().merge(streaming.PairedScores(q_lim=0.1))
    with pytest.raises(ValueError, match=r"0 <= q_lim < 0\.5"):
        streaming.PairedScores(q_lim=0.5)
    with pytest.raises(TypeError, match="q_lim must be a real number"):
        streaming.PairedScores(q_lim="0.1")


def test_a_state_that_cannot_be():
    pair = streaming.PairedScores()
    with pytest.raises(ValueError, match="needs at least one row"):
        pair.result()
    pair.update([1], [0.5], [0.25], sample_weight=[0.0])
    with pytest.raises(ValueError, match="all 1 have weight 0"):
        pair.result()
    assert streaming.PairedScores.from_bytes(pair.to_bytes()) == pair
