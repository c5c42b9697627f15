// How rows of events get into the accumulators of their groups (grouped_parts.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "calibrant/rows/events.hpp"
#include "calibrant/runtime/parallel.hpp"
#include "grouped/grouped_parts.hpp"
#include "grouped/row_buffer.hpp"
#include "ordering/grouped_scores.hpp"
#include "partition/partitioned_events.hpp"

namespace calibrant {

// Adds rows to the cells of their groups, in the order in which they come. Returns those that do
// not fit in. Defined for accumulators that have cells.
template <class State>
[[nodiscard]] std::vector<std::size_t> fill_cells(GroupedParts<State>& parts, const Events& events,
                                                  const GroupCodes& groups,
                                                  std::uint64_t rows_before, Poll poll);

// Sets the groups of empty parts to those of the rows; events have labels. Rows in no group are
// checked and left out. update(state, events, poll) adds rows to one accumulator. If a row is bad
// or the poll says stop, throws and leaves the parts unspecified.
template <class State, class Update>
void update_groups(GroupedParts<State>& parts, const Events& events, const GroupCodes& groups,
                   std::uint64_t rows_before, Poll poll, const Update& update) {
    using Layout = CellLayout<State>;
    const auto add_besides = [&](const Events& these, const GroupCodes& of_these) {
        constexpr auto keep = std::is_same_v<State, RiskProfile> ? PartitionedEvents::Keep::truth
                                                                 : PartitionedEvents::Keep::outcome;
        const PartitionedEvents rows(these, keep, of_these, rows_before, poll);
        if constexpr (buffers_rows<State>) {
            parts.grow_to(groups.size);
            const bool may_wait = !these.is_matrix && these.sample_weight == nullptr;
            const SetAside aside = [&](const PartitionedEvents::Scratch& memory,
                                       const RowsOfGroup& of) {
                const std::size_t n = of.end - of.begin;
                if (!may_wait || n > most_buffered<State>) return false;
                return parts.wait(
                    of.group, RowBuffer::of(memory.p() + of.begin, memory.label() + of.begin, n));
            };
            parts.add(parts_by_group(parts.parameters(), rows, poll, aside));
        } else if constexpr (requires { parts_by_group(parts.parameters(), rows, poll); }) {
            parts.add(parts_by_group(parts.parameters(), rows, poll));
        } else {
            parts.add(parts_by_group(parts.parameters(), rows, poll, update));
        }
    };
    if (events.size() == 0) {
        parts.grow_to(groups.size);
        return;
    }
    if constexpr (Layout::exists) {
        parts.set_columns(Layout::columns(events));
        if (Layout::suit(parts.parameters(), events)) {
            const std::vector<std::size_t> others =
                fill_cells(parts, events, groups, rows_before, poll);
            if (others.empty()) return;
            const PickedRows picked(events, others);
            std::vector<std::int32_t> codes;
            codes.reserve(others.size());
            for (const std::size_t row : others) codes.push_back(groups.of_row[row]);
            add_besides(picked.events(), {codes.data(), groups.size});
            return;
        }
    }
    add_besides(events, groups);
}

}  // namespace calibrant
