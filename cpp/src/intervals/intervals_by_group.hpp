// The accumulators of groups of intervals and of sets.
#pragma once

#include "calibrant/intervals/intervals.hpp"
#include "calibrant/intervals/prediction_sets.hpp"
#include "calibrant/rows/interval_rows.hpp"
#include "calibrant/rows/set_rows.hpp"
#include "calibrant/runtime/parallel.hpp"
#include "ordering/grouped_scores.hpp"
#include "partition/group_runs.hpp"

namespace calibrant {

// Those of the groups of rows, made like `empty`. Rows in no group are checked and left out. Throws
// as update.
[[nodiscard]] PartsOfGroups<Intervals> parts_by_group(const Intervals& empty,
                                                      const IntervalRows& rows,
                                                      const GroupCodes& groups, Poll poll);

// Those of groups whose rows are contiguous. Throws as update.
[[nodiscard]] PartsOfGroups<PredictionSets> parts_by_group(const PredictionSets& empty,
                                                           const SetRows& rows,
                                                           const GroupStarts& starts, Poll poll);

}  // namespace calibrant
