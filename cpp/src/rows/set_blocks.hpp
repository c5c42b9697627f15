// Blocks of set rows (set_rows.hpp), and the loop over them on several threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "calibrant/rows/set_rows.hpp"
#include "calibrant/runtime/parallel.hpp"
#include "kernels/kernels.hpp"
#include "rows/row_blocks.hpp"
#include "rows/workers.hpp"

namespace calibrant {

class SetBlock {
public:
    explicit SetBlock(const SetRows& rows);

    // As IntervalBlock::load.
    [[nodiscard]] bool load(const SetRows& rows, std::size_t begin, std::size_t count);

    [[nodiscard]] std::size_t n() const { return n_; }
    [[nodiscard]] std::size_t omitted() const { return omitted_; }
    [[nodiscard]] const std::uint32_t* set_size(std::size_t level) const {
        return &sizes_[level * block_rows];
    }
    [[nodiscard]] const std::uint8_t* covered(std::size_t level) const {
        return &covered_[level * block_rows];
    }
    [[nodiscard]] const double* weight() const { return weight_; }
    [[nodiscard]] const std::int32_t* group() const { return group_; }

private:
    enum class Verdict { good, missing, bad };
    [[nodiscard]] Verdict read(const SetRows& rows, std::size_t row);
    [[nodiscard]] Verdict read_indicators(const SetRows& rows, std::size_t row, std::int32_t label);
    [[nodiscard]] Verdict read_list(const SetRows& rows, std::size_t row, std::int32_t label);
    void read_mask(const SetRows& rows, std::size_t row, std::int32_t label);

    std::size_t n_ = 0;
    std::size_t omitted_ = 0;
    std::vector<std::uint32_t> sizes_;
    std::vector<std::uint8_t> covered_;
    std::vector<double> values_;
    std::vector<std::int32_t> sorted_;
    alignas(64) double weight_[block_rows];
    alignas(64) std::int32_t group_[block_rows];
    std::int32_t labels_[block_rows];
    double weights_[block_rows];  // as read
    std::size_t begin_ = 0;
};

// Throws InvalidInput for the first bad row in [begin, end), which is known to hold one.
[[noreturn]] void reject_sets(const SetRows& rows, std::size_t begin, std::size_t end,
                              std::uint64_t rows_before);

// As for IntervalRows.
[[nodiscard]] inline std::size_t chunk_rows(const SetRows& rows) {
    const std::size_t width = rows.form == SetForm::indicators
                                  ? rows.n_levels() * std::max<std::size_t>(rows.n_classes() / 8, 1)
                                  : 4;
    return std::max<std::size_t>(chunk_values / (width + 1), block_rows);
}
[[nodiscard]] inline std::size_t workers_of(const SetRows& rows) {
    return workers_for(rows.size, chunks_per_worker * chunk_rows(rows));
}

template <class Visit>
void for_each_block(const SetRows& rows, std::size_t workers, std::uint64_t rows_before, Poll poll,
                    const Visit& visit) {
    const auto reject = [&](std::size_t begin, std::size_t end) {
        reject_sets(rows, begin, end, rows_before);
    };
    visit_blocks<SetBlock>(rows, rows.size, chunk_rows(rows), workers, poll, reject, visit);
}

}  // namespace calibrant
