"""Brier, log and spherical scores against their definitions, closed forms and scikit-learn.

The laws of accumulators are in test_invariants.py, what is rejected also in test_bad_input.py.
"""

from __future__ import annotations

import copy
import functools
import itertools
import math
import pickle
import struct
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

import calibrant
import reference
import strategies
from calibrant import (
    brier_score,
    brier_skill_score,
    gini_impurity,
    log_score,
    optimal_constant,
    spherical_score,
)
from calibrant._core import _testing
from calibrant.streaming import Scores, Windowed
from forged_states import MINUS_ONE, NONE, ONE

pytestmark = [pytest.mark.kernels, pytest.mark.build]

# The worked examples: (y_true, y_proba), Brier score, Brier skill score.
EXAMPLES = {
    "three values": (
        ([0, 0, 0, 1, 1, 0, 0, 1, 1, 1], [0.1] * 4 + [0.5] * 4 + [0.9] * 2),
        Fraction(93, 500),
        Fraction(32, 125),
    ),
    "six rows": (
        ([0, 0, 1, 0, 1, 1], [0.1, 0.3, 0.4, 0.6, 0.8, 0.9]),
        Fraction(29, 200),
        Fraction(21, 50),
    ),
    "three classes": (
        ([0, 1, 2, 1], [(0.7, 0.2, 0.1), (0.2, 0.5, 0.3), (0.1, 0.3, 0.6), (0.4, 0.4, 0.2)]),
        Fraction(67, 200),
        Fraction(58, 125),
    ),
}


@pytest.mark.parametrize(("rows", "brier", "skill"), EXAMPLES.values(), ids=EXAMPLES)
def test_worked_examples(rows, brier, skill):
    # The decimal inputs are rounded to floats, hence the tolerance.
    assert brier_score(*rows) == pytest.approx(float(brier), rel=1e-15)
    assert brier_skill_score(*rows) == pytest.approx(float(skill), rel=1e-15)


def test_the_scale_is_that_of_the_shape():
    assert brier_score([0, 1], [0.25, 0.5]) == 0.15625
    assert brier_score([0, 1], [[0.75, 0.25], [0.5, 0.5]]) == 0.15625
    assert brier_score([0, 1], [[0.75, 0.25], [0.5, 0.5]], multi_class="top_label") == 0.3125
    assert brier_score([0, 1], [1.0, 0.0]) == 1.0
    assert brier_score([0, 1], [[0, 1], [1, 0]], multi_class="top_label") == 2.0


def test_perfect_and_certain_forecasts():
    for y_proba in ([1.0, 0.0], [[0, 1], [1, 0]]):
        scores = Scores()
        scores.update([1, 0], y_proba)
        summary = scores.result()
        assert (summary.brier, summary.log, summary.spherical) == (0.0, 0.0, 1.0)
        assert math.copysign(1, summary.log) == 1
        assert scores.brier_skill_score() == 1.0
        assert log_score([0, 1], y_proba) == math.inf
        assert spherical_score([0, 1], y_proba) == 0.0


def test_a_zero_without_weight_does_not_make_the_log_score_infinite():
    assert log_score([1, 1], [0.0, 0.5], sample_weight=[0, 1]) == math.log(2)
    assert log_score([1, 1], [0.0, 0.5], sample_weight=[5e-324, 1]) == math.inf
    assert log_score([1, 1], [0.0, 0.5], q_lim=0.5**2) == math.log(2) * 1.5


def close(found, true, absolute):
    """Within 1 ulp, or the bound of a row's term where that is more."""
    return found == true or abs(found - true) <= max(math.ulp(float(true)), absolute)


