// How rows become sums of a Scorecard: BlockScorer turns a block of rows into terms and adds
// them to a PartialScorecard, one for each thread and group.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "calibrant/scorecards/scorecard.hpp"
#include "kernels/kernels.hpp"
#include "rows/event_blocks.hpp"
#include "scorecards/partial_scorecard.hpp"
#include "scores/score_terms.hpp"

namespace calibrant {

// Adds blocks of rows to tallies. It holds the intermediate results of a block, so there is one
// for each thread, however many groups there are.
class BlockScorer {
public:
    explicit BlockScorer(const Events& events)
        : terms_(events),
          weighted_(events.sample_weight != nullptr),
          width_(events.is_matrix ? events.y_proba.width : 0) {}

    // `ahead` is what will be read next: it is asked for between the steps.
    void add(PartialScorecard& partial, OutcomeBlock& block, const PrefetchHint& ahead = {}) {
        partial_ = &partial;
        block_ = &block;
        n_ = block.n;
        card().n_ += n_;
        terms_.look_at(block);
        terms_.true_class(card().q_lim_, q_);
        find_scores();
        if (!weighted_ && width_ == 0) {
            add_binary(ahead);
        } else {
            add_general(ahead);
        }
    }

private:
    [[nodiscard]] Scorecard& card() { return partial_->card_; }

    // Rows of shape (n,) without weights: kernels sum the terms and their squares as they find
    // them. The few rows they cannot take go the general way.
    void add_binary(const PrefetchHint& ahead) {
        RiskBlock risk;
        RiskSquares risk_squares;
        kernels().scorecard.risk(q_, n_, ahead, &risk, &risk_squares);
        add_sums(Scorecard::q, joined(risk.q_high, risk.q_low, 40), 80, risk_squares.q);
        add_sums(Scorecard::log_q, joined(risk.log_high, risk.log_low, 42), 58, risk_squares.log);
        add_sums(Scorecard::power_q, joined(risk.power_high, risk.power_low, 38), 58,
                 risk_squares.power);
        if (risk.tiny != 0) add_tiny();

        ScorecardBlock sums;
        const bool all = kernels().scorecard.scores(score_, hit_, n_, high_, low_, &sums);
        add_cells();
        card().right_.add(static_cast<Int128>(sums.right), 0);
        if (!all) {
            add_gridded(Scorecard::brier, score_grid);
            add_spread();
            add_spherical();
            return;
        }
        add_sums(Scorecard::brier, joined(sums.brier_high, sums.brier_low, 50), 80,
                 sums.brier_squares);
        add_sums(Scorecard::spherical, joined(sums.spherical_high, sums.spherical_low, 50), 80,
                 sums.spherical_squares);
        add_squares(card().spread_, sums.spread);
    }

    void add_tiny() {
        const std::size_t rows = n_;
        n_ = 0;
        for (std::size_t i = 0; i < rows; ++i) {
            if (q_[i] < least_gridded) q_[n_++] = q_[i];
        }
        add_risk();
        n_ = rows;
    }

    static Int128 joined(std::int64_t high, std::int64_t low, int bits) {
        return (static_cast<Int128>(high) << bits) + low;
    }

    // `total` counts units of 2^-grid.
    void add_sums(Scorecard::Term term, Int128 total, int grid, const SquareBlock& squares) {
        card().sums_[term].add(total, -grid);
        add_squares(card().squares_[term], squares);
    }

    static void add_squares(ExactSum& sum, const SquareBlock& squares) {
        const auto& [first, second, third] = squares.sums;
        sum.add(joined(first, second, 52), -(squares.grid + 52));
        sum.add(static_cast<Int128>(third), -(squares.grid + 104));
    }

