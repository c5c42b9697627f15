// Every kind of state that can be read from bytes, for tests of all of them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "calibrant/assessment/assessment.hpp"
#include "calibrant/calibration/calibration.hpp"
#include "calibrant/cumulative/spiegelhalter.hpp"
#include "calibrant/intervals/coverage_hsic.hpp"
#include "calibrant/intervals/intervals.hpp"
#include "calibrant/intervals/prediction_sets.hpp"
#include "calibrant/means/means.hpp"
#include "calibrant/ranks/ranks.hpp"
#include "calibrant/samples/moments.hpp"
#include "calibrant/score_table/score_table.hpp"
#include "calibrant/scorecards/scorecard.hpp"
#include "calibrant/scores/comparison.hpp"
#include "calibrant/scores/scores.hpp"
#include "grouped/grouped_bytes.hpp"

namespace calibrant {

// Calls visit.operator()<State>() for each accumulator.
template <class Visit>
void for_each_accumulator(Visit visit) {
    visit.template operator()<Assessment>();
    visit.template operator()<CoverageHsic>();
    visit.template operator()<Intervals>();
    visit.template operator()<Moments>();
    visit.template operator()<PairedScores>();
    visit.template operator()<PredictionSets>();
    visit.template operator()<Ranks>();
    visit.template operator()<Reliability>();
    visit.template operator()<RiskProfile>();
    visit.template operator()<ScoreSums>();
    visit.template operator()<ScoreTable>();
    visit.template operator()<Scorecard>();
    visit.template operator()<Spiegelhalter>();
    visit.template operator()<Vendi>();
}

// The states within are of the kinds above, each with a checksum of its own.
inline std::string rewrite_grouped(std::string_view bytes) {
    const std::vector<std::string_view> pieces = open_grouped(bytes);
    return seal_grouped({pieces.begin(), pieces.end()});
}

}  // namespace calibrant
