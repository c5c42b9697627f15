// The kernels of plain_sums.hpp, one table for each instruction set (kernels.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

namespace calibrant {

// A step is 1, or 2 where lower and upper bounds alternate; at most block_rows rows.
template <std::size_t step>
struct IntervalSumKernels {
    // Adds up rows that are covered; returns false if a value is not finite.
    bool (*hits)(const double* y, const double* lower, const double* upper, std::size_t n,
                 std::uint64_t* covered);
    double (*widths)(const double* lower, const double* upper, std::size_t n);
    double (*excesses)(const double* y, const double* lower, const double* upper, std::size_t n);
};

struct PlainSumKernels {
    IntervalSumKernels<1> apart;
    IntervalSumKernels<2> in_pairs;
    double (*score_variance)(const double* s, std::size_t n);
};

}  // namespace calibrant
