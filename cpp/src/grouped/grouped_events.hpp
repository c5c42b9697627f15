// How rows get into the accumulators of their groups (grouped_parts.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "calibrant/rows/check.hpp"
#include "calibrant/rows/events.hpp"
#include "calibrant/runtime/parallel.hpp"
#include "grouped/grouped_parts.hpp"
#include "grouped/row_buffer.hpp"
#include "ordering/grouped_scores.hpp"
#include "partition/partitioned_rows.hpp"

namespace calibrant {

// Adds rows to the cells of their groups, in the order in which they come. Returns those that do
// not fit in. Defined for accumulators that have cells.
template <class State>
[[nodiscard]] std::vector<std::size_t> fill_cells(GroupedParts<State>& parts, const Events& events,
                                                  const GroupCodes& groups,
                                                  std::uint64_t rows_before, Poll poll);

// Adds rows to empty groups. Rows without a group are left out, and not checked.
// update(state, rows, group, poll) adds rows to an accumulator.
template <class State, class Rows, class Update>
void update_partitions(GroupedParts<State>& parts, const Rows& rows, std::size_t n,
                       const GroupCodes& groups, Poll poll, const Update& update) {
    typename GroupedParts<State>::Parts of_groups(groups.size);
    parts.grow_to(groups.size);
    for_each_group(rows, n, groups, poll,
                   [&](std::size_t group, const Rows& of_group, Poll inner_poll) {
                       if constexpr (buffers_rows<State>) {
                           if (of_group.size() <= most_buffered<State> &&
                               parts.buffer(group, RowBuffer::of(of_group)))
                               return;
                       }
                       auto state = std::make_unique<State>(parts.parameters());
                       update(*state, of_group, group, inner_poll);
                       of_groups[group] = std::move(state);
                   });
    parts.add(std::move(of_groups));
}

// Sets the groups of empty parts to those of n rows. Rows without a group are checked and left
// out. update(state, rows, group, rows_before, poll) adds rows to one accumulator. If a row is bad
// or the poll says stop, throws and leaves the parts unspecified.
template <class State, class Rows, class Update>
void update_groups(GroupedParts<State>& parts, const Rows& rows, std::size_t n,
                   const GroupCodes& groups, std::uint64_t rows_before, Poll poll,
                   const Update& update) {
    using Layout = CellLayout<State>;
    const auto update_group = [&](State& state, const Rows& some, std::size_t group,
                                  Poll inner_poll) { update(state, some, group, 0, inner_poll); };
    if (n == 0) {
        parts.grow_to(groups.size);
        return;
    }
    if constexpr (Layout::exists) {
        parts.set_columns(Layout::columns(rows));
        if (Layout::suit(parts.parameters(), rows)) {
            const std::vector<std::size_t> others =
                fill_cells(parts, rows, groups, rows_before, poll);
            if (others.empty()) return;
            std::vector<LargeArray<std::byte>> memory;
            std::vector<Column> columns;
            RowView<Rows> picked(rows);
            for (const Column& column : picked.columns()) {
                columns.push_back(picked_rows(column, others, memory.emplace_back()));
            }
            picked.set_columns(std::move(columns));
            std::vector<std::int32_t> codes;
            codes.reserve(others.size());
            for (const std::size_t row : others) codes.push_back(groups.of_row[row]);
            update_partitions(parts, picked.at(0, others.size()), others.size(),
                              {codes.data(), groups.size}, poll, update_group);
            return;
        }
    }
    // Those without a group are one more, which is dropped.
    std::vector<std::int32_t> codes(groups.of_row, groups.of_row + n);
    const auto rest = static_cast<std::int32_t>(groups.size);
    for (std::int32_t& code : codes) code = code < 0 ? rest : code;
    const bool has_rest = std::ranges::count(codes, rest) != 0;
    try {
        update_partitions(parts, rows, n, {codes.data(), groups.size + (has_rest ? 1 : 0)}, poll,
                          update_group);
    } catch (const InvalidInput&) {
        State all = parts.parameters();
        update(all, rows, groups.size, rows_before, poll);  // says which row of all it is
        throw;
    }
    parts.resize(groups.size);
}

}  // namespace calibrant
