// The kernels of scorecard.hpp, for rows without weights. Included by the sources of
// kernels only, and under their rules. (risk_loops.hpp has the terms of the risk profile.)
#pragma once

#include "kernels/loops/kernel_parts.hpp"
#include "kernels/loops/score_loops.hpp"

namespace calibrant {
namespace {

// Whether all values were 0, or large enough for a CutSum with three cuts from 2^-50 on.
class LeastPositive {
public:
    [[gnu::always_inline]] void see(double x) {
        const std::uint64_t before = bits_of(x) - 1;  // of 0 it is the largest number
        least_ = before < least_ ? before : least_;
    }
    [[nodiscard]] bool is_fine() const { return least_ >= bits_of(0x1p-102) - 1; }

private:
    std::uint64_t least_ = ~std::uint64_t{0};
};

// One loop for all: the root and the quotient of the spherical score take long, and the additions
// of the others fit in meanwhile.
bool scorecard_scores(const double* __restrict p, const std::int32_t* __restrict label,
                      std::size_t n, double* __restrict brier_high, double* __restrict brier_low,
                      ScorecardBlock* sums) {
    std::uint64_t b_high = 0, b_low = 0, s_high = 0, s_low = 0, right = 0;
    CutSum<50, 3> brier_squares, spherical_squares, spread;
    LeastPositive least_brier, least_spherical, least_spread;
    for (std::size_t i = 0; i < n; ++i) {
        const double x = p[i];
        const Rounded b = brier_term(x, label[i]);
        brier_high[i] = b.high;
        brier_low[i] = b.low;
        b_high += bits_of(b.high + snap_shift<30>);
        b_low += bits_of(b.low + snap_shift<80>);
        const double brier_square = (b.high + b.low) * (b.high + b.low);
        brier_squares.add(brier_square);
        least_brier.see(brier_square);

        const Rounded s = spherical_term(x, label[i]);
        s_high += bits_of(s.high + snap_shift<30>);
        s_low += bits_of(s.low + snap_shift<80>);
        const double spherical_square = (s.high + s.low) * (s.high + s.low);
        spherical_squares.add(spherical_square);
        least_spherical.see(spherical_square);

        const double slope = 1.0 - 2.0 * x;
        const double variance = slope * slope * (x * (1.0 - x));
        spread.add(variance);
        least_spread.see(variance);
        right += (x >= 0.5 ? 1U : 0U) ^ static_cast<std::uint64_t>(label[i]) ^ 1U;
    }
    *sums = {unshift(b_high, n, snap_shift<30>),
             unshift(b_low, n, snap_shift<80>),
             unshift(s_high, n, snap_shift<30>),
             unshift(s_low, n, snap_shift<80>),
             brier_squares.block(n),
             spherical_squares.block(n),
             spread.block(n),
             right};
    return least_brier.is_fine() && least_spherical.is_fine() && least_spread.is_fine();
}

// x 2^grid, for an x on that grid.
template <int grid>
[[gnu::always_inline]] inline std::int64_t multiple(double x) {
    return static_cast<std::int64_t>(bits_of(x + snap_shift<grid>) - bits_of(snap_shift<grid>));
}

bool cell_terms(const double* __restrict score, const double* __restrict brier_high,
                const double* __restrict brier_low, std::size_t n, CellTerms* __restrict terms) {
    std::uint64_t left_out = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const double x = select(score[i] < least_gridded, 0.0, score[i]);
        left_out |= bits_of(score[i] - x);
        const double high = snap<40>(x);
        terms[i].row_and_score = CellTerms::one_row + multiple<40>(high);
        terms[i].score_low = multiple<80>(x - high);
        terms[i].square_high = multiple<30>(brier_high[i]);
        terms[i].square_low = multiple<80>(brier_low[i]);
    }
    return left_out != 0;
}

std::size_t add_cells(const CellTerms* __restrict terms, const std::uint32_t* __restrict cell,
                      std::size_t n, CellTerms* __restrict sums) {
    // Unsigned: a cell that is full turns its first word negative, which says so.
    using CellWords = std::uint64_t __attribute__((vector_size(sizeof(CellTerms))));
    static_assert(CellTerms::most_rows * std::uint64_t{CellTerms::one_row} == std::uint64_t{1}
                                                                                  << 63);
    for (std::size_t i = 0; i < n; ++i) {
        CellWords row, sum;
        __builtin_memcpy(&row, &terms[i], sizeof row);
        __builtin_memcpy(&sum, &sums[cell[i]], sizeof sum);
        sum += row;
        __builtin_memcpy(&sums[cell[i]], &sum, sizeof sum);
        if (sum[0] >> 63 != 0) return i + 1;
    }
    return n;
}

}  // namespace
}  // namespace calibrant