    void add_general(const PrefetchHint& ahead) {
        prefetch(ahead, 0, 6);
        add_right();
        prefetch(ahead, 1, 6);
        add_risk();
        prefetch(ahead, 2, 6);
        terms_.brier(high_, low_);
        add_gridded(Scorecard::brier, score_grid);
        prefetch(ahead, 3, 6);
        if (width_ != 0) {
            add_classes();
            kernels().scores.brier(score_, hit_, n_, high_, low_);  // of the top label
        }
        add_cells();
        prefetch(ahead, 4, 6);
        add_spread();
        prefetch(ahead, 5, 6);
        add_spherical();
    }

    void add_spherical() {
        terms_.spherical(high_, low_);
        add_gridded(Scorecard::spherical, score_grid);
    }

    void find_scores() {
        if (width_ == 0) {
            score_ = block_->p.data();
            hit_ = block_->label;
            return;
        }
        for (std::size_t i = 0; i < n_; ++i) {
            const double* const values = &block_->p[i * width_];
            const double* const top = std::max_element(values, values + width_);
            top_score_[i] = *top;
            right_[i] = top - values == block_->label[i] ? 1 : 0;
        }
        score_ = top_score_;
        hit_ = right_;
    }

    // The most probable class happened; of two, 1 is it from 1/2 on.
    void add_right() {
        for (std::size_t i = 0; width_ == 0 && i < n_; ++i) {
            right_[i] = 1 ^ static_cast<std::int32_t>(score_[i] >= 0.5) ^ hit_[i];
        }
        if (weighted_) {
            for (std::size_t i = 0; i < n_; ++i) square_[i] = static_cast<double>(right_[i]);
            card().right_.add_products(block_->weight, square_, n_);
            return;
        }
        std::int32_t count = 0;
        for (std::size_t i = 0; i < n_; ++i) count += right_[i];
        card().right_.add(static_cast<Int128>(count), 0);
    }

    void add_risk() {
        add_block(card().sums_[Scorecard::q], q_);
        for (std::size_t i = 0; i < n_; ++i) square_[i] = q_[i] * q_[i];
        add_block(card().squares_[Scorecard::q], square_);

        // A q of 0 has no logarithm and no power: zeros are counted, and decide the means.
        const std::size_t zeros = kernels().logs(q_, n_, high_, low_);
        for (std::size_t i = 0; zeros != 0 && i < n_; ++i) {
            const bool counts = !weighted_ || block_->weight[i] != 0.0;
            if (q_[i] == 0.0 && counts) ++card().zeros_;
        }
        add_gridded(Scorecard::log_q, log_grid);
        add_powers(zeros != 0);
    }

    void add_powers(bool any_zeros) {
        const bool scaled =
            kernels().powers(q_, n_, make_power(-2.0 / 3.0), high_, low_, exponent_);
        for (std::size_t i = 0; any_zeros && i < n_; ++i) {
            if (q_[i] == 0.0) high_[i] = low_[i] = exponent_[i] = 0.0;
        }
        for (std::size_t i = 0; i < n_; ++i) {
            square_[i] = (high_[i] + low_[i]) * (high_[i] + low_[i]);
        }
        ExactSum& sum = card().sums_[Scorecard::power_q];
        ExactSum& squares = card().squares_[Scorecard::power_q];
        if (scaled) {
            add_block(sum, high_);
            add_block(sum, low_);
            add_block(squares, square_);
            return;
        }
        for (std::size_t i = 0; i < n_; ++i) {
            const double w = weighted_ ? block_->weight[i] : 1.0;
            const auto exponent = static_cast<std::int64_t>(exponent_[i]);
            sum.add_product(w, high_[i], exponent);
            sum.add_product(w, low_[i], exponent);
            squares.add_product(w, square_[i], 2 * exponent);
        }
    }

    // The terms high_ + low_, and their squares.
    void add_gridded(Scorecard::Term term, const Grid& grid) {
        ExactSum& sum = card().sums_[term];
        if (weighted_) {
            add_block(sum, high_);
            add_block(sum, low_);
        } else {
            std::int64_t high_sum = 0;
            std::int64_t low_sum = 0;
            kernels().sum_terms(high_, low_, n_, grid, &high_sum, &low_sum);
            sum.add(static_cast<Int128>(high_sum), -grid.high_bits);
            sum.add(static_cast<Int128>(low_sum), -grid.low_bits);
        }
        for (std::size_t i = 0; i < n_; ++i) {
            square_[i] = (high_[i] + low_[i]) * (high_[i] + low_[i]);
        }
        add_block(card().squares_[term], square_);
    }

