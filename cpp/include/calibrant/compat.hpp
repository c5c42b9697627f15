// What the drop-in layers need and no metric of our own does: the walk of cumulative differences
// in the order of jittered scores, ties apart; and the largest column of each row. Their sums over
// intervals and sets are in plain_sums.hpp.
//
// Sums here are plain ones in the order of rows: the same bits for any number of threads, but
// rounded on the way, as the peers' own are. All read memory once or twice and keep nothing.
#pragma once

#include <cstddef>
#include <cstdint>

#include "calibrant/parallel.hpp"

namespace calibrant {

// How far the walk of cumulative differences goes, where it starts not being counted: the largest
// and the least sum of (label - score) over the k lowest scores, k = 1..n.
struct WalkRange {
    double highest, lowest;
    // Rows with equal scores and unequal labels lie where the extremes may be. What those are then
    // depends on the order of these rows, and the numbers here mean nothing.
    bool depends_on_ties;
};

// Labels are 0 or 1, scores finite and not negative; n > 0. Without a full sort: the rows are
// counted into cells by score, and only those of cells that can hold an extreme are sorted.
[[nodiscard]] WalkRange walk_range(const std::uint8_t* labels, const double* scores, std::size_t n,
                                   Poll poll);

// Puts scores and labels in ascending order of the scores, equal ones with label 0 first. Returns
// whether rows with equal scores have unequal labels. The same requirements; results must not
// overlap the arguments.
[[nodiscard]] bool sort_labelled(const std::uint8_t* labels, const double* scores, std::size_t n,
                                 std::uint8_t* sorted_labels, double* sorted_scores, Poll poll);

// The first of the largest values in each row of a matrix in C order, and its column; k > 0.
// Returns false if there is a NaN; the results then mean nothing.
[[nodiscard]] bool largest_columns(const double* matrix, std::size_t n, std::size_t k,
                                   std::int64_t* column, double* value, Poll poll);

}  // namespace calibrant
