// The rows of a batch by group: each group's rows as contiguous rows of the same kind, in the order
// in which they come.
//
// Columns are copied as they are, without a conversion to another type; what has a validity bitmap
// or bits becomes doubles. Rows of more than 64 bytes are copied once, others twice
// (group_partition.hpp). Nothing is copied where the rows of each group are contiguous already.
// Rows are not checked.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "calibrant/rows/column.hpp"
#include "calibrant/rows/draw_rows.hpp"
#include "calibrant/rows/events.hpp"
#include "calibrant/rows/interval_rows.hpp"
#include "calibrant/rows/set_rows.hpp"
#include "calibrant/runtime/parallel.hpp"
#include "ordering/grouped_scores.hpp"
#include "partition/group_partition.hpp"
#include "runtime/large_pages.hpp"

namespace calibrant {

// Rows [begin, begin + n) of a column.
[[nodiscard]] inline Column slice_of(const Column& column, std::size_t begin, std::size_t n) {
    Column slice = column;
    slice.size = n;
    if (column.dtype != Dtype::bits) {
        slice.data += static_cast<std::ptrdiff_t>(begin) * column.stride;
    }
    slice.bit_offset += begin * column.width;
    slice.validity_offset += begin * column.width;
    return slice;
}

// Calls visit(column) for each column of some rows, which it may set: a Column, or a pointer to
// one or null.
template <class Visit>
void visit_columns(Events& rows, const Visit& visit) {
    visit(rows.y_proba);
    visit(rows.y_true);
    visit(rows.sample_weight);
}
template <class Visit>
void visit_columns(IntervalRows& rows, const Visit& visit) {
    visit(rows.y_true);
    for (Column& column : rows.lower) visit(column);
    for (Column& column : rows.upper) visit(column);
    visit(rows.sample_weight);
}
template <class Visit>
void visit_columns(SetRows& rows, const Visit& visit) {
    visit(rows.y_true);
    for (Column& column : rows.indicators) visit(column);
    visit(rows.lists);
    visit(rows.masks);
    visit(rows.sample_weight);
}
// Draws of several dimensions must be contiguous for each pair, as in an array of shape (n, m, d).
template <class Visit>
void visit_columns(DrawRows& rows, const Visit& visit) {
    const std::size_t n_draws = rows.n_draws();
    Column all = rows.draws;
    if (rows.n_dims > 1) {
        const auto stride = static_cast<std::ptrdiff_t>(rows.n_dims) * rows.dim_stride;
        if (rows.draws.column_stride != stride) {
            throw std::invalid_argument("the draws of a pair must be contiguous");
        }
        all.width *= rows.n_dims;
        all.column_stride = rows.dim_stride;
    }
    visit(all);
    rows.draws = all;
    rows.draws.width = n_draws;
    rows.dim_stride = all.column_stride;
    rows.draws.column_stride = static_cast<std::ptrdiff_t>(rows.n_dims) * all.column_stride;
    visit(rows.truth);
}
template <class Rows, class Visit>
    requires requires(Rows& rows) { rows.first.y_proba = rows.second.y_proba; }
void visit_columns(Rows& rows, const Visit& visit) {
    visit_columns(rows.first, visit);
    visit(rows.second.y_proba);
    rows.second.y_true = rows.first.y_true;
    rows.second.sample_weight = rows.first.sample_weight;
}

// Some rows, to point to those of one group after the other.
template <class Rows>
class RowView {
public:
    explicit RowView(const Rows& rows) : view_(rows) {
        visit_columns(view_, [&](auto& column) {
            if (const Column* const given = given_in(column)) columns_.push_back(*given);
        });
        pointed_to_.resize(columns_.size());
    }
    RowView(const RowView&) = delete;  // the view points into it
    RowView& operator=(const RowView&) = delete;
    ~RowView() = default;

    // As visit_columns has them, without null.
    [[nodiscard]] const std::vector<Column>& columns() const { return columns_; }
    void set_columns(std::vector<Column> columns) { columns_ = std::move(columns); }

