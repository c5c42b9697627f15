// Interval rows: (outcome, lower and upper bounds for one or many levels, weight), read
// block by block and checked on the way.
//
// Bounds are closed: y is covered if lower <= y <= upper. The width of an interval is the double
// nearest to upper - lower. The excess of y is 0 if it is covered, y - upper (positive) if it lies
// above and y - lower (negative) if it lies below, each to the nearest double. So the excess is 0
// exactly if y is covered, and never -0.0.
//
// All values must be finite, and no two so far apart that a difference of them is not. Crossed
// bounds are rejected, or swapped on request. Where missing values may be omitted, a row
// in which any value of any level is missing is left out of all of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "calibrant/rows/column.hpp"

namespace calibrant {

struct IntervalRows {
    const Column* y_true = nullptr;    // none: the intervals alone, every excess is 0
    std::vector<Column> lower, upper;  // one a level, each to be read by load()
    const Column* sample_weight = nullptr;
    const std::int32_t* groups = nullptr;  // codes; rows of a negative one are omitted
    bool omit_missing = false;
    bool swap_crossed = false;
    // For messages: whether there is an axis of levels, and whether the bounds are two arrays.
    bool has_levels = false;
    bool is_pair = false;

    [[nodiscard]] std::size_t size() const { return lower.empty() ? 0 : lower.front().size; }
    [[nodiscard]] std::size_t n_levels() const { return lower.size(); }
};

}  // namespace calibrant
