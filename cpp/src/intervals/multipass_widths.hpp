// Widths that fill too many boxes: taken in increasing order, a range of them at a time, so that
// the memory is bounded; each range costs another pass over the rows. The boxes are those of
// width_boxes.hpp, and so are the bits.
#pragma once

#include <cstdint>
#include <vector>

#include "calibrant/rows/interval_rows.hpp"
#include "intervals/width_boxes.hpp"
#include "ordering/sorted_scores.hpp"
#include "runtime/large_pages.hpp"

namespace calibrant {

class MultipassWidths {
public:
    MultipassWidths(const IntervalRows& rows, std::size_t level, Poll poll);

    [[nodiscard]] std::uint64_t count() const { return n_; }
    [[nodiscard]] std::uint64_t covered() const { return covered_; }
    [[nodiscard]] std::uint64_t uncovered() const { return n_ - covered_; }
    [[nodiscard]] double least() const;
    [[nodiscard]] double most() const;

    void add_boxes(double bandwidth, BoxFormer& former) const;

private:
    // Of a ScoreKey: the bits of a width, and below them whether it is covered.
    using Word = std::uint64_t;

    template <class Visit>
    void for_each_word(const Visit& visit) const;
    [[nodiscard]] std::vector<Word> range_ends() const;
    [[nodiscard]] LargeArray<ScoreKey> sorted_range(Word low, Word high, std::size_t& n) const;

    IntervalRows rows_;  // of the one level
    std::size_t workers_;
    Poll poll_;
    std::uint64_t n_ = 0, covered_ = 0;
    Word least_ = ~Word{0}, most_ = 0;
};

}  // namespace calibrant