@pytest.mark.parametrize("n_classes", [None, 2, 3, 4, 5, 9, 40])
@given(data=st.data())
def test_against_the_definitions(n_classes, data):
    y, p, w = data.draw(strategies.tables(n_classes=n_classes, min_rows=1, max_rows=12))
    if w is not None and not (w > 0).any():
        w[0] = 1.0
    q_lim = data.draw(strategies.q_lims)
    scores = Scores(q_lim=q_lim)
    how = {"sample_weight": w, "multi_class": "top_label"}
    scores.update(y, p, **how)
    found = scores.result()
    weights = None if w is None else w.tolist()
    k = n_classes or 2
    assert close(found.brier, reference.brier_score(y, p, weights), (k + 2) * 2.0**-81)
    assert close(found.spherical, reference.spherical_score(y, p, weights), k * 2.0**-60)
    assert close(found.log, reference.log_score(y, p, q_lim, weights), 2.0**-58)
    # The functions are the accumulator, used once.
    assert found.brier == brier_score(y, p, **how)
    assert found.log == log_score(y, p, q_lim=q_lim, **how)
    assert found.spherical == spherical_score(y, p, **how)


@pytest.mark.parametrize("n_classes", [None, 3])
def test_the_log_score_is_minus_the_log_of_the_accuracy(n_classes):
    y, p = strategies.nasty_table(3000, n_classes=n_classes)
    p = np.maximum(p, 1e-320) if n_classes else np.clip(p, 1e-320, 1 - 2.0**-53)
    for weight in (None, np.random.default_rng(0).random(3000)):
        accuracy = calibrant.risk_profile(y, p, sample_weight=weight).accuracy
        found = log_score(y, p, sample_weight=weight)
        assert found == pytest.approx(-math.log(accuracy), rel=2.0**-50)


def test_the_spherical_score_knows_no_scale():
    rows = np.array([[0.6, 0.8, 0.0], [0.25, 0.5, 0.25]])
    expected = spherical_score([0, 1], rows)
    for exponent in (-5, -11, -30, -300, -1040):
        # At 2^-1040 the values are subnormal and have lost bits.
        scaled = spherical_score([0, 1], np.ldexp(rows, exponent))
        assert scaled == pytest.approx(expected, rel=1e-9 if exponent < -1000 else 2.0**-52)
    assert spherical_score([0, 1], [[0, 0, 0], [0, 1, 0]]) == 0.5  # a row of zeros scores 0


def test_uniform_forecasts_in_closed_form():
    for k in (2, 3, 10, 1000, 5000):
        y = np.arange(8) % k
        p = np.full((8, k), 1 / k)
        assert brier_score(y, p, multi_class="top_label") == pytest.approx(1 - 1 / k, rel=1e-15)
        assert log_score(y, p) == pytest.approx(math.log(k), rel=1e-15)
        assert spherical_score(y, p) == pytest.approx(1 / math.sqrt(k), rel=1e-15)


def test_more_ones_than_a_grid_was_made_for():
    k = 2**20
    assert brier_score([0], np.ones((1, k))) == k - 1
    assert spherical_score([0], np.ones((1, k))) == 2.0**-10
    with pytest.raises(ValueError, match=r"scores need 2 to 2\^20 classes, got 1048577"):
        brier_score([0], np.ones((1, k + 1)))


def test_scores_are_proper():
    """In expectation nothing beats the truth."""
    truth = np.array([0.5, 0.3, 0.2])
    y = np.arange(3)
    others = np.random.default_rng(3).dirichlet(np.ones(3), 50)

    def expected(score, forecast):
        return score(y, np.tile(forecast, (3, 1)), sample_weight=truth)

    for other in others:
        assert expected(brier_score, truth) < expected(brier_score, other)
        assert expected(log_score, truth) < expected(log_score, other)
        assert expected(spherical_score, truth) > expected(spherical_score, other)


# Skill, the best constant, impurity


def test_skill_against_a_given_reference():
    y, p = [0, 1, 1], [0.25, 0.5, 1.0]
    skill = float(1 - Fraction(5, 16) / Fraction(3, 4))
    assert brier_skill_score(y, p, reference=0.5) == skill
    assert brier_skill_score(y, p, reference=[0.5, 0.5, 0.5]) == skill
    assert brier_skill_score(y, p, reference=p) == 0.0
    assert brier_skill_score(y, p, reference=2 / 3) == pytest.approx(brier_skill_score(y, p))
    rows = np.stack([1 - np.array(p), p], axis=1)
    assert brier_skill_score(y, rows, reference=[0.5, 0.5]) == skill
    assert brier_skill_score(y, rows) == brier_skill_score(y, p)


