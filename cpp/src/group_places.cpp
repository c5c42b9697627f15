#include "calibrant/group_places.hpp"

#include <algorithm>
#include <cstring>

namespace calibrant {
namespace {

// Rows are placed in so many stretches at most; each has a place of its own in every group.
constexpr std::size_t most_stretches = 16;
constexpr std::size_t least_stretch = std::size_t{1} << 14;

// The size is given where it is known when compiling: a copy is then one instruction or two.
template <std::size_t fixed_bytes>
void put_bytes(const BytesOfRows& column, std::size_t row, const std::size_t* place,
               std::size_t n) {
    const std::size_t bytes = fixed_bytes != 0 ? fixed_bytes : column.row_bytes;
    const std::byte* const from = column.from + row * bytes;
    for (std::size_t i = 0; i < n; ++i) {
        if (place[i] == npos) continue;
        std::memcpy(column.to + place[i] * bytes, from + i * bytes, bytes);
    }
}

void put_column(const BytesOfRows& column, std::size_t row, const std::size_t* place,
                std::size_t n) {
    switch (column.row_bytes) {
        case 4:
            return put_bytes<4>(column, row, place, n);
        case 8:
            return put_bytes<8>(column, row, place, n);
        case 16:
            return put_bytes<16>(column, row, place, n);
        default:
            return put_bytes<0>(column, row, place, n);
    }
}

}  // namespace

GroupPlaces::GroupPlaces(const GroupCodes& groups, std::size_t rows, Poll poll)
    : groups_(groups), rows_(rows), starts_(groups.size + 1, 0) {
    if (rows == 0) return;
    const std::size_t most =
        std::clamp<std::size_t>(rows / (groups.size + least_stretch), 1, most_stretches);
    stretch_ = (rows + most - 1) / most;
    next_.assign((rows + stretch_ - 1) / stretch_, GroupStarts(groups.size));
    workers_ = workers_for(rows, stretch_);
    (void)for_each_chunk(rows, stretch_, workers_, poll,
                         [&](std::size_t, std::size_t begin, std::size_t end) {
                             GroupStarts& counts = next_[begin / stretch_];
                             for (std::size_t row = begin; row < end; ++row) {
                                 const std::int32_t code = groups.of_row[row];
                                 if (code >= 0) ++counts.at(static_cast<std::size_t>(code));
                             }
                             return true;
                         });
    std::size_t place = 0;
    for (std::size_t group = 0; group < groups.size; ++group) {
        starts_[group] = place;
        for (GroupStarts& of_stretch : next_) {
            const std::size_t count = of_stretch[group];
            of_stretch[group] = place;
            place += count;
        }
    }
    starts_.back() = place;
}

void GroupPlaces::find(std::size_t row, std::size_t n, std::size_t* place) {
    std::size_t* const next = next_[row / stretch_].data();
    const std::int32_t* const codes = groups_.of_row + row;
    for (std::size_t i = 0; i < n; ++i) place[i] = codes[i] < 0 ? npos : next[codes[i]]++;
}

void bring_together(GroupPlaces& places, const std::vector<BytesOfRows>& columns,
                    std::int64_t* order, Poll poll) {
    (void)places.for_each(
        poll, [&](std::size_t, std::size_t row, const std::size_t* place, std::size_t n) {
            for (const BytesOfRows& column : columns) {
                ask_for_places(column.to, column.row_bytes, place, n);
            }
            for (const BytesOfRows& column : columns) put_column(column, row, place, n);
            for (std::size_t i = 0; order != nullptr && i < n; ++i) {
                if (place[i] != npos) order[place[i]] = static_cast<std::int64_t>(row + i);
            }
            return true;
        });
}

}  // namespace calibrant
