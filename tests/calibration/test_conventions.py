"""The table of conventions, against the libraries themselves and against their definitions."""

from __future__ import annotations

import json

import numpy as np
import pytest

import calibrant
from calibrant import conventions
from calibrant.calibration._conventions import _torch_edges


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
    torch = np.minimum(edges, [0.1 * k if k < 5 else 1 - 0.1 * (10 - k) for k in range(11)])
    assert (torch != edges).any()
    left = slow(y, p, 10, lambda s, k: torch[k] <= s and (k == 10 or s < torch[k + 1]))
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


def test_torchmetrics_puts_rounded_scores_where_torch_has_edges():
    # Its values, of torchmetrics 1.9 with torch 2.13.
    y, p = [1, 0, 1, 0, 1], np.array([0.6, 0.6, 0.4, 0.2, 0.2])
    call = ("torchmetrics", "BinaryCalibrationError(norm='l1')")
    assert value(conventions(y, p, n_bins=5), *call) == pytest.approx(0.28, rel=1e-12)
    single = conventions(y, p.astype(np.float32), n_bins=5)
    assert value(single, *call) == pytest.approx(0.28, rel=1e-6)
    # torch.linspace(0, 1, 8), in whose upper half a fused multiply-add rounds once.
    assert [float(edge).hex() for edge in _torch_edges(7, np.float64)] == [
        "0x0.0p+0", "0x1.2492492492492p-3", "0x1.2492492492492p-2", "0x1.b6db6db6db6dbp-2",
        "0x1.2492492492492p-1", "0x1.6db6db6db6db7p-1", "0x1.b6db6db6db6dcp-1",
        "0x1.0000000000000p+0",
    ]  # fmt: skip


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
    table = conventions(y, p, multi_class="top_label")
    expected = peer.top_label_ece(y, p, num_bins=10)
    assert value(table, "MAPIE", "top_label_ece") == pytest.approx(expected, rel=1e-12)
    hit = (y == p.argmax(axis=1)).astype(int)
    expected = peer.expected_calibration_error(hit, p, num_bins=10, split_strategy="uniform")
    found = value(table, "MAPIE", "expected_calibration_error(y_true == top)")
    assert found == pytest.approx(expected, rel=1e-12)
    for average in ("macro", "weighted", "pooled"):
        call = "top_label_ece" + (f"(average='{average}')" if average != "macro" else "")
        found = calibrant.top_label_ece(y, p, n_bins=10, average=average)
        assert value(table, "calibrant", call) == found


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
def test_missing_rows_are_rejected_or_left_out(columns):
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