def test_skill_leaves_the_same_rows_out_of_both():
    y, p, r = [0, 1, 1, 0], [0.25, math.nan, 1.0, 0.5], [0.5, 0.5, math.nan, 0.25]
    found = brier_skill_score(y, p, reference=r, nan_policy="omit")
    assert found == brier_skill_score([0, 0], [0.25, 0.5], reference=[0.5, 0.25])
    with pytest.raises(ValueError, match=r"y_proba has a missing value \(NaN\) at row 1"):
        brier_skill_score(y, p, reference=r)


def test_skill_that_is_undefined():
    with pytest.raises(ValueError, match="undefined: all rows are of one class"):
        brier_skill_score([1, 1], [0.5, 0.75])
    with pytest.raises(ValueError, match="undefined: the reference is perfect"):
        brier_skill_score([1, 0], [0.5, 0.75], reference=[1, 0])
    with pytest.raises(ValueError, match=r"reference must fit y_proba of shape \(2,\), got .*3"):
        brier_skill_score([1, 0], [0.5, 0.75], reference=[0.1, 0.2, 0.3])


def test_the_best_constant_and_its_risk():
    y = np.array([0, 1, 2, 1])
    constant = optimal_constant(y)
    assert constant.tolist() == [0.25, 0.5, 0.25]
    assert gini_impurity(y) == brier_score(y, np.tile(constant, (4, 1))) == 0.625
    assert brier_skill_score(y, np.tile(constant, (4, 1))) == 0.0
    binary = np.array([0, 1, 1, 1])
    assert gini_impurity(binary) == 2 * brier_score(binary, [0.75] * 4) == 0.375
    assert gini_impurity([1, 1]) == 0.0
    assert optimal_constant([0, 0]).tolist() == [1.0, 0.0]
    assert optimal_constant([0, 2, 0]).tolist() == [2 / 3, 0.0, 1 / 3]
    assert optimal_constant([0, 1], n_classes=4).tolist() == [0.5, 0.5, 0.0, 0.0]
    assert optimal_constant(["b", "a", "b"], labels=["a", "b", "c"]).tolist() == [1 / 3, 2 / 3, 0.0]
    assert optimal_constant([1, math.nan, 0, 1], nan_policy="omit").tolist() == [1 / 3, 2 / 3]


@given(st.lists(st.integers(0, 4), min_size=1, max_size=40), st.data())
def test_impurity_against_its_definition(y, data):
    weights = data.draw(
        st.none() | st.lists(st.integers(1, 2**40), min_size=len(y), max_size=len(y))
    )
    mass = [Fraction(0)] * 5
    for label, w in zip(y, weights or [1] * len(y), strict=True):
        mass[label] += w
    share = [m / sum(mass) for m in mass]
    gini = sum(s * (1 - s) for s in share)
    assert gini_impurity(y, sample_weight=weights) == float(gini)
    assert optimal_constant(y, n_classes=5, sample_weight=weights).tolist() == [*map(float, share)]


def test_a_nearly_pure_node_keeps_its_digits():
    found = gini_impurity([0, 1], sample_weight=[1, 1e-30])
    assert found == pytest.approx(2e-30, rel=1e-15)
    assert brier_skill_score([0, 1], [0.0, 1.0], sample_weight=[1, 1e-30]) == 1.0


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"y_true": [0, 2], "n_classes": 2}, ValueError, "y_true must be 0 or 1, found 2 at row 1"),
        ({"y_true": [0, -1]}, ValueError, "found -1 at row 1"),
        ({"y_true": [0, 2**40]}, ValueError, f"found {2**40} at row 1"),
        ({"y_true": [0, math.nan]}, ValueError, r"y_true has a missing value \(NaN\) at row 1"),
        ({"y_true": ["a", "b"]}, TypeError, "y_true must hold integer class codes"),
        ({"y_true": []}, ValueError, "at least one row"),
        ({"y_true": [0, 1], "n_classes": 1}, ValueError, "n_classes must be at least 2, got 1"),
        ({"y_true": [0], "n_classes": 2, "labels": [0, 1]}, ValueError, "labels or n_classes"),
        ({"y_true": [0, 1], "n_classes": 2**20 + 1}, ValueError, r"2 to 2\^20 classes"),
    ],
)
def test_labels_that_are_rejected(arguments, error, message):
    with pytest.raises(error, match=message):
        optimal_constant(**arguments)
    with pytest.raises(error, match=message):
        gini_impurity(**arguments)


