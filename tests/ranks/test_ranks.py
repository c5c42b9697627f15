"""Ranks against their definition, and the laws of how they may be computed."""

from __future__ import annotations

import itertools
import math
import struct

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import calibrant
import rank_reference as reference
from calibrant import ranks, set_num_threads, streaming
from calibrant._core import _testing
from calibrant.config import config

pytestmark = pytest.mark.usefixtures("runtime_restored")

#: Few values, so that there are ties; the nasty ones among them.
NASTY = [-math.inf, -1.0, -0.0, 0.0, 5e-324, 0.1, 1.0, 1e30, math.inf]


def nasty(shape, seed=0, nan=0.0):
    """Draws with many ties."""
    rng = np.random.default_rng(seed)
    values = rng.choice(NASTY, shape)
    values[rng.random(shape) < nan] = math.nan
    return values


def expected(draws, truth, **place):
    return np.array(reference.ranks(draws, truth, **place), np.int64)


# The definition


def test_the_values_of_the_definition():
    assert calibrant.sbc_ranks([[1, 2, 3, 4]], [2.5]).tolist() == [2]
    less, equal = calibrant.draw_counts([[1, 2, 2, 3]], [2])
    assert (less.tolist(), equal.tolist()) == ([1], [2])
    found = {int(calibrant.sbc_ranks([[1, 2, 2, 3]], [2], seed=seed)[0]) for seed in range(40)}
    assert found == {1, 2, 3}


@pytest.mark.parametrize("shape", [(40, 7), (1, 1), (3, 1), (30, 5, 3), (7, 1, 4), (2, 70, 1)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, np.int64, np.uint8, bool])
def test_against_the_definition(shape, dtype):
    rng = np.random.default_rng(3)
    draws = rng.integers(0, 4, shape).astype(dtype)
    truth = rng.integers(0, 4, (shape[0], *shape[2:])).astype(np.float64)
    truth.flat[::5] += 0.5
    found = calibrant.sbc_ranks(draws, truth, seed=9, first_pair=2**33)
    assert found.dtype == np.int64
    assert found.tolist() == expected(draws, truth, seed=9, first_pair=2**33).tolist()


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(0, 5), m=st.integers(1, 40), d=st.integers(0, 3), seed=st.integers(0, 2**64 - 1)
)
def test_any_small_shape(n, m, d, seed):
    shape = (n, m, d) if d else (n, m)
    draws, truth = nasty(shape, seed % 1000), nasty((n, *shape[2:]), seed % 999)
    found = calibrant.sbc_ranks(draws, truth, seed=seed)
    assert found.shape == truth.shape
    assert found.tolist() == reference.ranks(draws, truth, seed=seed)
    assert calibrant.sbc_ranks(draws.astype(np.float32), truth).shape == truth.shape


def test_a_float32_is_compared_with_a_float64_as_the_number_it_is():
    tenth = np.float32(0.1)  # above the double 0.1
    draws = np.array([[tenth, np.nextafter(tenth, np.float32(0)), 3e38, -3e38, np.inf, -np.inf]])
    draws = draws.astype(np.float32)
    large = 3.4028235677973366e38  # rounds to an infinite float32
    for truth in (0.1, float(tenth), 1e300, -1e300, math.inf, -math.inf, large, 1e-50):
        less, equal = calibrant.draw_counts(draws, [truth])
        wanted = [reference.exact(x) for x in draws[0]]
        assert less[0] == sum(x < reference.exact(truth) for x in wanted)
        assert equal[0] == sum(x == reference.exact(truth) for x in wanted)


def test_many_draws_and_sizes_around_blocks():
    rng = np.random.default_rng(5)
    for m in (511, 512, 513, 1023, 1025, 4099):
        draws = rng.integers(0, 50, (3, m)).astype(np.float32)
        truth = np.array([0.0, 25.0, 49.5])
        assert calibrant.sbc_ranks(draws, truth).tolist() == reference.ranks(draws, truth)


