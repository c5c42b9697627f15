// Set rows: (true class, prediction sets of one or many levels, weight), read block by
// block and checked on the way, as the size of each set and whether it holds the class.
//
// Sets come in one of three forms:
//   indicators  per level a matrix of truth values, one column a class
//   lists       the classes of a row are consecutive values of `codes`, in any order, none twice,
//               none negative; one level
//   masks       64-bit words, class c at bit c % 64 of word c / 64 of its row, bit 0 the least
//               significant; one level
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "calibrant/rows/column.hpp"

namespace calibrant {

enum class SetForm : std::uint8_t { indicators, lists, masks };

struct SetRows {
    SetForm form = SetForm::indicators;
    std::size_t size = 0;
    const Column* y_true = nullptr;  // class codes; none: the sets alone
    std::vector<Column> indicators;  // one a level, boolean or bits
    Column lists;  // two int64 values a row: where its classes begin and end in codes
    const std::int32_t* codes = nullptr;
    Column masks;  // words in columns; uint64
    const Column* sample_weight = nullptr;
    const std::int32_t* groups = nullptr;  // codes; rows of a negative one are omitted
    bool omit_missing = false;

    [[nodiscard]] std::span<const std::int32_t> list(std::size_t row) const {
        std::int64_t bounds[2];
        std::memcpy(bounds, lists.data + static_cast<std::ptrdiff_t>(row) * lists.stride,
                    sizeof bounds);
        return {codes + bounds[0], codes + bounds[1]};
    }
    [[nodiscard]] std::size_t n_levels() const {
        return form == SetForm::indicators ? indicators.size() : 1;
    }
    // Labels must be below; 0 where any will do.
    [[nodiscard]] std::size_t n_classes() const {
        if (form == SetForm::indicators) return indicators.front().width;
        return form == SetForm::masks ? 64 * masks.width : 0;
    }
};

}  // namespace calibrant
