// How each accumulator of events is updated, where nothing else is said of them.
#pragma once

#include <cstdint>

#include "calibrant/assessment/assessment.hpp"
#include "calibrant/calibration/calibration.hpp"
#include "calibrant/cumulative/spiegelhalter.hpp"
#include "calibrant/means/means.hpp"
#include "calibrant/rows/events.hpp"
#include "calibrant/rows/scored_rows.hpp"
#include "calibrant/runtime/parallel.hpp"
#include "calibrant/score_table/score_table.hpp"
#include "calibrant/scorecards/scorecard.hpp"
#include "calibrant/scores/scores.hpp"

namespace calibrant {

inline void add_events(ScoreSums& state, const Events& events, std::uint64_t rows_before,
                       Poll poll) {
    state.update(events, rows_before, poll);
}
inline void add_events(RiskProfile& state, const Events& events, std::uint64_t rows_before,
                       Poll poll) {
    state.update(events, rows_before, poll);
}
inline void add_events(Scorecard& state, const Events& events, std::uint64_t rows_before,
                       Poll poll) {
    state.update(events, rows_before, poll);
}
inline void add_events(Reliability& state, const Events& events, std::uint64_t rows_before,
                       Poll poll) {
    state.update(binary_or_top_label(events), rows_before, poll);
}
inline void add_events(Spiegelhalter& state, const Events& events, std::uint64_t rows_before,
                       Poll poll) {
    state.update(binary_or_top_label(events), rows_before, poll);
}
inline void add_events(ScoreTable& state, const Events& events, std::uint64_t rows_before,
                       Poll poll) {
    state.update(state.rows_of(events), rows_before, poll);
}
inline void add_events(Assessment& state, const Events& events, std::uint64_t rows_before,
                       Poll poll) {
    state.update({events, Scoring::pairs, 0, state.q_lim()}, rows_before, poll);
}

}  // namespace calibrant
