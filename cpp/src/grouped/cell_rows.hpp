// Rows as they are added to the cells of groups (group_cells.hpp), block by block. Included by
// fill_cells.cpp only.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "calibrant/calibration/bins.hpp"
#include "calibrant/rows/events.hpp"
#include "calibrant/rows/scored_rows.hpp"
#include "grouped/group_cells.hpp"
#include "kernels/kernels.hpp"
#include "rows/event_blocks.hpp"
#include "rows/scored_blocks.hpp"
#include "scores/score_terms.hpp"

namespace calibrant {
namespace {

const GroupCellKernels& loops() { return *kernels().group_cells; }

// Some rows, and what each adds to the cells of its group:
//     load(begin, count)   count <= most_rows(); false if one of them is bad
//     make(words)          returns whether there are rows that do not fit into a cell
//     fits(i)              whether row i does; asked only if not all do
//     bins()               which cell of its group each belongs to; null: the first
template <class State>
class CellRows;

template <>
class CellRows<ScoreSums> {
public:
    CellRows(const ScoreSums& parameters, const Events& events)
        : scores_(parameters.scores()),
          q_lim_(parameters.q_lim()),
          events_(events),
          block_(events),
          terms_(events) {}

    [[nodiscard]] std::size_t most_rows() const { return block_.most_rows; }
    [[nodiscard]] bool load(std::size_t begin, std::size_t count) {
        return load_outcomes(events_, begin, count, block_);
    }
    [[nodiscard]] std::size_t n() const { return block_.n; }
    [[nodiscard]] std::size_t omitted() const { return block_.omitted; }
    [[nodiscard]] static bool fits(std::size_t) { return true; }
    [[nodiscard]] static const std::uint32_t* bins() { return nullptr; }

    bool make(CellWords* words) {
        terms_.look_at(block_);
        terms_.true_class(q_lim_, q_);
        if (scores_.has(Score::log)) {
            (void)kernels().logs(q_, block_.n, high_[1], low_[1]);
        } else {
            std::fill_n(q_, block_.n, 1.0);  // zeros count for the log score only
        }
        const bool spherical = scores_.has(Score::spherical);
        if (!events_.is_matrix && scores_.has(Score::brier)) {
            const auto of = spherical ? loops().of_binary_spherical : loops().of_binary;
            of(block_.p.data(), block_.label, q_, high_[1], low_[1], block_.n, words);
            return false;
        }
        if (scores_.has(Score::brier)) terms_.brier(high_[0], low_[0]);
        if (spherical) terms_.spherical(high_[2], low_[2]);
        const double* const high[] = {high_[0], high_[1], spherical ? high_[2] : nullptr};
        const double* const low[] = {low_[0], low_[1], low_[2]};
        loops().of_scores(high, low, block_.label, q_, block_.n, words);
        return false;
    }

    // Of more than two classes, in further cells; before the words are added, so that none is left
    // behind in a group whose rows have been moved.
    void count_classes(const std::int64_t* first, CellWords* cells) const {
        if (events_.n_classes() <= 2) return;
        const std::int64_t before = scores_.has(Score::spherical) ? 2 : 1;
        for (std::size_t i = 0; i < block_.n; ++i) {
            const std::int64_t label = block_.label[i];
            if (first[i] >= 0) ++cells[first[i] + before + label / 4].at[label % 4];
        }
    }

private:
    ScoreSet scores_;
    double q_lim_;
    const Events& events_;
    OutcomeBlock block_;
    ScoreTerms terms_;
    alignas(64) double q_[block_rows];
    alignas(64) double high_[n_scores][block_rows] = {}, low_[n_scores][block_rows] = {};
};

template <>
class CellRows<RiskProfile> {
public:
    CellRows(const RiskProfile& parameters, const Events& events)
        : q_lim_(parameters.q_lim()), events_(events) {}

    [[nodiscard]] static std::size_t most_rows() { return block_rows; }
    [[nodiscard]] bool load(std::size_t begin, std::size_t count) {
        return load_events(events_, begin, count, q_lim_, block_);
    }
    [[nodiscard]] std::size_t n() const { return block_.n; }
    [[nodiscard]] std::size_t omitted() const { return block_.omitted; }
    [[nodiscard]] bool fits(std::size_t i) const {
        return block_.q[i] >= least_gridded || block_.q[i] == 0.0;
    }
    [[nodiscard]] static const std::uint32_t* bins() { return nullptr; }

    bool make(CellWords* words) { return loops().of_risk(block_.q, block_.n, words); }

private:
    double q_lim_;
    const Events& events_;
    EventBlock block_;
};

template <>
class CellRows<Spiegelhalter> {
public:
    CellRows(const Spiegelhalter&, const Events& events)
        : rows_(binary_or_top_label(events)), block_(rows_) {}

    [[nodiscard]] std::size_t most_rows() const { return block_.most_rows(); }
    [[nodiscard]] bool load(std::size_t begin, std::size_t count) {
        return block_.load(rows_, begin, count);
    }
    [[nodiscard]] std::size_t n() const { return block_.n(); }
    [[nodiscard]] std::size_t omitted() const { return block_.omitted(); }
    [[nodiscard]] bool fits(std::size_t i) const {
        double terms[4];  // excess and variance, high and low
        kernels().spiegelhalter.terms(block_.score() + i, block_.hit() + i, 1, &terms[0], &terms[1],
                                      &terms[2], &terms[3]);
        return !(terms[2] > 0.0 && terms[2] < least_gridded_variance);
    }
    [[nodiscard]] static const std::uint32_t* bins() { return nullptr; }

    bool make(CellWords* words) {
        return loops().of_spiegelhalter(block_.score(), block_.hit(), block_.n(), words);
    }

private:
    ScoredRows rows_;
    ScoredBlock block_;
};

template <>
class CellRows<Reliability> {
public:
    CellRows(const Reliability& parameters, const Events& events)
        : bins_(parameters.bins()), rows_(binary_or_top_label(events)), block_(rows_) {}

    [[nodiscard]] std::size_t most_rows() const { return block_.most_rows(); }
    [[nodiscard]] bool load(std::size_t begin, std::size_t count) {
        return block_.load(rows_, begin, count);
    }
    [[nodiscard]] std::size_t n() const { return block_.n(); }
    [[nodiscard]] std::size_t omitted() const { return block_.omitted(); }
    [[nodiscard]] bool fits(std::size_t i) const {
        return block_.score()[i] >= least_gridded || block_.score()[i] == 0.0;
    }
    [[nodiscard]] const std::uint32_t* bins() const { return bin_; }

    bool make(CellWords* words) {
        bins_.locate(block_.score(), block_.n(), bin_);
        return loops().of_bins(block_.score(), block_.hit(), block_.n(), words);
    }

private:
    Bins bins_;
    ScoredRows rows_;
    ScoredBlock block_;
    std::uint32_t bin_[block_rows];
};

}  // namespace
}  // namespace calibrant
