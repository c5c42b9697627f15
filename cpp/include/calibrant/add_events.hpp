// How each accumulator of events takes them in, if nothing else is said of them.
#pragma once

#include "calibrant/assessment.hpp"
#include "calibrant/calibration.hpp"
#include "calibrant/events.hpp"
#include "calibrant/means.hpp"
#include "calibrant/parallel.hpp"
#include "calibrant/score_table.hpp"
#include "calibrant/scorecard.hpp"
#include "calibrant/scored_rows.hpp"
#include "calibrant/scores.hpp"
#include "calibrant/spiegelhalter.hpp"

namespace calibrant {

inline void add_events(ScoreSums& state, const Events& events, Poll poll) {
    state.update(events, 0, poll);
}
inline void add_events(RiskProfile& state, const Events& events, Poll poll) {
    state.update(events, 0, poll);
}
inline void add_events(Scorecard& state, const Events& events, Poll poll) {
    state.update(events, 0, poll);
}
inline void add_events(Reliability& state, const Events& events, Poll poll) {
    state.update(binary_or_top_label(events), 0, poll);
}
inline void add_events(Spiegelhalter& state, const Events& events, Poll poll) {
    state.update(binary_or_top_label(events), 0, poll);
}
inline void add_events(ScoreTable& state, const Events& events, Poll poll) {
    state.update(binary_or_top_label(events), 0, poll);
}
inline void add_events(Assessment& state, const Events& events, Poll poll) {
    state.update({events, Scoring::pairs, 0, state.q_lim()}, 0, poll);
}

}  // namespace calibrant
