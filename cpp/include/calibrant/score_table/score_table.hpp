// ScoreTable: per score cell (score_cells.hpp) the rows, their weight, the weight of hits, the
// sums of the scores of all and of hits, and the least and greatest score. What needs order,
// such as equal-count bins, is read off it with bounds (score_bounds.hpp); a cell whose least
// and greatest scores agree is one tie, and nothing about it is uncertain. Where y_proba has shape
// (n,) it also keeps the generalized means of the probabilities of the outcome.
//
// A table of pairs counts all pairs (event, class) instead, of any number of classes. It serves the
// assessment; pairs of one event depend on each other, so it is not for tests.
//
// A table of rows, at most `most_listed_rows` of them, omitted ones included, keeps each score
// apart: it has a Cell for each distinct score, a tie, and so nothing about it is uncertain. More
// rows are merged into whole cells. Which of the two it is depends on the number of rows alone.
// Tables that were saved before (version 1 of the state) have whole cells, and so has what they are
// merged with. Tables of pairs always have whole cells.
//
// All sums are exact: any order of rows, batches and merges gives the same bytes. Memory is
// O(cells): 3.1 MB where all rows have weight 1, some 15 MB with ordinary weights, more where
// weights span hundreds of orders of magnitude. A table that has seen few cells is a short list,
// so that small updates are cheap.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "calibrant/means/means.hpp"
#include "calibrant/numeric/sum.hpp"
#include "calibrant/rows/scored_rows.hpp"
#include "calibrant/runtime/parallel.hpp"
#include "calibrant/state/bytes.hpp"

namespace calibrant {

class ScoreTable {
public:
    static constexpr Kind kind = Kind::score_table;

    static constexpr std::uint64_t most_listed_rows = 4096;

    // Cells are in the order of their keys, which is that of their scores.
    struct Key {
        std::uint32_t cell = 0;
        std::uint64_t part = 0;

        friend auto operator<=>(const Key&, const Key&) = default;
    };

    // Of rows with weight 1: `ones`, `hits` and offsets, in the cell's units. Of rows with other
    // positive weights, and of the scores in the two lowest cells: Sums.
    struct Cell {
        std::uint32_t cell = 0;
        // Of one score, its bits. Of a whole cell 0; or 1: the upper of two parts, of pairs() only.
        std::uint64_t part = 0;
        std::uint64_t n = 0;      // rows with positive weight
        std::uint64_t zeros = 0;  // rows with weight 0
        std::uint64_t ones = 0, hits = 0;
        Int128 offsets = 0, hit_offsets = 0;
        double least = 1.0, greatest = 0.0;  // of rows with positive weight

        void merge(const Cell& other);
        [[nodiscard]] bool empty() const { return n == 0 && zeros == 0; }
        [[nodiscard]] Key key() const { return {cell, part}; }
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

    ScoreTable() = default;
    // Throws InvalidInput unless 0 <= q_lim < 1/2.
    static ScoreTable of_all_pairs(double q_lim);
    [[nodiscard]] ScoreTable empty() const;

    // What of these events is counted.
    [[nodiscard]] ScoredRows rows_of(const Events& events) const;
    // As RiskProfile::update; rows are those of rows_of. The first rows decide the shape of
    // y_proba; merge throws InvalidInput, and changes nothing, if the other's is different.
    void update(const ScoredRows& rows, std::uint64_t rows_before, Poll poll);
    void merge(const ScoreTable& other);

    [[nodiscard]] std::uint64_t count() const { return n_; }
    [[nodiscard]] std::uint64_t omitted() const { return omitted_; }
    [[nodiscard]] bool of_pairs() const { return of_pairs_; }
    [[nodiscard]] double q_lim() const { return model_.q_lim(); }
    // How many scores an event has: 1, or of a table of pairs the number of classes.
    [[nodiscard]] std::uint64_t scores_per_event() const {
        return of_pairs_ ? std::max<std::uint64_t>(columns_, 2) : 1;
    }
    [[nodiscard]] const Weights& weights() const { return weights_; }
    // Of y_proba: 1 for shape (n,), k for (n, k), 0 before the first row.
    [[nodiscard]] std::uint64_t columns() const { return columns_; }
    // With one column, or of all pairs, as risk_profile has it; else of no rows.
    [[nodiscard]] const RiskProfile& model() const { return model_; }
    // With one column and not of pairs: the table of all pairs (score, hit) and (1 - score, not
    // hit), to be read and not to be merged. Where all of the one kind in a cell lie below all of
    // the other, such as 0.3 and 1 - 0.7, they are two parts of it. All is exact but the sums of
    // scores, which take 1 - score as it is before rounding, and in which part rows of weight 0
    // are.
    [[nodiscard]] ScoreTable pairs() const;

    // Whether each score is kept apart.
    [[nodiscard]] bool lists_scores() const { return lists_scores_; }

    // The cells that hold rows, in order of their scores.
    [[nodiscard]] std::vector<const Cell*> filled() const;
    // Adds what the rows of a cell amount to.
    void add_to(Sums& sums, const Cell& cell) const;

    // The same, rounded: ten times as fast, and the same bits for the same rows.
    struct RoundedSums {
        double weight = 0.0, hits = 0.0, scores = 0.0, hit_scores = 0.0;
    };
    [[nodiscard]] RoundedSums rounded(const Cell& cell) const;

    // Where the probabilities of what happened lie: of each cell that has some, their weight, their
    // mean, and the least and greatest score of the cell. They are all of the scores of hits in a
    // table of pairs. Throws InvalidInput for a table of top labels, which does not have them.
    struct HitCells {
        std::vector<double> weights, means, least, greatest;
    };
    [[nodiscard]] HitCells hit_cells() const;

    [[nodiscard]] std::string to_bytes() const;
    static ScoreTable from_bytes(std::string_view bytes);

private:
    friend class ScoreTableWorker;

    // A list of cells becomes an array of all when more is merged into it and it gets longer than
    // a quarter of all; or, if it is no short one, when it would be copied for the sake of a few.
    static constexpr std::size_t always_listed = 512;
    static constexpr std::size_t most_copied = 16;    // cells, for each one that is added
    static constexpr std::size_t most_inserted = 16;  // one by one, into a list

    [[nodiscard]] Cell& at(std::uint32_t cell);  // of a dense table
    [[nodiscard]] bool dense() const;
    [[nodiscard]] bool is_worth_all(std::size_t added) const;
    void make_dense();
    void merge_cells(const std::vector<Cell>& cells);
    void insert_cells(const std::vector<Cell>& cells);
    void merge_like(const ScoreTable& other);  // of tables that both list scores, or neither
    [[nodiscard]] ScoreTable of_whole_cells() const;
    [[nodiscard]] ScoreTable mirrored() const;

    std::uint64_t n_ = 0;
    std::uint64_t omitted_ = 0;
    std::uint64_t columns_ = 0;
    bool of_pairs_ = false;
    RiskProfile model_ = named_profile(0.0);
    Weights weights_;
    std::vector<Cell> cells_;  // all of them, or some in order of their numbers
    std::map<Key, Sums> sums_;
    bool lists_scores_ = true;
};

}  // namespace calibrant