# Ties


def test_ties_are_broken_uniformly():
    n = 30_000
    found = calibrant.sbc_ranks(np.zeros((n, 4)), np.zeros(n))
    counts = np.bincount(found, minlength=5)
    statistic = ((counts - n / 5) ** 2 / (n / 5)).sum()
    assert statistic < 13.28  # 1% of chi-square with 4 degrees
    apart = calibrant.sbc_ranks(np.zeros((n, 4, 2)), np.zeros((n, 2)))
    joint = np.bincount(apart[:, 0] * 5 + apart[:, 1], minlength=25)
    assert ((joint - n / 25) ** 2 / (n / 25)).sum() < 42.98  # 24 degrees: dimensions independent
    follow = np.bincount(found[:-1] * 5 + found[1:], minlength=25)
    assert ((follow - (n - 1) / 25) ** 2 / ((n - 1) / 25)).sum() < 42.98


def test_seeds_and_pairs_change_ties_only():
    draws, truth = nasty((200, 9)), nasty(200, 1)
    a, b = (calibrant.sbc_ranks(draws, truth, seed=seed) for seed in (0, 2**64 - 1))
    tied = calibrant.draw_counts(draws, truth)[1] > 0
    assert (a != b)[tied].any()
    assert not (a != b)[~tied].any()


def test_ranks_of_calibrated_draws_with_ties_are_uniform():
    """Counts of a Poisson law: with strict comparison, rank 0 would be the most frequent by far."""
    rng = np.random.default_rng(8)
    values = rng.poisson(1.0, (40_000, 5))
    counts = np.bincount(calibrant.sbc_ranks(values[:, 1:], values[:, 0]), minlength=5)
    assert ((counts - 8000) ** 2 / 8000).sum() < 13.28
    strict = np.bincount((values[:, 1:] < values[:, :1]).sum(1), minlength=5)
    assert ((strict - 8000) ** 2 / 8000).sum() > 1000


# However it is computed


