// How the groups of one GroupedParts are added to those of another: whole or not at all.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "calibrant/runtime/parallel.hpp"
#include "grouped/group_cells.hpp"
#include "grouped/grouped_parts.hpp"
#include "grouped/row_buffer.hpp"

namespace calibrant {

template <class State>
void GroupedParts<State>::merge(const GroupedParts& other, const std::vector<std::size_t>& places,
                                Poll poll) {
    if (places.size() != other.size()) throw std::invalid_argument("one place for each group");
    State(parameters_).merge(other.parameters_);  // it rejects other parameters
    std::size_t groups = 0;
    for (const std::size_t place : places) groups = std::max(groups, place + 1);  // npos + 1 is 0
    // All that may be rejected, be interrupted or find no memory comes first, and aside.
    std::vector<Merged> merged = merged_aside(other, places, poll);
    std::vector<bool> is_done(places.size());
    set_columns(other.columns_);
    if (other.per_group_ != 0) make_cells();
    if (!merged.empty()) overflow_.resize(std::max(groups, overflow_.size()));
    make_room_for_buffered(other, places);
    grow_to(groups);
    for (Merged& one : merged) {
        take(one);
        is_done[one.from] = one.of_all;
    }
    for (std::size_t i = 0; i < places.size(); ++i) {
        if (places[i] == npos || is_done[i]) continue;
        if (other.per_group_ != 0) add_cells(other, i, places[i]);
        if (other.has_buffered(i)) buffered_[places[i]].add(other.buffered_[i]);
    }
}

template <class State>
auto GroupedParts<State>::merged_aside(const GroupedParts& other,
                                       const std::vector<std::size_t>& places, Poll poll) const
    -> std::vector<Merged> {
    constexpr std::size_t chunk = 16;
    std::vector<Merged> merged;
    for (std::size_t i = 0; i < places.size(); ++i) {
        const std::size_t to = places[i];
        if (to == npos) continue;
        check_buffered(other, i, to);
        const bool of_all = is_too_much(other, i, to);
        if (of_all || other.overflow(i) != nullptr) merged.push_back({i, to, of_all, nullptr});
    }
    (void)for_each_chunk(merged.size(), chunk, workers_for(merged.size(), 4 * chunk), poll,
                         [&](std::size_t, std::size_t begin, std::size_t end) {
                             for (std::size_t i = begin; i < end; ++i) {
                                 merged[i].sum = std::make_unique<State>(sum_of(other, merged[i]));
                             }
                             return true;
                         });
    return merged;
}

template <class State>
bool GroupedParts<State>::is_too_much(const GroupedParts& other, std::size_t from,
                                      std::size_t to) const {
    if constexpr (buffers_rows<State>) {
        return buffered(to).size() + other.buffered(from).size() > most_buffered<State>;
    } else {
        const std::uint64_t mine = to < size() ? rows_in_cells(to) : 0;
        return mine + other.rows_in_cells(from) >= most_cell_rows;
    }
}

template <class State>
State GroupedParts<State>::sum_of(const GroupedParts& other, const Merged& groups) const {
    State sum = parameters_;
    if (groups.of_all) {
        if constexpr (buffers_rows<State>) {
            RowBuffer rows = buffered(groups.to);
            rows.add(other.buffered(groups.from));
            rows.add_to(sum);
        } else {
            if (groups.to < size()) sum.merge(group(groups.to));
            sum.merge(other.group(groups.from));
            return sum;
        }
    }
    if (const State* const mine = overflow(groups.to)) sum.merge(*mine);
    if (const State* const theirs = other.overflow(groups.from)) sum.merge(*theirs);
    return sum;
}

template <class State>
void GroupedParts<State>::make_room_for_buffered(const GroupedParts& other,
                                                 const std::vector<std::size_t>& places) {
    for (std::size_t i = 0; i < places.size(); ++i) {
        if (places[i] == npos || !other.has_buffered(i)) continue;
        if (buffered_.size() <= places[i]) buffered_.resize(places[i] + 1);
        buffered_[places[i]].make_room(other.buffered_[i]);
    }
}

template <class State>
void GroupedParts<State>::take(Merged& merged) noexcept {
    overflow_[merged.to] = std::move(merged.sum);
    if (!merged.of_all) return;
    omitted_[merged.to] = 0;
    std::fill_n(cells_.data() + merged.to * per_group_, per_group_, CellWords{});
    if constexpr (buffers_rows<State>) buffered_[merged.to] = {};
}

template <class State>
void GroupedParts<State>::add_cells(const GroupedParts& other, std::size_t from,
                                    std::size_t to) noexcept {
    CellWords* const mine = cells_.data() + to * per_group_;
    for (std::size_t k = 0; k < per_group_; ++k) {
        const CellWords& theirs = other.cells_of(from)[k];
        for (std::size_t i = 0; i < std::size(theirs.at); ++i) mine[k].at[i] += theirs.at[i];
    }
    omitted_[to] += other.omitted_[from];
}

template <class State>
bool GroupedParts<State>::fit(const RowBuffer& rows, const State* state) {
    if (rows.empty() || state == nullptr) return true;
    if constexpr (requires { state->columns(); }) return state->columns() <= 1;
    if constexpr (requires { state->scores_per_event(); }) {
        return state->scores_per_event() == 0 || state->scores_per_event() == 2;
    }
    return true;
}

template <class State>
State GroupedParts<State>::of_rows(const RowBuffer& rows) const {
    State state = parameters_;
    rows.add_to(state);
    return state;
}

template <class State>
void GroupedParts<State>::check_buffered(const GroupedParts& other, std::size_t from,
                                         std::size_t to) const {
    if constexpr (buffers_rows<State>) {
        // Merging says why they do not fit.
        const State* const mine = overflow(to);
        const State* const theirs = other.overflow(from);
        if (!fit(other.buffered(from), mine)) State(*mine).merge(of_rows(other.buffered(from)));
        if (!fit(buffered(to), theirs)) of_rows(buffered(to)).merge(*theirs);
    }
}

}  // namespace calibrant
