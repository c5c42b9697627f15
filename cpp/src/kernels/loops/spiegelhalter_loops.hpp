// The kernels of spiegelhalter.hpp. Included by kernels/rooms/ only, and under their rules.
#pragma once

#include "kernels/loops/kernel_parts.hpp"
#include "kernels/loops/score_loops.hpp"  // round_score

namespace calibrant {
namespace {

struct SpiegelhalterTerms {
    double excess, excess_rest, variance, variance_rest;
};

// With s = 1 - 2p, q = 1 - p and r = y - p, each split exactly in two (Fast2Sum), the excess is
// r s and the variance s^2 p q. Nothing cancels once the factors are exact, so each is good to
// about 2^-100 of itself.
[[gnu::always_inline]] inline SpiegelhalterTerms spiegelhalter_terms_of(double p,
                                                                        std::int32_t hit) {
    const double y = static_cast<double>(hit);
    const double r = y - p;
    const double r_rest = (y - r) - p;
    const double twice = p + p;
    const double s = 1.0 - twice;
    const double s_rest = (1.0 - s) - twice;
    const double q = 1.0 - p;
    const double q_rest = (1.0 - q) - p;

    const double excess = r * s;
    const double excess_rest = fma(r, s, -excess) + fma(r, s_rest, r_rest * s);
    const double a = s * s;
    const double a_rest = fma(s + s, s_rest, fma(s, s, -a));
    const double b = p * q;
    const double b_rest = fma(p, q_rest, fma(p, q, -b));
    const double variance = a * b;
    const double variance_rest = fma(a, b, -variance) + fma(a, b_rest, a_rest * b);
    return {excess, excess_rest, variance, variance_rest};
}

[[gnu::always_inline]] inline bool is_fine(double variance) {
    return variance > 0.0 && variance < least_gridded_variance;
}

bool spiegelhalter_sums(const double* __restrict p, const std::int32_t* __restrict hit,
                        std::size_t n, SpiegelhalterBlock* sums) {
    constexpr double coarse = snap_shift<30>, dense = snap_shift<80>;
    std::uint64_t excess_high = 0, excess_low = 0, variance_high = 0, variance_low = 0, fine = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const SpiegelhalterTerms raw = spiegelhalter_terms_of(p[i], hit[i]);
        fine |= is_fine(raw.variance) ? 1U : 0U;
        const double e = raw.excess + coarse;
        const double v = raw.variance + coarse;
        excess_high += bits_of(e);
        variance_high += bits_of(v);
        excess_low += bits_of(((raw.excess - (e - coarse)) + raw.excess_rest) + dense);
        variance_low += bits_of(((raw.variance - (v - coarse)) + raw.variance_rest) + dense);
    }
    *sums = {unshift(excess_high, n, coarse), unshift(excess_low, n, dense),
             unshift(variance_high, n, coarse), unshift(variance_low, n, dense)};
    return fine != 0;
}

void spiegelhalter_terms(const double* __restrict p, const std::int32_t* __restrict hit,
                         std::size_t n, double* __restrict excess_high,
                         double* __restrict excess_low, double* __restrict variance_high,
                         double* __restrict variance_low) {
    for (std::size_t i = 0; i < n; ++i) {
        const SpiegelhalterTerms raw = spiegelhalter_terms_of(p[i], hit[i]);
        const Rounded excess = round_score(raw.excess, raw.excess_rest);
        const Rounded variance = round_score(raw.variance, raw.variance_rest);
        const bool fine = is_fine(raw.variance);
        excess_high[i] = select(fine, raw.excess, excess.high);
        excess_low[i] = select(fine, raw.excess_rest, excess.low);
        variance_high[i] = select(fine, raw.variance, variance.high);
        variance_low[i] = select(fine, raw.variance_rest, variance.low);
    }
}

constexpr SpiegelhalterKernels spiegelhalter_kernels{spiegelhalter_sums, spiegelhalter_terms};

}  // namespace
}  // namespace calibrant
