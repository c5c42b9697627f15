#include "calibrant/scored_rows.hpp"

#include <algorithm>

namespace calibrant {
namespace {

// In four strands, which the processor follows at once.
double largest_of(const double* values, std::size_t n) {
    double strand[4] = {values[0], values[0], values[0], values[0]};
    std::size_t j = 0;
    for (; j + 4 <= n; j += 4) {
        for (std::size_t k = 0; k < 4; ++k) {
            strand[k] = values[j + k] > strand[k] ? values[j + k] : strand[k];
        }
    }
    for (; j < n; ++j) strand[0] = values[j] > strand[0] ? values[j] : strand[0];
    return std::max(std::max(strand[0], strand[1]), std::max(strand[2], strand[3]));
}

// Whether the label is the first class of those with the largest probability.
bool is_top(const double* values, std::size_t label, double largest) {
    return values[label] == largest && std::find(values, values + label, largest) == values + label;
}

}  // namespace

bool ScoredBlock::load(const ScoredRows& rows, std::size_t begin, std::size_t count) {
    if (!load_outcomes(rows.events, begin, count, outcomes_)) return false;
    binary_ = rows.scoring == Scoring::binary;
    if (binary_) return true;
    const std::size_t width = rows.events.y_proba.width;
    for (std::size_t i = 0; i < outcomes_.n; ++i) {
        const double* const values = &outcomes_.p[i * width];
        const auto label = static_cast<std::size_t>(outcomes_.label[i]);
        const bool of_class = rows.scoring == Scoring::of_class;
        score_[i] = of_class ? values[rows.of_class] : largest_of(values, width);
        hit_[i] = (of_class ? label == rows.of_class : is_top(values, label, score_[i])) ? 1 : 0;
    }
    return true;
}

}  // namespace calibrant
