"""Kinds of arguments, and for each how a good one is spoiled and what the rejection must say.

A message always names the argument; `says` is what else must be in it: of a bad value in an array
the value and its row. ``{0}`` stands for the argument, ``{1}`` for the last row.
"""

# ruff: noqa: E501 (tables: a line for a case)

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np

try:
    import pandas as pd
    import pyarrow as pa
except ModuleNotFoundError:
    pa = pd = None

NAN, INF = math.nan, math.inf
ONE_MORE = math.nextafter(1.0, 2.0)
HUGE = 2**70


#: What messages call an argument beside its name.
ALSO = {
    "sample_weight": "weight", "n_bins": "edges", "m": "power", "powers": "power",
    "probas": "models", "table": "columns|column", "batch": "table|columns|column",
    "batches": "table|column", "states": "state", "levels": "confidence_level",
    "label": "column", "prob": "column", "weight": "column", "group": "column", "sets": "column",
    "timestamp": "column", "low": "column", "high": "column", "classes": "labels",
    "positive": "labels",
    "n": "number of threads",
}  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Bad:
    spoil: Callable[[Any], Any]
    says: str = ""
    error: type[Exception] | tuple[type[Exception], ...] = (TypeError, ValueError)


@dataclasses.dataclass(frozen=True)
class Kind:
    """`needs_example`: is spoiled from a good value, which the table must then give.

    `is_named`: the message says which argument it is. `is_array`: any array of these values will do.
    """

    bad: dict[str, Bad]
    needs_example: bool = False
    is_array: bool = False
    is_named: bool = True

    def without(self, *names: str) -> Kind:
        kept = {name: bad for name, bad in self.bad.items() if name not in names}
        assert len(kept) == len(self.bad) - len(names), names
        return dataclasses.replace(self, bad=kept)

    def with_(self, **bad: Bad) -> Kind:
        return dataclasses.replace(self, bad={**self.bad, **bad})


def last_value_is(value: Any) -> Callable[[Any], Any]:
    """The last of the good values replaced; in a matrix the last of the last row."""

    def spoil(good: Any) -> Any:
        array = np.array(good, dtype=np.result_type(np.array(good), type(value)))
        array[(-1,) * array.ndim] = value
        return array

    return spoil


def cast(dtype: Any) -> Callable[[Any], Any]:
    return lambda good: np.array(good).astype(dtype)


def always(value: Any) -> Callable[[Any], Any]:
    return lambda _: value


def value(bad: Any, says: str) -> Bad:
    return Bad(last_value_is(bad), says, ValueError)


def constants(*values: Any, error: Any = (TypeError, ValueError)) -> dict[str, Bad]:
    return {repr(bad): Bad(always(bad), "", error) for bad in values}


#: Of pandas; neither true nor false.
NOT_KNOWN = {} if pd is None else constants(pd.NA)


def periods(good: Any) -> Any:
    """A month for each row, which Arrow stores as whole numbers."""
    return pd.Series(pd.period_range("1970-01", periods=len(good), freq="M"))


def of_arrow(make: Callable[[int], list[Any]]) -> Callable[[Any], Any]:
    return lambda good: pa.array(make(len(good)))


AT = r" at (row|pair|index) {1}\b"
MISSING = r"missing value \(NaN\)" + AT
GOT = r"{0} must hold (real numbers|integer class codes|whole numbers|integer class numbers), got "
KIND = GOT + "dtype "
SHAPE = r"shape|axes|number|array|length"

