#include "partition/partitioned_events.hpp"

#include "kernels/kernels.hpp"
#include "ordering/grouped_scores.hpp"
#include "rows/event_blocks.hpp"
#include "rows/workers.hpp"

#include <cmath>
#include <limits>
#include <type_traits>

namespace calibrant {
namespace {

template <class Value>
auto bytes_of(Value* values) {
    using Byte = std::conditional_t<std::is_const_v<Value>, const std::byte, std::byte>;
    return reinterpret_cast<Byte*>(values);
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

// Reads and checks rows, and says where the values of value_bytes() are.
class PartitionedEvents::OutcomeReader {
public:
    explicit OutcomeReader(const Events& events) : events_(events), block_(events) {}
    [[nodiscard]] std::size_t most_rows() const { return block_.most_rows; }

    [[nodiscard]] bool read(std::size_t row, std::size_t n, const std::byte** values) {
        if (!load_outcomes(events_, row, n, block_)) return false;
        if (block_.omitted != 0) load_with_missing(row, n);
        values[0] = bytes_of(block_.p.data());
        values[1] = bytes_of(block_.label);
        if (events_.sample_weight != nullptr) values[2] = bytes_of(block_.weight);
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

class PartitionedEvents::TruthReader {
public:
    explicit TruthReader(const Events& events) : events_(events) {}
    [[nodiscard]] std::size_t most_rows() const { return block_rows; }

    [[nodiscard]] bool read(std::size_t row, std::size_t n, const std::byte** values) {
        if (!load_events(events_, row, n, 0.0, block_)) return false;
        if (block_.omitted != 0 && !load_with_missing(row, n)) return false;
        values[0] = bytes_of(block_.q);
        if (events_.sample_weight != nullptr) values[1] = bytes_of(block_.weight);
        return true;
    }

private:
    // Rows that will be omitted keep their places: as missing ones.
    [[nodiscard]] bool load_with_missing(std::size_t row, std::size_t n) {
        EventBlock one;
        for (std::size_t i = 0; i < n; ++i) {
            if (!load_events(events_, row + i, 1, 0.0, one)) return false;
            block_.q[i] = one.n == 1 ? one.q[0] : std::numeric_limits<double>::quiet_NaN();
            block_.weight[i] = one.n == 1 ? one.weight[0] : 1.0;
        }
        return true;
    }

    const Events& events_;
    EventBlock block_;
};

std::vector<std::size_t> PartitionedEvents::value_bytes() const {
    std::vector<std::size_t> bytes = {sizeof(double)};
    if (keep_ == Keep::outcome) {
        bytes = {events_.y_proba.width * sizeof(double), sizeof(std::int32_t)};
    }
    if (events_.sample_weight != nullptr) bytes.push_back(sizeof(double));
    return bytes;
}

PartitionedEvents::PartitionedEvents(const Events& events, Keep keep, const GroupCodes& groups,
                                     std::uint64_t rows_before, Poll poll)
    : events_(events),
      keep_(keep),
      rows_before_(rows_before),
      together_(groups, events.size(), value_bytes(), GroupPartition::most_at_once, poll) {
    if (keep == Keep::truth) {
        read<TruthReader>(poll);
    } else {
        read<OutcomeReader>(poll);
    }
}

template <class Reader>
void PartitionedEvents::read(Poll poll) {
    std::vector<Reader> team;
    team.reserve(together_.workers());
    for (std::size_t i = 0; i < together_.workers(); ++i) team.emplace_back(events_);
    const std::size_t failed =
        together_.read(team.front().most_rows(), poll,
                       [&](std::size_t worker, std::size_t row, std::size_t n,
                           const std::byte** values) { return team[worker].read(row, n, values); });
    if (failed == npos) return;
    reject_events(events_, failed, std::min(events_.size(), failed + together_.chunk()),
                  rows_before_);
}

std::size_t PartitionedEvents::chunk() const {
    const std::size_t width = keep_ == Keep::truth ? 1 : events_.y_proba.width;
    return std::max<std::size_t>(chunk_values / std::max<std::size_t>(width, 1), 1);
}

void PartitionedEvents::reject() const { reject_events(events_, 0, events_.size(), rows_before_); }

PartitionedEvents::Scratch::Scratch(const PartitionedEvents& source, std::size_t rows)
    : events_(source.events_) {
    const bool labelled = source.keep_ == Keep::outcome;
    const std::size_t width = labelled ? events_.y_proba.width : 1;
    p_ = LargeArray<double>(rows * width);
    columns_.push_back(bytes_of(p_.data()));
    events_.y_proba = side_by_side(p_.data(), rows, width, Dtype::float64);
    events_.is_matrix = labelled && events_.is_matrix;
    events_.y_true = nullptr;
    if (labelled) {
        label_ = LargeArray<std::int32_t>(rows);
        columns_.push_back(bytes_of(label_.data()));
        y_true_ = side_by_side(label_.data(), rows, 1, Dtype::int32);
        events_.y_true = &y_true_;
    }
    if (events_.sample_weight == nullptr) return;
    weight_ = LargeArray<double>(rows);
    columns_.push_back(bytes_of(weight_.data()));
    sample_weight_ = side_by_side(weight_.data(), rows, 1, Dtype::float64);
    events_.sample_weight = &sample_weight_;
}

}  // namespace calibrant
