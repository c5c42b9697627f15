// The loops over data. Their sources are compiled once per instruction set (isa.hpp); each copy
// fills one table (rooms.hpp), and all give the same bits. A kernel takes at most block_rows
// contiguous values, keeps no state, allocates nothing and throws nothing.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/elementary.hpp"

namespace calibrant {

// Six buffers of this many doubles stay in a first-level cache of 32 kB.
inline constexpr std::size_t block_rows = 512;

// Probabilities from here on take the risk kernel's fixed grids; smaller ones are rare, and
// summed one by one. The double 2^-28 has its last bit at 2^-80.
inline constexpr double least_gridded = 0x1p-28;

// Memory that is going to be read next, in up to two pieces: a kernel that computes for long
// prefetches it meanwhile, because the processor's own prefetching stops where no memory is read.
struct PrefetchHint {
    const void* at[2] = {nullptr, nullptr};
    std::size_t bytes[2] = {0, 0};
};

// Prefetches one of `parts` equal parts of it into the second-level cache: no more lines at once
// than the processor can wait for. Static, as kernels share nothing with other files.
[[gnu::always_inline]] static inline void prefetch(const PrefetchHint& ahead, std::size_t part,
                                                   std::size_t parts) {
    constexpr std::size_t line = 64;
    for (int piece = 0; piece < 2; ++piece) {
        const auto* const bytes = static_cast<const char*>(ahead.at[piece]);
        const std::size_t end = ahead.bytes[piece] * (part + 1) / parts;
        for (std::size_t i = ahead.bytes[piece] * part / parts; i < end; i += line) {
            __builtin_prefetch(bytes + i, 0, 2);
        }
    }
}

// The sums of a block over the rows with q >= least_gridded, as integers: of q (in units of
// 2^-40 and 2^-80), log q (2^-16 and 2^-58) and q^(-2/3) (2^-20 and 2^-58).
struct RiskBlock {
    std::int64_t q_high, q_low, log_high, log_low, power_high, power_low;
    std::uint64_t tiny;  // rows below least_gridded
};

// The exact sum of a block of doubles is sums[0] 2^(exponent - 40) + sums[1] 2^(exponent - 81)
// + sums[2] 2^(exponent - 122), plus what it left in `rest` if rest_left.
struct SumBlock {
    std::int64_t sums[3];
    std::int64_t exponent;
    bool rest_left;
};

// The exact sum of a block of products: sums[0] 2^(exponent - 51) + sums[1] 2^(exponent - 103)
// + sums[2] 2^(exponent - 155).
struct ProductBlock {
    std::int64_t sums[3];
    std::int64_t exponent;
};

// The exact sum of the terms of a block with q >= least_gridded: sums[k] 2^-(grid + 52 k).
struct PowerBlock {
    std::int64_t sums[4];
    int grid;
    std::uint64_t tiny;  // rows below least_gridded
};

// The exact sum of a block of squares: sums[0] 2^-grid + sums[1] 2^-(grid + 52)
// + sums[2] 2^-(grid + 104).
struct SquareBlock {
    std::int64_t sums[3];
    int grid;
};

// Powers whose terms need no logarithm.
[[gnu::always_inline]] static inline bool has_direct_terms(double m) {
    return m == 2.0 || m == -1.0 || m == 0.5;
}

// Of the terms of a RiskBlock, each rounded as there, and squared as a double.
struct RiskSquares {
    SquareBlock q, log, power;
};

// Of labels as they lie in memory.
template <class Label>
struct LabelKernels {
    // The probability given to the outcome: p where labels[i] is 1, 1 - p where it is 0,
    // clipped to [q_lim, 1 - q_lim]. Returns false if some p is not in [0, 1] or some label
    // is neither.
    bool (*true_class)(const double* p, const Label* labels, std::size_t n, double q_lim,
                       double* q);

    // Copies both, with the same checks. p_copy may be p.
    bool (*outcomes)(const double* p, const Label* labels, std::size_t n, double* p_copy,
                     std::int32_t* codes);
};

// A term is high + low: high a multiple of 2^-high_bits, low of 2^-low_bits.
struct Grid {
    int high_bits, low_bits;
    double high_shift, low_shift;  // detail::snap_shift of both
};
inline constexpr Grid score_grid{30, 80, detail::snap_shift<30>, detail::snap_shift<80>};
inline constexpr Grid log_grid{16, 58, detail::snap_shift<16>, detail::snap_shift<58>};

// Of a block; the first index is of the score.
struct EvenMoments {
    alignas(64) double variance[3][block_rows], third[3][block_rows];
};

// The terms of the scores, each high + low on the score_grid.
struct ScoreKernels {
    // (p - label)^2, to 2^-80.
    void (*brier)(const double* p, const std::int32_t* label, std::size_t n, double* high,
                  double* low);
    // q / sqrt(p^2 + (1 - p)^2), where q is p for label 1 and 1 - p for label 0, to 2^-80.
    void (*spherical)(const double* p, const std::int32_t* label, std::size_t n, double* high,
                      double* low);

