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

// Eight partial sums on every instruction set, and so the same bits.
template <class Term>
[[gnu::always_inline]] inline double sum_in_lanes(std::size_t n, Term term) {
    constexpr std::size_t lanes = 8;
    double partial[lanes] = {};
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes) {
        for (std::size_t lane = 0; lane < lanes; ++lane) partial[lane] += term(i + lane);
    }
    for (std::size_t lane = 0; i < n; ++i, ++lane) partial[lane] += term(i);
    double total = 0.0;
    for (const double part : partial) total += part;
    return total;
}

}  // namespace
}  // namespace calibrant
