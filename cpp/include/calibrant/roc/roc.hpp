// The ROC curve, the curve that the scores themselves predict, and the areas under them.
//
//   actual      at threshold t: the shares of the misses and of the hits with a score >= t
//   predicted   the same if every score s were right: a row is s hits and 1 - s misses
//   area        P(a hit scores higher than a miss) + P(they tie) / 2
//   DeLong      the variance of the area (DeLong et al. 1988): with V_i a hit's share of misses
//               won, ties by half, and V_j a miss's share of hits lost to,
//               sum (V_i - area)^2 / (H (H - 1)) + sum (V_j - area)^2 / (M (M - 1));
//               weights are numbers of rows
//   rejection   the mean over the rows of the hit rate among the rows of no lower score: the area
//               under the curve of the accuracy against the share of rows rejected
//
// Ties are one step. Rates and the area are quotients of integers, rounded once. Predicted rates,
// variances and the rejection area are sums of quotients that are taken with 100 bits and added
// exactly or in the order of the scores, so that the order of rows does not change their bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "calibrant/rows/scored_rows.hpp"
#include "calibrant/runtime/parallel.hpp"

namespace calibrant {

struct RocArea {
    double area, hits;  // the latter: their weight
};

struct RocCurve {
    struct Rates {
        std::vector<double> false_positive, true_positive;  // from 0 to 1
    };
    std::vector<double> thresholds;  // falling, the first infinite
    Rates actual, predicted;         // predicted: NaN where all scores are 0, or all 1
    double area, standard_error;     // NaN where a kind has no more than one row
    double predicted_area;
    std::uint64_t n, omitted;
};

// All throw as for_each_chunk does, and InvalidInput at a bad row and where the area is not
// defined, for want of hits or of misses.
[[nodiscard]] RocArea roc_auc(const ScoredRows& rows, Poll poll);
// Of more than max_points points, keeps the ends and those furthest above and below the diagonal,
// along the whole curve. max_points >= 4.
[[nodiscard]] RocCurve roc_curve(const ScoredRows& rows, std::size_t max_points, Poll poll);
[[nodiscard]] double accuracy_rejection_auc(const ScoredRows& rows, Poll poll);

}  // namespace calibrant