    // The sum over each row's `width` values of their squares, each to 2^-81; width <= 2^20.
    void (*row_squares)(const double* values, std::size_t rows, std::size_t width, double* high,
                        double* low);
    // squares - 2 q + 1: squares as row_squares gives them, each q to 2^-81.
    void (*brier_of_squares)(const double* q, const double* squares_high, const double* squares_low,
                             std::size_t n, double* high, double* low);
    // q / sqrt(squares); squares positive.
    void (*spherical_of_squares)(const double* q, const double* squares_high,
                                 const double* squares_low, std::size_t n, double* high,
                                 double* low);

    // The variance and the third moment of what a and b differ by under the mixture of both with
    // which its mean is 0 (comparison.hpp), in doubles: of the Brier, the log and the spherical
    // terms. `of_two` are given the logarithms' difference for the outcome and for the other class;
    // `of_classes` all logarithms, and everything class by class: value k of row i at k n + i.
    void (*even_moments_of_two)(const double* a, const double* b, const double* log_gap,
                                const double* other_log_gap, std::size_t n, EvenMoments* moments);
    void (*even_moments_of_classes)(const double* a, const double* b, const double* log_a,
                                    const double* log_b, std::size_t n, std::size_t width,
                                    EvenMoments* moments);
};

// The terms of spiegelhalter.hpp, each high + low. They lie on the score_grid unless the row is
// *fine*: its variance is positive but below least_gridded_variance. The terms of a fine row are
// not rounded, and good to 2^-100 of themselves.
inline constexpr double least_gridded_variance = 0x1p-28;
struct SpiegelhalterBlock {
    std::int64_t excess_high, excess_low, variance_high, variance_low;  // 2^-30 and 2^-80
};
struct SpiegelhalterKernels {
    // As if no row were fine; returns whether one is.
    bool (*sums)(const double* p, const std::int32_t* hit, std::size_t n, SpiegelhalterBlock* sums);
    void (*terms)(const double* p, const std::int32_t* hit, std::size_t n, double* excess_high,
                  double* excess_low, double* variance_high, double* variance_low);
};

// Of a block of binary rows without weights.
struct ScorecardBlock {
    std::int64_t brier_high, brier_low, spherical_high, spherical_low;  // on the score_grid
    SquareBlock brier_squares, spherical_squares;  // of the terms, squared as doubles
    SquareBlock spread;                            // of (1 - 2p)^2 p (1 - p), as doubles
    std::uint64_t right;                           // rows in which (p >= 1/2) is the label
};

// What a row adds to its bin: `one_row` plus its score in units of 2^-40, rounded; the rest of the
// score in units of 2^-80; and its Brier term, in units of 2^-30 and of 2^-80. Sums of less than
// `most_rows` rows do not overflow.
struct alignas(32) CellTerms {
    static constexpr std::int64_t one_row = std::int64_t{1} << 52;
    static constexpr std::int64_t most_rows = std::int64_t{1} << 11;
    std::int64_t row_and_score, score_low, square_high, square_low;
};

struct ScorecardKernels {
    // As `risk`, and the squares.
    void (*risk)(const double* q, std::size_t n, const PrefetchHint& ahead, RiskBlock* sums,
                 RiskSquares* squares);
    // The terms of ScoreKernels::brier, and the sums. Returns false, with the squares and the
    // spread unspecified, if some of these are positive but too small for such a sum.
    bool (*scores)(const double* p, const std::int32_t* label, std::size_t n, double* brier_high,
                   double* brier_low, ScorecardBlock* sums);
    // From scores and Brier terms up to 1. Scores below least_gridded count as 0; returns whether
    // there are such other than 0.
    bool (*cell_terms)(const double* score, const double* brier_high, const double* brier_low,
                       std::size_t n, CellTerms* terms);
    // Adds terms[i] to sums[cell[i]], for i = 0, 1, ... until that has most_rows rows. Returns how
    // many were added.
    std::size_t (*add_cells)(const CellTerms* terms, const std::uint32_t* cell, std::size_t n,
                             CellTerms* sums);
};

// Of a block of intervals without weights.
struct IntervalTally {
    std::uint64_t below, above;  // rows
    double least_width, largest_width;
};
// Tables of their own, with headers of the same name.
struct BoxKernels;
struct DependenceKernels;
struct EnsembleScoreKernels;
struct PlainSumKernels;
struct DistanceKernels;
struct MmdKernels;
struct RankKernels;
struct EnsembleKernels;
struct GroupCellKernels;

// A function at points that lie a stride apart: lane k of the j-th is its value at k stride + j.
struct alignas(64) SmoothLanes {
    static constexpr std::size_t n = 8;
    double at[n];
};
inline constexpr std::size_t smooth_tile = 3;

// Of sums that `convolve` makes at a time.
inline constexpr std::ptrdiff_t convolution_tile = 32;

struct Kernels {
    // Returns false, with nothing done, if the largest |x| is beyond 2^900 or below 2^-900.
    bool (*sum)(const double* x, std::size_t n, SumBlock* sums, double* rest);

