// Isotonic regression of hits on scores: the frequencies that never fall as the score rises and
// are nearest to the hits in squares, found by pooling adjacent violators (Ayer et al. 1955).
//
// The fit is constant on blocks of scores; its value is the block's frequency, hits / weight,
// which rises strictly from block to block. Equal scores are pooled first. Frequencies are
// compared as exact fractions, so the blocks depend on nothing but the rows (and the unit of
// weights, sorted_scores.hpp). Linear in the number of distinct scores.
#pragma once

#include <vector>

#include "calibrant/numeric/sum.hpp"
#include "calibrant/runtime/parallel.hpp"
#include "ordering/sorted_scores.hpp"

namespace calibrant {

struct IsotonicBlock {
    double first, last;    // the least and the greatest score in it
    UInt128 weight, hits;  // in units of the sorted scores
};

// Ascending; none if no row has weight. Throws Interrupted if the poll says so.
[[nodiscard]] std::vector<IsotonicBlock> isotonic_blocks(const SortedScores& sorted, Poll poll);

}  // namespace calibrant
