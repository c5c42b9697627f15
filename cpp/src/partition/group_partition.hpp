// Rows of a batch, copied so that those of a group lie side by side, in the order in which they
// come. It takes two steps, so that what is being written stays in a cache: first each row goes,
// as a whole, to the partition of its group, of which there are not too many; then a few
// partitions at a time are sorted into columns, which the reader has for as long as it takes
// to use them.
//
// Cost: 4 bytes a row and those of its columns, rounded up to 4, besides the columns that are
// sorted into.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "calibrant/runtime/parallel.hpp"
#include "ordering/grouped_scores.hpp"
#include "partition/group_runs.hpp"
#include "runtime/large_pages.hpp"

namespace calibrant {

class GroupPartition {
public:
    // Rows of neighbours that are sorted before they are used: less than a cache holds, and enough
    // to keep all threads busy.
    static constexpr std::size_t most_at_once = std::size_t{1} << 18;

    // Each column has values of so many bytes, whatever they hold. Groups come with `at_once` rows
    // at a time, unless one has more. Throws as for_each_chunk does, and std::out_of_range if there
    // is no such group.
    GroupPartition(const GroupCodes& groups, std::size_t rows, std::vector<std::size_t> value_bytes,
                   std::size_t at_once, Poll poll);

    [[nodiscard]] std::size_t workers() const { return workers_; }  // that read
    [[nodiscard]] std::size_t chunk() const { return chunk_; }      // rows that are read by one

    // load(worker, row, n, from) sets from[k] to where n values of column k lie, of the rows from
    // `row` on; it is called for all rows, at most so many at once, on several threads. False says
    // that a row is bad. Returns as for_each_chunk. To be called once, before all else.
    template <class Load>
    [[nodiscard]] std::size_t read(std::size_t at_once, Poll poll, const Load& load);

    // From now on the bytes of a row go to columns of other sizes than those they came from.
    void write_as(std::vector<std::size_t> value_bytes) { written_bytes_ = std::move(value_bytes); }

    // Neighbourhoods, each of neighbouring groups.
    [[nodiscard]] std::size_t partitions() const { return partition_starts_.size() - 1; }
    [[nodiscard]] std::size_t groups() const { return groups_.size; }
    [[nodiscard]] std::size_t first_group(std::size_t partition) const {
        return partition << shift_;
    }
    [[nodiscard]] std::size_t rows_of(std::size_t partition) const {
        return partition_starts_[partition + 1] - partition_starts_[partition];
    }
    [[nodiscard]] std::size_t rows() const { return partition_starts_.back(); }  // of all
    // Copies the rows of one to columns that have room for them. Returns where each of its groups
    // starts in them.
    [[nodiscard]] GroupStarts sort(std::size_t partition,
                                   const std::vector<std::byte*>& columns) const;
    // The same on several threads, for one that has many rows.
    [[nodiscard]] GroupStarts sort(std::size_t partition, const std::vector<std::byte*>& columns,
                                   Poll poll) const;

    // Several at a time. Moves on to the next ones; false if there are none with rows.
    [[nodiscard]] bool next();
    [[nodiscard]] std::size_t first_group() const { return first_group(first_); }
    [[nodiscard]] std::size_t size() const {
        return partition_starts_[end_] - partition_starts_[first_];
    }
    // As sort(), on several threads.
    [[nodiscard]] GroupStarts copy(const std::vector<std::byte*>& columns, Poll poll) const;

private:
    // Packs n rows into their partitions.
    void pack(std::size_t row, std::size_t n, const std::byte* const* from);
    [[nodiscard]] std::size_t groups_of(std::size_t partition) const {
        return std::min(first_group(partition + 1), groups_.size) - first_group(partition);
    }
    // From a row of the columns on, so many rows at a time; sets the starts of all groups.
    void sort_chunks(std::size_t partition, const std::vector<std::byte*>& columns,
                     std::size_t from_row, std::size_t* starts, std::size_t chunk,
                     std::size_t workers, Poll poll) const;

    GroupCodes groups_;
    std::vector<std::size_t> value_bytes_, written_bytes_;
    std::size_t rows_, row_bytes_, at_once_, chunk_ = 1, workers_ = 1;
    unsigned shift_ = 0;               // a partition has 2^shift_ groups
    GroupStarts partition_starts_;     // of partitions
    std::vector<GroupStarts> next_;    // by chunk: where the next row of a partition goes
    LargeArray<std::byte> packed_;     // rows by partition: the code, and a value of each column
    std::size_t first_ = 0, end_ = 0;  // partitions
};

template <class Load>
std::size_t GroupPartition::read(std::size_t at_once, Poll poll, const Load& load) {
    return for_each_chunk(rows_, chunk_, workers_, poll,
                          [&](std::size_t worker, std::size_t begin, std::size_t end) {
                              std::vector<const std::byte*> from(value_bytes_.size());
                              for (std::size_t row = begin; row < end; row += at_once) {
                                  const std::size_t n = std::min(at_once, end - row);
                                  if (!load(worker, row, n, from.data())) return false;
                                  pack(row, n, from.data());
                              }
                              return true;
                          });
}

}  // namespace calibrant