SHAPES = [(3000, 50), (700, 21, 5), (100, 3, 1500), (5, 30_000), (2, 200, 1025)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_any_threads_instruction_set_layout_and_type(shape):
    rng = np.random.default_rng(1)
    draws = rng.integers(0, 200, shape).astype(np.float32)
    truth = rng.integers(0, 200, (shape[0], *shape[2:])).astype(np.float32)
    wanted = calibrant.sbc_ranks(draws.astype(np.float64), truth)
    layouts = [np.ascontiguousarray, np.asfortranarray]
    layouts += [lambda a, axis=axis: np.moveaxis(np.moveaxis(a, axis, 0).copy(), 0, axis)
                for axis in range(1, len(shape))]  # fmt: skip
    for dtype in (np.float32, np.float64):
        for layout in layouts:
            arranged = layout(draws.astype(dtype))
            assert np.array_equal(calibrant.sbc_ranks(arranged, truth), wanted)
    for isa, threads in itertools.product(config()["available_isas"], (1, 3)):
        _testing.set_isa(isa)
        set_num_threads(threads)
        for layout in layouts:
            assert np.array_equal(calibrant.sbc_ranks(layout(draws), truth), wanted)


@pytest.mark.parametrize("d", [0, 4])
def test_the_axis_of_draws(d):
    draws, truth = nasty((30, 11, d) if d else (30, 11)), nasty((30, d) if d else 30, 1)
    wanted = expected(draws, truth)
    for axis in range(draws.ndim):
        moved = np.moveaxis(draws, 1, axis)
        assert np.array_equal(calibrant.sbc_ranks(moved, truth, axis=axis), wanted)
        assert np.array_equal(calibrant.sbc_ranks(moved.copy(), truth, axis=axis), wanted)
        back = axis - draws.ndim
        assert np.array_equal(calibrant.sbc_ranks(moved.tolist(), truth, axis=back), wanted)


FORMS = {
    "strided": lambda a: np.repeat(a, 3, axis=1)[:, 1::3],
    "reversed": lambda a: a[:, ::-1].copy()[:, ::-1],
    "big-endian": lambda a: a.astype(a.dtype.newbyteorder(">")),
    "broadcast pairs": lambda a: np.broadcast_to(a[:1], a.shape),
    "broadcast draws": lambda a: np.broadcast_to(a[:, :1], a.shape),
    "odd offset": lambda a: np.frombuffer(b"x" + a.tobytes(), a.dtype, a.size, 1).reshape(a.shape),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("shape", [(40, 9), (30, 9, 3)], ids=str)
def test_any_memory_layout(form, shape):
    for dtype in (np.float32, np.float64):
        draws = form(nasty(shape).astype(dtype))
        truth = nasty((shape[0], *shape[2:]), 1).astype(dtype)
        wanted = expected(draws, truth)
        assert np.array_equal(calibrant.sbc_ranks(draws, truth), wanted)


def test_a_memory_mapped_file(tmp_path):
    draws, truth = nasty((50, 20)).astype(np.float32), nasty(50, 1)
    np.save(tmp_path / "draws.npy", draws)
    mapped = np.load(tmp_path / "draws.npy", mmap_mode="r")
    assert np.array_equal(calibrant.sbc_ranks(mapped, truth), expected(draws, truth))


def test_columns_of_lists():
    pa = pytest.importorskip("pyarrow")
    draws, truth = nasty((50, 4)), nasty(50, 1)
    column = pa.FixedSizeListArray.from_arrays(pa.array(draws.ravel()), 4)
    found = calibrant.sbc_ranks(column, pa.array(truth))
    assert np.array_equal(found, expected(draws, truth))
    gaps = pa.FixedSizeListArray.from_arrays(pa.array([1.0, None, 3.0, 4.0]), 2)
    with pytest.raises(ValueError, match=r"draws has a missing value \(null or NaN\) at pair 0, "):
        calibrant.sbc_ranks(gaps, [0.0, 0.0])
    assert calibrant.sbc_ranks(gaps, [0.0, 3.5], nan_policy="omit").tolist() == [1]


@settings(max_examples=20, deadline=None)
@given(cuts=st.lists(st.integers(0, 300), max_size=5), order=st.randoms(use_true_random=False))
def test_batches_and_merges_give_what_one_pass_does(cuts, order):
    draws, truth = nasty((300, 6, 2), nan=0.01), nasty((300, 2), 1)
    whole = calibrant.sbc_ranks(draws, truth, seed=4, nan_policy="omit")
    total = streaming.Ranks(6, 2, seed=4)
    total.update(draws, truth, nan_policy="omit")
    edges = [0, *sorted(cuts), 300]
    follow, parts, found = streaming.Ranks(6, 2, seed=4), [], []
    for a, b in itertools.pairwise(edges):
        batch = {"nan_policy": "omit"}
        found.append(calibrant.sbc_ranks(draws[a:b], truth[a:b], seed=4, first_pair=a, **batch))
        follow.update(draws[a:b], truth[a:b], **batch)
        parts.append(streaming.Ranks(6, 2, seed=4))
        parts[-1].update(draws[a:b], truth[a:b], first_pair=a, **batch)
    assert np.array_equal(np.concatenate(found), whole)
    assert follow == total
    order.shuffle(parts)
    merged = parts.pop()
    while parts:
        merged.merge(streaming.Ranks.from_bytes(parts.pop().to_bytes()))
    assert merged.to_bytes() == total.to_bytes()
    assert total.n + total.n_omitted == 300
    assert np.array_equal(total.counts, [np.bincount(r, minlength=7) for r in whole.T])


def test_draws_in_parts():
    draws, truth = nasty((40, 30, 2)), nasty((40, 2), 1)
    parts = [calibrant.draw_counts(draws[:, a:b], truth) for a, b in ((20, 30), (0, 1), (1, 20))]
    less, equal = (sum(part[i] for part in parts) for i in (0, 1))
    found = calibrant.break_ties(less, equal, seed=3, first_pair=7)
    assert np.array_equal(found, calibrant.sbc_ranks(draws, truth, seed=3, first_pair=7))


# Missing values


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
def test_missing_values(axis, dtype):
    draws, truth = np.zeros((5, 40, 3), dtype), np.ones((5, 3))
    draws[3, 37, 2] = math.nan
    moved = np.moveaxis(draws, 1, axis).copy()
    with pytest.raises(
        ValueError,
        match=r"draws has a missing value \(NaN\) at pair 3, draw 37, dimension 2; pass "
        r'nan_policy="omit"',
    ):
        calibrant.sbc_ranks(moved, truth, axis=axis)
    with pytest.raises(ValueError, match=r"at pair 3 \(pair 13 of all\), draw 37"):
        calibrant.sbc_ranks(moved, truth, axis=axis, first_pair=10)
    kept = calibrant.sbc_ranks(moved, truth, axis=axis, nan_policy="omit")
    assert kept.tolist() == [[40] * 3] * 4
    truth[0, 1] = math.nan
    with pytest.raises(ValueError, match=r"truth has a missing value \(NaN\) at pair 0, dim"):
        calibrant.sbc_ranks(moved, truth, axis=axis)
    assert len(calibrant.sbc_ranks(moved, truth, axis=axis, nan_policy="omit")) == 3


def test_parts_of_draws_cannot_be_omitted():
    with pytest.raises(ValueError, match=r"draws has a missing value \(NaN\) at pair 0, draw 1$"):
        calibrant.draw_counts([[1.0, math.nan]], [0.0])


def test_a_rejected_update_changes_nothing():
    total = streaming.Ranks(3, seed=1)
    total.update([[1, 2, 3]], [2])
    before = total.to_bytes()
    for draws, truth in (
        ([[1, 2, math.nan]], [2]),
        ([[1, 2, 3, 4]], [2]),
        (np.zeros((1, 3, 2)), [[1, 2]]),
        ([[1, 2, 3]], [1, 2]),
    ):
        with pytest.raises(ValueError, match=r"draws|truth"):
            total.update(draws, truth)
    for bad in ([4], [-1], [0.5], [math.nan], [[0, 1]], [0, 7]):
        with pytest.raises(ValueError, match="ranks must"):
            total.update_ranks(bad)
    assert total.to_bytes() == before


def test_different_draws_and_seeds_are_not_merged():
    with pytest.raises(ValueError, match="cannot merge Ranks of 4 draws in dimension 1 into"):
        streaming.Ranks(3).merge(streaming.Ranks(4))
    with pytest.raises(ValueError, match="dimension 2 into those of 3 draws in dimension 1"):
        streaming.Ranks(3).merge(streaming.Ranks(3, 2))
    with pytest.raises(ValueError, match="cannot merge Ranks of seed 1 into those of seed 0"):
        streaming.Ranks(3).merge(streaming.Ranks(3, seed=1))


def sealed(n_draws=2, n_dims=1, n=2, omitted=0, counts=(1, 0, 1)):
    payload = struct.pack(f"<5Q{len(counts)}q", n_draws, n_dims, 3, n, omitted, *counts)
    return _testing.seal(13, 1, payload)


def test_states():
    total = streaming.Ranks(2, seed=3)
    total.update_ranks([0, 2])
    assert sealed() == total.to_bytes()
    assert streaming.Ranks.from_bytes(sealed(omitted=4)).n_omitted == 4
    with pytest.raises(ValueError, match="state of a Ranks expected, found RiskProfile"):
        streaming.Ranks.from_bytes(streaming.RiskProfile().to_bytes())


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"n": 3}, "counts disagree"),
        ({"counts": (1, -1, 2)}, "counts disagree"),
        ({"counts": (1, 2, -1)}, "counts disagree"),
        ({"counts": (1, 1)}, "counts are missing"),
        ({"counts": (1, 0, 1, 0)}, "8 bytes after its last field"),
        ({"n_draws": 0}, "out of range"),
        ({"n_draws": 2**31 - 1}, "out of range"),
        ({"n_draws": 2**31 - 2, "n_dims": 2**32 - 1}, "counts are missing"),
        ({"n_dims": 0}, "out of range"),
        ({"n_dims": 2**32}, "out of range"),
        ({"n": 2**63}, r"more than 2\^63 - 1 pairs"),
        ({"omitted": 2**63 - 2}, r"more than 2\^63 - 1 pairs"),
    ],
)
def test_states_that_no_ranks_can_make(fields, message):
    with pytest.raises(ValueError, match=message):
        streaming.Ranks.from_bytes(sealed(**fields))


