#include "ordering/grouped_scores.hpp"

#include <algorithm>
#include <utility>

#include "ordering/sort_keys.hpp"
#include "rows/event_blocks.hpp"
#include "rows/scored_blocks.hpp"
#include "rows/workers.hpp"

namespace calibrant {

GroupedScores::GroupedScores(const ScoredRows& rows, const GroupCodes& groups, Poll poll)
    : size_(rows.size()), ends_(groups.size, 0), rows_(groups.size, 0) {
    if (size_ == 0) return;
    ranked_ = sorted_by_key(read(rows, groups, poll), size_, poll);
    mark(poll);
    find_members(groups, poll);
}

// The rows as they come; those that do not count become absent.
LargeArray<GroupedScores::RankedRow> GroupedScores::read(const ScoredRows& rows,
                                                         const GroupCodes& groups, Poll poll) {
    const bool weighted = rows.events.sample_weight != nullptr;
    const std::size_t chunk = chunk_rows(rows);
    const std::size_t workers = workers_for(rows.size(), chunks_per_worker * chunk);
    LargeArray<RankedRow> ranked(rows.size());
    if (weighted) weight_.resize(rows.size());
    std::vector<FoundRows> of_worker(workers);
    std::vector<std::vector<std::uint64_t>> counts(workers, rows_);
    const auto take = [&](const ScoredBlock& block, std::size_t i, std::size_t row,
                          std::size_t worker) {
        FoundRows& found = of_worker[worker];
        const std::int32_t group = groups.of_row[row];
        const double weight = weighted ? block.weight()[i] : 1.0;
        const auto code = static_cast<std::uint64_t>(static_cast<std::int64_t>(group));
        ranked[row] = {{absent}, weighted ? row : code};
        if (group == GroupCodes::left_out) {
            ++found.omitted;
            return;
        }
        if (group >= 0) ++counts[worker][static_cast<std::size_t>(group)];
        if (weight == 0.0) return;
        ranked[row].key = ScoreKey::of(block.score()[i], block.hit()[i] != 0);
        if (!weighted) return;
        weight_[row] = weight;
        found.see_weight(weight);
    };
    const std::size_t failed = for_each_chunk(
        rows.size(), chunk, workers, poll,
        [&](std::size_t worker, std::size_t begin, std::size_t end) {
            ScoredBlock block(rows);
            // Where rows may be dropped, one at a time: to know of which group they were.
            const std::size_t step = rows.events.omit_missing ? 1 : block.most_rows();
            for (std::size_t row = begin; row < end; row += step) {
                if (!block.load(rows, row, std::min(step, end - row))) return false;
                of_worker[worker].omitted += block.omitted();
                if (block.omitted() != 0) ranked[row] = {{absent}, row};
                for (std::size_t i = 0; i < block.n(); ++i) take(block, i, row + i, worker);
            }
            return true;
        });
    if (failed != npos) {
        reject_events(rows.events, failed, std::min(rows.size(), failed + chunk), 0);
    }
    FoundRows total;
    for (const FoundRows& found : of_worker) total.merge(found);
    unit_ = total.unit();
    omitted_ = total.omitted;
    for (const auto& count : counts) {
        for (std::size_t g = 0; g < rows_.size(); ++g) rows_[g] += count[g];
    }
    return ranked;
}

void GroupedScores::mark(Poll poll) {
    // One worker: the places come in order.
    Sums sums;
    for_each_chunk(size_, chunk_values / rows_per_mark * rows_per_mark, 1, poll,
                   [&](std::size_t, std::size_t begin, std::size_t end) {
                       for (std::size_t place = begin; place < end; ++place) {
                           if (place % rows_per_mark == 0) marks_.push_back(sums);
                           add(place, sums);
                       }
                       return true;
                   });
    marks_.push_back(sums);
}

void GroupedScores::find_members(const GroupCodes& groups, Poll poll) {
    const auto group_at = [&](std::size_t place) -> std::int64_t {
        const std::uint64_t row_or_group = ranked_[place].row_or_group;
        return weight_.empty() ? static_cast<std::int64_t>(row_or_group)
                               : groups.of_row[row_or_group];
    };
    const auto in_order = [&](const auto& visit) {
        for_each_chunk(size_, chunk_values, 1, poll,
                       [&](std::size_t, std::size_t begin, std::size_t end) {
                           for (std::size_t place = begin; place < end; ++place) {
                               const std::int64_t group = group_at(place);
                               if (group >= 0) visit(place, ends_[static_cast<std::size_t>(group)]);
                           }
                           return true;
                       });
    };
    in_order([](std::size_t, std::size_t& count) { ++count; });
    std::size_t begin = 0;
    for (std::size_t& count : ends_) begin += std::exchange(count, begin);
    members_ = LargeArray<Member>(begin);
    in_order([&](std::size_t place, std::size_t& next) {
        members_[next++] = {ranked_[place].key, place};
    });
}

GroupedScores::Sums GroupedScores::below(std::size_t place) const {
    Sums sums = marks_[place / rows_per_mark];
    for (std::size_t i = place / rows_per_mark * rows_per_mark; i < place; ++i) add(i, sums);
    return sums;
}

}  // namespace calibrant
