// BlockScorer turns blocks of rows into terms, and sums these up: what one thread has of one
// scorecard.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "calibrant/scorecards/scorecard.hpp"
#include "kernels/kernels.hpp"
#include "rows/event_blocks.hpp"
#include "scorecards/scorecard_sums.hpp"
#include "scores/score_terms.hpp"

namespace calibrant {

class BlockScorer {
public:
    BlockScorer(const Scorecard& parameters, const Events& events)
        : bins_(parameters.reliability().bins()),
          q_lim_(parameters.q_lim()),
          terms_(events),
          weighted_(events.sample_weight != nullptr),
          width_(events.is_matrix ? events.y_proba.width : 0),
          bin_sums_(2 * bins_.size()) {
        nothing_.columns = events.is_matrix ? width_ : 1;
        nothing_.cells.resize(bin_sums_.size());
        nothing_.class_weight.resize(width_);
        nothing_.class_brier.resize(width_);
        class_sums_.resize(width_);
        sums_ = nothing_;
    }

    // `ahead` is what will be read next: it is asked for between the steps.
    void add(OutcomeBlock& block, const PrefetchHint& ahead) {
        block_ = &block;
        n_ = block.n;
        sums_.rows.n += n_;
        sums_.rows.omitted += block.omitted;
        terms_.look_at(block);
        terms_.true_class(q_lim_, q_);
        find_scores();
        if (!weighted_ && width_ == 0) {
            add_binary(ahead);
        } else {
            add_general(ahead);
        }
    }

    // The rows so far, to begin anew.
    [[nodiscard]] ScorecardSums take() {
        for (std::size_t i = 0; i < bin_sums_.size(); ++i) flush_cell(i);
        for (std::size_t j = 0; j < class_sums_.size(); ++j) flush_class(j);
        return std::exchange(sums_, nothing_);
    }

private:
    // The 64-bit sums hold this many rows: a term is up to 2^20 (of so many classes), which is
    // 2^50 units of the grid.
    static constexpr std::int64_t rows_before_flush = std::int64_t{1} << 12;

    struct ClassSums {
        std::int64_t n = 0, square_high = 0, square_low = 0;
    };

    void flush_cell(std::size_t i) {
        CellTerms& terms = bin_sums_[i];
        if (terms.row_and_score == 0) return;  // no rows
        ScorecardSums::Cell& cell = sums_.cells[i];
        const auto packed = static_cast<std::uint64_t>(terms.row_and_score);
        const auto n = packed / CellTerms::one_row;
        cell.n += n;
        cell.weight.add(static_cast<Int128>(n), 0);
        const auto score_high = static_cast<Int128>(packed % CellTerms::one_row);
        cell.scores.add((score_high << 40) + terms.score_low, -80);
        cell.squares.add((static_cast<Int128>(terms.square_high) << 50) + terms.square_low, -80);
        terms = {};
    }

    void flush_class(std::size_t j) {
        ClassSums& of_class = class_sums_[j];
        sums_.class_weight[j].add(static_cast<Int128>(of_class.n), 0);
        sums_.class_brier[j].add(
            (static_cast<Int128>(of_class.square_high) << 50) + of_class.square_low, -80);
        of_class = {};
    }

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
        sums_.right.add(static_cast<Int128>(sums.right), 0);
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
        add_squares(sums_.spread, sums.spread);
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
        sums_.terms[term].add(total, -grid);
        add_squares(sums_.squares[term], squares);
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
            sums_.right.add_products(block_->weight, square_, n_);
            return;
        }
        std::int32_t count = 0;
        for (std::size_t i = 0; i < n_; ++i) count += right_[i];
        sums_.right.add(static_cast<Int128>(count), 0);
    }

    void add_risk() {
        add_block(sums_.terms[Scorecard::q], q_);
        for (std::size_t i = 0; i < n_; ++i) square_[i] = q_[i] * q_[i];
        add_block(sums_.squares[Scorecard::q], square_);

        // A q of 0 has no logarithm and no power: zeros are counted, and decide the means.
        const std::size_t zeros = kernels().logs(q_, n_, high_, low_);
        for (std::size_t i = 0; zeros != 0 && i < n_; ++i) {
            const bool counts = !weighted_ || block_->weight[i] != 0.0;
            if (q_[i] == 0.0 && counts) ++sums_.rows.zeros;
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
        ExactSum& sum = sums_.terms[Scorecard::power_q];
        ExactSum& squares = sums_.squares[Scorecard::power_q];
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
        ExactSum& sum = sums_.terms[term];
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
        add_block(sums_.squares[term], square_);
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
                sums_.class_weight[label].add(block_->weight[i]);
                sums_.class_brier[label].add_product(block_->weight[i], high_[i]);
                sums_.class_brier[label].add_product(block_->weight[i], low_[i]);
                continue;
            }
            ClassSums& of_class = class_sums_[label];
            of_class.square_high += multiple<30>(high_[i]);
            of_class.square_low += multiple<80>(low_[i]);
            if (++of_class.n == rows_before_flush) flush_class(label);
        }
    }

    // While high_ and low_ are (score - hit)^2.
    void add_cells() {
        bins_.locate(score_, n_, cell_);
        for (std::size_t i = 0; i < n_; ++i) {
            cell_[i] = 2 * cell_[i] + static_cast<std::uint32_t>(hit_[i]);
        }
        if (weighted_) {
            add_weighted_cells();
            return;
        }
        const bool tiny = kernels().scorecard.cell_terms(score_, high_, low_, n_, cell_terms_);
        for (std::size_t i = 0; i < n_;) {
            i +=
                kernels().scorecard.add_cells(&cell_terms_[i], &cell_[i], n_ - i, bin_sums_.data());
            const bool is_full = bin_sums_[cell_[i - 1]].row_and_score < 0;
            if (is_full) flush_cell(cell_[i - 1]);
        }
        for (std::size_t i = 0; tiny && i < n_; ++i) {
            if (score_[i] < least_gridded) sums_.cells[cell_[i]].scores.add(score_[i]);
        }
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
            ScorecardSums::Cell& cell = sums_.cells[cell_[i]];
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
        add_block(sums_.spread, square_);
    }

    Bins bins_;
    double q_lim_;
    ScoreTerms terms_;
    bool weighted_;
    std::size_t width_;  // 0 for shape (n,)
    ScorecardSums nothing_, sums_;
    std::vector<CellTerms> bin_sums_;  // of rows without weights, as are the
    std::vector<ClassSums> class_sums_;
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
