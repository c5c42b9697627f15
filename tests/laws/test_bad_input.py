"""What every public callable rejects, and how it says so: requirement, what was found, where.

The calls come from ``bad_input_table.py``, which must have a row for every public callable: a new
one without it fails here. Each argument is then spoiled in all ways of its kind.
"""

from __future__ import annotations

import functools
import inspect
import math
import re
import time
import warnings

import numpy as np
import pytest

import calibrant
import calibrant.io
from bad_input_kinds import ALSO, Bad, Kind, pa
from bad_input_rows import ACCUMULATORS, MAKERS, Row, filled
from bad_input_table import ROWS
from calibrant import distributed, set_num_threads, streaming
from public_api import parameters, public_callables

NAN = math.nan
CALLABLES = {
    name: thing for name, thing in public_callables().items() if not name.startswith("compat.")
}  # the peers' names reject what the peers reject: test_compat_bad_input.py
#: Drawn by test_plotting.py, read by test_io.py, sent to workers by test_engines.py.
NOT_CALLED = (".plot", ".load", ".save", ".dask", ".spark", ".ray", "ensemble_votes")

pytestmark = pytest.mark.filterwarnings("ignore:.* bins are too many for .* rows")


def name_of(key: str) -> str:
    return key.split(",")[0]


def bound(name: str):
    """The callable, and what it is a method of, if it is one."""
    thing = CALLABLES[name]
    owner, _, method = name.rpartition(".")
    if not inspect.isfunction(thing) or "self" not in inspect.signature(thing).parameters:
        return thing, None
    if owner in MAKERS:
        receiver = MAKERS[owner]()
        return getattr(receiver, method), receiver
    # A result to draw: the axes are looked at before it is.
    cls = functools.reduce(getattr, owner.split("."), calibrant)
    return functools.partial(thing, cls.__new__(cls)), None


def state_of(receiver):
    if hasattr(receiver, "to_bytes"):
        return receiver.to_bytes()
    if hasattr(receiver, "scorecards"):
        return repr(receiver.result())
    return getattr(receiver, "n", None)


# Every public callable has a row


def test_every_public_callable_has_a_row():
    rows = {name_of(key) for key in ROWS}
    assert set(CALLABLES) - rows == set(), "give an example of a good call in bad_input_table.py"
    assert rows - set(CALLABLES) == set(), "no such public callable"


@pytest.mark.parametrize("name", CALLABLES)
def test_every_argument_has_a_kind(name):
    rows = [row for key, row in ROWS.items() if name_of(key) == name]
    for argument in parameters(CALLABLES[name]):
        kinds = [row.kind(argument) for row in rows]
        assert None not in kinds, f"{argument}: say what kind it is"
        if all(kind.needs_example for kind in kinds):
            assert any(argument in row.good for row in rows), f"{argument}: give a good value"


# What is good


def is_called(key: str) -> bool:
    row = ROWS[key]
    return not name_of(key).endswith(NOT_CALLED) and not row.is_incomplete


called = pytest.mark.parametrize("key", [key for key in ROWS if is_called(key)])


def outcome(key: str, changed=None):
    thing, receiver = bound(name_of(key))
    result = thing(**{**ROWS[key].good, **(changed or {})})
    return result, state_of(receiver)


@called
def test_what_is_good(key):
    outcome(key)


def swapped(good):
    array = np.array(good)
    return array.astype(array.dtype.newbyteorder())


def read_only(good):
    array = np.array(good)
    array.setflags(write=False)
    return array


class Subclass(np.ndarray):
    """An array whose methods lie."""

    def __array_finalize__(self, _):
        self.note = "lost"

    def sum(self, *_, **__):
        return 0.0


def of_arrow(good):
    """A column, or one of lists; what has no such form as it is."""
    array = np.array(good)
    if pa is None or array.dtype.kind not in "iuf" or array.ndim > 2:
        return good
    return pa.chunked_array([pa.array(array[:1].tolist()), pa.array(array[1:].tolist())])


def spread(good):
    wide = np.repeat(np.array(good), 2, axis=0)
    return wide[::2]


FORMS = {
    "other byte order": swapped,
    "read-only": read_only,
    "strided": spread,
    "Fortran order": lambda good: np.asfortranarray(np.array(good)),
    "subclass": lambda good: np.array(good).view(Subclass),
    "list": lambda good: np.array(good).tolist(),
    "Arrow": of_arrow,
}


