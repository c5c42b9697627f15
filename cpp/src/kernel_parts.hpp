// What the kernels of several concepts share. Included by kernels.cpp only, and under its rules:
// no standard library, internal linkage.
#pragma once

#include "calibrant/kernels.hpp"

namespace calibrant {
namespace {

using namespace detail;

// Removes what the shifts of `snap` added to n summed bit patterns.
[[gnu::always_inline]] inline std::int64_t unshift(std::uint64_t sum, std::size_t n, double shift) {
    return static_cast<std::int64_t>(sum - n * bits_of(shift));
}

struct Rounded {
    double high, low;
};

// |a - b_j|^2 for n points b: coordinate k of b_j is b[k * stride + j].
[[gnu::always_inline]] inline void squared_distances(const double* a, const double* __restrict b,
                                                     std::size_t stride, std::size_t dimension,
                                                     std::size_t n, double* __restrict out) {
    for (std::size_t j = 0; j < n; ++j) out[j] = 0.0;
    for (std::size_t k = 0; k < dimension; ++k) {
        const double at = a[k];
        const double* __restrict const column = b + k * stride;
        for (std::size_t j = 0; j < n; ++j) {
            const double difference = at - column[j];
            out[j] += difference * difference;
        }
    }
}

}  // namespace
}  // namespace calibrant
