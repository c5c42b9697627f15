// Interval rows: (what happened, lower and upper bounds for one or many levels, weight), read
// block by block and checked on the way.
//
// Bounds are closed: y is covered if lower <= y <= upper. The width of an interval is the double
// nearest to upper - lower. The excess of y is 0 if it is covered, y - upper (positive) if it lies
// above and y - lower (negative) if it lies below, each to the nearest double. So the excess is 0
// exactly if y is covered, and never -0.0.
//
// All values must be finite, and no two so far apart that a difference of them is not. Crossed
// bounds are rejected, or swapped if that is asked for. Where missing values may be omitted, a row
// in which any value of any level is missing is left out of all of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "calibrant/kernels/kernels.hpp"
#include "calibrant/rows/column.hpp"
#include "calibrant/rows/row_blocks.hpp"

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

class IntervalBlock {
public:
    explicit IntervalBlock(const IntervalRows& rows);

    // Fills the block with rows [begin, begin + count), count <= block_rows. Returns false, and
    // leaves the block unspecified, if one of them is bad.
    [[nodiscard]] bool load(const IntervalRows& rows, std::size_t begin, std::size_t count);

    [[nodiscard]] std::size_t n() const { return n_; }
    [[nodiscard]] std::size_t omitted() const { return omitted_; }
    [[nodiscard]] const double* y_true() const {
        return y_true_;
    }  // filled only where there is one
    [[nodiscard]] const double* width(std::size_t level) const { return lower_of(level); }
    [[nodiscard]] const double* excess(std::size_t level) const { return upper_of(level); }
    // Filled only where there are weights, or groups.
    [[nodiscard]] const double* weight() const { return weight_; }
    [[nodiscard]] const std::int32_t* group() const { return group_; }

private:
    // Bounds as read, and then width and excess in their place.
    [[nodiscard]] const double* lower_of(std::size_t level) const {
        return &values_[2 * level * block_rows];
    }
    [[nodiscard]] const double* upper_of(std::size_t level) const {
        return &values_[(2 * level + 1) * block_rows];
    }
    void drop_missing(const IntervalRows& rows);

    std::vector<double> values_;
    std::size_t n_ = 0;
    std::size_t omitted_ = 0;
    alignas(64) double y_true_[block_rows];
    alignas(64) double weight_[block_rows];
    alignas(64) std::int32_t group_[block_rows];
};

// Throws InvalidInput for the first bad row in [begin, end), which is known to hold one.
[[noreturn]] void reject_intervals(const IntervalRows& rows, std::size_t begin, std::size_t end,
                                   std::uint64_t rows_before);

// How many rows a worker takes at a time, and how many workers there should be.
[[nodiscard]] inline std::size_t chunk_rows(const IntervalRows& rows) {
    return std::max<std::size_t>(chunk_values / (2 * rows.n_levels() + 1), block_rows);
}
[[nodiscard]] inline std::size_t workers_of(const IntervalRows& rows) {
    return workers_for(rows.size(), chunks_per_worker * chunk_rows(rows));
}

// visit_blocks, throwing InvalidInput at a bad row; rows_before is for its message only.
template <class Visit>
void for_each_block(const IntervalRows& rows, std::size_t workers, std::uint64_t rows_before,
                    Poll poll, const Visit& visit) {
    const auto reject = [&](std::size_t begin, std::size_t end) {
        reject_intervals(rows, begin, end, rows_before);
    };
    visit_blocks<IntervalBlock>(rows, rows.size(), chunk_rows(rows), workers, poll, reject, visit);
}

}  // namespace calibrant
