#include "calibrant/box_counter.hpp"

#include <algorithm>

namespace calibrant {
namespace {

constexpr std::size_t piece_rows = 64;  // whose terms stay in the first-level cache

}  // namespace

bool BoxCounter::add(const double* width, const double* excess, std::size_t n) {
    std::int64_t key[piece_rows];
    alignas(64) std::int64_t terms[piece_rows * box_limbs];
    for (std::size_t begin = 0; begin < n; begin += piece_rows) {
        const std::size_t count = std::min(piece_rows, n - begin);
        if (!kernels().box_terms(width + begin, excess + begin, count, grid_.box,
                                 grid_.boxes_per_unit, key, terms)) {
            return false;
        }
        for (std::size_t i = 0; i < count; ++i) {
            std::int64_t* __restrict const sums = &limbs_[slot_of(key[i]) * box_limbs];
            const std::int64_t* __restrict const row = terms + i * box_limbs;
            for (std::size_t limb = 0; limb < box_limbs; ++limb) sums[limb] += row[limb];
        }
    }
    rows_ += n;
    return true;
}

void BoxCounter::flush_into(BoxCells& cells) {
    for (std::size_t slot = 0; slot < keys_.size(); ++slot) {
        cells[keys_[slot]].add(&limbs_[slot * box_limbs]);
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
    limbs_.resize(limbs_.size() + box_limbs, 0);
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
