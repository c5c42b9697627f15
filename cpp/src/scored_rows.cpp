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

ScoredBlock::ScoredBlock(const ScoredRows& rows)
    : outcomes_(rows.events),
      paired_(rows.scoring == Scoring::pairs),
      scores_per_event_(rows.scores_per_event()) {
    if (!paired_) return;
    pair_scores_.resize(most_scores());
    pair_hits_.resize(most_scores());
    if (rows.events.sample_weight != nullptr) pair_weights_.resize(most_scores());
}

bool ScoredBlock::load(const ScoredRows& rows, std::size_t begin, std::size_t count) {
    if (!load_outcomes(rows.events, begin, count, outcomes_)) return false;
    binary_ = rows.scoring == Scoring::binary;
    if (rows.scoring == Scoring::pairs) score_pairs(rows);
    if (rows.scoring == Scoring::of_class) score_class(rows);
    const std::size_t width = rows.events.y_proba.width;
    for (std::size_t i = 0; rows.scoring == Scoring::top_label && i < outcomes_.n; ++i) {
        const double* const values = &outcomes_.p[i * width];
        score_[i] = largest_of(values, width);
        hit_[i] = is_top(values, static_cast<std::size_t>(outcomes_.label[i]), score_[i]) ? 1 : 0;
    }
    return true;
}

void ScoredBlock::score_class(const ScoredRows& rows) {
    const std::size_t width = rows.events.y_proba.width;
    const bool matrix = rows.events.is_matrix;
    for (std::size_t i = 0; i < outcomes_.n; ++i) {
        const double* const values = &outcomes_.p[i * width];
        const double p = matrix ? values[rows.of_class] : values[0];
        score_[i] = clipped(!matrix && rows.of_class == 0 ? 1.0 - p : p, rows.q_lim);
        hit_[i] = static_cast<std::size_t>(outcomes_.label[i]) == rows.of_class ? 1 : 0;
    }
}

void ScoredBlock::score_pairs(const ScoredRows& rows) {
    const std::size_t classes = scores_per_event_;
    if (rows.events.is_matrix) {
        std::copy_n(outcomes_.p.data(), n(), pair_scores_.data());
    } else {
        for (std::size_t i = 0; i < outcomes_.n; ++i) {
            pair_scores_[2 * i] = 1.0 - outcomes_.p[i];
            pair_scores_[2 * i + 1] = outcomes_.p[i];
        }
    }
    for (std::size_t i = 0; rows.q_lim > 0.0 && i < n(); ++i) {
        pair_scores_[i] = clipped(pair_scores_[i], rows.q_lim);
    }
    std::fill_n(pair_hits_.data(), n(), 0);
    for (std::size_t i = 0; i < outcomes_.n; ++i) {
        pair_hits_[i * classes + static_cast<std::size_t>(outcomes_.label[i])] = 1;
    }
    for (std::size_t i = 0; rows.events.sample_weight != nullptr && i < outcomes_.n; ++i) {
        std::fill_n(&pair_weights_[i * classes], classes, outcomes_.weight[i]);
    }
}

}  // namespace calibrant
