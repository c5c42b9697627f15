// What the drop-in layers need and no metric of our own does: the walk of cumulative differences
// in the order of jittered scores, ties apart; sorting with what belongs to a key; the worst slab;
// and the largest column of each row. Their sums over intervals and sets are in plain_sums.hpp.
//
// Sums here are plain ones in the order of rows: the same bits for any number of threads, but
// rounded on the way, as the peers' own are. All read memory once or twice and keep nothing.
#pragma once

#include <cstddef>
#include <cstdint>

#include "calibrant/runtime/parallel.hpp"

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

enum class Sorted { fully, with_ties, not_at_all };

// Puts scores and labels in ascending order of the scores, equal ones with label 0 first. There are
// ties if rows with equal scores have unequal labels. The same requirements; not_at_all if scores
// are not finite. Results must not overlap the arguments.
[[nodiscard]] Sorted sort_labelled(const std::uint8_t* labels, const double* scores, std::size_t n,
                                   std::uint8_t* sorted_labels, double* sorted_scores, Poll poll);

// The same for any keys and what belongs to them; equal keys are ties, and come in any order.
[[nodiscard]] Sorted sort_pairs(const double* keys, const std::uint64_t* values, std::size_t n,
                                double* sorted_keys, std::uint64_t* sorted_values, Poll poll);

// The sums of label - score over the first k rows, by n, for k = 1..n, one after the other.
void cumulative_walk(const std::uint8_t* labels, const double* scores, std::size_t n, double* walk,
                     Poll poll);

// The mean over k of the share of ones among the last k labels.
[[nodiscard]] double mean_accuracy(const std::uint8_t* labels, std::size_t n, Poll poll);

// A ROC curve from the largest score on, up to the last of its points with at most so many false
// positives: that point, the next, and twice the area below the curve up to the former, all in
// rows.
struct CurveEnd {
    double false_positives, true_positives, next_false, next_true, twice_area;
};

// Of rows in ascending order of the scores; equal scores make one point. There is a next one.
[[nodiscard]] CurveEnd curve_up_to(const std::uint8_t* labels, const double* scores, std::size_t n,
                                   double most_false, Poll poll);

// Which of n texts, `width` bytes each, are this one.
void same_text(const std::uint8_t* rows, std::size_t n, std::size_t width, const std::uint8_t* text,
               std::uint8_t* same, Poll poll);

// A mean of truth values: hits / rows, rows < 2^31.
struct SlabMean {
    std::uint64_t hits, rows;
};

// The least mean of least_rows or more consecutive values in one of several rows of n, if it is
// below the given one; else that. Exact, and linear in the values but for a few rounds.
[[nodiscard]] SlabMean worst_slab(const std::uint8_t* covered, std::size_t slabs, std::size_t n,
                                  std::size_t least_rows, SlabMean mean, Poll poll);

// The first of the largest values in each row of a matrix in C order, and its column; k > 0.
// Returns false if there is a NaN; the results then mean nothing.
[[nodiscard]] bool largest_columns(const double* matrix, std::size_t n, std::size_t k,
                                   std::int64_t* column, double* value, Poll poll);

}  // namespace calibrant