# Against scikit-learn


def test_scikit_learn_binary():
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(5)
    p = rng.random(5000)
    y = (rng.random(5000) < p).astype(int)
    for weight in (None, rng.random(5000)):
        loss = metrics.brier_score_loss(y, p, sample_weight=weight)
        assert brier_score(y, p, sample_weight=weight) == pytest.approx(loss, rel=1e-12)
        loss = metrics.log_loss(y, p, sample_weight=weight)
        assert log_score(y, p, sample_weight=weight) == pytest.approx(loss, rel=1e-12)
    names = np.array(["no", "yes"])[y]
    loss = metrics.brier_score_loss(names, p, pos_label="yes")
    assert brier_score(names, p, pos_label="yes") == pytest.approx(loss, rel=1e-12)


@pytest.mark.parametrize("k", [2, 3, 10])
def test_scikit_learn_multiclass(k):
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(k)
    p = rng.dirichlet(np.ones(k), 2000)
    y = rng.integers(0, k, 2000)
    for half, scale in ((False, 1), (True, 0.5), ("auto", 0.5 if k == 2 else 1)):
        loss = metrics.brier_score_loss(y, p, scale_by_half=half)
        score = brier_score(y, p, multi_class="top_label")
        assert scale * score == pytest.approx(loss, rel=1e-12)
    assert log_score(y, p) == pytest.approx(metrics.log_loss(y, p), rel=1e-12)


# The accumulator


def summed(rows=([1, 0], [0.75, 0.5]), **parameters):
    total = Scores(**parameters)
    total.update(*rows)
    return total


THREE = ([0, 2], [[0.5, 0.25, 0.25], [0.0, 1.0, 0.0]])


def test_summary():
    summary = summed(q_lim=0.01).result()
    assert repr(summary) == (
        "ScoreSummary(brier=0.15625, log=0.490415, spherical=0.827895, n=2, q_lim=0.01)"
    )
    assert summary.to_dict()["brier"] == 0.15625
    assert repr(summed()) == "streaming.Scores(n=2, q_lim=0.0)"


def test_omitted_rows_are_counted():
    total = Scores()
    total.update([1, 0, 1], [0.75, math.nan, 0.5], nan_policy="omit")
    total.update([math.nan, 0], [0.75, 0.5], sample_weight=[1, 2], nan_policy="omit")
    assert (total.n, total.n_omitted) == (3, 2)
    assert total.result().n_omitted == 2
    same = summed(([1, 1, 0, 0], [0.75, 0.5, 0.5, 0.5]))
    assert total.result().brier == same.result().brier
    assert total.optimal_constant().tolist() == [0.5, 0.5]


def test_the_shape_is_kept():
    total = summed()
    total.update([], [])
    total.update([], np.empty((0, 3)))  # nothing was said about the shape
    before = total.to_bytes()
    message = r"y_proba must keep its shape: \(n,\) so far, now \(n, 3\)"
    with pytest.raises(ValueError, match=message):
        total.update(*THREE)
    with pytest.raises(ValueError, match=message):
        total.merge(summed(THREE))
    with pytest.raises(ValueError, match=r"\(n,\) so far, now \(n, 2\)"):
        total.update([1], [[0.5, 0.5]], multi_class="top_label")
    with pytest.raises(
        ValueError, match=r"must have rows that sum to 1, found 0.5 \+ 0.25 at row 0"
    ):
        total.update([1], [[0.5, 0.25]])
    assert total.to_bytes() == before
    assert Scores().merge(summed(THREE)) == summed(THREE)


