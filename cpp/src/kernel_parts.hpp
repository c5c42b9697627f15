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

}  // namespace
}  // namespace calibrant
