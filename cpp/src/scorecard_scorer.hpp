// How rows become sums of a Scorecard: ScorecardScorer turns a block of rows into terms and adds
// them to a ScorecardTally, one for each thread and group.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "calibrant/scorecard.hpp"
#include "score_terms.hpp"

namespace calibrant {

// What one thread has of one scorecard: the sums so far, and integers yet to be added to them.
class ScorecardTally {
public:
    ScorecardTally(const Scorecard& parameters, const Events& events)
        : card_(parameters.empty()), cells_(card_.cells_.size()) {
        card_.columns_ = events.is_matrix ? events.y_proba.width : 1;
        if (events.is_matrix) {
            card_.class_weight_.resize(card_.columns_);
            card_.class_brier_.resize(card_.columns_);
            classes_.resize(card_.columns_);
        }
    }

    // Rows in which a value was missing.
    void omit(std::size_t rows) { card_.omitted_ += rows; }

    void finish_into(Scorecard& total) {
        for (std::size_t i = 0; i < cells_.size(); ++i) flush_cell(i);
        for (std::size_t j = 0; j < classes_.size(); ++j) flush_class(j);
        total.merge(card_);
    }

private:
    friend class ScorecardScorer;

    // The 64-bit sums hold this many rows: a term is up to 2^20 (of so many classes), which is
    // 2^50 units of the grid.
    static constexpr std::int64_t rows_before_flush = std::int64_t{1} << 12;

    struct Counts {
        std::int64_t n = 0, score_high = 0, score_low = 0, square_high = 0, square_low = 0;
    };

    void flush_cell(std::size_t i) {
        Counts& counts = cells_[i];
        Scorecard::Cell& cell = card_.cells_[i];
        cell.n += static_cast<std::uint64_t>(counts.n);
        cell.weight.add(static_cast<Int128>(counts.n), 0);
        cell.scores.add((static_cast<Int128>(counts.score_high) << 40) + counts.score_low, -80);
        cell.squares.add((static_cast<Int128>(counts.square_high) << 50) + counts.square_low, -80);
        counts = {};
    }

    void flush_class(std::size_t j) {
        Counts& counts = classes_[j];
        card_.class_weight_[j].add(static_cast<Int128>(counts.n), 0);
        card_.class_brier_[j].add(
            (static_cast<Int128>(counts.square_high) << 50) + counts.square_low, -80);
        counts = {};
    }

    Scorecard card_;
    std::vector<Counts> cells_, classes_;  // of rows without weights
};

// Adds blocks of rows to tallies. It holds the intermediate results of a block, so there is one
// for each thread, however many groups there are.
class ScorecardScorer {
public:
    explicit ScorecardScorer(const Events& events)
        : terms_(events),
          weighted_(events.sample_weight != nullptr),
          width_(events.is_matrix ? events.y_proba.width : 0) {}

    // `ahead` is what will be read next: it is asked for between the steps.
    void add(ScorecardTally& tally, OutcomeBlock& block, const Ahead& ahead = {}) {
        tally_ = &tally;
        block_ = &block;
        n_ = block.n;
        card().n_ += n_;
        terms_.look_at(block);
        terms_.true_class(card().q_lim_, q_);
        prefetch(ahead, 0, 6);
        find_scores();
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
        terms_.spherical(high_, low_);
        add_gridded(Scorecard::spherical, score_grid);
    }

private:
    [[nodiscard]] Scorecard& card() { return tally_->card_; }

    // Also whether the most probable class happened; of two, 1 is it from 1/2 on.
    void find_scores() {
        if (width_ == 0) {
            score_ = block_->p.data();
            hit_ = block_->label;
            for (std::size_t i = 0; i < n_; ++i) {
                right_[i] = 1 ^ static_cast<std::int32_t>(score_[i] >= 0.5) ^ hit_[i];
            }
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

    void add_right() {
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
        add_gridded(Scorecard::log, log_grid);
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
        ExactSum& sum = card().sums_[Scorecard::power];
        ExactSum& squares = card().squares_[Scorecard::power];
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
            ScorecardTally::Counts& counts = tally_->classes_[label];
            counts.square_high += multiple<30>(high_[i]);
            counts.square_low += multiple<80>(low_[i]);
            if (++counts.n == ScorecardTally::rows_before_flush) tally_->flush_class(label);
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
        const bool tiny = kernels().split(score_, n_, score_high_, score_low_);
        for (std::size_t i = 0; i < n_; ++i) {
            ScorecardTally::Counts& counts = tally_->cells_[cell_[i]];
            counts.score_high += score_high_[i];
            counts.score_low += score_low_[i];
            counts.square_high += multiple<30>(high_[i]);
            counts.square_low += multiple<80>(low_[i]);
            if (++counts.n == ScorecardTally::rows_before_flush) tally_->flush_cell(cell_[i]);
        }
        for (std::size_t i = 0; tiny && i < n_; ++i) {
            if (score_[i] < least_gridded) card().cells_[cell_[i]].scores.add(score_[i]);
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
    ScorecardTally* tally_ = nullptr;
    OutcomeBlock* block_ = nullptr;
    std::size_t n_ = 0;
    std::uint32_t cell_[block_rows];
    const double* score_ = nullptr;
    const std::int32_t* hit_ = nullptr;
    std::int32_t right_[block_rows];
    alignas(64) double top_score_[block_rows], q_[block_rows], square_[block_rows];
    alignas(64) double high_[block_rows], low_[block_rows], exponent_[block_rows];
    alignas(64) std::int64_t score_high_[block_rows], score_low_[block_rows];
};

}  // namespace calibrant