@called
def test_arrays_of_any_form(key):
    """Byte order, strides, flags and subclasses do not matter."""
    row = ROWS[key]
    arrays = [name for name in row.good if row.kind(name) is not None and row.kind(name).is_array]
    if not arrays:
        return
    expected = outcome(key, {name: np.array(row.good[name]) for name in arrays})
    for form, change in FORMS.items():
        found = outcome(key, {name: change(row.good[name]) for name in arrays})
        np.testing.assert_equal(plain(found), plain(expected), err_msg=form)


def plain(found):
    result, state = found
    view = result.to_dict() if hasattr(result, "to_dict") else result
    return (view if isinstance(view, (dict, float, np.ndarray, tuple)) else repr(type(view))), state


# What is rejected


def cases(row: Row, name: str):
    signature = parameters(CALLABLES[name])
    for argument in dict.fromkeys([*row.good, *signature]):
        kind = row.kind(argument)
        if kind is None or (kind.needs_example and argument not in row.good):
            continue
        is_optional = argument in signature and signature[argument].default is None
        for how, bad in kind.bad.items():
            if how != "None" or not (is_optional or argument == "sample_weight"):
                yield argument, kind, how, bad


#: Texts of pybind11, of C++, of NumPy and of Python where they should have been ours.
FOREIGN = (
    r"incompatible function arguments|Unable to convert|std::|ufunc|is ambiguous|unhashable|"
    r"setting an array element|optional access|no kernel matching|"
    r"expected str, bytes|codec can't"
)


def rejection_of(key: str, argument: str, kind: Kind, bad: Bad) -> str | None:
    """What is wrong with the rejection of a bad argument; None if nothing is."""
    row, name = ROWS[key], name_of(key)
    good = row.good.get(argument)
    last = len(good) - 1 if isinstance(good, (list, np.ndarray)) else 0
    thing, receiver = bound(name)
    before = state_of(receiver)
    try:
        found = thing(**{**row.good, argument: bad.spoil(good)})
    except bad.error as error:
        text = str(error)
        if re.search(FOREIGN, text):
            return f"says what is not ours: {text}"
        names = rf"\b({argument}|{ALSO.get(argument, argument)})\b"
        if kind.is_named and not re.search(names, text):
            return f"does not name it: {text}"
        expected = bad.says.replace("{0}", argument).replace("{1}", str(last))
        if not re.search(expected, text):
            return f"does not say {expected!r}: {text}"
    except Exception as error:
        return f"raises {error!r}"
    else:
        return f"returns {found!r:.80}"
    return None if state_of(receiver) == before else "changes the state"


@pytest.mark.parametrize("key", ROWS)
def test_what_is_rejected(key):
    wrong = []
    for argument, kind, how, bad in cases(ROWS[key], name_of(key)):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.filterwarnings("ignore", ".* bins are too many for .* rows")
            found = rejection_of(key, argument, kind, bad)
        if found is not None:
            wrong.append(f"{argument} [{how}] {found}")
    assert not wrong, "\n".join(wrong)


#: Of no rows there is no mean. These give as many values as there are rows, or say that it is 0.
NOT_ROWS = ("draw_weight", "levels", "weights")
MAY_BE_EMPTY = (
    "break_ties", "brownian_", "class_posterior", "CoupledGaussian.cdf", "CoupledGaussian.logpdf",
    "CoupledGaussian.pdf", "CoupledGaussian.posterior", "crps_", "draw_counts", "energy_",
    "ensemble_", "distributed.", "io.scan", "pit_values", "quantile_score", "rank_pit_values",
    "reliability_bins", "sbc_ranks", "tarp_", "variogram_score",
)  # fmt: skip


def has_rows(argument: str, kind: Kind | None) -> bool:
    return kind is not None and kind.needs_example and kind.is_named and argument not in NOT_ROWS


def without_rows(good):
    if isinstance(good, dict):
        return {name: without_rows(value) for name, value in good.items()}
    return np.array(good)[:0]


