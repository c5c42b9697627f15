// Estimates of the source: how often pairs with a given score happen. Their generalized means
// over the true pairs are what the model is compared with (assessment.hpp).
//
//   bins      the frequency of the pair's bin
//   bayes     the same with a Beta prior of mean 1 / classes that weighs as much as `strength`
//             pairs: (N*_k + strength / classes) / (N_k + strength)
//   isotonic  the non-decreasing function of the score nearest to the outcomes (isotonic.hpp)
//   nearest   the frequency among the pairs nearest in score that hold at least 1 / n_bins of
//             the weight, all at the same distance included
//   kernel    Nadaraya and Watson's weighted frequency: a pair at distance d counts
//             1 - (d n_bins)^2, as far as that is positive; distances between cells of width
//             2^-14
#pragma once

#include <cstddef>

#include "calibrant/assessment/assessment.hpp"
#include "calibrant/calibration/bins.hpp"
#include "calibrant/means/means.hpp"
#include "calibrant/runtime/parallel.hpp"
#include "ordering/sorted_scores.hpp"
#include "score_table/frequency_estimate_sums.hpp"

namespace calibrant {

[[nodiscard]] Source frequency_estimate_of_bins(const Assessment& table, const RiskProfile& whole);
[[nodiscard]] Source bayes_frequency_estimate(const Assessment& table, const RiskProfile& whole,
                                              std::size_t classes, double strength);

// Of the scores of the pairs; of `bins` only the number matters, but for by_bin. They throw
// Interrupted when the poll says so.
[[nodiscard]] Source isotonic_frequency_estimate(const SortedScores& scores, const Bins& bins,
                                                 const RiskProfile& whole, Poll poll);
[[nodiscard]] Source nearest_frequency_estimate(const SortedScores& scores, const Bins& bins,
                                                const RiskProfile& whole, Poll poll);
inline constexpr std::size_t most_kernel_bins = 2048;  // eight cells to either side
[[nodiscard]] Source kernel_frequency_estimate(const SortedScores& scores, const Bins& bins,
                                               const RiskProfile& whole, Poll poll);

}  // namespace calibrant
