// The source of a ScoreTable's pairs, with bounds that hold what the rows themselves would give
// (frequency_estimate_of_bins of frequency_estimate.hpp).
//
// With the shares h and c of true and false pairs in a bin, Source(m) is a function of the sum
// over the bins of
//     h^2 / (h + c)               for m = 1, convex
//     h log(h / (h + c))          for m = 0, convex
//     h^(1/3) (h + c)^(2/3)       for m = -2/3, concave
// and what is uncertain is which pairs of the cells that cuts divide are in which bin. All three
// are homogeneous, so for every frequency f > 0 they are bounded by
//     2 f h - f^2 (h + c),   (log f + 1) h - f (h + c),   f^(-2/3) h / 3 + 2 f^(1/3) (h + c) / 3
// with equality at h / (h + c) = f: near the likely frequencies neighbouring bins have similar
// slopes, and the bounds are tight. For k classes every Source(m) lies in [1/k, 1].
#pragma once

#include <array>

#include "calibrant/means/means.hpp"
#include "calibrant/score_table/score_bounds.hpp"
#include "calibrant/score_table/score_table.hpp"

namespace calibrant {

struct SourceBounds {
    RiskProfile likely;
    std::array<Bounds, 3> means;  // of the powers 1, 0 and -2/3

    // Of bins of a table of pairs, of so many classes. Where no cut is uncertain, low and high are
    // the very value that frequency_estimate_of_bins gives.
    SourceBounds(const ScoreBounds& bins, const RiskProfile& model, double classes);
};

}  // namespace calibrant
