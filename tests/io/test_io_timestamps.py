"""The role of time: dates of every library and unit, time zones, numbers."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from calibrant.io import scan

#: Seconds, so that every unit can hold them; across a change of the clocks in Berlin.
STAMPS = np.array(["2026-03-28T22:30:00", "2026-03-29T01:30:00", "1969-12-31T23:59:59"], "M8[s]")
Y, P = [1, 0, 1], [0.75, 0.5, 0.25]


def stamps_of(table):
    (batch,) = scan(table, label="y", prob="p", timestamp="t")
    assert batch.n == len(Y)
    return batch.timestamps


def arrow_table(unit, zone):
    moments = pa.array(STAMPS).cast(pa.timestamp(unit))
    if zone is not None:  # the same moments, as clocks there show them
        moments = moments.cast(pa.timestamp(unit, "UTC")).cast(pa.timestamp(unit, zone))
    return pa.table({"y": Y, "p": P, "t": moments})


LIBRARIES = {
    "arrow": lambda table: table,
    "dictionary": lambda table: table.set_column(2, "t", table["t"].dictionary_encode()),
    "pandas": lambda table: table.to_pandas(),
    "pandas of arrow": lambda table: table.to_pandas(types_mapper=pd.ArrowDtype),
    "polars": lambda table: pytest.importorskip("polars").from_arrow(table),
}


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Berlin", "+05:30"])
@pytest.mark.parametrize("library", LIBRARIES)
def test_dates_are_moments_in_utc(unit, zone, library):
    if library == "polars" and zone == "+05:30":
        pytest.skip("polars has no zones by offset")
    stamps = stamps_of(LIBRARIES[library](arrow_table(unit, zone)))
    assert stamps.dtype.kind == "M"
    np.testing.assert_array_equal(stamps, STAMPS)


@pytest.mark.parametrize("kind", [pa.date32(), pa.date64()])
def test_days(kind):
    days = STAMPS.astype("M8[D]")
    table = pa.table({"y": Y, "p": P, "t": pa.array(days).cast(kind)})
    np.testing.assert_array_equal(stamps_of(table), days)


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint64", "float32", "float64"])
@pytest.mark.parametrize("library", LIBRARIES)
def test_numbers_stay_as_they_are(dtype, library):
    numbers = np.array([3, 1, 2], dtype)
    stamps = stamps_of(LIBRARIES[library](pa.table({"y": Y, "p": P, "t": numbers})))
    assert stamps.dtype == dtype
    np.testing.assert_array_equal(stamps, numbers)


def test_files(tmp_path):
    table = arrow_table("us", "Europe/Berlin")
    pyarrow.parquet.write_table(table, tmp_path / "t.parquet")
    np.testing.assert_array_equal(stamps_of(tmp_path / "t.parquet"), STAMPS)
    pyarrow.csv.write_csv(arrow_table("s", None), tmp_path / "t.csv")
    np.testing.assert_array_equal(stamps_of(tmp_path / "t.csv"), STAMPS)
    np.savez(tmp_path / "t.npz", y=Y, p=P, t=STAMPS)
    np.testing.assert_array_equal(stamps_of(tmp_path / "t.npz"), STAMPS)


def test_missing_ones_are_nat_or_nan():
    table = pa.table({"y": Y, "p": P, "t": pa.array([None, *STAMPS[1:]], pa.timestamp("s"))})
    for library in LIBRARIES:
        stamps = stamps_of(LIBRARIES[library](table))
        assert np.isnat(stamps.astype("M8[us]")).tolist() == [True, False, False]
    numbers = stamps_of(pa.table({"y": Y, "p": P, "t": [None, 1, 2]}))
    assert np.isnan(numbers).tolist() == [True, False, False]


@pytest.mark.parametrize(
    ("column", "held"),
    [
        (["1 May", "2 May", "3 May"], "text"),
        ([True, False, True], "booleans"),
        ([[1], [2], [3]], "lists"),
    ],
)
def test_what_is_no_time_is_rejected(column, held):
    with pytest.raises(TypeError, match=rf"column 't' must hold dates or numbers, it holds {held}"):
        scan(pa.table({"y": Y, "p": P, "t": column}), timestamp="t")


def test_it_is_said_and_taken_by_no_other_role():
    table = {"y": Y, "p": P, "w": [1, 2, 3]}
    found = scan(table, timestamp="w")
    assert found.notes()[-1] == "timestamp = w (given)"
    assert (found.roles.weight, found.roles.to_dict()["timestamp"]) == (None, "w")
    assert scan(table).roles.weight == "w"
    with pytest.raises(ValueError, match="no column 'when'"):
        scan(table, timestamp="when")


def test_python_dates_with_a_zone_are_left_to_the_windows_which_reject_them():
    zoned = [dt.datetime(2026, 3, 29, tzinfo=dt.UTC)] * 3
    assert stamps_of({"y": Y, "p": P, "t": zoned}).dtype == object