def test_counts_reject_to_overflow():
    total = streaming.Ranks(1)
    total.update_ranks([1])
    single = total.copy()
    for _ in range(62):
        total.merge(total)
    before = total.to_bytes()
    with pytest.raises(OverflowError, match=r"more than 2\^63 - 1 pairs"):
        total.merge(total)
    assert total.to_bytes() == before
    assert total.merge(single).counts.tolist() == [[0, 2**62 + 1]]
    assert total.n == 2**62 + 1


def test_the_result_is_that_of_the_ranks():
    rng = np.random.default_rng(0)
    found = rng.integers(0, 10, (200, 2))
    total = streaming.Ranks(9, 2)
    total.update_ranks(found)
    once = calibrant.rank_calibration(found, 9)
    assert repr(total.result()) == repr(once)
    with pytest.raises(ValueError, match="at least one pair"):
        streaming.Ranks(9).result()


# Energy


def test_energy_ranks_count_the_more_probable():
    energies = nasty((60, 8))
    true = nasty(60, 1)
    assert np.array_equal(calibrant.energy_ranks(energies, true), expected(energies, true))
    # 0: the truth is where the density is highest.
    assert calibrant.energy_ranks([[3.0, 1.0]], [0.5]).tolist() == [0]


def test_a_log_density_is_asked_for_some_pairs_at_a_time(monkeypatch):
    monkeypatch.setattr(ranks, "_BATCH_VALUES", 100)
    rng = np.random.default_rng(2)
    mean, draws, truth = (rng.normal(size=s) for s in ((50, 1, 3), (50, 10, 3), (50, 3)))
    seen = []

    def log_density(values, pairs):
        seen.append((pairs, values.shape))
        return -0.5 * ((values - mean[pairs]) ** 2).sum(-1)

    everything = slice(0, 50)
    energies = -log_density(draws, everything), -log_density(truth[:, None], everything)[:, 0]
    seen.clear()
    found = calibrant.energy_ranks(draws, truth, log_density=log_density)
    assert np.array_equal(found, calibrant.energy_ranks(*energies))
    assert seen[:2] == [(slice(0, 3), (3, 10, 3)), (slice(0, 3), (3, 1, 3))]
    moved = np.moveaxis(draws, 1, 0)
    again = calibrant.energy_ranks(moved, truth, log_density=log_density, axis=0)
    assert np.array_equal(again, found)


