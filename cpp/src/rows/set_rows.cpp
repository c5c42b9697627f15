#include "calibrant/rows/set_rows.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <string>

#include "calibrant/rows/check.hpp"
#include "kernels/kernels.hpp"
#include "rows/set_blocks.hpp"

namespace calibrant {
namespace {

// Truth values of one byte each.
std::uint32_t count_true(const std::byte* row, std::ptrdiff_t stride, std::size_t n) {
    std::uint32_t count = 0;
    if (stride == 1) {  // the loop that vectorises
        for (std::size_t j = 0; j < n; ++j) count += row[j] != std::byte{0} ? 1U : 0U;
    } else {
        for (std::size_t j = 0; j < n; ++j) {
            count += row[static_cast<std::ptrdiff_t>(j) * stride] != std::byte{0} ? 1U : 0U;
        }
    }
    return count;
}

std::uint64_t word_at(const Column& masks, std::size_t row, std::size_t index) {
    const std::byte* const at = masks.data + static_cast<std::ptrdiff_t>(row) * masks.stride +
                                static_cast<std::ptrdiff_t>(index) * masks.column_stride;
    std::uint64_t word = 0;
    std::memcpy(&word, at, sizeof word);
    return word;
}

// The first code that is negative, or there twice; -1 where all is well (and for a negative one,
// the position says which).
std::ptrdiff_t bad_code(const std::int32_t* codes, std::size_t n,
                        std::vector<std::int32_t>& sorted) {
    sorted.assign(codes, codes + n);
    std::sort(sorted.begin(), sorted.end());
    const bool negative = n > 0 && sorted.front() < 0;
    if (!negative && std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end()) return -1;
    for (std::size_t i = 0; i < n; ++i) {
        if (codes[i] < 0 || std::find(codes, codes + i, codes[i]) != codes + i) {
            return static_cast<std::ptrdiff_t>(i);
        }
    }
    return -1;
}

}  // namespace

SetBlock::SetBlock(const SetRows& rows)
    : sizes_(rows.n_levels() * block_rows), covered_(rows.n_levels() * block_rows) {}

bool SetBlock::load(const SetRows& rows, std::size_t begin, std::size_t count) {
    begin_ = begin;
    n_ = 0;
    omitted_ = 0;
    if (rows.y_true != nullptr) load_labels(*rows.y_true, begin, count, labels_);
    if (rows.sample_weight != nullptr) {
        calibrant::load(*rows.sample_weight, begin, count, weights_);
    }
    for (std::size_t row = begin; row < begin + count; ++row) {
        const Verdict verdict = read(rows, row);
        if (verdict == Verdict::bad) return false;
        (verdict == Verdict::good ? n_ : omitted_) += 1;
    }
    return true;
}

// Writes the row in place n_, where the next row goes unless this one is good.
SetBlock::Verdict SetBlock::read(const SetRows& rows, std::size_t row) {
    const std::int32_t group = rows.groups != nullptr ? rows.groups[row] : 0;
    if (group < 0) return Verdict::missing;
    group_[n_] = group;
    const std::int32_t label = rows.y_true != nullptr ? labels_[row - begin_] : 0;
    const double weight = rows.sample_weight != nullptr ? weights_[row - begin_] : 1.0;
    weight_[n_] = weight;
    const bool missing = label == label_missing || std::isnan(weight);
    if (missing) return rows.omit_missing ? Verdict::missing : Verdict::bad;
    const std::size_t classes = rows.n_classes();
    if (label < 0 ||
        (rows.y_true != nullptr && classes > 0 && static_cast<std::size_t>(label) >= classes)) {
        return Verdict::bad;
    }
    if (!is_weight(weight)) return Verdict::bad;
    Verdict verdict = Verdict::good;
    if (rows.form == SetForm::indicators) verdict = read_indicators(rows, row, label);
    if (rows.form == SetForm::lists) verdict = read_list(rows, row, label);
    if (rows.form == SetForm::masks) read_mask(rows, row, label);
    if (verdict == Verdict::missing && !rows.omit_missing) return Verdict::bad;
    return verdict;
}

SetBlock::Verdict SetBlock::read_indicators(const SetRows& rows, std::size_t row,
                                            std::int32_t label) {
    for (std::size_t level = 0; level < rows.indicators.size(); ++level) {
        const Column& sets = rows.indicators[level];
        const std::size_t at = level * block_rows + n_;
        const auto of_label = static_cast<std::size_t>(label);
        if (sets.dtype == Dtype::boolean && sets.validity == nullptr) {
            const std::byte* const from =
                sets.data + static_cast<std::ptrdiff_t>(row) * sets.stride;
            sizes_[at] = count_true(from, sets.column_stride, sets.width);
            const std::byte hit =
                sets.width == 0 ? std::byte{0}
                                : from[static_cast<std::ptrdiff_t>(of_label) * sets.column_stride];
            covered_[at] = hit != std::byte{0} ? 1 : 0;
            continue;
        }
        values_.resize(sets.width);
        load_row(sets, row, values_.data());
        sizes_[at] = 0;
        for (const double value : values_) {
            if (std::isnan(value)) return Verdict::missing;
            sizes_[at] += value != 0.0 ? 1U : 0U;
        }
        covered_[at] = of_label < values_.size() && values_[of_label] != 0.0 ? 1 : 0;
    }
    return Verdict::good;
}

SetBlock::Verdict SetBlock::read_list(const SetRows& rows, std::size_t row, std::int32_t label) {
    const std::span<const std::int32_t> codes = rows.list(row);
    if (bad_code(codes.data(), codes.size(), sorted_) >= 0) return Verdict::bad;
    sizes_[n_] = static_cast<std::uint32_t>(codes.size());
    covered_[n_] = std::binary_search(sorted_.begin(), sorted_.end(), label) ? 1 : 0;
    return Verdict::good;
}

void SetBlock::read_mask(const SetRows& rows, std::size_t row, std::int32_t label) {
    std::uint32_t size = 0;
    for (std::size_t j = 0; j < rows.masks.width; ++j) {
        size += static_cast<std::uint32_t>(std::popcount(word_at(rows.masks, row, j)));
    }
    const auto of_label = static_cast<std::size_t>(label);
    sizes_[n_] = size;
    covered_[n_] = rows.masks.width == 0
                       ? std::uint8_t{0}
                       : static_cast<std::uint8_t>(
                             word_at(rows.masks, row, of_label / 64) >> (of_label % 64) & 1U);
}

void reject_sets(const SetRows& rows, std::size_t begin, std::size_t end,
                 std::uint64_t rows_before) {
    std::vector<std::int32_t> sorted;
    std::vector<double> values;
    for (std::size_t row = begin; row < end; ++row) {
        if (rows.groups != nullptr && rows.groups[row] < 0) continue;
        const Row where{row, std::nullopt, rows_before};
        double weight = 1.0;
        if (rows.sample_weight != nullptr) load(*rows.sample_weight, row, 1, &weight);
        std::int32_t label = 0;
        if (rows.y_true != nullptr) load_labels(*rows.y_true, row, 1, &label);
        if (rows.omit_missing && (label == label_missing || std::isnan(weight))) continue;
        const std::size_t classes = rows.n_classes();
        const bool beyond = classes > 0 && static_cast<std::size_t>(label) >= classes;
        if (label < 0 || (rows.y_true != nullptr && beyond)) {
            const std::size_t limit = classes > 0 ? classes : std::size_t{label_limit};
            reject_label("y_true", *rows.y_true, where, limit);
        }
        if (!is_weight(weight)) {
            reject_weight("sample_weight", weight, where, rows.sample_weight->dtype);
        }
        for (const Column& sets : rows.indicators) {
            values.resize(sets.width);
            load_row(sets, row, values.data());
            for (const double value : values) {
                if (std::isnan(value) && !rows.omit_missing) reject_missing("sets", where, "null");
            }
        }
        if (rows.form != SetForm::lists) continue;
        const std::span<const std::int32_t> codes = rows.list(row);
        const std::ptrdiff_t at = bad_code(codes.data(), codes.size(), sorted);
        if (at < 0) continue;
        const std::int32_t bad = codes[static_cast<std::size_t>(at)];
        reject("sets", bad < 0 ? "hold class numbers from 0 on" : "hold no class twice",
               std::to_string(bad), where);
    }
    throw InvalidInput("the arrays changed while they were being read");
}

}  // namespace calibrant