    void add_block(ExactSum& sum, const double* values) {
        if (weighted_) {
            sum.add_products(block_->weight, values, n_);
        } else {
            sum.add_block(values, n_);
        }
    }

    // While high_ and low_ are the Brier terms.
    void add_classes() {
        for (std::size_t i = 0; i < n_; ++i) {
            const auto label = static_cast<std::size_t>(block_->label[i]);
            if (weighted_) {
                card().class_weight_[label].add(block_->weight[i]);
                card().class_brier_[label].add_product(block_->weight[i], high_[i]);
                card().class_brier_[label].add_product(block_->weight[i], low_[i]);
                continue;
            }
            PartialScorecard::Counts& counts = partial_->classes_[label];
            counts.square_high += multiple<30>(high_[i]);
            counts.square_low += multiple<80>(low_[i]);
            if (++counts.n == PartialScorecard::rows_before_flush) partial_->flush_class(label);
        }
    }

    // While high_ and low_ are (score - hit)^2.
    void add_cells() {
        card().bins_.locate(score_, n_, cell_);
        for (std::size_t i = 0; i < n_; ++i) {
            cell_[i] = 2 * cell_[i] + static_cast<std::uint32_t>(hit_[i]);
        }
        if (weighted_) {
            add_weighted_cells();
            return;
        }
        const bool tiny = kernels().scorecard.cell_terms(score_, high_, low_, n_, cell_terms_);
        for (std::size_t i = 0; i < n_;) {
            i += kernels().scorecard.add_cells(&cell_terms_[i], &cell_[i], n_ - i,
                                               partial_->cells_.data());
            if (is_full(cell_[i - 1])) partial_->flush_cell(cell_[i - 1]);
        }
        for (std::size_t i = 0; tiny && i < n_; ++i) {
            if (score_[i] < least_gridded) card().cells_[cell_[i]].scores.add(score_[i]);
        }
    }

    [[nodiscard]] bool is_full(std::uint32_t cell) const {
        return partial_->cells_[cell].row_and_score < 0;
    }

    // x 2^grid, for an x on that grid.
    template <int grid>
    static std::int64_t multiple(double x) {
        const double shift = detail::snap_shift<grid>;
        return static_cast<std::int64_t>(detail::bits_of(x + shift) - detail::bits_of(shift));
    }

    void add_weighted_cells() {
        for (std::size_t i = 0; i < n_; ++i) {
            const double w = block_->weight[i];
            Scorecard::Cell& cell = card().cells_[cell_[i]];
            ++cell.n;
            cell.weight.add(w);
            cell.scores.add_product(w, score_[i]);
            cell.squares.add_product(w, high_[i]);
            cell.squares.add_product(w, low_[i]);
        }
    }

    void add_spread() {
        for (std::size_t i = 0; i < n_; ++i) {
            const double s = score_[i];
            const double slope = 1.0 - 2.0 * s;
            square_[i] = slope * slope * (s * (1.0 - s));
        }
        add_block(card().spread_, square_);
    }

    ScoreTerms terms_;
    bool weighted_;
    std::size_t width_;  // 0 for shape (n,)
    PartialScorecard* partial_ = nullptr;
    OutcomeBlock* block_ = nullptr;
    std::size_t n_ = 0;
    std::uint32_t cell_[block_rows];
    const double* score_ = nullptr;
    const std::int32_t* hit_ = nullptr;
    std::int32_t right_[block_rows];
    alignas(64) double top_score_[block_rows], q_[block_rows], square_[block_rows];
    alignas(64) double high_[block_rows], low_[block_rows], exponent_[block_rows];
    alignas(64) CellTerms cell_terms_[block_rows];
};

}  // namespace calibrant