def test_energy_ranks_of_batches_break_ties_as_one_call(monkeypatch):
    draws, truth = nasty((90, 4), nan=0.02), nasty(90, 1)

    def log_density(values, _pairs):
        return -np.abs(np.nan_to_num(values, nan=math.nan, posinf=9.0, neginf=9.0))

    options = {"log_density": log_density, "nan_policy": "omit", "seed": 5}
    whole = calibrant.energy_ranks(draws, truth, **options)
    monkeypatch.setattr(ranks, "_BATCH_VALUES", 7)
    assert np.array_equal(calibrant.energy_ranks(draws, truth, **options), whole)


def test_bad_log_densities():
    with pytest.raises(ValueError, match=r"log_density must return numbers of shape \(2, 3\)"):
        calibrant.energy_ranks(np.zeros((2, 3)), [0, 0], log_density=lambda v, _: v.sum(1))
    with pytest.raises(ValueError, match=r"draw_energy must have shape \(n, m\), got 3 axes"):
        calibrant.energy_ranks(np.zeros((2, 3, 1)), [0, 0])
    with pytest.raises(
        ValueError, match=r"true_energy must have shape \(2, 4\), as there are draws"
    ):
        calibrant.energy_ranks(np.zeros((2, 3, 4)), [0, 0], log_density=lambda v, _: v.sum(-1))


