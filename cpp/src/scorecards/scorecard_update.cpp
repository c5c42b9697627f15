#include <algorithm>
#include <memory>
#include <string>

#include "calibrant/rows/check.hpp"
#include "calibrant/scorecards/scorecard.hpp"
#include "partition/group_runs.hpp"
#include "partition/partitioned_events.hpp"
#include "rows/event_blocks.hpp"
#include "rows/workers.hpp"
#include "scorecards/block_scorer.hpp"

namespace calibrant {
namespace {

class ScorecardWorker {
public:
    ScorecardWorker(const Scorecard& parameters, const Events& events)
        : events_(events), block_(events), scorer_(events), partial_(parameters, events) {}

    [[nodiscard]] bool add(std::size_t begin, std::size_t end) {
        for (std::size_t row = begin; row < end; row += block_.most_rows) {
            const std::size_t count = std::min(block_.most_rows, end - row);
            if (!load_outcomes(events_, row, count, block_)) return false;
            partial_.omit(block_.omitted);
            scorer_.add(partial_, block_, next_block(events_, row + count));
        }
        return true;
    }

    [[nodiscard]] Scorecard take() { return partial_.take(); }
    void finish_into(Scorecard& total) { partial_.finish_into(total); }

private:
    const Events& events_;
    OutcomeBlock block_;
    BlockScorer scorer_;
    PartialScorecard partial_;
};

// The rows of a group are buffered until there are enough to be scored together. All buffers
// of a thread hold at most this many values, or one row each.
constexpr std::size_t most_buffered = std::size_t{1} << 22;

class GroupWorker {
public:
    GroupWorker(const std::vector<Scorecard>& cards, const GroupedRows& rows)
        : parameters_(cards.back()),
          rows_(rows),
          block_(rows.events),
          full_(rows.events),
          scorer_(rows.events),
          width_(rows.events.y_proba.width),
          most_rows_(std::clamp<std::size_t>(
              most_buffered / (width_ + 2) / std::max<std::size_t>(rows.n_groups, 1), 1,
              block_.most_rows)),
          groups_(cards.size()) {}

    [[nodiscard]] bool add(std::size_t begin, std::size_t end) {
        // Where rows may be dropped, one at a time: to know of which group they were.
        const std::size_t step = rows_.events.omit_missing ? 1 : block_.most_rows;
        for (std::size_t row = begin; row < end; row += step) {
            const std::size_t count = std::min(step, end - row);
            if (!load_outcomes(rows_.events, row, count, block_)) return false;
            if (block_.omitted != 0) of_row(row).partial->omit(block_.omitted);
            for (std::size_t i = 0; i < block_.n; ++i) take(row + i, i);
        }
        return true;
    }

    void finish_into(std::vector<Scorecard>& cards) {
        for (std::size_t g = 0; g < cards.size(); ++g) {
            Group& group = groups_[g];
            if (group.partial == nullptr) continue;
            score(group);
            group.partial->finish_into(cards[g]);
            group = {};
        }
    }

private:
    struct Group {
        std::unique_ptr<PartialScorecard> partial;
        std::size_t n = 0;  // rows in the buffer
        std::vector<double> p, weight;
        std::vector<std::int32_t> label;
    };

    // The last group is that of rows in no group.
    Group& of_row(std::size_t row) {
        const std::int32_t code = rows_.groups[row];
        Group& group = groups_[code < 0 ? rows_.n_groups : static_cast<std::size_t>(code)];
        if (group.partial == nullptr) {
            group.partial = std::make_unique<PartialScorecard>(parameters_, rows_.events);
            group.p.resize(most_rows_ * width_);
            group.label.resize(most_rows_);
            if (rows_.events.sample_weight != nullptr) group.weight.resize(most_rows_);
        }
        return group;
    }

