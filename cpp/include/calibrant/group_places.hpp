// Where rows go so that those of a group lie side by side, in the order in which they come. Rows
// are read as they come and written to their places: a group's next place shares a line of the
// cache with the one before, so that fewer lines are in use than if the rows of a group were
// looked for one after the other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "calibrant/group_runs.hpp"
#include "calibrant/grouped_scores.hpp"
#include "calibrant/parallel.hpp"

namespace calibrant {

class GroupPlaces {
public:
    // Throws as for_each_chunk does, and std::out_of_range if there is no such group.
    GroupPlaces(const GroupCodes& groups, std::size_t rows, Poll poll);

    [[nodiscard]] const GroupStarts& starts() const { return starts_; }

    // Rows that are placed at a time: for those who write them between asking for their places in
    // memory and using them.
    static constexpr std::size_t most_rows = 128;

    // Calls put(worker, row, place, n) for all rows, on several threads: of n rows from `row` on,
    // place[i] is where the i-th goes, npos if it is in no group. False says that a row is bad.
    // Returns as for_each_chunk. May be called once.
    template <class Put>
    [[nodiscard]] std::size_t for_each(Poll poll, const Put& put) {
        return for_each_chunk(rows_, stretch_, workers_, poll,
                              [&](std::size_t worker, std::size_t begin, std::size_t end) {
                                  std::size_t place[most_rows];
                                  for (std::size_t row = begin; row < end; row += most_rows) {
                                      const std::size_t n = std::min(most_rows, end - row);
                                      find(row, n, place);
                                      if (!put(worker, row, place, n)) return false;
                                  }
                                  return true;
                              });
    }
    [[nodiscard]] std::size_t workers() const { return workers_; }
    [[nodiscard]] std::size_t stretch() const { return stretch_; }

private:
    void find(std::size_t row, std::size_t n, std::size_t* place);

    GroupCodes groups_;
    std::size_t rows_, stretch_ = 1, workers_ = 1;
    GroupStarts starts_;
    std::vector<GroupStarts> next_;  // by stretch of rows: where the next row of each group goes
};

// Asks for the memory of places of `width` values each.
template <class Value>
void ask_for_places(const Value* to, std::size_t width, const std::size_t* place, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
        if (place[i] != npos) __builtin_prefetch(to + place[i] * width, 1);
    }
}

template <class Value>
void put_rows(const Value* from, const std::size_t* place, std::size_t n, Value* to) {
    for (std::size_t i = 0; i < n; ++i) {
        if (place[i] != npos) to[place[i]] = from[i];
    }
}

// Rows of so many bytes, whatever they hold, and room for those that are in a group.
struct BytesOfRows {
    const std::byte* from;
    std::byte* to;
    std::size_t row_bytes;
};

// Copies the rows of all columns to their places; order[place] becomes the row that is there,
// unless it is null.
void bring_together(GroupPlaces& places, const std::vector<BytesOfRows>& columns,
                    std::int64_t* order, Poll poll);

}  // namespace calibrant