def test_ranks_of_an_exact_posterior_are_uniform():
    """Normal in 3 dimensions: energy and distance ranks of truths drawn as the draws are."""
    rng = np.random.default_rng(12)
    values = rng.normal(size=(20_000, 10, 3))
    draws, truth = values[:, 1:], values[:, 0]
    log_density = lambda v, _: -0.5 * (v**2).sum(-1)  # noqa: E731
    for found in (
        calibrant.energy_ranks(draws, truth, log_density=log_density),
        calibrant.tarp_ranks(draws, truth),
        calibrant.tarp_ranks(draws, truth, rng.normal(size=(20_000, 3))),
    ):
        counts = np.bincount(found, minlength=10)
        assert ((counts - 2000) ** 2 / 2000).sum() < 21.67  # 1%, 9 degrees
    # Over-confident: the truth is too often improbable.
    narrow = calibrant.energy_ranks(0.7 * draws, truth, log_density=log_density)
    assert np.bincount(narrow)[-1] > 3000


# Distances


@pytest.mark.parametrize("shape", [(40, 9, 3), (5, 1030, 2), (40, 9)], ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8])
def test_tarp_ranks_against_the_definition(shape, dtype):
    rng = np.random.default_rng(6)
    draws = rng.integers(-3, 4, shape).astype(dtype)
    truth, references = rng.integers(-3, 4, (2, shape[0], *shape[2:])).astype(np.float64)
    found = calibrant.tarp_ranks(draws, truth, references, seed=2, first_pair=5)
    rows = zip(draws, truth, references, strict=True)
    dims = shape[2] if len(shape) == 3 else 1
    wide = [[np.reshape(part, (-1, dims)) for part in row] for row in rows]
    assert found.tolist() == [
        reference.distance_rank(d, t[0], r[0], 2, 5 + i) for i, (d, t, r) in enumerate(wide)
    ]
    for isa in config()["available_isas"]:
        _testing.set_isa(isa)
        assert calibrant.tarp_ranks(draws, truth, references, seed=2, first_pair=5).tolist() == (
            found.tolist()
        )


def test_default_references_lie_in_the_box_of_the_truth():
    truth = np.random.default_rng(0).normal(size=(500, 2)) * [1, 100]
    box = truth.min(0), truth.max(0)
    made = calibrant.tarp_references(*box, 500, seed=3)
    assert (made >= box[0]).all()
    assert (made < box[1]).all()
    assert np.allclose(made.mean(0), np.add(*box) / 2, atol=0.05 * (box[1] - box[0]))
    u = [[reference.uniform(3, i, d, reference.REFERENCE) for d in range(2)] for i in range(500)]
    assert np.array_equal(made, box[0] * (1 - np.array(u)) + box[1] * np.array(u))
    assert np.array_equal(calibrant.tarp_references(*box, 100, seed=3, first_pair=400), made[400:])
    draws = np.random.default_rng(1).normal(size=(500, 7, 2))
    default = calibrant.tarp_ranks(draws, truth, seed=3)
    assert np.array_equal(default, calibrant.tarp_ranks(draws, truth, made, seed=3))
    cut = [calibrant.tarp_ranks(draws[a:b], truth[a:b], made[a:b], seed=3, first_pair=a)
           for a, b in ((0, 123), (123, 500))]  # fmt: skip
    assert np.array_equal(np.concatenate(cut), default)


