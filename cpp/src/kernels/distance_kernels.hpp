// Distances of all pairs of two panels of points, one table an instruction set (kernels.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

namespace calibrant {

// Points lie in panels of this many: coordinate k of the i-th at [k * neighbour_points + i].
inline constexpr std::size_t neighbour_points = 16;

struct DistanceKernels {
    // out[i * neighbour_points + j] is the sum over coordinates, in their order, of (a_i - b_j)^2.
    void (*squares)(const double* a, const double* b, std::size_t dimension, double* out);
    // Bit j is set where distances[j] < bound; of neighbour_points distances.
    std::uint32_t (*below)(const double* distances, double bound);
    // The same with a bound each.
    std::uint32_t (*below_each)(const double* distances, const double* bounds);
};

}  // namespace calibrant
