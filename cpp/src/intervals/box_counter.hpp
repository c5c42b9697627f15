// One thread's cells of width_boxes.hpp, in 64-bit sums behind a hash table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "intervals/width_boxes.hpp"
#include "kernels/box_kernels.hpp"

namespace calibrant {

// A bandwidth cut into boxes.
struct BoxGrid {
    explicit BoxGrid(double bandwidth) : box(bandwidth / 16.0), boxes_per_unit(16.0 / bandwidth) {}
    double box, boxes_per_unit;
};

class BoxCounter {
public:
    explicit BoxCounter(BoxGrid grid) : grid_(grid), table_(first_size, vacant) {}

    // Returns false, with some rows added, if a width is beyond most_boxes.
    [[nodiscard]] bool add(const double* width, const double* excess, std::size_t n);
    [[nodiscard]] std::size_t size() const { return keys_.size(); }
    // Adds all to the cells and starts anew.
    void flush_into(BoxCells& cells);
    // After so many rows it must be flushed.
    static constexpr std::size_t most_rows = std::size_t{1} << 22;
    [[nodiscard]] std::size_t rows() const { return rows_; }

private:
    static constexpr std::size_t slot_size = box_limbs + 1;
    static constexpr std::size_t first_size = 256;  // a power of two
    static constexpr std::uint32_t vacant = ~std::uint32_t{0};

    [[nodiscard]] std::size_t slot_of(std::int64_t key);
    [[nodiscard]] std::size_t place_of(std::int64_t key) const;
    void grow();

    BoxGrid grid_;
    std::vector<std::uint32_t> table_;  // slots, by the hash of their keys
    std::vector<std::int64_t> keys_;
    std::vector<std::uint64_t> limbs_;  // slot_size a slot: the count, then the terms
    std::size_t rows_ = 0;
};

}  // namespace calibrant
