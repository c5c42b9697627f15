// One accumulator for each of many groups: in cells (group_cells.hpp) as far as there are such and
// rows fit in, as buffered rows (row_buffer.hpp) where accumulators are large,
// besides as the accumulator itself. What a group holds is the same as an accumulator
// of its rows alone would hold, to the last bit.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "calibrant/rows/check.hpp"
#include "calibrant/runtime/parallel.hpp"
#include "grouped/group_cells.hpp"
#include "grouped/row_buffer.hpp"
#include "runtime/large_pages.hpp"

namespace calibrant {

template <class State>
class GroupedParts {
public:
    // By group; null where there are no rows.
    using Parts = std::vector<std::unique_ptr<State>>;
    using Layout = CellLayout<State>;

    // No groups yet, each to be as `parameters` without rows.
    explicit GroupedParts(const State& parameters) : parameters_(parameters.empty()) {}
    GroupedParts(const GroupedParts& other);
    GroupedParts& operator=(const GroupedParts&) = delete;
    GroupedParts(GroupedParts&&) noexcept = default;
    GroupedParts& operator=(GroupedParts&&) noexcept = default;
    ~GroupedParts() = default;

    [[nodiscard]] const State& parameters() const { return parameters_; }
    [[nodiscard]] std::size_t size() const { return omitted_.size(); }
    [[nodiscard]] State group(std::size_t index) const { return merged({index}); }
    [[nodiscard]] State merged(const std::vector<std::size_t>& groups) const;
    [[nodiscard]] std::vector<std::uint64_t> counts() const;
    [[nodiscard]] std::vector<std::uint64_t> omitted() const;
    // Its cells, if the group holds nothing else; else null.
    [[nodiscard]] const CellWords* only_cells(std::size_t group) const;

    // Adds parts[i] to group first + i, and the group if there is none.
    void add(Parts parts, std::size_t first = 0);
    // Adds group i of the other, which is not this, to group places[i] of this, which gets as many
    // groups as that takes; npos for a group without rows. All or nothing: throws InvalidInput or
    // std::invalid_argument if the groups do not fit, Interrupted if the poll says stop.
    void merge(const GroupedParts& other, const std::vector<std::size_t>& places, Poll poll);
    void append(const State& group);  // as the last one; throws if it does not fit
    // Removes all groups but these, which rise.
    void keep(const std::vector<std::size_t>& groups);

    // For those who add rows. All groups have so many columns of y_proba, where that matters; 0
    // says nothing. Cells are made once they are needed.
    void set_columns(std::size_t columns);
    void make_cells();
    void grow_to(std::size_t groups);
    [[nodiscard]] std::size_t cells_per_group() const { return per_group_; }
    [[nodiscard]] CellWords* cells() { return cells_.data(); }
    [[nodiscard]] std::uint64_t& omitted_in(std::size_t group) { return omitted_[group]; }
    // Moves what the cells of a group hold to the accumulator besides.
    void spill(std::size_t group);
    // Sets the buffered rows, if there are such; of several groups at the same time. Returns
    // whether there are.
    bool buffer(std::size_t group, std::optional<RowBuffer> rows);
    void resize(std::size_t groups);

private:
    [[nodiscard]] const CellWords* cells_of(std::size_t group) const {
        return cells_.data() + group * per_group_;
    }
    [[nodiscard]] const State* overflow(std::size_t group) const {
        return group < overflow_.size() ? overflow_[group].get() : nullptr;
    }
    // Calls visit(group, part) for those that have one, on several threads: they are far apart.
    template <class Visit>
    void for_each_besides(const Visit& visit) const {
        constexpr std::size_t chunk = 1024;
        (void)for_each_chunk(overflow_.size(), chunk, workers_for(overflow_.size(), 4 * chunk),
                             nullptr, [&](std::size_t, std::size_t begin, std::size_t end) {
                                 for (std::size_t i = begin; i < end; ++i) {
                                     if (overflow_[i]) visit(i, *overflow_[i]);
                                 }
                                 return true;
                             });
    }
    [[nodiscard]] std::uint64_t rows_in_cells(std::size_t group) const;
    [[nodiscard]] static std::size_t columns_of(const State& state);
    [[nodiscard]] bool has_buffered(std::size_t group) const {
        return group < buffered_.size() && !buffered_[group].empty();
    }
    [[nodiscard]] const RowBuffer& buffered(std::size_t group) const {
        static const RowBuffer none;
        return group < buffered_.size() ? buffered_[group] : none;
    }

