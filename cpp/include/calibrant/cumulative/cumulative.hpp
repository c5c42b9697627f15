// Tests of calibration by cumulative differences (walk.hpp; Arrieta-Ibarra, Gujral, Tannen,
// Tygert, Xu 2022), of rows in memory: KS and Kuiper's from one computation, and the curve.
//
// Rows of weight 1 are not sorted (walk_cells.cpp). A first pass sums them in score cells, which
// gives the walk at each edge between cells; inside a cell it cannot rise by more than the hits'
// sum of 1 - s, nor fall by more than the others' sum of s, so many cells cannot hold an extreme.
// Where the others hold many rows, as they do of 10^8, a second pass cuts them into parts, with
// the same sums: now few parts are left. The last pass gathers and sorts the rows of these. If they
// still are many, if rows are few or have weights, all are sorted.
//
// Every sum is exact: the order of rows, threads and the way taken cannot be seen in the results.
// The one exception are weights that reach over more than 80 binary digits, which
// sorted_scores.hpp rounds. Extra memory: some 5 MB, or 20 where cells are cut, and 16 bytes per
// row gathered; where all are sorted, that of SortedScores.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "calibrant/cumulative/walk.hpp"
#include "calibrant/rows/scored_rows.hpp"
#include "calibrant/runtime/parallel.hpp"

namespace calibrant {

// Rows are binary, of_class or top_label. Throws as for_each_chunk does, and InvalidInput at a
// bad row or where no row has weight.
[[nodiscard]] WalkTests walk_tests(const ScoredRows& rows, Poll poll);

// The same with all rows sorted, whatever they are like.
[[nodiscard]] WalkTests sorted_walk_tests(const ScoredRows& rows, Poll poll);

// The same, where the variance is known already.
void walk_sorted_rows(const ScoredRows& rows, Poll poll, WalkTests& tests);

// The sum of w s (1 - s).
[[nodiscard]] ExactSum score_variance(const ScoredRows& rows, Poll poll);

// Whether walk_tests first tries it by cells: many rows, without weights.
[[nodiscard]] bool worth_cells(const ScoredRows& rows);

class BucketedScores;
struct Concordance;

// The rows in a score cell, and whether all have the same score.
struct CellCount {
    std::uint64_t n, hits;
    bool tie;
};

// When rows are looked at more closely. Results do not depend on it; tests have limits of their
// own.
struct WalkLimits {
    // If more than one row of so many would have to be gathered, cells are cut into parts first.
    std::uint64_t rows_per_gathered = 32;
    // If then there are more than one of so many, all rows are sorted.
    std::uint64_t rows_per_sorted = 8;
    std::uint64_t rows_per_part = 64;                   // at least
    std::uint64_t most_parts = std::uint64_t{1} << 16;  // about
    // A worker's cells take 1.6 MB, and time to be made and added up.
    std::uint64_t rows_per_worker = std::uint64_t{1} << 18;
};

// The same by cells; false, and then only the variance and counts are valid, if too many rows
// would have to be gathered. Rows without weights. Also gives the cells that hold rows, in order.
[[nodiscard]] bool cell_walk_tests(const ScoredRows& rows, Poll poll, WalkTests& tests,
                                   std::vector<CellCount>* counts = nullptr,
                                   const WalkLimits& limits = {});
// The same of rows that are in buckets already, together with the pairs; omitted rows are not
// counted.
[[nodiscard]] bool cell_walk_tests(const BucketedScores& buckets, std::size_t workers, Poll poll,
                                   WalkTests& tests, std::vector<CellCount>* counts,
                                   Concordance& pairs, const WalkLimits& limits = {});

// The walk, over the weight of all rows: where it is after the rows up to each score. The first
// point is its start, with score 0.
struct Differences {
    std::vector<double> fractions, scores, values;
    double sigma = 0.0;
    std::uint64_t n = 0, omitted = 0;
};

// by_label: hits are not those of the rows but as if labels were sorted too, those of 0 first.
[[nodiscard]] Differences cumulative_differences(const ScoredRows& rows, bool by_label, Poll poll);

}  // namespace calibrant
