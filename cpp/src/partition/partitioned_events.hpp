// Rows brought together by group (group_partition.hpp): read and checked once, in the order in
// which they come, and copied so that those of a group lie side by side. Then any accumulator can
// take in one group after the other, each at the speed of contiguous rows.
//
// Cost: 16 bytes a row (12 of truths), 8 more for each further column and for weights; and 12 (or
// 8) for the rows of the largest partition, for each thread. The order of the rows of a group
// is kept.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "calibrant/rows/events.hpp"
#include "calibrant/runtime/parallel.hpp"
#include "ordering/grouped_scores.hpp"
#include "partition/group_partition.hpp"
#include "partition/group_runs.hpp"
#include "partition/partition_workers.hpp"
#include "rows/workers.hpp"
#include "runtime/large_pages.hpp"

namespace calibrant {

class Assessment;
class RiskProfile;
class Scorecard;
class ScoreTable;

// A few rows of others, copied; without weights.
class PickedRows {
public:
    PickedRows(const Events& events, const std::vector<std::size_t>& rows);
    PickedRows(const PickedRows&) = delete;  // events_ points into it
    PickedRows& operator=(const PickedRows&) = delete;
    ~PickedRows() = default;
    [[nodiscard]] const Events& events() const { return events_; }

private:
    std::vector<double> p_;
    std::vector<std::int32_t> label_;
    Column y_true_;
    Events events_;
};

class PartitionedEvents {
public:
    // What is kept of a row besides its weight: its probabilities and label, or the probability
    // given to what happened alone, as of events without labels.
    enum class Keep { outcome, truth };

    // Events have labels. Rows in no group are checked and left out. Throws InvalidInput at a bad
    // row, and as for_each_chunk does. rows_before is for messages only.
    PartitionedEvents(const Events& events, Keep keep, const GroupCodes& groups,
                      std::uint64_t rows_before, Poll poll);

    [[nodiscard]] const GroupPartition& together() const { return together_; }
    [[nodiscard]] const Events& events() const { return events_; }  // as they come
    [[nodiscard]] std::size_t chunk() const;                        // rows that are worth while
    [[noreturn]] void reject() const;                               // there is a bad row

    // Room for rows, and events that are those rows.
    class Scratch {
    public:
        Scratch(const PartitionedEvents& source, std::size_t rows);
        Scratch(const Scratch&) = delete;  // the events point into it
        Scratch& operator=(const Scratch&) = delete;
        ~Scratch() = default;
        [[nodiscard]] const std::vector<std::byte*>& columns() const { return columns_; }
        [[nodiscard]] const Events& events() const { return events_; }
        [[nodiscard]] const double* p() const { return p_.data(); }
        [[nodiscard]] const std::int32_t* label() const { return label_.data(); }

    private:
        LargeArray<double> p_, weight_;
        LargeArray<std::int32_t> label_;
        std::vector<std::byte*> columns_;
        Column y_true_, sample_weight_;
        Events events_;
    };

private:
    class OutcomeReader;
    class TruthReader;

    [[nodiscard]] std::vector<std::size_t> value_bytes() const;
    template <class Reader>
    void read(Poll poll);

    Events events_;
    Keep keep_;
    std::uint64_t rows_before_;
    GroupPartition together_;
};

// Asked before the rows of a group are added to an accumulator, on several threads: true if they
// need none.
using SetAside = std::function<bool(const PartitionedEvents::Scratch&, const RowsOfGroup&)>;

// Some rows of events: to point to one group after the other.
class EventView {
public:
    explicit EventView(const Events& all) : all_(&all), view_(all) {}

    [[nodiscard]] const Events& at(std::size_t begin, std::size_t n) {
        const auto point_to = [&](const Column* column, Column& stretch) -> const Column* {
            if (column == nullptr) return nullptr;
            stretch = stretch_of(*column, begin, n);
            return &stretch;
        };
        view_.y_proba = stretch_of(all_->y_proba, begin, n);
        view_.y_true = point_to(all_->y_true, y_true_);
        view_.sample_weight = point_to(all_->sample_weight, sample_weight_);
        return view_;
    }

private:
    const Events* all_;
    Column y_true_, sample_weight_;
    Events view_;
};

// rows_of(events) is what a Worker is made from, together with an empty accumulator.
template <class Worker, class Part, class RowsOf>
[[nodiscard]] PartsOfGroups<Part> parts_by_workers(const Part& empty,
                                                   const PartitionedEvents& source, Poll poll,
                                                   const RowsOf& rows_of,
                                                   const SetAside& aside = nullptr) {
    const auto of_memory = [&](const PartitionedEvents::Scratch& memory) {
        return rows_of(memory.events());
    };
    const auto by_all_threads = [&](const auto& rows, const GroupStarts& starts) {
        return parts_by_workers<Worker>(
            empty, rows, starts, source.chunk(), [&](std::size_t, std::size_t) { source.reject(); },
            poll);
    };
    return update_partitions<Worker>(
        empty, source, of_memory, chunks_per_worker * source.chunk(), by_all_threads,
        [&] { source.reject(); }, poll, aside);
}

// Of accumulators whose workers take one group after the other; null also for what was set aside,
// which needs not be all that could be.
[[nodiscard]] PartsOfGroups<RiskProfile> parts_by_group(const RiskProfile& empty,
                                                        const PartitionedEvents& rows, Poll poll);
[[nodiscard]] PartsOfGroups<Assessment> parts_by_group(const Assessment& empty,
                                                       const PartitionedEvents& rows, Poll poll,
                                                       const SetAside& aside);
[[nodiscard]] PartsOfGroups<ScoreTable> parts_by_group(const ScoreTable& empty,
                                                       const PartitionedEvents& rows, Poll poll,
                                                       const SetAside& aside);
[[nodiscard]] PartsOfGroups<Scorecard> parts_by_group(const Scorecard& empty,
                                                      const PartitionedEvents& rows, Poll poll,
                                                      const SetAside& aside);

// Of others: update(part, events, poll) adds rows to an empty one.
template <class Part, class Update>
class UpdatingWorker {
public:
    struct Rows {
        const Events& events;
        const Update& update;
    };

    UpdatingWorker(const Part& empty, const Rows& rows)
        : update_(rows.update), view_(rows.events), nothing_(empty.empty()), part_(nothing_) {}

    [[nodiscard]] bool add(std::size_t begin, std::size_t end) {
        update_(part_, view_.at(begin, end - begin), nullptr);
        return true;
    }

    [[nodiscard]] Part take() { return std::exchange(part_, nothing_); }

private:
    const Update& update_;
    EventView view_;
    Part nothing_, part_;
};

template <class Part, class Update>
[[nodiscard]] PartsOfGroups<Part> parts_by_group(const Part& empty, const PartitionedEvents& source,
                                                 Poll poll, const Update& update) {
    using Worker = UpdatingWorker<Part, Update>;
    using Rows = typename Worker::Rows;
    const auto of_memory = [&](const PartitionedEvents::Scratch& memory) {
        return Rows{memory.events(), update};
    };
    const auto by_all_threads = [&](const Rows& rows, const GroupStarts& starts) {
        return parts_of_runs(empty, starts, EventView(rows.events), poll,
                             [&](Part& part, std::size_t group, EventView& view, Poll inner_poll) {
                                 const std::size_t begin = starts[group];
                                 update(part, view.at(begin, starts[group + 1] - begin),
                                        inner_poll);
                             });
    };
    return update_partitions<Worker>(
        empty, source, of_memory, chunks_per_worker * source.chunk(), by_all_threads,
        [&] { source.reject(); }, poll);
}

}  // namespace calibrant
