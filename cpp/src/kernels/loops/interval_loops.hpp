// The kernel of interval_rows.hpp. Included by kernels/rooms/ only, and under their rules.
#pragma once

#include "kernels/loops/kernel_parts.hpp"

namespace calibrant {
namespace {

[[gnu::always_inline]] inline bool is_finite_difference(double x) {
    return x <= 0x1.fffffffffffffp1023 && x >= -0x1.fffffffffffffp1023;
}

// Whatever is not finite makes one of the differences so: a separate test is not needed.
template <bool swap>
bool widths_and_excesses(const double* y, std::size_t n, double* lower, double* upper) {
    std::uint64_t bad = 0;
    for (std::size_t i = 0; i < n; ++i) {
        double l = lower[i], u = upper[i];
        if (swap) {
            const bool crossed = u < l;
            const double least = select(crossed, u, l);
            u = select(crossed, l, u);
            l = least;
        }
        const double width = (u - l) + 0.0;  // never -0.0
        const double x = y != nullptr ? y[i] : l;
        const double above = x - u, below = x - l;
        bad |= is_finite_difference(width) && width >= 0.0 && is_finite_difference(above) &&
                       is_finite_difference(below)
                   ? 0U
                   : 1U;
        lower[i] = width;
        upper[i] = select(above > 0.0, above, select(below < 0.0, below, 0.0));
    }
    return bad == 0;
}

bool intervals(const double* y, std::size_t n, bool swap, double* lower, double* upper) {
    return swap ? widths_and_excesses<true>(y, n, lower, upper)
                : widths_and_excesses<false>(y, n, lower, upper);
}

// Widths are not negative, so their bits are in their order, and integers are compared faster.
void tally_intervals(const double* __restrict width, const double* __restrict excess, std::size_t n,
                     double* __restrict distance, IntervalTally* tally) {
    constexpr std::uint64_t sign = 0x8000000000000000;
    std::uint64_t below = 0, outside = 0;
    std::int64_t least = 0x7FF0000000000000, largest = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint64_t bits = bits_of(excess[i]);
        below += bits >> 63;
        outside += excess[i] != 0.0 ? 1U : 0U;
        distance[i] = from_bits(bits & ~sign);
        const auto size = static_cast<std::int64_t>(bits_of(width[i]));
        least = size < least ? size : least;
        largest = size > largest ? size : largest;
    }
    *tally = {below, outside - below, from_bits(static_cast<std::uint64_t>(least)),
              from_bits(static_cast<std::uint64_t>(largest))};
}

// Integers in the order of the doubles whose bits they are made from, and back.
[[gnu::always_inline]] inline std::int64_t ordered(std::uint64_t bits) {
    const auto word = static_cast<std::int64_t>(bits);
    return word ^ ((word >> 63) & 0x7FFFFFFFFFFFFFFF);
}

void range(const double* x, std::size_t n, double* least, double* largest) {
    std::int64_t low = ordered(bits_of(x[0] + 0.0)), high = low;
    for (std::size_t i = 1; i < n; ++i) {
        const std::int64_t at = ordered(bits_of(x[i] + 0.0));
        low = at < low ? at : low;
        high = at > high ? at : high;
    }
    *least = from_bits(static_cast<std::uint64_t>(ordered(static_cast<std::uint64_t>(low))));
    *largest = from_bits(static_cast<std::uint64_t>(ordered(static_cast<std::uint64_t>(high))));
}

}  // namespace
}  // namespace calibrant
