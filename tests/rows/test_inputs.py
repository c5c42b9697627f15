"""Arguments of every kind are read right, in place where possible, or rejected clearly."""

import array
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp

from calibrant._core import _testing as core

DTYPES = ["?", "b", "h", "i", "q", "B", "H", "I", "Q", "e", "f", "d"]
ORDERED = [order + dtype for dtype in DTYPES for order in "<>"]


def values_of(dtype, n=41):
    dtype = np.dtype(dtype)
    rng = np.random.default_rng(7)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        x = rng.integers(info.min, info.max, n, dtype=dtype.newbyteorder("="), endpoint=True)
        x[:2] = info.min, info.max
        return x.astype(dtype)
    x = rng.normal(size=n)
    if dtype.kind == "f":
        x[:6] = 0.0, -0.0, np.inf, -np.inf, np.nan, np.finfo(dtype).smallest_subnormal
    return (x > 0).astype(dtype) if dtype.kind == "b" else x.astype(dtype)


def misaligned(x):
    raw = np.empty(x.nbytes + 1, np.uint8)
    view = raw[1:].view(x.dtype).reshape(x.shape)
    view[...] = x
    return view


def same_bits(found, expected):
    expected = np.ascontiguousarray(expected, np.float64)
    assert found.shape == expected.shape
    nan = np.isnan(expected)
    np.testing.assert_array_equal(np.isnan(found), nan)
    np.testing.assert_array_equal(found[~nan].view(np.uint64), expected[~nan].view(np.uint64))


LAYOUTS = {
    "contiguous": lambda x: x,
    "every third": lambda x: x[::3],
    "reversed": lambda x: x[::-1],
    "one value, stride 0": lambda x: np.broadcast_to(x[3], (17,)),
    "misaligned": misaligned,
    "misaligned, strided": lambda x: misaligned(x)[::-2],
    "empty": lambda x: x[:0],
    "one": lambda x: x[:1],
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ORDERED)
def test_vector(dtype, layout):
    x = LAYOUTS[layout](values_of(dtype))
    same_bits(core.load(x), x.astype(np.float64))
    same_bits(core.load(x, by_row=True), x.astype(np.float64))


MATRICES = {
    "C": lambda x: x,
    "Fortran": np.asfortranarray,
    "transposed": lambda x: x.reshape(5, 8).T,
    "columns cut out": lambda x: x[:, 1:4],
    "one column": lambda x: x[:, 2:3],
    "rows and columns reversed": lambda x: x[::-1, ::-1],
    "repeated rows": lambda x: np.broadcast_to(x[0], (6, 5)),
    "repeated column": lambda x: np.broadcast_to(x[:, :1], (8, 3)),
    "misaligned": misaligned,
    "no rows": lambda x: x[:0],
    "no columns": lambda x: x[:, :0],
}


@pytest.mark.parametrize("layout", MATRICES)
@pytest.mark.parametrize("dtype", ORDERED)
def test_matrix(dtype, layout):
    x = MATRICES[layout](values_of(dtype, 40).reshape(8, 5))
    same_bits(core.load(x), x.astype(np.float64))
    same_bits(core.load(x, by_row=True), x.astype(np.float64))


def test_every_float16():
    x = np.arange(2**16, dtype=np.uint16).view(np.float16)
    same_bits(core.load(x), x.astype(np.float64))


@given(hnp.arrays(st.sampled_from(["i8", "u8"]), st.integers(0, 20)))
def test_large_integers_become_the_nearest_double(x):
    same_bits(core.load(x), [float(v) for v in x.tolist()])


def label_by_definition(value):
    if value != value:
        return -1
    return int(value) if 0 <= value < 2**31 - 1 and value == int(value) else -2


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ORDERED)
def test_labels(dtype, layout):
    x = values_of(dtype)
    edges = [0, 1, 2, 127, 200, 2**31 - 2, 2**31 - 1, 2**31, 2**32, 2**32 + 1, -1, 0.5, 1 - 1e-9]
    fitting = [e for e in edges if np.dtype(dtype).kind == "f" or isinstance(e, int)]
    with np.errstate(over="ignore"):
        for i, edge in enumerate(fitting):
            x[6 + i] = np.array(edge).astype(dtype)
    x = LAYOUTS[layout](x)
    expected = [label_by_definition(v) for v in x.tolist()]
    assert core.load_labels(x).tolist() == expected


def test_any_nonzero_byte_is_true():
    x = np.array([0, 1, 2, 255], np.uint8).view(np.bool_)
    assert core.load(x).tolist() == [0, 1, 1, 1]
    assert core.load_labels(x).tolist() == [0, 1, 1, 1]


def test_native_doubles_are_used_in_place():
    x = np.arange(10.0)
    x.flags.writeable = False
    assert core.is_in_place(x)
    assert core.address(x) == x.ctypes.data
    assert core.is_in_place(x[3:])
    assert core.address(x[3:]) == x.ctypes.data + 24
    assert core.is_in_place(x[::5][:1])  # one row has no stride
    table = x.reshape(5, 2)
    assert core.is_in_place(table)
    gaps = [x[::2], table[::2], table[:, ::-1], np.asfortranarray(table)]
    for other in [*gaps, misaligned(x), x.astype(">f8"), x.astype("f4")]:
        assert not core.is_in_place(other)
        assert core.address(other) == other.ctypes.data


