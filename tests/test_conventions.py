"""The table of conventions, against the libraries themselves and against their definitions."""

from __future__ import annotations

import json

import numpy as np
import pytest

import calibrant
from calibrant import conventions


def rounded_scores(n=20_000, seed=0):
    """Scores on the edges of bins, some 0 and 1."""
    rng = np.random.default_rng(seed)
    p = np.clip(np.round(rng.normal(0.5, 0.28, n), 2), 0, 1)
    return (rng.random(n) < 0.5 + 0.8 * (p - 0.5)).astype(int), p  # overconfident


def classes(n=5000, k=4, seed=1):
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.ones(k), n)
    y = np.array([rng.choice(k, p=row**2 / (row**2).sum()) for row in p])
    return y, p


def value(table, library, call):
    (row,) = [row for row in table if (row.library, row.call) == (library, call)]
    return row.value


def slow(y, p, n_bins, in_bin):
    """Sum over bins of |hits - scores|, a bin at a time; in_bin(score, k) says what it holds."""
    total = 0.0
    for k in range(n_bins + 1):
        chosen = [i for i in range(len(p)) if in_bin(p[i], k)]
        total += abs(sum(float(y[i]) - p[i] for i in chosen))
    return total / len(p)


def test_definitions_row_by_row():
    y, p = rounded_scores(600)
    edges = np.linspace(0, 1, 11)
    table = conventions(y, p)
    left = slow(y, p, 10, lambda s, k: edges[k] <= s and (k == 10 or s < edges[k + 1]))
    assert value(table, "torchmetrics", "BinaryCalibrationError(norm='l1')") == pytest.approx(left)
    last = slow(
        y, p, 10, lambda s, k: k < 10 and (edges[k] <= s < edges[k + 1] or (k == 9 and s == 1))
    )
    assert value(table, "netcal", "ECE") == pytest.approx(last)
    assert value(table, "textbook", "[a, b)") == pytest.approx(last)
    right = slow(
        y, p, 10, lambda s, k: k < 10 and (edges[k] < s <= edges[k + 1] or (k == 0 and s == 0))
    )
    assert value(table, "textbook", "(a, b]") == pytest.approx(right)
    assert right != pytest.approx(last, rel=1e-3)  # the scores do lie on edges


def test_the_hidden_bin_matters_where_signs_differ():
    y, p = [0, 0, 1, 1], [1.0, 0.5, 0.95, 0.95]
    table = conventions(y, p, n_bins=2)
    assert value(table, "netcal", "ECE") == pytest.approx(1.4 / 4)
    hidden = value(table, "torchmetrics", "BinaryCalibrationError(norm='l1')")
    assert hidden == pytest.approx((1.0 + 0.4) / 4)
    spread = conventions([0, 1, 1, 1], [1.0, 0.5, 0.9, 0.9], n_bins=2)
    assert value(spread, "netcal", "ECE") == pytest.approx(0.3 / 4)
    hidden = value(spread, "torchmetrics", "BinaryCalibrationError(norm='l1')")
    assert hidden == pytest.approx(1.7 / 4)


@pytest.mark.parametrize("n_bins", [2, 10, 15])
def test_mapie(n_bins):
    peer = pytest.importorskip("mapie.metrics.calibration")
    y, p = rounded_scores(3000)
    table = conventions(y, p, n_bins=n_bins)
    for strategy in ("uniform", "quantile", "array split"):
        expected = peer.expected_calibration_error(y, p, num_bins=n_bins, split_strategy=strategy)
        found = value(table, "MAPIE", f"expected_calibration_error('{strategy}')")
        assert found == pytest.approx(expected, rel=1e-12)


def test_array_split_depends_on_the_order_of_rows():
    y, p = rounded_scores()
    order = np.argsort(p, kind="stable")
    call = ("MAPIE", "expected_calibration_error('array split')")
    assert value(conventions(y, p), *call) != pytest.approx(
        value(conventions(y[order], p[order]), *call), rel=0.5
    )


