#include "calibrant/rows/scored_rows.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "kernels/kernels.hpp"
#include "rows/event_blocks.hpp"
#include "rows/scored_blocks.hpp"
#include "rows/workers.hpp"

namespace calibrant {
namespace {

bool has_columns(const Column& matrix) {
    return matrix.dtype != Dtype::bits && matrix.validity == nullptr;
}

ScoredRows narrowed(const Events& events, const Column& whole, std::size_t of_class) {
    ScoredRows rows{events, Scoring::of_class, of_class};
    Column& column = rows.events.y_proba;
    if (column.size > 0)
        column.data += static_cast<std::ptrdiff_t>(of_class) * column.column_stride;
    column.width = 1;
    column.column_stride = 0;
    rows.events.label_classes = whole.width;
    rows.events.whole = &whole;
    return rows;
}

}  // namespace

ScoredRows rows_of_class(const Events& events, std::size_t of_class) {
    if (!events.is_matrix || !has_columns(events.y_proba) || events.omit_missing)
        return {events, Scoring::of_class, of_class};
    return narrowed(events, events.y_proba, of_class);
}

ClassRows::ClassRows(const Events& events, Poll poll) : whole_(events.y_proba), events_(events) {
    if (!has_columns(whole_)) read_values(poll);
    if (events.omit_missing) leave_out_rows(poll);
}

ScoredRows ClassRows::operator[](std::size_t of_class) const {
    return narrowed(events_, whole_, of_class);
}

void ClassRows::read_values(Poll poll) {
    const std::size_t width = whole_.width;
    values_.resize(whole_.size * width);
    const std::size_t chunk = std::max<std::size_t>(chunk_values / width, 1);
    for_each_chunk(whole_.size, chunk, workers_for(whole_.size, chunks_per_worker * chunk), poll,
                   [&](std::size_t, std::size_t begin, std::size_t end) {
                       load_block(whole_, begin, end - begin, &values_[begin * width]);
                       return true;
                   });
    events_.y_proba = side_by_side(values_.data(), whole_.size, width, Dtype::float64);
}

// A row is left out if a value in any of its columns is missing. A bad label stays: it is rejected.
void ClassRows::leave_out_rows(Poll poll) {
    const std::size_t n = whole_.size;
    labels_.resize(n);
    const std::size_t chunk = std::max<std::size_t>(chunk_values / whole_.width, 1);
    for_each_chunk(n, chunk, workers_for(n, chunks_per_worker * chunk), poll,
                   [&](std::size_t, std::size_t begin, std::size_t end) {
                       std::vector<double> values(whole_.width);
                       load(*events_.y_true, begin, end - begin, &labels_[begin]);
                       for (std::size_t row = begin; row < end; ++row) {
                           std::int32_t label = label_invalid;
                           load_labels(*events_.y_true, row, 1, &label);
                           load_row(whole_, row, values.data());
                           const bool is_missing =
                               std::ranges::any_of(values, [](double p) { return std::isnan(p); });
                           if (is_missing && label != label_invalid)
                               labels_[row] = std::numeric_limits<double>::quiet_NaN();
                       }
                       return true;
                   });
    label_column_ = side_by_side(labels_.data(), n, 1, Dtype::float64);
    events_.y_true = &label_column_;
}

ScoredBlock::ScoredBlock(const ScoredRows& rows)
    : outcomes_(rows.events),
      width_(rows.events.y_proba.width),
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
    if (is_alone(rows)) return load_column(rows, begin, count);
    if (!load_outcomes(rows.events, begin, count, outcomes_)) return false;
    if (rows.scoring == Scoring::pairs) score_pairs(rows);
    if (rows.scoring == Scoring::of_class) score_class(rows);
    if (rows.scoring == Scoring::top_label) score_either();
    return true;
}

bool ScoredBlock::is_alone(const ScoredRows& rows) {
    return rows.events.whole != nullptr && !rows.events.omit_missing;
}

// The other columns are not read: callers go through all classes in turn.
bool ScoredBlock::load_column(const ScoredRows& rows, std::size_t begin, std::size_t count) {
    if (!load_classes(rows.events, begin, count, outcomes_)) return false;
    calibrant::load(rows.events.y_proba, begin, count, score_);
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
        const double p = width > 1 ? values[rows.of_class] : values[0];
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
    values_ = outcomes_.p.data();
    floats_ = nullptr;
    if (events.omit_missing) {
        if (!load_outcomes(events, begin, count, outcomes_)) return false;
    } else {
        if (!load_classes(events, begin, count, outcomes_)) return false;
        floats_ = in_place_floats(events.y_proba, begin);
        if (floats_ != nullptr) {
            return kernels().top_label_of_floats(floats_, width_, outcomes_.label, count, score_,
                                                 hit_);
        }
        if (const double* values = in_place(events.y_proba, begin)) {
            values_ = values;
        } else {
            load_block(events.y_proba, begin, count, outcomes_.p.data());
        }
    }
    return kernels().top_label(values_, width_, outcomes_.label, outcomes_.n, score_, hit_);
}

// Hits have the label's class. Another thread may have changed the array since: then it is some
// class.
void ScoredBlock::find_top_labels(std::int32_t* label) const {
    const auto first_of = [&](const auto* values, std::size_t i) {
        const auto* const row = values + i * width_;
        std::int32_t found = 0;  // without branches, as they would often be mispredicted
        for (std::size_t j = width_; j-- > 0;) {
            found = static_cast<double>(row[j]) == score_[i] ? static_cast<std::int32_t>(j) : found;
        }
        return found;
    };
    for (std::size_t i = 0; i < outcomes_.n; ++i) {
        if (hit_[i] != 0) {
            label[i] = outcomes_.label[i];
        } else {
            label[i] = floats_ != nullptr ? first_of(floats_, i) : first_of(values_, i);
        }
    }
}

}  // namespace calibrant
