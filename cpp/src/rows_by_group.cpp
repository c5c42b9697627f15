#include "calibrant/rows_by_group.hpp"

#include <cmath>
#include <limits>

#include "calibrant/workers.hpp"

namespace calibrant {
namespace {

// Rows are copied in so many stretches at most; each has a place of its own in every group.
constexpr std::size_t most_stretches = 16;
constexpr std::size_t least_stretch = std::size_t{1} << 14;

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

GroupStarts rows_in_order(const GroupCodes& groups, std::size_t rows, std::int64_t* order) {
    GroupStarts starts(groups.size + 1);
    for (std::size_t row = 0; row < rows; ++row) {
        const std::int32_t code = groups.of_row[row];
        if (code >= 0) ++starts.at(static_cast<std::size_t>(code) + 1);
    }
    for (std::size_t group = 0; group < groups.size; ++group) starts[group + 1] += starts[group];
    GroupStarts next = starts;
    for (std::size_t row = 0; row < rows; ++row) {
        const std::int32_t code = groups.of_row[row];
        if (code < 0) continue;
        order[next[static_cast<std::size_t>(code)]++] = static_cast<std::int64_t>(row);
    }
    return starts;
}

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

// Copies a stretch of rows to their places.
class RowsByGroup::Scatter {
public:
    Scatter(RowsByGroup& to, const Events& events) : to_(to), events_(events), block_(events) {}

    // next[group]: where its next row belongs.
    [[nodiscard]] bool copy(std::size_t begin, std::size_t end, const std::int32_t* codes,
                            std::size_t* next) {
        for (std::size_t row = begin; row < end; row += block_.most_rows) {
            const std::size_t count = std::min(block_.most_rows, end - row);
            if (!load_outcomes(events_, row, count, block_)) return false;
            if (block_.omitted != 0) load_with_missing(row, count);
            for (std::size_t i = 0; i < count; ++i) {
                ask_for_place(codes[row + (i + ahead < count ? i + ahead : i)], next);
                if (codes[row + i] < 0) continue;
                put(i, next[static_cast<std::size_t>(codes[row + i])]++);
            }
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

    // Rows between asking for a place and using it: as long as the memory takes.
    static constexpr std::size_t ahead = 24;

    void ask_for_place(std::int32_t code, const std::size_t* next) const {
        if (code < 0) return;
        const std::size_t place = next[code];
        __builtin_prefetch(to_.p_.data() + place * to_.width_, 1);
        __builtin_prefetch(to_.label_.data() + place, 1);
    }

    void put(std::size_t i, std::size_t place) {
        if (to_.width_ == 1) {
            to_.p_.data()[place] = block_.p[i];
        } else {
            std::copy_n(&block_.p[i * to_.width_], to_.width_, to_.p_.data() + place * to_.width_);
        }
        to_.label_.data()[place] = block_.label[i];
        if (events_.sample_weight != nullptr) to_.weight_.data()[place] = block_.weight[i];
    }

    RowsByGroup& to_;
    const Events& events_;
    OutcomeBlock block_;
};

RowsByGroup::RowsByGroup(const Events& events, const GroupCodes& groups, std::uint64_t rows_before,
                         Poll poll)
    : events_(events),
      by_group_(events),
      width_(events.y_proba.width),
      starts_(groups.size + 1, 0) {
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
    const std::size_t n = events.size();
    if (n == 0) return;
    const std::size_t most =
        std::clamp<std::size_t>(n / (groups.size + least_stretch), 1, most_stretches);
    const std::size_t stretch = (n + most - 1) / most;
    const std::size_t stretches = (n + stretch - 1) / stretch;
    const std::size_t workers = workers_for(n, stretch);
    std::vector<std::vector<std::size_t>> next(stretches, std::vector<std::size_t>(groups.size));
    (void)for_each_chunk(n, stretch, workers, poll,
                         [&](std::size_t, std::size_t begin, std::size_t end) {
                             std::vector<std::size_t>& counts = next[begin / stretch];
                             for (std::size_t row = begin; row < end; ++row) {
                                 const std::int32_t code = groups.of_row[row];
                                 if (code >= 0) ++counts.at(static_cast<std::size_t>(code));
                             }
                             return true;
                         });
    std::size_t place = 0;
    for (std::size_t group = 0; group < groups.size; ++group) {
        starts_[group] = place;
        for (std::vector<std::size_t>& of_stretch : next) {
            const std::size_t count = of_stretch[group];
            of_stretch[group] = place;
            place += count;
        }
    }
    starts_.back() = place;
    p_ = LargeArray<double>(place * width_);
    label_ = LargeArray<std::int32_t>(place);
    if (events.sample_weight != nullptr) weight_ = LargeArray<double>(place);
    std::vector<Scatter> team;
    team.reserve(workers);
    for (std::size_t i = 0; i < workers; ++i) team.emplace_back(*this, events);
    const std::size_t failed = for_each_chunk(
        n, stretch, workers, poll, [&](std::size_t worker, std::size_t begin, std::size_t end) {
            return team[worker].copy(begin, end, groups.of_row, next[begin / stretch].data());
        });
    if (failed != npos) refuse_events(events, failed, std::min(n, failed + stretch), rows_before);
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