@called
def test_no_rows(key):
    row, name = ROWS[key], name_of(key)
    kinds = {argument: row.kind(argument) for argument in row.good}
    empty = {
        argument: without_rows(row.good[argument])
        for argument, kind in kinds.items()
        if has_rows(argument, kind)
    }
    if not empty:
        return
    if name.endswith((".update", ".update_ranks")):  # a batch may be empty
        update, total = bound(name)
        before = state_of(total)
        update(**{**row.good, **empty})
        assert state_of(total) == before
    elif name.startswith(MAY_BE_EMPTY):
        outcome(key, empty)
    else:
        with pytest.raises(ValueError, match=r"\brows?\b|got none|at least one|sum of 0\.0"):
            outcome(key, empty)


#: No bins, no groups, no windows, nothing won.
MAY_BE_ASKED = (
    "streaming.Grouped", "streaming.Reliability", "streaming.Windowed",
    "sequential.SequentialCalibrationTest",
)  # fmt: skip


@pytest.mark.parametrize("name", ACCUMULATORS)
def test_an_accumulator_of_nothing_has_no_result(name):
    total = ACCUMULATORS[name][0]()
    if name in MAY_BE_ASKED:
        assert total.n == 0
        total.result()
    elif hasattr(total, "result"):
        with pytest.raises(ValueError, match=r"\brows?\b|rank"):
            total.result()


def test_an_accumulator_of_no_weight_has_no_result():
    total = streaming.RiskProfile()
    total.update([1, 0], [0.5, 0.5], sample_weight=[0, 0])
    with pytest.raises(
        ValueError, match="a mean needs a row with positive weight, all 2 have weight 0"
    ):
        total.result()
    total.update([1], [0.5])
    assert total.result().accuracy == 0.5


# The first bad row is named, wherever it is


@pytest.fixture(params=[1, 2, 7])
def any_threads(request, runtime_restored):  # noqa: ARG001
    set_num_threads(request.param)


for_any_threads = pytest.mark.usefixtures("any_threads")


N = 250_000  # enough for seven threads to be worth it
FIRST_BAD = [0, 1, 511, 512, 8191, 8192, 8193, 200_000, N - 1]


def good_rows(n_classes=None):
    rng = np.random.default_rng(0)
    return {
        "y_true": rng.integers(0, n_classes or 2, N).astype(float),
        "y_proba": rng.random(N if n_classes is None else (N, n_classes)),
        "sample_weight": rng.random(N),
    }


@for_any_threads
@pytest.mark.parametrize("n_classes", [None, 3])
@pytest.mark.parametrize("argument", ["y_true", "y_proba", "sample_weight"])
def test_the_first_bad_row_is_named(n_classes, argument):
    rows = good_rows(n_classes)
    total = streaming.RiskProfile()
    total.update([1, 1, 0], [0.5, 0.6, 0.7])
    before = total.to_bytes()
    for row in FIRST_BAD:
        spoiled = {**rows, argument: rows[argument].copy()}
        spoiled[argument][row:] = -3  # and all that come after
        column = ", column 0" if n_classes and argument == "y_proba" else ""
        message = (
            rf"{argument} must .* found -3 at row {row}{column} \(row {row + 3} of the stream\)$"
        )
        with pytest.raises(ValueError, match=message):
            total.update(**spoiled)
        assert total.to_bytes() == before


@for_any_threads
def test_the_first_bad_row_of_all_arguments_is_named():
    rows = good_rows()
    rows["y_true"][140_000] = 7
    rows["y_proba"][120_000] = 1.5
    rows["sample_weight"][120_001] = -1
    with pytest.raises(ValueError, match=r"y_proba must lie in \[0, 1\], found 1.5 at row 120000$"):
        calibrant.risk_profile(**rows)


def test_a_class_beside_the_true_one_is_checked_too():
    rows = good_rows(3)
    rows["y_true"][:] = 0
    rows["y_proba"][12_345, 2] = NAN
    with pytest.raises(
        ValueError, match=r"y_proba has a missing value \(NaN\) at row 12345, column 2"
    ):
        calibrant.risk_profile(**rows)


def test_omitted_rows_count_in_the_stream():
    total = streaming.RiskProfile()
    total.update([1, NAN, 0], [0.5, 0.5, NAN], nan_policy="omit")
    assert (total.n, total.n_omitted) == (1, 2)
    with pytest.raises(ValueError, match=r"at row 1 \(row 4 of the stream\)"):
        total.update([1, 1], [0.5, 1.5])


