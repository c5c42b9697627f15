"""Evidence: the accumulators of one pass, together."""

from __future__ import annotations

import copy
import json
import pickle

import numpy as np
import pytest

import calibrant
from calibrant import streaming
from calibrant.evidence import Evidence
from calibrant.means import SPECTRUM_POWERS

N = 500


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(66)
    p = rng.random(N)
    keys = rng.integers(0, 3, N)
    return {"y": (rng.random(N) < p).astype(np.int8), "p": p, "key": keys}


@pytest.fixture
def evidence(table):
    return Evidence.of(table, group="key")


def rows_of(table, rows):
    return {name: values[rows] for name, values in table.items()}


def test_parts_are_those_of_the_accumulators(table):
    evidence = Evidence.of(table, gather=("spectrum",))
    for mine, other in [
        (evidence.scorecard, streaming.Scorecard()),
        (evidence.table, streaming.ScoreTable()),
        (evidence.spectrum, streaming.RiskProfile(powers=SPECTRUM_POWERS)),
    ]:
        other.update(table["y"], table["p"])
        assert mine == other
    spectrum = evidence.spectrum.result()
    of_truth = np.where(table["y"] == 1, table["p"], 1 - table["p"])
    assert spectrum.means == calibrant.mean_spectrum(of_truth).means


def test_updates_and_merges_are_one_pass(table, evidence):
    total = evidence.empty()
    for rows in np.array_split(np.random.default_rng(1).permutation(N), 7):
        part = rows_of(table, rows)
        total.update(part["y"], part["p"], groups=part["key"])
    assert total.result() == evidence.result()
    assert total.table == evidence.table
    halves = [Evidence.of(rows_of(table, rows), group="key") for rows in np.split(np.arange(N), 2)]
    assert halves[1].merge(halves[0]).result() == evidence.result()


def test_files_copies_and_pickles(table, evidence, tmp_path):
    evidence.save(tmp_path / "all.state")
    for again in (
        Evidence.load(tmp_path / "all.state"),
        copy.deepcopy(evidence),
        pickle.loads(pickle.dumps(evidence)),
    ):
        assert again == evidence
        again.update(table["y"], table["p"], groups=table["key"])
        assert again != evidence


