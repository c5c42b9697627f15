#include "partition/group_partition.hpp"

#include "ordering/grouped_scores.hpp"

#include <array>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace calibrant {
namespace {

// A partition has a line of memory in use when rows are read, and all its rows when they are
// sorted: the first and the second should fit into the second level of a cache.
constexpr std::size_t most_partitions = 1024, least_partitions = 512;
constexpr std::size_t near_rows = std::size_t{1} << 14;
// Rows are read in so many chunks at most; each has a place of its own in every partition.
constexpr std::size_t most_chunks = 64;
constexpr std::size_t least_chunk = std::size_t{1} << 14;
// Bytes between asking for memory and writing to it: the next lines of a partition.
constexpr std::size_t ahead = 128;

using Code = std::int32_t;

std::size_t code_of(const std::byte* packed) {
    Code code;
    std::memcpy(&code, packed, sizeof(Code));
    return static_cast<std::size_t>(code);
}

// Rows whose values have sizes that are known when compiling: a copy is then a few instructions,
// and a row is written as a whole.
template <std::size_t... bytes>
struct RowsOf {
    static constexpr std::size_t columns = sizeof...(bytes);
    static constexpr std::array<std::size_t, columns> sizes = {bytes...};
    static constexpr auto offsets = [] {
        std::array<std::size_t, columns> offsets{};
        std::exclusive_scan(sizes.begin(), sizes.end(), offsets.begin(), sizeof(Code));
        return offsets;
    }();

    [[nodiscard]] static bool are(const std::vector<std::size_t>& value_bytes) {
        return std::ranges::equal(value_bytes, sizes);
    }

    // Row i of columns goes to packed rows at place(i), unless that is npos.
    template <class Place>
    static void pack(const Code* codes, const std::byte* const* columns_from, std::size_t n,
                     std::byte* packed, std::size_t row_bytes, const Place& place) {
        std::array<const std::byte*, columns> from;
        std::copy_n(columns_from, columns, from.begin());
        for (std::size_t i = 0; i < n; ++i) {
            const std::size_t at = place(i);
            if (at == npos) continue;
            std::byte* const row = packed + at * row_bytes;
            __builtin_prefetch(row + ahead, 1);
            std::memcpy(row, codes + i, sizeof(Code));
            [&]<std::size_t... k>(std::index_sequence<k...>) {
                (std::memcpy(row + offsets[k], from[k] + i * sizes[k], sizes[k]), ...);
            }(std::make_index_sequence<columns>());
        }
    }

    // Packed row i goes to place(i) of columns.
    template <class Place>
    static void unpack(const std::byte* packed, std::size_t n, std::size_t row_bytes,
                       std::byte* const* columns_to, const Place& place) {
        std::array<std::byte*, columns> to;
        std::copy_n(columns_to, columns, to.begin());
        for (std::size_t i = 0; i < n; ++i) {
            const std::byte* const row = packed + i * row_bytes;
            const std::size_t at = place(i);
            [&]<std::size_t... k>(std::index_sequence<k...>) {
                (std::memcpy(to[k] + at * sizes[k], row + offsets[k], sizes[k]), ...);
            }(std::make_index_sequence<columns>());
        }
    }
};

// Of any sizes.
class RowsOfAny {
public:
    explicit RowsOfAny(const std::vector<std::size_t>& value_bytes) : sizes_(value_bytes) {}

    template <class Place>
    void pack(const Code* codes, const std::byte* const* from, std::size_t n, std::byte* packed,
              std::size_t row_bytes, const Place& place) const {
        for (std::size_t i = 0; i < n; ++i) {
            const std::size_t at = place(i);
            if (at == npos) continue;
            std::byte* value = packed + at * row_bytes;
            std::memcpy(value, codes + i, sizeof(Code));
            value += sizeof(Code);
            for (std::size_t k = 0; k < sizes_.size(); value += sizes_[k++]) {
                copy_value(value, from[k] + i * sizes_[k], sizes_[k]);
            }
        }
    }

    template <class Place>
    void unpack(const std::byte* packed, std::size_t n, std::size_t row_bytes, std::byte* const* to,
                const Place& place) const {
        for (std::size_t i = 0; i < n; ++i) {
            const std::byte* value = packed + i * row_bytes + sizeof(Code);
            const std::size_t at = place(i);
            for (std::size_t k = 0; k < sizes_.size(); value += sizes_[k++]) {
                copy_value(to[k] + at * sizes_[k], value, sizes_[k]);
            }
        }
    }

private:
    static void copy_value(std::byte* to, const std::byte* from, std::size_t bytes) {
        if (bytes == 8) {  // one instruction
            std::memcpy(to, from, 8);
        } else {
            std::memcpy(to, from, bytes);
        }
    }

    const std::vector<std::size_t>& sizes_;
};

// Calls work(rows) with the kind of rows that have values of these sizes.
template <class Work>
void with_rows_of(const std::vector<std::size_t>& sizes, const Work& work) {
    if (RowsOf<8, 1>::are(sizes)) return work(RowsOf<8, 1>());        // events with boolean labels
    if (RowsOf<8, 1, 8>::are(sizes)) return work(RowsOf<8, 1, 8>());  // with weights
    if (RowsOf<8, 4>::are(sizes)) return work(RowsOf<8, 4>());        // events
    if (RowsOf<8, 8>::are(sizes)) return work(RowsOf<8, 8>());
    if (RowsOf<8, 8, 8>::are(sizes)) return work(RowsOf<8, 8, 8>());  // with weights, or intervals
    if (RowsOf<24, 8>::are(sizes)) return work(RowsOf<24, 8>());      // three classes
    work(RowsOfAny(sizes));
}

unsigned groups_to_shift(std::size_t groups, std::size_t rows) {
    const std::size_t most = std::clamp(rows / near_rows, least_partitions, most_partitions);
    unsigned shift = 0;
    while (groups >> shift > most) ++shift;
    return shift;
}

}  // namespace

