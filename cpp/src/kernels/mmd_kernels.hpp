// The loops of mmd.hpp, one table an instruction set (kernels.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

namespace calibrant {

// Points lie in panels of 8: coordinate k of point l of a panel is at [k * 8 + l]. Columns come in
// blocks of 8 panels. All is aligned to 64 bytes.
inline constexpr std::size_t panel_points = 8;
inline constexpr std::size_t block_points = 64;
inline constexpr std::size_t tile_values = panel_points * block_points;

struct MmdKernels {
    // Of each of the 8 points of a panel with each of the 64 of a block, the sum over coordinates
    // of (a - b)^2, |a - b| or ab, in their order: out[column * 8 + row].
    void (*squares)(const double* rows, const double* columns, std::size_t dimension, double* out);
    void (*magnitudes)(const double* rows, const double* columns, std::size_t dimension,
                       double* out);
    void (*products)(const double* rows, const double* columns, std::size_t dimension, double* out);
    // exp(-scale x) - 1 for x >= 0, and (1 + scale x)^3 - 1.
    void (*decay)(const double* x, std::size_t n, double scale, double* out);
    void (*cube)(const double* x, std::size_t n, double scale, double* out);
    // sums[row] += the sum of values[column * 8 + row] over columns in [begin, end), in order.
    void (*add_columns)(const double* values, std::size_t begin, std::size_t end, double* sums);
    // sums[b * 8 + row] += the sum of values[column * 8 + row] over the columns whose bit in
    // subsets[b] is set.
    void (*add_subsets)(const double* values, const std::uint64_t* subsets, std::size_t n,
                        double* sums);
    // A step along a line, for 64 subsets of its points: decayed += (decayed + weight) decay; where
    // `members` has the bit of a subset, inside += decayed, touching += row_sum and weight += 1.
    void (*step)(double decay, double row_sum, std::uint64_t members, double* weight,
                 double* decayed, double* inside, double* touching);
};

}  // namespace calibrant