@pytest.mark.parametrize("n_classes", [None, 2, 3])
@pytest.mark.parametrize(
    "dtype", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", ">i4", "f2", "f4"]
)
def test_labels_of_any_type_are_checked(dtype, n_classes):
    """Common types have code of their own."""
    wrong = 254 if dtype.startswith("u") else -1
    y_proba = np.full(3 if n_classes is None else (3, n_classes), 0.5)
    with pytest.raises(ValueError, match=rf"y_true must be .*, found {wrong} at row 1$"):
        calibrant.risk_profile(np.array([0, wrong, 1]).astype(dtype), y_proba)


def test_any_byte_but_zero_is_true():
    y_true = np.array([2, 0, 255], np.uint8).view(bool)
    p = [0.5, 0.6, 0.7]
    assert calibrant.risk_profile(y_true, p) == calibrant.risk_profile([1, 0, 1], p)


# Missing values


@for_any_threads
@pytest.mark.parametrize("n_classes", [None, 3])
def test_omit_drops_and_counts(n_classes):
    rows = good_rows(n_classes)
    rng = np.random.default_rng(1)
    for column in rows.values():
        column[rng.random(column.shape) < 0.05] = NAN
    complete = ~np.any([np.isnan(c).reshape(N, -1).any(axis=1) for c in rows.values()], axis=0)
    result = calibrant.risk_profile(**rows, nan_policy="omit")
    kept = calibrant.risk_profile(**{name: column[complete] for name, column in rows.items()})
    assert (result.n, result.n_omitted) == (kept.n, N - kept.n)
    assert (result.decisiveness, result.accuracy, result.robustness) == (
        kept.decisiveness,
        kept.accuracy,
        kept.robustness,
    )


@pytest.mark.parametrize("argument", ["y_true", "y_proba", "sample_weight"])
def test_omit_still_rejects_bad_values(argument):
    rows = {"y_true": [NAN, 1.0], "y_proba": [NAN, 0.5], "sample_weight": [NAN, 1.0]}
    rows[argument] = [NAN, -3.0]
    with pytest.raises(ValueError, match=rf"{argument} must .* found -3 at row 1$"):
        calibrant.risk_profile(**rows, nan_policy="omit")


def test_omit_may_leave_nothing():
    with pytest.raises(ValueError, match="a mean needs at least one row, got none"):
        calibrant.generalized_mean([NAN, NAN], 1, nan_policy="omit")


def test_omit_without_anything_to_omit_changes_nothing():
    rows = good_rows()
    omitting, strict = streaming.RiskProfile(), streaming.RiskProfile()
    omitting.update(**rows, nan_policy="omit")
    strict.update(**rows)
    assert omitting.to_bytes() == strict.to_bytes()


@pytest.mark.parametrize("bits", [0x7FF0000000000001, 0xFFF8000000000000, 0x7FF8DEADBEEF0000])
def test_any_nan_is_missing(bits):
    p = np.array([0x3FE0000000000000, bits], np.uint64).view(float)
    for argument in ("y_true", "y_proba", "sample_weight"):
        rows = {"y_true": [1, 1], "y_proba": [0.5, 0.5], "sample_weight": [1, 1]}
        rows[argument] = p if argument == "y_proba" else np.where([True, False], 1.0, p)
        with pytest.raises(ValueError, match=rf"{argument} has a missing value \(NaN\) at row 1"):
            calibrant.risk_profile(**rows)
        assert calibrant.risk_profile(**rows, nan_policy="omit").n_omitted == 1


# A failed update leaves everything as it was


def test_a_rejected_sum_changes_nothing():
    total = streaming.RiskProfile(powers=[-(2.0**26)])
    total.update([1], [0.5])
    before = total.to_bytes()
    with pytest.raises(ValueError, match="too many powers of two apart"):
        total.update([1], [0.25])
    far = streaming.RiskProfile(powers=[-(2.0**26)])
    far.update([1], [0.25])
    with pytest.raises(ValueError, match="too many powers of two apart"):
        total.merge(far)
    assert total.to_bytes() == before


# Arguments in the wrong order