    [[nodiscard]] const Rows& at(std::size_t begin, std::size_t n) {
        std::size_t k = 0;
        visit_columns(view_, [&](auto& column) {
            if (given_in(column) == nullptr) return;
            pointed_to_[k] = slice_of(columns_[k], begin, n);
            set(column, pointed_to_[k++]);
        });
        if constexpr (std::is_same_v<Rows, SetRows>) view_.size = n;
        return view_;
    }

private:
    static const Column* given_in(const Column& column) {
        return column.data == nullptr ? nullptr : &column;
    }
    static const Column* given_in(const Column* column) { return column; }
    static void set(Column& column, const Column& to) { column = to; }
    static void set(const Column*& column, const Column& to) { column = &to; }

    Rows view_;
    std::vector<Column> columns_, pointed_to_;
};

// How the rows of a column are copied.
struct ColumnCopy {
    explicit ColumnCopy(const Column& column);
    void copy(std::size_t row, std::byte* to) const;
    void copy_rows(std::size_t row, std::size_t n, std::byte* to) const;
    [[nodiscard]] Column column_of(const std::byte* copies, std::size_t rows) const;

    Column from;
    bool as_it_is;
    Dtype dtype;        // of the copies
    std::size_t bytes;  // of a row
    bool is_long, is_contiguous;
};

// Some rows of a column, copied to memory that it sets.
[[nodiscard]] Column picked_rows(const Column& column, const std::vector<std::size_t>& rows,
                                 LargeArray<std::byte>& memory);

// Columns, packed by partitions.
class PartitionedColumns {
public:
    // Throws as for_each_chunk does, and std::out_of_range if there is no such group.
    PartitionedColumns(const std::vector<Column>& columns, const GroupCodes& codes, Poll poll);

    [[nodiscard]] const GroupPartition& partition() const { return *partition_; }
    [[nodiscard]] std::size_t row_bytes() const { return row_bytes_; }

    // Memory for the rows of a partition.
    class Scratch {
    public:
        Scratch(const PartitionedColumns& source, std::size_t rows);
        // Fills the columns. Returns where each group starts in them.
        [[nodiscard]] GroupStarts sort(std::size_t partition, Poll poll, bool by_all_threads);
        [[nodiscard]] const std::vector<Column>& columns() const { return columns_; }

    private:
        const PartitionedColumns& source_;
        std::vector<LargeArray<std::byte>> memory_;  // of each column
        LargeArray<std::int64_t> row_numbers_;       // where some rows are long
        std::vector<Column> columns_;
    };

private:
    void read(Poll poll);