def test_new_groups_of_a_batch_are_not_copied(monkeypatch):
    """A scorecard takes kilobytes, and groups may be very many: no two copies of each."""
    copied = []
    copy = streaming.Scorecard.copy
    monkeypatch.setattr(
        streaming.Scorecard, "copy", lambda self: copied.append(self.n) or copy(self)
    )
    rng = np.random.default_rng(2)
    p = rng.random(900)
    y = (rng.random(900) < p).astype(int)
    evidence, whole = Evidence(), Evidence()
    whole.update(y, p, groups=np.arange(900) // 3)
    assert len(copied) <= 1  # that of all rows
    for rows in (slice(0, 301), slice(301, 900)):  # row 301 is of a group that is there
        evidence.update(y[rows], p[rows], groups=(np.arange(900) // 3)[rows])
    assert len(copied) <= 4
    assert evidence == whole


def test_a_rejected_batch_leaves_nothing(evidence):
    before = evidence.to_bytes()
    with pytest.raises(ValueError, match=r"found 1\.5 at row 1"):
        evidence.update([1, 0], [0.5, 1.5], groups=["a", "b"])
    assert evidence.to_bytes() == before


def test_bytes_and_back(evidence):
    restored = Evidence.from_bytes(evidence.to_bytes())
    assert restored == evidence
    assert restored.result() == evidence.result()
    assert restored.source == evidence.source
    json.dumps(restored.source, allow_nan=False)


def test_only_what_is_asked_for_is_gathered(table):
    short = Evidence.of(table, gather=())
    assert (short.spectrum, short.groups) == (None, {})
    assert Evidence.from_bytes(short.to_bytes()) == short


def test_weights_and_keys_of_other_kinds():
    keys = np.array(["2026-01-01", "2026-01-02"], "datetime64[D]")
    evidence = Evidence.of(
        {"y": [1, 0], "p": [0.5, 0.25], "w": [2.0, 1.0], "day": keys}, group="day"
    )
    assert list(evidence.result().groups) == ["2026-01-01", "2026-01-02"]
    expected = calibrant.scorecard([1, 0], [0.5, 0.25], sample_weight=[2, 1])
    assert list(evidence.result()) == list(expected)


@pytest.mark.parametrize(
    ("other", "kind", "message"),
    [
        (Evidence(gather=()), ValueError, "only one of the two has gathered the assessment"),
        (Evidence(n_bins=3), ValueError, "3 bins into one with 15"),
        (Evidence(classes=("no", "yes")), ValueError, "cannot merge classes"),
        (streaming.Scorecard(), TypeError, "cannot merge Scorecard into Evidence"),
    ],
)
def test_what_does_not_merge(evidence, other, kind, message):
    before = evidence.to_bytes()
    with pytest.raises(kind, match=message):
        evidence.merge(other)
    assert evidence.to_bytes() == before


@pytest.fixture(scope="module")
def bounds():
    rng = np.random.default_rng(67)
    scale = rng.gamma(2.0, size=N)
    table = {"y": rng.normal(0, scale)}
    for level, z in ((80, 1.28), (95, 1.96)):
        table |= {f"low_{level}": -z * scale, f"high_{level}": z * scale}
    return table


def as_intervals(table):
    return tuple(np.stack([table[f"{end}_{level}"] for level in (80, 95)], 1) for end in LOW_HIGH)


LOW_HIGH = ("low", "high")


def test_hsic_of_intervals(bounds):
    evidence = Evidence.of(bounds)
    low, high = (bounds[f"{end}_80"] for end in LOW_HIGH)
    quartiles = np.quantile(high - low, [0.25, 0.5, 0.75])
    assert evidence.source["settings"]["width_edges"] == pytest.approx(quartiles, rel=5e-3)
    bandwidth = evidence.source["settings"]["hsic_bandwidth"]
    assert bandwidth == pytest.approx(quartiles[2] - quartiles[0], rel=0.02)
    expected = calibrant.coverage_hsic(
        bounds["y"], as_intervals(bounds), bandwidths=(bandwidth, 1.0)
    )
    assert evidence.coverage_hsic.result() == expected
    total = evidence.empty()
    for rows in np.array_split(np.random.default_rng(1).permutation(N), 5):
        part = rows_of(bounds, rows)
        total.update(part["y"], intervals=as_intervals(part))
    assert total.coverage_hsic == evidence.coverage_hsic
    assert Evidence.from_bytes(evidence.to_bytes()) == evidence


def test_equal_widths_have_a_bandwidth_all_the_same():
    constant = {"y": np.arange(5.0), "low_90": np.zeros(5), "high_90": np.full(5, 3.0)}
    evidence = Evidence.of(constant)
    assert evidence.source["settings"]["hsic_bandwidth"] == 3.0
    assert evidence.coverage_hsic.result().reason == "constant widths"
    none = Evidence.of({**constant, "high_90": np.zeros(5)})
    assert none.source["settings"]["hsic_bandwidth"] == 1.0


def test_hsic_of_too_many_boxes_is_left_out_however_rows_are_split():
    """Each part has room, all together have not."""
    widths = np.linspace(1.0, 2.0, 70_000)
    table = {"y": np.zeros(70_000), "low_90": np.zeros(70_000), "high_90": widths}
    fine = {"hsic_bandwidth": 1e-6, "width_edges": [1.5]}
    whole = Evidence.of(table, **fine)
    left, right = (Evidence.of(rows_of(table, rows), **fine) for rows in (slice(9), slice(9, None)))
    assert "coverage_hsic" not in left.left_out
    assert "too many bandwidths of 1e-06" in whole.left_out["coverage_hsic"]
    for merged in (left.empty().merge(left).merge(right), right.empty().merge(right).merge(left)):
        assert (merged.coverage_hsic, merged.left_out) == (None, whole.left_out)
        assert merged.intervals == whole.intervals
        assert Evidence.from_bytes(merged.to_bytes()) == merged
        merged.update([0.0], intervals=[[0.0, 1.0]])
        assert (merged.n, merged.coverage_hsic) == (70_001, None)


def test_hsic_takes_no_weights(bounds):
    weighted = Evidence.of({**bounds, "w": np.ones(N)}, width_edges=[3.0], hsic_bandwidth=2.0)
    reason = {"coverage_hsic": "rows have weights, and HSIC takes none"}
    assert (weighted.coverage_hsic, weighted.left_out) == (None, reason)
    plain = Evidence.of(bounds, width_edges=[3.0], hsic_bandwidth=2.0)
    assert plain.merge(weighted).left_out == reason
    assert (plain.intervals.n, plain.coverage_hsic) == (2 * N, None)


@pytest.mark.parametrize("setting", [{"width_edges": [1.0]}, {"hsic_bandwidth": 9.0}])
def test_widths_must_be_treated_alike(bounds, setting):
    evidence = Evidence.of(bounds)
    before = evidence.to_bytes()
    (name,) = setting
    with pytest.raises(ValueError, match=f"{name} is .* read all tables with the same"):
        evidence.merge(Evidence.of(bounds, **setting))
    assert evidence.to_bytes() == before


def test_nothing_to_score():
    with pytest.raises(ValueError, match="there are no rows to score"):
        Evidence.of({"y": np.zeros(0, np.int8), "p": np.zeros(0)})
    with pytest.raises(ValueError, match="gather must hold"):
        Evidence(gather=["everything"])
