#include "intervals/box_counter.hpp"

#include <algorithm>
#include <bit>

#include "kernels/box_kernels.hpp"
#include "kernels/kernels.hpp"

namespace calibrant {

bool BoxCounter::add(const double* width, const double* excess, std::size_t n) {
    std::int64_t key[box_rows];
    alignas(64) double terms[box_rows * box_limbs];
    const BoxKernels& box_kernels = *kernels().boxes;
    for (std::size_t begin = 0; begin < n; begin += box_rows) {
        const std::size_t count = std::min(box_rows, n - begin);
        if (!box_kernels.terms(width + begin, excess + begin, count, grid_.box,
                               grid_.boxes_per_unit, key, terms)) {
            return false;
        }
        for (std::size_t i = 0; i < count; ++i) {
            std::uint64_t* __restrict const sums = &limbs_[slot_of(key[i]) * slot_size];
            const double* __restrict const row = terms + i;
            ++sums[0];
            for (std::size_t limb = 0; limb < box_limbs; ++limb) {
                sums[limb + 1] += std::bit_cast<std::uint64_t>(row[limb * box_rows]);
            }
        }
    }
    rows_ += n;
    return true;
}

void BoxCounter::flush_into(BoxCells& cells) {
    for (std::size_t slot = 0; slot < keys_.size(); ++slot) {
        const std::uint64_t* const sums = &limbs_[slot * slot_size];
        cells[keys_[slot]].add(sums[0], sums + 1);
    }
    keys_.clear();
    limbs_.clear();
    std::fill(table_.begin(), table_.end(), vacant);
    rows_ = 0;
}

// Where the key is, or where it would go. Neighbouring boxes lie apart (Fibonacci hashing).
std::size_t BoxCounter::place_of(std::int64_t key) const {
    const std::size_t mask = table_.size() - 1;
    const std::uint64_t mixed = static_cast<std::uint64_t>(key) * 0x9E3779B97F4A7C15U;
    std::size_t place = (mixed >> 32) & mask;
    while (table_[place] != vacant && keys_[table_[place]] != key) place = (place + 1) & mask;
    return place;
}

std::size_t BoxCounter::slot_of(std::int64_t key) {
    const std::size_t place = place_of(key);
    if (table_[place] != vacant) return table_[place];
    const std::size_t slot = keys_.size();
    table_[place] = static_cast<std::uint32_t>(slot);
    keys_.push_back(key);
    limbs_.resize(limbs_.size() + slot_size, 0);
    if (2 * keys_.size() > table_.size()) grow();
    return slot;
}

void BoxCounter::grow() {
    table_.assign(2 * table_.size(), vacant);
    for (std::size_t slot = 0; slot < keys_.size(); ++slot) {
        table_[place_of(keys_[slot])] = static_cast<std::uint32_t>(slot);
    }
}

}  // namespace calibrant
