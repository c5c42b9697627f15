"""Arrow's C structs: offsets, nulls, chunks and lists are read right; release is called once."""

import ctypes as c
import gc

import numpy as np
import pytest

from calibrant._core import _testing as core

nan = np.nan


def same(found, expected):
    np.testing.assert_array_equal(found, np.asarray(expected, np.float64), strict=True)


# --- a producer of our own, which counts -------------------------------------------------


class Schema(c.Structure):
    pass


class Array(c.Structure):
    pass


class Stream(c.Structure):
    pass


def callback(struct, result=None, *arguments):
    return c.CFUNCTYPE(result, c.POINTER(struct), *arguments)


Schema._fields_ = [
    ("format", c.c_char_p), ("name", c.c_char_p), ("metadata", c.c_char_p),
    ("flags", c.c_int64), ("n_children", c.c_int64), ("children", c.c_void_p),
    ("dictionary", c.c_void_p), ("release", callback(Schema)), ("private", c.c_void_p),
]  # fmt: skip
Array._fields_ = [
    ("length", c.c_int64), ("null_count", c.c_int64), ("offset", c.c_int64),
    ("n_buffers", c.c_int64), ("n_children", c.c_int64), ("buffers", c.POINTER(c.c_void_p)),
    ("children", c.c_void_p), ("dictionary", c.c_void_p), ("release", callback(Array)),
    ("private", c.c_void_p),
]  # fmt: skip
Stream._fields_ = [
    ("get_schema", callback(Stream, c.c_int, c.POINTER(Schema))),
    ("get_next", callback(Stream, c.c_int, c.POINTER(Array))),
    ("get_last_error", callback(Stream, c.c_void_p)),
    ("release", callback(Stream)), ("private", c.c_void_p),
]  # fmt: skip

destructor = c.CFUNCTYPE(None, c.c_void_p)
new_capsule = c.pythonapi.PyCapsule_New
new_capsule.restype, new_capsule.argtypes = c.py_object, [c.c_void_p, c.c_char_p, destructor]


class Producer:
    """Exports a list of double arrays, and counts what it handed out and got back."""

    def __init__(self, chunks, type_format=b"g", fail_at=None):
        self.chunks, self.format, self.fail_at = chunks, type_format, fail_at
        self.exported = self.released = 0
        self.kept, self.next = [], 0

    def keep(self, value):
        self.kept.append(value)
        return value

    def releaser(self, struct):
        def release(pointer):
            self.released += 1
            pointer.contents.release = callback(struct)()

        self.exported += 1
        return self.keep(callback(struct)(release))

    def fill_schema(self, out):
        out.format, out.release = self.format, self.releaser(Schema)

    def fill_array(self, out, values):
        buffers = self.keep((c.c_void_p * 2)(None, self.keep(values).ctypes.data))
        out.length, out.n_buffers, out.buffers = len(values), 2, buffers
        out.release = self.releaser(Array)

    def capsule(self, struct, kind):
        def destroy(_):
            if struct.release:
                struct.release(c.byref(struct))

        self.keep(struct)
        return new_capsule(c.addressof(struct), kind, self.keep(destructor(destroy)))


class ArrayProducer(Producer):
    def __arrow_c_array__(self, requested_schema=None):
        schema, values = Schema(), Array()
        self.fill_schema(schema)
        self.fill_array(values, self.chunks[0])
        return self.capsule(schema, b"arrow_schema"), self.capsule(values, b"arrow_array")


class StreamProducer(Producer):
    def __arrow_c_stream__(self, requested_schema=None):
        def get_schema(_, out):
            self.fill_schema(out.contents)
            return 0

        def get_next(_, out):
            if self.next == self.fail_at:
                return 5
            if self.next < len(self.chunks):
                self.fill_array(out.contents, self.chunks[self.next])
            self.next += 1
            return 0

        stream, kinds = Stream(), dict(Stream._fields_)
        stream.get_schema = self.keep(kinds["get_schema"](get_schema))
        stream.get_next = self.keep(kinds["get_next"](get_next))
        reason = self.keep(c.create_string_buffer(b"disk on fire"))
        stream.get_last_error = self.keep(kinds["get_last_error"](lambda _: c.addressof(reason)))
        stream.release = self.releaser(Stream)
        return self.capsule(stream, b"arrow_array_stream")


A, B, EMPTY = np.array([0.5, 0.25]), np.array([1.0]), np.array([])