#: What is no array of numbers at all, for whatever argument.
NO_NUMBERS = {
    "objects": Bad(cast(object), KIND + "object", TypeError),
    "strings": Bad(cast(str), KIND + "<U", TypeError),
    "bytes": Bad(cast("S8"), KIND + r"\|S8", TypeError),
    "complex": Bad(cast(complex), KIND + "complex128", TypeError),
    "datetime": Bad(lambda good: np.zeros(np.shape(good), "M8[s]"), KIND + "datetime64", TypeError),
    "timedelta": Bad(lambda good: np.zeros(np.shape(good), "m8[s]"), KIND + "timedelta64", TypeError),
    "structured": Bad(lambda good: np.zeros(np.shape(good), [("a", "f8")]), KIND + r"\[\('a'", TypeError),
    "long double": Bad(lambda good: np.zeros(np.shape(good), np.longdouble), KIND + "float", TypeError),
    "masked": Bad(np.ma.array, r"{0} is a masked array, whose mask would be lost; pass {0}.filled", TypeError),
    "ragged": Bad(always([[0.5], [0.5, 0.5], [0.5]]), r"{0} must be a rectangular list of real numbers", TypeError),
    "a dict": Bad(always({"a": 1}), r"{0} must be an array of real numbers, got dict", TypeError),
    "a string": Bad(always("0.5"), r"{0} must be an array of real numbers, got str", TypeError),
    "None": Bad(always(None), r"{0} must be an array.*, got None|{0} (is|are) missing", TypeError),
}  # fmt: skip
if pa is not None:
    NO_NUMBERS |= {
        "periods": Bad(
            periods, GOT + "(Arrow extension type 'pandas.period'|dtype object)", TypeError
        ),
        "Arrow structs": Bad(
            of_arrow(lambda n: [{"a": 1}] * n), GOT + r"Arrow format '\+s'", TypeError
        ),
        "Arrow lists of lists": Bad(
            of_arrow(lambda n: [[[0.5]]] * n), GOT + r"Arrow format '\+l'", TypeError
        ),
        "Arrow lists of texts": Bad(
            of_arrow(lambda n: [["a", "b"]] * n), GOT + "Arrow format 'u'", TypeError
        ),
        "Arrow lists of no length": Bad(
            of_arrow(lambda n: [[0.5] * (i % 3) for i in range(n)]),
            r"{0} must (hold lists of one length|hold|have shape|be)",
            (TypeError, ValueError),
        ),
    }
NO_NUMBERS["a list of masked arrays"] = Bad(
    lambda good: [np.ma.array([value]) for value in good],
    r"{0} (holds a masked array at row 0|is a masked)",
    TypeError,
)
if np.dtype(np.longdouble).itemsize == 8:  # it is a double here
    del NO_NUMBERS["long double"]
SHAPES = {
    "0-d": Bad(always(np.array(0.5)), r"{0}.*(\(\)|number|0 axes|0 dim|0-d)", ValueError),
    "many axes": Bad(lambda good: np.zeros((len(good), 1, 1, 1)), rf"{{0}}.*({SHAPE})", ValueError),
}
LENGTHS = {
    "one row short": Bad(
        lambda good: np.array(good)[:-1], SHAPE + "|rows|as many|column|sum to 1", ValueError
    ),
    "no rows": Bad(
        lambda good: np.array(good)[:0], SHAPE + "|rows?|as many|column|sum to 1", ValueError
    ),
}


def array(**values: Bad) -> Kind:
    return Kind({**NO_NUMBERS, **SHAPES, **LENGTHS, **values}, needs_example=True, is_array=True)


NUMBERS = array(
    nan=value(NAN, r"(\(NaN\)|nan\]?)" + AT),
    inf=value(INF, r"inf\]?" + AT),
    negative_inf=value(-INF, r"inf\]?" + AT),
)
#: Samples: their lengths need not agree, unless a row says so.
POINTS = NUMBERS.without("one row short")
#: Numbers that are spread over rows by NumPy's rules, whatever their shape.
SPREAD = NUMBERS.without("0-d", "many axes", "no rows")
#: Points of a line, which may be its ends.
EXTENDED = SPREAD.without("one row short", "inf", "negative_inf")
#: Numbers of which only the order counts.
ORDERED = NUMBERS.without("inf", "negative_inf")
RANKS = array(
    negative=value(-1, "found -1" + AT),
    too_large=value(99, "found 99" + AT),
    fraction=Bad(last_value_is(0.5)),
    nan=Bad(last_value_is(NAN)),
).without("one row short", "no rows", "0-d", "many axes")