class Subclass(np.ndarray):
    def view(self, *_):
        raise AssertionError("a subclass does not decide how it is read")

    def __array__(self, *args, **kwargs):
        return np.zeros(3)


def test_subclasses_are_read_as_their_memory(tmp_path):
    x = np.arange(5.0)
    assert core.address(np.ndarray.view(x, Subclass)) == x.ctypes.data
    np.save(tmp_path / "x.npy", x)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    assert core.address(mapped) == mapped.ctypes.data
    same_bits(core.load(mapped), x)


@pytest.mark.parametrize("x", [np.arange(5.0), memoryview(b"abc"), array.array("d", [0.5])])
def test_references_are_returned(x):
    before = sys.getrefcount(x)
    for _ in range(10):
        core.load(x)
    assert sys.getrefcount(x) == before


@pytest.mark.parametrize(
    "value", [[0.5, 1], (0.5, 1), array.array("d", [0.5, 1]), memoryview(np.array([0.5, 1]))]
)
def test_plain_python(value):
    assert core.load(value).tolist() == [0.5, 1.0]


def test_nested_lists():
    assert core.load([[0.5, 1], [0, 2]]).tolist() == [[0.5, 1], [0, 2]]
    assert core.load([]).tolist() == []


NOT_NUMBERS = {
    "dtype object": np.array([0.5, None]),
    "dtype <U3": np.array(["0.5"]),
    "dtype |S3": np.array([b"0.5"]),
    "dtype complex128": np.array([0.5 + 0j]),
    r"dtype datetime64\[D\]": np.array(["2026-01-01"], "M8[D]"),
    r"dtype timedelta64\[s\]": np.array([1], "m8[s]"),
    r"dtype \[\('f0', '<i4'\)\]": np.zeros(2, [("f0", "<i4")]),
    r"dtype \(numpy.record": np.rec.array([(1, 0.5)]),
}


@pytest.mark.parametrize("found", NOT_NUMBERS)
def test_other_dtypes_are_rejected(found):
    with pytest.raises(TypeError, match=rf"^y_proba must hold real numbers, got {found}"):
        core.load(NOT_NUMBERS[found])


@pytest.mark.skipif(np.dtype("g").itemsize == 8, reason="long double is double here")
def test_long_double_is_rejected():
    with pytest.raises(TypeError, match="must hold real numbers, got dtype"):
        core.load(np.zeros(2, np.longdouble))


@pytest.mark.parametrize("y", [["a", "b"], np.array(["a"]), np.array(["a"], object)])
def test_text_labels_are_rejected_with_the_remedy(y):
    with pytest.raises(TypeError, match=r"^y_true must hold integer class codes, got .*labels="):
        core.load_labels(y)


def test_masked_arrays_are_rejected():
    with pytest.raises(TypeError, match=r"mask would be lost; pass y_proba.filled"):
        core.load(np.ma.array([0.5, 0.6], mask=[True, False]))


@pytest.mark.parametrize("value", [[[1], [2, 3]], [[1, 2], 3]])
def test_ragged_lists_are_rejected(value):
    with pytest.raises(TypeError, match=r"^y_proba must be a rectangular list"):
        core.load(value)


@pytest.mark.parametrize(
    ("value", "found"), [(None, "None"), ("0.5", "str"), ({1: 2}, "dict"), (iter([1]), "list_iter")]
)
def test_what_is_no_array_is_rejected(value, found):
    with pytest.raises(TypeError, match=rf"^y_proba must be an array of real numbers, got {found}"):
        core.load(value)


class Liar:
    dtype = np.dtype("f8")

    def __array__(self, *args, **kwargs):
        raise RuntimeError("not today")


def test_a_failing_conversion_names_the_argument():
    with pytest.raises(TypeError, match=r"^y_proba of type .*Liar cannot be read.*not today"):
        core.load(Liar())


@pytest.mark.parametrize("value", [0.5, np.float64(0.5), np.array(0.5), np.zeros((3, 2, 2))])
def test_wrong_dimensions(value):
    shape = str(np.shape(value)).replace("(", r"\(").replace(")", r"\)")
    with pytest.raises(ValueError, match=rf"y_proba must have shape .*, got shape {shape}$"):
        core.load(value)


def test_vectors_and_matrices_are_told_apart():
    with pytest.raises(ValueError, match=r"^w must have shape \(n,\), got shape \(3, 1\)$"):
        core.require_vector(np.zeros((3, 1)), "w")
    with pytest.raises(ValueError, match=r"^w must have shape \(n, k\), got shape \(3,\)$"):
        core.require_matrix(np.zeros(3), "w")


def test_no_library_is_imported():
    code = (
        "import sys; from calibrant._core import _testing as t; t.load([0.5]); t.load((1, 2))\n"
        "assert not {'pandas', 'polars', 'pyarrow', 'torch'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