def test_what_cannot_be_merged():
    with pytest.raises(ValueError, match=r"scores with q_lim 0.01 into scores with q_lim 0$"):
        summed().merge(summed(q_lim=0.01))
    with pytest.raises(TypeError, match=r"cannot merge streaming\.RiskProfile into streaming\.S"):
        summed().merge(calibrant.streaming.RiskProfile())
    for q_lim in (-0.1, 0.5, math.nan):
        with pytest.raises(ValueError, match=r"q_lim must satisfy 0 <= q_lim < 0.5"):
            Scores(q_lim=q_lim)
    with pytest.raises(TypeError, match="q_lim must be a real number, got 'small'"):
        log_score([1], [0.5], q_lim="small")


# Some of the scores

NAMES = ("brier", "log", "spherical")
SUBSETS = [kept for n in (1, 2, 3) for kept in itertools.combinations(NAMES, n)]
each_subset = pytest.mark.parametrize("kept", SUBSETS, ids="+".join)


@each_subset
@pytest.mark.parametrize("n_classes", [None, 2, 5])
@pytest.mark.parametrize("weighted", [False, True])
def test_scores_that_are_kept_have_the_same_bits(kept, n_classes, weighted):
    y, p = strategies.nasty_table(3000, n_classes=n_classes)
    w = np.random.default_rng(1).choice([0.0, 1.0, 0.1, 3e20], 3000) if weighted else None
    some, full = Scores(scores=kept[::-1], q_lim=1e-9), Scores(q_lim=1e-9)
    for total in (some, full):
        for part in (slice(None, 1000), slice(1000, None)):
            weight = w if w is None else w[part]
            total.update(y[part], p[part], sample_weight=weight, multi_class="top_label")
    found, expected = some.result(), full.result()
    for name in NAMES:
        assert getattr(found, name) == (getattr(expected, name) if name in kept else None)
    assert (found.n, found.q_lim) == (expected.n, expected.q_lim)
    assert some.optimal_constant().tolist() == full.optimal_constant().tolist()
    if "brier" in kept:
        assert some.brier_skill_score() == full.brier_skill_score()
    if kept == NAMES:
        assert some.to_bytes() == full.to_bytes()


@each_subset
def test_which_scores_are_kept_is_told(kept):
    total, full = summed(scores=kept[::-1]), summed()
    assert total.scores == kept
    some = "" if kept == NAMES else f", scores={kept!r}"
    assert repr(total) == f"streaming.Scores(n=2, q_lim=0.0{some})"
    view = total.to_dict()
    assert view["parameters"].get("scores", list(NAMES)) == list(kept)
    assert [name for name in NAMES if view["result"][name] is not None] == list(kept)
    assert [name for name in NAMES if f"{name}=" in repr(total.result())] == list(kept)
    attributes = calibrant.telemetry.attributes(total.result())
    assert [name for name in NAMES if f"calibrant.{name}" in attributes] == list(kept)
    text = calibrant.telemetry.prometheus_text(total.result())
    assert [name for name in NAMES if f"calibrant_{name} " in text] == list(kept)
    changes = calibrant.drift.drift(total, total).changes
    assert [change.name for change in changes] == list(kept)
    if kept != NAMES:
        for left, right in ((total, full), (full, total)):
            before = left.to_bytes()
            with pytest.raises(ValueError, match="cannot merge sums of different scores"):
                left.merge(right)
            assert left.to_bytes() == before
            assert left != right
    assert Scores(scores=kept).merge(total) == total


def test_what_is_not_kept_has_no_skill():
    for total in (Scores(scores=["log"]), summed(scores=["log"])):
        with pytest.raises(ValueError, match=r"Scores\(scores=\('log',\)\) keeps no 'brier'"):
            total.brier_skill_score()
    with pytest.raises(ValueError, match="at least one row"):
        Scores(scores=["log"]).result()


def test_windows_of_some_scores():
    by_rows = Windowed(functools.partial(Scores, scores=["spherical"]), rows=2)
    by_rows.update([1, 0, 1], [0.75, 0.5, 0.25])
    assert by_rows.windows()[0].result == summed(scores=["spherical"]).result()
    assert Windowed.from_bytes(by_rows.to_bytes()).total().scores == ("spherical",)