@pytest.mark.parametrize("k", [2, 4])
def test_mapie_of_classes(k):
    peer = pytest.importorskip("mapie.metrics.calibration")
    y, p = classes(k=k)
    table = conventions(y, p)
    expected = peer.top_label_ece(y, p, num_bins=10)
    assert value(table, "MAPIE", "top_label_ece") == pytest.approx(expected, rel=1e-12)
    hit = (y == p.argmax(axis=1)).astype(int)
    expected = peer.expected_calibration_error(hit, p, num_bins=10, split_strategy="uniform")
    found = value(table, "MAPIE", "expected_calibration_error(y_true == top)")
    assert found == pytest.approx(expected, rel=1e-12)
    assert value(table, "calibrant", "top_label_ece") == calibrant.top_label_ece(y, p, n_bins=10)


def test_scikit_learn():
    curve = pytest.importorskip("sklearn.calibration").calibration_curve
    y, p = rounded_scores(3000)
    frequencies, scores = curve(y, p, n_bins=10)
    counts = np.histogram(-p, -np.linspace(0, 1, 11)[::-1])[0][::-1]  # (a, b]
    assert len(frequencies) == 10
    expected = np.sum(counts * np.abs(frequencies - scores)) / 3000
    found = value(conventions(y, p), "scikit-learn", "calibration_curve(strategy='uniform')")
    assert found == pytest.approx(expected, rel=1e-9)


def test_uncertainty_calibration():
    peer = pytest.importorskip("calibration")
    y, p = rounded_scores(3000)
    expected = peer.get_ece(p, y, num_bins=10)
    found = value(conventions(y, p), "uncertainty-calibration", "get_ece")
    assert found == pytest.approx(expected, rel=1e-9)
    y, p = classes()
    expected = peer.get_ece(p, y, num_bins=10)
    found = value(conventions(y, p), "uncertainty-calibration", "get_ece(mode='top-label')")
    assert found == pytest.approx(expected, rel=1e-9)


@pytest.mark.filterwarnings("ignore")
def test_relplot():
    peer = pytest.importorskip("relplot.metrics")
    y, p = rounded_scores(3000)
    expected = peer.binnedECE(p, y, nbins=10)
    assert value(conventions(y, p), "relplot", "binnedECE") == pytest.approx(expected, rel=1e-12)


def test_table():
    y, p = rounded_scores(300)
    table = conventions(y, p)
    assert len(table) == len(list(table)) == 15
    lines = repr(table).splitlines()
    assert lines[0] == "Calibration error of 300 rows, 10 bins"
    assert len(lines) == 16
    assert "MAPIE" in table._repr_html_()
    plain = json.loads(json.dumps(table.to_dict()))
    assert plain["rows"][0]["library"] == "calibrant"
    assert plain["rows"][0]["value"] == calibrant.expected_calibration_error(y, p, n_bins=10)
    names = np.where(y == 1, "yes", "no")
    assert conventions(names, p, pos_label="yes") == table


def test_bad_input():
    with pytest.raises(ValueError, match=r"found 1\.5 at row 1"):
        conventions([0, 1], [0.5, 1.5], n_bins=2)
    with pytest.raises(ValueError, match="at least n_bins = 10 rows, got 2"):
        conventions([0, 1], [0.5, 0.5])


@pytest.mark.parametrize("columns", [1, 3])
def test_missing_rows_are_refused_or_left_out(columns):
    rng = np.random.default_rng(8)
    y = rng.integers(0, max(columns, 2), 40).astype(float)
    p = rng.random(40) if columns == 1 else rng.dirichlet(np.ones(columns), 40)
    holes, labels = p.copy(), y.copy()
    holes[3, ...] = np.nan
    labels[17] = np.nan
    kept = np.delete(np.arange(40), [3, 17])
    place = "at row 3" if columns == 1 else "at row 3, column 0"
    with pytest.raises(ValueError, match=f'{place}; pass nan_policy="omit"'):
        conventions(y, holes)
    found = conventions(labels, holes, nan_policy="omit")
    assert found.to_dict() == conventions(y[kept], p[kept]).to_dict()
