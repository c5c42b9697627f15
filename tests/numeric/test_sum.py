"""The exact sums, against fractions: never a rounding but the last one."""

from __future__ import annotations

import itertools
import math
import random
import struct
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, example, given, settings, strategies as st

from calibrant._core import _testing

pytestmark = [pytest.mark.kernels, pytest.mark.build]

ExactSum, FixedSum = _testing.ExactSum, _testing.FixedSum58

EXACT_SUM_KIND = 1
MAX_LIMBS = 2**21  # of 32 bits each
TINY, HUGE = 5e-324, 1.7976931348623157e308

# Hypothesis and a function-scoped fixture: nothing is left behind between examples.
with_isa = settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
quick = settings(deadline=None, max_examples=200)


def powers_of_two(least: int, most: int):
    return st.integers(least, most).map(lambda k: math.ldexp(1.0, k))


nasty = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(-1.0, 1.0),
    powers_of_two(-1074, 1023),
    powers_of_two(-1074, 1023).map(lambda x: -x),
    powers_of_two(-1000, 1000).map(lambda x: math.nextafter(x, 0.0)),
    st.sampled_from(
        [0.0, -0.0, TINY, -TINY, 2.0**-1022, HUGE, -HUGE, 1.0, 2.0**53, 2.0**53 + 2, 2.0**-53]
    ),
)
rows = st.lists(nasty, max_size=40)
exponents = st.integers(-5000, 5000)


def doubles(values) -> np.ndarray:
    return np.array(values, dtype=np.float64)


def sum_of(values, exponent: int = 0):
    total = ExactSum()
    total.add(doubles(values), exponent)
    return total


def exact(values) -> Fraction:
    return sum(map(Fraction, values), Fraction())


def scaled(x, exponent: int) -> Fraction:
    return Fraction(x) * Fraction(2) ** exponent


def nearest(x: Fraction) -> float:
    """The double nearest to x, half to even; Python divides integers correctly rounded."""
    try:
        return x.numerator / x.denominator
    except OverflowError:
        return math.inf if x > 0 else -math.inf


