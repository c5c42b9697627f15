// The rows of a batch by partitions, each of neighbouring groups. Rows are sorted by group in two
// steps, so that what is being written stays in a cache: first each row is packed, as a whole, into
// the partition of its group, of which there are not too many; then one partition at a time is
// sorted into columns. The rows of a group stay in the order in which they come.
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
#include "runtime/large_pages.hpp"

namespace calibrant {

// Where the rows of each group start, and where the last ones end.
using GroupStarts = std::vector<std::size_t>;

class GroupPartition {
public:
    // Each column has values of so many bytes, whatever they hold. Rows of negative codes are left
    // out. Throws as for_each_chunk does, and std::out_of_range if there is no such group.
    GroupPartition(const GroupCodes& groups, std::size_t rows, std::vector<std::size_t> value_bytes,
                   Poll poll);

    [[nodiscard]] std::size_t workers() const { return workers_; }  // that read

    // load(worker, row, n, from) sets from[k] to where n values of column k lie, of the rows from
    // `row` on; it is called for all rows, at most so many at once, on several threads. False says
    // that a row is bad. Returns as for_each_chunk. To be called once, before all else.
    template <class Load>
    [[nodiscard]] std::size_t read(std::size_t at_once, Poll poll, const Load& load);

    [[nodiscard]] std::size_t partitions() const { return partition_starts_.size() - 1; }
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

private:
    // Packs n rows into their partitions.
    void pack(std::size_t row, std::size_t n, const std::byte* const* from);
    [[nodiscard]] std::size_t groups_of(std::size_t partition) const {
        return std::min(first_group(partition + 1), groups_.size) - first_group(partition);
    }
    // So many rows at a time.
    [[nodiscard]] GroupStarts sort_chunks(std::size_t partition,
                                          const std::vector<std::byte*>& columns, std::size_t chunk,
                                          std::size_t workers, Poll poll) const;

    GroupCodes groups_;
    std::vector<std::size_t> value_bytes_;
    std::size_t rows_, row_bytes_, chunk_ = 1, workers_ = 1;
    unsigned shift_ = 0;             // a partition has 2^shift_ groups
    GroupStarts partition_starts_;   // of partitions
    std::vector<GroupStarts> next_;  // by chunk: where the next row of a partition goes
    LargeArray<std::byte> packed_;   // rows by partition: the code, and a value of each column
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
