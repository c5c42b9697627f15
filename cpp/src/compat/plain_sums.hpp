// Sums of the drop-in layers over intervals, sets and scores as they are, crossed bounds too.
//
// They are plain sums over chunks of fixed size, eight side by side, added up in order: the same
// bits for any number of threads and any instruction set, but rounded on the way, as the peers'
// own are. Each reads memory once and keeps nothing.
#pragma once

#include <cstddef>
#include <cstdint>

#include "calibrant/runtime/parallel.hpp"

namespace calibrant {

// A column of doubles, `stride` of them apart.
struct Strided {
    const double* data;
    std::ptrdiff_t stride;

    double operator[](std::size_t i) const { return data[static_cast<std::ptrdiff_t>(i) * stride]; }
};

struct IntervalHits {
    std::uint64_t covered = 0;  // lower <= y <= upper, so never by crossed bounds
    bool finite = true;         // else some value is not
};

struct IntervalTotals {
    std::uint64_t covered = 0;
    double width = 0.0;   // of |upper - lower|
    double excess = 0.0;  // of the distance to the interval, whichever bound is the lower
    double least_y = 0.0, largest_y = 0.0;
    bool finite = true;  // else some value is not, or a sum is too large
};

// n > 0 in all.
[[nodiscard]] IntervalHits interval_hits(Strided y, Strided lower, Strided upper, std::size_t n,
                                         Poll poll);
[[nodiscard]] double interval_widths(Strided lower, Strided upper, std::size_t n, Poll poll);
[[nodiscard]] IntervalTotals interval_totals(Strided y, Strided lower, Strided upper, std::size_t n,
                                             Poll poll);

// The sum of s (1 - s).
[[nodiscard]] double score_variance(Strided s, std::size_t n, Poll poll);

// Truth values of n rows and k classes; steps in bytes.
struct SetTable {
    const std::uint8_t* data;
    std::size_t classes;
    std::ptrdiff_t row_step, class_step;
};

// How many sets hold their class. Returns false, and no count, if a class is not one of the table.
[[nodiscard]] bool set_hits(const std::int64_t* label, std::ptrdiff_t label_stride,
                            const SetTable& sets, std::size_t n, Poll poll, std::uint64_t* hits);

}  // namespace calibrant
