"""Paired differences, against their definition in numbers of many digits."""

from __future__ import annotations

import json
import math
from statistics import NormalDist

import numpy as np
import pytest
import scipy.stats

import calibrant
from calibrant import streaming
from calibrant.comparison import ComparisonSums
from cards import assert_same
from comparison_reference import by_definition


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
        half = NormalDist().inv_cdf(0.975) * error
        assert difference.low == pytest.approx(mean - half, rel=1e-9)
        assert difference.high == pytest.approx(mean + half, rel=1e-9)
        assert difference.pvalue == pytest.approx(
            2 * NormalDist().cdf(-abs(mean / error)), rel=1e-7
        )


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
    assert same.verdicts() == ["a and b: chance may explain all differences."]
    assert same.differences["a", "b"].brier.standard_error == 0.0


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
    assert list(pair.result()) == list(found.differences["a", "b"])


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
        ({"a": [0.5], "b": [[0.5, 0.5]]}, "same number of columns, got 1 and 2"),
        ({"a": [0.5], "b": [1.5]}, r"probas\['b'\] must lie in \[0, 1\], found 1.5 at row 0"),
        ({"a": [-1.0], "b": [1.5]}, r"probas\['a'\] must lie in \[0, 1\], found -1.* at row 0"),
        ({"a": [0.5], "b": [np.nan]}, r"probas\['b'\] has a missing value"),
    ],
)
def test_refusals(probas, message):
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