    // Group `from` of another and group `to` of this as one accumulator: of all that they hold, or
    // only of their accumulators besides.
    struct Merged {
        std::size_t from, to;
        bool of_all;
        std::unique_ptr<State> sum;
    };
    [[nodiscard]] std::vector<Merged> merged_aside(const GroupedParts& other,
                                                   const std::vector<std::size_t>& places,
                                                   Poll poll) const;
    [[nodiscard]] State sum_of(const GroupedParts& other, const Merged& groups) const;
    // Whether cells, or rows that wait, would be too many together.
    [[nodiscard]] bool is_too_much(const GroupedParts& other, std::size_t from,
                                   std::size_t to) const;
    // Throws, as merging does, if rows that wait do not fit the accumulator of the other group.
    void check_buffered(const GroupedParts& other, std::size_t from, std::size_t to) const;
    [[nodiscard]] static bool fit(const RowBuffer& rows, const State* state);
    [[nodiscard]] State of_rows(const RowBuffer& rows) const;
    void make_room_for_buffered(const GroupedParts& other, const std::vector<std::size_t>& places);
    void take(Merged& merged) noexcept;  // in the place of what there was
    void add_cells(const GroupedParts& other, std::size_t from, std::size_t to) noexcept;

    State parameters_;
    std::size_t columns_ = 0, per_group_ = 0;
    std::vector<CellWords, LargePages<CellWords>> cells_;  // per_group_ for each group
    std::vector<std::uint64_t> omitted_;                   // rows that the cells would have had
    Parts overflow_;                                       // maybe fewer than groups
    std::vector<RowBuffer> buffered_;                      // where rows are, for each group
};

template <class State>
GroupedParts<State>::GroupedParts(const GroupedParts& other)
    : parameters_(other.parameters_),
      columns_(other.columns_),
      per_group_(other.per_group_),
      cells_(other.cells_),
      omitted_(other.omitted_),
      overflow_(other.overflow_.size()),
      buffered_(other.buffered_) {
    for (std::size_t i = 0; i < overflow_.size(); ++i) {
        if (other.overflow_[i]) overflow_[i] = std::make_unique<State>(*other.overflow_[i]);
    }
}

template <class State>
std::uint64_t GroupedParts<State>::rows_in_cells(std::size_t group) const {
    std::uint64_t rows = 0;
    if constexpr (Layout::exists) {
        const std::size_t with_rows = per_group_ == 0 ? 0 : Layout::with_rows(per_group_);
        for (std::size_t k = 0; k < with_rows; ++k) {
            rows += rows_of_cell(cells_of(group)[k]);
        }
    }
    return rows;
}

template <class State>
std::vector<std::uint64_t> GroupedParts<State>::counts() const {
    std::vector<std::uint64_t> counts(size());
    for (std::size_t i = 0; i < size(); ++i) counts[i] = rows_in_cells(i) + buffered(i).size();
    for_each_besides([&](std::size_t i, const State& part) { counts[i] += part.count(); });
    return counts;
}

template <class State>
std::vector<std::uint64_t> GroupedParts<State>::omitted() const {
    std::vector<std::uint64_t> omitted = omitted_;
    for_each_besides([&](std::size_t i, const State& part) { omitted[i] += part.omitted(); });
    return omitted;
}

template <class State>
const CellWords* GroupedParts<State>::only_cells(std::size_t group) const {
    return per_group_ == 0 || overflow(group) != nullptr ? nullptr : cells_of(group);
}

template <class State>
State GroupedParts<State>::merged(const std::vector<std::size_t>& groups) const {
    State sum = parameters_;
    for (const std::size_t i : groups) {
        if (const State* const part = overflow(i)) {
            if (i == groups.front()) {
                sum = *part;
            } else {
                sum.merge(*part);
            }
        }
        if constexpr (Layout::exists) {
            if (rows_in_cells(i) == 0 && omitted_[i] == 0) continue;
            State held = parameters_;
            Layout::add_to(held, columns_, cells_of(i), omitted_[i]);
            sum.merge(held);
        }
        if constexpr (buffers_rows<State>) {
            if (has_buffered(i)) buffered_[i].add_to(sum);
        }
    }
    return sum;
}

template <class State>
void GroupedParts<State>::keep(const std::vector<std::size_t>& groups) {
    GroupedParts kept(parameters_);
    kept.columns_ = columns_;
    kept.per_group_ = per_group_;
    kept.grow_to(groups.size());
    kept.overflow_.resize(groups.size());
    for (std::size_t i = 0; i < groups.size(); ++i) {  // none of it fails
        const std::size_t group = groups[i];
        std::copy_n(cells_.data() + group * per_group_, per_group_,
                    kept.cells_.data() + i * per_group_);
        kept.omitted_[i] = omitted_[group];
        if (group < overflow_.size()) kept.overflow_[i] = std::move(overflow_[group]);
        if (has_buffered(group)) kept.buffered_[i] = std::move(buffered_[group]);
    }
    *this = std::move(kept);
}

template <class State>
bool GroupedParts<State>::buffer(std::size_t group, std::optional<RowBuffer> rows) {
    if (rows) buffered_[group] = std::move(*rows);
    return rows.has_value();
}

template <class State>
void GroupedParts<State>::spill(std::size_t group) {
    if constexpr (Layout::exists) {
        if (overflow_.size() <= group) overflow_.resize(group + 1);
        overflow_[group] = std::make_unique<State>(this->group(group));
        omitted_[group] = 0;
        std::fill_n(cells_.data() + group * per_group_, per_group_, CellWords{});
    }
}

template <class State>
std::size_t GroupedParts<State>::columns_of(const State& state) {
    if constexpr (Layout::exists && requires { state.columns(); }) return state.columns();
    return 0;
}

template <class State>
void GroupedParts<State>::set_columns(std::size_t columns) {
    if (columns != 0 && columns_ != 0 && columns_ != columns) {
        const auto shape = [](std::size_t of) {
            return of == 1 ? std::string("(n,)") : "(n, " + std::to_string(of) + ")";
        };
        throw InvalidInput("y_proba must keep its shape: " + shape(columns_) + " so far, now " +
                           shape(columns));
    }
    if (columns != 0) columns_ = columns;
}

template <class State>
void GroupedParts<State>::make_cells() {
    if constexpr (Layout::exists) {
        if (per_group_ != 0) return;
        const std::size_t per_group = Layout::per_group(parameters_, columns_);
        cells_.resize(size() * per_group);
        per_group_ = per_group;
    }
}

template <class State>
void GroupedParts<State>::grow_to(std::size_t groups) {
    if (groups <= size()) return;
    cells_.resize(groups * per_group_);
    if constexpr (buffers_rows<State>) buffered_.resize(groups);
    omitted_.resize(groups);  // the last, if there is memory for all: how many groups there are
}

template <class State>
void GroupedParts<State>::resize(std::size_t groups) {
    grow_to(groups);
    omitted_.resize(groups);
    cells_.resize(groups * per_group_);
    overflow_.resize(std::min(groups, overflow_.size()));
    buffered_.resize(std::min(groups, buffered_.size()));
}

template <class State>
void GroupedParts<State>::add(Parts parts, std::size_t first) {
    grow_to(first + parts.size());
    if (overflow_.size() < first + parts.size()) overflow_.resize(first + parts.size());
    for (std::size_t i = 0; i < parts.size(); ++i) {
        std::unique_ptr<State>& mine = overflow_[first + i];
        if (!parts[i]) continue;
        if (mine) {
            mine->merge(*parts[i]);
        } else {
            mine = std::move(parts[i]);
        }
    }
}

template <class State>
void GroupedParts<State>::append(const State& group) {
    State(parameters_).merge(group);  // it rejects other parameters
    set_columns(columns_of(group));
    grow_to(size() + 1);
    overflow_.resize(size());
    overflow_.back() = std::make_unique<State>(group);
}

}  // namespace calibrant

#include "grouped/merged_groups.hpp"  // the rest of it
