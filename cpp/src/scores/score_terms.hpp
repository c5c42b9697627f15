// The terms of the scores for a block of rows, each high + low on the score_grid, for either
// shape of y_proba. Shared by all that sum them, so that they sum the same.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "calibrant/rows/events.hpp"
#include "kernels/kernels.hpp"
#include "rows/event_blocks.hpp"

namespace calibrant {

class ScoreTerms {
public:
    explicit ScoreTerms(const Events& events)
        : is_matrix_(events.is_matrix), width_(events.y_proba.width) {}

    // Reads a block, which must stay as it is until the last term has been computed.
    void look_at(OutcomeBlock& block) {
        block_ = &block;
        squares_known_ = false;
        if (!is_matrix_ || width_ == 0) return;
        for (std::size_t i = 0; i < block.n; ++i) {
            q_[i] = block.p[i * width_ + static_cast<std::size_t>(block.label[i])];
        }
    }

    // The probability given to the outcome, clipped to [q_lim, 1 - q_lim].
    void true_class(double q_lim, double* q) const {
        // Checked already: neither kernel can find a bad value.
        if (is_matrix_) {
            (void)kernels().clip(q_, block_->n, q_lim, q);
        } else {
            (void)kernels().int32_labels.true_class(block_->p.data(), block_->label, block_->n,
                                                    q_lim, q);
        }
    }

    void brier(double* high, double* low) {
        const ScoreKernels& kernel = kernels().scores;
        if (!is_matrix_) {
            kernel.brier(block_->p.data(), block_->label, block_->n, high, low);
            return;
        }
        find_squares();
        kernel.brier_of_squares(q_, squares_high_, squares_low_, block_->n, high, low);
    }

    // To be computed last: it may scale rows of the block.
    void spherical(double* high, double* low) {
        const ScoreKernels& kernel = kernels().scores;
        if (!is_matrix_) {
            kernel.spherical(block_->p.data(), block_->label, block_->n, high, low);
            return;
        }
        find_squares();
        for (std::size_t i = 0; i < block_->n; ++i) {
            if (squares_high_[i] < least_squares) enlarge_row(i);
        }
        kernel.spherical_of_squares(q_, squares_high_, squares_low_, block_->n, high, low);
    }

private:
    // Below this sum of squares the grid of 2^-80 is too coarse for the spherical score. Rows of
    // at most most_classes values that sum to 1 have more.
    static constexpr double least_squares = 0x1p-20;

    void find_squares() {
        if (squares_known_) return;
        kernels().scores.row_squares(block_->p.data(), block_->n, width_, squares_high_,
                                     squares_low_);
        squares_known_ = true;
    }

    // The spherical score does not depend on a row's scale: a power of two, which is exact,
    // brings the largest value into [1/2, 1).
    void enlarge_row(std::size_t i) {
        double* const row = &block_->p[i * width_];
        const double largest = *std::max_element(row, row + width_);
        if (largest == 0.0) {
            squares_high_[i] = 1.0;
            return;
        }
        const int exponent = std::ilogb(largest) + 1;
        for (std::size_t j = 0; j < width_; ++j) row[j] = std::ldexp(row[j], -exponent);
        q_[i] = std::ldexp(q_[i], -exponent);
        kernels().scores.row_squares(row, 1, width_, &squares_high_[i], &squares_low_[i]);
    }

    bool is_matrix_;
    std::size_t width_;
    OutcomeBlock* block_ = nullptr;
    bool squares_known_ = false;
    alignas(64) double q_[block_rows];  // (n, k) only: the probability of the label
    alignas(64) double squares_high_[block_rows], squares_low_[block_rows];
};

}  // namespace calibrant