@pytest.mark.parametrize(
    ("scores", "error", "message"),
    [
        ("brier", TypeError, "scores must be a sequence of names, got 'brier'"),
        (None, TypeError, "scores must be a sequence of names, got None"),
        ([], ValueError, "scores must name one of 'brier', 'log', 'spherical' at least, got none"),
        (["brier", 3], TypeError, "each of scores must be a str, got 3"),
        (["crps"], ValueError, "each of scores must be 'brier', 'log' or 'spherical', got 'crps'"),
        (["log", "brier", "log"], ValueError, "scores must be distinct, found 'log' twice"),
    ],
)
def test_scores_that_are_rejected(scores, error, message):
    with pytest.raises(error, match=message):
        Scores(scores=scores)


STATES = {
    "empty": Scores(),
    "binary": summed(),
    "three": summed(THREE, q_lim=0.125),
    **{"+".join(kept): summed(THREE, scores=kept) for kept in SUBSETS},
}
each_state = pytest.mark.parametrize("total", STATES.values(), ids=STATES)


@each_state
def test_written_and_read_again(total):
    saved = total.to_bytes()
    for back in (
        Scores.from_bytes(saved),
        calibrant.streaming.restore(saved),
        copy.deepcopy(total),
        pickle.loads(pickle.dumps(total)),
    ):
        assert back == total
        assert back.to_bytes() == saved
        assert repr(back) == repr(total)


SCORE_SUMS = 4


def read_or_reject(payload: bytes) -> None:
    """Bytes that no release wrote, under a sound seal: rejected, or read as they stand."""
    sealed = _testing.seal(SCORE_SUMS, 1, payload)
    try:
        total = Scores.from_bytes(sealed)
    except ValueError:
        return
    assert total.to_bytes() == sealed
    try:
        total.result()
        total.optimal_constant()
        total.brier_skill_score()
        total.merge(total)
        total.update([1, 0], [0.0, 0.25], sample_weight=[1, 1e300])
    except (ValueError, OverflowError):
        return


@given(payload=st.binary(max_size=200))
def test_junk(payload):
    read_or_reject(payload)
    read_or_reject(Scores().to_bytes()[20:40] + payload)


def payload_of(kept=7, q_lim=0.0, counts=(1, 1, 0, 0), classes=(ONE, NONE), sums=(ONE,) * 3):
    """The documented fields: scores, q_lim, (columns, n, omitted, zeros), class and score sums."""
    head = struct.pack("<Bd4QQ", kept, q_lim, *counts, len(classes))
    return head + b"".join(classes) + b"".join(sums)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"kept": 8}, "unknown scores"),
        ({"kept": 0, "sums": ()}, "must hold one score at least, found none"),
        ({"kept": 3}, "bytes after its last field"),
        ({"q_lim": 0.5}, "q_lim out of range"),
        ({"q_lim": -0.0}, "q_lim out of range"),
        ({"counts": (3, 1, 0, 0)}, "disagree"),  # columns and classes
        ({"counts": (2**64 - 1, 1, 0, 0)}, "disagree"),
        ({"counts": (0, 1, 0, 0), "classes": ()}, "disagree"),
        ({"counts": (0, 0, 1, 0), "classes": (), "sums": (NONE,) * 3}, "disagree"),
        ({"counts": (1, 0, 0, 0), "classes": (NONE, NONE), "sums": (NONE,) * 3}, "disagree"),
        ({"counts": (1, 1, 0, 2)}, "disagree"),  # more zeros than rows
        ({"counts": (1, 0, 0, 0)}, "disagree"),  # sums of no rows
        ({"classes": (ONE, MINUS_ONE)}, "disagree"),
    ],
)
def test_states_that_cannot_be(fields, message):
    Scores.from_bytes(_testing.seal(SCORE_SUMS, 1, payload_of()))  # this one can
    with pytest.raises(ValueError, match=message):
        Scores.from_bytes(_testing.seal(SCORE_SUMS, 1, payload_of(**fields)))
