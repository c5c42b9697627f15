// The kernels of distance_kernels.hpp. Included by kernels/rooms/ only, and under their
// rules.
#pragma once

#include "kernels/distance_kernels.hpp"
#include "kernels/loops/kernel_parts.hpp"

namespace calibrant {
namespace {

// Four points against two vectors of points: the sums fill the registers of every instruction set
// and leave them at the end only. No fused multiplication, so that none has to be imitated.
void square_distances(const double* a, const double* b, std::size_t dimension, double* out) {
    constexpr std::size_t rows = 4, vectors = 2;
    for (std::size_t j = 0; j < neighbour_points; j += vectors * register_doubles) {
        for (std::size_t i = 0; i < neighbour_points; i += rows) {
            Doubles sums[rows][vectors] = {};
            for (std::size_t k = 0; k < dimension; ++k) {
                Doubles at[vectors];
                __builtin_memcpy(at, b + k * neighbour_points + j, sizeof at);
                for (std::size_t row = 0; row < rows; ++row) {
                    for (std::size_t v = 0; v < vectors; ++v) {
                        const Doubles difference = at[v] - a[k * neighbour_points + i + row];
                        sums[row][v] += difference * difference;
                    }
                }
            }
            for (std::size_t row = 0; row < rows; ++row) {
                __builtin_memcpy(out + (i + row) * neighbour_points + j, sums[row],
                                 sizeof sums[row]);
            }
        }
    }
}

std::uint32_t below(const double* distances, double bound) {
    std::uint32_t bits = 0;
    for (std::size_t j = 0; j < neighbour_points; ++j)
        bits |= (distances[j] < bound ? 1U : 0U) << j;
    return bits;
}

std::uint32_t below_each(const double* distances, const double* bounds) {
    std::uint32_t bits = 0;
    for (std::size_t j = 0; j < neighbour_points; ++j) {
        bits |= (distances[j] < bounds[j] ? 1U : 0U) << j;
    }
    return bits;
}

constexpr DistanceKernels distance_kernels{square_distances, below, below_each};

}  // namespace
}  // namespace calibrant
