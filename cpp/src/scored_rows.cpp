#include "calibrant/scored_rows.hpp"

#include <algorithm>

namespace calibrant {
namespace {

// The first of the largest. max_element would do, at twice the time: its jumps cannot be
// foreseen, while these choices compile to moves.
std::size_t argmax(const double* values, std::size_t n) {
    std::size_t best = 0;
    double largest = values[0];
    for (std::size_t j = 1; j < n; ++j) {
        best = values[j] > largest ? j : best;
        largest = values[j] > largest ? values[j] : largest;
    }
    return best;
}

}  // namespace

bool ScoredBlock::load(const ScoredRows& rows, std::size_t begin, std::size_t count) {
    if (!load_outcomes(rows.events, begin, count, outcomes_)) return false;
    binary_ = rows.scoring == Scoring::binary;
    if (binary_) return true;
    const std::size_t width = rows.events.y_proba.width;
    for (std::size_t i = 0; i < outcomes_.n; ++i) {
        const double* const values = &outcomes_.p[i * width];
        const std::size_t scored =
            rows.scoring == Scoring::of_class ? rows.of_class : argmax(values, width);
        score_[i] = values[scored];
        hit_[i] = static_cast<std::size_t>(outcomes_.label[i]) == scored ? 1 : 0;
    }
    return true;
}

}  // namespace calibrant
