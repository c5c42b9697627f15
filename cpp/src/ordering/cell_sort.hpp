// A sort for rows that a double orders: they are counted into cells of equal width, about eight
// rows each, copied there, and each cell is sorted by itself. Linear in the rows if the values are
// spread out, never worse than n log n; on several threads. Equal values share a cell, and so do
// all between them. n records of memory while sorting, and some for the counts.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "calibrant/runtime/parallel.hpp"

namespace calibrant {

// Cells of equal width from the least value to the largest.
class ValueCells {
public:
    ValueCells(double least, double largest, std::size_t n)
        : least_(least), count_(std::clamp<std::size_t>(n / 8, 1, std::size_t{1} << 20)) {
        const double scale = static_cast<double>(count_) / (largest - least);
        scale_ = std::isfinite(scale) ? scale : 0.0;  // 0: one cell for all
    }
    [[nodiscard]] std::size_t size() const { return count_; }
    // Rises with the value, as each of its roundings does. The difference may be infinite.
    [[nodiscard]] std::size_t of(double value) const {
        const double place = (value - least_) * scale_;
        return place < static_cast<double>(count_) ? static_cast<std::size_t>(place) : count_ - 1;
    }

private:
    double least_, scale_;
    std::size_t count_;
};

// Cells have few records as a rule, and std::sort pays only for more.
template <class Record, class Less>
void sort_few(Record* records, std::size_t n, Less less) {
    constexpr std::size_t most_by_insertion = 32;
    if (n > most_by_insertion) return std::sort(records, records + n, less);
    for (std::size_t i = 1; i < n; ++i) {
        const Record record = records[i];
        std::size_t place = i;
        for (; place > 0 && less(record, records[place - 1]); --place) {
            records[place] = records[place - 1];
        }
        records[place] = record;
    }
}

// Calls give(first, records, count) for the sorted records of each cell, where `first` is how many
// lie below; several threads do so at once. make(i) is the i-th record, value(record) its double,
// finite and in [least, largest], and `less` agrees with it.
template <class Count = std::uint32_t, class Make, class Value, class Less, class Give>
void sort_by_cells(std::size_t n, double least, double largest, Poll poll, Make make, Value value,
                   Less less, Give give) {
    if (n > std::numeric_limits<Count>::max()) {
        return sort_by_cells<std::uint64_t>(n, least, largest, poll, make, value, less, give);
    }
    using Record = decltype(make(std::size_t{0}));
    const ValueCells cells(least, largest, n);
    const std::size_t workers = workers_for(n, std::size_t{1} << 16);
    // More than workers, so that none waits long for another; but each has a count of all cells.
    const std::size_t most_parts = workers == 1 ? 1 : std::max<std::size_t>(workers, 8);
    const std::size_t rows_of_part = std::max<std::size_t>((n + most_parts - 1) / most_parts, 1);
    const std::size_t parts = std::max<std::size_t>((n + rows_of_part - 1) / rows_of_part, 1);
    // ends[part * cells + cell]: first the rows, then where the next of them goes.
    std::vector<Count> ends(parts * cells.size());
    for_each_chunk(n, rows_of_part, workers, poll,
                   [&](std::size_t, std::size_t begin, std::size_t end) {
                       Count* const counts = &ends[begin / rows_of_part * cells.size()];
                       for (std::size_t i = begin; i < end; ++i) ++counts[cells.of(value(make(i)))];
                       return true;
                   });
    Count at = 0;
    for (std::size_t cell = 0; cell < cells.size(); ++cell) {
        for (std::size_t part = 0; part < parts; ++part) {
            Count& place = ends[part * cells.size() + cell];
            const Count rows = place;
            place = at;
            at += rows;
        }
    }
    const std::unique_ptr<Record[]> records(new Record[n]);
    for_each_chunk(n, rows_of_part, workers, poll,
                   [&](std::size_t, std::size_t begin, std::size_t end) {
                       Count* const places = &ends[begin / rows_of_part * cells.size()];
                       for (std::size_t i = begin; i < end; ++i) {
                           const Record record = make(i);
                           records[places[cells.of(value(record))]++] = record;
                       }
                       return true;
                   });
    // Now the last part's places are where the cells end.
    const Count* const cell_ends = &ends[(parts - 1) * cells.size()];
    constexpr std::size_t cells_at_once = 1024;
    for_each_chunk(cells.size(), cells_at_once, workers_for(cells.size(), cells_at_once), poll,
                   [&](std::size_t, std::size_t begin, std::size_t end) {
                       std::size_t first = begin == 0 ? 0 : cell_ends[begin - 1];
                       for (std::size_t cell = begin; cell < end; ++cell) {
                           Record* const from = records.get() + first;
                           const std::size_t count = cell_ends[cell] - first;
                           sort_few(from, count, less);
                           give(first, from, count);
                           first += count;
                       }
                       return true;
                   });
}

}  // namespace calibrant
