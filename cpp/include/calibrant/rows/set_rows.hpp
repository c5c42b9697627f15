// Set rows: (class that happened, prediction sets of one or many levels, weight), read block by
// block and checked on the way, as the size of each set and whether it holds the class.
//
// Sets come in one of three forms:
//   indicators  per level a matrix of truth values, one column a class
//   lists       the classes of row i are codes[offsets[i]] to codes[offsets[i + 1]], in any order,
//               none twice, none negative; one level
//   masks       64-bit words, class c at bit c % 64 of word c / 64 of its row, bit 0 the least
//               significant; one level
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "calibrant/kernels/kernels.hpp"
#include "calibrant/rows/column.hpp"
#include "calibrant/rows/row_blocks.hpp"

namespace calibrant {

enum class SetForm : std::uint8_t { indicators, lists, masks };

struct SetRows {
    SetForm form = SetForm::indicators;
    std::size_t size = 0;
    const Column* y_true = nullptr;         // class codes; none: the sets alone
    std::vector<Column> indicators;         // one a level, boolean or bits
    const std::int64_t* offsets = nullptr;  // size + 1, never falling, the last within codes
    const std::int32_t* codes = nullptr;
    Column masks;  // words in columns; uint64
    const Column* sample_weight = nullptr;
    const std::int32_t* groups = nullptr;  // codes; rows of a negative one are omitted
    bool omit_missing = false;

    [[nodiscard]] std::size_t n_levels() const {
        return form == SetForm::indicators ? indicators.size() : 1;
    }
    // Labels must be below; 0 where any will do.
    [[nodiscard]] std::size_t n_classes() const {
        if (form == SetForm::indicators) return indicators.front().width;
        return form == SetForm::masks ? 64 * masks.width : 0;
    }
};

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