def test_references_independent_of_x_are_blind_to_the_prior():
    """Truths N(x, 1), x ~ N(0, 1), and draws of the prior N(0, 2) for every x."""
    rng = np.random.default_rng(4)
    n = 20_000
    x = rng.normal(size=n)
    truth = x + rng.normal(size=n)
    prior = math.sqrt(2.0) * rng.normal(size=(n, 9))

    def statistic(references):
        counts = np.bincount(calibrant.tarp_ranks(prior, truth, references), minlength=10)
        return ((counts - n / 10) ** 2 / (n / 10)).sum()

    assert statistic(None) < 21.67
    assert statistic(x + 1.0) > 200


def test_bad_references():
    draws, truth = np.zeros((2, 3, 2)), np.zeros((2, 2))
    with pytest.raises(ValueError, match=r"references must be finite, found nan at pair 1, dimen"):
        calibrant.tarp_ranks(draws, truth, [[0, 0], [0, math.nan]])
    with pytest.raises(ValueError, match=r"references must have shape \(2, 2\), as there"):
        calibrant.tarp_ranks(draws, truth, [[0, 0]])
    with pytest.raises(ValueError, match="truth must have a finite squared distance"):
        calibrant.tarp_ranks(draws, truth, [[0, 0], [0, 1e200]])
    with pytest.raises(ValueError, match=r"low must not be above high, found 1\.0 > 0\.0 at"):
        calibrant.tarp_references([0, 1], [1, 0], 3)
    with pytest.raises(ValueError, match="high must be finite, found inf at index 0"):
        calibrant.tarp_references([0], [math.inf], 3)
    missing = np.array([[math.nan, 0], [1, 2]])
    with pytest.raises(ValueError, match=r"truth has a missing value \(NaN\) at pair 0, dim"):
        calibrant.tarp_ranks(draws, missing)
    assert calibrant.tarp_ranks(draws, missing, nan_policy="omit").shape == (1,)


# PIT


def test_pit_values():
    y = np.array([0.0, 0.5, 3.0])
    assert np.array_equal(calibrant.pit_values(lambda v: v / 4, y), y / 4)
    assert np.array_equal(calibrant.pit_values(y / 4), y / 4)
    upper, lower = np.array([0.5, 1.0]), np.array([0.25, 0.5])
    found = calibrant.pit_values(upper, cdf_below=lower, seed=2, first_pair=8)
    noise = [reference.uniform(2, 8 + i, 0, reference.PIT) for i in range(2)]
    assert np.array_equal(found, lower + np.array(noise) * (upper - lower))


def test_randomised_pit_values_are_uniform():
    rng = np.random.default_rng(3)
    heads = rng.binomial(3, 0.4, 20_000)
    law = np.cumsum([math.comb(3, k) * 0.4**k * 0.6 ** (3 - k) for k in range(4)])
    law[-1] = 1.0
    below = np.concatenate([[0.0], law])
    u = calibrant.pit_values(lambda y: law[y], heads, cdf_below=lambda y: below[y])
    counts = np.histogram(u, 10, (0, 1))[0]
    assert ((counts - 2000) ** 2 / 2000).sum() < 21.67


def test_rank_pit_values():
    found = calibrant.rank_pit_values([[0, 4], [2, 1]], 4, seed=6, first_pair=1)
    for i, d in np.ndindex(2, 2):
        rank = [[0, 4], [2, 1]][i][d]
        noise = reference.uniform(6, 1 + i, d, reference.PIT)
        assert found[i, d] == (rank + noise) / 5
    tied = [calibrant.sbc_ranks([[1, 2, 2, 3]], [2], seed=s) for s in range(60)]
    u = np.array([calibrant.rank_pit_values(r, 4, seed=s)[0] for s, r in enumerate(tied)])
    assert u.min() >= 0.2
    assert u.max() < 0.8


