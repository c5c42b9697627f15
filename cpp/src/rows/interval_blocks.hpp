// Blocks of interval rows (interval_rows.hpp), and the loop over them on several threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "calibrant/rows/interval_rows.hpp"
#include "calibrant/runtime/parallel.hpp"
#include "kernels/kernels.hpp"
#include "rows/row_blocks.hpp"
#include "rows/workers.hpp"

namespace calibrant {

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