N_PAIRS, N_DRAWS = 6, 4
DRAWN = np.arange(24.0).reshape(N_PAIRS, N_DRAWS)
POINTS_DRAWN = np.arange(48.0).reshape(N_PAIRS, N_DRAWS, 2)
TRUTHS, POINT_TRUTHS = np.arange(6.0), np.arange(12.0).reshape(6, 2)
SWAPPED = {
    "crps_ensemble": lambda: calibrant.crps_ensemble(DRAWN, TRUTHS),
    "crps_ensemble, draws first": lambda: calibrant.crps_ensemble(DRAWN.T, TRUTHS, axis=0),
    "crps_ensemble, one outcome": lambda: calibrant.crps_ensemble(DRAWN[0], 1.0),
    "crps_ensemble, lists": lambda: calibrant.crps_ensemble(DRAWN.tolist(), TRUTHS.tolist()),
    "quantile_score": lambda: calibrant.quantile_score(DRAWN, TRUTHS, levels=[0.5] * 6),
    "energy_score": lambda: calibrant.energy_score(POINTS_DRAWN, POINT_TRUTHS),
    "variogram_score": lambda: calibrant.variogram_score(POINTS_DRAWN, POINT_TRUTHS),
    "sbc_ranks": lambda: calibrant.sbc_ranks(TRUTHS, DRAWN),
    "sbc_ranks, points": lambda: calibrant.sbc_ranks(POINT_TRUTHS, POINTS_DRAWN),
    "sbc_ranks, lists": lambda: calibrant.sbc_ranks(TRUTHS.tolist(), DRAWN.tolist()),
    "draw_counts": lambda: calibrant.draw_counts(TRUTHS, DRAWN),
    "tarp_ranks": lambda: calibrant.tarp_ranks(POINT_TRUTHS, POINTS_DRAWN),
    "energy_ranks": lambda: calibrant.energy_ranks(TRUTHS, DRAWN),
    "streaming.Ranks": lambda: streaming.Ranks(N_DRAWS).update(TRUTHS, DRAWN),
    "pit_values, callable": lambda: calibrant.pit_values(TRUTHS, np.tanh),
    "pit_values": lambda: calibrant.pit_values(TRUTHS, [0.5] * 6),
}


@pytest.mark.parametrize("call", SWAPPED.values(), ids=SWAPPED)
def test_swapped_arguments(call):
    """Some of them would broadcast to a matrix."""
    with pytest.raises((TypeError, ValueError), match="look swapped"):
        call()


def test_one_ensemble_for_all_outcomes():
    """Not swapped: there is no axis for the draws in the outcomes."""
    for y_true in (TRUTHS, DRAWN):
        one = calibrant.crps_ensemble(y_true, [0.0, 1.0, 5.0])
        each = calibrant.crps_ensemble(y_true, np.broadcast_to([0.0, 1.0, 5.0], (*y_true.shape, 3)))
        np.testing.assert_array_equal(one, each)
    six = calibrant.crps_ensemble(DRAWN, TRUTHS[None])  # as many draws as rows
    assert six.shape == DRAWN.shape


# Rows in groups and windows


def in_windows(make, rows):
    total = streaming.Windowed(make, rows=4)
    total.update(**rows)


def in_groups(make, rows):
    total = streaming.Grouped(make)
    total.update(**rows, groups=["a", "b", "a", "b", "a", "b"])


CROSSED = {
    name: (make, rows)
    for name, (make, rows) in ACCUMULATORS.items()
    if not name.endswith(("Grouped", "Windowed", "Refinement", "Moments", "Vendi"))
    and name.startswith("streaming.")
}


@pytest.mark.parametrize("add", [in_groups, in_windows])
@pytest.mark.parametrize("name", CROSSED)
def test_what_is_rejected_in_groups_and_windows(add, name):
    """As by the accumulator itself: nothing is lost on the way to it."""
    make, rows = CROSSED[name]
    row = ROWS[f"{name}.update"]
    for argument, kind, how, bad in cases(row, f"{name}.update"):
        if not kind.is_array or how in ("many axes", "0-d", "one row short", "no rows"):
            continue
        with pytest.raises((TypeError, ValueError)) as raised:
            add(make, {**rows, argument: bad.spoil(rows[argument])})
        assert not re.search(FOREIGN, str(raised.value)), (argument, how, raised.value)


@pytest.mark.parametrize("dtype", [">i4", ">i8", ">u2", ">f8", ">U1"])
def test_big_endian_keys(dtype):
    codes = np.array([0, 1, 0, 1, 2, 2]).astype(dtype[1:])
    p, y = np.linspace(0.1, 0.9, 6), [0, 1, 0, 1, 1, 0]
    calls = [
        lambda keys: calibrant.ks_test(y, p, groups=keys),
        lambda keys: calibrant.cumulative_tests(y, p, groups=keys).to_dict(),
        lambda keys: calibrant.coverage_gap(
            p, (p - 1.0, p + 1.0), groups=keys, confidence_level=0.9
        ).to_dict(),
        lambda keys: calibrant.scorecard(y, p, groups=keys).to_dict(),
    ]
    for call in calls:
        assert call(codes.astype(dtype)) == call(codes)


