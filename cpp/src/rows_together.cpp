#include "calibrant/rows_together.hpp"

#include <cstring>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace calibrant {
namespace {

// A neighbourhood has a line of memory in use when rows are read, and all its rows when they are
// sorted: the first and the second should fit into the second level of a cache.
constexpr std::size_t most_neighbourhoods = 1024, least_neighbourhoods = 64;
constexpr std::size_t near_rows = std::size_t{1} << 14;
// Rows are read in so many chunks at most; each has a place of its own in every neighbourhood.
constexpr std::size_t most_chunks = 64;
constexpr std::size_t least_chunk = std::size_t{1} << 14;
// Rows of neighbours that are sorted before they are used: much less than a cache holds, and
// enough to keep all threads busy.
constexpr std::size_t rows_at_once = std::size_t{1} << 18;

// Of values that are so far apart. The size is given where it is known when compiling: a copy is
// then one instruction or two.
struct Spread {
    std::byte* data;
    std::size_t apart;
};
struct SpreadSource {
    const std::byte* data;
    std::size_t apart;
};

template <class Place>
void copy_values(const SpreadSource& from, std::size_t n, std::size_t bytes, const Spread& to,
                 const Place& place) {
    const auto copy = [&](const auto size) {
        for (std::size_t i = 0; i < n; ++i) {
            const std::size_t at = place(i);
            if (at != npos) std::memcpy(to.data + at * to.apart, from.data + i * from.apart, size);
        }
    };
    switch (bytes) {
        case 4:
            return copy(std::integral_constant<std::size_t, 4>());
        case 8:
            return copy(std::integral_constant<std::size_t, 8>());
        case 16:
            return copy(std::integral_constant<std::size_t, 16>());
        case 24:
            return copy(std::integral_constant<std::size_t, 24>());
        case 32:
            return copy(std::integral_constant<std::size_t, 32>());
        default:
            return copy(bytes);
    }
}

unsigned groups_to_shift(std::size_t groups, std::size_t rows) {
    const std::size_t most =
        std::clamp(rows / near_rows, least_neighbourhoods, most_neighbourhoods);
    unsigned shift = 0;
    while (groups >> shift > most) ++shift;
    return shift;
}

}  // namespace

RowsTogether::RowsTogether(const GroupCodes& groups, std::size_t rows,
                           std::vector<std::size_t> value_bytes, Poll poll)
    : groups_(groups),
      value_bytes_(std::move(value_bytes)),
      rows_(rows),
      row_bytes_(std::accumulate(value_bytes_.begin(), value_bytes_.end(), sizeof(Code))),
      shift_(groups_to_shift(groups.size, rows)) {
    row_bytes_ = (row_bytes_ + 7) / 8 * 8;
    const std::size_t neighbourhoods = (groups.size >> shift_) + 1;
    near_starts_.assign(neighbourhoods + 1, 0);
    if (rows == 0) return;
    const std::size_t chunks = std::clamp<std::size_t>(rows / least_chunk, 1, most_chunks);
    chunk_ = (rows + chunks - 1) / chunks;
    workers_ = workers_for(rows, chunk_);
    next_.assign((rows + chunk_ - 1) / chunk_, GroupStarts(neighbourhoods));
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
    for (std::size_t near = 0; near < neighbourhoods; ++near) {
        near_starts_[near] = place;
        for (GroupStarts& of_chunk : next_) place += std::exchange(of_chunk[near], place);
    }
    near_starts_.back() = place;
    packed_ = LargeArray<std::byte>(place * row_bytes_);
}

void RowsTogether::find_places(std::size_t row, std::size_t n, std::size_t* place) {
    std::size_t* const next = next_[row / chunk_].data();
    const Code* const codes = groups_.of_row + row;
    for (std::size_t i = 0; i < n; ++i) {
        place[i] = codes[i] < 0 ? npos : next[static_cast<std::size_t>(codes[i]) >> shift_]++;
    }
}

void RowsTogether::pack(std::size_t row, std::size_t n, const std::byte* const* from,
                        std::byte* packed) const {
    const auto in_order = [](std::size_t i) { return i; };
    const auto* const codes = reinterpret_cast<const std::byte*>(groups_.of_row + row);
    copy_values({codes, sizeof(Code)}, n, sizeof(Code), {packed, row_bytes_}, in_order);
    std::size_t offset = sizeof(Code);
    for (std::size_t k = 0; k < value_bytes_.size(); ++k) {
        const std::size_t bytes = value_bytes_[k];
        copy_values({from[k], bytes}, n, bytes, {packed + offset, row_bytes_}, in_order);
        offset += bytes;
    }
}

void RowsTogether::put(const std::byte* packed, const std::size_t* place, std::size_t n) {
    copy_values({packed, row_bytes_}, n, row_bytes_, {packed_.data(), row_bytes_},
                [&](std::size_t i) { return place[i]; });
}

bool RowsTogether::next() {
    const std::size_t neighbourhoods = near_starts_.size() - 1;
    for (first_ = end_; first_ < neighbourhoods; first_ = end_) {
        end_ = first_ + 1;
        while (end_ < neighbourhoods &&
               near_starts_[end_ + 1] - near_starts_[first_] <= rows_at_once)
            ++end_;
        if (size() != 0) return true;
    }
    return false;
}

GroupStarts RowsTogether::copy(const std::vector<std::byte*>& columns, Poll poll) const {
    const std::size_t end_group = std::min(end_ << shift_, groups_.size);
    GroupStarts starts(end_group - first_group() + 1);
    starts.back() = size();
    (void)for_each_chunk(end_ - first_, 1, workers_for(size(), near_rows), poll,
                         [&](std::size_t, std::size_t i, std::size_t) {
                             sort(first_ + i, columns, starts);
                             return true;
                         });
    return starts;
}

std::size_t RowsTogether::code_at(std::size_t place) const {
    Code code;
    std::memcpy(&code, packed_.data() + place * row_bytes_, sizeof(Code));
    return static_cast<std::size_t>(code);
}

void RowsTogether::sort(std::size_t neighbourhood, const std::vector<std::byte*>& columns,
                        GroupStarts& starts) const {
    const std::size_t first = neighbourhood << shift_;
    if (first >= groups_.size) return;
    const std::size_t begin = near_starts_[neighbourhood], end = near_starts_[neighbourhood + 1];
    GroupStarts next(std::min(std::size_t{1} << shift_, groups_.size - first));
    for (std::size_t at = begin; at < end; ++at) ++next[code_at(at) - first];
    std::size_t start = begin - near_starts_[first_];
    for (std::size_t group = 0; group < next.size(); ++group) {
        starts[first + group - first_group()] = start;
        start += std::exchange(next[group], start);
    }
    std::size_t place[most_at_once];
    for (std::size_t at = begin; at < end; at += most_at_once) {
        const std::size_t n = std::min(most_at_once, end - at);
        for (std::size_t i = 0; i < n; ++i) place[i] = next[code_at(at + i) - first]++;
        const std::byte* value = packed_.data() + at * row_bytes_ + sizeof(Code);
        for (std::size_t k = 0; k < columns.size(); ++k) {
            copy_values({value, row_bytes_}, n, value_bytes_[k], {columns[k], value_bytes_[k]},
                        [&](std::size_t i) { return place[i]; });
            value += value_bytes_[k];
        }
    }
}

}  // namespace calibrant
