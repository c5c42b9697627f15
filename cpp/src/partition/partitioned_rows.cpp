#include "partition/partitioned_rows.hpp"

#include <cstdint>
#include <cstring>
#include <numeric>

namespace calibrant {
namespace {

constexpr std::size_t short_bytes = 64;  // longer rows stay where they are until they are sorted
constexpr std::size_t rows_at_once = 128;

}  // namespace

ColumnCopy::ColumnCopy(const Column& column)
    : from(column),
      as_it_is(column.dtype != Dtype::bits && column.validity == nullptr),
      dtype(as_it_is ? column.dtype : Dtype::float64),
      bytes(column.width * item_size(dtype)),
      is_long(bytes > short_bytes),
      is_contiguous(as_it_is && column.stride == static_cast<std::ptrdiff_t>(bytes) &&
                    (column.width == 1 ||
                     column.column_stride == static_cast<std::ptrdiff_t>(item_size(dtype)))) {}

Column ColumnCopy::column_of(const std::byte* copies, std::size_t rows) const {
    Column column = side_by_side(copies, rows, from.width, dtype);
    column.swapped = as_it_is && from.swapped;
    return column;
}

Column picked_rows(const Column& column, const std::vector<std::size_t>& rows,
                   LargeArray<std::byte>& memory) {
    const ColumnCopy from(column);
    memory = LargeArray<std::byte>(rows.size() * from.bytes);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        from.copy(rows[i], memory.data() + i * from.bytes);
    }
    return from.column_of(memory.data(), rows.size());
}

void ColumnCopy::copy(std::size_t row, std::byte* to) const {
    const std::byte* const data = from.data + static_cast<std::ptrdiff_t>(row) * from.stride;
    if (!as_it_is) {
        load_row(from, row, reinterpret_cast<double*>(to));
        return;
    }
    const std::size_t item = item_size(dtype);
    if (bytes == item || from.column_stride == static_cast<std::ptrdiff_t>(item)) {
        std::memcpy(to, data, bytes);
        return;
    }
    for (std::size_t j = 0; j < from.width; ++j) {
        std::memcpy(to + j * item, data + static_cast<std::ptrdiff_t>(j) * from.column_stride,
                    item);
    }
}

void ColumnCopy::copy_rows(std::size_t row, std::size_t n, std::byte* to) const {
    if (bytes != 8 || from.width != 1 || !as_it_is) {
        for (std::size_t i = 0; i < n; ++i) copy(row + i, to + i * bytes);
        return;
    }
    const std::byte* const data = from.data + static_cast<std::ptrdiff_t>(row) * from.stride;
    for (std::size_t i = 0; i < n; ++i) {
        std::memcpy(to + i * 8, data + static_cast<std::ptrdiff_t>(i) * from.stride, 8);
    }
}

PartitionedColumns::PartitionedColumns(const std::vector<Column>& columns, const GroupCodes& codes,
                                       Poll poll)
    : rows_(columns.front().size) {
    std::vector<std::size_t> packed_bytes;
    for (const Column& column : columns) {
        const ColumnCopy& copy = columns_.emplace_back(column);
        has_long_ = has_long_ || copy.is_long;
        row_bytes_ += copy.bytes;
        if (!copy.is_long) packed_bytes.push_back(copy.bytes);
    }
    if (has_long_) packed_bytes.push_back(sizeof(std::int64_t));
    partition_ = std::make_unique<GroupPartition>(codes, rows_, packed_bytes, poll);
    read(poll);
}

void PartitionedColumns::read(Poll poll) {
    struct Buffers {
        std::vector<std::vector<std::byte>> of_column;
        std::vector<std::int64_t> numbers = std::vector<std::int64_t>(rows_at_once);
    };
    std::vector<Buffers> team(partition_->workers());
    for (Buffers& buffers : team) {
        for (const ColumnCopy& column : columns_) {
            buffers.of_column.emplace_back(column.is_long ? 0 : rows_at_once * column.bytes);
        }
    }
    (void)partition_->read(
        rows_at_once, poll,
        [&](std::size_t worker, std::size_t row, std::size_t n, const std::byte** values) {
            for (std::size_t k = 0; k < columns_.size(); ++k) {
                const ColumnCopy& column = columns_[k];
                if (column.is_long) continue;
                if (column.is_contiguous) {
                    *values++ = column.from.data + row * column.bytes;
                    continue;
                }
                std::byte* const buffer = team[worker].of_column[k].data();
                column.copy_rows(row, n, buffer);
                *values++ = buffer;
            }
            if (has_long_) {
                std::vector<std::int64_t>& numbers = team[worker].numbers;
                std::iota(numbers.begin(), numbers.end(), static_cast<std::int64_t>(row));
                *values = reinterpret_cast<const std::byte*>(numbers.data());
            }
            return true;
        });
}

PartitionedColumns::Scratch::Scratch(const PartitionedColumns& source, std::size_t rows)
    : source_(source), row_numbers_(source.has_long_ ? rows : 0) {
    for (const ColumnCopy& column : source.columns_) {
        const std::byte* const data = memory_.emplace_back(rows * column.bytes).data();
        columns_.push_back(column.column_of(data, rows));
    }
}

GroupStarts PartitionedColumns::Scratch::sort(std::size_t partition, Poll poll,
                                              bool by_all_threads) {
    constexpr std::size_t chunk_bytes = std::size_t{1} << 16;
    constexpr std::size_t ahead = 24;  // rows between asking for one and using it
    std::vector<std::byte*> packed;
    for (std::size_t k = 0; k < memory_.size(); ++k) {
        if (!source_.columns_[k].is_long) packed.push_back(memory_[k].data());
    }
    if (source_.has_long_) packed.push_back(reinterpret_cast<std::byte*>(row_numbers_.data()));
    GroupStarts starts = by_all_threads ? source_.partition().sort(partition, packed, poll)
                                        : source_.partition().sort(partition, packed);
    for (std::size_t k = 0; k < memory_.size(); ++k) {
        const ColumnCopy& column = source_.columns_[k];
        if (!column.is_long) continue;
        const auto row_at = [&](std::size_t i) {
            return static_cast<std::size_t>(row_numbers_[i]);
        };
        const std::size_t chunk = chunk_bytes / column.bytes + 1;
        const std::size_t workers = by_all_threads ? workers_for(starts.back(), 4 * chunk) : 1;
        (void)for_each_chunk(
            starts.back(), chunk, workers, poll,
            [&](std::size_t, std::size_t begin, std::size_t end) {
                for (std::size_t i = begin; i < end; ++i) {
                    if (i + ahead < end) {
                        __builtin_prefetch(column.from.data +
                                           static_cast<std::ptrdiff_t>(row_at(i + ahead)) *
                                               column.from.stride);
                    }
                    column.copy(row_at(i), memory_[k].data() + i * column.bytes);
                }
                return true;
            });
    }
    return starts;
}

GroupStarts starts_of(const GroupCodes& codes, std::size_t rows) {
    GroupStarts starts(codes.size + 1, rows);
    std::size_t next = 0;  // group
    for (std::size_t row = 0; row < rows; ++row) {
        if (codes.of_row[row] < 0) continue;
        const auto group = static_cast<std::size_t>(codes.of_row[row]);
        if (group >= codes.size) throw std::out_of_range("no such group");
        while (next <= group) starts[next++] = row;
    }
    return starts;
}

}  // namespace calibrant