    void take(std::size_t row, std::size_t i) {
        Group& group = of_row(row);
        if (&group == &groups_.back()) {
            group.partial->omit(1);
            return;
        }
        if (width_ == 1) {
            group.p[group.n] = block_.p[i];
        } else {
            std::copy_n(&block_.p[i * width_], width_, &group.p[group.n * width_]);
        }
        group.label[group.n] = block_.label[i];
        if (!group.weight.empty()) group.weight[group.n] = block_.weight[i];
        if (++group.n == most_rows_) score(group);
    }

    void score(Group& group) {
        std::copy_n(group.p.begin(), group.n * width_, full_.p.begin());
        std::copy_n(group.label.begin(), group.n, full_.label);
        if (!group.weight.empty()) std::copy_n(group.weight.begin(), group.n, full_.weight);
        full_.n = group.n;
        scorer_.add(*group.partial, full_);
        group.n = 0;
    }

    Scorecard parameters_;
    const GroupedRows& rows_;
    OutcomeBlock block_;  // as the rows come
    OutcomeBlock full_;   // of one group
    BlockScorer scorer_;
    std::size_t width_;
    std::size_t most_rows_;
    std::vector<Group> groups_;
};

void check_classes(const Events& events) {
    if (events.n_classes() < 2 || events.n_classes() > ScoreSums::most_classes) {
        throw InvalidInput("scores need 2 to 2^20 classes, got " +
                           std::to_string(events.n_classes()));
    }
}

}  // namespace

void Scorecard::update(const Events& events, std::uint64_t rows_before, Poll poll) {
    if (events.size() == 0) return;
    check_classes(events);
    ScoreTable added;
    if (table_) {
        added.update(binary_or_top_label(events), rows_before, poll);
    }
    update_by_workers<ScorecardWorker>(*this, events, events, rows_before, poll);
    if (table_) table_->merge(added);
}

class ScorecardsByGroup {
public:
    static PartsOfGroups<Scorecard> of(const Scorecard& empty, const PartitionedEvents& rows,
                                       Poll poll, const SetAside& aside);
};

PartsOfGroups<Scorecard> ScorecardsByGroup::of(const Scorecard& empty,
                                               const PartitionedEvents& rows, Poll poll,
                                               const SetAside& aside) {
    check_classes(rows.events());
    std::vector<std::uint8_t> is_aside(rows.together().groups());
    const SetAside cards_aside = [&](const PartitionedEvents::Scratch& memory,
                                     const RowsOfGroup& of) {
        return (is_aside[of.group] = aside && aside(memory, of)) != 0;
    };
    auto cards = parts_by_workers<ScorecardWorker>(
        empty.without_table(), rows, poll, [](const Events& events) { return events; },
        cards_aside);
    if (!empty.table_) return cards;
    const SetAside tables_aside = [&](const PartitionedEvents::Scratch&, const RowsOfGroup& of) {
        return is_aside[of.group] != 0;
    };
    PartsOfGroups<ScoreTable> tables = parts_by_group(*empty.table_, rows, poll, tables_aside);
    constexpr std::size_t chunk = 1024;  // their memory is far apart
    (void)for_each_chunk(cards.size(), chunk, workers_for(cards.size(), chunk), poll,
                         [&](std::size_t, std::size_t begin, std::size_t end) {
                             for (std::size_t i = begin; i < end; ++i) {
                                 if (cards[i]) cards[i]->table_.emplace(std::move(*tables[i]));
                             }
                             return true;
                         });
    return cards;
}

PartsOfGroups<Scorecard> parts_by_group(const Scorecard& empty, const PartitionedEvents& rows,
                                        Poll poll, const SetAside& aside) {
    return ScorecardsByGroup::of(empty, rows, poll, aside);
}

std::vector<Scorecard> scorecards_by_group(const Scorecard& parameters, const GroupedRows& rows,
                                           Poll poll) {
    std::vector<Scorecard> cards(rows.n_groups + 1, parameters.empty());
    if (rows.events.size() == 0) return cards;
    check_classes(rows.events);
    update_by_workers<GroupWorker>(cards, rows, rows.events, 0, poll);
    return cards;
}

}  // namespace calibrant
