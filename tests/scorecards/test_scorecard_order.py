"""Numbers of a scorecard that need the order of scores."""

from __future__ import annotations

import numpy as np
import pytest

import calibrant
from calibrant import scorecard, streaming
from cards import ORDERED, binary, check_stream

pytestmark = pytest.mark.kernels

NASTY = {
    "smooth": lambda u: u,
    "ties": lambda u: u.round(2),
    "one cell": lambda u: 0.25 + u * 2.0**-20,
    "near 0": lambda u: 10 ** (-330 * u),
    "certain": lambda u: (u > 0.5) * 1.0,
}


def area_interval(curve, y, w, z=1.959963984540054):
    """Wilson's, with the variance of DeLong and some of that of Hanley and McNeil."""
    m, n = w[y == 1].sum(), w[y == 0].sum()
    k = min(m, n)
    a = (curve.auc * k + 0.5) / (k + 1)
    q1, q2 = a / (2 - a) - a**2, 2 * a**2 / (1 + a) - a**2
    model = (a * (1 - a) + (m - 1) * q1 + (n - 1) * q2) / (m * n)
    delong = curve.auc_standard_error**2
    variance = delong + max(model - delong, 0) * min(30 / k, 1)
    rows = a * (1 - a) / variance
    centre = (curve.auc + z**2 / (2 * rows)) / (1 + z**2 / rows)
    half = np.sqrt(curve.auc * (1 - curve.auc) / rows + (z / rows) ** 2 / 4) * z / (1 + z**2 / rows)
    return max(centre - half, 0), min(centre + half, 1)


@pytest.mark.parametrize("n", [40, 3000, 70_000])
@pytest.mark.parametrize("kind", NASTY)
@pytest.mark.parametrize("weighted", [False, True])
def test_ordered_rows_are_those_of_the_tests(n, kind, weighted):
    rng = np.random.default_rng(n)
    p = NASTY[kind](rng.random(n))
    y = (rng.random(n) < p**1.2).astype(int)
    y[:4] = 0, 1, 0, 1
    w = rng.integers(0, 3, n) if weighted else None
    if weighted:
        w[:4] = 1
    card = scorecard(y, p, sample_weight=w)
    tests = calibrant.cumulative_tests(y, p, sample_weight=w)
    for test, name in ((tests.ks, "ks"), (tests.kuiper, "kuiper")):
        assert getattr(card, name).value == test.statistic
        assert getattr(card, f"{name}_pvalue").value == test.pvalue
    curve = calibrant.roc_curve(y, p, sample_weight=w)
    assert card.auc.value == calibrant.roc_auc(y, p, sample_weight=w) == curve.auc
    low, high = area_interval(curve, y, np.ones(n) if w is None else w)
    assert (card.auc.low, card.auc.high) == pytest.approx((low, high), rel=1e-6)
    total = streaming.Scorecard()
    half = {} if w is None else {"sample_weight": w[: n // 2]}
    total.update(y[: n // 2], p[: n // 2], **half)
    half = {} if w is None else {"sample_weight": w[n // 2 :]}
    total.update(y[n // 2 :], p[n // 2 :], **half)
    check_stream(total.result(), card)
    if kind in ("ties", "certain"):
        assert total.result() == card  # nothing is uncertain


def test_ordered_rows_of_classes():
    rng = np.random.default_rng(3)
    p = rng.dirichlet(np.ones(3), 500)
    y = rng.integers(0, 3, 500)
    card = scorecard(y, p)
    hits = (p.argmax(axis=1) == y).astype(int)
    assert card.ks.value == calibrant.ks_test(y, p).statistic
    assert card.auc.value == calibrant.roc_auc(hits, p.max(axis=1))


def test_ordered_rows_of_groups():
    y, p = binary(3000)
    keys = np.random.default_rng(4).integers(0, 7, 3000)
    w = np.random.default_rng(5).integers(0, 3, 3000)
    card = scorecard(y, p, groups=keys, sample_weight=w)
    for key in range(7):
        rows = keys == key
        alone = scorecard(y[rows], p[rows], sample_weight=w[rows])
        for name in ORDERED:
            assert getattr(card.groups[key], name) == getattr(alone, name)
    some = np.where(keys == 3, None, keys.astype(object))
    card = scorecard(y, p, groups=some, nan_policy="omit")
    rest = scorecard(y[keys != 3], p[keys != 3])
    for name in ORDERED:
        assert getattr(card, name) == getattr(rest, name)


def test_auc_without_pairs_or_interval():
    card = scorecard([1, 1], [0.25, 0.5])
    assert card.auc.value is None
    assert "no pairs" in card.auc.reason
    total = streaming.Scorecard()
    total.update([1, 1], [0.25, 0.5])
    assert total.result() == card
    card = scorecard([1, 0, 0], [0.5, 0.25, 0.75])
    assert (card.auc.value, card.auc.low, card.auc.method) == (0.5, None, "none")
    assert "too few events" in card.auc.reason


def test_the_interval_of_the_area_covers():
    rng = np.random.default_rng(6)
    held = 0
    for _ in range(200):
        p = rng.random(300)
        y = (rng.random(300) < p).astype(int)
        card = scorecard(y, p, n_bins=2)
        held += card.auc.low <= 5 / 6 <= card.auc.high  # the area of scores that are right
    assert 180 <= held <= 199


def test_the_table_of_a_stream():
    y, p = binary(2000)
    total, table = streaming.Scorecard(), streaming.ScoreTable()
    total.update(y, p)
    table.update(y, p)
    assert total.table == table