    // x * y = product + error, exactly. Returns false if one of the products is so large or
    // so small that it might not be. x and y finite.
    bool (*products)(const double* x, const double* y, std::size_t n, double* product,
                     double* error);

    // The exact sum of x * y. Returns false, with nothing done, if the products lie so far apart,
    // or from 1, that it might not be. x and y finite.
    bool (*sum_products)(const double* x, const double* y, std::size_t n, ProductBlock* sums);

    void (*risk)(const double* q, std::size_t n, const PrefetchHint& ahead, RiskBlock* sums);

    // log q, rounded to a multiple of 2^-58; of 0, which has none, it is 0. Returns how many
    // are 0. q not negative.
    std::size_t (*logs)(const double* q, std::size_t n, double* high, double* low);

    // The term of q in the mean of power m, (high + low) * 2^exponent, from log q as `logs`
    // gives it before rounding. For m = -2/3 and q >= least_gridded it is rounded to 2^-58,
    // which is what `risk` sums. Returns true if every exponent has been multiplied into high
    // and low, as it is whenever that is exact for all.
    bool (*powers)(const double* q, std::size_t n, Power m, double* high, double* low,
                   double* exponent);

    // The sum of what `powers` gives, for an m that has_direct_terms.
    void (*sum_powers)(const double* q, std::size_t n, double m, PowerBlock* sums);

    // The sums of terms on a grid, as integers: of the high parts in units of 2^-high_bits, of
    // the low ones in units of 2^-low_bits.
    void (*sum_terms)(const double* high, const double* low, std::size_t n, const Grid& grid,
                      std::int64_t* high_sum, std::int64_t* low_sum);

    ScoreKernels scores;
    ScorecardKernels scorecard;
    SpiegelhalterKernels spiegelhalter;

    LabelKernels<std::int64_t> int64_labels;
    LabelKernels<std::int32_t> int32_labels;
    LabelKernels<std::uint8_t> uint8_labels;

    // Of n rows of `width` >= 2 values: the largest, and 1 where labels[i], below width, is the
    // first class that has it, 0 elsewhere. Returns false if some value is not in [0, 1].
    bool (*top_label)(const double* values, std::size_t width, const std::int32_t* labels,
                      std::size_t n, double* score, std::int32_t* hit);
    bool (*top_label_of_floats)(const float* values, std::size_t width, const std::int32_t* labels,
                                std::size_t n, double* score, std::int32_t* hit);

    // Clips p to [q_lim, 1 - q_lim]. Returns false if some p is not in [0, 1]. q may be p.
    bool (*clip)(const double* p, std::size_t n, double q_lim, double* q);

    // score = high 2^-40 + low 2^-80, as integers, for scores in [least_gridded, 1]; both are 0
    // for smaller ones. Returns whether there are such other than 0.
    bool (*split)(const double* score, std::size_t n, std::int64_t* high, std::int64_t* low);

    // place_of_score of each (score_cells.hpp).
    void (*places)(const double* score, std::size_t n, std::uint32_t* cell, std::int64_t* offset);
    void (*cells)(const double* score, std::size_t n, std::uint32_t* cell);

    // Of interval_rows.hpp, in place: lower becomes the width and upper the excess of y; without
    // y, the excess of lower, which is 0. Returns false if some value is bad.
    bool (*intervals)(const double* y, std::size_t n, bool swap, double* lower, double* upper);
    // From what the former made; distance is the magnitude of the excess. Of no rows the widths
    // are infinite and 0.
    void (*tally_intervals)(const double* width, const double* excess, std::size_t n,
                            double* distance, IntervalTally* tally);

    // Of n >= 1 finite values; -0.0 counts as 0.
    void (*range)(const double* x, std::size_t n, double* least, double* largest);

    const BoxKernels* boxes;
    const DependenceKernels* dependence;
    const EnsembleScoreKernels* ensemble_scores;
    const PlainSumKernels* plain_sums;
    const DistanceKernels* distances;
    const MmdKernels* mmd;
    const RankKernels* ranks;
    const EnsembleKernels* ensemble;
    const GroupCellKernels* group_cells;
    // f[j] = taps[0] g[j] + the sum over d = 1, ..., n_taps - 1 of taps[d] (g[j - d] + g[j + d]),
    // added in that order, in each lane; j < stride, a multiple of smooth_tile.
    void (*smooth)(const SmoothLanes* g, std::size_t stride, const double* taps, std::size_t n_taps,
                   SmoothLanes* f);

    // out[j] = the sum over i of f[i] w[j + offset - i], added in the order of i, where w is 0
    // outside [0, n_w). Reads such zeros: as many as a tile has, on either side. Writes whole
    // tiles.
    void (*convolve)(const double* f, std::ptrdiff_t n_f, const double* w, std::ptrdiff_t n_w,
                     std::ptrdiff_t offset, double* out, std::ptrdiff_t n_out);

    void (*log)(const double* x, std::size_t n, double* result);
    void (*exp)(const double* x, std::size_t n, double* result);
    void (*power)(const double* x, std::size_t n, Power m, double* result);
};

// The table of the instruction set in force.
const Kernels& kernels();

}  // namespace calibrant