INTERVALS = NUMBERS.with_(
    crossed=Bad(lambda good: np.array(good)[:, ::-1], r"lower.*upper .* at row 0\b", ValueError),
    three_ends=Bad(lambda good: np.zeros((len(good), 3)), "shape", ValueError),
    triple=Bad(lambda good: (good, good, good), "tuple", TypeError),
)
SETS = Kind(
    {
        "one row short": LENGTHS["one row short"],
        "no rows": LENGTHS["no rows"],
        "None": Bad(always(None), "", TypeError),
        "0-d": Bad(always(np.array(True)), "", (TypeError, ValueError)),
        "floats": Bad(cast(float), "", TypeError),
        "strings": Bad(cast(str), "", TypeError),
        "masked": Bad(np.ma.array, "masked array", TypeError),
        "a dict": Bad(always({"a": 1}), "", TypeError),
        "many axes": Bad(lambda good: np.zeros((len(good), 3, 1, 1), bool), "shape", TypeError),
        "a list of strings": Bad(
            lambda good: ["ab"] * len(good),
            "list of classes for each row, found 'ab' at row 0",
            TypeError,
        ),
        "an array of strings": Bad(
            lambda good: np.array(["ab"] * len(good), object), "found 'ab' at row 0", TypeError
        ),
        "a list of bytes": Bad(lambda good: [b"ab"] * len(good), "found b'ab' at row 0", TypeError),
        "a list of dicts": Bad(
            lambda good: [{0: 1}] * len(good), "found {0: 1} at row 0", TypeError
        ),
        "a list of masked arrays": Bad(
            lambda good: [np.ma.array([True, False, True])] * len(good), "masked array", TypeError
        ),
    },
    needs_example=True,
    is_array=True,
)
PROBABILITIES = array(
    nan=value(NAN, MISSING),
    inf=value(INF, r"{0} must lie in \[0, 1\], found inf" + AT),
    negative_inf=value(-INF, r"{0} must lie in \[0, 1\], found -inf" + AT),
    negative=value(-0.1, r"{0} must lie in \[0, 1\], found -0.1" + AT),
    just_negative=value(-5e-324, r"{0} must lie in \[0, 1\], found -5e-324" + AT),
    above_1=value(1.5, r"{0} must lie in \[0, 1\], found 1.5" + AT),
    just_above_1=value(ONE_MORE, r"{0} must lie in \[0, 1\], found 1.0000000000000002" + AT),
    float32=Bad(lambda good: last_value_is(1.1)(good).astype("f4"), r"{0} must lie in \[0, 1\], found 1.1" + AT, ValueError),
    ints=Bad(lambda good: last_value_is(2)(np.zeros_like(good, int)), r"{0} must lie in \[0, 1\], found 2" + AT, ValueError),
)  # fmt: skip
#: What its own function checks, not the core.
UNIT = array(
    nan=value(NAN, "nan" + AT),
    inf=value(INF, "found inf" + AT),
    negative=value(-0.1, "found -0.1" + AT),
    just_above_1=value(ONE_MORE, "found 1.0000000000000002" + AT),
)
#: Also (n, k), where k is 2 at least.
FORECASTS = dataclasses.replace(
    PROBABILITIES,
    bad={
        **PROBABILITIES.bad,
        "one column": Bad(lambda good: np.full((len(good), 1), 0.5), r"shape \(n, k\) needs k >= 2 classes, got k = 1; pass shape \(n,\)", ValueError),
        "no columns": Bad(lambda good: np.zeros((len(good), 0)), r"needs k >= 2 classes, got k = 0", ValueError),
    },
)  # fmt: skip
LABELS = array(
    nan=value(NAN, MISSING),
    inf=value(INF, r"{0} must be .*, found inf" + AT),
    negative=value(-1, r"{0} must be .*, found -1" + AT),
    unknown=value(3, r"{0} must be (0 or 1|an integer from 0 to 2), found 3" + AT),
    fraction=value(0.5, r"{0} must be .*, found 0.5" + AT),
    above_2_32=value(2**32 + 1, r"{0} must be .*, found 4294967297" + AT),
    largest=Bad(lambda good: last_value_is(np.uint64(2**64 - 1))(np.array(good, np.uint64)), r"found 18446744073709551615" + AT, ValueError),
    one_column=Bad(lambda good: np.array(good)[:, None], r"{0} must have shape \(n,\), got shape \(\d+, 1\)", ValueError),
)  # fmt: skip
WEIGHTS = array(
    nan=value(NAN, MISSING),
    inf=value(INF, r"{0} must be finite and not negative, found inf" + AT),
    negative=value(-1.0, r"{0} must be finite and not negative, found -1" + AT),
    just_negative=value(-5e-324, r"{0} must be .*, found -5e-324" + AT),
    negative_int=value(-3, r"{0} must be .*, found -3" + AT),
    all_zero=Bad(lambda good: np.zeros(np.shape(good)), "weight", ValueError),
    one_column=Bad(lambda good: np.array(good)[:, None], r"{0} must have shape \(n,\), got shape \(\d+, 1\)", ValueError),
)  # fmt: skip
GROUPS = Kind(
    {
        **LENGTHS,
        "None": Bad(always(None), "", TypeError),
        "0-d": Bad(always(np.array(1)), "shape", ValueError),
        "2-d": Bad(lambda good: np.array([good, good]).T, "shape", ValueError),
        "no key": Bad(lambda good: [*good[:-1], None], r"missing value" + AT, ValueError),
        "no hash": Bad(lambda good: [*good[:-1], []], r"found \[\]", TypeError),
        "masked": Bad(lambda good: np.ma.array(np.arange(len(good))), "masked array", TypeError),
        **(
            {}
            if pa is None
            else {
                "Arrow structs": Bad(
                    of_arrow(lambda n: [{"a": 1}] * n),
                    "Arrow column of struct<a: int64>",
                    TypeError,
                ),
                "Arrow lists": Bad(
                    of_arrow(lambda n: [[1]] * n), "Arrow column of list<item: int64>", TypeError
                ),
            }
        ),
    },
    needs_example=True,
)
SUBSET = Kind(
    {
        **LENGTHS,
        "numbers": Bad(cast(float), "booleans", TypeError),
        "0-d": Bad(always(np.array(True)), "shape", ValueError),
        "2-d": Bad(lambda good: np.array([good, good]).T, "shape", ValueError),
        "nobody": Bad(lambda good: np.zeros(len(good), bool), "", ValueError),
        "masked": Bad(np.ma.array, "masked array", TypeError),
    },
    needs_example=True,
)
LABEL_NAMES = Kind(
    {
        **constants(
            [], ["a"], ["a", "a"], [0, 0], "ab", 3, [[0, 1]], [0, NAN], [0, None], [[0], [0, 1]]
        ),
        **({} if pa is None else constants(pa.array([["a"], ["b"]]), pa.array([{"a": 1}] * 2))),
    }
)
POS_LABEL = Kind({**constants([0, 1], "no such label", {"a": 1}), **NOT_KNOWN})
CHOICE = Kind(
    {**constants("no such name", "", 3.5, ["uniform"], None, np.array(["a", "b"])), **NOT_KNOWN}
)
COUNT = Kind(
    {**constants("3", None, 0, 2.5, 2.0, NAN, INF, 1j, [3], {}, True, -1, HUGE, -HUGE), **NOT_KNOWN}
)
NOT_NEGATIVE = COUNT.without("0")
COUNT_OR_EDGES = Kind({**constants("3", 0, 2.5, NAN, 1j, {}, True, -1, HUGE, [], [0.5], [0.0, NAN, 1.0], [0.0, 0.7, 0.3, 1.0], [[0.0, 1.0]], ["a", "b"]), **NOT_KNOWN})  # fmt: skip
SEED = Kind({**constants("3", 1.5, NAN, 1j, [3], -1, HUGE), **NOT_KNOWN})
AXIS = Kind(constants("1", None, 1.5, 7, -7, [1], HUGE))
NUMBER = Kind({**constants("0.5", None, NAN, 1j, [], [0.1, 0.2], {}), **NOT_KNOWN})
FINITE = Kind({**NUMBER.bad, **constants(INF, -INF)})
POSITIVE = Kind({**FINITE.bad, **constants(0.0, -1.0)})
FRACTION = Kind({**FINITE.bad, **constants(0, 1, -0.1, 1.5)})  # strictly between 0 and 1
CLIP = Kind({**FINITE.bad, **constants(0.5, 0.7, -0.1)})
FLAG = Kind({**constants("no", None, 2, NAN, [], [True, False]), **NOT_KNOWN})
NUMBER_LIST = Kind({**constants("ab", None, 3.0, ["a"], [NAN], [None], [1j]), **NOT_KNOWN})
BANDWIDTH = NUMBER_LIST.without("3.0").with_(zero=Bad(always(0.0)), negative=Bad(always(-1.0)))
CALLABLE = Kind(constants(3, "name"))
TEXT = Kind(constants(3, b"name", ["name"]))
AXES = Kind(constants(3, "axes", [1]))
STATE = Kind(
    {
        "None": Bad(always(None), "", TypeError),
        "text": Bad(always("CLBR"), "", TypeError),
        "a number": Bad(always(3), "", TypeError),
        "nothing": Bad(always(b""), "", ValueError),
        "noise": Bad(always(bytes(range(256))), "", ValueError),
        "cut": Bad(lambda good: good[:-1], "", ValueError),
        "longer": Bad(lambda good: good + b"\0", "", ValueError),
        "a bit": Bad(lambda good: good[:-9] + bytes([good[-9] ^ 1]) + good[-8:], "", ValueError),
    },
    needs_example=True,
    is_named=False,
)
ANYTHING = Kind({})  # any object will do, or another test looks at it
LEVELS = Kind({**FRACTION.bad, **constants([], [0.5, 1.5], [NAN], ["a"], [[0.5]])}).without(
    "[0.1, 0.2]"
)
