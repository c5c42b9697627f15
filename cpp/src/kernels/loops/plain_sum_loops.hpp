// The kernels of plain_sums.hpp. Included by kernels/rooms/ only, and under their rules.
#pragma once

#include "kernels/loops/kernel_parts.hpp"
#include "kernels/plain_sum_kernels.hpp"

namespace calibrant {
namespace {

// x - x is +0, or NaN if x is not finite.
template <std::size_t step>
bool interval_hits_of(const double* y, const double* lower, const double* upper, std::size_t n,
                      std::uint64_t* covered) {
    std::uint64_t count = 0, not_zero = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const double x = y[i], l = lower[i * step], u = upper[i * step];
        count += (l <= x ? 1U : 0U) & (x <= u ? 1U : 0U);
        not_zero |= bits_of((x - x) + ((l - l) + (u - u)));
    }
    *covered += count;
    return not_zero == 0;
}

template <std::size_t step>
double interval_widths_of(const double* lower, const double* upper, std::size_t n) {
    return sum_in_lanes(
        n, [=](std::size_t i) { return __builtin_fabs(upper[i * step] - lower[i * step]); });
}

// A value cannot lie on both sides, unless the bounds are crossed: then it is outside of both if
// it is between them, and the distance to the interval in its right order is 0.
template <std::size_t step>
double interval_excesses_of(const double* y, const double* lower, const double* upper,
                            std::size_t n) {
    return sum_in_lanes(n, [=](std::size_t i) {
        const double x = y[i], l = lower[i * step], u = upper[i * step];
        const double below = (l < u ? l : u) - x;
        const double above = x - (l < u ? u : l);
        const double most = below > above ? below : above;
        return most > 0.0 ? most : 0.0;
    });
}

double score_variance_of(const double* s, std::size_t n) {
    return sum_in_lanes(n, [=](std::size_t i) { return s[i] * (1.0 - s[i]); });
}

template <std::size_t step>
constexpr IntervalSumKernels<step> interval_sum_kernels{
    interval_hits_of<step>, interval_widths_of<step>, interval_excesses_of<step>};

constexpr PlainSumKernels plain_sum_kernels{interval_sum_kernels<1>, interval_sum_kernels<2>,
                                            score_variance_of};

}  // namespace
}  // namespace calibrant