@pytest.mark.parametrize(
    ("producer", "structs"),
    [
        (ArrayProducer([A]), 2),
        (StreamProducer([A]), 3),
        (StreamProducer([A, EMPTY, B]), 5),
        (StreamProducer([]), 2),
    ],
)
def test_everything_is_released_once(producer, structs):
    same(core.load(producer), np.concatenate([*producer.chunks, EMPTY]))
    gc.collect()
    assert producer.released == producer.exported == structs


@pytest.mark.parametrize("producer", [ArrayProducer([A]), StreamProducer([EMPTY, A])])
def test_one_chunk_is_read_in_place(producer):
    assert core.address(producer) == A.ctypes.data


@pytest.mark.parametrize(
    ("producer", "error", "message"),
    [
        (ArrayProducer([A], b"tdD"), TypeError, "got Arrow format 'tdD'$"),
        (StreamProducer([A], b"+s"), TypeError, r"got Arrow format '\+s'$"),
        (StreamProducer([A, B], fail_at=1), ValueError, "Arrow stream: disk on fire$"),
        (StreamProducer([A], b"+w:2"), ValueError, "malformed"),
    ],
)
def test_everything_is_released_after_an_error(producer, error, message):
    with pytest.raises(error, match=message):
        core.load(producer)
    gc.collect()
    assert producer.released == producer.exported > 0


class ListProducer(ArrayProducer):
    """Lists of doubles in one array, whatever it says about itself."""

    def __init__(self, type_format, *, length, offset=0, offsets=()):
        super().__init__([A], type_format)
        self.length, self.offset, self.offsets = length, offset, np.array(offsets, np.int64)

    def fill_schema(self, out):
        super().fill_schema(out)
        child = self.keep(Schema(format=b"g"))
        children = self.keep((c.c_void_p * 1)(c.addressof(child)))
        out.n_children, out.children = 1, c.addressof(children)

    def fill_array(self, out, values):
        child = self.keep(Array())
        super().fill_array(child, values)
        children = self.keep((c.c_void_p * 1)(c.addressof(child)))
        offsets = self.offsets.ctypes.data if self.offsets.size else None
        out.buffers = self.keep((c.c_void_p * 2)(None, offsets))
        out.n_buffers = 2 if self.offsets.size else 1
        out.length, out.offset = self.length, self.offset
        out.n_children, out.children = 1, c.addressof(children)
        out.release = self.releaser(Array)


def test_lists_of_a_producer_that_is_right():
    for producer in (
        ListProducer(b"+w:2", length=1),
        ListProducer(b"+L", length=1, offsets=[0, 2]),
    ):
        same(core.load(producer), [A])


HUGE = 2**63 - 1


@pytest.mark.parametrize(
    "producer",
    [
        ListProducer(b"+w:-1", length=1),
        ListProducer(b"+w:2x", length=1),
        ListProducer(b"+w:99999999999999999999", length=1),
        ListProducer(b"+w:2", length=2),
        ListProducer(b"+w:1", length=1, offset=2),
        ListProducer(b"+w:2147483647", length=2**33),
        ListProducer(b"+w:1073741824", length=2**34),  # 2^64 values
        ListProducer(b"+w:2", length=1, offset=HUGE),
        ListProducer(b"+w:2", length=HUGE, offset=1),
        ListProducer(b"+L", length=1, offsets=[0, 3]),
        ListProducer(b"+L", length=1, offsets=[-HUGE, HUGE]),
        ListProducer(b"+L", length=2, offsets=[0, HUGE, -2]),
    ],
    ids=lambda producer: f"{producer.format.decode()} {producer.length} {producer.offset}",
)
def test_lists_that_cannot_be_are_rejected(producer):
    with pytest.raises(ValueError, match="malformed Arrow data"):
        core.load(producer)


# --- pyarrow and polars ------------------------------------------------------------------


@pytest.fixture
def pa():
    return pytest.importorskip("pyarrow", reason="pyarrow is not installed")


@pytest.fixture
def pl():
    return pytest.importorskip("polars", reason="polars is not installed")