def canonical(x: Fraction) -> bytes:
    """The bytes of the sum x, from their definition."""
    digits, base = [], 0
    if x:
        shift = x.denominator.bit_length() - 1
        assert x.denominator == 1 << shift
        base = -(-shift // 32)
        magnitude = abs(x.numerator) << (32 * base - shift)
        base = -base
        while magnitude % 2**32 == 0:
            magnitude >>= 32
            base += 1
        while magnitude:
            digits.append(magnitude % 2**32)
            magnitude >>= 32
    payload = struct.pack(f"<BqQ{len(digits)}I", x < 0, base, len(digits), *digits)
    return _testing.seal(EXACT_SUM_KIND, 1, payload)


def assert_is(total, x: Fraction) -> None:
    assert total.to_bytes() == canonical(x)
    assert total.is_zero() == (x == 0)
    found, expected = total.to_double(), nearest(x)
    assert found == expected
    assert x == 0 or math.copysign(1, found) == math.copysign(1, expected)


# ExactSum -------------------------------------------------------------------------------------


@quick
@given(rows)
@example([1e308, 1e308, -1e308])
@example([HUGE, math.ulp(HUGE) / 2])  # a tie that rounds to infinity
@example([HUGE, math.ulp(HUGE) / 2, -TINY])
@example([-HUGE, -math.ulp(HUGE) / 2])
@example([1.0, 2.0**-53])
@example([1.0, 2.0**-53, TINY])
@example([math.nextafter(1.0, 2), 2.0**-53])
@example([TINY, -TINY])
def test_a_sum_is_exact_and_rounded_once(values):
    assert_is(sum_of(values), exact(values))


@quick
@given(st.lists(st.floats(-1e300, 1e300), max_size=40))
def test_the_same_as_fsum(values):
    assert sum_of(values).to_double() == math.fsum(values)


@quick
@given(st.lists(st.tuples(nasty, exponents), max_size=20))
def test_scaled_terms(terms):
    total = ExactSum()
    for x, exponent in terms:
        total.add(doubles([x]), exponent)
    assert_is(total, exact(scaled(*term) for term in terms))


@quick
@given(st.lists(st.tuples(st.integers(-(2**127), 2**127 - 1), exponents), max_size=20))
@example([(-(2**127), 0)])
@example([(2**127 - 1, 31), (1, 31)])
def test_integers(terms):
    total = ExactSum()
    for k, exponent in terms:
        total.add_integer(k >> 64, k % 2**64, exponent)
    assert_is(total, exact(scaled(*term) for term in terms))


@quick
@given(st.lists(st.tuples(nasty, nasty), max_size=20), exponents)
@example([(TINY, TINY), (HUGE, HUGE), (-HUGE, HUGE)], 0)
@example([(TINY, 1.0), (TINY, -0.5), (0.0, HUGE)], 0)
def test_products(pairs, exponent):
    total = ExactSum()
    x, y = doubles([p[0] for p in pairs]), doubles([p[1] for p in pairs])
    total.add_products(x, y, exponent)
    assert_is(total, exact(scaled(Fraction(a) * Fraction(b), exponent) for a, b in pairs))


@given(st.integers(0, 2**54), st.integers(-1140, 980), st.sampled_from([-1, 0, 1]), st.booleans())
@settings(deadline=None, max_examples=500)
def test_ties_are_rounded_to_even(mantissa, exponent, nudge, negative):
    """54 and more bits, on a tie or a hair beside it, down to subnormals and up to infinity."""
    sign = -1 if negative else 1
    x = sign * (scaled(mantissa, exponent) + scaled(nudge, -3000))
    total = ExactSum()
    total.add_integer(-1 if negative and mantissa else 0, (sign * mantissa) % 2**64, exponent)
    total.add(doubles([sign * nudge]), -3000)
    assert_is(total, x)


@pytest.mark.parametrize("k", range(-1080, -1015))
def test_subnormal_ties(k):
    for odd, nudge in itertools.product([1, 3, 5, 7], [-1, 0, 1]):
        total = sum_of([odd], k)
        total.add(doubles([nudge]), -2000)
        assert_is(total, scaled(odd, k) + scaled(nudge, -2000))


@quick
@given(st.lists(st.tuples(nasty, exponents), min_size=1, max_size=10))
@example([(1.0, 0), (-1.0, -54)])  # just below a power of two: rounds up to it
@example([(1.0, 0), (-1.0, -53), (-1.0, -130)])
@example([(1.0, 0), (1.0, -53), (1.0, -4000)])  # a tie, but for a bit far below
@example([(2.0, 0), (-1.0, -128)])
def test_the_value_in_two_parts(terms):
    total = ExactSum()
    for x, exponent in terms:
        total.add(doubles([x]), exponent)
    x = exact(scaled(*term) for term in terms)
    high, low, exponent = total.value()
    if x == 0:
        assert (high, low, exponent) == (0.0, 0.0, 0)
        return
    x /= Fraction(2) ** exponent
    assert 1.0 <= abs(high) < 2.0
    assert high == nearest(x)
    assert abs(x - Fraction(high) - Fraction(low)) <= abs(x) * Fraction(1, 2**105)


@quick
@given(rows, st.randoms(use_true_random=False))
def test_any_order_and_any_tree_of_merges(values, rng):
    parts = [sum_of([x]) for x in values] or [ExactSum()]
    parts += [ExactSum()] * rng.randrange(3)
    while len(parts) > 1:
        rng.shuffle(parts)
        left, right = parts.pop(), parts.pop().copy()
        right.merge(left)
        parts.append(right)
    assert_is(parts[0], exact(values))


@quick
@given(rows, rows)
def test_merge_commutes_and_leaves_the_other_alone(left, right):
    a, b = sum_of(left), sum_of(right)
    ab, ba = a.copy(), b.copy()
    ab.merge(b)
    ba.merge(a)
    assert ab.to_bytes() == ba.to_bytes()
    assert_is(a, exact(left))
    assert_is(b, exact(right))


@given(rows)
def test_merged_into_itself(values):
    total = sum_of(values)
    total.merge(total)
    assert_is(total, 2 * exact(values))


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_doubled_far_beyond_the_carries(sign):
    """2^200 rows by merging a sum into itself: every limb overflows its word many times."""
    values = [sign * x for x in (HUGE, 1.0, 0.1, 2.0**-1000, TINY, -0.3)]
    total = sum_of(values)
    for _ in range(200):
        total.merge(total)
    assert_is(total, exact(values) * 2**200)
    total.subtract(sum_of([sign], 200))
    assert_is(total, (exact(values) - Fraction(sign)) * 2**200)


@pytest.mark.parametrize("doublings", range(24, 36))
def test_mixed_signs_around_the_carries(doublings):
    """Deposits are carried at 2^30: negative limbs below a positive one, and the reverse."""
    values = [1.0, -(2.0**-40), 2.0**-80, -(2.0**-100)]
    for sign in (1, -1):
        total = sum_of([sign * x for x in values])
        for _ in range(doublings):
            total.merge(total)
        total.add(doubles(values))
        assert_is(total, (sign * 2**doublings + 1) * exact(values))


@given(rows, rows)
def test_subtract_is_the_inverse_of_merge(left, right):
    total = sum_of(left)
    total.merge(sum_of(right))
    assert_is(total, exact(left + right))
    total.subtract(sum_of(right))
    assert total.to_bytes() == sum_of(left).to_bytes()
    total.subtract(total)
    assert_is(total, Fraction())


@given(rows, rows)
def test_products_of_sums(left, right):
    a, b = sum_of(left), sum_of(right)
    assert_is(a.times(b), exact(left) * exact(right))
    assert_is(a.times(a), exact(left) ** 2)
    product = a.times(b)
    product.subtract(b.times(a))
    assert_is(product, Fraction())


def test_what_cancels_leaves_no_trace():
    total = sum_of([1.0], 40_000)
    total.add(doubles([1.0]), -40_000)
    total.add(doubles([-1.0]), 40_000)
    total.add(doubles([-1.0]), -40_000)
    assert total.to_bytes() == ExactSum().to_bytes()
    total.add(doubles([0.1]))
    assert total.to_bytes() == sum_of([0.1]).to_bytes()


# Blocks ---------------------------------------------------------------------------------------


def lcg(n: int, seed: int = 1) -> list[int]:
    """64-bit words (Knuth's MMIX generator), the same for ever."""
    words, state = [], seed
    for _ in range(n):
        state = (6364136223846793005 * state + 1442695040888963407) % 2**64
        words.append(state)
    return words


def spread(n: int, least: int, most: int, seed: int = 1) -> np.ndarray:
    """Doubles of both signs with exponents all over [least, most]."""
    words = lcg(2 * n, seed)
    return doubles(
        [
            math.ldexp((w >> 11) * (-1.0) ** (w >> 63), least + (e >> 33) % (most - least + 1) - 53)
            for w, e in zip(words[:n], words[n:], strict=True)
        ]
    )


BLOCKS = {
    "one scale": spread(512, 0, 0),
    "within 122 bits": spread(512, -60, 0),
    "leftovers": spread(512, -300, 0),
    "every exponent": spread(512, -1074, 1020),
    "subnormals": spread(512, -1074, -1030),
    "at 2^900": spread(512, 898, 902),
    "at 2^-900": spread(512, -902, -898),
    "one large": np.append(spread(511, -1074, -1000), 1.0),
    "largest below a power of two": np.full(512, math.nextafter(1.0, 0)),
    "powers of two": np.full(512, -1.0),
    "halves of the grid": doubles([1.0, -1.0, *([2.0**-41, 3 * 2.0**-41, 2.0**-82] * 170)]),
    "zeros": doubles([0.0, -0.0] * 256),
    "mostly zeros": doubles([0.0, -0.0] * 255 + [TINY, 0.1]),
    "cancellation": np.concatenate([spread(256, -200, 200), -spread(256, -200, 200)]),
    "huge": np.full(512, HUGE),
}


@pytest.mark.parametrize("name", BLOCKS)
@pytest.mark.parametrize("n", [0, 1, 2, 3, 7, 8, 9, 31, 511, 512])
def test_blocks_like_one_by_one(isa, name, n):
    x = np.ascontiguousarray(BLOCKS[name][len(BLOCKS[name]) - n :])
    total = ExactSum()
    total.add_blocks(x)
    assert total.to_bytes() == canonical(exact(x.tolist())), isa


PAIRS = {
    "ordinary": (spread(512, -40, 0, 2), spread(512, 0, 20, 3)),
    "leftovers": (spread(512, -400, 0, 2), spread(512, -100, 300, 3)),
    "every exponent": (spread(512, -1074, 1020, 2), spread(512, -1074, 1020, 3)),
    "subnormal products": (spread(512, -560, -480, 2), spread(512, -560, -480, 3)),
    "products of which only the error is subnormal": (
        spread(512, -486, -485, 2),
        spread(512, -486, -485, 3),
    ),
    "overflowing products": (spread(512, 500, 1020, 2), spread(512, 500, 1020, 3)),
    "at 2^800": (spread(512, 398, 402, 2), spread(512, 398, 402, 3)),
    "at 2^-800": (spread(512, -402, -398, 2), spread(512, -402, -398, 3)),
    "zeros": (doubles([0.0, -0.0, TINY, HUGE] * 128), doubles([HUGE, TINY, 0.0, -0.0] * 128)),
    "a zero among large": (doubles([0.0, HUGE] * 256), doubles([HUGE, 2.0] * 256)),
    "integers": (np.arange(512.0), spread(512, -50, 0, 3)),
}


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("n", [0, 1, 2, 3, 8, 9, 511, 512])
def test_product_blocks_like_one_by_one(isa, name, n):
    x, y = (np.ascontiguousarray(column[len(column) - n :]) for column in PAIRS[name])
    total = ExactSum()
    total.add_product_blocks(x, y)
    expected = exact(Fraction(a) * Fraction(b) for a, b in zip(x.tolist(), y.tolist(), strict=True))
    assert total.to_bytes() == canonical(expected), isa


@pytest.mark.usefixtures("isa")
@with_isa
@given(st.lists(nasty, max_size=70), st.integers(1, 70))
def test_blocks_of_any_size(values, size):
    total = ExactSum()
    total.add_blocks(doubles(values), size)
    assert_is(total, exact(values))


@pytest.mark.usefixtures("isa")
@with_isa
@given(st.lists(st.tuples(nasty, nasty), max_size=70), st.integers(1, 70))
def test_product_blocks_of_any_size(pairs, size):
    total = ExactSum()
    total.add_product_blocks(doubles([p[0] for p in pairs]), doubles([p[1] for p in pairs]), size)
    assert_is(total, exact(Fraction(a) * Fraction(b) for a, b in pairs))


@pytest.mark.usefixtures("isa")
def test_a_full_sum_of_many_blocks():
    x = spread(20_000, -200, 200, 5)
    total = ExactSum()
    total.add_blocks(x)
    assert total.to_bytes() == sum_of(x).to_bytes()
    assert total.to_double() == math.fsum(x)


# The span of a sum ----------------------------------------------------------------------------


def test_a_span_too_wide_is_rejected_and_changes_nothing():
    total = sum_of([3.0])
    before = total.to_bytes()
    for exponent in (32 * MAX_LIMBS + 100, -32 * MAX_LIMBS - 100, 2**40, -(2**40)):
        one = doubles([1.0])
        with pytest.raises(ValueError, match="too many powers of two apart"):
            total.add(one, exponent)
        with pytest.raises(ValueError, match="too many powers of two apart"):
            total.add_products(one, one, exponent)
        with pytest.raises(ValueError, match="too many powers of two apart"):
            total.add_integer(0, 1, exponent)
        with pytest.raises(ValueError, match="too many powers of two apart"):
            total.merge(sum_of([1.0], exponent))
        with pytest.raises(ValueError, match="too many powers of two apart"):
            total.subtract(sum_of([1.0], exponent))
        assert total.to_bytes() == before
    total.add(doubles([0.0]), 2**40)  # a zero has no place
    assert total.to_bytes() == before


def test_a_span_just_wide_enough():
    total = sum_of([1.0], 32 * (MAX_LIMBS - 8))
    total.add(doubles([1.0]))
    again = ExactSum.from_bytes(total.to_bytes())
    assert again.to_bytes() == total.to_bytes()
    assert total.value() == (1.0, 0.0, 32 * (MAX_LIMBS - 8))
    total.subtract(sum_of([1.0], 32 * (MAX_LIMBS - 8)))
    assert_is(total, Fraction(1))


def test_carries_beyond_the_widest_span():
    """What was written can be read and merged, even where a carry has added a limb."""
    total = ExactSum()
    total.add_integer(0, 1, 0)
    for _ in range(8):
        total.add_integer(2**63 - 1, 2**64 - 1, 32 * (MAX_LIMBS - 5) + 31)
    saved = total.to_bytes()
    back = ExactSum.from_bytes(saved)
    assert back.to_bytes() == saved
    merged = ExactSum()
    merged.merge(back)
    merged.add(doubles([1.0]), 64)
    merged.subtract(sum_of([1.0], 64))
    assert merged.to_bytes() == saved
    with pytest.raises(ValueError, match="too many powers of two apart"):
        merged.add_integer(0, 1, -32)


@pytest.mark.parametrize("exponent", [2**40, -(2**40)])
def test_far_from_the_doubles(exponent):
    total = sum_of([1.5, -0.25], exponent)
    assert total.value() == (1.25, 0.0, exponent)
    assert total.to_double() == (math.inf if exponent > 0 else 0.0)
    assert ExactSum.from_bytes(total.to_bytes()).value() == total.value()


# Bytes ----------------------------------------------------------------------------------------


@quick
@given(st.lists(st.tuples(nasty, exponents), max_size=10))
def test_read_back(terms):
    total = ExactSum()
    for x, exponent in terms:
        total.add(doubles([x]), exponent)
    back = ExactSum.from_bytes(total.to_bytes())
    assert back.to_bytes() == total.to_bytes()
    assert back.value() == total.value()
    back.subtract(total)
    assert back.is_zero()


def sealed(sign: int, base: int, digits, count: int | None = None) -> bytes:
    count = len(digits) if count is None else count
    payload = struct.pack(f"<BqQ{len(digits)}I", sign, base, count, *digits)
    return _testing.seal(EXACT_SUM_KIND, 1, payload)


@pytest.mark.parametrize(
    ("bytes_", "message"),
    [
        (sealed(0, 0, [0]), "canonical"),
        (sealed(0, 0, [0, 1]), "canonical"),
        (sealed(0, 0, [1, 0]), "canonical"),
        (sealed(1, 0, []), "canonical"),
        (sealed(0, 1, []), "canonical"),
        (sealed(2, 0, [1]), "malformed"),
        (sealed(255, 0, [1]), "malformed"),
        (sealed(0, 2**40 + 1, [1]), "malformed"),
        (sealed(0, -(2**40) - 1, [1]), "malformed"),
        (sealed(0, 2**63 - 1, [1]), "malformed"),
        (sealed(0, -(2**63), [1]), "malformed"),
        (sealed(0, 0, [1], count=2), "2 elements of 4 bytes"),
        (sealed(0, 0, [1], count=2**62 + 1), "4 bytes left"),
        (sealed(0, 0, [1], count=2**64 - 1), "4 bytes left"),
        (sealed(0, 0, [1, 1], count=1), "after its last field"),
        (_testing.seal(EXACT_SUM_KIND, 1, b""), "expected"),
        (_testing.seal(EXACT_SUM_KIND, 2, b""), "newer"),
        (_testing.seal(2, 1, b""), "FixedSum"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_bytes_that_no_sum_wrote_are_rejected(bytes_, message):
    with pytest.raises(ValueError, match=message):
        ExactSum.from_bytes(bytes_)


def test_damaged_bytes_are_rejected():
    saved = sum_of([0.1, 1e10, -TINY]).to_bytes()
    for size in range(len(saved)):
        with pytest.raises(ValueError, match="state"):
            ExactSum.from_bytes(saved[:size])
    for bit in range(8 * len(saved)):
        damaged = bytearray(saved)
        damaged[bit // 8] ^= 1 << bit % 8
        with pytest.raises(ValueError, match=r"state|checksum"):
            ExactSum.from_bytes(bytes(damaged))


def test_a_damaged_payload_is_rejected_or_means_another_sum():
    """With a good checksum, what is read back writes the very bytes it was read from."""
    payload = sum_of([0.1, -1e10, 2.0**80]).to_bytes()[20:-4]
    for word in lcg(2000):
        damaged = bytearray(payload)
        for place in (word >> 8, word >> 24, word >> 40)[: 1 + (word >> 60) % 3]:
            bit = place % (8 * len(damaged))
            damaged[bit // 8] ^= 1 << bit % 8
        state = _testing.seal(EXACT_SUM_KIND, 1, bytes(damaged))
        try:
            total = ExactSum.from_bytes(state)
        except ValueError:
            continue
        assert total.to_bytes() == state


# FixedSum -------------------------------------------------------------------------------------

int128 = st.integers(-(2**127), 2**127 - 1)


def add_fixed(total, k: int) -> None:
    total.add(k >> 64, k % 2**64)


@quick
@given(st.lists(int128 | st.integers(-(2**70), 2**70), max_size=20))
@example([2**127 - 1])
@example([-(2**127)])
@example([2**127 - 1, -(2**127)])
@example([2**53 + 1, 2**54])
def test_fixed_sums(terms):
    total, parts, expected = FixedSum(), [], 0
    for k in terms:
        assume(-(2**127) <= expected + k < 2**127)
        expected += k
        add_fixed(total, k)
        parts.append(FixedSum())
        add_fixed(parts[-1], k)
    assert total.to_double() == nearest(Fraction(expected, 2**58))
    merged = FixedSum()
    for part in parts:
        merged.merge(part)
    assert merged.to_double() == total.to_double()


@given(st.integers(1, 2**127 - 1), st.integers(1, 2**127 - 1), st.booleans())
@example(2**127 - 1, 1, False)
@example(2**127 - 1, 1, True)
def test_a_full_fixed_sum_raises_and_keeps_its_total(total, term, negative):
    term = max(term, 2**127 - total)  # just too much
    if negative:
        total, term = -total - 1, -term
    fixed, other = FixedSum(), FixedSum()
    add_fixed(fixed, total)
    add_fixed(other, term)
    with pytest.raises(OverflowError, match="a sum of 128 bits is full"):
        add_fixed(fixed, term)
    with pytest.raises(OverflowError, match="a sum of 128 bits is full"):
        fixed.merge(other)
    assert fixed.to_double() == nearest(Fraction(total, 2**58))
    add_fixed(fixed, 1 if negative else -1)  # and there is still room the other way
    assert fixed.to_double() == nearest(Fraction(total + (1 if negative else -1), 2**58))


def test_the_order_of_rows_is_forgotten():
    values = spread(300, -1074, 1000, 9).tolist()
    expected = sum_of(values).to_bytes()
    rng = random.Random(1)
    for _ in range(20):
        rng.shuffle(values)
        assert sum_of(values).to_bytes() == expected
