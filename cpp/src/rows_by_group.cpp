#include "calibrant/rows_by_group.hpp"

#include <cmath>
#include <limits>

#include "calibrant/group_places.hpp"

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

// Copies rows to their places.
class RowsByGroup::Scatter {
public:
    Scatter(RowsByGroup& to, const Events& events) : to_(to), events_(events), block_(events) {}

    [[nodiscard]] bool copy(std::size_t row, const std::size_t* place, std::size_t n) {
        ask_for_places(to_.p_.data(), to_.width_, place, n);
        ask_for_places(to_.label_.data(), 1, place, n);
        for (std::size_t i = 0; i < n; i += block_.most_rows) {
            const std::size_t count = std::min(block_.most_rows, n - i);
            if (!load_outcomes(events_, row + i, count, block_)) return false;
            if (block_.omitted != 0) load_with_missing(row + i, count);
            put(place + i, count);
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
            double* const p = &block_.p[i * to_.width_];
            bool missing = block_.label[i] < 0;
            for (std::size_t j = 0; j < to_.width_; ++j) missing = missing || std::isnan(p[j]);
            if (events_.sample_weight != nullptr && std::isnan(block_.weight[i])) missing = true;
            if (!missing) continue;
            p[0] = std::numeric_limits<double>::quiet_NaN();
            block_.label[i] = 0;
            block_.weight[i] = 1.0;
        }
    }

    void put(const std::size_t* place, std::size_t n) {
        const std::size_t width = to_.width_;
        if (width == 1) {
            put_rows(block_.p.data(), place, n, to_.p_.data());
        } else {
            for (std::size_t i = 0; i < n; ++i) {
                if (place[i] == npos) continue;
                std::copy_n(&block_.p[i * width], width, to_.p_.data() + place[i] * width);
            }
        }
        put_rows(block_.label, place, n, to_.label_.data());
        if (events_.sample_weight != nullptr) {
            put_rows(block_.weight, place, n, to_.weight_.data());
        }
    }

    RowsByGroup& to_;
    const Events& events_;
    OutcomeBlock block_;
};

RowsByGroup::RowsByGroup(const Events& events, const GroupCodes& groups, std::uint64_t rows_before,
                         Poll poll)
    : events_(events), by_group_(events), width_(events.y_proba.width) {
    copy(events, groups, rows_before, poll);
    const std::size_t rows = starts_.back();
    y_true_ = side_by_side(label_.data(), rows, 1, Dtype::int32);
    by_group_.y_true = &y_true_;
    by_group_.y_proba = side_by_side(p_.data(), rows, width_, Dtype::float64);
    if (events.sample_weight == nullptr) return;
    sample_weight_ = side_by_side(weight_.data(), rows, 1, Dtype::float64);
    by_group_.sample_weight = &sample_weight_;
}

void RowsByGroup::copy(const Events& events, const GroupCodes& groups, std::uint64_t rows_before,
                       Poll poll) {
    GroupPlaces places(groups, events.size(), poll);
    starts_ = places.starts();
    p_ = LargeArray<double>(starts_.back() * width_);
    label_ = LargeArray<std::int32_t>(starts_.back());
    if (events.sample_weight != nullptr) weight_ = LargeArray<double>(starts_.back());
    std::vector<Scatter> team;
    team.reserve(places.workers());
    for (std::size_t i = 0; i < places.workers(); ++i) team.emplace_back(*this, events);
    const std::size_t failed =
        places.for_each(poll, [&](std::size_t worker, std::size_t row, const std::size_t* place,
                                  std::size_t n) { return team[worker].copy(row, place, n); });
    if (failed == npos) return;
    refuse_events(events, failed, std::min(events.size(), failed + places.stretch()), rows_before);
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
