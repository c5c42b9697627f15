// The exact sums of blocks, as integers. Included by kernels/rooms/ only, and under their
// rules.
#pragma once

#include "kernels/loops/kernel_parts.hpp"

namespace calibrant {
namespace {

constexpr std::uint64_t sign_bit = 0x8000000000000000;

// 1.5 * 2^exponent, which leaves multiples of 2^(exponent - 52).
[[gnu::always_inline]] inline double shift_at(std::int64_t exponent) {
    return from_bits((static_cast<std::uint64_t>(exponent + 1023) << 52) |
                     (std::uint64_t{1} << 51));
}

// Values with these bits are below 2 to this power.
[[gnu::always_inline]] inline std::int64_t power_above(std::int64_t largest) {
    return (largest >> 52) - 1022;
}

// Each value is cut at two, then three places, counted from the largest of the block: adding
// 1.5 * 2^(exponent + 12) leaves multiples of 2^(exponent - 40), which are summed as integers,
// and subtracting gives the rest, all without rounding. Two cuts nearly always leave nothing.
template <bool two_cuts>
[[gnu::always_inline]] inline void cut_and_sum(const double* x, std::size_t n,
                                               std::int64_t exponent, SumBlock* sums,
                                               double* rest) {
    const double first = shift_at(exponent + 12);
    const double second = shift_at(exponent - 29);
    const double third = shift_at(exponent - 70);
    std::uint64_t a = 0, b = 0, c = 0, left = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const double high = x[i] + first;
        a += bits_of(high);
        const double below_high = x[i] - (high - first);
        const double middle = below_high + second;
        b += bits_of(middle);
        const double below_middle = below_high - (middle - second);
        if constexpr (two_cuts) {
            left |= bits_of(below_middle);
        } else {
            const double low = below_middle + third;
            c += bits_of(low);
            rest[i] = below_middle - (low - third);
            left |= bits_of(rest[i]);
        }
    }
    *sums = {{unshift(a, n, first), unshift(b, n, second), two_cuts ? 0 : unshift(c, n, third)},
             exponent,
             (left & ~sign_bit) != 0};
}

bool sum(const double* x, std::size_t n, SumBlock* sums, double* rest) {
    std::int64_t largest = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const auto magnitude = static_cast<std::int64_t>(bits_of(x[i]) & ~sign_bit);
        largest = magnitude > largest ? magnitude : largest;
    }
    const std::int64_t exponent = largest == 0 ? 0 : power_above(largest);
    if (exponent > 900 || exponent < -900) return false;
    cut_and_sum<true>(x, n, exponent, sums, rest);
    if (sums->rest_left) cut_and_sum<false>(x, n, exponent, sums, rest);
    return true;
}

// The same with wider cuts, of the rounded products and of their errors, which the second cut
// finds below 2^(exponent - 53). Products that underflow leave a rest, or are 0.
bool sum_products(const double* x, const double* y, std::size_t n, ProductBlock* sums) {
    std::int64_t largest = 0;
    std::uint64_t lost = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const double product = x[i] * y[i];
        const auto magnitude = static_cast<std::int64_t>(bits_of(product) & ~sign_bit);
        largest = magnitude > largest ? magnitude : largest;
        lost |= product != 0.0 || x[i] == 0.0 || y[i] == 0.0 ? 0U : 1U;
    }
    const std::int64_t exponent = largest == 0 ? 0 : power_above(largest);
    if (lost != 0 || exponent > 700 || exponent < -700) return false;
    const double first = shift_at(exponent + 1);
    const double second = shift_at(exponent - 51);
    const double third = shift_at(exponent - 103);
    std::uint64_t a = 0, b = 0, c = 0, left = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const double product = x[i] * y[i];
        const double error = fma(x[i], y[i], -product);
        const double high = product + first;
        const double below_high = product - (high - first);
        const double middle = below_high + second;
        const double error_high = error + second;
        const double below_error = error - (error_high - second);
        const double error_low = below_error + third;
        a += bits_of(high);
        b += bits_of(middle) + bits_of(error_high);
        c += bits_of(error_low);
        left |=
            bits_of(below_high - (middle - second)) | bits_of(below_error - (error_low - third));
    }
    *sums = {{unshift(a, n, first), unshift(b, 2 * n, second), unshift(c, n, third)}, exponent};
    return (left & ~sign_bit) == 0;
}

bool products(const double* x, const double* y, std::size_t n, double* product, double* error) {
    std::uint64_t unsafe = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const double rounded = x[i] * y[i];
        product[i] = rounded;
        error[i] = fma(x[i], y[i], -rounded);
        const double magnitude = from_bits(bits_of(rounded) & ~sign_bit);
        const bool in_range = magnitude > 0x1p-800 && magnitude < 0x1p800;
        unsafe |= in_range || x[i] == 0.0 || y[i] == 0.0 ? 0U : 1U;
    }
    return unsafe == 0;
}

void sum_terms(const double* high, const double* low, std::size_t n, const Grid& grid,
               std::int64_t* high_sum, std::int64_t* low_sum) {
    const double high_shift = grid.high_shift, low_shift = grid.low_shift;
    std::uint64_t high_bits = 0, low_bits = 0;
    for (std::size_t i = 0; i < n; ++i) {
        high_bits += bits_of(high[i] + high_shift);
        low_bits += bits_of(low[i] + low_shift);
    }
    *high_sum = unshift(high_bits, n, high_shift);
    *low_sum = unshift(low_bits, n, low_shift);
}

}  // namespace
}  // namespace calibrant
