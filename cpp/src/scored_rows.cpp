#include "calibrant/scored_rows.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "calibrant/kernels.hpp"

namespace calibrant {
namespace {

// One class's column, if its values can be found without those before them.
std::optional<Column> column_of(const ScoredRows& rows) {
    const Column& all = rows.events.y_proba;
    const bool alone = all.dtype != Dtype::bits && all.validity == nullptr;
    if (rows.scoring != Scoring::of_class || !rows.events.is_matrix) return std::nullopt;
    if (!alone || rows.events.omit_missing) return std::nullopt;
    Column column = all;
    column.data += static_cast<std::ptrdiff_t>(rows.of_class) * all.column_stride;
    column.width = 1;
    column.column_stride = 0;
    return column;
}

}  // namespace

ScoredBlock::ScoredBlock(const ScoredRows& rows)
    : column_(column_of(rows)),
      outcomes_(rows.events),
      paired_(rows.scoring == Scoring::pairs),
      scores_per_event_(rows.scores_per_event()) {
    if (!paired_) return;
    pair_scores_.resize(most_scores());
    pair_hits_.resize(most_scores());
    if (rows.events.sample_weight != nullptr) pair_weights_.resize(most_scores());
}

bool ScoredBlock::load(const ScoredRows& rows, std::size_t begin, std::size_t count) {
    binary_ = rows.scoring == Scoring::binary;
    if (rows.scoring == Scoring::top_label && rows.events.is_matrix) {
        return load_top_labels(rows.events, begin, count);
    }
    if (column_) return load_column(rows, begin, count);
    if (!load_outcomes(rows.events, begin, count, outcomes_)) return false;
    if (rows.scoring == Scoring::pairs) score_pairs(rows);
    if (rows.scoring == Scoring::of_class) score_class(rows);
    if (rows.scoring == Scoring::top_label) score_either();
    return true;
}

// The other columns are not looked at: whoever asks for one class asks for all, in turn.
bool ScoredBlock::load_column(const ScoredRows& rows, std::size_t begin, std::size_t count) {
    if (!load_classes(rows.events, begin, count, outcomes_)) return false;
    calibrant::load(*column_, begin, count, score_);
    for (std::size_t i = 0; i < count; ++i) {
        hit_[i] = static_cast<std::size_t>(outcomes_.label[i]) == rows.of_class ? 1 : 0;
    }
    return kernels().clip(score_, count, rows.q_lim, score_);
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

void ScoredBlock::score_either() {
    for (std::size_t i = 0; i < outcomes_.n; ++i) {
        const double p = outcomes_.p[i];
        score_[i] = std::max(p, 1.0 - p);
        hit_[i] = (outcomes_.label[i] == 1) == (p >= 0.5) ? 1 : 0;
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

// The kernel checks what it reads, so that the matrix is read where it lies, if it can be.
bool ScoredBlock::load_top_labels(const Events& events, std::size_t begin, std::size_t count) {
    const std::size_t width = events.y_proba.width;
    if (events.omit_missing) {
        if (!load_outcomes(events, begin, count, outcomes_)) return false;
    } else {
        if (!load_classes(events, begin, count, outcomes_)) return false;
        if (const double* values = in_place(events.y_proba, begin)) {
            return kernels().top_label(values, width, outcomes_.label, count, score_, hit_);
        }
        if (const float* values = in_place_floats(events.y_proba, begin)) {
            return kernels().top_label_of_floats(values, width, outcomes_.label, count, score_,
                                                 hit_);
        }
        load_block(events.y_proba, begin, count, outcomes_.p.data());
    }
    return kernels().top_label(outcomes_.p.data(), width, outcomes_.label, outcomes_.n, score_,
                               hit_);
}

}  // namespace calibrant
