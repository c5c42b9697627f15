#include "calibrant/rows_by_group.hpp"

#include <cmath>
#include <limits>

namespace calibrant {
namespace {

Column side_by_side(const void* data, std::size_t size, std::size_t width, Dtype dtype) {
    Column column;
    column.data = static_cast<const std::byte*>(data);
    column.size = size;
    column.width = width;
    column.dtype = dtype;
    column.column_stride = static_cast<std::ptrdiff_t>(item_size(dtype));
    column.stride = column.column_stride * static_cast<std::ptrdiff_t>(width);
    return column;
}

template <class Value>
std::byte* bytes_of(LargeArray<Value>& values) {
    return reinterpret_cast<std::byte*>(values.data());
}

// Of probabilities, labels, and weights if there are any.
std::vector<std::size_t> bytes_of_columns(const Events& events) {
    std::vector<std::size_t> bytes = {events.y_proba.width * sizeof(double), sizeof(std::int32_t)};
    if (events.sample_weight != nullptr) bytes.push_back(sizeof(double));
    return bytes;
}

}  // namespace

PickedRows::PickedRows(const Events& events, const std::vector<std::size_t>& rows)
    : p_(rows.size() * events.y_proba.width), label_(rows.size()), events_(events) {
    const std::size_t width = events.y_proba.width;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        load_row(events.y_proba, rows[i], p_.data() + i * width);
        load_labels(*events.y_true, rows[i], 1, &label_[i]);
    }
    y_true_ = side_by_side(label_.data(), rows.size(), 1, Dtype::int32);
    events_.y_true = &y_true_;
    events_.y_proba = side_by_side(p_.data(), rows.size(), width, Dtype::float64);
}

// Reads and checks rows, and says where they are.
class RowsByGroup::Reader {
public:
    explicit Reader(const Events& events) : events_(events), block_(events) {}
    [[nodiscard]] std::size_t most_rows() const { return block_.most_rows; }

    [[nodiscard]] bool read(std::size_t row, std::size_t n, const std::byte** columns) {
        if (!load_outcomes(events_, row, n, block_)) return false;
        if (block_.omitted != 0) load_with_missing(row, n);
        columns[0] = reinterpret_cast<const std::byte*>(block_.p.data());
        columns[1] = reinterpret_cast<const std::byte*>(block_.label);
        if (events_.sample_weight != nullptr) {
            columns[2] = reinterpret_cast<const std::byte*>(block_.weight);
        }
        return true;
    }

private:
    // Rows that will be omitted keep their places: their first probability is missing.
    void load_with_missing(std::size_t row, std::size_t count) {
        load_block(events_.y_proba, row, count, block_.p.data());
        load_labels(*events_.y_true, row, count, block_.label);
        if (events_.sample_weight != nullptr) {
            load(*events_.sample_weight, row, count, block_.weight);
        }
        for (std::size_t i = 0; i < count; ++i) {
            double* const p = &block_.p[i * events_.y_proba.width];
            bool missing = block_.label[i] < 0;
            for (std::size_t j = 0; j < events_.y_proba.width; ++j)
                missing = missing || std::isnan(p[j]);
            if (events_.sample_weight != nullptr && std::isnan(block_.weight[i])) missing = true;
            if (!missing) continue;
            p[0] = std::numeric_limits<double>::quiet_NaN();
            block_.label[i] = 0;
            block_.weight[i] = 1.0;
        }
    }

    const Events& events_;
    OutcomeBlock block_;
};

RowsByGroup::RowsByGroup(const Events& events, const GroupCodes& groups, std::uint64_t rows_before,
                         Poll poll)
    : events_(events),
      by_group_(events),
      width_(events.y_proba.width),
      together_(groups, events.size(), bytes_of_columns(events), poll) {
    std::vector<Reader> team(together_.workers(), Reader(events));
    const std::size_t failed =
        together_.read(team.front().most_rows(), poll,
                       [&](std::size_t worker, std::size_t row, std::size_t n,
                           const std::byte** from) { return team[worker].read(row, n, from); });
    if (failed == npos) return;
    refuse_events(events, failed, std::min(events.size(), failed + together_.chunk()), rows_before);
}

bool RowsByGroup::next(Poll poll) {
    if (!together_.next()) return false;
    const std::size_t rows = together_.size();
    const bool weighted = events_.sample_weight != nullptr;
    if (rows > room_) {
        p_ = LargeArray<double>(rows * width_);
        label_ = LargeArray<std::int32_t>(rows);
        if (weighted) weight_ = LargeArray<double>(rows);
        room_ = rows;
    }
    std::vector<std::byte*> columns = {bytes_of(p_), bytes_of(label_)};
    if (weighted) columns.push_back(bytes_of(weight_));
    starts_ = together_.copy(columns, poll);
    y_true_ = side_by_side(label_.data(), rows, 1, Dtype::int32);
    by_group_.y_true = &y_true_;
    by_group_.y_proba = side_by_side(p_.data(), rows, width_, Dtype::float64);
    if (!weighted) return true;
    sample_weight_ = side_by_side(weight_.data(), rows, 1, Dtype::float64);
    by_group_.sample_weight = &sample_weight_;
    return true;
}

void RowsByGroup::look_at(std::size_t group, View& view) const {
    const std::size_t first = starts_[group], n = starts_[group + 1] - first;
    view.events = events_;
    view.y_true = side_by_side(label_.data() + first, n, 1, Dtype::int32);
    view.events.y_true = &view.y_true;
    view.events.y_proba = side_by_side(p_.data() + first * width_, n, width_, Dtype::float64);
    if (events_.sample_weight == nullptr) return;
    view.sample_weight = side_by_side(weight_.data() + first, n, 1, Dtype::float64);
    view.events.sample_weight = &view.sample_weight;
}

}  // namespace calibrant
