// What a scorecard says that needs the order of scores: KS and Kuiper's tests (cumulative.hpp) and
// the area under the ROC curve (concordance.hpp), from rows in memory, by group, or from a
// ScoreTable with bounds. In memory the values have the bits of walk_tests and roc_auc.
//
// The standard error of the area is DeLong's (roc.hpp). Of many rows it is that of their score
// cells, in which scores count as tied, unless more than 2^-10 of the pairs lie in one cell.
//
// The interval of the area is Wilson's, for as many rows as would make a frequency as uncertain as
// the area is: so it has a width where hits and misses are separated. The variance is DeLong's;
// where that of Hanley and McNeil (1982) is larger, a part of the difference is added, all of it
// up to 30 rows of the rarer kind, 30/k of it for k rows: of few rows DeLong's is too small.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "calibrant/rows/scored_rows.hpp"
#include "calibrant/runtime/parallel.hpp"
#include "calibrant/score_table/score_bounds.hpp"
#include "calibrant/score_table/score_table.hpp"
#include "ordering/grouped_scores.hpp"

namespace calibrant {

// Where all is known, the three numbers of Bounds are equal. NaN: undefined.
struct RankMetrics {
    static constexpr double none = std::numeric_limits<double>::quiet_NaN();

    Bounds ks{none, none, none}, kuiper{none, none, none};
    Bounds area{none, none, none};    // undefined without hits, or without misses
    double area_error = none;         // undefined unless there is more than one of each
    double hits = 0.0, misses = 0.0;  // their weight

    // Contains the bounds. Without ends unless there are two hits and two misses.
    [[nodiscard]] Bounds area_interval(double normal_quantile) const;
};

// Throws as walk_tests does.
[[nodiscard]] RankMetrics rank_metrics(const ScoredRows& rows, Poll poll);

// Those of a group without weight are undefined. Throws as GroupedScores does.
[[nodiscard]] std::vector<RankMetrics> rank_metrics(const GroupedScores& scores, Poll poll);

// Throws InvalidInput where no row has weight.
[[nodiscard]] RankMetrics rank_metrics(const ScoreTable& table);

}  // namespace calibrant
