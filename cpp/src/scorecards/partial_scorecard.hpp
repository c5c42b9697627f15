// PartialScorecard: what one thread has of one scorecard.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "calibrant/scorecards/scorecard.hpp"
#include "kernels/kernels.hpp"

namespace calibrant {

// What one thread has of one scorecard: the sums so far, and integers yet to be added to them.
class PartialScorecard {
public:
    PartialScorecard(const Scorecard& parameters, const Events& events)
        : nothing_(parameters.empty()), cells_(nothing_.cells_.size()) {
        nothing_.columns_ = events.is_matrix ? events.y_proba.width : 1;
        if (events.is_matrix) {
            nothing_.class_weight_.resize(nothing_.columns_);
            nothing_.class_brier_.resize(nothing_.columns_);
            classes_.resize(nothing_.columns_);
        }
        card_ = nothing_;
    }

    // Rows in which a value was missing.
    void omit(std::size_t rows) { card_.omitted_ += rows; }

    // The rows so far, to begin anew.
    [[nodiscard]] Scorecard take() {
        for (std::size_t i = 0; i < cells_.size(); ++i) flush_cell(i);
        for (std::size_t j = 0; j < classes_.size(); ++j) flush_class(j);
        return std::exchange(card_, nothing_);
    }

    void finish_into(Scorecard& total) { total.merge(take()); }

private:
    friend class BlockScorer;

    // The 64-bit sums hold this many rows: a term is up to 2^20 (of so many classes), which is
    // 2^50 units of the grid.
    static constexpr std::int64_t rows_before_flush = std::int64_t{1} << 12;

    struct Counts {
        std::int64_t n = 0, square_high = 0, square_low = 0;
    };

    void flush_cell(std::size_t i) {
        CellTerms& sums = cells_[i];
        if (sums.row_and_score == 0) return;  // no rows
        Scorecard::Cell& cell = card_.cells_[i];
        const auto packed = static_cast<std::uint64_t>(sums.row_and_score);
        const auto n = packed / CellTerms::one_row;
        cell.n += n;
        cell.weight.add(static_cast<Int128>(n), 0);
        const auto score_high = static_cast<Int128>(packed % CellTerms::one_row);
        cell.scores.add((score_high << 40) + sums.score_low, -80);
        cell.squares.add((static_cast<Int128>(sums.square_high) << 50) + sums.square_low, -80);
        sums = {};
    }

    void flush_class(std::size_t j) {
        Counts& counts = classes_[j];
        card_.class_weight_[j].add(static_cast<Int128>(counts.n), 0);
        card_.class_brier_[j].add(
            (static_cast<Int128>(counts.square_high) << 50) + counts.square_low, -80);
        counts = {};
    }

    Scorecard nothing_, card_{nothing_};
    std::vector<CellTerms> cells_;  // of rows without weights, as are the
    std::vector<Counts> classes_;
};

}  // namespace calibrant