    std::vector<ColumnCopy> columns_;
    bool has_long_ = false;
    std::size_t row_bytes_ = 0, rows_;
    std::unique_ptr<GroupPartition> partition_;
};

// Groups of so many rows are worth all threads, one after the other.
inline constexpr std::size_t rows_worth_all_threads = std::size_t{1} << 16;

// Where the rows of each group start, as codes do not fall; those of negative ones come first.
[[nodiscard]] GroupStarts starts_of(const GroupCodes& codes, std::size_t rows);

// Calls add(group, rows, poll) for groups first + i with rows [starts[i], starts[i + 1]).
template <class Rows, class Add>
void for_each_run(const Rows& rows, const std::vector<Column>& columns, const GroupStarts& starts,
                  std::size_t first, Poll poll, const Add& add) {
    const std::size_t groups = starts.size() - 1, n = starts.back() - starts.front();
    const std::size_t chunk = std::clamp<std::size_t>((groups << 12) / (n + 1), 1, 64);
    const auto rows_of = [&](std::size_t group) { return starts[group + 1] - starts[group]; };
    const auto add_group = [&](std::size_t group, RowView<Rows>& view, Poll inner_poll) {
        add(first + group, view.at(starts[group], rows_of(group)), inner_poll);
    };
    std::vector<std::unique_ptr<RowView<Rows>>> views(workers_for(groups, chunk));
    for (auto& view : views) {
        view = std::make_unique<RowView<Rows>>(rows);
        view->set_columns(columns);
    }
    (void)for_each_chunk(groups, chunk, views.size(), poll,
                         [&](std::size_t worker, std::size_t begin, std::size_t end) {
                             for (std::size_t group = begin; group < end; ++group) {
                                 const std::size_t of_group = rows_of(group);
                                 if (of_group != 0 && of_group < rows_worth_all_threads)
                                     add_group(group, *views[worker], nullptr);
                             }
                             return true;
                         });
    for (std::size_t group = 0; group < groups; ++group) {
        if (rows_of(group) >= rows_worth_all_threads) add_group(group, *views.front(), poll);
    }
}

// Calls add(group, rows, poll) for each group that has rows, on several threads; the poll is null
// but in the calling one. Rows of negative codes are left out. Throws what add throws, and as
// for_each_chunk does.
template <class Rows, class Add>
void for_each_group(const Rows& rows, std::size_t n, const GroupCodes& codes, Poll poll,
                    const Add& add) {
    // Nobody can interrupt a thread before it is done with a partition.
    constexpr std::size_t most_rows = std::size_t{1} << 21;
    constexpr std::size_t bytes_per_thread = std::size_t{1} << 18;
    if (n == 0) return;
    const std::vector<Column> columns = RowView<Rows>(rows).columns();
    if (std::is_sorted(codes.of_row, codes.of_row + n)) {
        for_each_run(rows, columns, starts_of(codes, n), 0, poll, add);
        return;
    }
    const PartitionedColumns source(columns, codes, poll);
    const GroupPartition& partition = source.partition();
    const std::size_t threads = workers_for(n, bytes_per_thread / (source.row_bytes() + 1) + 1);
    const auto is_large = [&](std::size_t i) {
        const std::size_t of_partition = partition.rows_of(i);
        const bool others_would_wait = of_partition * threads >= partition.rows();
        return of_partition >= rows_worth_all_threads &&
               (others_would_wait || of_partition >= most_rows);
    };
    std::size_t room = 0;
    for (std::size_t i = 0; i < partition.partitions(); ++i) {
        if (!is_large(i)) room = std::max(room, partition.rows_of(i));
    }
    struct OfThread {
        PartitionedColumns::Scratch scratch;
        RowView<Rows> view;
        OfThread(const PartitionedColumns& source, std::size_t room, const Rows& rows)
            : scratch(source, room), view(rows) {
            view.set_columns(scratch.columns());
        }
    };
    std::vector<std::unique_ptr<OfThread>> team(
        std::min(threads, workers_for(partition.partitions(), 1)));
    (void)for_each_chunk(partition.partitions(), 1, team.size(), poll,
                         [&](std::size_t worker, std::size_t i, std::size_t) {
                             if (partition.rows_of(i) == 0 || is_large(i)) return true;
                             auto& mine = team[worker];
                             if (!mine) mine = std::make_unique<OfThread>(source, room, rows);
                             const GroupStarts starts = mine->scratch.sort(i, nullptr, false);
                             for (std::size_t k = 0; k + 1 < starts.size(); ++k) {
                                 if (starts[k] == starts[k + 1]) continue;
                                 add(partition.first_group(i) + k,
                                     mine->view.at(starts[k], starts[k + 1] - starts[k]),
                                     Poll{nullptr});
                             }
                             return true;
                         });
    team.clear();
    for (std::size_t i = 0; i < partition.partitions(); ++i) {
        if (!is_large(i)) continue;
        PartitionedColumns::Scratch scratch(source, partition.rows_of(i));
        const GroupStarts starts = scratch.sort(i, poll, true);
        for_each_run(rows, scratch.columns(), starts, partition.first_group(i), poll, add);
    }
}

}  // namespace calibrant
