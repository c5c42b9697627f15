// The numbers of a scorecard, from its sums and from what the order of its scores says.
#pragma once

#include "calibrant/runtime/parallel.hpp"
#include "calibrant/scorecards/scorecard.hpp"
#include "scorecards/rank_metrics.hpp"

namespace calibrant {

// All are undefined where no row has weight; those of ranks also where these are null.
[[nodiscard]] ScorecardResult scorecard_result(const Scorecard& card, const RankMetrics* ranks,
                                               double confidence_level, Poll poll);

}  // namespace calibrant