TYPES = ["bool_", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
TYPES += ["float16", "float32", "float64"]
VALUES = [1, 0, None, 1, 1, 0, 0, None, 0, 1, 1, 0, 1, None, 0, 0, 1, 1, 1]


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize(
    "cut", [slice(None), slice(1, None), slice(9, 12), slice(3, 7), slice(0, 0)]
)
def test_offsets_and_nulls(pa, name, cut):
    expected = [nan if v is None else v for v in VALUES][cut]
    labels = [-1 if v is None else v for v in VALUES][cut]
    whole = pa.array([None if v is None else np.float16(v) for v in VALUES], pa.float16())
    whole = whole.cast(pa.float32()).cast(getattr(pa, name)())
    chunks = pa.chunked_array([whole[:4], whole[4:4], whole[4:15], whole[15:]])
    for column in whole[cut], chunks[cut]:
        same(core.load(column), expected)
        assert core.load_labels(column).tolist() == labels


def test_pyarrow_is_read_in_place(pa):
    x = pa.array([0.5, 0.25, 1.0])
    assert core.is_in_place(x)
    assert core.address(x[1:]) == x.buffers()[1].address + 8
    assert core.address(pa.chunked_array([x])) == x.buffers()[1].address


LISTS = [[1.0, 2.0], [3.0, None], [5.0, 6.0], [None, 8.0]]


@pytest.mark.parametrize("child", ["float32", "float64", "int16"])
@pytest.mark.parametrize("kind", ["fixed", "list_", "large_list"])
def test_lists_are_matrices(pa, kind, child):
    value_type = getattr(pa, child)()
    arrow_type = pa.list_(value_type, 2) if kind == "fixed" else getattr(pa, kind)(value_type)
    whole = pa.array(LISTS, arrow_type)
    expected = np.array([[nan if v is None else v for v in row] for row in LISTS])
    same(core.load(whole), expected)
    same(core.load(whole[1:3]), expected[1:3])
    same(core.load(pa.chunked_array([whole[1:3], whole[:1]])), expected[[1, 2, 0]])


def test_missing_rows_and_bits_of_lists(pa):
    rows = [[True, False], None, [False, None], [True, True]]
    whole = pa.array(rows, pa.list_(pa.bool_(), 2))
    same(core.load(whole), [[1, 0], [nan, nan], [0, nan], [1, 1]])
    same(core.load(whole[2:]), [[0, nan], [1, 1]])
    same(core.load(whole[3:]), [[1, 1]])


def test_unequal_lists_are_rejected(pa):
    with pytest.raises(TypeError, match="lists of one length, got 1 at row 0 and 2 at row 1"):
        core.load(pa.array([[1.0], [2.0, 3.0]]))
    with pytest.raises(TypeError, match="lists of one length, got 1 and 2"):
        core.load(pa.chunked_array([[[1.0]], [[2.0, 3.0]]]))


def test_other_arrow_types_are_rejected(pa):
    for column in pa.array(["a"]), pa.array(["a"]).dictionary_encode():
        with pytest.raises(
            TypeError, match=r"^y_true must hold integer class codes, got .*labels="
        ):
            core.load_labels(column)
    with pytest.raises(TypeError, match="got Arrow format 'n'"):
        core.load(pa.nulls(3))


def test_a_null_label_is_called_null(pa):
    with pytest.raises(ValueError, match=r"^y_true has a missing value \(null\) at row 1"):
        core.reject_label(pa.array([0, None]), 1, 2)


def test_arrow_tables(pa):
    table = pa.table({"a": [0.5, 0.25], "b": [1, 0]})
    same(core.load(table), [[0.5, 1], [0.25, 0]])
    with pytest.raises(TypeError, match="got dtype object"):
        core.load(pa.table({"a": [0.5], "b": ["x"]}))


@pytest.mark.parametrize("dtype", ["Boolean", "Int8", "UInt32", "Int64", "Float32", "Float64"])
def test_polars(pl, dtype):
    column = pl.Series([1, 0, None, 1]).cast(getattr(pl, dtype))
    same(core.load(column), [1, 0, nan, 1])
    same(core.load(column[1:]), [0, nan, 1])
    same(core.load(column.append(column[:2])), [1, 0, nan, 1, 1, 0])


def test_polars_is_read_in_place(pl):
    assert core.is_in_place(pl.Series([0.5, 0.25]))


def test_polars_matrices(pl):
    same(core.load(pl.Series([[1.0, 2.0]], dtype=pl.Array(pl.Float32, 2))), [[1, 2]])
    same(core.load(pl.DataFrame({"a": [0.5, None], "b": [1, 0]})), [[0.5, 1], [nan, 0]])


@pytest.mark.parametrize("dtype", ["String", "Categorical", "Object"])
def test_polars_text_is_rejected(pl, dtype):
    with pytest.raises(TypeError, match=r"^y_true must hold integer class codes|cannot be read"):
        core.load_labels(pl.Series(["a"], dtype=getattr(pl, dtype)))
