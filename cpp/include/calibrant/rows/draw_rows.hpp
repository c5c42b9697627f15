// Draws: for each of N pairs, M draws of a posterior and the one true value, in D dimensions. What
// is read off them is where the truth lies among its draws:
//
//     less    how many draws lie below the truth
//     equal   how many are equal to it
//
// or, if there are reference points, how many draws lie nearer to the pair's reference than the
// truth, and how many equally near, by the squared Euclidean distance, the sum of squares in the
// order of the dimensions.
//
// Values are compared as the numbers they are: a float32 draw with a float64 truth, without being
// rounded to each other. Infinities compare as numbers; NaN and null are missing, and a pair in
// which any value of any dimension is missing has no rank at all. Counts are integers, so threads
// and instruction sets cannot change them; distances are computed without contraction.
//
// Native float32 and float64 are read in place wherever the draws of a pair, the dimensions of a
// draw or the pairs are contiguous; anything else is converted by blocks. So each value is
// read once, and there is no copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "calibrant/rows/column.hpp"
#include "calibrant/runtime/parallel.hpp"

namespace calibrant {

// So that counts fit 32 bits.
inline constexpr std::size_t most_draws = (std::size_t{1} << 31) - 2;

struct DrawRows {
    Column draws;  // of the first dimension: a row a pair, a column a draw
    std::size_t n_dims = 1;
    std::ptrdiff_t dim_stride = 0;       // bytes of a draw from one dimension to the next
    Column truth;                        // a row a pair, a column a dimension
    const Column* references = nullptr;  // likewise: ranks are of distances, one a pair
    bool omit_missing = false;
    bool may_be_omitted = true;  // the caller offers nan_policy="omit"

    [[nodiscard]] std::size_t size() const { return draws.size; }
    [[nodiscard]] std::size_t n_draws() const { return draws.width; }
    // How many ranks a pair has.
    [[nodiscard]] std::size_t n_ranks() const { return references != nullptr ? 1 : n_dims; }
    // The draws of one pair in one dimension, a row a draw.
    [[nodiscard]] Column draws_of(std::size_t pair, std::size_t dimension) const;
};

// Throws InvalidInput for the first value in pairs [begin, end) that may not be there, of which it
// is known that there is one.
[[noreturn]] void reject_draws(const DrawRows& rows, std::size_t begin, std::size_t end,
                               std::uint64_t pairs_before);

// What `less` is where a pair has a missing value.
inline constexpr std::int64_t missing_pair = -1;

// Calls visit(worker, first, count, less, equal) for blocks of pairs, on several threads, with
// count x n_ranks() counts, row by row. The number of workers is that of draw_workers. Where a
// value is missing, all counts of the pair are missing_pair if rows.omit_missing, and else
// InvalidInput is thrown for the first; likewise for a reference that is not finite.
using VisitCounts = void (*)(void* target, std::size_t worker, std::size_t first, std::size_t count,
                             const std::int64_t* less, const std::int64_t* equal);
[[nodiscard]] std::size_t draw_workers(const DrawRows& rows);
void count_draws(const DrawRows& rows, std::uint64_t pairs_before, Poll poll, VisitCounts visit,
                 void* target);

}  // namespace calibrant
