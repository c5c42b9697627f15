// Logarithms of probabilities, for exact sums. Included by kernels/rooms/ only, and under
// their rules.
#pragma once

#include "kernels/loops/kernel_parts.hpp"

namespace calibrant {
namespace {

// Two short loops, for the reason that `risk_loops` has five.
std::size_t logs(const double* q, std::size_t n, double* high, double* low) {
    alignas(64) double exponent[block_rows], f[block_rows], reciprocal[block_rows];
    std::uint64_t zeros = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const bool is_zero = q[i] == 0.0;
        zeros += is_zero ? 1U : 0U;
        const LogReduced reduced = log_reduce(select(is_zero, 1.0, q[i]));
        exponent[i] = reduced.exponent;
        f[i] = reduced.f;
        reciprocal[i] = reduced.reciprocal;
    }
    for (std::size_t i = 0; i < n; ++i) {
        const LogParts log = log_finish({exponent[i], f[i], reciprocal[i]});
        high[i] = log.high;
        low[i] = snap<58>(log.low);
    }
    return zeros;
}

}  // namespace
}  // namespace calibrant
