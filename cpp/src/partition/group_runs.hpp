// Groups whose rows lie side by side, and how accumulators of any kind take them in: each by
// itself, or through workers that are made once for all groups of a thread, with their scratch
// memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "calibrant/rows/column.hpp"
#include "calibrant/runtime/parallel.hpp"
#include "ordering/grouped_scores.hpp"
#include "rows/workers.hpp"

namespace calibrant {

// Where the rows of a group are: [starts[group], starts[group + 1]).
using GroupStarts = std::vector<std::size_t>;

// One accumulator for each group, null for those without rows.
template <class Part>
using PartsOfGroups = std::vector<std::unique_ptr<Part>>;

// Rows [begin, begin + count) of a column.
[[nodiscard]] inline Column stretch_of(const Column& column, std::size_t begin, std::size_t count) {
    Column stretch = column;
    stretch.size = count;
    if (column.dtype != Dtype::bits) {
        stretch.data += static_cast<std::ptrdiff_t>(begin) * column.stride;
    }
    stretch.bit_offset += begin * column.width;
    stretch.validity_offset += begin * column.width;
    return stretch;
}

// Groups of so many rows are worth all threads, one after the other.
inline constexpr std::size_t rows_worth_all_threads = std::size_t{1} << 16;

// add(part, group, view, poll) adds the rows of a group to an empty accumulator. Each thread has a
// copy of `view`, to point to rows with.
template <class Part, class View, class Add>
[[nodiscard]] PartsOfGroups<Part> parts_of_runs(const Part& empty, const GroupStarts& starts,
                                                const View& view, Poll poll, const Add& add) {
    constexpr std::size_t chunk = 64;
    PartsOfGroups<Part> parts(starts.size() - 1);
    const std::size_t workers = workers_for(parts.size(), chunk);
    std::vector<View> views(workers, view);
    const auto rows_of = [&](std::size_t group) { return starts[group + 1] - starts[group]; };
    const auto make = [&](std::size_t group, std::size_t worker, Poll inner_poll) {
        parts[group] = std::make_unique<Part>(empty);
        add(*parts[group], group, views[worker], inner_poll);
    };
    (void)for_each_chunk(parts.size(), chunk, workers, poll,
                         [&](std::size_t worker, std::size_t begin, std::size_t end) {
                             for (std::size_t group = begin; group < end; ++group) {
                                 const std::size_t n = rows_of(group);
                                 if (n != 0 && n < rows_worth_all_threads)
                                     make(group, worker, nullptr);
                             }
                             return true;
                         });
    for (std::size_t group = 0; group < parts.size(); ++group) {
        if (rows_of(group) >= rows_worth_all_threads) make(group, 0, poll);
    }
    return parts;
}

// A Worker, made from (empty, rows) of all groups, has `bool add(begin, end)`, false if a row is
// bad, and take(), which returns the rows since the last one as an accumulator. In a bad chunk
// reject(begin, end) must throw, for the first of the rows in which one is. Groups worth all
// threads are cut into chunks of rows.
template <class Worker, class Part, class Rows, class Reject>
[[nodiscard]] PartsOfGroups<Part> parts_by_workers(const Part& empty, const Rows& rows,
                                                   const GroupStarts& starts, std::size_t chunk,
                                                   const Reject& reject, Poll poll) {
    constexpr std::size_t groups_at_once = 64;
    PartsOfGroups<Part> parts(starts.size() - 1);
    const std::size_t workers = workers_for(starts.back(), chunks_per_worker * chunk);
    std::vector<Worker> team;
    team.reserve(workers);
    for (std::size_t i = 0; i < workers; ++i) team.emplace_back(empty, rows);
    const auto rows_of = [&](std::size_t group) { return starts[group + 1] - starts[group]; };
    std::size_t failed =
        for_each_chunk(parts.size(), groups_at_once, workers, poll,
                       [&](std::size_t worker, std::size_t begin, std::size_t end) {
                           for (std::size_t group = begin; group < end; ++group) {
                               if (rows_of(group) == 0 || rows_of(group) >= rows_worth_all_threads)
                                   continue;
                               if (!team[worker].add(starts[group], starts[group + 1]))
                                   return false;
                               parts[group] = std::make_unique<Part>(team[worker].take());
                           }
                           return true;
                       });
    if (failed != npos) {
        reject(starts[failed], starts[std::min(parts.size(), failed + groups_at_once)]);
    }
    for (std::size_t group = 0; group < parts.size(); ++group) {
        const std::size_t first = starts[group], n = rows_of(group);
        if (n < rows_worth_all_threads) continue;
        failed = for_each_chunk(n, chunk, workers, poll,
                                [&](std::size_t worker, std::size_t begin, std::size_t end) {
                                    return team[worker].add(first + begin, first + end);
                                });
        if (failed != npos) reject(first + failed, first + std::min(n, failed + chunk));
        parts[group] = std::make_unique<Part>(team.front().take());
        for (std::size_t i = 1; i < workers; ++i) parts[group]->merge(team[i].take());
    }
    return parts;
}

}  // namespace calibrant
