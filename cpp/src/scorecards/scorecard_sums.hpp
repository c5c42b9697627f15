// ScorecardSums: what the rows of a scorecard are summed up to, before they become its parts.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "calibrant/rows/events.hpp"
#include "calibrant/scorecards/scorecard.hpp"

namespace calibrant {

struct ScorecardSums {
    // Rows of a bin that are misses, or that are hits.
    struct Cell {
        std::uint64_t n = 0;
        ExactSum weight;
        ExactSum scores;   // sum of weight * score
        ExactSum squares;  // sum of weight * (score - hit)^2
    };

    RowCounts rows;
    std::size_t columns = 0;                         // as ScoreSums::columns
    std::vector<Cell> cells;                         // misses and hits of bin k at 2k and 2k + 1
    std::vector<ExactSum> class_weight;              // of shape (n, k) only; else the cells say it
    std::vector<ExactSum> class_brier;               // the same
    std::array<ExactSum, Scorecard::n_terms> terms;  // of w times the term
    std::array<ExactSum, Scorecard::n_terms> squares;
    ExactSum right, spread;
};

}  // namespace calibrant
