// The walk of cumulative differences (walk.hpp) read off a ScoreTable: exact at the edges between
// cells, within bounds inside them, and exact everywhere once the rows of the cells in which it
// may turn have been seen a second time.
//
// Inside a cell the walk cannot rise by more than the hits' sum of w (1 - s), nor fall by more
// than the others' sum of w s; in a cell that is one tie it is at its edges only. The variance
// s (1 - s) of a score lies between the chord over its cell and a tangent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "calibrant/cumulative/cumulative.hpp"
#include "calibrant/cumulative/walk.hpp"
#include "calibrant/runtime/parallel.hpp"
#include "calibrant/score_table/score_bounds.hpp"
#include "calibrant/score_table/score_table.hpp"
#include "ordering/sorted_scores.hpp"

namespace calibrant {

struct TestBounds {
    Bounds statistic, pvalue, log_pvalue;
};

class ScoreWalk {
public:
    // A cell that may hold an extreme.
    struct Turn {
        std::uint32_t cell;
        std::uint64_t n, zeros;  // rows with weight and without
        ExactSum begin;          // the walk before its rows
    };

    // Throws InvalidInput where no row has weight.
    explicit ScoreWalk(const ScoreTable& table);

    // Of the statistics. Where nothing is uncertain, all three are the value itself.
    [[nodiscard]] Bounds ks() const;
    [[nodiscard]] Bounds kuiper() const;
    [[nodiscard]] TestBounds ks_test() const;
    [[nodiscard]] TestBounds kuiper_test() const;

    [[nodiscard]] const std::vector<Turn>& turns() const { return turns_; }
    [[nodiscard]] std::uint64_t rows_in_turns() const;

private:
    friend class WalkRefiner;

    [[nodiscard]] Bounds bounds(const ExactSum& low, const ExactSum& high) const;
    static TestBounds with_pvalues(const Bounds& x, TestResult (*result)(double));

    Extremes edges_, reach_;
    ExactSum least_variance_, greatest_variance_;
    ExactSum weight_;
    std::uint64_t n_ = 0, omitted_ = 0;
    WeightUnit unit_;
    std::vector<Turn> turns_;
};

// The points of cumulative_differences after the greatest score of each cell, which are those of
// the rows; sigma is the greatest it may be, too large by less than 2^-24 of it. Throws
// InvalidInput where no row has weight.
[[nodiscard]] Differences cumulative_differences(const ScoreTable& table);

// The second pass. Memory: 16 bytes per row in a cell in which the walk may turn, and 32 kB.
class WalkRefiner {
public:
    // Throws InvalidInput where these rows are more than most_rows.
    WalkRefiner(const ScoreTable& table, std::uint64_t most_rows);

    struct Batch {
        std::vector<SortedScores::WeightedKey> rows;
        ScoreVariance variance;
        std::uint64_t n = 0, omitted = 0;
    };
    // What of these rows is to be kept. Throws as for_each_block does; changes nothing.
    [[nodiscard]] Batch read(const ScoredRows& rows, Poll poll) const;
    // Throws InvalidInput, and changes nothing, where there are more rows than in the table.
    void add(Batch&& batch);

    [[nodiscard]] std::uint64_t count() const { return seen_.n; }
    [[nodiscard]] std::uint64_t omitted() const { return seen_.omitted; }
    [[nodiscard]] std::uint64_t kept() const { return seen_.rows.size(); }

    // Throws InvalidInput unless the rows were those of the table, as far as can be seen.
    [[nodiscard]] WalkTests tests() const;

private:
    [[nodiscard]] bool same_variance(const ExactSum& variance) const;

    ScoreWalk walk_;
    std::vector<std::uint8_t> wanted_;  // per cell
    Batch seen_;
};

}  // namespace calibrant
