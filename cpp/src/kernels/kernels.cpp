// Compiled once per instruction set, with CALIBRANT_KERNELS naming the table to define. To
// keep one set's instructions out of another's code, nothing here is shared with other files:
// no standard library, and every function has internal linkage.
#include "kernels/kernels.hpp"

#include "kernels/loops/box_loops.hpp"
#include "kernels/loops/class_loops.hpp"
#include "kernels/loops/convolution_loops.hpp"
#include "kernels/loops/dependence_loops.hpp"
#include "kernels/loops/distance_loops.hpp"
#include "kernels/loops/ensemble_loops.hpp"
#include "kernels/loops/ensemble_score_loops.hpp"
#include "kernels/loops/event_loops.hpp"
#include "kernels/loops/group_cell_loops.hpp"
#include "kernels/loops/interval_loops.hpp"
#include "kernels/loops/kernel_parts.hpp"
#include "kernels/loops/mmd_loops.hpp"
#include "kernels/loops/plain_sum_loops.hpp"
#include "kernels/loops/power_loops.hpp"
#include "kernels/loops/rank_loops.hpp"
#include "kernels/loops/score_cell_loops.hpp"
#include "kernels/loops/score_loops.hpp"
#include "kernels/loops/scorecard_loops.hpp"
#include "kernels/loops/smooth_loops.hpp"
#include "kernels/loops/spiegelhalter_loops.hpp"
#include "kernels/loops/sum_loops.hpp"

namespace calibrant {
namespace {

using namespace detail;

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

void risk(const double* q, std::size_t n, const PrefetchHint& ahead, RiskBlock* sums) {
    risk_loops<false>(q, n, ahead, sums, nullptr);
}

void scorecard_risk(const double* q, std::size_t n, const PrefetchHint& ahead, RiskBlock* sums,
                    RiskSquares* squares) {
    risk_loops<true>(q, n, ahead, sums, squares);
}

// Two short loops, for the reason that `risk` has five.
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

void log_of(const double* x, std::size_t n, double* result) {
    for (std::size_t i = 0; i < n; ++i) result[i] = calibrant::log(x[i]);
}

void exp_of(const double* x, std::size_t n, double* result) {
    for (std::size_t i = 0; i < n; ++i) result[i] = calibrant::exp(x[i]);
}

void power_of(const double* x, std::size_t n, Power m, double* result) {
    for (std::size_t i = 0; i < n; ++i) result[i] = calibrant::power(x[i], m);
}

}  // namespace

namespace kernel_tables {
extern const Kernels CALIBRANT_KERNELS;
const Kernels CALIBRANT_KERNELS = {sum,
                                   products,
                                   sum_products,
                                   risk,
                                   logs,
                                   powers,
                                   sum_powers,
                                   sum_terms,
                                   score_kernels,
                                   {scorecard_risk, scorecard_scores, cell_terms, add_cells},
                                   spiegelhalter_kernels,
                                   label_kernels<std::int64_t>,
                                   label_kernels<std::int32_t>,
                                   label_kernels<std::uint8_t>,
                                   top_label<double>,
                                   top_label<float>,
                                   clip,
                                   split,
                                   places,
                                   cells_of,
                                   intervals,
                                   tally_intervals,
                                   range,
                                   &box_kernels,
                                   &dependence_kernels,
                                   &ensemble_score_kernels,
                                   &plain_sum_kernels,
                                   &distance_kernels,
                                   &mmd_kernels,
                                   &rank_kernels,
                                   &ensemble_kernels,
                                   &group_cell_kernels,
                                   smooth,
                                   convolve,
                                   log_of,
                                   exp_of,
                                   power_of};
}  // namespace kernel_tables

}  // namespace calibrant