def test_bad_pit_values():
    with pytest.raises(TypeError, match="y_true must be given if cdf is a function"):
        calibrant.pit_values(lambda y: y)
    with pytest.raises(ValueError, match=r"cdf must lie in \[0, 1\], found 1.5 at row 1"):
        calibrant.pit_values([0.5, 1.5])
    with pytest.raises(ValueError, match=r"cdf must lie in \[0, 1\], found nan at row 0"):
        calibrant.pit_values([math.nan])
    with pytest.raises(ValueError, match=r"cdf_below must not be above cdf, found 0\.6 > 0\.5 at"):
        calibrant.pit_values([0.5], cdf_below=[0.6])
    with pytest.raises(ValueError, match=r"cdf_below must have the shape of cdf, \(1,\), got"):
        calibrant.pit_values([0.5], cdf_below=[0.1, 0.2])
    with pytest.raises(ValueError, match="ranks must be whole numbers from 0 to 4, found 5"):
        calibrant.rank_pit_values([5], 4)


# Other bad input


def test_bad_shapes_and_parameters():
    with pytest.raises(ValueError, match=r"truth must have shape \(2,\), as there are draws, got"):
        calibrant.sbc_ranks(np.zeros((2, 3)), [1, 2, 3])
    with pytest.raises(ValueError, match=r"truth must have shape \(2, 4\), as there are draws"):
        calibrant.sbc_ranks(np.zeros((2, 3, 4)), np.zeros((2, 3)))
    with pytest.raises(ValueError, match=r"draws must have 2 or 3 axes.* got shape \(3,\)"):
        calibrant.sbc_ranks([1, 2, 3], [1])
    with pytest.raises(ValueError, match="draws must hold at least one draw a pair, got 0"):
        calibrant.sbc_ranks(np.zeros((2, 0)), [1, 2])
    with pytest.raises(ValueError, match="draws must have at least one dimension, got 0"):
        calibrant.sbc_ranks(np.zeros((2, 3, 0)), np.zeros((2, 0)))
    with pytest.raises(ValueError, match="axis must be one of the 2 axes of draws, got 2"):
        calibrant.sbc_ranks(np.zeros((2, 3)), [1, 2], axis=2)
    with pytest.raises(TypeError, match="draws must hold real numbers, got dtype complex128"):
        calibrant.sbc_ranks(np.zeros((2, 3), complex), [1, 2])
    with pytest.raises(ValueError, match=r"seed must lie in \[0, 2\^64\), got -1"):
        calibrant.sbc_ranks(np.zeros((2, 3)), [1, 2], seed=-1)
    with pytest.raises(TypeError, match=r"seed must be an integer, got 0\.5"):
        calibrant.sbc_ranks(np.zeros((2, 3)), [1, 2], seed=0.5)
    with pytest.raises(ValueError, match=r"n_draws must lie in \[1, 2\^31 - 2\], got 0"):
        streaming.Ranks(0)
    with pytest.raises(ValueError, match=r"n_dims must lie in \[1, 2\^32 - 1\], got 0"):
        streaming.Ranks(1, 0)
    with pytest.raises(TypeError, match="less must hold whole numbers, got dtype float64"):
        calibrant.break_ties([0.5], [1])
    with pytest.raises(ValueError, match=r"equal must lie in \[0, 2\^31 - 2\], found -1 at pair 0"):
        calibrant.break_ties([0], [-1])
    with pytest.raises(ValueError, match=r"less \+ equal must be below 2\^31 - 1, found more at"):
        calibrant.break_ties([2**31 - 2], [1])
