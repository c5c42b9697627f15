// ScoreTable: per score cell (score_cells.hpp) the rows, their weight, the weight of hits, the
// sums of the scores of all and of hits, and the least and greatest score. What needs order,
// such as equal-count bins, is read off it with bounds (score_bounds.hpp); a cell whose least
// and greatest scores agree is one tie, and nothing about it is uncertain. Where y_proba has shape
// (n,) it also keeps the generalized means of the probabilities of what happened.
//
// All sums are exact: any order of rows, batches and merges gives the same bytes. Memory is
// O(cells): 3.1 MB where all rows have weight 1, some 15 MB with ordinary weights, more where
// weights span hundreds of orders of magnitude. A table that has seen few cells is a short list,
// so that small updates are cheap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "calibrant/assessment.hpp"
#include "calibrant/bytes.hpp"
#include "calibrant/means.hpp"
#include "calibrant/parallel.hpp"
#include "calibrant/score_cells.hpp"
#include "calibrant/scored_rows.hpp"
#include "calibrant/sum.hpp"

namespace calibrant {

class ScoreTable {
public:
    static constexpr Kind kind = Kind::score_table;

    // Of rows with weight 1: `ones`, `hits` and offsets, in the cell's units. Of rows with other
    // positive weights, and of the scores in the two lowest cells: Sums.
    struct Cell {
        std::uint32_t cell = 0;
        std::uint32_t part = 0;   // 1: the upper of two parts of a cell, of pairs() only
        std::uint64_t n = 0;      // rows with positive weight
        std::uint64_t zeros = 0;  // rows with weight 0
        std::uint64_t ones = 0, hits = 0;
        Int128 offsets = 0, hit_offsets = 0;
        double least = 1.0, greatest = 0.0;  // of rows with positive weight

        void merge(const Cell& other);
        [[nodiscard]] bool empty() const { return n == 0 && zeros == 0; }
        [[nodiscard]] std::uint32_t key() const {  // of its Sums
            return cell + part * static_cast<std::uint32_t>(n_score_cells);
        }
    };

    // As exact numbers: weights, of all and of hits, and sums of weight * score.
    struct Sums {
        ExactSum weight, hits, scores, hit_scores;

        void merge(const Sums& other);
        [[nodiscard]] Sums mirrored() const;
        [[nodiscard]] bool is_zero() const;
    };

    // What the weights other than 0 and 1 look like: how many, the largest, and the lowest bit
    // set in any of them.
    struct Weights {
        std::uint64_t n = 0;
        double largest = 0.0;
        std::int64_t lowest_bit = 0;

        void add(double weight);
        void merge(const Weights& other);
    };

    [[nodiscard]] ScoreTable empty() const { return {}; }

    // As RiskProfile::update. The first rows decide the shape of y_proba; merge throws
    // InvalidInput, and changes nothing, if the other's is different.
    void update(const ScoredRows& rows, std::uint64_t rows_before, Poll poll);
    void merge(const ScoreTable& other);

    [[nodiscard]] std::uint64_t count() const { return n_; }
    [[nodiscard]] std::uint64_t omitted() const { return omitted_; }
    [[nodiscard]] const Weights& weights() const { return weights_; }
    // Of y_proba: 1 for shape (n,), k for (n, k), 0 before the first row.
    [[nodiscard]] std::uint64_t columns() const { return columns_; }
    // With one column, as risk_profile has it; else of no rows.
    [[nodiscard]] const RiskProfile& model() const { return model_; }
    // With one column: the table of all pairs (score, hit) and (1 - score, not hit), to be read
    // and not to be merged. Where all of the one kind in a cell lie below all of the other, such
    // as 0.3 and 1 - 0.7, they are two parts of it. All is exact but the sums of scores, which
    // take 1 - score as it is before rounding, and in which part rows of weight 0 are.
    [[nodiscard]] ScoreTable pairs() const;

    // The cells that hold rows, in order of their scores.
    [[nodiscard]] std::vector<const Cell*> filled() const;
    // Adds what the rows of a cell amount to.
    void add_to(Sums& sums, const Cell& cell) const;

    [[nodiscard]] std::string to_bytes() const;
    static ScoreTable from_bytes(std::string_view bytes);

private:
    friend class ScoreTableWorker;

    // A list of cells becomes an array of all when more is merged into it and it gets longer than
    // a quarter of all; or, if it is no short one, when it would be copied for the sake of a few.
    static constexpr std::size_t always_listed = 512, most_listed = n_score_cells / 4;
    static constexpr std::size_t most_copied = 16;  // cells, for each one that is added

    [[nodiscard]] Cell& at(std::uint32_t cell);  // of a dense table
    [[nodiscard]] bool dense() const { return cells_.size() == n_score_cells; }
    [[nodiscard]] bool is_worth_all(std::size_t added) const;
    void make_dense();
    void merge_cells(const std::vector<Cell>& cells);
    [[nodiscard]] ScoreTable mirrored() const;

    std::uint64_t n_ = 0;
    std::uint64_t omitted_ = 0;
    std::uint64_t columns_ = 0;
    RiskProfile model_ = named_profile(0.0);
    Weights weights_;
    std::vector<Cell> cells_;  // all of them, or some in order of their numbers
    std::map<std::uint32_t, Sums> sums_;
};

}  // namespace calibrant