def test_columns_of_lists_have_as_many_classes():
    pa = pytest.importorskip("pyarrow")
    p = np.random.default_rng(1).dirichlet([1.0] * 3, 40)
    y = np.arange(40) % 3
    lists = pa.array(p.tolist())
    forms = [lists, pa.chunked_array([lists]), pa.FixedSizeListArray.from_arrays(p.ravel(), 3)]
    for form in forms:
        with pytest.warns(UserWarning, match="bins are too many") as warned:
            expected = calibrant.assess(y, p, n_bins=60)
        with pytest.warns(UserWarning, match="bins are too many") as also:
            assert calibrant.assess(y, form, n_bins=60).to_dict() == expected.to_dict()
        assert str(also[0].message) == str(warned[0].message)
        with pytest.raises(ValueError, match="labels must name the 3 classes of y_proba, got 2"):
            calibrant.brier_score(y, form, labels=["a", "b"])
        assert repr(calibrant.conventions(y, form)) == repr(calibrant.conventions(y, p))


def test_rows_without_a_key_are_counted_below_2_to_64():
    total = streaming.Grouped(streaming.Scores)
    total.update([1], [0.5], groups=[None], nan_policy="omit")
    for _ in range(63):
        total.merge(total)
    before = total.to_bytes()
    with pytest.raises(OverflowError, match=r"more than 2\^64 - 1 rows without a key"):
        total.merge(total)
    assert total.to_bytes() == before


def test_a_bin_of_conventions_may_hold_no_row():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = calibrant.conventions([0, 1, 1], [0.2, 0.5, 0.75], n_bins=1)
    assert math.isnan(next(row.value for row in found if row.call.endswith("('uniform')")))


def test_what_a_name_of_a_file_can_be():
    for call in (filled("streaming.Scores").save, streaming.load, streaming.Scores.load):
        for wrong in (5, None, b"a.state", 1.5):
            with pytest.raises(TypeError, match=r"path must be a str or os.PathLike, got"):
                call(wrong)


def test_a_column_is_no_table():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    for table in (pd.Series([0.5]), pl.Series([0.5])):
        with pytest.raises(TypeError, match=r"a table must be .*got .*Series"):
            calibrant.io.scan(table, label="y")
        with pytest.raises(TypeError, match=r"a table must be .*got .*Series"):
            distributed.partial(table, distributed.Spec(streaming.Scores, {"label": "y"}))


# More classes than anybody has


#: Per class a result in Python.
ONE_BY_ONE = {"kuiper_test", "assess, isotonic"}


def with_many_classes(row: Row, k: int) -> dict:
    """The good arguments with k columns, all of one value."""
    n = len(row.good["y_true"])
    forecast = np.broadcast_to(np.full(k, 1.0 / k), (n, k))
    changed = {name: forecast for name in ("y_proba", "first", "second") if name in row.good}
    if "probas" in row.good:
        changed["probas"] = dict.fromkeys(row.good["probas"], forecast)
    return {"y_true": np.arange(n) % 2, **changed}


@pytest.mark.parametrize("k", [10**4, 2**17 + 1, pytest.param(2**20 + 1, marks=pytest.mark.long)])
@pytest.mark.parametrize(
    "key",
    [
        key
        for key in ROWS
        if is_called(key)
        and {"y_true"} < ROWS[key].good.keys()
        and {"y_proba", "first", "probas"} & ROWS[key].good.keys()
        and not key.startswith("report.")
    ],
)
def test_many_classes(key, k):
    """Of groups and windows, too: they work, in a time that is linear, or are rejected by name."""
    if k > 2**16 and key in ONE_BY_ONE:
        pytest.skip("as long as that, but Ctrl-C ends it")
    changed = with_many_classes(ROWS[key], k)
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        try:
            outcome(key, changed)
        except (ValueError, TypeError) as error:
            text = str(error)
            assert re.search(r"class|shape|column|label|n,\)", text), text
            assert not re.search(FOREIGN, text), text
    assert time.process_time() - start < 30.0
