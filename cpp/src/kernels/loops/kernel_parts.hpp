// What the kernels of several concepts share. Included by kernels/rooms/ only, and under
// their rules: no standard library, internal linkage.
#pragma once

#include "kernels/kernels.hpp"
#include "kernels/loops/registers.hpp"

namespace calibrant {
namespace {

using namespace detail;

// Removes what the shifts of `snap` added to n summed bit patterns.
[[gnu::always_inline]] inline std::int64_t unshift(std::uint64_t sum, std::size_t n, double shift) {
    return static_cast<std::int64_t>(sum - n * bits_of(shift));
}

// Bit 63 of the result is set unless 0 <= x <= 1 (or x is -0.0, which is let through by
// adding +0.0 first). NaN and infinities are outside.
[[gnu::always_inline]] inline std::uint64_t outside_unit(double x) {
    const std::uint64_t bits = bits_of(x + 0.0);
    return bits | (one_bits - bits);
}

struct Rounded {
    double high, low;
};

// A term below 2^20 rounded to the grid 2^-58, with both shifts still in it. `rest` and its
// sum with the shift are exact: multiples of 2^(k - 53) below 2^(k - 3), where 2^k is the scale.
[[gnu::always_inline]] inline Rounded round_to_grid(PowerParts term) {
    const double scale = power_of_two(term.exponent);
    const double high = fma(term.high + term.low, scale, snap_shift<20>);
    const double rest = fma(term.high, scale, snap_shift<20> - high);
    return {high, fma(term.low, scale, rest + snap_shift<58>)};
}

// |a - b_j|^2 for n points b: coordinate k of b_j is b[k * stride + j].
[[gnu::always_inline]] inline void squared_distances(const double* a, const double* __restrict b,
                                                     std::size_t stride, std::size_t dimension,
                                                     std::size_t n, double* __restrict out) {
    for (std::size_t j = 0; j < n; ++j) out[j] = 0.0;
    for (std::size_t k = 0; k < dimension; ++k) {
        const double at = a[k];
        const double* __restrict const column = b + k * stride;
        for (std::size_t j = 0; j < n; ++j) {
            const double difference = at - column[j];
            out[j] += difference * difference;
        }
    }
}

// The sum of values in [0, 2^(51 - grid)), each cut at 2^-grid, 2^-(grid + 52) and, with three
// cuts, 2^-(grid + 104); all steps are exact. A value of 2^-grid or more has no bits below the
// second cut, one of 2^-(grid + 52) or more has none below the third.
template <int grid, int cuts>
class CutSum {
public:
    [[gnu::always_inline]] void add(double x) {
        const double first = x + snap_shift<grid>;
        const double below_first = x - (first - snap_shift<grid>);
        const double second = below_first + snap_shift<grid + 52>;
        first_ += bits_of(first);
        second_ += bits_of(second);
        if constexpr (cuts == 3) {
            const double below_second = below_first - (second - snap_shift<grid + 52>);
            third_ += bits_of(below_second + snap_shift<grid + 104>);
        }
    }

    // Of n values, of which `ones` are 1 and do not count.
    [[nodiscard]] [[gnu::always_inline]] SquareBlock block(std::size_t n,
                                                           std::uint64_t ones = 0) const {
        const auto not_counted = static_cast<std::int64_t>(ones) << grid;
        return {{unshift(first_, n, snap_shift<grid>) - not_counted,
                 unshift(second_, n, snap_shift<grid + 52>),
                 cuts == 3 ? unshift(third_, n, snap_shift<grid + 104>) : 0},
                grid};
    }

private:
    std::uint64_t first_ = 0, second_ = 0, third_ = 0;
};

// Eight partial sums on every instruction set, and so the same bits.
template <class Term>
[[gnu::always_inline]] inline double sum_in_lanes(std::size_t n, Term term) {
    constexpr std::size_t lanes = 8;
    double partial[lanes] = {};
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes) {
        for (std::size_t lane = 0; lane < lanes; ++lane) partial[lane] += term(i + lane);
    }
    for (std::size_t lane = 0; i < n; ++i, ++lane) partial[lane] += term(i);
    double total = 0.0;
    for (const double part : partial) total += part;
    return total;
}

}  // namespace
}  // namespace calibrant
