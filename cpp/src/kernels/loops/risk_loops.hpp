// The sums of the three named means, with squares for the scorecard. Included by the sources of
// kernels only, and under their rules.
#pragma once

#include "kernels/loops/kernel_parts.hpp"

namespace calibrant {
namespace {

// Five short loops rather than one: the values of a block pass through buffers in the
// first-level cache, and each loop's chain of dependent operations is short enough for the
// processor to overlap many rows. The sum of q, all additions, rides along with the
// multiplications of the exponential. Squares are summed where the terms are at hand: those of q
// reach from 2^-56 to 1; of a multiple of 2^-58 below 2^5, they are multiples of 2^-116; and the
// powers are 1 or more, and below 2^19.
template <bool squared>
[[gnu::always_inline]] inline void risk_loops(const double* q, std::size_t n,
                                              const PrefetchHint& ahead, RiskBlock* sums,
                                              RiskSquares* squares) {
    alignas(64) double x[block_rows], a[block_rows], b[block_rows], c[block_rows];
    const Power m = make_power(-2.0 / 3.0);

    std::uint64_t tiny = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const bool is_tiny = q[i] < least_gridded;
        tiny += is_tiny ? 1U : 0U;
        x[i] = select(is_tiny, 1.0, q[i]);  // adds 1, 0 and 1 to the three sums
        const LogReduced reduced = log_reduce<false>(x[i]);
        a[i] = reduced.exponent;
        b[i] = reduced.f;
        c[i] = reduced.reciprocal;
    }

    prefetch(ahead, 0, 4);
    std::uint64_t log_high = 0, log_low = 0;
    CutSum<42, 3> log_squares;
    for (std::size_t i = 0; i < n; ++i) {
        const LogParts log = log_finish({a[i], b[i], c[i]});
        log_high += bits_of(log.high + snap_shift<16>);
        log_low += bits_of(log.low + snap_shift<58>);
        if constexpr (squared) {
            const double term = log.high + snap<58>(log.low);
            log_squares.add(term * term);
        }
        a[i] = log.high;
        b[i] = log.low;
    }

    prefetch(ahead, 1, 4);
    for (std::size_t i = 0; i < n; ++i) {
        const ExpReduced reduced = power_reduce<true>({a[i], b[i]}, m);
        a[i] = reduced.high;
        b[i] = reduced.low;
        c[i] = reduced.exponent;
    }

    prefetch(ahead, 2, 4);
    std::uint64_t q_high = 0, q_low = 0;
    CutSum<50, 3> q_squares;
    for (std::size_t i = 0; i < n; ++i) {
        if constexpr (squared) q_squares.add(x[i] * x[i]);
        const double high = x[i] + snap_shift<40>;
        q_high += bits_of(high);
        q_low += bits_of((x[i] - (high - snap_shift<40>)) + snap_shift<80>);
        const PowerParts term = exp_finish_fast({a[i], b[i], c[i]});
        a[i] = term.high;
        b[i] = term.low;
    }

    prefetch(ahead, 3, 4);
    std::uint64_t power_high = 0, power_low = 0;
    CutSum<13, 2> power_squares;
    for (std::size_t i = 0; i < n; ++i) {
        const Rounded rounded = round_to_grid({a[i], b[i], c[i]});
        power_high += bits_of(rounded.high);
        power_low += bits_of(rounded.low);
        if constexpr (squared) {
            const double term = (rounded.high - snap_shift<20>)+(rounded.low - snap_shift<58>);
            power_squares.add(term * term);
        }
    }

    const auto ones = static_cast<std::int64_t>(tiny);
    sums->q_high = unshift(q_high, n, snap_shift<40>) - (ones << 40);
    sums->q_low = unshift(q_low, n, snap_shift<80>);
    sums->log_high = unshift(log_high, n, snap_shift<16>);
    sums->log_low = unshift(log_low, n, snap_shift<58>);
    sums->power_high = unshift(power_high, n, snap_shift<20>) - (ones << 20);
    sums->power_low = unshift(power_low, n, snap_shift<58>);
    sums->tiny = tiny;
    if constexpr (squared) {
        *squares = {q_squares.block(n, tiny), log_squares.block(n), power_squares.block(n, tiny)};
    }
}

}  // namespace
}  // namespace calibrant