GroupPartition::GroupPartition(const GroupCodes& groups, std::size_t rows,
                               std::vector<std::size_t> value_bytes, Poll poll)
    : groups_(groups),
      value_bytes_(std::move(value_bytes)),
      rows_(rows),
      row_bytes_(std::accumulate(value_bytes_.begin(), value_bytes_.end(), sizeof(Code))),
      shift_(groups_to_shift(groups.size, rows)) {
    row_bytes_ = (row_bytes_ + sizeof(Code) - 1) / sizeof(Code) * sizeof(Code);
    const std::size_t of_each = std::size_t{1} << shift_;
    const std::size_t partitions = (groups.size + of_each - 1) / of_each;
    partition_starts_.assign(partitions + 1, 0);
    if (rows == 0) return;
    const std::size_t chunks = std::clamp<std::size_t>(rows / least_chunk, 1, most_chunks);
    chunk_ = (rows + chunks - 1) / chunks;
    workers_ = workers_for(rows, chunk_);
    next_.assign((rows + chunk_ - 1) / chunk_, GroupStarts(partitions));
    (void)for_each_chunk(rows, chunk_, workers_, poll,
                         [&](std::size_t, std::size_t begin, std::size_t end) {
                             GroupStarts& counts = next_[begin / chunk_];
                             for (std::size_t row = begin; row < end; ++row) {
                                 if (groups.of_row[row] < 0) continue;
                                 const auto group = static_cast<std::size_t>(groups.of_row[row]);
                                 if (group >= groups.size) throw std::out_of_range("no such group");
                                 ++counts[group >> shift_];
                             }
                             return true;
                         });
    std::size_t place = 0;
    for (std::size_t partition = 0; partition < partitions; ++partition) {
        partition_starts_[partition] = place;
        for (GroupStarts& of_chunk : next_) place += std::exchange(of_chunk[partition], place);
    }
    partition_starts_.back() = place;
    packed_ = LargeArray<std::byte>(place * row_bytes_);
}

void GroupPartition::pack(std::size_t row, std::size_t n, const std::byte* const* from) {
    std::size_t* const next = next_[row / chunk_].data();
    const Code* const codes = groups_.of_row + row;
    const auto place = [next, codes, shift = shift_](std::size_t i) {
        return codes[i] < 0 ? npos : next[static_cast<std::size_t>(codes[i]) >> shift]++;
    };
    with_rows_of(value_bytes_, [&](const auto& rows) {
        rows.pack(codes, from, n, packed_.data(), row_bytes_, place);
    });
}

GroupStarts GroupPartition::sort(std::size_t partition,
                                 const std::vector<std::byte*>& columns) const {
    return sort_chunks(partition, columns, rows_of(partition), 1, nullptr);
}

GroupStarts GroupPartition::sort(std::size_t partition, const std::vector<std::byte*>& columns,
                                 Poll poll) const {
    const std::size_t rows = rows_of(partition);
    const std::size_t chunk = std::max(least_chunk, (rows + most_chunks - 1) / most_chunks);
    return sort_chunks(partition, columns, chunk, workers_for(rows, chunk), poll);
}

GroupStarts GroupPartition::sort_chunks(std::size_t partition,
                                        const std::vector<std::byte*>& columns, std::size_t chunk,
                                        std::size_t workers, Poll poll) const {
    const std::size_t first = first_group(partition), rows = rows_of(partition);
    GroupStarts starts(groups_of(partition) + 1, rows);
    if (rows == 0) return starts;
    const std::byte* const packed = packed_.data() + partition_starts_[partition] * row_bytes_;
    const auto group_of = [packed, first, bytes = row_bytes_](std::size_t i) {
        return code_of(packed + i * bytes) - first;
    };
    // By chunk: how many rows of each group there are, and then where the next one goes.
    std::vector<GroupStarts> next((rows + chunk - 1) / chunk, GroupStarts(groups_of(partition)));
    (void)for_each_chunk(rows, chunk, workers, poll,
                         [&](std::size_t, std::size_t begin, std::size_t end) {
                             std::size_t* const counts = next[begin / chunk].data();
                             for (std::size_t i = begin; i < end; ++i) ++counts[group_of(i)];
                             return true;
                         });
    std::size_t place = 0;
    for (std::size_t group = 0; group < groups_of(partition); ++group) {
        starts[group] = place;
        for (GroupStarts& of_chunk : next) place += std::exchange(of_chunk[group], place);
    }
    (void)for_each_chunk(
        rows, chunk, workers, poll, [&](std::size_t, std::size_t begin, std::size_t end) {
            const auto place_of = [&group_of, begin, next = next[begin / chunk].data()](
                                      std::size_t i) { return next[group_of(begin + i)]++; };
            with_rows_of(value_bytes_, [&](const auto& of_sizes) {
                of_sizes.unpack(packed + begin * row_bytes_, end - begin, row_bytes_,
                                columns.data(), place_of);
            });
            return true;
        });
    return starts;
}

}  // namespace calibrant
