// Groups whose rows lie side by side, and how accumulators of any kind take them in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "calibrant/column.hpp"
#include "calibrant/grouped_scores.hpp"
#include "calibrant/parallel.hpp"

namespace calibrant {

// Where the rows of a group are: [starts[group], starts[group + 1]).
using GroupStarts = std::vector<std::size_t>;

// The rows that have a group, by group and then as they come, in `order`, which has room for all.
[[nodiscard]] GroupStarts rows_in_order(const GroupCodes& groups, std::size_t rows,
                                        std::int64_t* order);

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

// One accumulator for each group, null for those without rows: add(part, group, view, poll) adds
// the rows of a group to an empty one. Each thread has a copy of `view`, to point to rows with.
template <class Part, class View, class Add>
[[nodiscard]] std::vector<std::unique_ptr<Part>> parts_of_runs(const Part& empty,
                                                               const GroupStarts& starts,
                                                               const View& view, Poll poll,
                                                               const Add& add) {
    constexpr std::size_t chunk = 64;
    std::vector<std::unique_ptr<Part>> parts(starts.size() - 1);
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

}  // namespace calibrant
