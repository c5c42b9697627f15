// Rows brought together by group (rows_together.hpp): read and checked once, in the order in which
// they come, and copied so that those of a group lie side by side. Then any accumulator can take in
// one group after the other, each at the speed of contiguous rows.
//
// Cost: 16 bytes a row (12 of truths), 8 more for each further column and for weights. The order of
// the rows of a group is kept.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "calibrant/events.hpp"
#include "calibrant/group_runs.hpp"
#include "calibrant/grouped_scores.hpp"
#include "calibrant/large_pages.hpp"
#include "calibrant/parallel.hpp"
#include "calibrant/rows_together.hpp"

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

class RowsByGroup {
public:
    RowsByGroup(const RowsByGroup&) = delete;  // events() point into it
    RowsByGroup& operator=(const RowsByGroup&) = delete;
    ~RowsByGroup() = default;

    // What is kept of a row besides its weight: its probabilities and label, or the probability
    // given to what happened alone, as of events without labels.
    enum class Keep { outcome, truth };

    // Events have labels. Rows in no group are checked and left out. Throws InvalidInput at a bad
    // row, and as for_each_chunk does. rows_before is for messages only.
    RowsByGroup(const Events& events, Keep keep, const GroupCodes& groups,
                std::uint64_t rows_before, Poll poll);

    // Moves on to the next groups; false if there are none with rows.
    [[nodiscard]] bool next(Poll poll);

    // Of these groups, of which the first is group 0.
    [[nodiscard]] std::size_t first_group() const { return together_.first_group(); }
    [[nodiscard]] const GroupStarts& starts() const { return starts_; }
    // All their rows, group by group.
    [[nodiscard]] const Events& events() const { return by_group_; }

    // The rows of a group, as events that point into this and into the view, which can be used for
    // one group after the other.
    struct View {
        Column y_true, sample_weight;
        Events events;
    };
    void look_at(std::size_t group, View& view) const;

private:
    class OutcomeReader;
    class TruthReader;

    [[nodiscard]] std::vector<std::size_t> value_bytes() const;
    template <class Reader>
    void read(std::uint64_t rows_before, Poll poll);

    Keep keep_;
    Events events_;  // as they come
    Column y_true_, sample_weight_;
    Events by_group_;
    std::size_t room_ = 0;  // rows
    RowsTogether together_;
    GroupStarts starts_;
    LargeArray<double> p_, weight_;
    LargeArray<std::int32_t> label_;
};

// As parts_by_workers, of events or of rows made of them. The rows are known to be good.
template <class Worker, class Part, class Rows>
[[nodiscard]] PartsOfGroups<Part> parts_by_workers(const Part& empty, const Rows& rows,
                                                   const RowsByGroup& grouped, Poll poll) {
    const Events& events = grouped.events();
    const std::size_t chunk = std::max<std::size_t>(chunk_values / events.y_proba.width, 1);
    const auto refuse = [&](std::size_t begin, std::size_t end) {
        refuse_events(events, begin, end, 0);
    };
    return parts_by_workers<Worker>(empty, rows, grouped.starts(), chunk, refuse, poll);
}

// Of accumulators whose workers take one group after the other.
[[nodiscard]] PartsOfGroups<RiskProfile> parts_by_group(const RiskProfile& empty,
                                                        const RowsByGroup& rows, Poll poll);
[[nodiscard]] PartsOfGroups<Assessment> parts_by_group(const Assessment& empty,
                                                       const RowsByGroup& rows, Poll poll);
[[nodiscard]] PartsOfGroups<ScoreTable> parts_by_group(const ScoreTable& empty,
                                                       const RowsByGroup& rows, Poll poll);
[[nodiscard]] PartsOfGroups<Scorecard> parts_by_group(const Scorecard& empty,
                                                      const RowsByGroup& rows, Poll poll);

// Of others: update(part, events, poll) adds rows to an empty one.
template <class Part, class Update>
[[nodiscard]] PartsOfGroups<Part> parts_by_group(const Part& empty, const RowsByGroup& rows,
                                                 Poll poll, const Update& update) {
    return parts_of_runs(
        empty, rows.starts(), RowsByGroup::View{}, poll,
        [&](Part& part, std::size_t group, RowsByGroup::View& view, Poll inner_poll) {
            rows.look_at(group, view);
            update(part, view.events, inner_poll);
        });
}

}  // namespace calibrant
