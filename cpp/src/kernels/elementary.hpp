// Elementary functions whose every bit is ours: log, exp and powers from + - * / fma and bit
// operations only, in round-to-nearest, with contraction off. IEEE 754 leaves no choice in
// any of these, so a value has one result on every instruction set, compiler and thread,
// which neither libm nor NumPy promises. All are branch-free: a loop over them vectorises
// wherever the processor has fma (x86-64 since 2013, every AArch64). Without it the same bits
// come from the C library's fma, an order of magnitude slower.
//
// Each comes in two forms: *parts*, an unevaluated sum of two doubles that carries the
// value to about 2^-57.5, which the exact sums take in; and the plain function, rounded to
// one double. Errors, measured against 200-bit arithmetic (tests/kernels/test_elementary.py), at
// most, in ulps: log 0.57 (worst near sqrt(1/2) and sqrt(2)), subnormal arguments included;
// exp 0.53; power 0.53 + 0.03 |m|. A subnormal result is rounded twice: 0.25 more.
//
// The functions are `static`: the file is compiled once per instruction set, and the
// linker must not let one set's copy stand in for another's.
#pragma once

#include <cstdint>

namespace calibrant {

// The value is high + low: high a multiple of 2^-16, |low| < 2^-7.
struct LogParts {
    double high, low;
};

// The value is (high + low) * 2^exponent: high in [0.6, 1.42], |low| < 0.08, exponent an
// integer.
struct PowerParts {
    double high, low, exponent;
};

// The power m: value is the nearest double, leading + trailing is m itself; leading has 26 bits,
// so that its product with LogParts::high is exact.
struct Power {
    double value, leading, trailing;
};

namespace detail {

[[gnu::always_inline]] static inline std::uint64_t bits_of(double x) {
    return __builtin_bit_cast(std::uint64_t, x);
}

[[gnu::always_inline]] static inline double from_bits(std::uint64_t bits) {
    return __builtin_bit_cast(double, bits);
}

[[gnu::always_inline]] static inline double fma(double x, double y, double z) {
    return __builtin_fma(x, y, z);
}

// A choice without a branch: written as ?:, GCC 12 threads the two paths apart and the loop
// no longer vectorises.
[[gnu::always_inline]] static inline double select(bool condition, double yes, double no) {
    const std::uint64_t mask = -static_cast<std::uint64_t>(condition);
    return from_bits((bits_of(yes) & mask) | (bits_of(no) & ~mask));
}

[[gnu::always_inline]] static inline double clamp(double x, double least, double most) {
    return select(x < least, least, select(x > most, most, x));
}

// Adding 1.5 * 2^(52 - grid) to an |x| < 2^(51 - grid) pushes the bits below 2^-grid out of
// the mantissa: x becomes the nearest multiple of 2^-grid, ties to even, and that multiple
// can be read, as an integer, off the low bits of the sum.
template <int grid>
constexpr double snap_shift =
    __builtin_bit_cast(double, (std::uint64_t{1023 + 52 - grid} << 52) | (std::uint64_t{1} << 51));

template <int grid>
[[gnu::always_inline]] static inline double snap(double x) {
    return (x + snap_shift<grid>)-snap_shift<grid>;
}

// 2^k for an integer k in [-1022, 1023].
[[gnu::always_inline]] static inline double power_of_two(double k) {
    return from_bits(bits_of(k + (snap_shift<0> + 1023)) << 52);
}

inline constexpr double ln2_high = 0x1.62e4p-1;  // 16 fractional bits
inline constexpr double ln2_low = 0x1.7f7d1cf79abcap-20;
inline constexpr double log2_e = 0x1.71547652b82fep+0;
inline constexpr std::uint64_t sqrt_half_bits = 0x3FE6A09E667F3BCC;
inline constexpr std::uint64_t one_bits = 0x3FF0000000000000;
inline constexpr std::uint64_t mantissa_mask = 0x000FFFFFFFFFFFFF;
inline constexpr std::uint64_t two_52_bits = 0x4330000000000000;

}  // namespace detail

// The two functions come in two steps each, so that a loop over many values can be cut
// between them: a short chain of operations per loop keeps the processor's pipes full.
struct LogReduced {
    double exponent, f, reciprocal;  // x = 2^exponent (1 + f), reciprocal = 1 / (2 + f)
};
struct ExpReduced {
    double high, low, exponent;  // the argument is high + low + exponent * ln 2
};

// x positive and finite; without `subnormals`, at least 2^-1022. 1 + f lies in [sqrt(1/2),
// sqrt(2)).
template <bool subnormals = true>
[[gnu::always_inline]] static inline LogReduced log_reduce(double x) {
    using namespace detail;
    const bool scale_up = subnormals && x < 0x1p-1022;
    const double scaled = select(scale_up, x * 0x1p54, x);
    const double exponent_bias = select(scale_up, 0x1p52 + 1023 + 54, 0x1p52 + 1023);
    const std::uint64_t shifted = bits_of(scaled) + (one_bits - sqrt_half_bits);
    const double exponent = from_bits((shifted >> 52) | two_52_bits) - exponent_bias;
    const double f = from_bits((shifted & mantissa_mask) + sqrt_half_bits) - 1.0;
    return {exponent, f, 1.0 / (f + 2.0)};
}

// log(1 + f) = 2 atanh(u / 2) with u = 2f / (2 + f). u is cut at 2^-16 into u_high and an
// accurate remainder, so that only the tail u^3/12 + ..., below 0.0035, suffers the rounding
// of doubles. Absolute error below 2^-57.7.
[[gnu::always_inline]] static inline LogParts log_finish(LogReduced x) {
    using namespace detail;
    const double u = (x.f + x.f) * x.reciprocal;
    const double u_high = snap<16>(u);
    const double difference = x.f - u_high;
    const double remainder = fma(-u_high, x.f, difference + difference);  // 2f - u_high (2 + f)

    const double v = u * u;
    const double v2 = v * v;
    const double even = fma(
        v2, fma(v2, fma(v2, 0x1.307f20148ac12p-18, 0x1.7467f53335281p-14), 0x1.2492494f00746p-9),
        0x1.55555555555d6p-4);
    const double odd =
        fma(v2, fma(v2, 0x1.39794d5fc3806p-16, 0x1.c71c48bffde4ep-12), 0x1.999999996e443p-7);
    const double low = fma(remainder, x.reciprocal, x.exponent * ln2_low);
    return {fma(x.exponent, ln2_high, u_high), fma(u * v, fma(v, odd, even), low)};
}

// Any |high + low| < 2^36; what is lost, in the low part, is 2^-73 of it. Unless |low| can
// exceed 0.004, `low_is_small` saves two operations.
template <bool low_is_small = false>
[[gnu::always_inline]] static inline ExpReduced exp_reduce(double high, double low) {
    using namespace detail;
    const double leading = low_is_small ? high : high + low;
    const double k = fma(leading, log2_e, snap_shift<0>) - snap_shift<0>;
    return {fma(-k, ln2_high, high),  // exact: both are multiples of one grid
            fma(-k, ln2_low, low), k};
}

// (e^r - 1 - r - r^2/2) / r^3 for |r| <= 0.3505, error below 2^-60 / r^3.
[[gnu::always_inline]] static inline double exp_tail(double r, double r2) {
    using detail::fma;
    const double even = fma(
        r2,
        fma(r2,
            fma(r2, fma(r2, 0x1.af727e987335dp-26, 0x1.71ddec5a75b4ep-19), 0x1.a01a01b4ff71fp-13),
            0x1.111111110e883p-7),
        0x1.555555555555cp-3);
    const double odd = fma(
        r2,
        fma(r2,
            fma(r2, fma(r2, 0x1.1f9da69a59e8bp-29, 0x1.27e4c0274796fp-22), 0x1.a01a01b33c6c5p-16),
            0x1.6c16c16c13d52p-10),
        0x1.555555555555bp-5);
    return fma(r, odd, even);
}

// e^r = 1 + a + a^2/2, exactly, plus b + b (a + b/2) + r^3/6 + ..., where r = a + b and a is
// a multiple of 2^-20. Relative error below 2^-57.3.
[[gnu::always_inline]] static inline PowerParts exp_finish(ExpReduced x) {
    using namespace detail;
    const double r = x.high + x.low;
    const double a = snap<20>(r);
    const double b = (x.high - a) + x.low;
    const double r2 = r * r;
    const double low = fma(b, fma(-0.5, b, r), b);
    return {fma(0.5 * a, a, 1.0 + a), fma(r2 * r, exp_tail(r, r2), low), x.exponent};
}

// A cheaper form for the busiest loop: e^r = 1 + r, exactly, plus r^2/2 + ..., which is up to
// 0.07 and is rounded. high is a multiple of 2^-53. Relative error below 2^-55.2.
[[gnu::always_inline]] static inline PowerParts exp_finish_fast(ExpReduced x) {
    using namespace detail;
    const double r = x.high + x.low;
    const double r2 = r * r;
    const double high = 1.0 + x.high;
    const double low = (x.high - (high - 1.0)) + x.low;
    return {high, fma(r2, fma(r, exp_tail(r, r2), 0.5), low), x.exponent};
}

template <bool subnormals = true>
[[gnu::always_inline]] static inline LogParts log_parts(double x) {
    return log_finish(log_reduce<subnormals>(x));
}

[[gnu::always_inline]] static inline PowerParts exp_parts(double high, double low) {
    return exp_finish(exp_reduce(high, low));
}

// The double nearest to -2/3 means -2/3: its rounding error would show in a sum of n terms
// dominated by one, where the mean depends on m by up to log(n) / m^2.
static inline Power make_power(double m) {
    using namespace detail;
    const double leading = from_bits(bits_of(m) & ~((std::uint64_t{1} << 27) - 1));
    const double correction = m == -2.0 / 3.0 ? -0x1.5555555555555p-55 : 0.0;
    return {m, leading, (m - leading) + correction};
}

// exp(m * log) for |m| <= 2^26 and log from log_parts, up to a relative error of (1 + |m|) 2^-57;
// `small_power` asserts that |m| <= 0.7.
template <bool small_power = false>
[[gnu::always_inline]] static inline ExpReduced power_reduce(LogParts log, Power m) {
    using namespace detail;
    return exp_reduce<small_power>(m.leading * log.high,
                                   fma(m.trailing, log.high, m.value * log.low));
}

[[gnu::always_inline]] static inline PowerParts power_parts(LogParts log, Power m) {
    return exp_finish(power_reduce(log, m));
}

// (high + low) * 2^exponent as one double; 0 or infinity when it is out of range.
[[gnu::always_inline]] static inline double round_parts(PowerParts parts) {
    // Three factors reach below the least subnormal and beyond the largest double; only
    // the last product can round.
    const double k = detail::clamp(parts.exponent, -2200.0, 2200.0);
    const double third = detail::snap<0>(k * (1.0 / 3.0));
    const double scale = detail::power_of_two(third);
    return (parts.high + parts.low) * scale * scale * detail::power_of_two(k - third - third);
}

// Near 1 the parts are accurate only absolutely, so the series in f takes over.
[[gnu::always_inline]] static inline double log(double x) {
    using namespace detail;
    const LogParts parts = log_parts(x);
    const double f = x - 1.0;
    const double series =
        fma(f * f, fma(f, fma(f, fma(f, 0.2, -0.25), 0x1.5555555555555p-2), -0.5), f);
    const bool near_one = f < 0x1p-12 && f > -0x1p-12;
    return select(near_one, series, parts.high + parts.low);
}

[[gnu::always_inline]] static inline double exp(double y) {
    return round_parts(exp_parts(detail::clamp(y, -2000.0, 2000.0), 0.0));
}

[[gnu::always_inline]] static inline double power(double x, Power m) {
    return round_parts(power_parts(log_parts(x), m));
}

}  // namespace calibrant
